"""Pieces on several threads: each is done once, failures come back, and BLAS has its threads again afterwards."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_info

from blindspot.numerics.threads import cores, in_threads, one_blas_thread, shrinking, undisturbed_blas
from tests.support.tables import each


def in_a_new_thread() -> list[int]:
    """As ``blas_threads``, in a thread of its own: some libraries keep a number for each thread."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(blas_threads).result()


def blas_threads() -> list[int]:
    np.dot(np.ones((2, 2)), np.ones((2, 2)))
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


@given(st.integers(0, 5_000), st.integers(1, 600), st.integers(1, 9))
def test_slices_hold_everything_once_and_shrink(total: int, most: int, threads: int) -> None:
    slices = list(shrinking(total, most, threads))
    assert [i for s in slices for i in range(s.start, s.stop)] == list(range(total))
    widths = [s.stop - s.start for s in slices]
    assert all(0 < width <= most for width in widths)
    assert widths == sorted(widths, reverse=True)
    if threads == 1:
        assert all(width == most for width in widths[:-1])


@each("threads", [1, 2, 7])
def test_every_piece_is_done_once(threads: int) -> None:
    done: list[int] = []
    in_threads(range(100), done.append, threads)
    assert sorted(done) == list(range(100))
    assert threads > 1 or done == list(range(100))


def test_pieces_are_done_side_by_side() -> None:
    """Each of three waits for the two others."""
    together = threading.Barrier(3)
    in_threads(range(3), lambda _piece: together.wait(30), 3)


@pytest.mark.parametrize("threads", [1, 3])
def test_what_a_piece_raises_comes_back_and_ends_the_rest(threads: int) -> None:
    done: list[int] = []

    def work(piece: int) -> None:
        if piece == 5:
            raise ValueError("of piece 5")
        done.append(piece)

    with pytest.raises(ValueError, match="of piece 5"):
        in_threads(iter(range(1_000_000)), work, threads)
    assert len(done) < 1_000_000


def test_what_the_pieces_themselves_raise_comes_back() -> None:
    def pieces() -> Iterator[int]:
        yield 1
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        in_threads(pieces(), lambda _piece: None, 2)


def test_blas_has_one_thread_within_and_as_many_as_before_afterwards() -> None:
    before = blas_threads()
    with one_blas_thread() as threads:
        assert threads == max(before, default=cores())
        assert set(blas_threads()) <= {1}
        with one_blas_thread() as again:
            assert again == threads
        assert set(blas_threads()) <= {1}, "the last of them lifts the limit"
    assert blas_threads() == before


def test_the_limit_is_lifted_after_a_failure() -> None:
    before = blas_threads()
    with pytest.raises(ValueError, match="within"), one_blas_thread():
        raise ValueError("within")
    assert blas_threads() == before


def test_who_is_not_to_be_disturbed_may_limit_for_himself_but_nobody_else() -> None:
    before, elsewhere = blas_threads(), in_a_new_thread()
    others: list[tuple[int, list[int]]] = []

    def another() -> None:
        with one_blas_thread() as threads:
            others.append((threads, blas_threads()))

    with undisturbed_blas():
        thread = threading.Thread(target=another)
        thread.start()
        thread.join()
        assert others == [(1, elsewhere)]
        with one_blas_thread() as own:
            assert own == max(before, default=cores())
            assert set(blas_threads()) <= {1}
    assert blas_threads() == before


def test_who_is_not_to_be_disturbed_waits_until_the_limit_is_lifted() -> None:
    before, begun, seen = in_a_new_thread(), threading.Event(), []

    def undisturbed() -> None:
        begun.set()
        with undisturbed_blas():
            seen.append(blas_threads())

    thread = threading.Thread(target=undisturbed)
    with one_blas_thread():
        thread.start()
        assert begun.wait(30)
        thread.join(0.05)
        assert seen == []
    thread.join(30)
    assert seen == [before]
