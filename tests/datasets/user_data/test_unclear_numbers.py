"""Numbers beside a pair of texts: scores, distances or codes of classes are asked about, never passed over."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from blindspot.datasets.catalog import DatasetRef, find_dataset
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.user_data.files import UnclearKind
from blindspot.errors import InputError
from tests.support.tables import each

N = 60
PAIRS = [(f"who waters the plant number {i}", f"the person that pours for pot {i}") for i in range(N)]
NUMBERS = [(7 * i % 13) / 4 for i in range(N)]
CODES = [i % 3 for i in range(N)]
SCORED, POSITIVE, LABELED = DatasetKind.SCORED_PAIRS, DatasetKind.PAIR_SET, DatasetKind.LABELED_TEXTS


def written(folder: Path, header: tuple[str, str], **further: Sequence[object]) -> str:
    path = folder / f"{'-'.join((*header, *further))}.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*header, *further])
        writer.writerows([*pair, *(cells[i] for cells in further.values())] for i, pair in enumerate(PAIRS))
    return f"file:{path}"


@pytest.mark.parametrize(
    "name",
    ["score of people", "Mean Similarity", "similarityMean", "rating_1", "rater1", "cosine", "gold std", "annotator2"],
)
def test_a_column_that_may_be_a_score_is_asked_about(tmp_path: Path, name: str) -> None:
    reference = written(tmp_path, ("left", "right"), **{name: NUMBERS})
    with pytest.raises(UnclearKind, match=f"column '{name}' may hold scores") as caught:
        find_dataset(reference)
    assert set(caught.value.readings) == {POSITIVE, SCORED}
    for kind, reading in caught.value.readings.items():
        assert find_dataset(reading).kind is kind
        assert f'"{reading}"' in str(caught.value)


@each("name", ["note", "remark", "Punkte", "puntaje", "giudizio medio", "оценка", "评分"])
def test_a_score_in_another_language_is_asked_about(tmp_path: Path, name: str) -> None:
    """Of a hundred, which is no scale that tells a score by itself; a note or a remark is no number in English."""
    numbers = NUMBERS if name in ("note", "remark") else [i * 37 % 101 for i in range(N)]
    with pytest.raises(UnclearKind, match=f"column '{name}' may hold scores"):
        find_dataset(written(tmp_path, ("left", "right"), **{name: numbers}))


@each(
    "name, cell",
    [
        ("sim", lambda i: "NULL" if i == 3 else NUMBERS[i]),
        ("sim", lambda i: "n/a" if i % 7 else NUMBERS[i]),  # few are rated
        ("sim", lambda i: "hard to say" if i % 9 == 0 else NUMBERS[i]),
        ("team rating", lambda i: f"{NUMBERS[i]}/5"),
        ("team rating", lambda i: f"{i % 5} out of 5"),
        ("points", lambda i: f"{i % 5} pts."),
        ("stars", lambda i: f"{i % 5}★"),
        ("team similarity", lambda i: f"~{NUMBERS[i]}"),
        ("people", lambda i: "?" if i == 5 else f"{NUMBERS[i]:.2f}".replace(".", ",")),
        ("people", lambda i: f"{i % 5}/5"),
    ],
)
def test_a_score_among_other_text_is_asked_about(tmp_path: Path, name: str, cell: Callable[[int], object]) -> None:
    with pytest.raises(UnclearKind, match=f"column '{name}'") as caught:
        find_dataset(written(tmp_path, ("left", "right"), **{name: [*map(cell, range(N))]}))
    assert "scored pairs" in str(caught.value) or "may say which rows" in str(caught.value)  # what to do for scores


@each(
    "name, cell",
    [
        ("dose", lambda i: f"{i % 5} mg"),
        ("visited", lambda i: f"{i % 5}/12/2024"),
        ("size", lambda i: f"{i % 5},5"),
        ("room", lambda i: f"{i % 5}b"),
        ("people", lambda i: f"{i % 5}" if i % 9 == 0 else f"team {i % 5}"),
    ],
)
def test_numbers_with_units_are_no_scores_without_such_a_name(
    tmp_path: Path, name: str, cell: Callable[[int], object]
) -> None:
    columns = {name: [*map(cell, range(N))]}
    assert find_dataset(written(tmp_path, ("query", "match"), **columns)).kind is POSITIVE


@each(
    "name, values",
    [("how close", ("high", "medium", "low")), ("NLI", ("e", "n", "c")), ("closeness", ("far", "near", "same"))],
)
def test_levels_in_words_are_asked_about(tmp_path: Path, name: str, values: Sequence[str]) -> None:
    with pytest.raises(UnclearKind, match=f"column '{name}'"):
        find_dataset(written(tmp_path, ("left", "right"), **{name: [values[i % 3] for i in range(N)]}))


@each("name", ["distance", "cosine_distance", "Dissimilarity", "Kosinus-Distanz", "écart", "distância", "расстояние"])
def test_a_distance_is_no_score(tmp_path: Path, name: str) -> None:
    reference = written(tmp_path, ("a", "b"), **{name: NUMBERS})
    with pytest.raises(UnclearKind, match="may hold distances") as caught:
        find_dataset(reference)
    assert set(caught.value.readings) == {POSITIVE}
    assert f"minus {name}" in str(caught.value)
    with pytest.raises(InputError, match="less similar"):
        DatasetRef(reference).of_kind(SCORED)


def test_several_scores_are_not_chosen_from(tmp_path: Path) -> None:
    reference = written(tmp_path, ("a", "b"), rater1=NUMBERS, rater2=NUMBERS[::-1])
    with pytest.raises(UnclearKind, match="columns 'rater1', 'rater2' may hold scores"):
        find_dataset(reference)
    with pytest.raises(InputError, match="several columns may be the score"):
        DatasetRef(reference).of_kind(SCORED)


@each("names, is_asked", [(("gold", "score"), True), (("similarity", "human"), True), (("score", "pred"), False)])
def test_of_two_scores_one_may_be_a_models(tmp_path: Path, names: tuple[str, str], is_asked: bool) -> None:
    rounded = [*map(round, NUMBERS)]
    for others, is_unclear in ((rounded, is_asked), (NUMBERS, False)):
        reference = written(tmp_path, ("a", "b"), **dict(zip(names, (NUMBERS, others), strict=True)))
        if is_unclear:
            with pytest.raises(InputError, match="to know which of them people gave"):
                find_dataset(reference)
            find_dataset(f"{reference}?text1=a&text2=b&score={names[1]}")
        else:
            assert find_dataset(reference).kind is SCORED


@each("verdict, is_asked", [({"score": 0}, True), ({"note": "", "is_correct": 0}, True), ({"year": 0}, False)])
def test_a_verdict_in_an_object_is_asked_about(tmp_path: Path, verdict: dict[str, object], is_asked: bool) -> None:
    rows = [
        {"question": a, "answer": b, "feedback": verdict | {[*verdict][-1]: i % 2}} for i, (a, b) in enumerate(PAIRS)
    ]
    (tmp_path / "own.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    if is_asked:
        with pytest.raises(UnclearKind, match="column 'feedback'"):
            find_dataset(f"file:{tmp_path / 'own.jsonl'}")
    else:
        find_dataset(f"file:{tmp_path / 'own.jsonl'}")


def test_a_label_of_few_whole_numbers_is_a_class_or_a_score(tmp_path: Path) -> None:
    for header in (("premise", "hypothesis"), ("sentence1", "sentence2")):
        reference = written(tmp_path, header, label=CODES)
        with pytest.raises(UnclearKind, match="classes") as caught:
            find_dataset(reference)
        assert set(caught.value.readings) == {SCORED, LABELED}
        assert find_dataset(DatasetRef(reference).of_kind(LABELED)).kind is LABELED
        with pytest.raises(UnclearKind):  # who runs Similarity has not said that 2 is more similar than 0
            find_dataset(DatasetRef(reference).of_kind(SCORED))


@pytest.mark.parametrize("name", ["labels", "gold_label", "target"])
def test_classes_by_other_names_are_not_passed_over(tmp_path: Path, name: str) -> None:
    reference = written(tmp_path, ("sentence1", "sentence2"), **{name: CODES})
    with pytest.raises(UnclearKind, match=f"column '{name}' has few whole numbers") as caught:
        find_dataset(reference)
    assert set(caught.value.readings) == {POSITIVE, LABELED}
    assert find_dataset(DatasetRef(reference).of_kind(LABELED)).kind is LABELED


def test_a_diagnostic_of_scored_pairs_decides_and_one_of_pairs_does_not(tmp_path: Path) -> None:
    reference = DatasetRef(written(tmp_path, ("left", "right"), people_score=NUMBERS))
    assert find_dataset(reference.of_kind(SCORED)).kind is SCORED
    with pytest.raises(UnclearKind):  # pairs that people scored low would count as matches
        find_dataset(reference.of_kind(POSITIVE))


@pytest.mark.parametrize("name", ["year", "views", "length", "qid1", "id", "rater", "tokens"])
def test_other_numbers_are_not_asked_about(tmp_path: Path, name: str) -> None:
    assert find_dataset(written(tmp_path, ("query", "match"), **{name: NUMBERS})).kind is POSITIVE


def test_names_and_values_that_decide_are_not_asked_about(tmp_path: Path) -> None:
    assert find_dataset(written(tmp_path, ("a", "b"), score=NUMBERS, rater1=NUMBERS)).kind is SCORED
    assert find_dataset(written(tmp_path, ("text1", "text2"), label=NUMBERS)).kind is SCORED
    assert find_dataset(written(tmp_path, ("a", "b"), score=CODES)).kind is SCORED
