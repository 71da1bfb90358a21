"""``blindspot data show``: what a dataset holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from blindspot.datasets.catalog import find_dataset
from tests.support.commands import Command


@pytest.fixture
def own(tmp_path: Path) -> str:
    rows = [f"text {i if i != 5 else ' 0'},{'pq'[i // 4 % 2]},{('train', 'test')[i % 2]}" for i in range(24)]
    path = tmp_path / "mine.csv"
    path.write_text("\n".join(["text,label,split", *rows]))
    return f"file:{path}"


def test_labeled_texts_with_classes_and_what_leaks(own: str, blindspot: Command) -> None:
    found = blindspot.json("data", "show", own, "--rows", "2")
    assert found["counts"] == {
        "examples": 24,
        "classes": [{"name": name, "examples": 12, "train": 6, "dev": 0, "test": 6} for name in "pq"],
        "texts": 24,
        "repeated": 2,
        "contradictory": 1,
        "tested": 12,
        "leaked": 1,
    }
    assert found["rows"] == [
        {"number": 0, "label": "p", "split": "train", "first": "text 0"},
        {"number": 1, "label": "p", "split": "test", "first": "text 1"},
    ]
    out = blindspot.out("data", "show", own)
    (baseline,) = [line for line in out.splitlines() if "'p'" in line]
    assert "50.0% of the test part" in baseline
    assert "1 of 12 (8.3%)" in out
    assert "read mine.csv: labeled texts: text is column 'text' (by its name)" in out
    assert "dev" not in out.split(baseline)[0].split("Classes of")[1]


def test_the_demo(blindspot: Command) -> None:
    out = blindspot.out("data", "show", "demo-negation", "--rows", "0")
    assert "71.4% of all examples" in out
    assert "twice" in out
    assert "First rows" not in out


@pytest.mark.parametrize(
    ("name", "headings"),
    [
        ("demo-pairs", ("pair", "query", "match")),
        ("demo-minimal", ("number", "original", "subset", "rewrite")),
        ("vocab-wordfreq", ("number", "word", "count", "per million words")),
        ("demo-negation", ("number", "label", "first")),
    ],
)
def test_every_kind_has_rows(blindspot: Command, name: str, headings: tuple[str, ...]) -> None:
    found = blindspot.json("data", "show", name, "--rows", "2")
    assert found["size"] == find_dataset(name).size
    assert ("counts" in found) == (name == "demo-negation")
    rows = find_dataset(name).load(name, ()).first_rows(2)
    assert rows.headings == headings
    assert found["rows"] == [dict(zip(headings, cells, strict=True)) for cells in rows.cells]
    assert len(rows.cells) == (12 if name == "demo-minimal" else 2)
    blindspot.out("data", "show", name)


def test_bad_files_are_one_line(tmp_path: Path, blindspot: Command) -> None:
    path = tmp_path / "one.csv"
    path.write_text("text,label\n" + "".join(f"t {i},p\n" for i in range(30)))
    assert blindspot.error("data", "show", f"file:{path}") == (
        f"{path}, column 'label': the class is 'p' in all 30 rows; expected at least two classes; add examples "
        "of another class, or choose another column"
    )
