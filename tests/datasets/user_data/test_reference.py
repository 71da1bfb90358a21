"""``file:PATH?query=NAME&match=NAME``: columns that somebody named, in a reference that says the same for good."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from blindspot.datasets.catalog import DatasetRef, find_dataset
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.user_data import files as own
from blindspot.datasets.user_data.reference import NamedColumns, OwnReference, with_columns
from blindspot.errors import InputError
from tests.support.tables import each

CELLS = {
    "a b": "a text",
    "c&d": "its match",
    "e": "third text",
    "n": 3,
    "w": "word",
    "kind": "x",
    "part": "train",
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Rows that may be read as any kind: texts differ per row, classes and parts repeat."""
    rows = []
    for row in range(24):
        texts = {name: f"{cell} {row}" if name in {"a b", "c&d", "e", "w"} else cell for name, cell in CELLS.items()}
        rows.append(texts | {"n": row + 1, "kind": "xy"[row % 2], "part": ("train", "test")[row // 12]})
    file = tmp_path / "own?.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    return file


@pytest.mark.parametrize(
    ("columns", "kind", "names"),
    [
        ("match=c%26d&query=a%20b", DatasetKind.PAIR_SET, ["a b", "c&d"]),
        ("text1=e&text2=a b&score=n", DatasetKind.SCORED_PAIRS, ["e", "a b", "n"]),
        ("text=e&label=kind", DatasetKind.LABELED_TEXTS, ["e", "kind"]),
        ("text1=e&text2=w&label=kind&split=part", DatasetKind.LABELED_TEXTS, ["e", "w", "kind", "part"]),
        ("word=w&count=n", DatasetKind.VOCABULARY, ["w", "n"]),
        ("original=a b&rewrite=c%26d&rewrite=e", DatasetKind.MINIMAL_PAIR_SET, ["a b", "c&d", "e"]),
    ],
)
def test_named_columns_decide_what_a_file_is(path: Path, columns: str, kind: DatasetKind, names: list[str]) -> None:
    entry = find_dataset(f"file:{path}?{columns}")
    assert entry.own is not None
    assert (entry.kind, [column.name for column in entry.own.used.values()]) == (kind, names)
    assert {column.why for column in entry.own.used.values()} == {"as asked"}
    again = find_dataset(entry.id)
    assert (again.id, again.own) == (entry.id, entry.own), "the reference that is stored finds the same"
    path.unlink()
    assert DatasetRef.parse(entry.id) == entry.id, "also once the file is gone"
    assert own.path_of(entry.id) == path


@each(
    ("columns", "message"),
    [
        ("query=e", "query only.*query, match"),
        ("query=e&match=w&label=kind", "only"),
        ("query=e&query=w&match=e", "two columns.*query"),
        ("qery=e&match=w", "did you mean 'query'"),
        ("query&match=w", "'query' is given without a column"),
        ("query=x&match=w", "no column 'x'.*a b, c&d, e, n, w, kind, part"),
        ("query=e&match=e", "cannot be both"),
        ("original=e&rewrite=w&rewrite=w", "2 columns for w"),
    ],
)
def test_wrong_names_are_said(path: Path, columns: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        find_dataset(f"file:{path}?{columns}")


def test_columns_beside_a_reference(path: Path) -> None:
    columns = NamedColumns.of([("match", "e"), ("query", "a b")])
    reference = with_columns(f"file:{path}", columns)
    assert reference == f"file:{path}?query=a%20b&match=e"
    assert with_columns(reference, columns) == reference
    with pytest.raises(InputError, match="twice"):
        with_columns(f"file:{path}?query=e&match=w", columns)


def test_a_mark_in_a_name_is_no_column(path: Path) -> None:
    assert OwnReference.parse(f"file:{path}") == OwnReference(path)
    assert OwnReference.parse("file:/no/such file?.csv") == OwnReference(Path("/no/such file?.csv"))
