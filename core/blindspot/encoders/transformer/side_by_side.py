"""Torch on one thread for each of several batches at once."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

LIBRARY = Path("lib", "libtorch_cpu.so")  # below torch's folder, on Linux


def is_possible() -> bool:
    """Whether this torch lets a thread set how many threads its products may use."""
    return _set_threads_of_mkl() is not None


@contextmanager
def one_thread() -> Iterator[None]:
    """Context in which torch computes on the calling thread alone; other threads keep their settings.

    MKL, which torch uses in attention, has its own number of threads. ``torch.set_num_threads`` would set it for the
    whole process; with more threads MKL splits products at other places, which changes last bits.
    """
    set_threads = _set_threads_of_mkl()
    if set_threads is None:
        raise RuntimeError("this torch has no MKL whose threads can be set: ask is_possible first")
    import torch
    from threadpoolctl import threadpool_limits

    torch.get_num_threads()  # makes torch set this thread's number now; later, it would overwrite the next line's
    with threadpool_limits(1, user_api="openmp"):
        before = set_threads(1)
        try:
            yield
        finally:
            set_threads(before)


@cache
def _set_threads_of_mkl() -> Callable[[int], int] | None:
    """MKL's function that sets the calling thread's number and returns the previous one (0: the process's); None if it
    is not found in torch."""
    import torch

    path = Path(torch.__file__).parent / LIBRARY
    if not torch.backends.mkl.is_available() or not path.is_file():
        return None
    try:
        function = ctypes.CDLL(str(path)).MKL_Set_Num_Threads_Local
    except (OSError, AttributeError):  # another build of torch
        return None
    function.argtypes, function.restype = [ctypes.c_int], ctypes.c_int
    return function
