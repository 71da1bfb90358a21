"""The demo's minimal pairs as tables like the published one of HEROS, and as a user's own file."""

from __future__ import annotations

import csv
from pathlib import Path

from blindspot.datasets.kinds.minimal_pairs import MinimalPairSet
from blindspot.datasets.published.minimal_pairs import SUBSETS
from blindspot.settings import ASSETS
from tests.support.demo_rules import read_rows

DEMO = ASSETS / "demo" / "minimal_pairs.tsv"
ROWS = read_rows(DEMO)
FIRST_ROWS = ROWS[:8]
AS_PUBLISHED = ("Original", "Synonym", "Antonym", "Negation", "Random", "Typo", "Negation")
MAIN_LAST = ("original", "synonym", "antonym", "negation_antonym", "random_mlm", "typo", "negation_main")


def write(path: Path, header: tuple[str, ...], columns: tuple[str, ...], rows: list[dict[str, str]] = ROWS) -> Path:
    lines = ["\t".join(header), *("\t".join(row[c] for c in columns) for row in rows)]
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return path


def texts(dataset: MinimalPairSet, subset: str) -> list[str]:
    numbers = dataset.originals if subset == "original" else dataset.rewrites[subset]
    return [dataset.items[i] for i in numbers]


def check_is_demo(dataset: MinimalPairSet, rows: list[dict[str, str]] = ROWS) -> None:
    assert dataset.subsets == SUBSETS
    for subset in ("original", *SUBSETS):
        assert texts(dataset, subset) == [row[subset] for row in rows], subset
    assert len(set(dataset.items)) == len(dataset.items)


def demo_file(folder: Path, subsets: tuple[str, ...]) -> Path:
    """The first rows, with some of the subsets, as a user's own file."""
    path = folder / f"{'-'.join(subsets)}.csv"
    with path.open("w", encoding="utf-8", newline="") as f:
        writer = csv.DictWriter(f, ["original", *subsets], extrasaction="ignore")
        writer.writeheader()
        writer.writerows(FIRST_ROWS)
    return path
