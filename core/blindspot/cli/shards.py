"""Shards of a sweep: the runs of one of several workers, computed into result packs; and the plan of all."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from blindspot.cli import output
from blindspot.datasets.catalog import title_of
from blindspot.diagnostic import in_words
from blindspot.errors import BlindspotError, InputError
from blindspot.names import current
from blindspot.runs.packs import computing, groups
from blindspot.runs.packs.computing import Failed, Packed
from blindspot.runs.packs.folders import folder_at
from blindspot.runs.packs.groups import Group
from blindspot.runs.packs.importing import required
from blindspot.runs.requests import RunRequest
from blindspot.runs.sweeps import RemainingTime
from blindspot.settings import Settings
from blindspot.store.repository import Repository
from blindspot.texts import counted

SHARD_HELP = "compute only the i-th of n parts, into --out; every machine finds the same parts"
OUT_HELP = "folder of result packs, or an address such as s3://BUCKET/FOLDER; with --on, one that all nodes share"
MOST = 100_000  # parts


@dataclass(frozen=True)
class Shard:
    """One of ``of`` parts, from 1."""

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """``i/n``; "" is 1/1. Raises ``InputError``."""
        match = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text or "1/1")
        number, of = (int(match[1]), int(match[2])) if match else (0, 0)
        if not 1 <= number <= of <= MOST:
            raise InputError(f"--shard {text}", expected=f"i/n with i from 1 to n, such as 2/8, and n at most {MOST:,}")
        return cls(number, of)


def compute(requests: Sequence[RunRequest], shard: Shard, out: str, settings: Settings, *, as_json: bool) -> None:
    """Compute a shard into packs, opening no store; ``BlindspotError`` where runs failed, or on Ctrl-C."""
    folder = folder_at(required(out))
    mine = groups.shard(groups.of_requests(requests, settings, shard.of), shard.number, shard.of)
    wanted = [request for group in mine for request in group.requests]
    output.announce(wanted, settings)
    done, failed, pace = list[Packed](), list[Failed](), RemainingTime()
    try:
        with output.progress("sweep") as progress:
            results = computing.compute(wanted, settings, folder, progress)
            for number, request in enumerate(wanted, 1):
                seconds = pace.remaining(wanted[number - 1 :])
                left = "" if seconds is None else f" (about {duration(seconds)} left)"
                progress.title = f"{number} of {len(wanted)}{left}: {request.label}"
                found = next(results)
                if isinstance(found, Packed):
                    done.append(found)
                    pace.note(request, found.seconds, is_typical=found.computed)
                else:
                    failed.append(found)
                    pace.note(request, 0.0, is_typical=False)
    except KeyboardInterrupt:
        raise BlindspotError(
            f"interrupted; {len(done)} of {len(wanted)} runs are done", remedy="run the same command to continue"
        ) from None
    _print(done, failed, shard, folder.address, as_json=as_json)
    if failed:
        first = failed[0]
        raise BlindspotError(
            f"{len(failed)} of {len(wanted)} runs failed; the first was {first.request.label}: {first.error}"
        )


def _print(done: Sequence[Packed], failed: Sequence[Failed], shard: Shard, address: str, *, as_json: bool) -> None:
    computed = sum(one.computed for one in done)
    if as_json:
        runs = [named(one.request) | {"run_id": one.run_id, "computed": one.computed} for one in done]
        errors = [named(one.request) | {"error": str(one.error)} for one in failed]
        output.print_json({"shard": f"{shard.number}/{shard.of}", "out": address, "runs": runs, "failed": errors})
        return
    if failed:
        rows = [(one.request.label, in_words(dict(one.request.params)), str(one.error)) for one in failed]
        output.print_table("Failed", ["run", "parameters", "why"], rows)
    print(
        f"shard {shard.number}/{shard.of}, {counted(len(done) + len(failed), 'run')}: {computed} computed, "
        f"{len(done) - computed} found in {address}, {len(failed)} failed"
    )


def named(request: RunRequest) -> dict[str, Any]:
    """A request with the keys of ``output.run_json``."""
    return {
        "diagnostic": request.diagnostic,
        "encoder": request.variant.encoder,
        "transform": request.variant.transform,
        "dataset": request.dataset,
        "params": dict(request.params),
    }


def planned(
    requests: Sequence[RunRequest], shard: Shard, settings: Settings, repository: Repository | None
) -> tuple[tuple[Group, ...], str]:
    """The groups that a shard gets, and a sentence on why there are none: a model whose size is not known here."""
    if not requests:
        return (), ""
    try:
        found = groups.of_requests(requests, settings, shard.of, repository)
    except BlindspotError as error:
        return (), f"no estimate: {error}"
    return groups.shard(found, shard.number, shard.of), ""


def groups_json(found: Sequence[Group]) -> list[dict[str, Any]]:
    return [
        {
            "model": group.model,
            "datasets": list(group.datasets),
            "runs": len(group.requests),
            "seconds": group.seconds + group.load_seconds,
            "memory_bytes": group.memory_bytes,
            "disk_bytes": group.disk_bytes,
        }
        for group in found
    ]


def print_groups(found: Sequence[Group]) -> None:
    """Print what a worker gets at once: time with loading, memory at the peak, bytes of embeddings."""
    rows = [
        (
            str(number),
            current().model(group.model),
            ", ".join(title_of(dataset) for dataset in group.datasets),
            str(len(group.requests)),
            duration(group.seconds + group.load_seconds),
            f"{group.memory_bytes / 1e9:.1f} GB",
            f"{group.disk_bytes / 1e6:,.1f} MB",
        )
        for number, group in enumerate(found, 1)
    ]
    if rows:
        output.print_table("Groups", ["no.", "model", "datasets", "runs", "time", "memory", "embeddings"], rows)


def duration(seconds: float) -> str:
    return f"{max(seconds, 1):.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
