"""The time from a new process to its first encoded batch."""

from __future__ import annotations

import statistics
import subprocess
import sys
from time import perf_counter

from benchmarks.measuring import BenchmarkResult
from blindspot.settings import ROOT
from blindspot.types import Progress

STARTS = 3
PROGRAM = """
from blindspot.settings import Settings, prepare_runtime
prepare_runtime(Settings.from_environment())
from blindspot.encoders.catalog import resolve_encoder
from blindspot.types import CancelToken
encoder = resolve_encoder("minilm", Settings.from_environment())
encoder.load()
encoder.encode(["A dog runs."] * 32, CancelToken())
print("encoded", flush=True)
"""


def encode_cold(progress: Progress) -> list[BenchmarkResult]:
    """Seconds from the start of Python to MiniLM's first batch: imports, checksum, weights, packing; the median of
    three after one that brings the files into memory."""
    seconds = []
    for i in range(STARTS + 1):
        progress("encode_cold", i, STARTS + 1)
        start = perf_counter()
        command = [sys.executable, "-c", PROGRAM]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:  # noqa: S603 - ours
            said = process.stdout.readline() if process.stdout else b""
            taken = perf_counter() - start  # not its exit, which takes a second
        if not said:
            raise subprocess.CalledProcessError(process.returncode, command)
        if i:
            seconds.append(taken)
    return [BenchmarkResult("encode_cold", statistics.median(seconds), "s", tuple(seconds))]
