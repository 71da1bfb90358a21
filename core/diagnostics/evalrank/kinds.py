"""Kinds of pair, and the score on each: where a model does well, and where badly"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

import numpy as np
import pandas as pd

from core.datasets import word_frequency as frequency
from core.datasets.kinds import own_columns
from core.datasets.kinds.own_columns import OwnColumn
from core.diagnostics.evalrank.pairs import RunRows
from core.diagnostics.evalrank.sources import PairSources
from core.numerics.statistics.estimate import Estimate
from core.numerics.statistics.intervals import ALPHA, holm
from core.numerics.statistics.pairs import Dependence, difference, p_values, share
from core.texts import are_words, length, lexical_overlap
from core.types import Bool, Float64, Int32, Int64

FEW_PAIRS = 20  # a mean over fewer says little
MEASURES = ("mrr", "hits@1")


class Kind(StrEnum):
    OVERLAP = "overlap"
    LENGTH = "length"
    FREQUENCY = "frequency"
    SOURCE = "source"


@dataclass(frozen=True)
class Bin:
    """Values from ``low`` (in) to ``high`` (out)."""

    label: str
    low: float
    high: float


def _over(value: float) -> float:
    """The next float above: the low end of a bin that leaves ``value`` out."""
    return float(np.nextafter(value, np.inf))


OVERLAPS = (
    Bin("none", -np.inf, _over(0)),
    Bin("under 0.25", _over(0), 0.25),
    Bin("0.25 to 0.5", 0.25, 0.5),
    Bin("0.5 to 0.75", 0.5, 0.75),
    Bin("0.75 to 1", 0.75, 1.0),
    Bin("all words", 1.0, np.inf),
)


def _up_to(*ends: int) -> tuple[Bin, ...]:
    """Bins of lengths, upper ends included."""
    middle = (Bin(f"over {low} to {high}", _over(low), _over(high)) for low, high in pairwise(ends))
    first, last = Bin(f"up to {ends[0]}", -np.inf, _over(ends[0])), Bin(f"over {ends[-1]}", _over(ends[-1]), np.inf)
    return (first, *middle, last)


WORDS = _up_to(5, 10, 15, 20, 30)
LETTERS = _up_to(4, 6, 8, 10)
FREQUENCIES = tuple(Bin(band.label, band.low, band.high) for band in frequency.BANDS)


@dataclass(frozen=True, eq=False)
class Group:
    """Pairs of one kind: ``inside [m] bool``; ``side`` is ``pair``, or ``query`` or ``mate`` where both have a kind."""

    side: str
    label: str
    inside: Bool


@dataclass(frozen=True, eq=False)
class Grouping:
    """Groups of pairs.

    Attributes:
        axis: per side, in words, how its groups differ.
        ordered: whether the groups of a side have an order, so that a line may join them.
        groups: by side, in order, without empty ones; a pair may be in several sources, and one without words is in no
            bin of overlap.
    """

    axis: dict[str, str]
    ordered: bool
    groups: tuple[Group, ...]


def grouping(kind: Kind, queries: Sequence[str], mates: Sequence[str], sources: PairSources | None = None) -> Grouping:
    """Group pairs by a kind, given their texts. ``Kind.SOURCE`` needs ``sources``, else raises ``ValueError``."""
    if kind is Kind.OVERLAP:
        overlap = lexical_overlap(queries, mates)
        axis = {"pair": "share of words that query and match have in common"}
        return Grouping(axis, True, binned("pair", overlap, OVERLAPS))
    if kind is Kind.LENGTH:
        words_only = are_words([*queries, *mates])
        long = _known_once(queries, mates, len if words_only else length)
        axis = {"pair": f"{'letters' if words_only else 'words'} per text, mean of query and match"}
        return Grouping(axis, True, binned("pair", long, LETTERS if words_only else WORDS))
    if kind is Kind.FREQUENCY:
        axis = {
            "query": "frequency of the query, per million words",
            "mate": "frequency of the match, per million words",
        }
        sides = {"query": queries, "mate": mates}
        groups = [g for side, texts in sides.items() for g in binned(side, frequency.zipf_of(texts), FREQUENCIES)]
        return Grouping(axis, True, tuple(groups))
    if sources is None:
        raise ValueError("the sources of the pairs are needed")
    groups = [Group("pair", name, sources.inside(name)) for name in sources.names]
    groups.append(Group("pair", "none of them", ~sources.known))
    return Grouping({"pair": "source set"}, False, tuple(g for g in groups if g.inside.any()))


def grouping_of(column: OwnColumn, item_numbers: Int64) -> Grouping:
    """Group pairs ``[m]`` by an own column of their file: a group per value, the largest first, without one last."""
    groups = tuple(Group("pair", value, inside) for value, inside in column.groups(item_numbers))
    return Grouping({"pair": column.name}, False, groups)


def choices_of(columns: Sequence[OwnColumn]) -> dict[str, OwnColumn]:
    """Own columns by the name under which they are chosen beside the kinds: their own where that is none of these."""
    return own_columns.choices_of(columns, list(map(str, Kind)))


def _known_once(queries: Sequence[str], mates: Sequence[str], measure: Callable[[str], int]) -> Float64:
    """Mean over query and mate of a measure of a text, each text measured once, ``[m] float64``."""
    known = {text: measure(text) for text in {*queries, *mates}}
    return np.array([(known[q] + known[m]) / 2 for q, m in zip(queries, mates, strict=True)], dtype=np.float64)


def binned(side: str, values: Float64, bins: Sequence[Bin]) -> tuple[Group, ...]:
    """The bins that hold a pair, by a value per pair ``[m]``; NaN is in none."""
    groups = (Group(side, b.label, np.asarray((values >= b.low) & (values < b.high))) for b in bins)
    return tuple(g for g in groups if g.inside.any())


def scores_by_kind(
    groups: Grouping,
    rows: RunRows,
    item_numbers: Int64,
    queries: Int32 | Int64,
    mates: Int32 | Int64,
    *,
    filtered: bool,
) -> pd.DataFrame:
    """The scores of a run on each kind of pair.

    Args:
        item_numbers: ``[m]``, numbers of the groups' pairs; a pair that the run did not rank is in no mean.
        queries, mates: ``[m]``, numbers of each pair's texts: pairs that share one are not independent.

    Returns:
        A row per group: ``side, label, pairs, independent, mrr, mrr_low, mrr_high, hits@1, hits@1_low, hits@1_high``:
        the effective number of independent pairs, the mean and its 95% interval (``core.numerics.statistics.pairs``),
        NaN where there is none.
    """
    values = rows.aligned(item_numbers, filtered)
    ranked = values["mrr"].notna().to_numpy()
    out = []
    for group in groups.groups:
        inside = group.inside & ranked
        row: dict[str, object] = {"side": group.side, "label": group.label, "pairs": int(inside.sum())}
        row |= {"independent": 0} | {f"{m}{end}": np.nan for m in MEASURES for end in ("", "_low", "_high")}
        if inside.any():
            known = Dependence.of(queries[inside].astype(np.int64), mates[inside].astype(np.int64))
            row["independent"] = max(1, round(known.effective))
            for measure in MEASURES:
                found = share(values[measure].to_numpy()[inside], known)
                row[measure] = found.value
                if found.interval is not None:
                    row[f"{measure}_low"], row[f"{measure}_high"] = found.interval.low, found.interval.high
        out.append(row)
    return pd.DataFrame(out)


# --- where B gains and loses most


@dataclass(frozen=True, eq=False)
class Gain:
    """The paired difference of two runs, B less A, over the pairs of one group.

    Attributes:
        by: the way of grouping, by its name.
        estimate: with the 95% interval of this difference alone.
        p: two-sided, corrected over all groups that were tested (Holm).
        pairs: how many the group has.
    """

    by: str
    group: Group
    estimate: Estimate
    p: float
    pairs: int


@dataclass(frozen=True, eq=False)
class Gains:
    """The groups of all ways of grouping that were tested; ``gain`` and ``loss`` are the largest surer than chance."""

    tested: tuple[Gain, ...]

    @property
    def gain(self) -> Gain | None:
        return self._largest(1.0)

    @property
    def loss(self) -> Gain | None:
        return self._largest(-1.0)

    def _largest(self, sign: float) -> Gain | None:
        sure = [one for one in self.tested if one.p < ALPHA and sign * one.estimate.value > 0]
        return max(sure, key=lambda one: sign * one.estimate.value, default=None)


def gains(
    groupings: Mapping[str, Grouping], a: Float64, b: Float64, queries: Int32 | Int64, mates: Int32 | Int64
) -> Gains:
    """Compare two runs on every group of pairs, by all ways of grouping at once.

    Groups of fewer than ``FEW_PAIRS`` pairs, or worth too few independent ones, are not tested.

    Args:
        groupings: by name.
        a, b: ``[m]``, the values of the runs' pairs within 0 to 1; NaN where one of them did not rank a pair.
        queries, mates: as in ``scores_by_kind``.
    """
    both = ~np.isnan(a + b)
    found: list[tuple[str, Group, Estimate, float, int]] = []
    for by, groups in groupings.items():
        for group in groups.groups:
            inside = group.inside & both
            if (pairs := int(np.count_nonzero(inside))) < FEW_PAIRS:
                continue
            known = Dependence.of(queries[inside].astype(np.int64), mates[inside].astype(np.int64))
            if not known.refusal:
                p = p_values((b[inside] - a[inside])[:, np.newaxis], known)
                found.append((by, group, difference(b[inside], a[inside], known), float(p[0]), pairs))
    corrected = holm(np.array([p for *_, p, _ in found])) if found else ()
    return Gains(
        tuple(
            Gain(by, group, estimate, float(p), pairs)
            for (by, group, estimate, _, pairs), p in zip(found, corrected, strict=True)
        )
    )


# --- by the frequency of query and mate: each side alone, and both together

UNKNOWN = "not counted"  # the band of items without a count
LABELS = (UNKNOWN, *(band.label for band in FREQUENCIES))
SIDES = ("query", "mate")


@dataclass(frozen=True, eq=False)
class Bands:
    """The same pairs grouped by the band of each side, and by both bands.

    ``places`` has per group of ``cells`` the query's band and the mate's band, as places in ``LABELS``.
    """

    sides: Grouping
    cells: Grouping
    places: tuple[tuple[int, int], ...]


def by_bands(queries: Float64, mates: Float64) -> Bands:
    """Group pairs by the Zipf frequencies of their queries ``[m]`` and mates ``[m]``, NaN where they are unknown.

    The bands are ``word_frequency.BANDS``, and one of unknown frequencies.
    """
    numbers = {side: _band(values) for side, values in zip(SIDES, (queries, mates), strict=True)}
    bins = tuple(Bin(label, place, place + 1) for place, label in enumerate(LABELS))
    groups = [group for side in SIDES for group in binned(side, numbers[side], bins)]
    axis = {side: f"{side}, per million" for side in SIDES}
    of_query, of_mate = numbers["query"], numbers["mate"]
    cells, places = [], []
    for i, query_label in enumerate(LABELS):
        for j, mate_label in enumerate(LABELS):
            inside = np.asarray((of_query == i) & (of_mate == j))
            if inside.any():
                cells.append(Group("pair", f"{query_label} and {mate_label}", inside))
                places.append((i, j))
    both = {"pair": "query and mate, per million"}
    return Bands(Grouping(axis, True, tuple(groups)), Grouping(both, False, tuple(cells)), tuple(places))


def _band(zipf: Float64) -> Float64:
    """Place in ``LABELS`` of each value, ``[m] float64``."""
    edges = np.array([band.low for band in FREQUENCIES[1:]])
    return np.where(np.isnan(zipf), 0.0, 1.0 + np.searchsorted(edges, zipf, side="right"))
