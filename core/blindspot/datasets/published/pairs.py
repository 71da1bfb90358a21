"""Pair sets from their files; ``DataCorrupt`` for a line of another form. Nothing is downloaded here."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from blindspot.datasets import packaged
from blindspot.datasets.kinds.minimal_pairs import MinimalPairSet
from blindspot.datasets.kinds.pairs import PairSet
from blindspot.datasets.published import minimal_pairs
from blindspot.datasets.published.text_lines import lines, parsed

DEMO_REWRITES = ("synonym", "antonym", "random_mlm", "typo", "negation_main", "negation_antonym")


def pair_set(dataset_id: str, pairs: Sequence[tuple[str, str]], background: Iterable[str]) -> PairSet:
    """Positive pairs among the distinct texts of the pairs and the background, in order of appearance."""
    number: dict[str, int] = {}
    for query, match in pairs:
        number.setdefault(query, len(number))
        number.setdefault(match, len(number))
    for text in background:
        number.setdefault(text, len(number))
    return PairSet(
        id=dataset_id,
        items=tuple(number),
        queries=np.array([number[query] for query, _ in pairs], dtype=np.int32),
        matches=np.array([number[match] for _, match in pairs], dtype=np.int32),
    )


def evalrank(dataset_id: str, pairs: Path, background: Sequence[Path]) -> PairSet:
    """EvalRank's files: ``query TAB match`` per line, and one background text per line."""

    def parse(line: str) -> tuple[str, str]:
        query, match = line.split("\t")
        if not (query and match):
            raise ValueError("an empty cell")
        return query, match

    rows = parsed(pairs, lines(pairs), parse, "two texts with a tab between")
    return pair_set(dataset_id, rows, (text for path in background for _, text in lines(path)))


def demo_pairs(dataset_id: str, path: Path) -> PairSet:
    """The built-in sentences: each original with its synonym rewrite, both ways, among all the sentences."""
    with path.open(encoding="utf-8", newline="") as f:
        rows = list(csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE))
    forth = [(row["original"], row["synonym"]) for row in rows]
    back = [(match, query) for query, match in forth]
    background = (row[column] for row in rows for column in ("original", *DEMO_REWRITES))
    return pair_set(dataset_id, forth + back, background)


def demo_minimal(dataset_id: str, path: Path) -> MinimalPairSet:
    """The same sentences as minimal pairs; numbered as in ``demo_pairs``, so that both share embeddings."""
    return minimal_pairs.load_table(dataset_id, path, first=demo_pairs(dataset_id, path).items)


def scored_words(name: str, text: str) -> list[tuple[str, str, float]]:
    """``word TAB word TAB score`` per line, lower-cased; lines that begin with ``#`` are remarks."""

    def parse(line: str) -> tuple[str, str, float]:
        word, other, score = line.split("\t")
        return word.lower(), other.lower(), float(score)

    rows = [(n, line) for n, line in enumerate(text.splitlines(), 1) if line and not line.startswith("#")]
    return parsed(Path(name), rows, parse, "two words and a score with tabs between")


def most_similar_quarter(
    dataset_id: str, scored: Sequence[Sequence[tuple[str, str, float]]], background: Iterable[str]
) -> PairSet:
    """Positive pairs by EvalRank's recipe (Wang 2022, section 4.3): the best quarter of each set of scored words.

    Each set is sorted by score, descending and stable, and gives its first ``floor(n/4)`` rows; pairs of a word with
    itself are dropped. The pairs are the union of the sets in their order, then the reverses that it lacks. The
    background is all words of all the sets, then ``background``.
    """
    best = [
        (word, other)
        for rows in scored
        for word, other, _ in sorted(rows, key=lambda row: -row[2])[: len(rows) // 4]
        if word != other
    ]
    pairs = dict.fromkeys([*best, *((other, word) for word, other in best)])
    words = (word for rows in scored for first, other, _ in rows for word in (first, other))
    return pair_set(dataset_id, list(pairs), [*words, *background])


def demo_words(dataset_id: str) -> PairSet:
    """WordSim-353 and SimLex-999 as gensim ships them, among the 20,000 most frequent English words of wordfreq."""
    scored = [
        scored_words(name, packaged.text_of("gensim", "test", "test_data", name))
        for name in ("wordsim353.tsv", "simlex999.txt")
    ]
    return most_similar_quarter(dataset_id, scored, packaged.frequent_words(20_000))
