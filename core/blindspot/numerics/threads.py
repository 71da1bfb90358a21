"""Work in pieces on several threads, each of which multiplies matrices on its own.

When BLAS spreads a matrix product over the cores, they wait for each other at every product, and the next step reads
what another core has just written. Here every thread takes a piece, multiplies it alone and processes the product while
it is in its cache.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, ClassVar, TypeVar

Piece = TypeVar("Piece")


class _Blas:
    """Claims on BLAS, whose number of threads is a setting of the whole process."""

    changed = threading.Condition()
    undisturbed: ClassVar[list[int]] = []  # threads whose products must all use the same number
    limited = 0  # how many callers multiply on several threads of their own
    threads = 1  # that BLAS had before
    limits: Any = None


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def undisturbed_blas() -> Iterator[None]:
    """Context in which no other thread changes the number of BLAS threads, which can affect the last bit of a product.

    Stored results are computed in it, so that they do not depend on what a page computes meanwhile.
    """
    thread = threading.get_ident()
    with _Blas.changed:
        _Blas.changed.wait_for(lambda: _Blas.limited == 0 or thread in _Blas.undisturbed)
        _Blas.undisturbed.append(thread)
    try:
        yield
    finally:
        with _Blas.changed:
            _Blas.undisturbed.remove(thread)


@contextmanager
def one_blas_thread() -> Iterator[int]:
    """Context in which numpy's BLAS computes on the calling thread; yields the number of threads to call it from.

    While another thread must not be disturbed, that number is 1 and BLAS stays unchanged.
    """
    from threadpoolctl import ThreadpoolController

    with _Blas.changed:
        may_limit = all(thread == threading.get_ident() for thread in _Blas.undisturbed)
        if may_limit:
            if _Blas.limited == 0:
                libraries = ThreadpoolController().select(user_api="blas")  # looking for them takes milliseconds
                _Blas.threads = max((library["num_threads"] for library in libraries.info()), default=cores())
                _Blas.limits = libraries.limit(limits=1)
            _Blas.limited += 1
        threads = _Blas.threads if may_limit else 1
    try:
        yield threads
    finally:
        if may_limit:
            with _Blas.changed:
                _Blas.limited -= 1
                if _Blas.limited == 0:
                    _Blas.limits.restore_original_limits()
                    _Blas.changed.notify_all()


def shrinking(total: int, most: int, threads: int) -> Iterator[slice]:
    """``range(total)`` in slices of at most ``most``.

    On several threads they become smaller toward the end, so that none waits long for the others. They are multiples of
    64: rows of so many scores are whole strips of flags (``blindspot.numerics.flagging``).
    """
    start = 0
    while start < total:
        share = -(-(total - start) // (2 * threads)) if threads > 1 else most
        width = min(most, -(-max(share, most // 8) // 64) * 64)
        yield slice(start, min(start + width, total))
        start += width


def in_threads(
    pieces: Iterable[Piece],
    work: Callable[[Piece], None],
    threads: int,
    within: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> None:
    """Do ``work`` on every piece, in order, on so many threads, the calling one included.

    Args:
        within: context of each thread.

    Raises:
        BaseException: the first that ``work`` or the iteration raised; pieces not yet begun are dropped.
    """
    pending, lock, end = iter(pieces), threading.Lock(), object()
    failures: list[BaseException] = []

    def take() -> Any:
        with lock:
            return end if failures else next(pending, end)

    def loop() -> None:
        try:
            with within():
                while (piece := take()) is not end:
                    work(piece)
        except BaseException as error:  # noqa: BLE001 - raised again in the calling thread
            failures.append(error)

    # Daemons, since the interpreter would otherwise wait for them at exit.
    others = [threading.Thread(target=loop, daemon=True, name=f"piece-{i}") for i in range(1, threads)]
    for thread in others:
        thread.start()
    loop()
    for thread in others:
        thread.join()
    if failures:
        raise failures[0]
