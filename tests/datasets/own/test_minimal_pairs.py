"""A user's own minimal pairs: every format, which column is which, and one clear line for whatever is wrong."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from core.datasets import catalog, fetch, uploads
from core.datasets.kinds.base import DatasetKind
from core.datasets.kinds.minimal_pairs import MinimalPairSet
from core.datasets.own import files as own
from core.datasets.own import minimal_pairs as own_minimal
from core.datasets.own.minimal_pairs import OwnMinimalPairs
from core.datasets.own.pairs import OwnPairs
from core.datasets.published.minimal_pairs import NEGATIONS, ORIGINAL, SUBSETS
from core.errors import InputError
from core.files import tables as own_files
from core.settings import ASSETS, Settings
from tests.conftest import make_settings
from tests.support.demo_rules import read_rows
from tests.support.own_files import ENDINGS, table, text, write

DEMO = read_rows(ASSETS / "demo" / "minimal_pairs.tsv")[:12]
EXAMPLE = ASSETS / "demo" / "own_minimal.tsv"
ROWS = [
    {"original": "The cat sat.", "typo": "The cta sat.", "synonym": "The cat rested."},
    {"original": "“No”, he said", "typo": "“No”, he siad", "synonym": "“No”, he replied"},
    {"original": "1984", "typo": "1894", "synonym": "a year"},
]


def found(path: Path) -> OwnMinimalPairs:
    contents = own.read(path)
    assert isinstance(contents, OwnMinimalPairs)
    return contents


def separated(folder: Path, ending: str, header: list[str], rows: list[list[str]]) -> Path:
    """A .csv or .tsv in which names may repeat."""
    between = {"csv": ";", "tsv": "\t"}[ending]
    path = folder / f"pairs.{ending}"
    path.write_text("".join(f"{between.join(row)}\n" for row in [header, *rows]), "utf-8")
    return path


def uses(contents: OwnMinimalPairs) -> dict[str, str]:
    return {column.name: str(column.use) for column in contents.columns}


def check_is_demo(contents: OwnMinimalPairs, rows: list[dict[str, str]] = DEMO) -> None:
    assert contents.originals == tuple(row[ORIGINAL] for row in rows)
    assert list(contents.rewrites) == list(SUBSETS)
    for subset in SUBSETS:
        assert contents.rewrites[subset] == tuple(row[subset] for row in rows), subset


# --- what is read


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_format_gives_the_same_minimal_pairs(tmp_path: Path, settings: Settings, ending: str) -> None:
    path = write(tmp_path, ending, ROWS)
    contents = found(path)
    assert contents.originals == ("The cat sat.", "“No”, he said", "1984")
    assert contents.rewrites == {
        "synonym": ("The cat rested.", "“No”, he replied", "a year"),
        "typo": ("The cta sat.", "“No”, he siad", "1894"),
    }
    assert list(contents.rewrites) == ["synonym", "typo"], "in the order in which subsets are shown"
    assert (contents.kind, contents.rows, contents.distinct_texts) == (DatasetKind.MINIMAL_PAIR_SET, 3, 9)
    assert (contents.format, contents.path) == (ending, path)
    assert contents.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert [(c.name, c.use, c.why) for c in contents.columns] == [
        (name, name, "by its name") for name in ("original", "typo", "synonym")
    ]
    dataset = fetch.load(catalog.find(f"file:{path}"), settings)
    assert isinstance(dataset, MinimalPairSet)
    assert dataset.subsets == ("synonym", "typo")
    assert [dataset.items[i] for i in dataset.originals] == list(contents.originals)
    assert [dataset.items[i] for i in dataset.rewrites["typo"]] == list(contents.rewrites["typo"])


def is_text(cell: str) -> bool:
    """Whether a cell makes no column of numbers, and is something."""
    try:
        float(cell)
    except ValueError:
        return bool(cell.strip())
    return False


CELL = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8).filter(is_text)


@st.composite
def sets(draw: st.DrawFn) -> list[dict[str, str]]:
    """Rows of an original and one or more rewrites, the columns in any order."""
    rewrites = draw(st.lists(st.sampled_from(SUBSETS), min_size=1, unique=True))
    names = draw(st.permutations([ORIGINAL, *rewrites]))
    rows = draw(st.lists(st.tuples(*[CELL] * len(names)), min_size=2, max_size=4))
    return [dict(zip(names, row, strict=True)) for row in rows]


@hypothesis_settings(deadline=None, max_examples=60)
@given(rows=sets())
def test_texts_are_kept_to_the_letter(tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, str]]) -> None:
    """Written, read, kept as an upload and read again: the same texts, in every format."""
    folder = tmp_path_factory.mktemp("own")
    settings = make_settings(folder / "cache")
    for ending in ENDINGS:
        path = write(folder, ending, rows)
        upload = uploads.add(found(path), path.read_bytes(), settings)
        for contents in (found(path), found(upload.path)):
            assert contents.originals == tuple(row[ORIGINAL] for row in rows)
            assert contents.rewrites == {s: tuple(row[s] for row in rows) for s in SUBSETS if s in rows[0]}


def test_the_example_of_the_readme() -> None:
    contents = found(EXAMPLE)
    assert list(contents.rewrites) == ["synonym", "negation_main", "typo"]
    assert (contents.rows, contents.distinct_texts, contents.unchanged, contents.repeated_originals) == (6, 24, 0, 0)
    entry = catalog.find(f"file:{EXAMPLE}")
    assert (entry.kind, entry.title, entry.unit) == (DatasetKind.MINIMAL_PAIR_SET, "own_minimal.tsv", "text")
    assert entry.size == "6 originals with 3 rewrites each, 24 texts"
    assert entry.description == "Minimal pairs of your own: every original with its synonym, negation_main and typo."


# --- which column is which


@pytest.mark.parametrize("ending", ["csv", "tsv"])
@pytest.mark.parametrize("negations", [NEGATIONS, NEGATIONS[::-1]], ids=["main first", "main last"])
def test_the_header_of_heros_with_two_columns_of_a_name(
    tmp_path: Path, ending: str, negations: tuple[str, str]
) -> None:
    columns = [ORIGINAL, "synonym", "antonym", negations[0], "random_mlm", "typo", negations[1]]
    header = ["Original", "Synonym", "Antonym", "Negation", "Random", "Typo", "Negation"]
    contents = found(separated(tmp_path, ending, header, [[row[c] for c in columns] for row in DEMO]))
    check_is_demo(contents)
    assert uses(contents)["Negation"] == negations[0]
    assert uses(contents)["Negation (2)"] == negations[1]
    assert {c.name: c.why for c in contents.columns}["Negation (2)"] == "by its sentences"
    assert "negation_main is column 'Negation" in contents.summary


def test_the_first_rows_tell_the_negations_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    columns = [ORIGINAL, "synonym", *NEGATIONS[::-1]]
    rows = [[row[c] for c in columns] for row in DEMO[:3]] + [
        [row[c] for c in (*columns[:2], *NEGATIONS)] for row in DEMO
    ]
    path = separated(tmp_path, "tsv", ["original", "synonym", "negation", "negation"], rows)
    assert uses(found(path))["negation"] == NEGATIONS[0], "most rows"
    monkeypatch.setattr(own_minimal, "VOTERS", 3)
    assert uses(found(path))["negation"] == NEGATIONS[1]


@pytest.mark.parametrize("ending", ENDINGS)
def test_headers_as_people_write_them(tmp_path: Path, ending: str) -> None:
    names = {
        "ORIGINAL": ORIGINAL,
        "negation.1": "negation_antonym",
        "Antonyms": "antonym",
        "negation": "negation_main",
        "Random word": "random_mlm",
        "typos": "typo",
        "Synonym": "synonym",
    }
    check_is_demo(found(write(tmp_path, ending, [{n: row[role] for n, role in names.items()} for row in DEMO])))


def test_a_negation_with_a_name_names_the_other(tmp_path: Path) -> None:
    rows = [{"original": "a b", "Negation": f"n{i}", "Negation (antonym)": f"m{i}"} for i in range(2)]
    contents = found(write(tmp_path, "csv", rows))
    assert contents.rewrites == {"negation_main": ("n0", "n1"), "negation_antonym": ("m0", "m1")}
    assert [c.why for c in contents.columns] == ["by its name", "the negation that is left", "by its name"]


def test_a_negation_alone_is_called_so(tmp_path: Path) -> None:
    contents = found(write(tmp_path, "csv", [{"original": "a", "Negation": f"n{i}", "synonym": "s"} for i in range(2)]))
    assert contents.rewrites == {"synonym": ("s", "s"), "negation": ("n0", "n1")}


@pytest.mark.parametrize("ending", ENDINGS)
def test_other_columns_are_named_as_not_used(tmp_path: Path, ending: str) -> None:
    rows = [{"no": i, "Notes": f"p{i}", "original": f"o{i}", "typo": f"t{i}"} for i in range(2)]
    contents = found(write(tmp_path, ending, rows))
    assert uses(contents) == {"no": "not used", "Notes": "not used", "original": "original", "typo": "typo"}
    assert "original is column 'original', typo is column 'typo' (each by its name)" in contents.summary
    assert "; not used: 'no' (numbers), 'Notes' (about the row, by its name); 2 originals, 4 texts" in contents.summary
    assert contents.as_manifest()["not_used"] == ["no", "Notes"]
    assert contents.as_manifest()["why_not"] == ["numbers", "about the row, by its name"]


@pytest.mark.parametrize(
    "header",
    [
        ["original", "notes"],  # no rewrite
        ["source", "target"],
        ["sentence", "synonym"],  # no original
        ["query", "mate"],
        ["synonym", "antonym"],
    ],
)
def test_what_has_no_original_or_no_rewrite_is_pairs_as_before(tmp_path: Path, header: list[str]) -> None:
    contents = own.read(write(tmp_path, "csv", [{name: f"{name} {i}" for name in header} for i in range(2)]))
    assert isinstance(contents, OwnPairs)
    assert (contents.query.name, contents.mate.name) == tuple(header)


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_count_of_typos_is_no_rewrite(tmp_path: Path, ending: str) -> None:
    rows: list[dict[str, Any]] = [{"original": f"o{i}", "corrected": f"c{i}", "typos": i} for i in range(3)]
    contents = found(write(tmp_path, ending, rows))
    assert contents.rewrites == {"corrected": ("c0", "c1", "c2")}
    assert uses(contents)["typos"] == "not used"
    beside_notes = [{"original": f"an original {i}", "typos": 1, "notes": f"note {i}"} for i in range(3)]
    pairs = own.read(write(tmp_path, ending, beside_notes))
    assert isinstance(pairs, OwnPairs)
    beside = write(tmp_path, ending, [row | {"synonym": "s"} for row in rows])
    with pytest.raises(InputError, match="column 'typos', read as typo: it holds numbers; expected texts; give it ano"):
        own.read(beside)


def test_minimal_pairs_win_over_pairs_and_say_so(tmp_path: Path) -> None:
    path = write(tmp_path, "csv", [{"Query": f"q{i}", "mate": f"m{i}", "original": "o", "typo": "t"} for i in range(2)])
    contents = found(path)
    assert contents.could_be_pairs == ("Query", "mate")
    assert contents.summary.endswith("; 'Query' and 'mate' would be positive pairs if no column were called original")
    as_pairs = own.tabulate(path, path.read_bytes()).pairs()
    assert as_pairs.pairs == (("q0", "m0"), ("q1", "m1"))
    assert "would be" not in found(write(tmp_path, "csv", ROWS)).summary


def test_columns_can_be_asked_for(tmp_path: Path) -> None:
    table = own.tabulate(tmp_path / "x.csv", b",,original,Typo\na,b,c,d\ne,f,g,h\n")
    contents = table.minimal_pairs({"antonym": 1, ORIGINAL: 0, "synonym": 3})
    assert contents.originals == ("a", "e")
    assert contents.rewrites == {"synonym": ("d", "h"), "antonym": ("b", "f")}
    assert [c.why for c in contents.columns] == ["as asked", "as asked", "", "as asked"]
    for columns, said in (
        ({ORIGINAL: 0, "typo": 0}, "column '' cannot be both original and typo; expected two columns"),
        ({"typo": 0}, r"has no column original: \(no name\), \(no name\), 'original', 'Typo'; expected a column orig"),
        ({ORIGINAL: 0}, "has no column of rewrites"),
    ):
        with pytest.raises(InputError, match=said):
            table.minimal_pairs(columns)


# --- what is counted


def test_repeated_originals_and_rewrites_that_change_nothing_are_kept_and_counted(tmp_path: Path) -> None:
    rows = [("a", "b", "a"), ("a", "c", "d"), ("e", "e", "e"), ("a", "b", "f")]
    names = ("original", "synonym", "typo")
    contents = found(write(tmp_path, "jsonl", [dict(zip(names, row, strict=True)) for row in rows]))
    assert contents.originals == ("a", "a", "e", "a")
    assert (contents.repeated_originals, contents.unchanged, contents.distinct_texts) == (2, 3, 6)
    assert contents.summary == (
        "pairs.jsonl: minimal pairs: original is column 'original', synonym is column 'synonym', typo is column 'typo' "
        "(each by its name); 4 originals, 6 texts, repeated originals: 2, rewrites that change nothing: 3"
    )
    assert contents.as_manifest() == {
        "columns": {name: name for name in names},
        "why": dict.fromkeys(names, "by its name"),
        "not_used": [],
        "why_not": [],
        "format": "jsonl",
        "separator": "",
        "rows": 4,
        "repeated_originals": 2,
        "unchanged_rewrites": 3,
    }
    json.dumps(contents.as_manifest())


def test_another_unicode_form_changes_nothing(tmp_path: Path) -> None:
    rows = [{"original": "caf\u00e9", "typo": "cafe\u0301"}, {"original": "caf\u00e9", "typo": "cafe"}]
    contents = found(write(tmp_path, "jsonl", rows))
    assert contents.unchanged == contents.dataset("forms").unchanged["typo"] == 1


# --- what is wrong

Maker = Callable[[Path], Path]
NEGATED = "original\tsynonym\tNegation\tNegation\n"
TOLD_APART = "The big dog came.\tThe large dog came.\tThe big dog did not come.\tThe not big dog came.\n"


def one_too_few(ending: str) -> Maker:
    return lambda folder: write(folder, ending, ROWS[:1])


WRONG: dict[str, tuple[Maker, list[str]]] = {
    "missing cell": (text("tsv", "original\ttypo\na\tb\nc\t\n"), ["line 3, column 'typo': nothing there", "a text"]),
    "missing original": (text("csv", "typo,original\na,b\nc, \n"), ["line 3, column 'original': nothing there"]),
    "absent": (
        text("jsonl", '{"original": "a", "typo": "b"}\n{"original": "a"}\n'),
        ["line 2, column 'typo': nothing"],
    ),
    "null": (table({"original": ["a", None], "typo": ["b", "c"]}), ["row 2, column 'original': nothing there"]),
    "a column of nothing": (text("csv", "original,typo\na,\nc,\n"), ["line 2, column 'typo': nothing there"]),
    "a number": (
        text("jsonl", '{"original": "a", "typo": "b"}\n{"original": "a", "typo": 5}\n'),
        ["line 2, column 'typo': 5 is not text"],
    ),
    "lists": (table({"original": ["a", "b"], "typo": [["x"], ["y"]]}), ["row 1, column 'typo': list<", "is not text"]),
    "numbers": (table({"original": ["a", "b"], "typo": ["c", "d"], "synonym": [1, 2]}), ["'synonym'", "holds numbers"]),
    "one original": (one_too_few("csv"), ["has 1 original; expected at least 2, since similarities"]),
    "one original, jsonl": (one_too_few("jsonl"), ["has 1 original; expected at least 2"]),
    "one original, parquet": (one_too_few("parquet"), ["has 1 original; expected at least 2"]),
    "no rows": (text("tsv", "original\tsynonym\n"), ["has a header and no rows; expected rows of texts"]),
    "original alone": (text("csv", "original,note\na,1\nb,2\n"), ["no two columns of text", "'original' (text)"]),
    "ragged": (text("tsv", "original\ttypo\na\tb\nc\n"), ["line 3: 1 cell(s); expected 2"]),
    "two for a subset": (
        text("csv", "original,Synonym,x,synonyms\na,b,c,d\ne,f,g,h\n"),
        ["has 2 columns for synonym: 'Synonym', 'synonyms'; expected one column each; rename"],
    ),
    "two originals": (text("csv", "original,typo,Original sentence\na,b,c\n"), ["2 columns for original"]),
    "a name twice": (text("csv", "original,typo,typo\na,b,c\n"), ["two columns 'typo'; expected columns of different"]),
    "a name twice, jsonl": (
        text("jsonl", '{"original": "a", "typo": "b", "typo": "c"}\n'),
        ["line 1: broken JSON ('typo' is there twice)"],
    ),
    "three negations": (
        text("tsv", "original\tNegation\tNegation\tNegation\na\tb\tc\td\n"),
        ["3 columns for the two negations: 'Negation', 'Negation (2)', 'Negation (3)'"],
    ),
    "a named negation and two": (
        text("tsv", "original\tNegation main\tNegation\tNegation\na\tb\tc\td\n"),
        ["3 columns for the two negations: 'Negation main', 'Negation', 'Negation (2)'"],
    ),
    "negations and no synonym": (
        text("tsv", "original\tNegation\tNegation\na\tb\tc\nd\te\tf\n"),
        ["the name of column 'Negation' and 'Negation (2)' does not say which negation"],
    ),
    "negations alike": (
        text("tsv", NEGATED + "It is big.\tIt is large.\tIt is not big.\tIt is not big.\n" * 2),
        ["do not tell which is which: 0 of 2 rows speak for either", "call them 'Negation main' and"],
    ),
    "a missing negation": (
        text("tsv", f"{NEGATED}{TOLD_APART}a\tb\tc\t\n"),
        ["line 3, column 'Negation (2)': nothing there"],
    ),
    "not UTF-8": (text("csv", "original,typo\ncafé,b\n".encode("latin-1")), ["is not UTF-8 (byte 17)"]),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_one_clear_line(tmp_path: Path, case: str) -> None:
    make, parts = WRONG[case]
    path = make(tmp_path)
    with pytest.raises(InputError) as caught:
        catalog.find(f"file:{path}")
    said = str(caught.value)
    for part in parts:
        assert part in said
    assert str(path) in said
    assert "\n" not in said
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("ending", ENDINGS)
def test_too_many_rows(tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, ending, ROWS)
    monkeypatch.setattr(own_files, "MAX_ROWS", 2)
    with pytest.raises(InputError, match="3 rows; expected at most 2; take a sample"):
        own.read(path)


# --- the dataset that it is


def test_the_content_decides_the_digest(tmp_path: Path, settings: Settings) -> None:
    def digest(rows: list[dict[str, str]], ending: str = "csv") -> str:
        return fetch.load(catalog.find(f"file:{write(tmp_path, ending, rows)}"), settings).content_digest

    same = digest(ROWS)
    assert digest(ROWS, "parquet") == same, "whatever the format"
    assert digest(
        [{name: row[name] for name in ("synonym", "note", "original", "typo") if name in row} for row in ROWS]
    )
    renamed = [{"antonym" if name == "typo" else name: cell for name, cell in row.items()} for row in ROWS]
    assert digest(renamed) != same
    assert digest(ROWS[::-1]) != same
    assert digest([row | {"note": "x"} for row in ROWS]) == same, "what is not used changes nothing"


# --- uploads of it


def test_an_upload_keeps_the_choice_of_columns(settings: Settings, tmp_path: Path) -> None:
    data = b"id,before,after,what\n1,a dog,a hound,noun\n2,a cat,a tomcat,noun\n"
    table = own.tabulate(tmp_path / "mine.csv", data)
    assert table.kind is DatasetKind.PAIR_SET
    upload = uploads.add(table.minimal_pairs({ORIGINAL: 1, "random_mlm": 2}), data, settings)
    assert uploads.found(settings) == (upload,)
    assert upload.kind is DatasetKind.MINIMAL_PAIR_SET
    assert upload.columns == ((ORIGINAL, "before"), ("random_mlm", "after"))
    assert (upload.rows, upload.texts, upload.size) == (2, 4, "2 originals with 1 rewrite each, 4 texts")
    assert upload.original.read_bytes() == data
    entry = catalog.find(upload.reference)
    assert (entry.kind, entry.size) == (upload.kind, upload.size)
    assert found(upload.path).rewrites == {"random_mlm": ("a hound", "a tomcat")}
    as_pairs = uploads.add(table.pairs(("before", "after")), data, settings)
    assert as_pairs.reference != upload.reference
    assert len(uploads.found(settings)) == 2


def test_pairs_beside_an_original_are_read_back_as_pairs(settings: Settings, tmp_path: Path) -> None:
    data = b"query,mate,original,typo\na,b,c,d\ne,f,g,h\n"
    upload = uploads.add(own.tabulate(tmp_path / "both.csv", data).pairs(), data, settings)
    contents = own.find(upload.reference)
    assert isinstance(contents, OwnPairs)
    assert contents.pairs == (("a", "b"), ("e", "f"))


def test_an_upload_of_before_there_were_minimal_pairs_is_found(settings: Settings, tmp_path: Path) -> None:
    data = b"left,right\na,b\nc,d\n"
    upload = uploads.add(own.tabulate(tmp_path / "old.csv", data).pairs(), data, settings)
    record = upload.path.parent / uploads.RECORD
    old = {
        "path": "old.jsonl",
        "name": "old.csv",
        "original_sha256": upload.original_sha256,
        "query": "left",
        "mate": "right",
        "pairs": 2,
        "texts": 4,
        "uploaded_at": upload.uploaded_at,
    }
    record.write_text(json.dumps(old))
    assert uploads.found(settings) == (upload,)
