"""EvalRank's words, and the two variants of its data in its authors' ablation (Wang 2022, table 4)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from blindspot.datasets.entries import (
    EVALRANK_REPOSITORY,
    EVALRANK_REVISION,
    DatasetEntry,
    evalrank_file,
    lexicon_file,
)
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.kinds.pairs import PairSet
from blindspot.datasets.published import pairs as loaders
from blindspot.datasets.published.text_lines import lines, parsed
from blindspot.types import digest_of_strings

ADDED = 2_500  # pairs of synonyms: in both directions about the 5,000 of the paper


def with_synonyms(dataset_id: str, words: PairSet, synonyms: Path) -> PairSet:
    """EvalRank's words with more positive pairs, in both directions: ``ADDED`` pairs of synonyms, drawn by digest from
    those that have both words here and are not a pair yet. Words and their numbers are the same.

    Args:
        synonyms: two words per line, with a space between.
    """

    def parse(line: str) -> tuple[str, str]:
        word, other = sorted(line.split())
        return word, other

    number = {word: i for i, word in enumerate(words.items)}
    pairs = {frozenset(pair) for pair in zip(words.queries.tolist(), words.matches.tolist(), strict=True)}
    listed = set(parsed(synonyms, lines(synonyms), parse, "two words with a space between"))
    new = [(word, other) for word, other in listed if word != other and word in number and other in number]
    new = [pair for pair in new if frozenset(map(number.__getitem__, pair)) not in pairs]
    drawn = sorted(new, key=digest_of_strings)[:ADDED]
    rows = np.array([(number[word], number[other]) for word, other in drawn], dtype=np.int32).reshape(-1, 2)
    return PairSet(
        id=dataset_id,
        items=words.items,
        queries=np.concatenate([words.queries, rows[:, 0], rows[:, 1]]),
        matches=np.concatenate([words.matches, rows[:, 1], rows[:, 0]]),
    )


def _words(dataset_id: str, paths: tuple[Path, ...]) -> PairSet:
    return loaders.evalrank(dataset_id, pairs=paths[0], background=paths[1:])


_WORDS = DatasetEntry(
    id="evalrank-word",
    title="EvalRank words",
    description="The most similar quarter of thirteen word similarity sets, in both directions, among their words and "
    "the 20,000 most frequent words of Wikipedia.",
    kind=DatasetKind.PAIR_SET,
    unit="word",
    size="5,514 pairs, 22,207 words",
    pairs=5_514,
    texts=22_207,
    licence="BSD-3-Clause (repository); words from public similarity sets and Wikipedia",
    citation="Wang, Kuo and Li 2022, Just Rank: Rethinking Evaluation with Word and Sentence Similarities, 4.3",
    url=f"https://github.com/{EVALRANK_REPOSITORY}",
    revision=EVALRANK_REVISION,
    files=(
        evalrank_file("data/word_evalrank/pos_pair_5514.txt"),
        evalrank_file("data/word_evalrank/basic_vocab.txt"),
        evalrank_file("data/word_evalrank/wiki_vocab.txt"),
    ),
    load=_words,
    sources="evalrank-word-sources",
    core_texts=5_846,
)
EVALRANK_WORDS = {
    entry.id: entry
    for entry in (
        _WORDS,
        replace(
            _WORDS,
            id="evalrank-word-basic",
            title="EvalRank words, without Wikipedia's",
            description="The pairs of EvalRank words, among the words of the similarity sets alone: the first ablation "
            "of the paper's table 4.",
            size="5,514 pairs, 5,846 words",
            texts=5_846,
            licence="BSD-3-Clause (repository); words from public similarity sets",
            files=_WORDS.files[:2],
            core_texts=0,
        ),
        replace(
            _WORDS,
            id="evalrank-word-ppdb",
            title="EvalRank words and PPDB synonyms",
            description="EvalRank words with 2,500 pairs of PPDB synonyms more, in both directions, drawn from the "
            "6,562 among its words. The paper's table 4 adds about 5,000 synonyms of WordNet, which are not these.",
            size="10,514 pairs, 22,207 words",
            pairs=10_514,
            licence="BSD-3-Clause (repository); synonyms Apache-2.0 (counter-fitting)",
            citation=f"{_WORDS.citation} and table 4; Mrkšić et al. 2016, Counter-fitting Word Vectors to "
            "Linguistic Constraints",
            files=(
                *_WORDS.files,
                lexicon_file("ppdb_synonyms.txt"),
            ),
            load=lambda dataset_id, paths: with_synonyms(dataset_id, _words(dataset_id, paths[:3]), paths[3]),
            sources="",
        ),
    )
}
