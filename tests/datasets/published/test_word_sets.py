"""Word datasets: EvalRank's recipe by hand, the built-in demo, and the real EvalRank words."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from collections import Counter
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

from blindspot.datasets import fetch, packaged
from blindspot.datasets.catalog import find_dataset
from blindspot.datasets.kinds.pairs import PairSet
from blindspot.datasets.published.evalrank_words import ADDED, with_synonyms
from blindspot.datasets.published.pairs import most_similar_quarter, pair_set, scored_words
from blindspot.diagnostics.evalrank.definition import ceilings
from blindspot.errors import BlindspotError, DataCorrupt
from blindspot.settings import ROOT, Settings
from tests.support.small_world import text_pairs
from tests.support.tables import each

DEMO_DIGEST = "40b3fa431308b10380b91153ea90783dbe9d5dad91dcf378d115ff2e650652b9"


@pytest.fixture(scope="module")
def demo(shared_settings: Settings) -> PairSet:
    return fetch.load(find_dataset("demo-words"), shared_settings)


# --- the recipe


def test_the_recipe_by_hand() -> None:
    """9 rows: floor(9/4) = 2; 8 rows: 2; 3 rows: none. Ties keep the file's order."""
    nine = [("low", "x", 0.0)] * 6 + [("b", "a", 9.0), ("c", "d", 9.0), ("e", "f", 9.0)]  # e-f ties, and comes third
    eight = [("g", "g", 10.0), ("a", "b", 5.0)] + [("h", "i", 1.0)] * 6  # g-g is dropped and not made up for
    three = [("j", "k", 10.0)] * 3
    dataset = most_similar_quarter("hand", [nine, eight, three], ["z", "a", "low"])
    assert text_pairs(dataset) == [("b", "a"), ("c", "d"), ("a", "b"), ("d", "c")], "a-b was there before the reverses"
    assert dataset.items == ("b", "a", "c", "d", "low", "x", "e", "f", "g", "h", "i", "j", "k", "z")


def test_scored_words_are_lower_cased_and_remarks_left_out() -> None:
    text = "# a remark\n# Word 1\tWord 2\tHuman (mean)\nFBI\tFingerprint\t6.94\n\nold\tnew\t1.58\n"
    assert scored_words("some.tsv", text) == [("fbi", "fingerprint", 6.94), ("old", "new", 1.58)]


@each("line", ["a\tb", "a\tb\tc", "a\tb\t1\t2", "a b 1"])
def test_another_line_is_named(line: str) -> None:
    with pytest.raises(DataCorrupt, match=r"some\.tsv, line 2: 'a.*; expected two words and a score"):
        scored_words("some.tsv", f"a\tb\t1\n{line}\n")


# --- demo-words


def test_what_gensim_ships() -> None:
    """353 and 999 pairs; their best quarters are 88 and 249."""
    counts = {}
    for name in ("wordsim353.tsv", "simlex999.txt"):
        counts[name] = len(scored_words(name, packaged.text_of("gensim", "test", "test_data", name)))
    assert counts == {"wordsim353.tsv": 353, "simlex999.txt": 999}
    assert [n // 4 for n in counts.values()] == [88, 249]


def test_demo_words_by_a_recount_from_the_files(demo: PairSet) -> None:
    """88 + 249 = 337 rows; without tiger-tiger 336; money-cash stands twice: 335; with their reverses 670,
    of which coast-shore, money-bank and aluminum-metal were there both ways: 664."""
    best: list[tuple[str, str]] = []
    words: list[str] = []
    for name in ("wordsim353.tsv", "simlex999.txt"):
        lines = packaged.text_of("gensim", "test", "test_data", name).splitlines()
        rows = [row for row in csv.reader(lines, delimiter="\t") if not row[0].startswith("#")]
        numbered = sorted(enumerate(rows), key=lambda r: (-float(r[1][2]), r[0]))
        best += [(row[0].lower(), row[1].lower()) for _, row in numbered[: len(rows) // 4]]
        words += [cell.lower() for row in rows for cell in row[:2]]
    assert len(best) == 337
    assert [pair for pair, n in Counter(best).items() if n > 1] == [("money", "cash")]
    assert [pair for pair in best if pair[0] == pair[1]] == [("tiger", "tiger")]
    both_ways = {frozenset(p) for p in best if p[::-1] in best and p[0] != p[1]}
    assert both_ways == {frozenset(p) for p in (("coast", "shore"), ("money", "bank"), ("aluminum", "metal"))}

    pairs = text_pairs(demo)
    assert len(pairs) == 2 * (337 - 1 - 1) - 2 * 3 == 664
    assert set(pairs) == {p for p in best if p[0] != p[1]} | {p[::-1] for p in best if p[0] != p[1]}
    assert pairs[:335] == list(dict.fromkeys(p for p in best if p[0] != p[1]))
    assert all((match, query) in set(pairs) for query, match in pairs)
    frequent = packaged.frequent_words(20_000)
    assert len(frequent) == len(set(frequent)) == 20_000
    assert frequent[:3] == ["the", "to", "and"]
    assert set(demo.items) == set(words) | set(frequent)
    assert len(demo.items) == 20_000 + len(set(words) - set(frequent)) == 20_029


def test_known_pairs_of_the_demo(demo: PairSet) -> None:
    pairs = set(text_pairs(demo))
    assert {("journey", "voyage"), ("voyage", "journey"), ("vanish", "disappear"), ("tennis", "racket")} <= pairs
    assert not {("announcement", "news"), ("big", "broad"), ("old", "new"), ("tiger", "tiger")} & pairs
    assert "maradona" in demo.items, "no vocabulary of frequent words has it"
    assert all(word == word.lower() for word in demo.items)


def test_the_demo_is_the_same_on_every_machine(demo: PairSet) -> None:
    assert demo.content_digest == DEMO_DIGEST


def test_the_entry_names_the_versions_that_are_installed() -> None:
    assert find_dataset("demo-words").revision == ", ".join(
        f"{name} {metadata.version(name)}" for name in ("gensim", "wordfreq")
    )


@pytest.mark.process
def test_making_it_runs_nothing_of_gensim() -> None:
    program = (
        "import sys\n"
        "from blindspot.datasets.catalog import DATASETS\n"
        "assert not {'gensim', 'wordfreq'} & set(sys.modules)\n"
        "DATASETS['demo-words'].load('demo-words', ())\n"
        "assert not {'gensim', 'scipy'} & set(sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=os.environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_a_package_or_file_that_is_not_there_is_named() -> None:
    with pytest.raises(ModuleNotFoundError, match="the package no_such_package is not installed"):
        packaged.text_of("no_such_package", "x")
    with pytest.raises(BlindspotError, match=r"gensim has no file test/nothing\.tsv; expected the version"):
        packaged.text_of("gensim", "test", "nothing.tsv")


# --- evalrank-word


@pytest.mark.realdata
def test_evalrank_words(shared_settings: Settings) -> None:
    """In 69% of the pairs the query has a rival match, so raw Hits@1 cannot exceed 0.503."""
    entry = find_dataset("evalrank-word")
    assert entry.unit == "word"
    dataset = fetch.load(entry, shared_settings)
    assert (len(dataset.queries), len(dataset.items)) == (5_514, 22_207)
    pairs = text_pairs(dataset)
    assert pairs[:2] == [("abdomen", "belly"), ("abduct", "capture")]
    files = [fetch.local_path(file, shared_settings).read_text("utf-8").split() for file in entry.files]
    assert dataset.items == tuple(dict.fromkeys(word for words in files for word in words))
    matches = Counter(query for query, _ in pairs)
    assert sum(matches[query] > 1 for query, _ in pairs) / len(pairs) == pytest.approx(0.69, abs=0.005)
    assert ceilings(dataset)["hits@1_ceiling"] == pytest.approx(0.503, abs=0.0005)
    assert len(set(pairs)) == len(pairs)
    assert np.count_nonzero(dataset.queries == dataset.matches) == 0
    assert all((match, query) in set(pairs) for query, match in pairs)


# --- the ablations of table 4


def test_synonyms_are_added_among_the_words_both_ways(tmp_path: Path) -> None:
    words = pair_set("hand", [("big", "large"), ("large", "big")], ["tiny", "small", "red"])
    path = tmp_path / "synonyms.txt"
    path.write_text("large big\nsmall tiny\ntiny small\nred red\nred crimson\n")
    found = with_synonyms("more", words, path)
    assert (found.id, found.items) == ("more", words.items)
    pairs = text_pairs(found)
    assert pairs[:2] == [("big", "large"), ("large", "big")]
    assert sorted(pairs[2:]) == [("small", "tiny"), ("tiny", "small")]
    path.write_text("large big tiny\n")
    with pytest.raises(DataCorrupt, match="two words with a space between"):
        with_synonyms("more", words, path)


@pytest.mark.realdata
def test_the_ablations_of_evalrank_words(shared_settings: Settings) -> None:
    whole, basic, more = (
        fetch.load(find_dataset(f"evalrank-word{end}"), shared_settings) for end in ("", "-basic", "-ppdb")
    )
    assert (len(basic.items), text_pairs(basic)) == (5_846, text_pairs(whole))
    assert more.items == whole.items
    pairs = text_pairs(more)
    assert pairs[:5_514] == text_pairs(whole)
    assert len(set(pairs)) == len(pairs) == 5_514 + 2 * ADDED
    assert {(match, query) for query, match in pairs} == set(pairs)
