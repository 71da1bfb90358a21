"""Loaders: texts get one number each, files are read to the letter, broken files are refused with the line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blindspot.datasets import fetch
from blindspot.datasets.catalog import find_dataset
from blindspot.datasets.published import pairs as loaders
from blindspot.datasets.published.pairs import DEMO_REWRITES, pair_set
from blindspot.errors import DataCorrupt
from blindspot.settings import ASSETS, Settings
from tests.support.small_world import text_pairs

DEMO = ASSETS / "demo" / "minimal_pairs.tsv"


# --- pair_set ---


def test_items_are_distinct_and_in_order_of_appearance() -> None:
    dataset = pair_set("some", [("b", "a"), ("a", "b"), ("c", "c")], ["a", "d", "d", "b"])
    assert dataset.id == "some"
    assert dataset.items == ("b", "a", "c", "d")
    assert dataset.queries.tolist() == [0, 1, 2]
    assert dataset.matches.tolist() == [1, 0, 2]
    assert dataset.queries.dtype == dataset.matches.dtype == np.int32


def test_texts_that_differ_in_anything_are_different_items() -> None:
    texts = ["a", "A", "a ", " a", "a.", "\N{LATIN SMALL LETTER E WITH ACUTE}", "e\N{COMBINING ACUTE ACCENT}"]
    assert pair_set("similar", [], texts).items == tuple(texts)


@given(st.lists(st.tuples(st.text(max_size=3), st.text(max_size=3))), st.lists(st.text(max_size=3)))
def test_every_text_can_be_found_again(pairs: list[tuple[str, str]], background: list[str]) -> None:
    dataset = pair_set("any", pairs, background)
    assert text_pairs(dataset) == pairs
    assert len(set(dataset.items)) == len(dataset.items)
    assert set(dataset.items) == {text for pair in pairs for text in pair} | set(background)


# --- evalrank files ---


def write(folder: Path, pairs: bytes, *backgrounds: bytes) -> tuple[Path, list[Path]]:
    pair_file = folder / "pos_pair.txt"
    pair_file.write_bytes(pairs)
    files = []
    for number, content in enumerate(backgrounds):
        files.append(folder / f"background{number}.txt")
        files[-1].write_bytes(content)
    return pair_file, files


def test_evalrank_files(tmp_path: Path) -> None:
    files = write(tmp_path, b"x y\tz\nz\tx y\n", b"w\nz\n", b"v\n\nw")
    dataset = loaders.evalrank("two-files", *files)
    assert text_pairs(dataset) == [("x y", "z"), ("z", "x y")]
    assert dataset.items == ("x y", "z", "w", "v"), "no item for the empty line"


def test_line_ends_of_windows_and_none_at_the_end(tmp_path: Path) -> None:
    dataset = loaders.evalrank("windows", *write(tmp_path, b"a\tb\r\nb\ta\r\n", b"c\r\nd"))
    assert dataset.items == ("a", "b", "c", "d")


def test_only_line_feeds_end_lines(tmp_path: Path) -> None:
    """Python's ``splitlines`` would cut these texts, and every pair after them would be wrong."""
    odd = "one\u2028two\u0085three\x0bfour\x1cfive\rsix"
    dataset = loaders.evalrank("odd", *write(tmp_path, f"{odd}\tb\n".encode(), f"{odd}\n".encode()))
    assert dataset.items == (odd, "b")


def test_white_space_and_quotes_are_part_of_the_text(tmp_path: Path) -> None:
    dataset = loaders.evalrank("quotes", *write(tmp_path, b'"a \t b"\n', b'say ""\n'))
    assert dataset.items == ('"a ', ' b"', 'say ""')


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"a\tb\nc\n", 2),
        (b"a\tb\tc\n", 1),
        (b"a\tb\n\n\nc\t\n", 4),  # empty lines count
        (b"\tb\n", 1),
        (b"a\tb\nc\td\ne", 3),  # a file cut off in the middle of a line
    ],
)
def test_a_line_that_is_no_pair_is_named(tmp_path: Path, content: bytes, line: int) -> None:
    with pytest.raises(DataCorrupt) as caught:
        loaders.evalrank("broken", *write(tmp_path, content))
    assert str(caught.value).startswith(f"{tmp_path / 'pos_pair.txt'}, line {line}: '")
    assert caught.value.expected == "two texts with a tab between"


def test_a_file_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    pairs, backgrounds = write(tmp_path, b"a\tb\n", b"fine\n", "caf\u00e9".encode("latin-1"))
    with pytest.raises(DataCorrupt, match=r"background1\.txt is not UTF-8 \(byte 3\); expected a UTF-8 text file"):
        loaders.evalrank("latin", pairs, backgrounds)


# --- the catalog's pair sets ---


def test_demo_pairs() -> None:
    """400 pairs, 1,400 sentences: each original with its synonym rewrite, both ways."""
    dataset = loaders.demo_pairs("demo-pairs", DEMO)
    assert (len(dataset.queries), len(dataset.items)) == (400, 1_400)
    pairs = text_pairs(dataset)
    assert pairs[200:] == [(match, query) for query, match in pairs[:200]]
    assert len(set(pairs)) == 400
    header, *lines = DEMO.read_text("utf-8").splitlines()
    rows = [dict(zip(header.split("\t"), line.split("\t"), strict=True)) for line in lines]
    assert pairs[:200] == [(row["original"], row["synonym"]) for row in rows]
    assert set(dataset.items) == {row[column] for row in rows for column in ("original", *DEMO_REWRITES)}


@pytest.mark.realdata
def test_evalrank_sentences(shared_settings: Settings) -> None:
    """6,989 directed pairs, 24,957 sentences; 13 pairs are a text with itself."""
    dataset = fetch.load(find_dataset("evalrank-sent"), shared_settings)
    assert (len(dataset.queries), len(dataset.items)) == (6_989, 24_957)
    assert np.count_nonzero(dataset.queries == dataset.matches) == 13
    pairs = set(zip(dataset.queries.tolist(), dataset.matches.tolist(), strict=True))
    assert len(pairs) == 6_989, "no pair stands twice"
    assert all(text.strip() for text in dataset.items)
