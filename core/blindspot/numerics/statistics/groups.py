"""Groups of pairs or queries: a score on each, and the groups on which one of two runs gains or loses most."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from blindspot.numerics.statistics.compare import ItemScores, PairedTest, Verdict, compare, decide, on_shared_items
from blindspot.numerics.statistics.pairs import Dependence, share
from blindspot.types import Bool, Float64, Int64

FEW = 20  # a mean over fewer says little


@dataclass(frozen=True)
class Bin:
    """Values from ``low`` (in) to ``high`` (out)."""

    label: str
    low: float
    high: float


def over(value: float) -> float:
    """The next float above ``value``: the low end of a bin that leaves it out."""
    return float(np.nextafter(value, np.inf))


def up_to(*ends: int) -> tuple[Bin, ...]:
    """Bins of lengths, upper ends included."""
    middle = (Bin(f"over {low} to {high}", over(low), over(high)) for low, high in pairwise(ends))
    first, last = Bin(f"up to {ends[0]}", -np.inf, over(ends[0])), Bin(f"over {ends[-1]}", over(ends[-1]), np.inf)
    return (first, *middle, last)


def whole(*ends: int) -> tuple[Bin, ...]:
    """Bins of whole numbers, both ends included, from the first of ``ends`` on: 1, 2, 5 give 1, 2, 3 to 5, over 5."""
    out = [Bin(f"{ends[0]:,}", ends[0], over(ends[0]))]
    for low, high in pairwise(ends):
        out.append(Bin(f"{high:,}" if high == low + 1 else f"{low + 1:,} to {high:,}", over(low), over(high)))
    return (*out, Bin(f"over {ends[-1]:,}", over(ends[-1]), np.inf))


SHARES = (
    Bin("none", -np.inf, over(0)),
    Bin("under 0.25", over(0), 0.25),
    Bin("0.25 to 0.5", 0.25, 0.5),
    Bin("0.5 to 0.75", 0.5, 0.75),
    Bin("0.75 to 1", 0.75, 1.0),
    Bin("all words", 1.0, np.inf),
)


@dataclass(frozen=True, eq=False)
class Group:
    """Rows of one kind: ``inside [m] bool``; ``side`` is what has the kind: ``pair``, ``query`` or ``match``."""

    side: str
    label: str
    inside: Bool


@dataclass(frozen=True, eq=False)
class Grouping:
    """Groups of rows.

    Attributes:
        axis: per side, in words, how its groups differ.
        ordered: whether the groups of a side have an order, so that a line may join them.
        groups: by side, in order, without empty ones; a row may be in several groups, or in none.
    """

    axis: dict[str, str]
    ordered: bool
    groups: tuple[Group, ...]


def by_value(side: str, axis: str, groups: Iterable[tuple[str, Bool]]) -> Grouping:
    """Rows grouped by a value without an order, given which rows have each value, ``[m] bool``."""
    return Grouping({side: axis}, False, tuple(Group(side, value, inside) for value, inside in groups))


def binned(side: str, values: Float64, bins: Sequence[Bin]) -> tuple[Group, ...]:
    """The bins that hold a row, by a value per row ``[m]``; NaN is in none."""
    groups = (Group(side, b.label, np.asarray((values >= b.low) & (values < b.high))) for b in bins)
    return tuple(g for g in groups if g.inside.any())


def scores(groups: Grouping, values: Mapping[str, Float64], rows: Dependence, unit: str) -> list[dict[str, object]]:
    """The scores on each group.

    Args:
        values: by score, ``[m]`` within 0 to 1; NaN, in all scores alike, where a row has no score.
        rows: which rows are independent.
        unit: name of the column with the number of rows.

    Returns:
        A record per group: ``side, label``, ``unit``, ``independent`` (the effective number of independent rows), and
        per score its mean and its 95% interval as ``{score}_low`` and ``{score}_high``, NaN where there is none.
    """
    has_value = ~np.isnan(next(iter(values.values())))
    out = []
    for group in groups.groups:
        inside = group.inside & has_value
        row: dict[str, object] = {"side": group.side, "label": group.label, unit: int(inside.sum())}
        row |= {"independent": 0} | {f"{m}{end}": np.nan for m in values for end in ("", "_low", "_high")}
        if inside.any():
            units = rows.among(inside)
            row["independent"] = max(1, round(units.effective))
            for measure, of_rows in values.items():
                estimate = share(of_rows[inside], units)
                row[measure] = estimate.value
                if estimate.interval is not None:
                    row[f"{measure}_low"], row[f"{measure}_high"] = estimate.interval.low, estimate.interval.high
        out.append(row)
    return out


# --- where B gains and loses most


@dataclass(frozen=True, eq=False)
class Gain:
    """The paired test of B against A over the rows of one group.

    Attributes:
        by: the way of grouping, by its name.
        test: corrected over all tested groups (Holm), with an interval that holds for all of these at once, since the
            largest gains and losses are shown.
    """

    by: str
    group: Group
    test: PairedTest

    @property
    def rows(self) -> int:
        return self.test.wins + self.test.losses + self.test.alike


@dataclass(frozen=True, eq=False)
class Gains:
    """The tested groups of all ways of grouping; ``gain`` and ``loss`` are the largest significant ones."""

    tested: tuple[Gain, ...]

    @property
    def gain(self) -> Gain | None:
        return self._largest(Verdict.BETTER)

    @property
    def loss(self) -> Gain | None:
        return self._largest(Verdict.WORSE)

    def _largest(self, verdict: Verdict) -> Gain | None:
        sure = [tested for tested in self.tested if tested.test.verdict is verdict]
        return max(sure, key=lambda gain: abs(gain.test.value), default=None)


def gains(groupings: Mapping[str, Grouping], numbers: Int64, a: ItemScores, b: ItemScores) -> Gains:
    """Compare two runs on every group, by all ways of grouping at once.

    Groups of fewer than ``FEW`` items, or worth too few independent ones, are not tested.

    Args:
        groupings: by name.
        numbers: ``[m]`` of the items that are grouped.
        a, b: the runs' scores of one name.
    """
    a, b = on_shared_items(a, b)
    scores_of_groups: list[tuple[str, Group, ItemScores]] = []
    for by, groups in groupings.items():
        for group in groups.groups:
            inside = np.isin(a.numbers, numbers[group.inside])
            if np.count_nonzero(inside) >= FEW and not (of := b.among(b.numbers[inside])).known.refusal:
                scores_of_groups.append((by, group, of))
    tests = decide(compare([(of, a.among(of.numbers)) for *_, of in scores_of_groups], at_once=len(scores_of_groups)))
    return Gains(tuple(Gain(by, group, test) for (by, group, _), test in zip(scores_of_groups, tests, strict=True)))
