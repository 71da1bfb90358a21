"""Training of repairs: leads and losses by loops, gains where there is something to learn and none where not."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch

from blindspot.errors import BlindspotError, Cancelled, InputError
from blindspot.studies.repair import fitting
from blindspot.studies.repair.fitting import (
    TEMPERATURE,
    Map,
    Method,
    Triplets,
    fit,
    loss_of_vectors,
    nothing,
    random_map,
)
from blindspot.types import CancelToken, Float32, no_progress
from tests.support.tables import each

D = 12


def world(m: int, seed: int, strength: float = 0.3) -> tuple[Float32, Triplets]:
    """Triplets of a text, one that says the same, and one whose sign in the last dimension, and only this, differs.

    The noise of both is alike, so that doing nothing orders about as many rightly as a strong sign lets it.
    """
    rng = np.random.default_rng(seed)
    content = rng.standard_normal((m, D - 1))
    sign = rng.choice([-1.0, 1.0], m)

    def said(flag: np.ndarray) -> np.ndarray:
        noisy = content + 0.5 * rng.standard_normal((m, D - 1))
        return np.column_stack([noisy, strength * flag])

    vectors = np.concatenate([said(sign), said(sign), said(-sign)]).astype(np.float32)
    rows = np.arange(m, dtype=np.int64)
    return vectors, Triplets(rows, rows + m, rows + 2 * m)


def parts(triplets: Triplets, *ends: int) -> list[Triplets]:
    cuts = [0, *ends, len(triplets)]
    return [
        Triplets(triplets.anchor[a:b], triplets.positive[a:b], triplets.negative[a:b])
        for a, b in itertools.pairwise(cuts)
    ]


def right(found: Map, vectors: Float32, triplets: Triplets) -> float:
    return float((found.leads(vectors, triplets) > 0).mean())


def trained(vectors: Float32, train: Triplets, stop: Triplets, method: Method, seed: int = 1) -> Map:
    return fit(vectors, train, stop, method, no_progress, CancelToken(), rank=3, keep=10.0, seed=seed)


@each("method", Method)
def test_leads_by_a_loop(method: Method) -> None:
    vectors, triplets = world(9, 3)
    matrix = np.random.default_rng(0).standard_normal((D, D)).astype(np.float32)
    found = Map(matrix, method.is_of_queries)

    def cosine(a: np.ndarray, b: np.ndarray) -> float:
        return float(a @ b) / math.sqrt(float(a @ a) * float(b @ b))

    for row, lead in enumerate(found.leads(vectors, triplets).tolist()):
        a, p, n = (
            vectors[int(side[row])].astype(np.float64)
            for side in (triplets.anchor, triplets.positive, triplets.negative)
        )
        a = a @ matrix.astype(np.float64)
        if not method.is_of_queries:
            p, n = p @ matrix.astype(np.float64), n @ matrix.astype(np.float64)
        assert lead == pytest.approx(cosine(a, p) - cosine(a, n), abs=1e-12)


def test_the_loss_by_a_loop() -> None:
    rng = np.random.default_rng(3)
    anchor, positive, negative = rng.standard_normal((3, 5, D))
    moved = rng.standard_normal(4)
    leads = [float(a @ p) - float(a @ n) for a, p, n in zip(anchor, positive, negative, strict=True)]
    expected = sum(math.log1p(math.exp(-lead / TEMPERATURE)) for lead in leads) / 5 + 3.0 * sum(moved**2) / 4
    tensors = (torch.from_numpy(each) for each in (anchor, positive, negative, moved))
    assert float(loss_of_vectors(*tensors, keep=3.0)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.trains
@pytest.mark.parametrize("method", Method)
def test_it_learns_what_there_is_to_learn_and_nothing_of_shuffled_labels(method: Method) -> None:
    vectors, triplets = world(900, 0)
    train, stop, test = parts(triplets, 500, 600)
    before = right(nothing(D), vectors, test)
    assert 0.4 < before < 0.7
    found = trained(vectors, train, stop, method)
    assert found.steps > 0
    assert found.moved > 0
    # A map of queries alone moves slowly, so that it does not learn the noise by heart.
    assert right(found, vectors, test) > before + (0.03 if method is Method.QUERIES else 0.15)
    # Three standard errors of a share of 300 are 0.087.
    for seed in (5, 6):
        of_shuffled = trained(vectors, train.shuffled(seed), stop.shuffled(seed + 10), method, seed)
        assert abs(right(of_shuffled, vectors, test) - before) < 0.09
    moved = [right(random_map(found, method, seed, 3), vectors, test) for seed in range(5)]
    assert abs(np.mean(moved) - before) < 0.09


@pytest.mark.trains
def test_the_map_that_is_kept_has_a_lower_loss_than_doing_nothing() -> None:
    vectors, triplets = world(600, 2)
    train, stop = parts(triplets, 480)
    found = trained(vectors, train, stop, Method.LOW_RANK)

    def loss(one: Map) -> float:
        leads = one.leads(vectors, stop)
        return sum(math.log1p(math.exp(-lead / fitting.TEMPERATURE)) for lead in leads.tolist()) / len(leads)

    assert loss(found) < loss(nothing(D))


@pytest.mark.trains
def test_the_same_seed_gives_the_same_bits_whatever_the_threads() -> None:
    import torch

    vectors, triplets = world(300, 4)
    train, stop = parts(triplets, 240)
    first = trained(vectors, train, stop, Method.LOW_RANK)
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        again = trained(vectors, train, stop, Method.LOW_RANK)
    finally:
        torch.set_num_threads(before)
    assert np.array_equal(first.matrix, again.matrix)
    other = trained(vectors, train, stop, Method.LOW_RANK, seed=2)
    assert not np.array_equal(first.matrix, other.matrix)


@each("method", Method)
def test_a_random_map_has_the_form_and_size_of_the_trained_one(method: Method) -> None:
    rng = np.random.default_rng(0)
    change = {
        Method.WEIGHTS: np.diag(np.exp(rng.standard_normal(D)) - 1),
        Method.LOW_RANK: rng.standard_normal((D, 3)) @ rng.standard_normal((3, D)),
        Method.QUERIES: rng.standard_normal((D, D)),
    }[method]
    like = Map((np.eye(D) + change).astype(np.float32), method.is_of_queries)
    drawn = random_map(like, method, 7, 3)
    assert drawn.is_of_queries is like.is_of_queries
    if method is Method.WEIGHTS:
        logs = [np.log(np.diag(one.matrix)) for one in (like, drawn)]
        assert np.linalg.norm(logs[0]) == pytest.approx(np.linalg.norm(logs[1]), rel=1e-5)
        assert np.count_nonzero(drawn.matrix - np.diag(np.diag(drawn.matrix))) == 0
    else:
        assert drawn.moved == pytest.approx(like.moved, rel=1e-5)
        assert np.linalg.matrix_rank(drawn.matrix - np.eye(D), tol=1e-4) == (3 if method is Method.LOW_RANK else D)
    assert not np.array_equal(drawn.matrix, random_map(like, method, 8, 3).matrix)


def test_shuffled_labels_swap_about_half() -> None:
    _, triplets = world(1_000, 5)
    shuffled = triplets.shuffled(1)
    swapped = shuffled.positive != triplets.positive
    assert 430 < swapped.sum() < 570
    assert np.array_equal(shuffled.negative[swapped], triplets.positive[swapped])
    assert np.array_equal(shuffled.anchor, triplets.anchor)


def test_bad_input_is_a_line() -> None:
    vectors, triplets = world(100, 6)
    train, stop = parts(triplets, 80)
    few, _ = parts(triplets, 5)
    with pytest.raises(InputError, match="5 triplets to train on"):
        trained(vectors, few, stop, Method.LOW_RANK)
    with pytest.raises(InputError, match="5 triplets to decide when to stop"):
        trained(vectors, train, few, Method.LOW_RANK)
    with pytest.raises(InputError, match="same direction"):
        trained(np.ones_like(vectors), train, stop, Method.LOW_RANK)
    with pytest.raises(BlindspotError, match="NaN or infinite"):
        trained(np.full_like(vectors, np.nan), train, stop, Method.LOW_RANK)
    for rank in (0, D + 1):
        with pytest.raises(InputError, match="rank"):
            fit(vectors, train, stop, Method.LOW_RANK, no_progress, CancelToken(), rank=rank)


@pytest.mark.trains
def test_it_can_be_cancelled_and_tells_how_far_it_is() -> None:
    vectors, triplets = world(200, 7)
    train, stop = parts(triplets, 160)
    cancel, heard = CancelToken(), list[int]()

    def progress(stage: str, done: int, total: int, fraction: float | None = None) -> None:
        heard.append(done)
        if done == 5:
            cancel.cancel()

    with pytest.raises(Cancelled):
        fit(vectors, train, stop, Method.WEIGHTS, progress, cancel)
    assert heard == list(range(6))
