"""Measurements of ``blindspot bench``: ratios of interleaved pairs at equal thread counts, in one process."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import perf_counter, sleep
from typing import Any

import numpy as np
import psutil

from blindspot.types import Progress

PAIRS_OF_TIMINGS = 5
# Of x86, then of ARM; those of 8-bit products are the ones with VNNI, and asimddp and i8mm.
INSTRUCTIONS = ("avx2", "avx512f", "avx_vnni", "avx512_vnni", "amx_int8", "asimd", "asimddp", "i8mm")
REST_SECONDS = 0.1  # BLAS' threads spin that long for more work, and would take the next one's cores


@dataclass(frozen=True)
class BenchmarkResult:
    """The median of ``samples``, or as the benchmark's description defines it."""

    name: str
    value: float
    unit: str
    samples: tuple[float, ...]


class NotMeasured(Exception):
    """The benchmark cannot run on this machine, for this reason: it is left out, never failed."""


@dataclass(frozen=True)
class BenchmarkReport:
    """Results of benchmarks, and the machine.

    Attributes:
        not_measured: reasons by the benchmark's name.
        seconds: duration of the measurement by the benchmark's name.
    """

    machine: Mapping[str, str | int]
    results: tuple[BenchmarkResult, ...]
    not_measured: Mapping[str, str] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """``{"machine": ..., "results": {name: {"value", "unit", "samples"}}}``."""
        return {
            "machine": dict(self.machine),
            "results": {r.name: {"value": r.value, "unit": r.unit, "samples": list(r.samples)} for r in self.results},
        }


def interleaved_ratios(
    ours: Callable[[], object],
    theirs: Callable[[], object],
    progress: Progress,
    label: str,
    pairs: int = PAIRS_OF_TIMINGS,
    *,
    is_warm: bool = False,
) -> tuple[float, ...]:
    """Time of ``ours`` over time of ``theirs``, in turn, after one of each to warm up unless that was done; each begins
    once the other's threads have come to rest."""
    if not is_warm:
        ours()
        theirs()
    ratios = []
    for i in range(pairs):
        progress(label, i, pairs)
        seconds = []
        for work in (ours, theirs):
            sleep(REST_SECONDS)
            start = perf_counter()
            work()
            seconds.append(perf_counter() - start)
        ratios.append(seconds[0] / seconds[1])
    return tuple(ratios)


def equal_threads() -> int:
    """One thread count for BLAS and for our kernels: all usable cores."""
    import numba
    from threadpoolctl import threadpool_limits

    threads = min(
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        numba.config.NUMBA_NUM_THREADS,
    )
    numba.set_num_threads(threads)
    threadpool_limits(threads)
    return int(threads)


def machine(threads: int) -> dict[str, str | int]:
    return {
        "processor": _processor(),
        "instructions": _instructions(),
        "threads": threads,
        "memory_gib": round(psutil.virtual_memory().total / 2**30),
        "system": platform.platform(),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


def _processor() -> str:
    return _of_cpuinfo("model name") or platform.processor() or platform.machine()


def _instructions() -> str:
    """Sets of vector instructions that speed depends on, of ``INSTRUCTIONS``; "" if the system does not say."""
    flags = set((_of_cpuinfo("flags") or _of_cpuinfo("Features")).split())
    return ", ".join(name for name in INSTRUCTIONS if name in flags)


def _of_cpuinfo(key: str) -> str:
    """What Linux says of the first processor; "" if nothing."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as f:  # noqa: PTH123
            return next((line.partition(":")[2].strip() for line in f if line.startswith(key)), "")
    except OSError:  # not Linux
        return ""
