"""Views of frequency: hubs, the same on the page Frequency and by the command ``hubs``; the classifier; bands."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from blindspot.diagnostics.evalrank.kinds import UNKNOWN, Bands, by_bands, scores_by_kind
from blindspot.diagnostics.evalrank.pairs import PairTable
from blindspot.diagnostics.frequency import classes
from blindspot.diagnostics.frequency.hubness import Lists
from blindspot.numerics.neighbors.hubness import Chance, Hubness, Tail, by_chance, tail
from blindspot.numerics.statistics.association import Correlation, spearman
from blindspot.numerics.statistics.estimate import Estimate, Measured
from blindspot.numerics.statistics.groups import FEW
from blindspot.numerics.statistics.intervals import Interval
from blindspot.runs.spaces import Space
from blindspot.types import Float64, Int64
from blindspot.variants import Variant

LARGEST = 10  # hubs that the command lists


@dataclass(frozen=True)
class ListedItem:
    """An item, the number of lists that it is in, and that number divided by the average."""

    item_no: int
    text: str
    occurrences: int
    times_average: float


@dataclass(frozen=True)
class Neighbor:
    """An item on a list, its rank and similarity there, and the number of lists that it is in itself."""

    rank: int
    similarity: float
    occurrences: int
    text: str


@dataclass(frozen=True, eq=False)
class Hubs:
    """How unevenly items occur in the lists of a model's k nearest neighbors, beside random vectors.

    Items are numbers into ``lists.places`` unless they are called ``item_no``.

    Attributes:
        counts: ``[q] int64``, lists that each item is in.
        random_counts: the same for as many random vectors of the same dimension.
    """

    space: Space
    lists: Lists
    k: int
    counts: Int64
    random_counts: Int64

    @property
    def variant(self) -> Variant:
        return self.space.variant

    @cached_property
    def hubness(self) -> Hubness:
        return Hubness.of(self.counts, self.k)

    @cached_property
    def random(self) -> Hubness:
        return Hubness.of(self.random_counts, self.k)

    @cached_property
    def tied(self) -> float:
        """Share of the lists whose k-th and next neighbor are equally near."""
        return self.lists.tied(self.k)

    @property
    def by_chance(self) -> Chance:
        """The hubness expected of lists drawn at random."""
        return by_chance(len(self.counts), self.k)

    @property
    def zero_vectors(self) -> int:
        """Items without a list: with cosine, zero vectors have no direction."""
        return self.lists.total - len(self.counts)

    @property
    def tail(self) -> Tail:
        return tail(self.counts)

    @property
    def random_tail(self) -> Tail:
        return tail(self.random_counts)

    @cached_property
    def numbers(self) -> Int64:
        """``[q]``, numbers of the items in the dataset."""
        return self.space.items[self.lists.places]

    def with_frequency(self, zipf: Float64) -> Correlation:
        """Spearman's rank correlation with the frequencies of the space's items, ``[total]``; NaN is unknown."""
        of_listed = zipf[self.lists.places]
        has_frequency = ~np.isnan(of_listed)
        return spearman(of_listed[has_frequency], self.counts[has_frequency].astype(np.float64))

    def largest(self, most: int = LARGEST) -> list[ListedItem]:
        """The items that are in most lists."""
        return self._listed(np.argsort(-self.counts, kind="stable")[:most].tolist())

    def never_listed(self, zipf: Float64, most: int) -> list[ListedItem]:
        """Items in no list, the most frequent first, those of unknown frequency last."""
        never = np.flatnonzero(self.counts == 0)
        of_never = zipf[self.lists.places[never]]
        order = np.argsort(-np.where(np.isnan(of_never), -np.inf, of_never), kind="stable")
        return self._listed(never[order][:most].tolist())

    def item(self, item_no: int) -> int | None:
        """An item by its number in the dataset; None where it has no list."""
        places = np.flatnonzero(self.numbers == item_no)
        return int(places[0]) if len(places) else None

    def listed(self, item: int) -> ListedItem:
        return self._listed([item])[0]

    def neighbors(self, item: int) -> list[Neighbor]:
        """The item's own list."""
        nearest, similarity = (values[item, : self.k] for values in (self.lists.nearest, self.lists.similarity))
        return self._neighbors(nearest.tolist(), range(1, len(nearest) + 1), similarity.tolist())

    def listed_by(self, item: int, most: int) -> list[Neighbor]:
        """The items whose lists it is in and its rank there, the highest ranks first."""
        askers, ranks = (values[:most] for values in self.lists.listed_by(item, self.k))
        return self._neighbors(askers.tolist(), ranks.tolist(), self.lists.similarity[askers, ranks - 1].tolist())

    def as_json(self) -> dict[str, Any]:
        """Shares are fractions, undefined values None."""
        return {
            "encoder": self.variant.encoder,
            "transform": self.variant.transform,
            "k": self.k,
            "items": len(self.counts),
            "zero_vectors": self.zero_vectors,
            **_scores(self.hubness),
            "tied_lists": self.tied,
            "random_vectors": _scores(self.random),
            "random_lists": {"skewness": _or_none(self.by_chance.skewness), "never_listed": self.by_chance.never},
            "top": [vars(hub) for hub in self.largest()],
        }

    def _listed(self, items: Sequence[int]) -> list[ListedItem]:
        mean = self.counts.mean()
        return [
            ListedItem(int(self.numbers[i]), self._text(i), int(self.counts[i]), float(self.counts[i] / mean))
            for i in items
        ]

    def _neighbors(self, items: Sequence[int], ranks: Sequence[int], similarity: Sequence[float]) -> list[Neighbor]:
        return [
            Neighbor(rank, value, int(self.counts[i]), self._text(i))
            for i, rank, value in zip(items, ranks, similarity, strict=True)
        ]

    def _text(self, item: int) -> str:
        return self.space.dataset.items[int(self.numbers[item])]


def hubs_view(spaces: Sequence[tuple[Space, Lists, Lists]], k: int) -> tuple[Hubs, ...]:
    """The hubs of some spaces over the same items, each with its lists and those of random vectors.

    Args:
        k: neighbors per list; lowered to the shortest lists of any space, so that all are compared at one k.
    """
    k = min([k, *(lists.longest for _, lists, _ in spaces)])
    return tuple(Hubs(space, lists, k, lists.occurrences(k), random.occurrences(k)) for space, lists, random in spaces)


@dataclass(frozen=True)
class Told:
    """How well a classifier tells frequent items from rare ones by their vectors, over all thresholds.

    Attributes:
        control: mean accuracy with shuffled labels.
        least, most: accuracy at any threshold.
    """

    mean: Estimate
    control: float
    least: float
    most: float


def told(rows: pd.DataFrame) -> Told:
    """Summarize a row per threshold, as ``ENTRY`` stores them."""
    accuracy = rows["accuracy"]
    mean = classes.mean_estimate(float(accuracy.mean()), int(rows["words_per_class"].iloc[0]))
    return Told(mean, float(rows["control"].mean()), float(accuracy.min()), float(accuracy.max()))


@dataclass(frozen=True, eq=False)
class BandsView:
    """EvalRank by bands of frequency: the scores of each run by the band of either side, and by both bands.

    Attributes:
        left_out: number of pairs with a text that has no vector.
    """

    bands: Bands
    sides: Mapping[str, pd.DataFrame]
    cells: Mapping[str, pd.DataFrame]
    left_out: int

    def ends(self, run: str, measure: str) -> list[tuple[str, Measured]]:
        """The rarest and the most frequent band of queries with enough pairs, and the run's score on each; none if
        there is only one such band."""
        sides = self.sides[run]
        bands = sides[(sides["side"] == "query") & (sides["label"] != UNKNOWN) & (sides["pairs"] >= FEW)]
        if len(bands) < 2:
            return []
        values, lows, highs = (bands[name].iloc[[0, -1]] for name in (measure, f"{measure}_low", f"{measure}_high"))
        return [
            (label, Measured(value, None if math.isnan(low) else Interval(low, high)))
            for label, value, low, high in zip(bands["label"].iloc[[0, -1]], values, lows, highs, strict=True)
        ]

    def highest(self, measure: str) -> float:
        """The highest score of a cell with enough pairs; 0 without such a cell."""
        enough = [frame[measure][frame["pairs"] >= FEW].max() for frame in self.cells.values()]
        return float(np.nanmax([0.0, *enough]))


def bands_view(pairs: PairTable, items: Int64, zipf: Float64, *, filtered: bool) -> BandsView:
    """The scores on pairs with both texts among ``items [k]``, ascending, with frequencies ``zipf [k]``."""
    query, match = (pairs.frame[name].to_numpy() for name in ("query_no", "match_no"))
    inside = np.isin(query, items) & np.isin(match, items)
    dependence = pairs.dependence.among(inside)
    bands = by_bands(*(zipf[np.searchsorted(items, side[inside])] for side in (query, match)))
    rows = pairs.rows.items()
    sides, cells = (
        {
            run: scores_by_kind(groups, run_rows, pairs.numbers[inside], dependence, filtered=filtered)
            for run, run_rows in rows
        }
        for groups in (bands.sides, bands.cells)
    )
    return BandsView(bands, sides, cells, int(np.count_nonzero(~inside)))


def _scores(of: Hubness) -> dict[str, float | int | None]:
    return {
        "skewness": _or_none(of.skewness),
        "never_listed": of.never,
        "hubs": of.hubs,
        "in_hubs": of.in_hubs,
        "most": of.most,
    }


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value
