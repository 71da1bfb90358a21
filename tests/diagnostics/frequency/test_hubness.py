"""The neighbors of every item: against a loop, kept, found again; and the command that prints them."""

from __future__ import annotations

import numpy as np
import pytest

from blindspot.diagnostics.frequency import hubness
from blindspot.diagnostics.frequency.hubness import (
    ALIKE,
    Lists,
    NoNeighbors,
    check_spread,
    make,
    nearest_lists,
    requests_of,
)
from blindspot.errors import Cancelled
from blindspot.jobs.queue import JobQueue, JobState
from blindspot.numerics.neighbors.hubness import Hubness
from blindspot.numerics.neighbors.occurrences import k_occurrence
from blindspot.numerics.similarity import Similarity, similarity_to_all
from blindspot.runs.spaces import Space, open_spaces
from blindspot.settings import Settings
from blindspot.store.repository import Repository
from blindspot.types import CancelToken
from blindspot.variants import Variant
from tests.support.commands import Command
from tests.support.small_world import SMALL_PAIRS, GramEncoder, wait_until
from tests.support.world import World


@pytest.mark.parametrize("metric", Similarity)
def test_lists_are_those_of_a_full_sort(metric: Similarity, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hubness, "AT_ONCE", 7)  # several blocks
    rng = np.random.default_rng(4)
    vectors = (rng.normal(size=(70, 6)) * rng.uniform(0.1, 9, (70, 1))).astype(np.float32)
    found = nearest_lists(vectors, metric)
    assert found.nearest.shape == (70, hubness.LONGEST + 1)
    for row in range(70):
        similarity = similarity_to_all(vectors, row, metric)
        others = sorted((i for i in range(70) if i != row), key=lambda i: (-similarity[i], i))
        assert found.nearest[row].tolist() == others[: hubness.LONGEST + 1]
        assert found.similarity[row] == pytest.approx(similarity[others[: hubness.LONGEST + 1]], abs=1e-6)
    for k in (1, 10, 50):
        np.testing.assert_array_equal(found.occurrences(k), k_occurrence(vectors, np.arange(70), k, metric))


def test_whose_neighbor_an_item_is() -> None:
    # On a line at 0, 1, 3, 7, 15: each one's nearest is the one before it, of the first the second.
    found = nearest_lists(np.array([[0], [1], [3], [7], [15]], dtype=np.float32), Similarity.L2)
    assert found.longest == 4
    assert found.nearest[:, 0].tolist() == [1, 0, 1, 2, 3]
    assert found.occurrences(1).tolist() == [1, 2, 1, 1, 0]
    askers, ranks = found.listed_by(1, 2)
    assert dict(zip(askers.tolist(), ranks.tolist(), strict=True)) == {
        row: found.nearest[row, :2].tolist().index(1) + 1 for row in range(5) if 1 in found.nearest[row, :2]
    }
    assert ranks.tolist() == sorted(ranks.tolist())
    assert len(found.listed_by(4, 1)[0]) == 0


def test_zero_vectors_have_no_direction() -> None:
    vectors = np.array([[1, 0], [0, 0], [0.9, 0.1], [0, 1]], dtype=np.float32)
    found = nearest_lists(vectors, Similarity.COS)
    assert found.places.tolist() == [0, 2, 3]
    assert found.total == 4
    assert found.occurrences(1).sum() == 3
    assert nearest_lists(vectors, Similarity.L2).places.tolist() == [0, 1, 2, 3]


def test_ties_are_counted() -> None:
    # Item 0 is as far from 1 as from 2, so its first neighbor could be either; the others' is certain.
    found = nearest_lists(np.array([[0, 0], [1, 0], [-1, 0], [1.1, 0], [-1.2, 0]], dtype=np.float32), Similarity.L2)
    assert found.tied(1) == pytest.approx(1 / 5)
    assert found.tied(4) == 0.0
    similarity = np.array([[0.5, 0.5 - ALIKE / 2], [0.5, 0.4]], dtype=np.float32)
    assert Lists(np.arange(2), 2, np.zeros((2, 2), dtype=np.int32), similarity).tied(1) == 0.5


@pytest.mark.parametrize(
    ("vectors", "metric", "said"),
    [
        (np.ones((5, 3)), Similarity.L2, "all 5 vectors are the same"),
        (np.arange(1, 6)[:, None] * np.ones(3), Similarity.COS, "point in one direction"),
        (np.zeros((5, 3)), Similarity.COS, "5 have a zero vector"),
        (np.eye(1), Similarity.COS, "1 item"),
        (np.array([[1.0, 2.0], [0.0, 0.0]]), Similarity.COS, "at least two"),
    ],
)
def test_where_nobody_is_nearer(vectors: np.ndarray, metric: Similarity, said: str) -> None:
    for look in (check_spread, nearest_lists):
        with pytest.raises(NoNeighbors, match=said):
            look(vectors.astype(np.float32), metric)


def test_many_dimensions_make_hubs_by_distance_and_few_do_not() -> None:
    """Radovanović et al. 2010, figure 1: the skewness of normal vectors grows with their dimension."""
    few, many = (
        Hubness.of(nearest_lists(hubness.random_vectors(1_500, d), Similarity.L2).occurrences(5), 5) for d in (3, 100)
    )
    assert few.skewness < 1 < 2 < many.skewness
    assert few.never < many.never


# --- kept


@pytest.fixture
def space(world: World) -> Space:
    """The small pairs by an encoder, two of whose vectors are zero."""
    world.add(SMALL_PAIRS, GramEncoder()).encode("trigrams", SMALL_PAIRS.id)
    return open_spaces([Variant("trigrams", "none")], SMALL_PAIRS, world.settings)[0]


def test_lists_are_found_again_and_a_damaged_file_is_written_anew(space: Space, settings: Settings) -> None:
    assert hubness.find(space, Similarity.COS, settings) is None
    own, random = make(space, Similarity.COS, settings)
    found = hubness.find(space, Similarity.COS, settings)
    assert found is not None
    for again, made in zip(found, (own, random), strict=True):
        np.testing.assert_array_equal(again.nearest, made.nearest)
    assert len(random.places) == len(own.places) < len(SMALL_PAIRS.items)
    assert hubness.find(space, Similarity.L2, settings) is None
    files = sorted(settings.hubs.iterdir())
    assert [f.suffix for f in files] == [".npz", ".npz"]
    for file in files:
        file.write_bytes(b"damaged")
    assert hubness.find(space, Similarity.COS, settings) is None
    np.testing.assert_array_equal(make(space, Similarity.COS, settings)[0].nearest, own.nearest)


def test_a_cancelled_search_keeps_nothing(space: Space, settings: Settings) -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        make(space, Similarity.COS, settings, cancel=cancel)
    assert not list(settings.hubs.glob("*"))


def test_it_runs_as_a_job(space: Space, settings: Settings, repository: Repository) -> None:
    queue = JobQueue(settings, repository)
    (request,) = requests_of([space], Similarity.L2)
    queue.submit(request.label, [request])
    assert (queue.jobs()[0].encoders, queue.jobs()[0].datasets) == ({"trigrams"}, {"small-pairs"})
    wait_until(lambda: not queue.active())
    assert queue.jobs()[0].state is JobState.DONE
    assert hubness.find(space, Similarity.L2, settings) is not None
    queue.close()


# --- the command


def test_the_command_prints_the_hubness_of_the_lists(space: Space, blindspot: Command) -> None:
    command = ["hubs", "--dataset", "small-pairs", "--encoder", "trigrams", "--transform", "none", "-k", "2"]
    printed = blindspot(*command, "--transform", "center", "--json").json
    assert [v["transform"] for v in printed["variants"]] == ["none", "center"]
    one = printed["variants"][0]
    counts = nearest_lists(space.vectors, Similarity.COS).occurrences(2)
    assert one["skewness"] == pytest.approx(Hubness.of(counts, 2).skewness)
    assert [t["occurrences"] for t in one["top"]] == sorted(counts.tolist(), reverse=True)[:10]
    assert "Largest hubs of trigrams" in blindspot(*command).out
    for wrong, part in ((["-k", "51"], "expected 1 to 50"), (["--dataset", "small-pears"], "did you mean")):
        said = blindspot(*command, *wrong)
        assert said.code == 2
        assert part in said.error
