"""Rewrites under names of one's own: which columns they are in, what is left out and why, what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from core.datasets import uploads
from core.datasets.own import files as own
from core.datasets.own import rewrites as own_rewrites
from core.datasets.own.minimal_pairs import OwnMinimalPairs
from core.datasets.own.pairs import OwnPairs
from core.datasets.own.rewrites import METRICS, TABLES, subset_name
from core.datasets.published.minimal_pairs import ORIGINAL, SUBSETS
from core.diagnostics.heros.definition import ENTRY
from core.errors import InputError
from core.settings import Settings
from tests.conftest import make_settings
from tests.support.own_files import ENDINGS, write

ORIGINALS = [f"The {animal} sleeps on the {place} today." for animal, place in zip("abcdef", "uvwxyz", strict=True)]


def cells(text: str) -> list[str]:
    return [f"{original[:-1]} {text}." for original in ORIGINALS]


def rows(**columns: list[Any]) -> list[dict[str, Any]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def found(path: Path) -> OwnMinimalPairs:
    contents = own.read(path)
    assert isinstance(contents, OwnMinimalPairs)
    return contents


def reading(contents: OwnMinimalPairs) -> dict[str, tuple[str, str]]:
    return {column.name: (str(column.use), column.why) for column in contents.columns}


@pytest.mark.parametrize("ending", ENDINGS)
def test_any_columns_of_text_are_rewrites_known_ones_first(tmp_path: Path, ending: str) -> None:
    columns = {"Passive voice": cells("p"), "original": ORIGINALS, "German": cells("g"), "Typos": cells("t")}
    contents = found(write(tmp_path, ending, rows(**columns)))
    assert list(contents.rewrites) == ["typo", "passive_voice", "german"]
    assert contents.rewrites["passive_voice"] == tuple(cells("p"))
    assert contents.dataset("x").subsets == ("typo", "passive_voice", "german")
    assert list(contents.used) == [ORIGINAL, "typo", "passive_voice", "german"]
    assert reading(contents)["German"] == ("german", "a column of text")
    assert (
        "passive_voice is column 'Passive voice', german is column 'German' (each a column of text)" in contents.summary
    )


def test_one_and_twenty_columns(tmp_path: Path) -> None:
    for n in (1, 20):
        columns = {f"way {i}": cells(f"in way {i}") for i in range(n)}
        contents = found(write(tmp_path, "csv", rows(original=ORIGINALS, **columns)))
        assert list(contents.rewrites) == [f"way_{i}" for i in range(n)]


@pytest.mark.parametrize(
    ("name", "column", "why"),
    [
        ("score", [1.5, 2, 3, 4, 5, 6], "numbers"),
        ("empty", [None] * 6, "nothing"),
        ("Notes", cells("n"), "about the row, by its name"),
        ("source", cells("n"), "about the row, by its name"),
        ("formal", [*cells("f")[:4], "", None], "2 of 6 cells have no text"),
        ("register", ["in a formal way", "as people speak"] * 3, "2 different texts only"),
        ("always", ["the very same"] * 6, "1 different text only"),
        ("sentence code", [f"s-{i}" for i in range(6)], "single words beside sentences"),
        ("?!", cells("n"), "no name"),
    ],
)
def test_what_is_none_is_left_out_and_said(tmp_path: Path, name: str, column: list[Any], why: str) -> None:
    contents = found(write(tmp_path, "jsonl", rows(**{"original": ORIGINALS, name: column, "simple": cells("s")})))
    assert list(contents.rewrites) == ["simple"]
    assert reading(contents)[name] == ("not used", why)
    assert f"; not used: '{name}' ({why});" in contents.summary


def test_few_texts_are_a_kind_only_beside_more_originals(tmp_path: Path) -> None:
    """A file that asks about one sentence in many ways has one original again and again."""
    contents = found(write(tmp_path, "csv", rows(original=["It is big."] * 4, plain=["So big it is."] * 4)))
    assert list(contents.rewrites) == ["plain"]
    one_word = found(write(tmp_path, "csv", rows(original=["big", "old", "new"], other=["large", "aged", "fresh"])))
    assert list(one_word.rewrites) == ["other"], "words beside words"


def test_a_mark_in_the_header_decides(tmp_path: Path) -> None:
    columns = {"original": ORIGINALS, "rewrite:Notes": ["a", "b"] * 3, "Rewrite: synonym": cells("s")}
    contents = found(write(tmp_path, "csv", rows(**columns)))
    assert list(contents.rewrites) == ["synonym", "notes"]
    assert reading(contents)["rewrite:Notes"] == ("notes", "by its name")
    with pytest.raises(InputError, match="column 'rewrite:n', read as n: it holds numbers"):
        own.read(write(tmp_path, "csv", rows(**{"original": ORIGINALS, "rewrite:n": [1, 2, 3, 4, 5, 6]})))
    with pytest.raises(InputError, match="line 3, column 'rewrite:n': nothing there"):
        own.read(write(tmp_path, "csv", rows(**{"original": ["a", "b"], "rewrite:n": ["c", ""]})))


@pytest.mark.parametrize(
    "columns",
    [
        {"query": cells("q"), "mate": cells("m"), "original": ORIGINALS},
        {"sentence1": cells("q"), "sentence2": cells("m"), "original": ORIGINALS, "other": cells("o")},
        {"text": ORIGINALS, "other": cells("o")},
        {"original": ORIGINALS, "notes": cells("o")},
    ],
)
def test_what_can_be_read_as_pairs_still_is(tmp_path: Path, columns: dict[str, list[str]]) -> None:
    assert isinstance(own.read(write(tmp_path, "csv", rows(**columns))), OwnPairs)


def test_names_of_pairs_beside_a_known_rewrite_are_left_out(tmp_path: Path) -> None:
    columns = {"query": cells("q"), "mate": cells("m"), "original": ORIGINALS, "typo": cells("t"), "mine": cells("x")}
    contents = found(write(tmp_path, "csv", rows(**columns)))
    assert list(contents.rewrites) == ["typo", "mine"]
    assert reading(contents)["mate"] == ("not used", "the name of one of a pair")


@pytest.mark.parametrize(
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
    columns = {name: cells(str(i)) for i, name in enumerate(names)}
    with pytest.raises(InputError) as caught:
        own.read(write(tmp_path, "csv", rows(original=ORIGINALS, **columns)))
    assert "\n" not in str(caught.value)
    for part in [*parts, "pairs.csv", "rename"]:
        assert part in str(caught.value)


def test_all_other_metrics_are_refused_as_names() -> None:
    """Were the diagnostic given another metric, its name would have to be kept free."""
    for metric in ENTRY.metrics:
        free = metric.name in SUBSETS
        kept = metric.name in METRICS or metric.name.endswith(own_rewrites.ENDINGS) or ">" in metric.name
        assert free != kept, metric.name
    assert ORIGINAL in TABLES


@given(st.text(max_size=80))
def test_names_are_of_letters_digits_and_single_lines_and_stay_as_they_are(column: str) -> None:
    name = subset_name(column)
    assert subset_name(name) == name
    assert len(name) <= own_rewrites.MAX_NAME
    assert name == "" or all(part.isalnum() or not part.isascii() for part in name.split("_"))
    assert not set("<>&\"'$`*[] \t\n") & set(name)


def test_columns_can_be_asked_for_whatever_they_hold(tmp_path: Path, settings: Settings) -> None:
    """As the upload form does; what is kept is read back the same, without looking at the cells again."""
    data = "no,original,topic,formal\n" + "".join(f"{i},{o},t,x{i}\n" for i, o in enumerate(ORIGINALS))
    table = own.tabulate(tmp_path / "mine.csv", data.encode())
    contents = table.minimal_pairs({ORIGINAL: 1, "topic": 2, "typo": 3})
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
    with pytest.raises(InputError, match="'accuracy' is the name of something else"):
        table.minimal_pairs({ORIGINAL: 1, "accuracy": 2})


NAMES = st.text(st.characters(categories=["Lu", "Ll", "Nd"], include_characters=" -("), min_size=1, max_size=8)


@hypothesis_settings(deadline=None, max_examples=40)
@given(st.lists(NAMES.filter(subset_name), min_size=1, max_size=4, unique_by=subset_name))
def test_what_is_read_is_read_back_from_an_upload(tmp_path_factory: pytest.TempPathFactory, names: list[str]) -> None:
    folder = tmp_path_factory.mktemp("own")
    columns = {f"rewrite:{name}": cells(str(i)) for i, name in enumerate(names)}
    path = write(folder, "jsonl", rows(original=ORIGINALS, **columns))
    try:
        contents = found(path)
    except InputError as error:
        assert "is the name of something else" in str(error)  # noqa: PT017 - either is right
        return
    upload = uploads.add(contents, path.read_bytes(), make_settings(folder / "cache"))
    assert found(upload.path).rewrites == contents.rewrites
