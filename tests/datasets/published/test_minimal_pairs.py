"""Tables of minimal pairs: headers as people write them, two columns called Negation, and what is refused."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from blindspot.datasets.catalog import find_dataset
from blindspot.datasets.published import pairs as loaders
from blindspot.datasets.published.minimal_pairs import load_table, minimal_pair_set
from blindspot.errors import DataCorrupt, InputError
from tests.support.heros_table import AS_PUBLISHED, DEMO, MAIN_LAST, ROWS, check_is_demo, write

# What each of the seven columns holds; the two negations in either order.
MAIN_FIRST = ("original", "synonym", "antonym", "negation_main", "random_mlm", "typo", "negation_antonym")


@pytest.mark.parametrize("columns", [MAIN_FIRST, MAIN_LAST], ids=["main first", "main last"])
def test_two_columns_called_negation_are_told_apart(tmp_path: Path, columns: tuple[str, ...]) -> None:
    check_is_demo(load_table("x", write(tmp_path / "a.tsv", AS_PUBLISHED, columns)))


def test_any_order_of_the_columns(tmp_path: Path) -> None:
    order = list(zip(AS_PUBLISHED, MAIN_LAST, strict=True))
    for seed in range(5):
        random.Random(seed).shuffle(order)
        header, columns = zip(*order, strict=True)
        check_is_demo(load_table("x", write(tmp_path / "a.tsv", header, columns)))


def test_most_rows_decide_and_rows_where_the_two_are_one_do_not(tmp_path: Path) -> None:
    """Footnote 5: the two negations of a sentence may coincide. A few rows may speak for the wrong one."""
    rows = [row | {"negation_antonym": row["negation_main"]} for row in ROWS[:20]]
    rows += [
        row | {"negation_main": row["negation_antonym"], "negation_antonym": row["negation_main"]}
        for row in ROWS[20:23]
    ]
    rows += ROWS[23:30]
    check_is_demo(load_table("x", write(tmp_path / "a.tsv", AS_PUBLISHED, MAIN_FIRST, rows)), rows)


@pytest.mark.parametrize(
    "header",
    [
        ("ORIGINAL", " synonym ", "Antonyms", "negation_main", "Random MLM", "typos", "Negation (Antonym)"),
        ("original_sentence", "Synonym", "antonym", "Negation Main", "random_mlm", "Typo", "negation.1"),
        ("Original", "Synonym", "Antonym", "Negation", "Random word", "Typo", "NEGATION-ANTONYM"),
        ("Original", "Synonym", "Antonym", "Negation", "Random", "Typo", "Negation.1"),
    ],
)
def test_headers_as_people_write_them(tmp_path: Path, header: tuple[str, ...]) -> None:
    check_is_demo(load_table("x", write(tmp_path / "a.tsv", header, MAIN_FIRST)))


def test_quotes_that_a_program_wrote_are_taken_off_and_those_of_the_text_stay(tmp_path: Path) -> None:
    said = [row | {"original": f'"{row["original"]}" is what she said'} for row in ROWS[:3]]
    check_is_demo(load_table("x", write(tmp_path / "a.tsv", MAIN_FIRST, MAIN_FIRST, said)), said)
    written = [row | {"original": '"' + row["original"].replace('"', '""') + '"'} for row in said]
    check_is_demo(load_table("x", write(tmp_path / "b.tsv", MAIN_FIRST, MAIN_FIRST, written)), said)


def test_windows_and_byte_order_mark(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", AS_PUBLISHED, MAIN_FIRST)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n") + b"\r\n")
    check_is_demo(load_table("x", path))


# --- what is refused


def refused(path: Path, **options: int) -> str:
    with pytest.raises(InputError) as caught:
        load_table("x", path, **options)
    assert "\n" not in str(caught.value)
    assert caught.value.expected
    assert str(path) in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        ({"Synonym": "Equivalent"}, ["Original, Equivalent, Antonym", "none for synonym"]),
        ({"Typo": "", "Random": "Chance"}, ["Chance, (no name)", "none for random_mlm, none for typo"]),
        ({"Typo": "Synonyms"}, ["several for synonym", "none for typo"]),
        ({"Typo": "Negation"}, ["3 for the two negations", "none for typo"]),
        ({"Negation": "Nay"}, ["0 for the two negations"]),
    ],
)
def test_a_header_of_something_else(tmp_path: Path, change: dict[str, str], parts: list[str]) -> None:
    header = tuple(change.get(name, name) for name in AS_PUBLISHED)
    said = refused(write(tmp_path / "a.tsv", header, MAIN_FIRST))
    for part in [*parts, "expected one column each: Original, Synonym, Antonym, Random, Typo, and two called Negation"]:
        assert part in said


def test_negations_that_nothing_tells_apart(tmp_path: Path) -> None:
    same = [row | {"negation_antonym": row["negation_main"]} for row in ROWS]
    swapped = [
        row | {"negation_main": row["negation_antonym"], "negation_antonym": row["negation_main"]} for row in ROWS
    ]
    for rows, speak in ((same, 0), (ROWS[:5] + swapped[5:10], 5)):
        said = refused(write(tmp_path / "a.tsv", AS_PUBLISHED, MAIN_FIRST, rows))
        assert f"the sentences do not tell which is which: {speak} of {len(rows)} rows speak for either" in said
        assert "call them 'Negation main' and 'Negation antonym'" in said


def test_missing_cells(tmp_path: Path) -> None:
    rows = [dict(row) for row in ROWS[:9]]
    rows[2]["typo"] = rows[4]["original"] = rows[4]["synonym"] = " "
    rows[8]["negation_antonym"] = ""
    path = write(tmp_path / "a.tsv", AS_PUBLISHED, MAIN_FIRST, rows)
    path.write_text(path.read_text("utf-8").rstrip(), "utf-8")  # the last row has a cell less
    said = refused(path)
    assert "4 empty cell(s): line 4 has no Typo, line 6 has no Original, line 6 has no Synonym, and 1 more" in said


def test_a_row_with_a_cell_more(tmp_path: Path) -> None:
    rows = [dict(row) for row in ROWS[:5]]
    rows[1]["negation_antonym"] += "\tmore"
    said = refused(write(tmp_path / "a.tsv", AS_PUBLISHED, MAIN_FIRST, rows))
    assert "line 3: 8 cells; expected 7, as its header has" in said


def test_one_row_and_none_and_an_empty_file(tmp_path: Path) -> None:
    header = MAIN_FIRST
    for n in (0, 1):
        said = refused(write(tmp_path / "a.tsv", header, MAIN_FIRST, ROWS[:n]))
        assert f"{n} row(s) below its header; expected at least two originals" in said
    assert len(load_table("x", write(tmp_path / "a.tsv", header, MAIN_FIRST, ROWS[:2])).originals) == 2
    (tmp_path / "a.tsv").write_text("\n")
    assert "is empty" in refused(tmp_path / "a.tsv")


def test_999_rows_are_fine_unless_there_must_be_1000(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", AS_PUBLISHED, MAIN_FIRST, (ROWS * 5)[:999])
    assert len(load_table("x", path).originals) == 999
    assert "999 row(s) below its header; expected 1,000: the file is not complete" in refused(path, rows=1_000)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_bytes(b"Original\tSynonym\n\xff\n")
    with pytest.raises(DataCorrupt, match="not UTF-8"):
        load_table("x", tmp_path / "a.tsv")


# --- what is made of it


def test_texts_stand_once_and_numbers_follow_rows() -> None:
    dataset = minimal_pair_set("x", ["a", "b"], {"one": ["c", "a"], "two": ["a", "d"]})
    assert dataset.items == ("a", "c", "b", "d")
    assert dataset.originals.tolist() == [0, 2]
    assert {s: r.tolist() for s, r in dataset.rewrites.items()} == {"one": [1, 0], "two": [0, 3]}
    assert dataset.originals.dtype == dataset.rewrites["one"].dtype == np.int32
    assert minimal_pair_set("x", ["a"], {"one": ["c"]}, first=["d", "c", "d"]).items == ("d", "c", "a")


def test_everything_that_decides_the_numbers_is_in_the_digest() -> None:
    base = minimal_pair_set("x", ["a", "b"], {"one": ["c", "d"], "two": ["e", "f"]})
    same = minimal_pair_set("other id", ["a", "b"], {"one": ["c", "d"], "two": ["e", "f"]})
    assert same.content_digest == base.content_digest
    others = [
        minimal_pair_set("x", ["b", "a"], {"one": ["d", "c"], "two": ["f", "e"]}, first=base.items),
        minimal_pair_set("x", ["a", "b"], {"one": ["d", "c"], "two": ["e", "f"]}, first=base.items),
        minimal_pair_set("x", ["a", "b"], {"uno": ["c", "d"], "two": ["e", "f"]}),
        minimal_pair_set("x", ["a", "b"], {"one": ["c", "d"], "two": ["e", "g"]}),
        minimal_pair_set("x", ["a", "b"], {"one": ["c", "d"]}, first=base.items),
    ]
    assert len({base.content_digest, *(d.content_digest for d in others)}) == 6


def test_digests_of_pair_sets_are_what_they_were_before_there_were_other_kinds() -> None:
    """Stored runs are found by them."""
    demo = loaders.demo_pairs("demo-pairs", DEMO)
    assert demo.texts_digest == "1790868cef925de1fdf147c4c506048aa1542f1962590feb036f6302ef97631c"
    assert demo.content_digest == "621702e4024551c2cc15577cfe1fe979cccfe59fdd4155b7f4398bfdcd1832cb"


def test_both_demos_stand_on_the_same_embeddings() -> None:
    pairs, minimal = (find_dataset(i).load(i, ()) for i in ("demo-pairs", "demo-minimal"))
    assert minimal.items == pairs.items
    assert minimal.texts_digest == pairs.texts_digest
    assert minimal.content_digest != pairs.content_digest
    check_is_demo(minimal)
