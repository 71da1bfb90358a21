"""F1 of phrases against cases by hand and a slow reading of conlleval's rules; its interval and its test."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blindspot.datasets.kinds.chunked import bracketed, chunks_of
from blindspot.diagnostics.words.chunking.published import table_4
from blindspot.diagnostics.words.chunking.scoring import (
    Counts,
    dependence_of,
    difference_of,
    estimate_of,
    f1,
    of_sentences,
)
from blindspot.numerics.statistics.estimate import Unit
from blindspot.numerics.statistics.pairs import Dependence

TAGS = ("O", "B-NP", "I-NP", "B-VP", "I-VP")


def slow_chunks(tags: list[str]) -> set[tuple[int, int, str]]:
    """conlleval's startOfChunk and endOfChunk, tag pair by tag pair, over every range of words."""

    def starts(before: str, here: str) -> bool:
        mark, _, kind = here.partition("-")
        return mark == "B" or (mark == "I" and (before == "O" or before.partition("-")[2] != kind))

    def ends(here: str, after: str) -> bool:
        return here != "O" and (after[0] in "BO" or after.partition("-")[2] != here.partition("-")[2])

    padded = ["O", *tags, "O"]
    found = set()
    for first in range(1, len(tags) + 1):
        if not starts(padded[first - 1], padded[first]):
            continue
        for last in range(first, len(tags) + 1):
            if ends(padded[last], padded[last + 1]):
                found.add((first - 1, last, padded[first].partition("-")[2]))
                break
    return found


@given(st.lists(st.sampled_from(TAGS), max_size=9))
def test_phrases_are_those_of_conlleval(tags: list[str]) -> None:
    found = chunks_of(tags)
    assert set(found) == slow_chunks(tags)
    assert found == sorted(found)


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ("B-NP I-NP O B-VP", [(0, 2, "NP"), (3, 4, "VP")]),
        ("B-NP B-NP", [(0, 1, "NP"), (1, 2, "NP")]),
        ("I-NP I-NP", [(0, 2, "NP")]),
        ("B-NP I-VP", [(0, 1, "NP"), (1, 2, "VP")]),
        ("O O", []),
    ],
)
def test_phrases_by_hand(tags: str, expected: list[tuple[int, int, str]]) -> None:
    assert chunks_of(tags.split()) == expected


def test_brackets_by_hand() -> None:
    words, tags = "He reckons the deficit .".split(), "B-NP B-VP B-NP I-NP O".split()
    assert bracketed(words, tags) == "[NP He ] [VP reckons ] [NP the deficit ] ."


def test_f1_by_hand() -> None:
    """Two of three given, two of four found: precision 1/2, recall 2/3, F1 4/7."""
    given_, found = ["B-NP I-NP O B-VP B-NP".split()], ["B-NP I-NP B-PP B-VP I-NP".split()]
    found[0][4] = "B-PP"
    counts = Counts.of(given_, found)
    assert counts.kinds == ("NP", "PP", "VP")
    assert counts.sentences.tolist() == [[2, 4, 3]]
    assert counts.of_kinds.tolist() == [[1, 1, 2], [0, 2, 0], [1, 1, 1]]
    assert float(f1(counts.sentences.sum(axis=0))) == pytest.approx(4 / 7)
    assert f1(counts.of_kinds).tolist() == pytest.approx([2 / 3, 0, 1])


sentences = st.lists(st.lists(st.tuples(*[st.sampled_from(TAGS)] * 2), min_size=1, max_size=6), min_size=1, max_size=6)


@given(sentences)
def test_counts_are_those_of_sets(pairs: list[list[tuple[str, str]]]) -> None:
    ours, theirs = ([[pair[i] for pair in sentence] for sentence in pairs] for i in (0, 1))
    sums = Counts.of(ours, theirs).sentences
    for row, one, other in zip(sums.tolist(), ours, theirs, strict=True):
        a, b = slow_chunks(one), slow_chunks(other)
        assert row == [len(a & b), len(b), len(a)]


def test_nothing_given_and_nothing_found_is_no_f1_but_a_right_sentence() -> None:
    sums = np.zeros((1, 3), dtype=np.int64)
    assert np.isnan(f1(sums)).all()
    assert of_sentences(sums).tolist() == [1.0]


def made_up(sentences: int, share: float, seed: int) -> np.ndarray:
    """Sentences of one to nine phrases, a share of them found; as many are found as there are."""
    rng = np.random.default_rng(seed)
    phrases = rng.integers(1, 10, size=sentences)
    return np.column_stack([rng.binomial(phrases, share), phrases, phrases]).astype(np.int64)


def singles(sentences: int) -> Dependence:
    """Sentences of which no two say the same."""
    return dependence_of(map(str, range(sentences)))


def test_a_sentence_that_stands_there_twice_is_one() -> None:
    once = made_up(60, 0.8, 3)
    names = [f"sentence {i}" for i in range(60)]
    known = dependence_of([*names, *(name.title() for name in names)])
    assert (known.units, known.unit, known.independent) == (60, Unit.SENTENCES, "60 independent sentences")
    found, of_once = estimate_of(np.tile(once, (2, 1)), known), estimate_of(once, singles(60))
    assert (found.value, found.interval) == (of_once.value, of_once.interval)
    other = made_up(60, 0.7, 4)
    twice = difference_of(np.tile(once, (2, 1)), np.tile(other, (2, 1)), known)
    assert twice == difference_of(once, other, singles(60))
    assert (of_once.level, twice[0].level) == (0.95, 0.95), "of one, unless told otherwise"
    for of_five in (estimate_of(once, singles(60), 5), difference_of(once, other, singles(60), 5)[0]):
        assert of_five.level == pytest.approx(1 - 0.05 / 5)


def test_the_interval_covers_the_true_score() -> None:
    inside = 0
    for seed in range(60):
        interval = estimate_of(made_up(200, 0.8, seed), singles(200)).interval
        assert interval is not None
        inside += interval.low <= 0.8 <= interval.high
    assert inside >= 52  # of 57 expected


def test_few_sentences_have_no_interval() -> None:
    found = estimate_of(made_up(5, 0.8, 1), singles(5))
    assert found.interval is None
    assert "5" in found.refusal


def test_two_of_the_same_do_not_differ_and_unequal_ones_do() -> None:
    first, second, known = made_up(300, 0.8, 1), made_up(300, 0.8, 1), singles(300)
    same, p = difference_of(first, second, known)
    assert (same.value, p) == (0.0, 1.0)
    second[:, 0] = np.maximum(second[:, 0] - 1, 0)
    found, p = difference_of(first, second, known)
    assert found.interval is not None
    assert found.interval.low > 0
    assert p == pytest.approx(1e-4)
    back, p_back = difference_of(second, first, known)
    assert (back.value, p_back) == (-found.value, p)
    assert back.interval is not None
    assert back.interval.low == pytest.approx(-found.interval.high)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1_000))
def test_p_is_that_of_all_swaps(seed: int) -> None:
    """Of eight sentences all 256 swaps can be made."""
    first, second = made_up(8, 0.7, seed), made_up(8, 0.7, seed + 1)
    second[:, 2] = first[:, 2]
    second[:, 0] = np.minimum(second[:, 0], np.minimum(second[:, 1], second[:, 2]))
    observed = abs(float(f1(first.sum(axis=0)) - f1(second.sum(axis=0))))
    far = 0
    for swaps in range(256):
        turned = np.array([(swaps >> i) & 1 for i in range(8)], dtype=bool)[:, np.newaxis]
        a, b = np.where(turned, second, first).sum(axis=0), np.where(turned, first, second).sum(axis=0)
        far += abs(float(f1(a) - f1(b))) >= observed - 1e-10
    assert difference_of(first, second, singles(8))[1] == pytest.approx(far / 256, abs=0.03)


def test_table_4_as_printed() -> None:
    rows = {row.model: row for row in table_4()}
    assert list(rows) == ["Baseline", "Rand. Proj.", "GloVe", "H-PCA", "C&W", "CBOW", "TSCCA"]
    assert (rows["C&W"].dev, rows["C&W"].test, rows["C&W"].p) == (pytest.approx(0.9453), pytest.approx(0.9412), None)
    assert (rows["Baseline"].test, rows["Baseline"].p, rows["TSCCA"].p) == (pytest.approx(0.9378), 0.0, 0.357)
