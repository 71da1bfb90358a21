"""UMAP in a child process: started, followed and ended here; the child runs ``blindspot.space.maps.worker``."""

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

from blindspot.errors import BlindspotError
from blindspot.files.writing import cannot_write, make_folder
from blindspot.numerics.similarity import Similarity
from blindspot.settings import LAUNCH_FOLDER, Settings, prepare_runtime
from blindspot.types import CancelToken, Float32, Progress

WORK = ".work-"  # begins the names of the children's folders
LOOK_EVERY_SECONDS = 0.1


@dataclass(frozen=True, eq=False)
class Fitted:
    """Result of the child: ``[n, 2] float32``, NaN for items that it could not connect, and the time of the fit."""

    coordinates: Float32
    seconds: float


def remove_leftovers(folder: Path) -> None:
    """Remove folders left by children after their parent was killed; call it only while no other child can run."""
    for left in folder.glob(f"{WORK}*"):
        shutil.rmtree(left, ignore_errors=True)


def fit_in_child(
    vectors: Float32,
    metric: Similarity,
    parameters: Mapping[str, float | int | None],
    folder: Path,
    settings: Settings,
    progress: Progress,
    cancel: CancelToken,
) -> Fitted:
    """Fit UMAP to ``[n, d]`` in a new process, and wait for it.

    Args:
        parameters: ``n_neighbors``, ``min_dist`` and ``seed``.
        folder: gets a temporary folder for the child.

    Raises:
        Cancelled: at once, when the child and its own children have ended.
        BlindspotError: the child failed, with its last line.
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
    """Run the child to its end; the time of the fit in seconds."""
    prepare_runtime(settings)
    began = monotonic()
    child = subprocess.Popen(  # noqa: S603 - our own module, no shell
        [sys.executable, "-m", "blindspot.space.maps.worker", str(work)],
        cwd=LAUNCH_FOLDER,
        stdin=subprocess.PIPE,  # held open: when it closes, the child ends
        stdout=subprocess.PIPE,
        stderr=(work / "errors.txt").open("wb"),
        text=True,
        start_new_session=True,  # a process group, which is killed as a whole
    )
    lines: SimpleQueue[str] = SimpleQueue()
    Thread(target=_listen, args=(child.stdout, lines), daemon=True).start()
    report: Mapping[str, Any] = {}
    try:
        while True:
            cancel.check()
            with suppress(Empty):
                line = lines.get(timeout=LOOK_EVERY_SECONDS)
                if not line:
                    break
                report = json.loads(line)
                if report["stage"] == "done":
                    return float(report["seconds"])
            if not report:
                progress("starting", 0, 1)
            elif report["total"]:
                progress(report["stage"], report["done"], report["total"])
            else:
                progress(f"{report['stage']}, {monotonic() - began:.0f} s so far", 0, 1)
        code = child.wait()
        words = (work / "errors.txt").read_text("utf-8", errors="replace").strip().splitlines()
        what = words[-1] if words else f"it ended with code {code}"
        remedy = "free some memory, or choose fewer texts" if code in {-signal.SIGKILL, 137} else ""
        raise BlindspotError(f"UMAP failed: {what}", remedy=remedy)
    finally:
        _end(child)


def _listen(stream: IO[str] | None, lines: SimpleQueue[str]) -> None:
    for line in stream or ():
        lines.put(line)
    lines.put("")  # the end


def _end(child: subprocess.Popen[str]) -> None:
    """Kill the child and its own children, and wait for the end."""
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
