"""Files of pairs that people scored: STS-Benchmark, STR, and sets of word pairs, as the EvalRank toolkit reads them.

EvalRank's positive pairs are the best quarter of these sets (Wang 2022, section 4.3). Texts are read as the toolkit
does, so that its pairs are found here to the letter: sentences as they stand, words lower-cased.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from core.datasets.kinds.scored_pairs import ScoredPairs
from core.errors import DataCorrupt

Row = tuple[str, str, float]

STS_SCORE, STS_FIRST, STS_SECOND = 4, 5, 6  # columns of STS-Benchmark; more follow in some rows
SICK_HEADER = ["pair_ID", "sentence_A", "sentence_B", "relatedness_score"]  # more may follow


def scored_pairs(dataset_id: str, sets: Mapping[str, Sequence[Row]]) -> ScoredPairs:
    """Named sets of (text, text, score) as one dataset; a pair that stands in several sets stands here as often."""
    number: dict[str, int] = {}
    rows = [(i, *row) for i, found in enumerate(sets.values()) for row in found]
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
    """A part of STS-Benchmark: no header, seven or more columns with tabs between, quotes are part of the text.

    Raises:
        DataCorrupt: a line of another kind.
    """
    rows = []
    for number, line in enumerate(_text(path).split("\n"), 1):
        if not line:
            continue
        cells = line.strip().split("\t")
        try:
            rows.append((cells[STS_FIRST], cells[STS_SECOND], float(cells[STS_SCORE])))
        except (IndexError, ValueError) as error:
            raise DataCorrupt(
                f"{path}, line {number}: no score and two sentences", expected="a line of STS-Benchmark"
            ) from error
    return rows


def sts_year(sentences: Path, scores: Path) -> list[Row]:
    """A set of STS 2012 to 2016: two sentences per line with a tab between, and in the other file their scores.

    A pair whose line there is empty was not scored; it is left out.

    Raises:
        DataCorrupt: a line of another kind, or files of different length.
    """
    pairs, given = (_text(path).removesuffix("\n").split("\n") for path in (sentences, scores))
    if len(pairs) != len(given):
        raise DataCorrupt(
            f"{sentences} has {len(pairs):,} lines and {scores} {len(given):,}", expected="a score for every pair"
        )
    rows = []
    for number, (pair, score) in enumerate(zip(pairs, given, strict=True), 1):
        if not score.strip():
            continue
        try:
            first, second = pair.split("\t")
            rows.append((first.strip(), second.strip(), float(score)))
        except ValueError as error:
            raise DataCorrupt(f"{sentences}, line {number}: no two sentences and a score") from error
    return rows


def sick(path: Path) -> list[Row]:
    """A part of SICK: tabs between, a header, quotes are part of the text; relatedness from 1 to 5.

    Raises:
        DataCorrupt: another header, or a line of another kind.
    """
    header, *lines = _text(path).split("\n")
    if header.split("\t")[:4] != SICK_HEADER:
        raise DataCorrupt(
            f"{path} begins with '{header[:60]}'", expected=f"the header of SICK: {', '.join(SICK_HEADER)}, ..."
        )
    rows = []
    for number, line in enumerate(lines, 2):
        if not line:
            continue
        try:
            _, first, second, score, *_ = line.split("\t")
            rows.append((first, second, float(score)))
        except ValueError as error:
            raise DataCorrupt(
                f"{path}, line {number}: no two sentences and a score", expected="a line of SICK"
            ) from error
    return rows


def semantic_relatedness(path: Path) -> list[Row]:
    """STR: a CSV with a header, whose column ``Text`` holds both sentences on two lines, and ``Score`` 0 to 1.

    Raises:
        DataCorrupt: no such columns, or a row of another kind.
    """
    rows = []
    reader = csv.DictReader(io.StringIO(_text(path), newline=""))
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
    """A set of word pairs: two words and a score per line, blanks or tabs between, lower-cased as the toolkit does.

    Raises:
        DataCorrupt: another kind of line.
    """
    rows = []
    for number, line in enumerate(_text(path).split("\n"), 1):
        if not line.strip():
            continue
        try:
            first, second, score = line.lower().split()
            rows.append((first, second, float(score)))
        except ValueError as error:
            raise DataCorrupt(f"{path}, line {number}: '{line[:60]}'", expected="two words and a score") from error
    return rows


def sentence_sources(dataset_id: str, train: Path, dev: Path, test: Path, related: Path) -> ScoredPairs:
    """What EvalRank's sentence pairs were taken from: STS-Benchmark in its three parts, and STR."""
    parts = {f"STS-B {name}": sts_benchmark(path) for name, path in (("train", train), ("dev", dev), ("test", test))}
    return scored_pairs(dataset_id, parts | {"STR": semantic_relatedness(related)})


def word_sources(dataset_id: str, paths: Sequence[Path]) -> ScoredPairs:
    """What EvalRank's word pairs were taken from; a set is called as its file is, without ``EN-``."""
    return scored_pairs(dataset_id, {path.stem.removeprefix("EN-"): word_similarity(path) for path in paths})


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise DataCorrupt(f"{path} is not UTF-8 (byte {error.start})", expected="a UTF-8 text file") from error
