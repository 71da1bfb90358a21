"""Labeled texts: what is the same, what leaks, what is left where texts have no vector; against plain loops."""

from __future__ import annotations

import dataclasses

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from blindspot.datasets.kinds.labeled_texts import (
    DEV,
    TEST,
    TRAIN,
    UNSPLIT,
    ClassCount,
    LabeledCounts,
    LabeledTexts,
    same_examples,
)
from blindspot.datasets.published.labeled_texts import Example, labeled_texts
from blindspot.diagnostic import DiagnosticResult
from blindspot.runs import pipeline
from blindspot.texts import same_text
from tests.support.tables import each

CLASSES = ("p", "q", "r")
TEXTS = st.sampled_from(["a", "A", " a ", "a  b", "A B", "b", "ß", "SS", "\u00e9", "E\u0301"])


PATIENT = hypothesis_settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # on a busy machine


@st.composite
def examples(draw: st.DrawFn) -> LabeledTexts:
    """Some, of one text or two, with a split or without, mostly with equal texts."""
    pairs, split = draw(st.booleans()), draw(st.booleans())
    row = st.builds(
        Example,
        st.sampled_from(CLASSES),
        TEXTS,
        TEXTS if pairs else st.none(),
        st.sampled_from([TRAIN, DEV, TEST]) if split else st.just(UNSPLIT),
    )
    return labeled_texts("drawn", CLASSES, draw(st.lists(row, min_size=1, max_size=12)))


def rows(data: LabeledTexts) -> list[Example]:
    """The examples, back from the arrays."""
    return [
        Example(
            data.classes[data.labels[i]],
            data.items[data.firsts[i]],
            data.items[data.seconds[i]] if data.has_pairs else None,
            int(data.splits[i]),
        )
        for i in range(len(data.labels))
    ]


def key(row: Example) -> frozenset[str]:
    """What makes two examples the same: of pairs in either order."""
    return frozenset({same_text(row.first), same_text(row.first if row.second is None else row.second)})


def test_a_pair_and_its_swap_are_one_example_and_so_are_unicode_forms() -> None:
    assert same_examples(["a", "B", "a", "b", "a"], ["b", "a", "a", "c", "B "]).tolist() == [0, 0, 1, 2, 0]
    assert same_examples(["caf\u00e9", "cafe", "CAFE\u0301"]).tolist() == [0, 1, 0]


@PATIENT
@given(examples())
def test_what_is_the_same_and_what_leaks(data: LabeledTexts) -> None:
    every = rows(data)
    keys = [key(row) for row in every]
    for i, one in enumerate(every):
        assert [bool(n) for n in data.same == data.same[i]] == [k == keys[i] for k in keys]
        if data.is_split:
            leaks = one.split == TEST and any(
                k == keys[i] and row.split == TRAIN for k, row in zip(keys, every, strict=True)
            )
        else:
            leaks = keys.count(keys[i]) > 1
        assert data.overlaps[i] == leaks


@PATIENT
@given(examples())
def test_which_texts_are_the_same(data: LabeledTexts) -> None:
    numbers = np.concatenate(data.texts).tolist()
    every = [same_text(row.first) for row in rows(data)] + [same_text(row.second or row.first) for row in rows(data)]
    assert [[a == b for b in numbers] for a in numbers] == [[a == b for b in every] for a in every]


@PATIENT
@given(examples())
def test_counts(data: LabeledTexts) -> None:
    every = rows(data)
    keys = [key(row) for row in every]
    tested = sum(row.split == TEST for row in every)
    assert data.counts == LabeledCounts(
        examples=len(every),
        classes=tuple(
            ClassCount(
                name,
                *(
                    sum(r.label == name and r.split in parts for r in every)
                    for parts in ((TRAIN, DEV, TEST, UNSPLIT), (TRAIN,), (DEV,), (TEST,))
                ),
            )
            for name in CLASSES
        ),
        texts=len({text for row in every for text in (row.first, row.second) if text is not None}),
        repeated=sum(keys.count(k) > 1 for k in keys),
        contradictory=sum(len({r.label for r in every if key(r) == k}) > 1 for k in set(keys)),
        tested=tested,
        leaked=int(data.overlaps.sum()) if tested else 0,
    )


def test_the_majority_is_that_of_training_and_counts_in_the_test_part() -> None:
    rows = [("p", TRAIN)] * 3 + [("q", TRAIN)] * 2 + [("q", TEST)] * 3 + [("p", TEST)]
    split = LabeledCounts.of(
        labeled_texts("x", CLASSES, [Example(c, f"{i}", None, s) for i, (c, s) in enumerate(rows)])
    )
    assert (split.majority.name, split.baseline) == ("p", 0.25)
    unsplit = LabeledCounts.of(labeled_texts("x", CLASSES, [Example(c, f"{i}") for i, (c, _) in enumerate(rows)]))
    assert (unsplit.majority.name, unsplit.baseline) == ("q", 5 / 9)
    assert unsplit.caution == split.caution == ()


def test_what_is_cautioned_of() -> None:
    rows = [Example("p", "A", None, TRAIN), Example("q", "a", None, TEST), Example("p", "b", None, TEST)]
    assert LabeledCounts.of(labeled_texts("x", CLASSES, rows)).caution == (
        "test examples also in training: 1 of 2 (50.0%)",
        "repeated examples: 2 (66.7%)",
        "texts with more than one label: 1",
    )


@PATIENT
@given(examples(), st.data())
def test_the_part_whose_texts_have_vectors(data: LabeledTexts, draw: st.DataObject) -> None:
    n = len(data.items)
    covered = np.array(draw.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    part = data.part(covered)
    known = {text for text, has in zip(data.items, covered, strict=True) if has}
    kept = [i for i, row in enumerate(rows(data)) if {row.first, row.second} - {None} <= known]
    assert part.rows.tolist() == kept
    assert part.items.tolist() == [i for i, text in enumerate(data.items) if text in known]
    assert set(part.dataset.items) == known
    assert part.dataset.classes == data.classes
    if kept:  # of none it cannot be told whether they were pairs
        assert rows(part.dataset) == [rows(data)[i] for i in kept]


BASE = labeled_texts("x", CLASSES, [Example("p", "a", "b", TRAIN), Example("q", "b", "a", TEST)])


@each(
    "change",
    [
        {"items": ("a", "c")},
        {"items": ("b", "a")},
        {"classes": ("p", "q", "s")},
        {"firsts": np.array([0, 0], dtype=np.int32)},
        {"seconds": np.array([1, 1], dtype=np.int32)},
        {"seconds": np.array([], dtype=np.int32)},
        {"labels": np.array([0, 2], dtype=np.int32)},
        {"splits": np.array([TRAIN, DEV], dtype=np.int8)},
    ],
    ids=str,
)
def test_everything_that_decides_numbers_is_in_the_digest(change: dict[str, object]) -> None:
    assert dataclasses.replace(BASE, **change).content_digest != BASE.content_digest  # type: ignore[arg-type]
    assert dataclasses.replace(BASE, id="y").content_digest == BASE.content_digest


# --- a part of it


FOUR = labeled_texts(
    "four", ("p", "q"), [Example("pq"[i % 2], text) for i, text in enumerate(["a", "b", "c", "b", "d"])]
)


def test_the_part_for_a_run() -> None:
    assert FOUR.part(np.array([True, False, True, True])).rows.tolist() == [0, 2, 4]
    said = str(FOUR.nothing_left(0, "'x'"))
    assert "no example of 'four' is left: none has a vector for its text from 'x'" in said


@pytest.mark.parametrize(
    ("tested", "numbers"),
    [(np.array([1, 2]), [2, 4]), (None, [0, 2, 4])],  # of the examples covered; all of them
)
def test_a_result_in_numbers_of_the_whole(tested: np.ndarray | None, numbers: list[int]) -> None:
    covered = np.array([True, False, True, True])
    result = DiagnosticResult(metrics={}, items=pa.table({}), coverage={}, item_numbers=tested)
    found = pipeline.with_coverage(result, FOUR, covered, FOUR.part(covered))
    assert found.coverage == {"examples": 5, "examples_covered": 3, "items": 4, "items_covered": 3}
    assert found.item_numbers is not None
    assert found.item_numbers.tolist() == numbers
