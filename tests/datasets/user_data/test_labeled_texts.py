"""Labeled texts in a user's file: which columns they are, how classes and splits are read, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from blindspot.datasets import fetch
from blindspot.datasets.catalog import find_dataset
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.kinds.labeled_texts import DEV, TEST, TRAIN, LabeledTexts
from blindspot.datasets.published.labeled_texts import Example
from blindspot.datasets.user_data import files as own
from blindspot.datasets.user_data.columns import FIRST, GROUPS, LABEL, SECOND, SPLIT, TEXT, UNUSED, UnclearColumns
from blindspot.datasets.user_data.labeled_texts import MIN_ROWS, TOO_MANY_CLASSES, OwnLabeledTexts
from blindspot.errors import InputError
from blindspot.settings import Settings
from tests.support.own_files import check_refused, read_as
from tests.support.tables import each

N = 24
Cells = Callable[[int], object]
VALUES: dict[str, Cells] = {
    "text": lambda i: f"text {i}",
    "words": lambda i: ("yes", "no")[i % 2],
    "whole": lambda i: i % 3,
    "many": lambda i: i,
    "float": lambda i: i / 7,
    "split": lambda i: "test" if i % 4 > 1 else "Train",
}


def given(folder: Path, rows: Sequence[dict[str, object]], name: str = "mine.csv") -> Path:
    """A file of a table."""
    path, frame = folder / name, pd.DataFrame(rows)
    match path.suffix:
        case ".csv":
            frame.to_csv(path, index=False)
        case ".tsv":
            frame.to_csv(path, index=False, sep="\t")
        case ".parquet":
            frame.to_parquet(path)
        case _:
            path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def table(**columns: str) -> list[dict[str, object]]:
    """Rows of columns that hold one of ``VALUES``."""
    return [
        {
            name.replace("_", " "): f"{name} {VALUES[what](i)}" if what == "text" else VALUES[what](i)
            for name, what in columns.items()
        }
        for i in range(N)
    ]


def labeled(path: Path) -> OwnLabeledTexts:
    found = own.read(path)
    assert isinstance(found, OwnLabeledTexts)
    return found


@each(
    ("columns", "read"),
    [
        ({"text": "text", "label": "words"}, {TEXT: "text", LABEL: "label"}),
        ({"text": "text", "label": "whole"}, {TEXT: "text", LABEL: "label"}),
        ({"id": "many", "Sentence": "text", "Class": "words"}, {TEXT: "Sentence", LABEL: "Class"}),
        ({"text": "text", "label": "whole", "label_text": "words"}, {TEXT: "text", LABEL: "label text"}),
        ({"label": "whole", "note": "text", "text": "text"}, {TEXT: "text", LABEL: "label"}),
        ({"whatever": "text", "category": "words"}, {TEXT: "whatever", LABEL: "category"}),
        ({"text": "text", "target": "words"}, {TEXT: "text", LABEL: "target"}),
        ({"text": "text", "label": "words", "score": "float"}, {TEXT: "text", LABEL: "label"}),
        ({"text": "text", "label": "words", "fold": "split"}, {TEXT: "text", LABEL: "label", SPLIT: "fold"}),
        ({"text": "text", "label": "words", "set": "split"}, {TEXT: "text", LABEL: "label", SPLIT: "set"}),
        ({"text": "text", "label": "words", "set": "whole"}, {TEXT: "text", LABEL: "label"}),  # of something else
        ({"text1": "text", "text2": "text", "class": "words"}, {FIRST: "text1", SECOND: "text2", LABEL: "class"}),
        (
            {"premise": "text", "hypothesis": "text", "class": "whole"},
            {FIRST: "premise", SECOND: "hypothesis", LABEL: "class"},
        ),
        (
            {"sentence1": "text", "sentence2": "text", "label": "whole", "partition": "split"},
            {FIRST: "sentence1", SECOND: "sentence2", LABEL: "label", SPLIT: "partition"},
        ),
    ],
    ids=str,
)
def test_a_label_beside_a_text_or_two(tmp_path: Path, columns: dict[str, str], read: dict[str, str]) -> None:
    found = labeled(given(tmp_path, table(**columns)))
    assert {use: column.name for use, column in found.used.items()} == read
    assert found.rows == N
    assert found.has_pairs == (SECOND in read)
    assert (found.examples[1].second is not None) == (SECOND in read)
    assert [e.split for e in found.examples[:4]] == ([TRAIN, TRAIN, TEST, TEST] if SPLIT in read else [-1] * 4)


@each(
    ("columns", "kind"),
    [
        ({"text1": "text", "text2": "text", "label": "float"}, DatasetKind.SCORED_PAIRS),
        ({"text1": "text", "text2": "text", "label": "float", "split": "split"}, DatasetKind.SCORED_PAIRS),
        ({"text1": "text", "text2": "text", "label": "words", "score": "whole"}, DatasetKind.SCORED_PAIRS),
        ({"source": "text", "target": "text"}, DatasetKind.PAIR_SET),
        ({"text1": "text", "text2": "text", "class": "many"}, DatasetKind.PAIR_SET),  # of each pair its own
        ({"left": "text", "right": "text", "kind": "words"}, DatasetKind.PAIR_SET),
        ({"word": "text", "count": "many", "class": "words"}, DatasetKind.VOCABULARY),
        ({"original": "text", "synonym": "text", "class": "words"}, DatasetKind.MINIMAL_PAIR_SET),
    ],
    ids=str,
)
def test_what_is_something_else(tmp_path: Path, columns: dict[str, str], kind: DatasetKind) -> None:
    path = given(tmp_path, table(**columns))
    assert own.tabulate(path, path.read_bytes()).kind is kind


def test_a_target_of_many_texts_is_no_class(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [{"text": f"ein Hund {i}", "target": f"a dog {i}"} for i in range(150)]
    path = given(tmp_path, rows)
    assert own.tabulate(path, path.read_bytes()).kind is DatasetKind.PAIR_SET


def test_one_training_example_will_do_where_a_dev_part_chooses(tmp_path: Path) -> None:
    split = [*["train", "train", "test", "dev"] * 6, "train", "test"]
    assert labeled(given(tmp_path, rows_of([*HALVES, "r", "r"], split=split))).classes == ("p", "q", "r")


@each("name", ["mine.csv", "mine.tsv", "mine.jsonl", "mine.parquet"])
@each(
    ("labels", "classes"),
    [
        (("b", "A", "c"), ("A", "b", "c")),
        ((10, 9, -1), ("-1", "9", "10")),
        ((1.0, 0.0, 2.0), ("0", "1", "2")),
        ((True, False, True), ("false", "true")),
        (("1", "x", "2"), ("1", "2", "x")),
        (("caf\u00e9", "x", "cafe\u0301"), ("caf\u00e9", "x")),
    ],
    ids=str,
)
def test_classes_are_the_same_whatever_holds_them(
    tmp_path: Path, name: str, labels: tuple[object, ...], classes: tuple[str, ...]
) -> None:
    rows = [{"text": f"text {i}", "class": labels[i % 3]} for i in range(N)]
    found = labeled(given(tmp_path, rows, name))
    shown = tuple(c.lower() for c in found.classes) if labels[0] is True else found.classes
    assert shown == classes
    assert found.counts.examples == N
    third = next(c for c in found.counts.classes if c.name == found.examples[0].label)
    assert third.examples == (8 if len(classes) == 3 else 16)


def test_half_stars_are_classes_where_one_says_so(tmp_path: Path) -> None:
    path = given(tmp_path, [{"review": f"r {i}", "stars": (0.5, 1.0, 1.5)[i % 3]} for i in range(N)])
    found = read_as(OwnLabeledTexts, own.tabulate(path, path.read_bytes()), text="review", label="stars")
    assert found.classes == ("0.5", "1", "1.5")
    assert [column.why for column in found.columns] == ["as asked", "as asked"]


def test_splits_are_read_whatever_they_are_called(tmp_path: Path) -> None:
    words = ["train", "Training", " test", "VALIDATION", "dev", "valid", "val", "Testing"]
    rows = [{"text": f"t {i}", "label": "pq"[i // 8 % 2], "split": words[i % 8]} for i in range(N * 2)]
    found = labeled(given(tmp_path, rows))
    assert [e.split for e in found.examples[:8]] == [TRAIN, TRAIN, TEST, DEV, DEV, DEV, DEV, TEST]
    assert (found.counts.tested, found.counts.is_split) == (12, True)


# --- what is refused


def rows_of(labels: Sequence[object], **more: Sequence[object]) -> list[dict[str, object]]:
    return [
        {"text": f"text {i}", "label": label} | {name: cells[i] for name, cells in more.items()}
        for i, label in enumerate(labels)
    ]


HALVES = ["p", "q"] * 12


@each(
    ("rows", "told"),
    [
        (
            rows_of(["p"] * N),
            "column 'label': the class is 'p' in all 24 rows; expected at least two classes; add examples of another",
        ),
        (
            rows_of(["p", *["q"] * 23]),
            "class 'p' has 1 different text; expected at least 3 different texts of every class: one to learn from",
        ),
        (
            [*rows_of(HALVES), *({"text": text, "label": "r"} for text in ("Same", "other", " same"))],
            "class 'r' has 2 different texts; expected at least 3 different texts of every class",
        ),
        (
            rows_of(["a", "b", "c", *HALVES]),
            "class 'a' has 1 different text (and 2 other classes); expected at least 3",
        ),
        (
            rows_of([f"c{i}" for i in range(TOO_MANY_CLASSES)] * 2),
            "column 'label': 100 classes in 200 rows; expected fewer than 100 classes, each with examples to learn "
            "from; merge rare ones, or choose the column of the classes if this one has ids, scores or texts",
        ),
        (rows_of(HALVES[: MIN_ROWS - 1]), "has 19 labeled texts; expected at least 20"),
        (rows_of(["p"]), "has 1 labeled text; expected at least 20"),
        ([*rows_of(HALVES), {"text": " ", "label": "p"}], "line 26, column 'text': nothing there; expected a text"),
        ([*rows_of(HALVES), {"text": "x", "label": ""}], "line 26, column 'label': nothing there; expected a class"),
        (
            [*rows_of(HALVES), {"text": "x", "label": " NaN"}],
            "line 26, column 'label': nothing there; expected a class",
        ),
        ([*rows_of([0, 1] * 12), {"text": "x", "label": "nan"}], "line 26, column 'label': nothing there"),
        (
            rows_of(HALVES, split=["train", "3"] * 12),
            "line 3, column 'split': '3' is not a split; expected train, dev (or validation) or test; correct it, or "
            "leave the column out",
        ),
        (rows_of(HALVES, split=["train", ""] * 12), "line 3, column 'split': nothing there; expected train"),
        (
            rows_of(HALVES, split=["dev", "test"] * 12),
            "column 'split': no example is in train (dev 12, test 12); expected a train and a test part",
        ),
        (rows_of(HALVES, split=["dev"] * N), "no example is in train or test (dev 24)"),
        (rows_of(HALVES, split=["train"] * N), "no example is in test (train 24)"),
        (
            rows_of(HALVES, split=["train", "test"] * 12),
            "class 'q' has 12 test examples and none in training; expected training examples of every class",
        ),
        (
            rows_of([*HALVES, "r", "s"], split=[*["train"] * N, "dev", "test"]),
            "class 'r' has 0 test examples and none in training (and another class); expected training examples",
        ),
        (
            rows_of([*HALVES, "r"], split=[*["train", "train", "test", "test"] * 6, "train"]),
            "class 'r' has 1 different text in training; expected at least 2 different texts in training of every",
        ),
        (
            rows_of([*HALVES, "r"], split=[*["train", "train", "test", "dev"] * 6, "train"]),
            "class 'r' has 1 example; expected at least 2 examples of every class; add some",
        ),
    ],
)
def test_what_is_wrong_is_one_clear_line(tmp_path: Path, rows: list[dict[str, object]], told: str) -> None:
    check_refused(given(tmp_path, rows), told)


def test_a_missing_number_is_told_in_parquet_too(tmp_path: Path) -> None:
    path = given(tmp_path, rows_of([*[0.0, 1.0] * 12, np.nan]), "mine.parquet")
    with pytest.raises(InputError, match="row 25, column 'label': nothing there; expected a class: a text or a number"):
        own.read(path)


def test_99_classes_work(tmp_path: Path) -> None:
    found = labeled(given(tmp_path, rows_of([f"c{i}" for i in range(TOO_MANY_CLASSES - 1)] * 3)))
    assert len(found.classes) == 99
    assert "of 99 classes (c0 3, c1 3, " in found.summary
    assert "and 89 more), 297 texts" in found.summary


@each(
    "classes, said",
    [
        (("refund", "greeting", "N/A"), "'N/A'"),
        (("refund", "greeting", "?"), "may stand for no class"),
        ((0, 1, -1), "may stand for no class, taken as written: '-1'"),
        (("toxic", "insult", "insult|toxic"), "seem to be several each, taken as one of their own: 'insult|toxic'"),
        (("toxic", "insult, toxic"), "seem to be several"),
        (
            ("Refund", "refund", "greeting"),
            "differ by capitals or spaces alone, taken as different: 'Refund', 'refund'",
        ),
        (("order  status", "order status"), "spaces alone"),
        ((1, -1), ""),
        (("Research & Development", "Arts/Crafts", "non-fiction"), ""),
    ],
)
def test_classes_that_are_probably_not_meant_are_said(tmp_path: Path, classes: tuple[object, ...], said: str) -> None:
    rows = [{"text": f"text {row}", "label": classes[row % len(classes)]} for row in range(N)]
    found = labeled(given(tmp_path, rows, "own.jsonl"))
    assert len(found.classes) == len(classes)
    assert said in found.assumptions
    assert bool(found.assumptions) == bool(said)


SPLITS = ("train", "dev", "test")
SAYS = "is the only column of text, and {} may be its class; "


@each(
    "row, columns",
    [
        (lambda n: {"message": f"My {n}th problem", "queue": "ab"[n % 2]}, "'queue'"),
        (
            lambda n: {"id": f"T{n}", "when": f"2024-01-0{n % 9 + 1}", "message": f"No {n}, please", "vip": n % 3 == 0},
            "'vip'",
        ),
        (lambda n: {"review": f"It is my {n}th", "stars": n % 5 + 1}, "'stars'"),
        (
            lambda n: {"body": f"My {n}th problem", "team": "ab"[n % 2], "how": "xy"[n % 2], "part": SPLITS[n % 3]},
            "'team' or 'how'",
        ),
        (lambda n: {"body": f"My {n}th problem", "tokens": n % 5 + 1}, ""),  # a number of something
        (lambda n: {"body": f"My {n}th problem", "price": n / 7}, ""),
        (lambda n: {"body": f"My {n}th problem", "who": f"user{n}"}, ""),
    ],
)
def test_one_column_of_text_beside_classes_of_any_name_is_asked_about(
    tmp_path: Path, row: Callable[[int], dict[str, object]], columns: str
) -> None:
    """It was taken for a pair that lacks a text."""
    path = given(tmp_path, [row(n) for n in range(60)], "own.jsonl")
    with pytest.raises(UnclearColumns) as refused:
        own.read(path)
    assert (SAYS.format(columns) in str(refused.value)) == bool(columns), str(refused.value)
    if columns:
        assert "--text-column" in str(refused.value)


@each(
    "further, is_said",
    [
        ({"intent": "cdef"}, True),
        ({"label": "01"}, False),  # the same classes by other names
        ({"label": "0011"}, True),
        ({"product": "cdef"}, False),
    ],
)
def test_other_columns_of_classes_are_said(tmp_path: Path, further: dict[str, str], is_said: bool) -> None:
    rows = [{"text": f"text {i}", "label_text": "ab"[i % 2]} for i in range(N)]
    rows = [row | {name: cells[i % len(cells)] for name, cells in further.items()} for i, row in enumerate(rows)]
    found = labeled(given(tmp_path, rows, "own.jsonl"))
    assert found.classes == ("a", "b")
    assert (f"are those of column 'label_text', not of '{next(iter(further))}'" in found.assumptions) is is_said


def test_a_list_of_one_class_is_that_class(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [{"text": f"text {row}", "label": [("spam", "ham")[row % 2]]} for row in range(N)]
    assert labeled(given(tmp_path, rows, "own.jsonl")).classes == ("ham", "spam")
    rows[1]["label"] = ["ham", "urgent"]
    with pytest.raises(InputError, match=r"line 2, column 'label': 2 classes"):
        own.read(given(tmp_path, rows, "own.jsonl"))


def test_rows_that_annotators_threw_away_are_said(tmp_path: Path) -> None:
    for words, said in ((("accept", "Ignore"), "also those with 'ignore' in column 'verdict'"), (("ok", "late"), "")):
        rows: list[dict[str, object]] = [
            {"text": f"text {row}", "label": ("spam", "ham")[row % 2], "verdict": words[row % 3 == 0]}
            for row in range(N)
        ]
        found = labeled(given(tmp_path, rows))
        assert said in found.assumptions
        assert bool(found.assumptions) == bool(said)


def test_one_text_may_have_several_labels_and_that_is_counted(tmp_path: Path) -> None:
    more = [{"text": text, "label": label} for text, label in (("A b", "p"), ("a  B", "q"), ("c", "p"), ("c", "p"))]
    found = labeled(given(tmp_path, [*rows_of(HALVES), *more]))
    assert (found.counts.repeated, found.counts.contradictory, found.distinct_texts) == (4, 1, 27)
    assert "28 examples of 2 classes (p 15, q 13), 27 texts;" in found.summary
    assert "4 (14.3%)" in found.summary
    assert found.summary.endswith(": 1")
    assert found.as_manifest()["contradictory"] == 1


def test_test_examples_in_training_are_counted(tmp_path: Path) -> None:
    rows = rows_of(HALVES, split=["train", "train", "test", "test"] * 6)
    rows[2]["text"] = "TEXT 0"
    found = labeled(given(tmp_path, rows))
    assert ": 1 of 12 (8.3%)" in found.summary
    assert found.as_manifest()["test_in_training"] == 1


def test_columns_can_be_asked_for(tmp_path: Path) -> None:
    path = given(tmp_path, table(a="text", b="text", kind="words", part="whole", when="split"))
    read = own.tabulate(path, path.read_bytes())
    assert read.likeliest is DatasetKind.PAIR_SET
    found = read_as(OwnLabeledTexts, read, text="b", label="kind", split="when")
    assert found.examples[1] == Example("no", "b text 1", None, TRAIN)
    assert [column.use for column in found.columns] == [UNUSED, TEXT, LABEL, GROUPS, SPLIT]
    pairs = read_as(OwnLabeledTexts, read, text1="b", text2="a", label="part")
    assert pairs.examples[2] == Example("2", "b text 2", "a text 2")
    with pytest.raises(InputError, match=r"has no text and label: .*; expected a column text \(or text1 and text2\)"):
        read_as(OwnLabeledTexts, read)


def test_the_dataset_and_its_entry(tmp_path: Path, settings: Settings) -> None:
    path = given(tmp_path, rows_of(HALVES, split=["train", "train", "test", "test"] * 6), "mine.jsonl")
    entry = find_dataset(f"file:{path}")
    assert (entry.kind, entry.size) == (DatasetKind.LABELED_TEXTS, "24 labeled examples, 24 texts")
    assert (entry.pairs, entry.texts, entry.is_split) == (24, 24, True)
    assert entry.description == "Texts of your own, of 2 classes. Their own split."
    data = fetch.load(entry, settings)
    assert isinstance(data, LabeledTexts)
    assert (data.classes, data.items[:2], data.labels.tolist()[:3]) == (("p", "q"), ("text 0", "text 1"), [0, 1, 0])
    assert data.splits.tolist()[:4] == [TRAIN, TRAIN, TEST, TEST]
