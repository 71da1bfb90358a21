"""Views of frequency: hubs against loops over the lists, the classifier, and bands."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from blindspot.diagnostic import find_diagnostic
from blindspot.diagnostics.evalrank.pairs import pair_table
from blindspot.diagnostics.frequency.hubness import nearest_lists, random_vectors
from blindspot.diagnostics.frequency.page.hubs import in_words
from blindspot.diagnostics.frequency.view import Hubs, bands_view, hubs_view, told
from blindspot.numerics.neighbors.hubness import Hubness
from blindspot.numerics.similarity import Similarity
from blindspot.numerics.statistics.association import spearman
from blindspot.numerics.statistics.groups import FEW
from blindspot.runs.spaces import Space
from blindspot.types import CancelToken
from blindspot.variants import Variant
from tests.support.small_world import SMALL_PAIRS, GramEncoder
from tests.support.world import World

N = len(SMALL_PAIRS.items)
ZIPF = np.where(np.arange(N) % 4 == 0, np.nan, np.arange(N) / 3)


def view(k: int, *numbers: int) -> Hubs:
    """Of the items with these numbers; the vector of the first is zero."""
    items = np.array(numbers)
    vectors = GramEncoder().encode([SMALL_PAIRS.items[i] for i in numbers], CancelToken())
    vectors[0] = 0
    space = Space(Variant("trigrams", "none"), SMALL_PAIRS, items, vectors, "digest")
    lists = nearest_lists(vectors, Similarity.COS)
    return hubs_view([(space, lists, nearest_lists(random_vectors(len(lists.places), 9), Similarity.COS))], k)[0]


def test_items_are_counted_in_all_lists() -> None:
    one = view(2, *range(1, N))
    lists, numbers = one.lists, one.numbers.tolist()
    assert 1 not in numbers
    counts = [sum(i in row for row in lists.nearest[:, :2].tolist()) for i in range(len(numbers))]
    assert one.counts.tolist() == counts
    assert one.hubness == Hubness.of(np.array(counts), 2)
    largest = one.largest(5)
    assert [item.occurrences for item in largest] == sorted(counts, reverse=True)[:5]
    top = one.item(largest[0].item_no)
    assert top is not None
    assert one.listed(top) == largest[0]
    assert largest[0].text == SMALL_PAIRS.items[largest[0].item_no]
    assert largest[0].times_average == pytest.approx(largest[0].occurrences / 2)
    texts = [SMALL_PAIRS.items[i] for i in numbers]
    assert [(n.rank, n.text) for n in one.neighbors(top)] == [
        (rank, texts[i]) for rank, i in enumerate(lists.nearest[top, :2].tolist(), 1)
    ]
    askers = one.listed_by(top, N)
    assert {n.text for n in askers} == {texts[i] for i in range(len(numbers)) if top in lists.nearest[i, :2]}
    assert [n.rank for n in askers] == sorted(n.rank for n in askers)
    assert one.listed_by(top, 1) == askers[:1]
    assert one.item(1) is None


def test_items_in_no_list_come_by_frequency_the_unknown_last() -> None:
    one = view(1, *range(N))
    never = [i for i, count in zip(one.numbers.tolist(), one.counts.tolist(), strict=True) if not count]
    expected = sorted(never, key=lambda i: (np.isnan(ZIPF[i]), -np.nan_to_num(ZIPF[i]), i))
    assert [item.item_no for item in one.never_listed(ZIPF, N)] == expected
    known = [i for i in one.numbers.tolist() if not np.isnan(ZIPF[i])]
    counts = [float(one.counts[one.numbers.tolist().index(i)]) for i in known]
    assert one.with_frequency(ZIPF) == spearman(ZIPF[known], np.array(counts))


def test_k_is_at_most_what_every_item_has_and_json_has_no_nan() -> None:
    one = view(10, 0, 2, 3, 4)
    assert (one.k, one.zero_vectors) == (2, 1)
    printed = one.as_json()
    assert (printed["skewness"], printed["random_lists"]["skewness"]) == (None, None), "each lists both others"
    assert [hub["occurrences"] for hub in printed["top"]] == [2, 2, 2]


def test_the_classifier_is_told_over_all_thresholds() -> None:
    rows = pd.DataFrame({"accuracy": [0.6, 0.9], "control": [0.4, 0.6], "words_per_class": [200, 200]})
    one = told(rows)
    assert (one.mean.value, one.control, one.least, one.most) == (0.75, 0.5, 0.6, 0.9)
    assert one.mean.interval.low < 0.75 < one.mean.interval.high


@pytest.mark.parametrize("filtered", [False, True])
def test_bands_have_every_pair_once_by_either_side_and_by_both(world: World, filtered: bool) -> None:
    world.add(GramEncoder(), SMALL_PAIRS)
    run = world.run("evalrank", "trigrams", SMALL_PAIRS.id)
    pairs = pair_table(find_diagnostic("evalrank"), [run.run_id], world.repository)
    view = bands_view(pairs, np.arange(1, N), ZIPF[1:], filtered=filtered)
    kept = (pairs.frame[["query_no", "match_no"]] > 0).all(axis=1).to_numpy()
    assert view.left_out == np.count_nonzero(~kept) > 0
    scores = pairs.reciprocal_ranks(run.run_id, filtered=filtered)[kept]
    sides, cells = view.sides[run.run_id], view.cells[run.run_id]
    for part in (sides[sides["side"] == "query"], sides[sides["side"] == "match"], cells):
        here = part[part["pairs"] > 0]
        assert here["pairs"].sum() == len(scores)
        assert np.average(here["mrr"], weights=here["pairs"]) == pytest.approx(scores.mean())
    assert view.highest("mrr") == 0.0, "no cell has enough pairs"
    cells_of_runs = {
        "x": pd.DataFrame({"pairs": [FEW - 1, FEW, FEW + 1], "mrr": [0.9, 0.5, 0.3]}),
        "y": pd.DataFrame({"pairs": [FEW + 1], "mrr": [0.4]}),
    }
    assert replace(view, cells=cells_of_runs).highest("mrr") == 0.5


def test_hubs_are_counted_in_a_sentence() -> None:
    model = view(2, *range(N))
    assert "**no hub**" in in_words([model], 2)
    counts = np.zeros(N, dtype=np.int64)
    counts[0] = 2 * N  # all places
    crowded = replace(model, counts=counts)
    text = in_words([crowded, model], 2)
    assert "**1 hub**" in text
    assert "in 20 lists or more" in text
    assert "100%" in text
    assert f"{model.variant.label} 0." in text
