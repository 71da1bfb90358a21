"""The built-in scored pairs: what the description promises of them."""

from __future__ import annotations

import csv
from collections import Counter

from blindspot.datasets.catalog import DATASETS
from blindspot.datasets.kinds.scored_pairs import ScoredPairs
from blindspot.settings import ASSETS

FILE = ASSETS / "demo" / "scored_pairs.tsv"


def rows() -> list[dict[str, str]]:
    with FILE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def test_the_entry_says_what_the_file_has() -> None:
    entry, found = DATASETS["demo-scored"], rows()
    dataset = entry.load(entry.id, ())
    assert isinstance(dataset, ScoredPairs)
    assert (len(dataset.scores), len(dataset.items)) == (entry.pairs, entry.texts)
    assert dataset.scale == (0.0, 5.0)
    assert [(row[3], row[4], row[2]) for row in dataset.rows(0, len(found))] == [
        (row["first"], row["second"], float(row["score"])) for row in found
    ]


def test_pairs_are_distinct_and_cover_topics_and_the_scale() -> None:
    found = rows()
    pairs = {frozenset((row["first"], row["second"])) for row in found}
    assert len(pairs) == len(found)
    assert all(len(pair) == 2 for pair in pairs)
    topics = Counter(row["topic"] for row in found)
    assert len(topics) == 15
    assert min(topics.values()) >= 12
    scores = Counter(float(row["score"]) for row in found)
    assert set(scores) == {half / 2 for half in range(11)}
    assert min(scores.values()) >= 5
    assert all(row["topic"] == row["topic"].strip() and row["first"][-1] in ".?!" for row in found)
