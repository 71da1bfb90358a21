"""Files of pairs with human scores: STS-Benchmark, STR, and sets of word pairs, as the EvalRank toolkit reads them.

EvalRank's positive pairs are the best quarter of these sets (Wang 2022, section 4.3). Texts are read as in the toolkit,
so that its pairs match exactly: sentences unchanged, words lower-cased. Readers raise ``DataCorrupt`` for a file or a
line that has another form.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from blindspot.datasets.kinds.scored_pairs import ScoredPairs
from blindspot.datasets.published.text_lines import lines, parsed, text_of
from blindspot.errors import DataCorrupt

Row = tuple[str, str, float]

STS_SCORE, STS_FIRST, STS_SECOND = 4, 5, 6  # columns of STS-Benchmark; some rows have more
_NO_SCORE = "no two sentences and a score"
SICK_HEADER = ["pair_ID", "sentence_A", "sentence_B", "relatedness_score"]  # more may follow


def scored_pairs(dataset_id: str, sets: Mapping[str, Sequence[Row]]) -> ScoredPairs:
    """Named sets of (text, text, score) as one dataset; a pair in several sets is repeated."""
    number: dict[str, int] = {}
    rows = [(i, *row) for i, rows in enumerate(sets.values()) for row in rows]
    for _, first, second, _ in rows:
        number.setdefault(first, len(number))
        number.setdefault(second, len(number))
    return ScoredPairs(
        id=dataset_id,
        items=tuple(number),
        sets=tuple(sets),
        set_numbers=np.array([i for i, *_ in rows], dtype=np.int32),
        firsts=np.array([number[first] for _, first, _, _ in rows], dtype=np.int32),
        seconds=np.array([number[second] for _, _, second, _ in rows], dtype=np.int32),
        scores=np.array([score for *_, score in rows], dtype=np.float64),
    )


def sts_benchmark(path: Path) -> list[Row]:
    """A part of STS-Benchmark: no header, seven or more columns separated by tabs, quotes are part of the text."""

    def parse(line: str) -> Row:
        cells = line.strip().split("\t")
        return cells[STS_FIRST], cells[STS_SECOND], float(cells[STS_SCORE])

    return parsed(path, lines(path), parse, "a line of STS-Benchmark", _NO_SCORE)


def sts_year(sentences: Path, scores: Path) -> list[Row]:
    """A set of STS 2012 to 2016: two sentences per line with a tab between, and their scores in the other file.

    A pair with an empty line there was not scored; it is left out.
    """
    pairs, given = (text_of(path).removesuffix("\n").split("\n") for path in (sentences, scores))
    if len(pairs) != len(given):
        raise DataCorrupt(
            f"{sentences} has {len(pairs):,} lines and {scores} {len(given):,}", expected="a score for every pair"
        )
    scored = [(n, f"{pair}\t{s}") for n, (pair, s) in enumerate(zip(pairs, given, strict=True), 1) if s.strip()]

    def parse(line: str) -> Row:
        first, second, score = line.split("\t")
        return first.strip(), second.strip(), float(score)

    return parsed(sentences, scored, parse, "two texts with a tab between, and a number", _NO_SCORE)


def sick(path: Path) -> list[Row]:
    """A part of SICK: a header, separated by tabs, quotes are part of the text; relatedness from 1 to 5."""
    (_, header), *rows = lines(path) or [(1, "")]
    if header.split("\t")[:4] != SICK_HEADER:
        raise DataCorrupt(
            f"{path} begins with '{header[:60]}'", expected=f"the header of SICK: {', '.join(SICK_HEADER)}, ..."
        )

    def parse(line: str) -> Row:
        _, first, second, score, *_ = line.split("\t")
        return first, second, float(score)

    return parsed(path, rows, parse, "a line of SICK", _NO_SCORE)


def semantic_relatedness(path: Path) -> list[Row]:
    """STR: a CSV with a header; column ``Text`` has both sentences on two lines, and ``Score`` is 0 to 1."""
    rows = []
    reader = csv.DictReader(io.StringIO(text_of(path), newline=""))
    for row in reader:
        try:
            first, second = row["Text"].split("\n")
            rows.append((first, second, float(row["Score"])))
        except (KeyError, ValueError, AttributeError, TypeError) as error:
            raise DataCorrupt(
                f"{path}, line {reader.line_num}: no two sentences and a score", expected="a row of STR-2022"
            ) from error
    return rows


def word_similarity(path: Path) -> list[Row]:
    """A set of word pairs: two words and a score per line, blanks or tabs between, lower-cased as the toolkit does."""

    def parse(line: str) -> Row:
        first, second, score = line.lower().split()
        return first, second, float(score)

    return parsed(path, [x for x in lines(path) if x[1].strip()], parse, "two words and a score")


def demo_scored(dataset_id: str, path: Path) -> ScoredPairs:
    """The built-in scored pairs: a header, then a topic, two sentences and their score, tabs between."""

    def parse(line: str) -> Row:
        _topic, first, second, score = line.split("\t")
        return first, second, float(score)

    return scored_pairs(
        dataset_id, {"demo": parsed(path, lines(path)[1:], parse, "a topic, two sentences and a score", _NO_SCORE)}
    )


def sentence_sources(dataset_id: str, train: Path, dev: Path, test: Path, related: Path) -> ScoredPairs:
    """Sources of EvalRank's sentence pairs: STS-Benchmark in its three parts, and STR."""
    parts = {f"STS-B {name}": sts_benchmark(path) for name, path in (("train", train), ("dev", dev), ("test", test))}
    return scored_pairs(dataset_id, parts | {"STR": semantic_relatedness(related)})


def word_sources(dataset_id: str, paths: Sequence[Path]) -> ScoredPairs:
    """Sources of EvalRank's word pairs; a set is named like its file, without ``EN-``."""
    return scored_pairs(dataset_id, {path.stem.removeprefix("EN-"): word_similarity(path) for path in paths})
