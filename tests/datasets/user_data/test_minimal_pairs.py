"""A user's own minimal pairs: every format, which column is which, and one clear line for whatever is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, reject
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from blindspot.datasets import fetch, uploads
from blindspot.datasets.catalog import find_dataset
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.published.minimal_pairs import NEGATIONS, ORIGINAL, SUBSETS
from blindspot.datasets.user_data import files as own
from blindspot.datasets.user_data import minimal_pairs as own_minimal
from blindspot.datasets.user_data.columns import is_blank
from blindspot.datasets.user_data.minimal_pairs import OwnMinimalPairs
from blindspot.datasets.user_data.pairs import OwnPairs
from blindspot.diagnostics.heros.definition import ENTRY
from blindspot.errors import InputError
from blindspot.settings import ASSETS, Settings
from tests.conftest import make_settings
from tests.support.demo_rules import read_rows
from tests.support.own_files import ENDINGS, check_refused, read_as, table, text, write
from tests.support.tables import each

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


def test_originals_and_rewrites_make_the_dataset(tmp_path: Path) -> None:
    contents = found(write(tmp_path, "csv", ROWS))
    assert contents.originals == ("The cat sat.", "“No”, he said", "1984")
    assert contents.rewrites == {
        "synonym": ("The cat rested.", "“No”, he replied", "a year"),
        "typo": ("The cta sat.", "“No”, he siad", "1894"),
    }
    assert list(contents.rewrites) == ["synonym", "typo"], "in the order in which subsets are shown"
    dataset = contents.dataset("x")
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


CELL = (
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8)
    .filter(is_text)
    .filter(lambda cell: not is_blank(cell))
)


@st.composite
def sets(draw: st.DrawFn) -> list[dict[str, str]]:
    """Rows of an original and one or more rewrites, the columns in any order."""
    rewrites = draw(st.lists(st.sampled_from(SUBSETS), min_size=1, unique=True))
    names = draw(st.permutations([ORIGINAL, *rewrites]))
    rows = draw(st.lists(st.tuples(*[CELL] * len(names)), min_size=2, max_size=4))
    return [dict(zip(names, row, strict=True)) for row in rows]


@pytest.mark.heavy
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
    entry = find_dataset(f"file:{EXAMPLE}")
    assert (entry.kind, entry.title, entry.unit) == (DatasetKind.MINIMAL_PAIR_SET, "own_minimal", "text")
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
    rows = [{"original": "a b", "Negation": f"n {i}", "Negation (antonym)": f"m {i}"} for i in range(2)]
    contents = found(write(tmp_path, "csv", rows))
    assert contents.rewrites == {"negation_main": ("n 0", "n 1"), "negation_antonym": ("m 0", "m 1")}
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
    assert contents.as_manifest()["why_not"][0] == "numbers"


@pytest.mark.parametrize(
    "header",
    [
        ["original", "notes"],  # no rewrite
        ["source", "target"],
        ["sentence", "synonym"],  # no original
        ["query", "match"],
        ["synonym", "typo"],
    ],
)
def test_what_has_no_original_or_no_rewrite_is_pairs_as_before(tmp_path: Path, header: list[str]) -> None:
    contents = own.read(write(tmp_path, "csv", [{name: f"{name} {i}" for name in header} for i in range(2)]))
    assert isinstance(contents, OwnPairs)
    assert (contents.query.name, contents.match.name) == tuple(header)


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_count_of_typos_is_no_rewrite(tmp_path: Path, ending: str) -> None:
    rows: list[dict[str, Any]] = [{"original": f"o {i}", "corrected": f"c {i}", "typos": i} for i in range(3)]
    contents = found(write(tmp_path, ending, rows))
    assert contents.rewrites == {"corrected": ("c 0", "c 1", "c 2")}
    assert uses(contents)["typos"] == "not used"
    beside_notes = [{"original": f"an original {i}", "typos": 1, "notes": f"note {i}"} for i in range(3)]
    pairs = own.read(write(tmp_path, ending, beside_notes))
    assert isinstance(pairs, OwnPairs)
    beside = write(tmp_path, ending, [row | {"synonym": "s"} for row in rows])
    with pytest.raises(InputError, match="column 'typos', read as typo: it has numbers; expected texts; give it ano"):
        own.read(beside)


def test_minimal_pairs_win_over_pairs_and_say_so(tmp_path: Path) -> None:
    path = write(
        tmp_path, "csv", [{"Query": f"q{i}", "match": f"m{i}", "original": "o", "typo": "t"} for i in range(2)]
    )
    contents = found(path)
    assert contents.could_be_pairs == ("Query", "match")
    assert contents.summary.endswith("; 'Query' and 'match' would be positive pairs if no column were called original")
    as_pairs = read_as(OwnPairs, own.tabulate(path, path.read_bytes()))
    assert as_pairs.pairs == (("q0", "m0"), ("q1", "m1"))
    assert "would be" not in found(write(tmp_path, "csv", ROWS)).summary


def test_columns_can_be_asked_for(tmp_path: Path) -> None:
    table = own.tabulate(tmp_path / "x.csv", b",,original,Typo\na,b,c,d\ne,f,g,h\n")
    contents = OwnMinimalPairs.of(table.table, {"antonym": 1, ORIGINAL: 0, "synonym": 3})
    assert contents.originals == ("a", "e")
    assert contents.rewrites == {"synonym": ("d", "h"), "antonym": ("b", "f")}
    assert [c.why for c in contents.columns] == ["as asked", "as asked", "", "as asked"]
    for columns, said in (
        ({ORIGINAL: 0, "typo": 0}, "column '' cannot be both original and typo; expected two columns"),
        ({"typo": 0}, r"has no column original: \(no name\), \(no name\), 'original', 'Typo'; expected a column orig"),
        ({ORIGINAL: 0}, "has no column of rewrites"),
    ):
        with pytest.raises(InputError, match=said):
            OwnMinimalPairs.of(table.table, columns)


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


WRONG: dict[str, tuple[Maker, list[str]]] = {
    "one original": (lambda folder: write(folder, "csv", ROWS[:1]), ["has 1 original; expected at least 2, since"]),
    "missing cell": (text("tsv", "original\ttypo\na\tb\nc\t\n"), ["line 3, column 'typo': nothing there", "a text"]),
    "a column of nothing": (text("csv", "original,typo\na,\nc,\n"), ["line 2, column 'typo': nothing there"]),
    "numbers": (table({"original": ["a", "b"], "typo": ["c", "d"], "synonym": [1, 2]}), ["'synonym'", "has numbers"]),
    "original alone": (text("csv", "original,note\na,1\nb,2\n"), ["no two columns of text", "'original' (text)"]),
    "two for a subset": (
        text("csv", "original,Synonym,x,synonyms\na,b,c,d\ne,f,g,h\n"),
        ["has 2 columns for synonym: 'Synonym', 'synonyms'; expected one column each; rename"],
    ),
    "two originals": (text("csv", "original,typo,Original sentence\na,b,c\n"), ["2 columns for original"]),
    "a name twice, jsonl": (
        text("jsonl", '{"original": "a", "typo": "b", "typo": "c"}\n'),
        ["line 1: broken JSON ('typo' occurs twice)"],
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
        ["0 of 2 rows", "'Negation main'"],
    ),
    "a missing negation": (
        text("tsv", f"{NEGATED}{TOLD_APART}a\tb\tc\t\n"),
        ["line 3, column 'Negation (2)': nothing there"],
    ),
}


@each("case", WRONG)
def test_what_is_wrong_is_one_clear_line(tmp_path: Path, case: str) -> None:
    make, parts = WRONG[case]
    check_refused(make(tmp_path), *parts)


# --- the dataset that it is


def test_the_content_decides_the_digest(tmp_path: Path, settings: Settings) -> None:
    def digest(rows: list[dict[str, str]], ending: str = "csv") -> str:
        return fetch.load(find_dataset(f"file:{write(tmp_path, ending, rows)}"), settings).content_digest

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


def test_pairs_beside_an_original_are_read_back_as_pairs(settings: Settings, tmp_path: Path) -> None:
    data = b"query,match,original,typo\na,b,c,d\ne,f,g,h\n"
    upload = uploads.add(read_as(OwnPairs, own.tabulate(tmp_path / "both.csv", data)), data, settings)
    contents = own.find(upload.reference)
    assert isinstance(contents, OwnPairs)
    assert contents.pairs == (("a", "b"), ("e", "f"))


def test_an_upload_of_before_there_were_minimal_pairs_is_found(settings: Settings, tmp_path: Path) -> None:
    data = b"left,right\na,b\nc,d\n"
    upload = uploads.add(read_as(OwnPairs, own.tabulate(tmp_path / "old.csv", data)), data, settings)
    record = upload.path.parent / own.RECORD
    old = {
        "path": "old.jsonl",
        "name": "old.csv",
        "original_sha256": upload.original_sha256,
        "query": "left",
        "match": "right",
        "pairs": 2,
        "texts": 4,
        "uploaded_at": upload.uploaded_at,
    }
    record.write_text(json.dumps(old))
    assert uploads.found(settings) == (upload,)


# --- rewrites under other names

ORIGINALS = [f"The {animal} sleeps on the {place} today." for animal, place in zip("abcdef", "uvwxyz", strict=True)]


def sentences(text: str) -> list[str]:
    return [f"{original[:-1]} {text}." for original in ORIGINALS]


def rows_of(**columns: list[Any]) -> list[dict[str, Any]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def reading(contents: OwnMinimalPairs) -> dict[str, tuple[str, str]]:
    return {column.name: (str(column.use), column.why) for column in contents.columns}


@pytest.mark.parametrize("ending", ENDINGS)
def test_any_columns_of_text_are_rewrites_known_ones_first(tmp_path: Path, ending: str) -> None:
    columns = {
        "Passive voice": sentences("p"),
        "original": ORIGINALS,
        "German": sentences("g"),
        "Typos": sentences("t"),
    }
    contents = found(write(tmp_path, ending, rows_of(**columns)))
    assert list(contents.rewrites) == ["typo", "passive_voice", "german"]
    assert contents.rewrites["passive_voice"] == tuple(sentences("p"))
    assert contents.dataset("x").subsets == ("typo", "passive_voice", "german")
    assert list(contents.used) == [ORIGINAL, "typo", "passive_voice", "german"]
    assert reading(contents)["German"] == ("german", "a column of text")
    assert (
        "passive_voice is column 'Passive voice', german is column 'German' (each a column of text)" in contents.summary
    )


def test_one_and_twenty_columns(tmp_path: Path) -> None:
    for n in (1, 20):
        columns = {f"way {i}": sentences(f"in way {i}") for i in range(n)}
        contents = found(write(tmp_path, "csv", rows_of(original=ORIGINALS, **columns)))
        assert list(contents.rewrites) == [f"way_{i}" for i in range(n)]


@each(
    ("name", "column", "why"),
    [
        ("score", [1.5, 2, 3, 4, 5, 6], "numbers"),
        ("empty", [None] * 6, "nothing"),
        ("Notes", sentences("n"), "about the row, by its name"),
        ("source", sentences("n"), "about the row, by its name"),
        ("formal", [*sentences("f")[:4], "", None], "2 of 6 cells have no text"),
        ("register", ["in a formal way", "as people speak"] * 3, "2 different texts only"),
        ("always", ["the very same"] * 6, "1 different text only"),
        ("sentence code", [f"s-{i}" for i in range(6)], "single words next to sentences"),
        ("?!", sentences("n"), "no name"),
    ],
)
def test_what_is_none_is_left_out_and_said(tmp_path: Path, name: str, column: list[Any], why: str) -> None:
    contents = found(
        write(tmp_path, "jsonl", rows_of(**{"original": ORIGINALS, name: column, "simple": sentences("s")}))
    )
    assert list(contents.rewrites) == ["simple"]
    assert reading(contents)[name] == ("not used", why)
    assert f"; not used: '{name}' ({why});" in contents.summary


def test_few_texts_are_a_kind_only_beside_more_originals(tmp_path: Path) -> None:
    """A file that asks about one sentence in many ways has one original again and again."""
    contents = found(write(tmp_path, "csv", rows_of(original=["It is big."] * 4, plain=["So big it is."] * 4)))
    assert list(contents.rewrites) == ["plain"]
    one_word = found(write(tmp_path, "csv", rows_of(original=["big", "old", "new"], other=["large", "aged", "fresh"])))
    assert list(one_word.rewrites) == ["other"], "words beside words"


def test_a_mark_in_the_header_decides(tmp_path: Path) -> None:
    columns = {"original": ORIGINALS, "rewrite:Notes": ["a", "b"] * 3, "Rewrite: synonym": sentences("s")}
    contents = found(write(tmp_path, "csv", rows_of(**columns)))
    assert list(contents.rewrites) == ["synonym", "notes"]
    assert reading(contents)["rewrite:Notes"] == ("notes", "by its name")
    with pytest.raises(InputError, match="column 'rewrite:n', read as n: it has numbers"):
        own.read(write(tmp_path, "csv", rows_of(**{"original": ORIGINALS, "rewrite:n": [1, 2, 3, 4, 5, 6]})))
    with pytest.raises(InputError, match="line 3, column 'rewrite:n': nothing there"):
        own.read(write(tmp_path, "csv", rows_of(**{"original": ["a", "b"], "rewrite:n": ["c", ""]})))


@pytest.mark.parametrize(
    "columns",
    [
        {"query": sentences("q"), "match": sentences("m"), "original": ORIGINALS},
        {"sentence1": sentences("q"), "sentence2": sentences("m"), "original": ORIGINALS, "other": sentences("o")},
        {"text": ORIGINALS, "other": sentences("o")},
        {"original": ORIGINALS, "notes": sentences("o")},
    ],
)
def test_what_can_be_read_as_pairs_still_is(tmp_path: Path, columns: dict[str, list[str]]) -> None:
    assert isinstance(own.read(write(tmp_path, "csv", rows_of(**columns))), OwnPairs)


def test_names_of_pairs_beside_a_known_rewrite_are_left_out(tmp_path: Path) -> None:
    columns = {
        "query": sentences("q"),
        "match": sentences("m"),
        "original": ORIGINALS,
        "typo": sentences("t"),
        "mine": sentences("x"),
    }
    contents = found(write(tmp_path, "csv", rows_of(**columns)))
    assert list(contents.rewrites) == ["typo", "mine"]
    assert reading(contents)["match"] == ("not used", "the name of one of a pair")


@each(
    ("names", "parts"),
    [
        (["cos_avg"], ["column 'cos_avg'", "'cos_avg' is the name of something else", "rename column 'cos_avg'"]),
        (["Accuracy"], ["column 'Accuracy'", "'accuracy' is the name of something else"]),
        (["Originals!"], ["'originals' is the name of something else"]),
        (["formal sd"], ["column 'formal sd', a rewrite: 'formal_sd'"]),
        (["formal (low)"], ["'formal_low' is"]),
        (["formal_HIGH"], ["'formal_high' is"]),
        (["formal>plain"], ["column 'formal>plain'", "no '>'"]),
        (["variant"], ["'variant' is the name of something else"]),
        (["Very formal", "very-formal"], ["columns 'Very formal' and 'very-formal' would both be 'very_formal'"]),
        (["synonym", "rewrite:Synonym"], ["columns 'synonym' and 'rewrite:Synonym' would both be 'synonym'"]),
        (["rewrite:?!"], ["column 'rewrite:?!': there is no letter or digit in its name"]),
    ],
)
def test_names_that_mean_something_else_are_refused(tmp_path: Path, names: list[str], parts: list[str]) -> None:
    columns = {name: sentences(str(i)) for i, name in enumerate(names)}
    check_refused(write(tmp_path, "csv", rows_of(original=ORIGINALS, **columns)), *parts, "rename")


def test_all_other_metrics_are_refused_as_names() -> None:
    """Were the diagnostic given another metric, its name would have to be kept free."""
    for metric in ENTRY.metrics:
        free = metric.name in SUBSETS
        kept = metric.name in own_minimal.METRICS or metric.name.endswith(own_minimal.ENDINGS) or ">" in metric.name
        assert free != kept, metric.name
    assert ORIGINAL in own_minimal.TABLES


@given(st.text(max_size=80))
def test_names_are_of_letters_digits_and_single_lines_and_stay_as_they_are(column: str) -> None:
    name = own_minimal.subset_name(column)
    assert own_minimal.subset_name(name) == name
    assert len(name) <= own_minimal.MAX_NAME
    assert name == "" or all(part.isalnum() or not part.isascii() for part in name.split("_"))
    assert not set("<>&\"'$`*[] \t\n") & set(name)


def test_columns_can_be_asked_for_whatever_they_hold(tmp_path: Path, settings: Settings) -> None:
    """As the upload form does; what is kept is read back the same, without looking at the cells again."""
    data = "no,original,topic,formal\n" + "".join(f"{i},{o},t,x{i}\n" for i, o in enumerate(ORIGINALS))
    table = own.tabulate(tmp_path / "mine.csv", data.encode())
    contents = OwnMinimalPairs.of(table.table, {ORIGINAL: 1, "topic": 2, "typo": 3})
    assert list(contents.rewrites) == ["typo", "topic"]
    assert reading(contents) == {
        "no": ("not used", "numbers"),
        "original": (ORIGINAL, "as asked"),
        "topic": ("topic", "as asked"),
        "formal": ("typo", "as asked"),
    }
    upload = uploads.add(contents, data.encode(), settings)
    back = found(upload.path)
    assert back.rewrites == contents.rewrites
    assert list(back.rewrites) == ["typo", "topic"]
    assert upload.columns == (("original", "original"), ("typo", "formal"), ("topic", "topic"))
    with pytest.raises(InputError, match="'accuracy'"):
        OwnMinimalPairs.of(table.table, {ORIGINAL: 1, "accuracy": 2})


NAMES = st.text(st.characters(categories=["Lu", "Ll", "Nd"], include_characters=" -("), min_size=1, max_size=8)


@hypothesis_settings(deadline=None, max_examples=40)
@given(st.lists(NAMES.filter(own_minimal.subset_name), min_size=1, max_size=4, unique_by=own_minimal.subset_name))
def test_what_is_read_is_read_back_from_an_upload(tmp_path_factory: pytest.TempPathFactory, names: list[str]) -> None:
    folder = tmp_path_factory.mktemp("own")
    columns = {f"rewrite:{name}": sentences(str(i)) for i, name in enumerate(names)}
    path = write(folder, "jsonl", rows_of(original=ORIGINALS, **columns))
    try:
        contents = found(path)
    except InputError as error:
        assert "something else" in str(error)  # noqa: PT017 - either is right
        reject()
    upload = uploads.add(contents, path.read_bytes(), make_settings(folder / "cache"))
    assert found(upload.path).rewrites == contents.rewrites
