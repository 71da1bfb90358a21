"""Types that several layers share."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from blindspot.errors import Cancelled

Bool = NDArray[np.bool_]
Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]
Int8 = NDArray[np.int8]
UInt8 = NDArray[np.uint8]
Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
UInt64 = NDArray[np.uint64]


def digest_of_strings(parts: Iterable[str]) -> str:
    """sha256 of an ordered list of strings; every string is length-prefixed, so boundaries count."""
    sha = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        sha.update(len(data).to_bytes(8, "little"))
        sha.update(data)
    return sha.hexdigest()


class Progress(Protocol):
    """Listener for progress: ``stage`` in words, ``done`` of ``total`` units.

    ``fraction`` is the share of the stage's *work*, where units differ in cost (long texts come first).
    """

    def __call__(self, stage: str, done: int, total: int, fraction: float | None = None) -> None: ...


def no_progress(stage: str, done: int, total: int, fraction: float | None = None) -> None:
    """No-op progress callback."""


class CancelToken:
    """Cancellation flag, set from any thread and checked by the work at every batch."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def cancel(self) -> None:
        self._event.set()

    @property
    def cancelled(self) -> bool:
        return self._event.is_set()

    def check(self) -> None:
        """Raise ``Cancelled`` once ``cancel`` was called."""
        if self._event.is_set():
            raise Cancelled


@dataclass
class Stopwatch:
    """Seconds spent per named stage."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def measure(self, name: str) -> Iterator[None]:
        from time import perf_counter

        start = perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + perf_counter() - start
