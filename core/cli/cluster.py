"""Sweeps on a cluster, for the command ``sweep``."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import suppress

from blindspot.cli import output
from blindspot.cli.shards import duration
from blindspot.errors import BlindspotError, InputError
from blindspot.runs import pipeline
from blindspot.runs.cluster import driver
from blindspot.runs.cluster.driver import Note, Stored
from blindspot.runs.cluster.engine import Engine
from blindspot.runs.cluster.on_ray import SCHEME, RayEngine
from blindspot.runs.cluster.on_slurm import SLURM, SlurmEngine
from blindspot.runs.packs import format as packs
from blindspot.runs.packs import importing
from blindspot.runs.packs.computing import Failed
from blindspot.runs.packs.folders import Folder, folder_at
from blindspot.runs.requests import RunRequest
from blindspot.settings import Settings
from blindspot.store.repository import Repository
from blindspot.texts import counted
from blindspot.types import digest_of_strings

ON_HELP = "compute on a cluster: ray (where RAY_ADDRESS says, or here), ray://HOST:PORT, or slurm"
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
    if on not in {SCHEME, SLURM} and not on.startswith(f"{SCHEME}://"):
        raise InputError(f"--on {on}", expected="ray, ray://HOST:PORT or slurm")
    if workers is not None and workers < 1:
        raise InputError(f"--workers is {workers}", expected="at least 1")
    if gpus is not None and not 0 <= gpus < float("inf"):
        raise InputError(f"--gpus-per-task is {gpus}", expected="a number from 0")


def run(
    on: str,
    requests: Sequence[RunRequest],
    settings: Settings,
    repository: Repository,
    *,
    workers: int | None,
    gpus: float | None,
    out: str,
) -> list[Stored | Failed]:
    """Compute what the store lacks on a cluster; in the order of the requests.

    Args:
        out: the folder of packs that all nodes share; "" for one in the cache, which is removed when all is done.

    Raises:
        BlindspotError: the cluster or the folder cannot be used, or Ctrl-C.
    """
    own = settings.cache / "packs" / digest_of_strings(sorted(map(repr, requests)))[:16]
    folder = folder_at(out or str(own))
    results = _found(requests, folder, settings, repository)
    lacking = [request for request in requests if request not in results]
    try:
        with output.progress(f"sweep on {on}") as progress:

            def watch(done: int, left: float | None) -> None:
                progress.title = f"sweep on {on}" + (f" (about {duration(left)} left)" if left else "")
                progress("runs", done, len(lacking))

            if lacking:
                engine = _engine(on, settings, workers, gpus)
                for event in driver.run(lacking, engine, folder, settings, repository, watch):
                    if isinstance(event, Note):
                        output.warn([event.text])
                    else:
                        results[event.request] = event
    except KeyboardInterrupt:
        done = sum(isinstance(result, Stored) for result in results.values())
        raise BlindspotError(
            f"interrupted; {done} of {len(requests)} runs are done", remedy="run the same command to continue"
        ) from None
    if not out and all(isinstance(result, Stored) for result in results.values()):
        shutil.rmtree(own, ignore_errors=True)
    return [results[request] for request in requests]


def _found(
    requests: Sequence[RunRequest], folder: Folder, settings: Settings, repository: Repository
) -> dict[RunRequest, Stored | Failed]:
    """What the store has, when it has taken in the packs that are there from before."""
    if ids := packs.ids_in(folder):
        new = [one for one in importing.import_packs(folder, repository, ids) if getattr(one, "is_new", False)]
        if new:
            output.warn([f"{counted(len(new), 'run')} of {folder.address} came into the store"])
    found: dict[RunRequest, Stored | Failed] = {}
    for request in requests:
        with suppress(BlindspotError):  # the node that computes it will say so
            if record := pipeline.find(request, settings, repository):
                found[request] = Stored(request, pipeline.RunOutcome(record, computed=False))
    return found


def _engine(on: str, settings: Settings, workers: int | None, gpus: float | None) -> Engine:
    if on == SLURM:
        return SlurmEngine(settings.cache / "slurm", workers, gpus)
    return RayEngine(on, workers, gpus, settings.device)
