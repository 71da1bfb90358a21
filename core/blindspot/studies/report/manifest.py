"""Manifest of a report: all runs with the settings behind their numbers; reading and comparing manifests."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import blindspot
from blindspot.diagnostic import FIT_ON, find_diagnostic
from blindspot.errors import InputError
from blindspot.files.writing import read_limited
from blindspot.runs.manifests import leaves
from blindspot.store.records import RunRecord

ELEMENT = "blindspot-manifest"
FORMAT = 1
LARGEST = 50_000_000  # bytes of a file that is read as a report
_IN_HTML = re.compile(rf'<script type="application/json" id="{ELEMENT}">(.*?)</script>'.encode(), re.DOTALL)
_PATH = re.compile(r"^(?P<scheme>[a-z]+:)?(?:/|[A-Za-z]:\\)(?:[^?]*[/\\])?(?P<last>[^/\\?]+)(?P<rest>\?.*)?$")
# Facts that differ between any two reports and change no number.
_CIRCUMSTANCES = ("finished", "machine", "embeddings encoded_now")


def portable(value: Any) -> Any:
    """A JSON value without folders of this machine: only the last part of a path stays."""
    if isinstance(value, str):
        return _PATH.sub(lambda match: f"{match['scheme'] or ''}{match['last']}{match['rest'] or ''}", value)
    if isinstance(value, Mapping):
        return {portable(name): portable(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [portable(inner) for inner in value]
    return value


def manifest_of(runs: Sequence[RunRecord], commands: Sequence[str]) -> dict[str, Any]:
    """The manifest of a report over some runs, as JSON values."""
    return {
        "format": FORMAT,
        "blindspot": blindspot.__version__,
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "commands": list(commands),
        "runs": [_run(run) for run in runs],
    }


def _run(run: RunRecord) -> dict[str, Any]:
    plan = run.plan
    return {
        "run_id": run.run_id,
        "diagnostic": plan.diagnostic,
        "version": plan.diagnostic_version,
        "encoder": portable(plan.variant.encoder),
        "transform": plan.variant.transform,
        "dataset": portable(plan.dataset),
        "params": dict(plan.params),
        "scores": dict(run.metrics),
        "manifest": portable(dict(run.manifest)),
    }


def commands_of(runs: Iterable[RunRecord]) -> list[str]:
    """The commands that compute these runs anew, one per diagnostic, dataset and parameters.

    Encoders of one command are ranked on the items that all of them cover, as in these runs. A user's file is named
    without its folder.
    """
    groups: dict[tuple[str, str, tuple[tuple[str, str], ...], tuple[str, ...]], list[RunRecord]] = {}
    for run in runs:
        plan = run.plan
        key = (plan.diagnostic, plan.dataset, tuple(sorted(plan.params.items())), tuple(sorted(plan.covered_by)))
        groups.setdefault(key, []).append(run)
    out = []
    for (diagnostic, dataset, params, covered_by), same in groups.items():
        by_encoders: dict[tuple[str, ...], list[str]] = {}  # those with the same transforms in one command
        transforms: dict[str, list[str]] = {}
        for run in same:
            transforms.setdefault(run.plan.variant.encoder, []).append(run.plan.variant.transform)
        for encoder, chains in transforms.items():
            by_encoders.setdefault(tuple(sorted(chains)), []).append(encoder)
        for own_chains, encoders in by_encoders.items():
            both = dict.fromkeys([*encoders, *covered_by])
            usual = find_diagnostic(diagnostic).check_params({})
            given = [(name, value) for name, value in params if usual.get(name) != value]
            words = ["blindspot", "run", diagnostic, "--dataset", portable(dataset)]
            words += [word for encoder in both for word in ("--encoder", portable(encoder))]
            words += [word for chain in own_chains for word in ("--transform", chain)]
            words += [
                word
                for name, value in given
                for word in ("--fit-on" if name == FIT_ON else f"--{name.replace('_', '-')}", portable(value))
            ]
            out.append(shlex.join(words))
    return out


# --- read back and compared


def read(path: Path) -> dict[str, Any]:
    """The manifest in a report.

    Raises:
        InputError: no such file, or it is no report.
    """
    match = _IN_HTML.search(read_limited(path, LARGEST))
    try:
        manifest = json.loads(match[1]) if match else None
    except ValueError:
        manifest = None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT or "runs" not in manifest:
        raise InputError(f"{path} has no manifest of Blindspot", expected="a report written by blindspot report")
    return manifest


@dataclass(frozen=True)
class Unlike:
    """A fact in which a run differs between two reports."""

    run: str
    fact: str
    first: str
    second: str


@dataclass(frozen=True)
class Compared:
    """Two reports: runs of one only, runs of both, and the facts and scores in which these differ."""

    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    both: int
    unlike: tuple[Unlike, ...]


def compare(first: Mapping[str, Any], second: Mapping[str, Any]) -> Compared:
    """Compare two manifests run by run, matched by diagnostic, encoder, transform, dataset and parameters."""
    left, right = _by_name(first), _by_name(second)
    both = [name for name in left if name in right]
    unlike = []
    for name in both:
        left_facts, other = _facts(left[name]), _facts(right[name])
        for fact in dict.fromkeys([*left_facts, *other]):
            a, b = left_facts.get(fact, "–"), other.get(fact, "–")
            if a != b and not fact.startswith(_CIRCUMSTANCES):
                unlike.append(Unlike(name, fact, a, b))
    return Compared(
        tuple(name for name in left if name not in right),
        tuple(name for name in right if name not in left),
        len(both),
        tuple(unlike),
    )


def _by_name(manifest: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    out = {}
    for run in manifest["runs"]:
        params = " ".join(f"{name}={value}" for name, value in sorted(run["params"].items()))
        out[f"{run['diagnostic']} {run['dataset']} {run['encoder']}~{run['transform']} {params}".strip()] = run
    return out


def _facts(run: Mapping[str, Any]) -> dict[str, str]:
    facts = {"diagnostic version": str(run["version"])}
    facts |= {f"score {name}": f"{value:.6g}" for name, value in run["scores"].items()}
    return facts | dict(leaves(run["manifest"]))
