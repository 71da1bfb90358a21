"""Colors of a map's items: frequency, rank of the match, cluster in the full space, source, an own column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from blindspot.datasets.kinds.base import Dataset
from blindspot.datasets.kinds.minimal_pairs import MinimalPairSet
from blindspot.datasets.kinds.own_columns import EMPTY, OwnColumn
from blindspot.datasets.kinds.pairs import PairSet
from blindspot.datasets.kinds.scored_pairs import ScoredPairs
from blindspot.datasets.word_frequency import zipf_of
from blindspot.diagnostic import find_diagnostic
from blindspot.diagnostics.evalrank.pairs import rows_of_runs
from blindspot.diagnostics.evalrank.sources import find_sources
from blindspot.store.repository import Repository
from blindspot.types import Float64, Int64
from blindspot.variants import Variant

SEVERAL, SEVERAL_VALUES = "several sets", "several values"


class Color(StrEnum):
    NONE = "none"
    FREQUENCY = "frequency"
    MATCH = "rank of the match"
    CLUSTER = "cluster"
    SOURCE = "source"


@dataclass(frozen=True, eq=False)
class Numbers:
    """A number per item of the dataset, ``[n] float64``; ``lacking`` explains NaN.

    ``ends`` are the ends of the scale, by default the least and the greatest of these numbers.
    """

    values: Float64
    title: str
    lacking: str
    logarithmic: bool = False
    ends: tuple[float, float] | None = None

    @property
    def span(self) -> tuple[float, float]:
        """The ends of the scale."""
        if self.ends is not None:
            return self.ends
        there = self.values[~np.isnan(self.values)]
        return (float(there.min()), float(there.max())) if len(there) else (1.0, 1.0)

    def part(self, items: Int64) -> Numbers:
        """The numbers of some items, on the scale of all."""
        return replace(self, values=self.values[items], ends=self.span)


@dataclass(frozen=True, eq=False)
class Groups:
    """A group per item of the dataset: ``[n] int64`` into ``names``, -1 for none, which ``lacking`` explains."""

    codes: Int64
    names: tuple[str, ...]
    title: str
    lacking: str

    def part(self, items: Int64) -> Groups:
        return replace(self, codes=self.codes[items])


Coloring = Numbers | Groups


def by_frequency(dataset: Dataset) -> Numbers:
    """Zipf frequency by wordfreq; the mean over the words of a text."""
    zipf = zipf_of(dataset.items)
    return Numbers(np.where(zipf > 0, zipf, np.nan), "Zipf frequency", "have no word known to wordfreq")


def by_rank_of_match(
    dataset: Dataset, variant: Variant, params: dict[str, str], repository: Repository
) -> Numbers | None:
    """The expected raw rank of each query's best match in the variant's newest run on it; None without a run."""
    if not isinstance(dataset, PairSet):
        return None
    entry = find_diagnostic("evalrank")
    stored = repository.finished(entry, dataset=dataset.id, variants=[variant], params=params)
    runs = [run for run in stored if run.plan.dataset_digest == dataset.content_digest]
    if not runs or not repository.with_items(entry, [runs[0].run_id]):
        return None
    rows = rows_of_runs(entry, [runs[0].run_id], repository)[runs[0].run_id]
    counts = rows.counts(filtered=False)
    ranks = 1.0 + counts.greater + counts.ties / 2.0
    best = np.full(len(dataset.items), np.inf)
    np.minimum.at(best, dataset.queries[rows.item_no], ranks)
    return Numbers(np.where(np.isfinite(best), best, np.nan), "rank of the match", "are not queries", True)


def on_one_scale(numbers: Sequence[Numbers | None]) -> Sequence[Numbers | None]:
    """The numbers of several variants on one scale, so that a color means the same in all maps."""
    spans = [coloring.span for coloring in numbers if coloring is not None and not np.isnan(coloring.values).all()]
    if not spans:
        return numbers
    ends = min(low for low, _ in spans), max(high for _, high in spans)
    return [None if coloring is None else replace(coloring, ends=ends) for coloring in numbers]


def of_clusters(items: Int64, labels: Int64, total: int, whose: str) -> Groups:
    """Clusters ``labels`` of some ``items``, ``[m]`` each, as groups in a dataset of ``total`` items."""
    codes = np.full(total, -1, dtype=np.int64)
    codes[items] = labels
    names = tuple(f"cluster {i + 1}" for i in range(int(labels.max(initial=-1)) + 1))
    return Groups(codes, names, f"clusters of {whose}", "are in no cluster")


def by_source(dataset: PairSet, scored: ScoredPairs) -> Groups:
    """The source set of each item's pairs; items in pairs of several sets are a group of their own."""
    texts: Sequence[str] = dataset.items
    sources = find_sources([texts[i] for i in dataset.queries], [texts[i] for i in dataset.matches], scored)
    inside = np.zeros((len(texts), len(sources.names)), dtype=np.bool_)
    for column, name in enumerate(sources.names):
        pairs = sources.inside(name)
        inside[dataset.queries[pairs], column] = True
        inside[dataset.matches[pairs], column] = True
    count = inside.sum(axis=1)
    codes = np.where(count == 0, -1, np.where(count == 1, inside.argmax(axis=1), len(sources.names)))
    names = (*sources.names, SEVERAL)
    used = [i for i in range(len(names)) if (codes == i).any()]
    new_code = np.full(len(names) + 1, -1, dtype=np.int64)  # its last entry is that of -1
    new_code[used] = np.arange(len(used))
    return Groups(new_code[codes], tuple(names[i] for i in used), "source set", "have no known source")


def by_own_column(dataset: Dataset, column: OwnColumn) -> Groups:
    """The value that an own column of the file has in the rows of each text, the most frequent value first.

    Texts with different values in their rows are a group of their own; a text in no row has no group.
    """
    first = np.full(len(dataset.items), len(column.values), dtype=np.int64)
    last = np.full(len(dataset.items), -1, dtype=np.int64)
    for items in _items_of_rows(dataset):
        codes = np.repeat(column.codes.astype(np.int64), items.size // max(len(column.codes), 1))
        np.minimum.at(first, items.ravel(), codes)
        np.maximum.at(last, items.ravel(), codes)
    codes = np.where(first == last, last, np.where(last < 0, -1, len(column.values)))
    names = (*column.values, SEVERAL_VALUES)
    counts = np.bincount(codes[codes >= 0], minlength=len(names))
    last_ones = (EMPTY, SEVERAL_VALUES)
    used = sorted(np.flatnonzero(counts).tolist(), key=lambda code: (names[code] in last_ones, -counts[code]))
    new_code = np.full(len(names) + 1, -1, dtype=np.int64)  # its last entry is that of -1
    new_code[used] = np.arange(len(used))
    return Groups(new_code[codes], tuple(names[code] for code in used), column.name, "are in no row of the file")


def _items_of_rows(dataset: Dataset) -> list[Int64]:
    """Arrays ``[m]`` or ``[m, j]`` of numbers of items, an entry per row of the dataset."""
    if isinstance(dataset, MinimalPairSet):
        arrays = [dataset.originals, *dataset.rewrites.values()]
    elif dataset.item_columns:
        arrays = [getattr(dataset, name) for name in dataset.item_columns]
    else:  # its rows are its items
        arrays = [np.arange(len(dataset.items), dtype=np.int32)]
    return [array.astype(np.int64) for array in arrays if len(array)]
