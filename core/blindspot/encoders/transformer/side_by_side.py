"""Torch on one thread for each of several batches at once."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

LIBRARY = Path("lib", "libtorch_cpu.so")  # below torch's folder, on Linux


def is_possible() -> bool:
    """Whether this torch lets a thread say how many threads its products may take."""
    return _set_threads_of_mkl() is not None


@contextmanager
def one_thread() -> Iterator[None]:
    """Context in which torch computes on the calling thread alone; other threads keep their settings.

    MKL, by which torch multiplies in attention, has a number of its own. ``torch.set_num_threads`` would set it for the
    whole process; with more threads MKL divides a product elsewhere, which changes last bits.
    """
    set_threads = _set_threads_of_mkl()
    if set_threads is None:
        raise RuntimeError("this torch has no MKL whose threads can be set: ask is_possible first")
    import torch
    from threadpoolctl import threadpool_limits

    torch.get_num_threads()  # makes torch set this thread's number now rather than over the next line's
    with threadpool_limits(1, user_api="openmp"):
        before = set_threads(1)
        try:
            yield
        finally:
            set_threads(before)


@cache
def _set_threads_of_mkl() -> Callable[[int], int] | None:
    """MKL's function for the calling thread, which returns the number before (0: the process's); None if torch has none
    that can be found."""
    import torch

    path = Path(torch.__file__).parent / LIBRARY
    if not torch.backends.mkl.is_available() or not path.is_file():
        return None
    try:
        found = ctypes.CDLL(str(path)).MKL_Set_Num_Threads_Local
    except (OSError, AttributeError):  # another build of torch
        return None
    found.argtypes, found.restype = [ctypes.c_int], ctypes.c_int
    return found
