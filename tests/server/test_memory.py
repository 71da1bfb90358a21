"""Arenas of the allocator: many threads of a server share few."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from blindspot.server.memory import few_arenas

THREADS = """
import ctypes, sys, threading
from blindspot.server.memory import few_arenas

done = few_arenas()
barrier = threading.Barrier(8)
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p

def allocate():
    barrier.wait()
    libc.malloc(4096)
    barrier.wait()

threads = [threading.Thread(target=allocate) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
libc.malloc_info(0, ctypes.c_void_p.in_dll(libc, "stdout"))
libc.fflush(None)
sys.exit(0 if done else 1)
"""


def _arenas(**variables: str) -> tuple[int, bool]:
    environment = {**os.environ, **variables}
    run = subprocess.run([sys.executable, "-c", THREADS], env=environment, capture_output=True, text=True, check=False)
    return run.stdout.count("<heap nr="), run.returncode == 0


@pytest.mark.process
@pytest.mark.skipif(sys.platform != "linux", reason="glibc's")
def test_threads_share_arenas_unless_the_environment_says_otherwise() -> None:
    assert _arenas() == (2, True)
    many, done = _arenas(MALLOC_ARENA_MAX="16")
    assert many > 2
    assert not done


def test_a_setting_of_the_reader_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MALLOC_ARENA_MAX", "1")
    assert not few_arenas()
