"""Computing of a sweep's runs with progress on stderr, one by one or on a cluster, for the command ``sweep``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from time import perf_counter

from blindspot.cli import output
from blindspot.errors import InputError
from blindspot.runs import estimates
from blindspot.runs.cluster import sweeps
from blindspot.runs.cluster.driver import Note
from blindspot.runs.cluster.on_ray import SCHEME
from blindspot.runs.cluster.on_slurm import LOCAL, SLURM
from blindspot.runs.computing import Done, Failed, compute, interrupted
from blindspot.runs.planning import Results
from blindspot.runs.requests import RunRequest
from blindspot.runs.sweeps import RemainingTime
from blindspot.settings import Settings
from blindspot.store.repository import Repository
from blindspot.texts import counted, duration

ON_HELP = (
    "compute on a cluster: ray (where RAY_ADDRESS says, or here), ray://HOST:PORT, slurm, or local (as on Slurm, in "
    "processes of this machine)"
)
WORKERS_HELP = "most tasks at the same time; default: what the nodes have room for"
GPUS_HELP = "GPUs per task of a model with weights, such as 0.5; default: 1 where Ray has any"


def check(on: str, workers: int | None, gpus: float | None, shard: str) -> None:
    """Raise ``InputError`` for options that are wrong, before any work."""
    if not on:
        for name, value in (("--workers", workers), ("--gpus-per-task", gpus)):
            if value is not None:
                raise InputError(f"{name} is given without --on", expected="--on ray or --on slurm")
        return
    if shard:
        raise InputError(
            "both --on and --shard are given", expected="one of them: with --on, all machines share the work"
        )
    if on not in {SCHEME, SLURM, LOCAL} and not on.startswith(f"{SCHEME}://"):
        raise InputError(f"--on {on}", expected="ray, ray://HOST:PORT, slurm or local")
    if workers is not None and workers < 1:
        raise InputError(f"--workers is {workers}", expected="at least 1")
    if gpus is not None and not 0 <= gpus < float("inf"):
        raise InputError(f"--gpus-per-task is {gpus}", expected="a number from 0")


def announce_cost(
    requests: Sequence[RunRequest], settings: Settings, repository: Repository, notes: Sequence[str] = ()
) -> None:
    """Print notes and the cost of many runs to stderr before they start."""
    cost = estimates.estimate(requests, settings, repository)
    guess = f" (a rough estimate: {len(cost.guessed)} encoders have not been run here yet)" if cost.guessed else ""
    there = len(cost.runs) - len(cost.wanted)
    lines = [
        *notes,
        f"{counted(len(cost.runs), 'run')}, {there} already in the store; the others take about "
        f"{duration(cost.seconds)}{guess} and {cost.disk_bytes / 1e6:,.0f} MB for embeddings",
    ]
    for line in lines:
        print(line, file=sys.stderr)


def on_cluster(
    on: str,
    requests: Sequence[RunRequest],
    settings: Settings,
    repository: Repository,
    *,
    workers: int | None,
    gpus: float | None,
    out: str,
) -> list[Done | Failed]:
    """Compute what the store lacks on a cluster; in the order of the requests.

    Args:
        out: the folder of packs that all nodes share; "" for one in the cache, which is removed when all is done.

    Raises:
        BlindspotError: the cluster or the folder cannot be used, or Ctrl-C.
    """
    results: dict[RunRequest, Done | Failed] = {}
    try:
        with output.progress(f"sweep on {on}") as progress:

            def watch(done: int, left: float | None) -> None:
                progress.title = f"sweep on {on}{_left(left or None)}"
                progress("runs", done, len(requests))

            for event in sweeps.compute(on, requests, settings, repository, watch, workers=workers, gpus=gpus, out=out):
                if isinstance(event, Note):
                    output.warn([event.text])
                else:
                    results[event.request] = event
    except KeyboardInterrupt:
        raise interrupted(results.values(), len(requests)) from None
    return [results[request] for request in requests]


def one_by_one(requests: Sequence[RunRequest], settings: Settings, into: Results) -> list[Done | Failed]:
    """Compute requests in their order into a store or a folder of packs; ``BlindspotError`` on Ctrl-C."""
    results: list[Done | Failed] = []
    pace = RemainingTime()
    try:
        with output.progress("sweep") as progress:
            computed = compute(requests, settings, into, progress)
            for number, request in enumerate(requests, 1):
                left = _left(pace.remaining(requests[number - 1 :]))
                progress.title = f"{number} of {len(requests)}{left}: {request.label}"
                began = perf_counter()
                results.append(result := next(computed))
                is_typical = isinstance(result, Done) and result.is_typical
                pace.note(request, perf_counter() - began, is_typical=is_typical)
    except KeyboardInterrupt:
        raise interrupted(results, len(requests)) from None
    return results


def _left(seconds: float | None) -> str:
    return "" if seconds is None else f" (about {duration(seconds)} left)"
