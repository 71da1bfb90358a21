"""Parallel sentences: files, counts and facts of languages against the data, and families in the catalog."""

from __future__ import annotations

import unicodedata
from collections import Counter
from pathlib import Path

import pytest

from blindspot.datasets import fetch
from blindspot.datasets.catalog import (
    DATASETS,
    FAMILIES,
    DatasetRef,
    catalogued,
    family_of,
    find_dataset,
    find_datasets,
    title_of,
)
from blindspot.datasets.kinds.pairs import PairSet
from blindspot.datasets.published.tatoeba import BOTH, PARALLEL, load, place_of
from blindspot.datasets.published.tatoeba.languages import languages
from blindspot.errors import DataCorrupt, InputError
from blindspot.settings import Settings
from tests.support.tables import each

TATOEBA, DEMO = PARALLEL["tatoeba"], PARALLEL["demo-languages"]
# First words of Unicode's names of letters, by the script that they are of.
LETTERS = {
    "CJK": "Han",
    "HIRAGANA": "Japanese",
    "KATAKANA": "Japanese",
    **{name.upper(): name for one in languages().values() for name in one.scripts if name not in ("Han", "Japanese")},
}


def loaded(dataset: str, settings: Settings) -> PairSet:
    found = fetch.load(find_dataset(dataset), settings)
    assert isinstance(found, PairSet)
    return found


# --- the catalog


def test_members_are_found_by_id_and_in_no_list() -> None:
    assert (len(FAMILIES["tatoeba"].members), len(FAMILIES["demo-languages"].members)) == (224, 14)
    for family in FAMILIES.values():
        assert not DATASETS.keys() & family.members.keys()
        for name, entry in family.members.items():
            assert find_dataset(name) is entry is catalogued(name)
            assert (entry.id, DatasetRef.parse(name), title_of(name)) == (name, name, entry.title)
            assert family_of(name) is family
    assert len({entry.title for family in FAMILIES.values() for entry in family.members.values()}) == 238


def test_a_family_is_all_of_its_members() -> None:
    assert [entry.id for entry in find_datasets(["demo-pairs", "demo-languages"])] == [
        "demo-pairs",
        *FAMILIES["demo-languages"].members,
    ]
    with pytest.raises(InputError) as caught:
        find_dataset("tatoeba")
    assert "224 datasets" in caught.value.what
    assert "data list tatoeba" in caught.value.remedy


def test_an_unknown_member_suggests_the_nearest_in_one_short_line() -> None:
    with pytest.raises(InputError) as caught:
        find_dataset("tatoeba-due-eng")
    assert "tatoeba-deu-eng" in caught.value.remedy
    assert len(str(caught.value)) < 250


def test_both_directions_of_a_language() -> None:
    for sets in (TATOEBA, DEMO):
        for language in sets.languages():
            for direction in BOTH:
                assert place_of(sets.member(language.code, direction)) == (sets, language, direction)
    assert place_of("demo-pairs") is None


def test_languages_by_code_or_name() -> None:
    assert [one.code for one in TATOEBA.languages(["german", "Fra", "cmn"])] == ["cmn", "deu", "fra"]
    with pytest.raises(InputError) as caught:
        TATOEBA.languages(["Germn"])
    assert "German" in caught.value.remedy
    assert len(str(caught.value)) < 200
    with pytest.raises(InputError, match="English"):
        TATOEBA.languages(["eng"])


# --- the built-in sentences


@each("dataset", list(FAMILIES["demo-languages"].members))
def test_built_in_sentences(dataset: str, shared_settings: Settings) -> None:
    found, entry = loaded(dataset, shared_settings), find_dataset(dataset)
    assert (len(found.queries), len(found.items)) == (entry.pairs, entry.texts) == (40, 80)
    assert not set(found.queries.tolist()) & set(found.matches.tolist())


def test_directions_share_their_texts_and_turn_the_pairs(shared_settings: Settings) -> None:
    forth, back = (loaded(DEMO.member("deu", direction), shared_settings) for direction in BOTH)
    assert forth.items == back.items
    assert forth.texts_digest == back.texts_digest, "they would be encoded twice"
    assert forth.queries.tolist() == back.matches.tolist()
    assert forth.matches.tolist() == back.queries.tolist()
    assert forth.items[forth.queries[0]] == "Der Zug an die Küste fährt um halb acht ab."
    assert forth.items[forth.matches[0]] == "The train to the coast leaves at half past seven."


# --- files


def test_files_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    one, other = tmp_path / "a.deu", tmp_path / "a.eng"
    one.write_text("eins\nzwei\u2028drei\n")
    other.write_text("one\ntwo three\n")
    found = load("own", one, other, "from")
    assert found.items == ("eins", "zwei\u2028drei", "one", "two three")
    assert (found.queries.tolist(), found.matches.tolist()) == ([0, 1], [2, 3])
    other.write_text("one\n")
    with pytest.raises(DataCorrupt, match="2 lines"):
        load("own", one, other, "from")
    other.write_text("one\n\n")
    with pytest.raises(DataCorrupt, match="line 2"):
        load("own", one, other, "from")


def test_an_equal_sentence_in_both_languages_is_one_text(tmp_path: Path) -> None:
    one, other = tmp_path / "a.deu", tmp_path / "a.eng"
    one.write_text("Stop.\nnein\n")
    other.write_text("Stop.\nno\n")
    found = load("own", one, other, "to")
    assert found.items == ("Stop.", "nein", "no")
    assert (found.queries.tolist(), found.matches.tolist()) == ([0, 2], [0, 1])


def test_the_first_file_is_the_language_s_and_the_second_english(tmp_path: Path) -> None:
    paths = (tmp_path / "own", tmp_path / "english")
    for path, content in zip(paths, ("Ja.\nNein.\n", "Yes.\nNo.\n"), strict=True):
        path.write_text(content, "utf-8")
    forth, back = (TATOEBA.member("deu", direction) for direction in BOTH)
    for name, first in ((forth, "Ja."), (back, "Yes.")):
        data = find_dataset(name).load(name, paths)
        assert isinstance(data, PairSet)
        assert data.items[data.queries[0]] == first
        assert {data.items[i] for i in (data.queries[1], data.matches[1])} == {"Nein.", "No."}


@pytest.mark.realdata
def test_every_file_has_the_pairs_that_its_entry_names(shared_settings: Settings) -> None:
    """Counts, their sum, no sentence twice in a file, and scripts as in the table."""
    total = 0
    for language in TATOEBA.languages():
        ids = [TATOEBA.member(language.code, direction) for direction in BOTH]
        forth, back = (loaded(name, shared_settings) for name in ids)
        entry = find_dataset(ids[0])
        assert (len(forth.queries), len(forth.items)) == (entry.pairs, entry.texts), language
        assert find_dataset(ids[1]).pairs == entry.pairs
        assert forth.texts_digest == back.texts_digest
        assert forth.queries.tolist() == back.matches.tolist()
        paths = [fetch.local_path(file, shared_settings) for file in entry.files]
        rows = [path.read_text("utf-8").split("\n")[:-1] for path in paths]
        assert [(forth.items[q], forth.items[m]) for q, m in zip(forth.queries, forth.matches, strict=True)] == list(
            zip(*rows, strict=True)
        )
        assert [len(set(column)) for column in rows] == [entry.pairs] * 2, "a query would have two matches"
        assert forth.counts.self_pairs == (1 if language.code == "uzb" else 0)
        total += len(rows[0])
        letters = Counter(
            LETTERS.get(unicodedata.name(letter, "?").split()[0], "?")
            for letter in "".join(rows[0])
            if letter.isalpha()
        )
        usual = [script for script, count in letters.most_common() if count > 0.2 * letters.total()]
        expected = ("Japanese", "Han") if language.code == "jpn" else language.scripts
        assert tuple(usual) == expected, (language, letters)
    assert total == 88_877


def test_facts_of_languages() -> None:
    found = languages()
    assert len(found) == len({one.name for one in found.values()}) == 112
    assert TATOEBA.codes == tuple(found)
    assert (found["deu"].family, found["deu"].branch, found["deu"].kin) == ("Indo-European", "Germanic", "Germanic")
    assert (found["tur"].kin, found["srp"].script, found["uig"].script) == ("Turkic", "Latin and Cyrillic", "Arabic")
    for one in found.values():
        assert (one.branch != "") == (one.family in ("Indo-European", "Afro-Asiatic"))
