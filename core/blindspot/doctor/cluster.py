"""Checks of the cluster that the app may send runs to, and of files that sweeps on a cluster left in the cache."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from blindspot import policy
from blindspot.doctor.disk import CACHE
from blindspot.doctor.findings import Finding, note, ok, problem, size
from blindspot.encoders.base import versions_here
from blindspot.errors import BlindspotError, require
from blindspot.files.writing import bytes_of
from blindspot.runs.cluster import sweeps
from blindspot.runs.cluster.on_ray import LOCAL
from blindspot.settings import Settings
from blindspot.texts import counted

CLUSTER = "cluster"
SHOWN = 3


def nodes(settings: Settings) -> Iterator[Finding]:
    """Whether the cluster of ``BLINDSPOT_RAY`` answers, and whether each node has what this machine has and sees the
    shared folder. A cluster that would be started here is not started."""
    if not settings.ray:
        return
    if not policy.of(settings).changes:
        yield ok(CLUSTER, settings.ray, "not used on a demo")
        return
    try:
        require("ray", f"BLINDSPOT_RAY={settings.ray}")
        if settings.ray == LOCAL:
            yield ok(CLUSTER, LOCAL, f"{versions_here('ray')[0]}; started on this machine when runs are sent to it")
            return
        title, answers = sweeps.answers_of_nodes(settings)
    except BlindspotError as error:
        yield problem(CLUSTER, settings.ray, error.what, error.remedy or f"correct BLINDSPOT_RAY; {error.expected}")
        return
    yield ok(CLUSTER, settings.ray, f"{title}; {versions_here('ray')[0]} as here")
    for answer in answers:
        if answer["refused"]:
            remedy = "install there what is here, or set BLINDSPOT_RAY_FOLDER to a folder that all nodes share"
            yield problem(CLUSTER, answer["name"], answer["refused"], remedy)
        else:
            yield ok(CLUSTER, answer["name"], "same Blindspot, Python and libraries as here; sees the shared folder")


def left_in_cache(settings: Settings) -> Iterator[Finding]:
    """Result packs of sweeps that are not done, and files of jobs on Slurm, with their size and age."""
    if folders := [path for path in _inside(settings.packs) if path.is_dir()]:
        runs = sum(1 for _ in settings.packs.glob("*/runs/*.json"))
        what = f"{counted(len(folders), 'sweep')} not done, {counted(runs, 'run')}, {_sizes(folders)}"
        remedy = (
            f"start the same sweep again to go on; or keep the runs (blindspot runs import {folders[0]}), then delete "
            "the folder"
        )
        yield note(CACHE, "result packs", what, remedy)
    if files := _inside(settings.slurm):
        what = f"{counted(len(files), 'file')} of jobs on Slurm, {_sizes(files)}"
        yield note(CACHE, "slurm", what, f"delete {settings.slurm} while no sweep runs on Slurm")


def _inside(folder: Path) -> list[Path]:
    """The files and folders in a folder, the oldest first."""
    if not folder.is_dir():
        return []
    return sorted(folder.iterdir(), key=_changed)


def _changed(path: Path) -> float:
    """The time of the last change to a path or anything in it, in seconds since 1970."""
    times = []
    for each in [path, *(path.rglob("*") if path.is_dir() else ())]:
        try:
            times.append(each.lstat().st_mtime)
        except FileNotFoundError:  # a sweep goes on
            continue
    return max(times, default=time.time())


def _sizes(paths: Sequence[Path]) -> str:
    ages = {path: _age(time.time() - _changed(path)) for path in paths[:SHOWN]}
    shown = ", ".join(f"{path} ({size(bytes_of(path))}, {age} old)" for path, age in ages.items())
    return f"{size(sum(map(bytes_of, paths)))}: {shown}{', ...' if len(paths) > SHOWN else ''}"


def _age(seconds: float) -> str:
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= length:
            return counted(int(seconds // length), unit)
    return "less than a minute"
