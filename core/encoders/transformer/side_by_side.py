"""Torch on one thread for each of several batches at once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from blindspot.numerics import coarse


class _Mkl:
    """MKL, which torch multiplies by in attention: its number of threads is one for the whole process."""

    lock = threading.Lock()
    inside = 0  # threads in the context
    threads = 1  # before the first came


@contextmanager
def one_thread() -> Iterator[None]:
    """Context in which torch computes on the calling thread alone, MKL's products included.

    With more threads MKL divides a product elsewhere, which changes last bits. The last thread that leaves restores the
    number.
    """
    import torch

    with _Mkl.lock:
        if not _Mkl.inside:
            _Mkl.threads = torch.get_num_threads()
        _Mkl.inside += 1
    try:
        with coarse.one_thread():  # restores this thread's number
            torch.set_num_threads(1)
            yield
    finally:
        with _Mkl.lock:
            _Mkl.inside -= 1
            if not _Mkl.inside:
                torch.set_num_threads(_Mkl.threads)
