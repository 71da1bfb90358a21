"""EvalRank: near-duplicates and rivals, ceilings, and every metric against a plain loop."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import permutations
from statistics import mean, median

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from blindspot.datasets.kinds.pairs import PairSet
from blindspot.datasets.published.pairs import pair_set
from blindspot.diagnostic import DiagnosticResult
from blindspot.diagnostics.evalrank.definition import ENTRY, HITS_AT, ceilings, compute, exclusions_of
from blindspot.errors import InputError
from blindspot.numerics.similarity import Similarity
from blindspot.types import CancelToken, Float32, no_progress
from tests.support import evalrank_reference as reference
from tests.support.tables import each

TextPairs = Sequence[tuple[str, str]]


PARAMS = {"metric": "cos", "protocol": "definition"}


def evaluate(matrix: Float32, dataset: PairSet, metric: str = "cos") -> DiagnosticResult:
    return compute(matrix, dataset, PARAMS | {"metric": metric}, no_progress, CancelToken())


def left_out(dataset: PairSet) -> list[set[str]]:
    """Per pair, the texts that filtered ranks leave out."""
    exclusions = exclusions_of(dataset)
    out: list[set[str]] = [set() for _ in dataset.queries]
    for pair, item in zip(exclusions.pairs.tolist(), exclusions.items.tolist(), strict=True):
        assert dataset.items[item] not in out[pair], "an item is left out of a pair once"
        out[pair].add(dataset.items[item])
    return out


# --- twins and rivals ---


def test_filtered_ranks_leave_out_other_matches_and_twins() -> None:
    dataset = pair_set(
        "hand-made",
        [
            ("a dog", "a hound"),
            ("a dog", "one dog"),
            ("a hound", "a dog"),
            ("a cat", "a cat"),
            ("!!", "a cat"),
        ],
        ["A dog!", "a  hound", "ADOG", "another dog", "A CAT", "??", "!?"],
    )
    assert left_out(dataset) == [
        {"one dog", "A dog!", "ADOG", "a  hound"},
        {"a hound", "A dog!", "ADOG"},  # a hound as a match; its own twin is neither match nor twin of this pair
        {"A dog!", "ADOG", "a  hound"},
        {"A CAT"},
        {"A CAT"},  # texts without a letter are no twins of each other
    ]


def test_another_word_or_sign_is_a_mistake_and_another_unicode_form_is_not() -> None:
    """A vowel sign makes "address" of "father"; C++ is not C."""
    dataset = pair_set(
        "scripts",
        [("पिता", "बाप"), ("C", "the language of Unix"), ("a=b", "b = a"), ("caf\u00e9", "bistro")],
        ["पता", "C++", "C#", "a≠b", "a!=b", "CAFE\u0301", "cafe", "c.", "पिता।", "a = b"],
    )
    assert left_out(dataset) == [{"पिता।"}, {"c."}, {"a = b"}, {"CAFE\u0301"}]


def test_a_twin_that_is_the_match_stays() -> None:
    """Query and match may be twins of each other; neither is ever left out."""
    dataset = pair_set("twins", [("It rains.", "it rains")], ["IT RAINS", "It snows."])
    assert left_out(dataset) == [{"IT RAINS"}]


# --- the whole, by hand ---


def test_scores_by_hand() -> None:
    """Two pairs. The first match has one item above and two tied, the second is first beyond doubt.

    Expected: MRR = ((1/2 + 1/3 + 1/4)/3 + 1)/2 = (13/36 + 1)/2; Hits@3 = (2/3 + 1)/2.
    Filtered: the item above is a twin of the query, so the first match is 1st, 2nd or 3rd:
    MRR = ((1 + 1/2 + 1/3)/3 + 1)/2 = (11/18 + 1)/2; Hits@1 = (1/3 + 1)/2.
    """
    dataset = pair_set("by hand", [("query", "match"), ("north", "north")], ["Query!", "tied", "tied too"])
    vectors = {
        "query": (1, 0, 0),
        "match": (4, 3, 0),
        "Query!": (2, 0, 0),
        "tied": (8, -6, 0),
        "tied too": (4, 0, 3),
        "north": (0, 0, -5),
    }
    matrix = np.array([vectors[text] for text in dataset.items], dtype=np.float32)
    result = evaluate(matrix, dataset)
    assert result.items.to_pydict() == {
        "similarity": [pytest.approx(0.8), pytest.approx(1.0)],
        "greater": [1, 0],
        "ties": [2, 0],
        "greater_filtered": [0, 0],
        "ties_filtered": [2, 0],
    }
    expected = {
        "mrr": (13 / 36 + 1) / 2,
        "hits@1": 1 / 2,
        "hits@3": (2 / 3 + 1) / 2,
        "mean_rank": (3 + 1) / 2,
        "median_rank": (3 + 1) / 2,
        "mrr_filtered": (11 / 18 + 1) / 2,
        "hits@1_filtered": (1 / 3 + 1) / 2,
        "mean_rank_filtered": (2 + 1) / 2,
        "mrr_optimistic": (1 / 2 + 1) / 2,
        "hits@3_optimistic": 1,
        "mean_rank_optimistic": (2 + 1) / 2,
        "mrr_pessimistic": (1 / 4 + 1) / 2,
        "hits@3_pessimistic": 1 / 2,
        "mean_rank_pessimistic": (4 + 1) / 2,
        "mrr_ceiling": 1,
        "tied_pairs": 1,
        "self_pairs": 1,
        "pairs": 2,
        "background": 6,
    }
    assert {name: result.metrics[name] for name in expected} == pytest.approx(expected)
    assert {score.name for score in ENTRY.metrics} - {*result.metrics} == {"above_themselves", "rescored"}


# --- the whole, against the loop ---

TEXTS = ("a", "A", "a!", "b", "B ", "ab", "a b", "c", "?", "!", "é", "d", "e", "f")


@st.composite
def datasets(draw: st.DrawFn) -> PairSet:
    """Pairs of few texts, many of them twins; self pairs, several matches, repeated pairs."""
    text = st.sampled_from(TEXTS)
    pairs = draw(st.lists(st.tuples(text, text), min_size=1, max_size=8))
    return pair_set("drawn", pairs, draw(st.lists(text, max_size=len(TEXTS))))


def _expected_scores(counts: Sequence[reference.ReferenceCount]) -> dict[str, float]:
    """Means over pairs of means over every order of the tied: what "expected" means, without a formula."""
    ranks = [[count.greater + 1 + place for place in range(count.ties + 1)] for count in counts]
    shown = [mean(of_pair) for of_pair in ranks]
    out = {"mrr": mean(mean(1 / r for r in of_pair) for of_pair in ranks)}
    out |= {f"hits@{k}": mean(mean(float(r <= k) for r in of_pair) for of_pair in ranks) for k in HITS_AT}
    return out | {"mean_rank": mean(shown), "median_rank": median(shown)}


@given(dataset=datasets(), metric=st.sampled_from(Similarity), seed=st.integers(0, 2**32 - 1), data=st.data())
@hypothesis_settings(max_examples=150, deadline=None)
def test_every_metric_equals_the_loop(dataset: PairSet, metric: Similarity, seed: int, data: st.DataObject) -> None:
    random = np.random.default_rng(seed)
    dimension = data.draw(st.integers(1, 5))
    matrix = random.integers(-2, 3, (len(dataset.items), dimension)).astype(np.float32)  # zeros and copies abound
    vectors = matrix.astype(np.float64).tolist()
    pairs = list(zip(dataset.queries.tolist(), dataset.matches.tolist(), strict=True))
    raw = [reference.count(vectors, query, match, metric.value, set()) for query, match in pairs]
    filtered = [
        reference.count(vectors, query, match, metric.value, reference.filtered_out(dataset.items, pairs, query, match))
        for query, match in pairs
    ]
    assume(not any(count.borderline for count in raw))
    result = evaluate(matrix, dataset, metric.value)

    assert result.items["greater"].to_pylist() == [count.greater for count in raw]
    assert result.items["ties"].to_pylist() == [count.ties for count in raw]
    assert result.items["greater_filtered"].to_pylist() == [count.greater for count in filtered]
    assert result.items["ties_filtered"].to_pylist() == [count.ties for count in filtered]
    expected = _expected_scores(raw) | {f"{k}_filtered": v for k, v in _expected_scores(filtered).items()}
    without_ties = {
        "optimistic": [reference.ReferenceCount(c.similarity, c.greater, 0, False) for c in raw],
        "pessimistic": [reference.ReferenceCount(c.similarity, c.greater + c.ties, 0, False) for c in raw],
    }
    for way, counts in without_ties.items():
        expected |= {f"{name}_{way}": value for name, value in _expected_scores(counts).items()}
    expected |= {
        "tied_pairs": sum(count.ties > 0 for count in raw),
        "self_pairs": sum(query == match for query, match in pairs),
        "pairs": len(pairs),
        "background": len(set(dataset.items)),
    }
    measured = {name: value for name, value in result.metrics.items() if not name.endswith("_ceiling")}
    assert measured == pytest.approx(expected, abs=1e-12)
    for name in ("mrr", *(f"hits@{k}" for k in HITS_AT)):
        score = result.metrics
        assert score[f"{name}_pessimistic"] <= score[name] + 1e-12
        assert score[name] <= score[f"{name}_optimistic"] + 1e-12
        assert score[name] <= score[f"{name}_ceiling"] + 1e-12
        assert score[name] <= score[f"{name}_filtered"] + 1e-12


# --- ceilings ---


def _best_by_trying_every_ranking(dataset: PairSet) -> dict[str, float]:
    """Per query, every order of the other items; the best sum of each score; the mean over pairs."""
    best = dict.fromkeys(["mrr", *(f"hits@{k}" for k in HITS_AT)], 0.0)
    for query in set(dataset.queries.tolist()):
        matches = dataset.matches[dataset.queries == query].tolist()
        candidates = [item for item in range(len(dataset.items)) if item != query]
        # A pair of the query with itself: nothing need stand above it.
        all_diagnostics = [
            [1 if match == query else order.index(match) + 1 for match in matches] for order in permutations(candidates)
        ]
        best["mrr"] += max(math.fsum(1 / rank for rank in ranks) for ranks in all_diagnostics)
        for k in HITS_AT:
            best[f"hits@{k}"] += max(sum(rank <= k for rank in ranks) for ranks in all_diagnostics)
    return {f"{name}_ceiling": total / len(dataset.queries) for name, total in best.items()}


@each(
    "pairs",
    [
        [("a", "b")],
        [("a", "b"), ("a", "c"), ("b", "a")],
        [("a", "b"), ("a", "c"), ("a", "d"), ("a", "e"), ("b", "e")],
        [("a", "a"), ("a", "b"), ("c", "c")],
        [("a", "b"), ("a", "b"), ("a", "c")],
        [("a", "b"), ("a", "c"), ("a", "d"), ("a", "e"), ("a", "f")],
    ],
)
def test_ceilings_equal_the_best_of_every_ranking(pairs: TextPairs) -> None:
    dataset = pair_set("ceiling", pairs, ["x", "y"] if len(pairs) < 4 else [])
    assert ceilings(dataset) == pytest.approx(_best_by_trying_every_ranking(dataset), abs=1e-12)


# --- what the entry declares ---


def test_metrics_say_which_way_is_better() -> None:
    better = {metric.name: metric.higher_is_better for metric in ENTRY.metrics}
    assert better["mrr"] is True
    assert better["mean_rank_filtered"] is False
    assert better["tied_pairs"] is None


def test_parameters() -> None:
    assert ENTRY.check_params({}) == {"metric": "cos", "protocol": "definition"}
    assert ENTRY.check_params({"metric": "l2"})["metric"] == "l2"
    with pytest.raises(InputError, match="unknown metric 'cosine'; expected one of cos, l2"):
        ENTRY.check_params({"metric": "cosine"})
    with pytest.raises(InputError, match="unknown parameter of evalrank 'metrics'"):
        ENTRY.check_params({"metrics": "cos"})
