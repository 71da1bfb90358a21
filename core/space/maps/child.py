"""UMAP in a process of its own: started, listened to and ended here; ``core.space.maps.worker`` is what runs in it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic
from typing import IO, Any

import numpy as np

from core.errors import BlindspotError
from core.files.writing import cannot_write, make_folder
from core.numerics.similarity import Metric
from core.settings import ROOT, Settings, prepare_runtime
from core.types import CancelToken, Float32, Progress

WORK = ".work-"  # how the folders that a child works in begin
LOOK_EVERY_SECONDS = 0.1


@dataclass(frozen=True, eq=False)
class Fitted:
    """What the child made: ``[n, 2] float32``, NaN rows for items that are connected with nothing, and seconds."""

    coordinates: Float32
    seconds: float


def remove_leavings(folder: Path) -> None:
    """Remove what a child was working on whose parent was killed; to be called while no other child can work."""
    for left in folder.glob(f"{WORK}*"):
        shutil.rmtree(left, ignore_errors=True)


def fit_in_child(
    vectors: Float32,
    metric: Metric,
    parameters: Mapping[str, float | int | None],
    folder: Path,
    settings: Settings,
    progress: Progress,
    cancel: CancelToken,
) -> Fitted:
    """Fit UMAP to ``[n, d]`` in a new process, and wait for it.

    Args:
        parameters: ``n_neighbors``, ``min_dist`` and ``seed``.
        folder: where the child gets a folder to work in, which is gone afterwards.

    Raises:
        Cancelled: at once; the child and what it started have ended by then.
        BlindspotError: the child failed, in its words.
    """
    make_folder(folder)
    work = Path(tempfile.mkdtemp(prefix=WORK, dir=folder))
    try:
        try:
            np.save(work / "vectors.npy", vectors)
            (work / "parameters.json").write_text(json.dumps({**parameters, "metric": metric}), "utf-8")
        except OSError as error:
            raise cannot_write(work, error) from error
        seconds = _run(work, settings, progress, cancel)
        return Fitted(np.load(work / "coordinates.npy"), seconds)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _run(work: Path, settings: Settings, progress: Progress, cancel: CancelToken) -> float:
    """Run the child to its end; the seconds of the fit."""
    prepare_runtime(settings)
    began = monotonic()
    child = subprocess.Popen(  # noqa: S603 - our own module, no shell
        [sys.executable, "-m", "core.space.maps.worker", str(work)],
        cwd=ROOT,
        stdin=subprocess.PIPE,  # held open: its end tells the child that nobody waits for it any more
        stdout=subprocess.PIPE,
        stderr=(work / "errors.txt").open("wb"),
        text=True,
        start_new_session=True,  # a group of its own, so that what it starts ends with it
    )
    lines: SimpleQueue[str] = SimpleQueue()
    Thread(target=_listen, args=(child.stdout, lines), daemon=True).start()
    told: Mapping[str, Any] = {}
    try:
        while True:
            cancel.check()
            with suppress(Empty):
                line = lines.get(timeout=LOOK_EVERY_SECONDS)
                if not line:
                    break
                told = json.loads(line)
                if told["stage"] == "done":
                    return float(told["seconds"])
            if told:
                _tell(told, monotonic() - began, progress)
            else:
                progress("starting", 0, 1)
        code = child.wait()
        words = (work / "errors.txt").read_text("utf-8", errors="replace").strip().splitlines()
        what = words[-1] if words else f"it ended with code {code}"
        remedy = "free some memory, or choose fewer items" if code in {-signal.SIGKILL, 137} else ""
        raise BlindspotError(f"UMAP failed: {what}", remedy=remedy)
    finally:
        _end(child)


def _listen(stream: IO[str] | None, lines: SimpleQueue[str]) -> None:
    for line in stream or ():
        lines.put(line)
    lines.put("")  # the end


def _tell(told: Mapping[str, Any], seconds: float, progress: Progress) -> None:
    """A stage with a count as it is; one that says nothing about its length with the time that has passed."""
    if told["total"]:
        progress(told["stage"], told["done"], told["total"])
    else:
        progress(f"{told['stage']}, {seconds:.0f} s so far", 0, 1)


def _end(child: subprocess.Popen[str]) -> None:
    """End the child with all that it started, at once, and wait until it has."""
    with suppress(ProcessLookupError, PermissionError):
        if os.name == "posix":
            os.killpg(child.pid, signal.SIGKILL)
        else:
            child.kill()
    child.wait()
    for stream in (child.stdin, child.stdout):
        if stream is not None:
            with suppress(OSError):
                stream.close()
