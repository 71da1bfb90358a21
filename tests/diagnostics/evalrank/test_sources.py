"""Where pairs come from: on a few of our own, and on the real sets."""

from __future__ import annotations

import numpy as np
import pytest

from blindspot.datasets import fetch
from blindspot.datasets.catalog import SOURCES, find_dataset
from blindspot.datasets.kinds.pairs import PairSet
from blindspot.datasets.kinds.scored_pairs import ScoredPairs
from blindspot.datasets.published.scored_pairs import scored_pairs
from blindspot.diagnostics.evalrank.sources import SourceScore, find_sources
from blindspot.settings import Settings

SETS = scored_pairs(
    "sets",
    {
        "one": [("a", "b", 5.0), ("b", "a", 4.0), ("c", "c", 3.0)],
        "two": [("b", "a", 0.9), ("a", "d", 0.1)],
        "none of them": [("x", "y", 1.0)],
    },
)


def test_a_pair_is_found_whichever_text_comes_first() -> None:
    found = find_sources(["a", "b", "c", "a", "a"], ["b", "a", "c", "c", "D"], SETS)
    assert found.of(0) == found.of(1) == (SourceScore("one", 4.5), SourceScore("two", 0.9))  # one has it twice: mean
    assert found.of(2) == (SourceScore("one", 3.0),)
    assert found.of(3) == ()
    assert found.of(4) == (), "texts are compared to the letter"
    assert found.known.tolist() == [True, True, True, False, False]
    assert found.inside("two").tolist() == [True, True, False, False, False]
    assert found.highest.tolist() == [5.0, 0.9, 1.0]


def the_pairs(dataset: str, settings: Settings) -> tuple[list[str], list[str], ScoredPairs]:
    entry = find_dataset(dataset)
    pairs, scored = fetch.load(entry, settings), fetch.load(SOURCES[entry.sources], settings)
    assert isinstance(pairs, PairSet)
    assert isinstance(scored, ScoredPairs)
    return [pairs.items[i] for i in pairs.queries], [pairs.items[i] for i in pairs.matches], scored


@pytest.mark.realdata
def test_every_sentence_pair_stands_in_one_of_the_two_sets(shared_settings: Settings) -> None:
    queries, matches, scored = the_pairs("evalrank-sent", shared_settings)
    found = find_sources(queries, matches, scored)
    assert found.known.all()
    counts = {name: int(found.inside(name).sum()) for name in found.names}
    assert counts == {"STS-B train": 3056, "STS-B dev": 527, "STS-B test": 678, "STR": 2748}
    in_train = zip(queries, matches, found.inside("STS-B train").tolist(), strict=True)
    assert len({frozenset((query, match)) for query, match, inside in in_train if inside}) == 1534
    best, is_str = np.nanmax(found.scores, axis=1), found.inside("STR")
    assert not (is_str & (found.inside("STS-B train") | found.inside("STS-B dev") | found.inside("STS-B test"))).any()
    assert best[~is_str].min() == 3.8
    assert best[is_str].min() >= 0.6
    assert found.highest.tolist() == [5.0, 5.0, 5.0, 1.0]


@pytest.mark.realdata
def test_every_word_pair_stands_in_one_of_the_thirteen_sets(shared_settings: Settings) -> None:
    queries, matches, scored = the_pairs("evalrank-word", shared_settings)
    found = find_sources(queries, matches, scored)
    assert found.known.all()
    assert {name: int(found.inside(name).sum()) for name in found.names} == {
        "WS-353-ALL": 224,
        "WS-353-SIM": 98,
        "WS-353-REL": 126,
        "MC-30": 22,
        "RG-65": 40,
        "RW-STANFORD": 1018,
        "MEN-TR-3k": 1508,
        "MTurk-287": 142,
        "MTurk-771": 388,
        "YP-130": 66,
        "SIMLEX-999": 582,
        "VERB-143": 72,
        "SimVerb-3500": 1770,
    }
