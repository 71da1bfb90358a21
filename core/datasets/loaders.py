"""Files in, datasets out. Nothing is downloaded here."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from core.errors import DataCorrupt
from core.types import PairSet

DEMO_REWRITES = ("synonym", "antonym", "random_mlm", "typo", "negation_main", "negation_antonym")


def pair_set(dataset_id: str, pairs: Sequence[tuple[str, str]], background: Iterable[str]) -> PairSet:
    """Positive pairs among the distinct texts of the pairs and the background, in order of appearance."""
    number: dict[str, int] = {}
    for query, mate in pairs:
        number.setdefault(query, len(number))
        number.setdefault(mate, len(number))
    for text in background:
        number.setdefault(text, len(number))
    return PairSet(
        id=dataset_id,
        items=tuple(number),
        queries=np.array([number[query] for query, _ in pairs], dtype=np.int32),
        mates=np.array([number[mate] for _, mate in pairs], dtype=np.int32),
    )


def evalrank(dataset_id: str, pairs: Path, background: Sequence[Path]) -> PairSet:
    """EvalRank's files: ``query TAB mate`` per line, and one background text per line.

    Raises:
        DataCorrupt: a line of the pair file has not two cells.
    """
    rows = []
    for number, line in _lines(pairs):
        cells = line.split("\t")
        if len(cells) != 2 or not all(cells):
            raise DataCorrupt(f"{pairs}, line {number}: {len(cells)} cell(s)", expected="two texts with a tab between")
        rows.append((cells[0], cells[1]))
    return pair_set(dataset_id, rows, (text for path in background for _, text in _lines(path)))


def demo_pairs(dataset_id: str, path: Path) -> PairSet:
    """The built-in sentences: each original with its synonym rewrite, both ways, among all the sentences."""
    with path.open(encoding="utf-8", newline="") as f:
        rows = list(csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE))
    forth = [(row["original"], row["synonym"]) for row in rows]
    back = [(mate, query) for query, mate in forth]
    background = (row[column] for row in rows for column in ("original", *DEMO_REWRITES))
    return pair_set(dataset_id, forth + back, background)


def _lines(path: Path) -> list[tuple[int, str]]:
    """Non-empty lines and their numbers, from 1.

    Split at line feeds only: texts may hold other characters that Unicode calls line ends.
    """
    try:
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataCorrupt(f"{path} is not UTF-8 (byte {error.start})", expected="a UTF-8 text file") from error
    lines = text.replace("\r\n", "\n").split("\n")
    return [(number, line) for number, line in enumerate(lines, 1) if line]
