"""Sweep on a cluster, from packs that are there already to stored runs: for the command line and the app's queue."""

from __future__ import annotations

import pickle
import shutil
from collections.abc import Generator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from time import monotonic
from uuid import uuid4

from blindspot.errors import BlindspotError
from blindspot.runs import pipeline
from blindspot.runs.cluster import driver, node
from blindspot.runs.cluster.driver import Note, Watch
from blindspot.runs.cluster.engine import Engine
from blindspot.runs.cluster.node import Answer
from blindspot.runs.cluster.on_ray import RayEngine
from blindspot.runs.cluster.on_slurm import LOCAL, SLURM, SlurmEngine
from blindspot.runs.computing import Done, Failed
from blindspot.runs.packs import format as packs
from blindspot.runs.packs import importing
from blindspot.runs.packs.folders import Folder, folder_at
from blindspot.runs.requests import RunRequest
from blindspot.settings import Settings
from blindspot.store.repository import Repository
from blindspot.texts import counted
from blindspot.types import CancelToken, Progress, digest_of_strings

FAILURES_TOLD = 3
CONNECTING, ON_NODES = "connecting to the cluster", "computing on its nodes"


def engine_of(on: str, settings: Settings, workers: int | None = None, gpus: float | None = None) -> Engine:
    """The engine of ``--on``, or of ``BLINDSPOT_RAY``; raises as ``RayEngine`` and ``SlurmEngine`` do."""
    if on in {SLURM, LOCAL}:
        return SlurmEngine(settings.slurm, workers, gpus, on)
    option = "BLINDSPOT_RAY" if on == settings.ray else "--on"
    return RayEngine(on, workers, gpus, settings.device, option)


def compute(
    on: str,
    requests: Sequence[RunRequest],
    settings: Settings,
    repository: Repository,
    watch: Watch,
    *,
    workers: int | None = None,
    gpus: float | None = None,
    out: str = "",
) -> Generator[Done | Failed | Note]:
    """Take in the packs that are there, return what the store has, and compute the rest on a cluster.

    Args:
        watch: called with the number of finished requests, stored ones included, and the seconds left.
        out: the folder of packs that all nodes share; "" for one in the cache that belongs to these requests, and is
            removed when all of them are stored.

    Raises:
        BlindspotError: the cluster or the folder cannot be used; or what ``watch`` raises.
    """
    folder_of_sweep = settings.packs / _name_of(requests)
    folder = folder_at(out or str(folder_of_sweep))
    came = _taken_in(folder, repository)
    if came:
        yield Note(f"imported {counted(came, 'run')} that an earlier attempt finished, from {folder.address}")
    stored_runs = _found(requests, settings, repository)
    yield from stored_runs
    stored = {result.request for result in stored_runs}
    if lacking := [request for request in requests if request not in stored]:
        engine = engine_of(on, settings, workers, gpus)
        for event in driver.run(
            lacking, engine, folder, settings, repository, lambda done, left: watch(len(stored_runs) + done, left)
        ):
            if isinstance(event, Done):
                stored.add(event.request)
            yield event
    if not out and stored.issuperset(requests):
        shutil.rmtree(folder_of_sweep, ignore_errors=True)


def answers_of_nodes(settings: Settings) -> tuple[str, list[Answer]]:
    """The cluster of ``BLINDSPOT_RAY`` in words, and what each of its nodes says before any work.

    Raises:
        BlindspotError: it cannot be reached, or the folder not be written to.
    """
    folder, token = folder_at(settings.ray_folder or str(settings.packs)), uuid4().hex
    engine = engine_of(settings.ray, settings)
    try:
        folder.write(node.TOKEN, token.encode("ascii"))
        task = node.Task((), folder.address, token, node.variables_of(settings))
        return engine.title, [ended.answer for ended in engine.check(pickle.dumps(task)) if ended.answer]
    finally:
        engine.close()
        with suppress(BlindspotError):
            folder.remove(node.TOKEN)


def _name_of(requests: Sequence[RunRequest]) -> str:
    return digest_of_strings(sorted(map(repr, requests)))[:16]


def _taken_in(folder: Folder, repository: Repository) -> int:
    """Take the packs that are there into the store; how many are new to it."""
    ids = packs.ids_in(folder)
    return (
        sum(getattr(outcome, "is_new", False) for outcome in importing.import_packs(folder, repository, ids))
        if ids
        else 0
    )


def _found(requests: Sequence[RunRequest], settings: Settings, repository: Repository) -> list[Done]:
    done = []
    for request in requests:
        with suppress(BlindspotError):  # the node that computes it will say so
            if record := pipeline.find(request, settings, repository):
                done.append(Done(request, pipeline.RunOutcome(record, computed=False)))
    return done


@dataclass(frozen=True)
class ClusterSweep:
    """Runs to compute on the cluster of ``BLINDSPOT_RAY``: a task of the app's queue.

    ``requests`` are all that were chosen, stored ones too: equal ones find the packs of a sweep that broke off.
    """

    requests: tuple[RunRequest, ...]

    @property
    def label(self) -> str:
        return f"{counted(len(self.requests), 'run')} on the cluster"

    def do(self, settings: Settings, repository: Repository, progress: Progress, cancel: CancelToken) -> str:
        """Compute what the store lacks; returns what happened on nodes, or "".

        Raises:
            Cancelled: within a second once nodes compute; what is done is stored.
            BlindspotError: the cluster or the folder cannot be used, or, when all is done, some runs failed.
        """
        progress(CONNECTING, 0, 1, 0.0)
        began, there, share, total = 0.0, 0, 0.0, len(self.requests)

        def watch(done: int, left: float | None) -> None:
            nonlocal began, there, share
            cancel.check()
            if not began:
                began, there = monotonic(), done
            spent = monotonic() - began
            by_count = (done - there) / max(total - there, 1)
            share = max(share, by_count if left is None or not spent else spent / (spent + left))
            progress(ON_NODES, done, total, share)

        out = f"{settings.ray_folder.rstrip('/')}/{_name_of(self.requests)}" if settings.ray_folder else ""
        events = []
        with closing(compute(settings.ray, self.requests, settings, repository, watch, out=out)) as coming:
            for event in coming:
                cancel.check()
                events.append(event)
        notes = [event.text for event in events if isinstance(event, Note)]
        failed = [event for event in events if isinstance(event, Failed)]
        if failed:
            told = "; ".join(f"{failure.request.label}: {failure.error}" for failure in failed[:FAILURES_TOLD])
            more = f"; and {len(failed) - FAILURES_TOLD} more" if len(failed) > FAILURES_TOLD else ""
            raise BlindspotError(
                f"{len(failed)} of {len(self.requests)} runs failed, the others are stored: {told}{more}"
            )
        return "; ".join(notes)
