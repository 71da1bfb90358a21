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

from core.errors import DataCorrupt
from core.types import ScoredPairs

Row = tuple[str, str, float]

STS_SCORE, STS_FIRST, STS_SECOND = 4, 5, 6  # columns of STS-Benchmark; more follow in some rows
# Name, bytes and sha256 of the files of thirteen word similarity sets, as the toolkit has them.
WORD_SETS = (
    ("WS-353-ALL", 7405, "ce12919b240af45bdf46d243601eaca2b6212b159b5e7e9b435ee7ee40c5619c"),
    ("WS-353-SIM", 4002, "f1da938998863c94e53f72f984a5c6e215f0b46c323aae8f0f4930703a339107"),
    ("WS-353-REL", 5134, "66a7c88100624d0a391605ff61ce84e11d11ee620d51ec0298da49592838f8fa"),
    ("MC-30", 543, "33ee05911496ff83d95cac351d0746c6f63b9181b605cb7d307f4daa8864511b"),
    ("RG-65", 1210, "c243f3a91c3f5d8cf67f21a67f6fb80bde8b6bb060851a6a48e6f2d68ec98c9f"),
    ("RW-STANFORD", 49851, "5108d54dfc746f44f9c3d7e31d2857c37cf71430bc1594175a61a3b89bb0ae1f"),
    ("MEN-TR-3k", 53593, "3df21751d8f69d51619ec62251c045da70815f3fad27736db7c1fc99ff3bfacf"),
    ("MTurk-287", 7218, "a9ae3a9decb75a9700fe0cf18b048c1344774d9f40e0196baf8e34d4cd9d1ce5"),
    ("MTurk-771", 19629, "a8cc04ed7b45a95a4b8915814c75c30ef99ab6001b534205529b07273022f569"),
    ("YP-130", 2614, "4b963f0771ba8cf1d378de8cd43387c31eae34a5e57e2de3685c53fc2cdd9a73"),
    ("SIMLEX-999", 18024, "405394ffb7d25f6d0e3c041f87c9f27d29dc6b047506769953e85c4523b11685"),
    ("VERB-143", 3320, "7259e19961c81912aa4c72de0102e480b2ad2bb9f4ce97d036fbde8e1a403001"),
    ("SimVerb-3500", 65315, "9d84274e7ad029fd3cf69dd0516e9ade624bbef9bd4e2050f6cc1fa01471e0f5"),
)


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
