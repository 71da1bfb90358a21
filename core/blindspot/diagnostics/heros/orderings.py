"""Orderings of HEROS's subsets: how often one rewrite is more similar to its original than another.

They follow from the stored cosines of a run. The rates are not in the paper (Chiang 2023). A dataset may have any
subsets, a user's own included.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import combinations

import numpy as np
import pandas as pd

from blindspot.diagnostics.heros.definition import ORDERINGS, Meaning, meaning_of, ordering_outcomes
from blindspot.diagnostics.heros.dependence import of_numbers, of_singles
from blindspot.errors import BlindspotError
from blindspot.numerics.ranking.problem import TAU
from blindspot.numerics.statistics.compare import (
    Outcomes,
    PairedTest,
    Verdict,
    compare,
    decide_chosen,
    share_by_item,
)
from blindspot.numerics.statistics.estimate import Sure
from blindspot.numerics.statistics.intervals import LEVEL, Interval
from blindspot.numerics.statistics.pairs import Dependence, sure_share
from blindspot.numerics.statistics.written import ci_in_words, interval, percent
from blindspot.texts import listed
from blindspot.types import Float64, Int64

MAX_LISTED = 12  # orderings of a user's own subsets: twenty of them would have 190
SPELLING = "typo"
HALF = 0.5


@dataclass(frozen=True)
class Ordering:
    """The claim that a rewrite of subset ``near`` is more similar to its original than the one of subset ``far``."""

    near: str
    far: str

    def __str__(self) -> str:
        return f"{self.near}>{self.far}"

    def in_words(self, name_of: Callable[[str], str]) -> str:
        """``synonym over antonym``; ``name_of`` puts a subset in words."""
        return f"{name_of(self.near)} over {name_of(self.far)}"


def listed_orderings(subsets: Sequence[str]) -> tuple[Ordering, ...]:
    """HEROS's orderings of these subsets; if there are none, all pairs of subsets, at most ``MAX_LISTED``.

    Pairs of a kept and a changed meaning come first, with the kept one as the nearer; in other pairs, the subset that
    comes first is the nearer.
    """
    orderings = [Ordering(near, far) for near, far in ORDERINGS if near in subsets and far in subsets]
    if orderings:
        return tuple(orderings)
    telling = _kept_over_changed(subsets)
    pairs = [Ordering(a, b) for a, b in combinations(subsets, 2)]
    others = [o for o in pairs if o not in telling and Ordering(o.far, o.near) not in telling]
    return tuple([*telling, *others][:MAX_LISTED])


def tested(subsets: Sequence[str]) -> tuple[Ordering, ...]:
    """The listed orderings that meaning demands: a rewrite that keeps it is nearer than one that changes it."""
    return tuple(
        ordering
        for ordering in listed_orderings(subsets)
        if meaning_of(ordering.near) is Meaning.KEPT and meaning_of(ordering.far) is Meaning.CHANGED
    )


def _kept_over_changed(subsets: Sequence[str]) -> list[Ordering]:
    """Every subset that keeps the meaning over every one that changes it."""
    kept, changed = ([s for s in subsets if meaning_of(s) is m] for m in (Meaning.KEPT, Meaning.CHANGED))
    return [Ordering(near, far) for near in kept for far in changed]


@dataclass(frozen=True, eq=False)
class Cosines:
    """A run's cosines of originals and rewrites, ``values [n, subsets] float64``.

    ``texts [n, 1 + subsets] int64`` are the numbers of each original's texts, its own first; equal texts share a
    number. None where no two originals share a text.
    """

    subsets: tuple[str, ...]
    values: Float64
    texts: Int64 | None = None

    @classmethod
    def of_rows(cls, rows: pd.DataFrame, same_texts: Int64, subsets: Sequence[str] | None = None) -> Cosines:
        """From one run's stored rows (columns ``item_no, original_no, rewrite_no, subset, cosine``), originals in the
        order of their numbers.

        Args:
            same_texts: of the dataset, as ``Repository.same_texts``.
            subsets: the columns in their order; by default the subsets of the rows, in the order of appearance.

        Raises:
            BlindspotError: a cosine is missing or not finite, or there are no rows.
        """
        names = list(rows["subset"].unique()) if subsets is None else list(subsets)
        table = rows.pivot(index="item_no", columns="subset", values="cosine").sort_index().reindex(columns=names)
        values = table.to_numpy(dtype=np.float64)
        if not values.size or not np.isfinite(values).all():
            raise BlindspotError(
                "the stored cosines of a run are not complete",
                expected="one for every original and subset",
                remedy="delete the run and run it again",
            )
        rewrites = rows.pivot(index="item_no", columns="subset", values="rewrite_no").loc[table.index, names]
        originals = rows.drop_duplicates("item_no").set_index("item_no")["original_no"].loc[table.index]
        return cls(tuple(names), values, same_texts[np.column_stack([originals, rewrites])])

    @property
    def originals(self) -> int:
        return len(self.values)

    @cached_property
    def dependence(self) -> Dependence:
        """Dependence of the originals: those that share a text, directly or through others, are one unit."""
        return of_singles(self.originals) if self.texts is None else of_numbers(self.texts)

    def of(self, subset: str) -> Float64:
        """The cosines of a subset's rewrites, ``[n]``."""
        return self.values[:, self.subsets.index(subset)]

    def outcomes(self, ordering: Ordering) -> Float64:
        """Per original ``[n]``: 1 where it has this order, 0 where it has the other, 0.5 at a tie."""
        return ordering_outcomes(self.of(ordering.near), self.of(ordering.far))


@dataclass(frozen=True)
class Rate:
    """The share of originals that have an order, ties counting half."""

    ordering: Ordering
    share: Sure


def rate(cosines: Cosines, ordering: Ordering, highest_of: int = 1) -> Rate:
    """How often a run has an order.

    Args:
        highest_of: the number of rates that this one is the highest of. It errs upward whenever one of them does, but
            hardly ever downward, so three quarters of the 5% are for upward errors of all of them (Bonferroni).
    """
    outcomes = cosines.outcomes(ordering)
    level = LEVEL if highest_of == 1 else 1 - 1.5 * (1 - LEVEL) / highest_of
    return Rate(ordering, sure_share(outcomes, cosines.dependence, level))


def win_rates(cosines: Cosines) -> Float64:
    """``[k, k]``: share of originals whose rewrite of the row's subset is nearer than the column's, ties half.

    ``w[a, b] + w[b, a] == 1``; the diagonal is NaN.
    """
    values = cosines.values
    k = values.shape[1]
    out = np.full((k, k), np.nan)
    for a in range(k):  # k columns at a time: all k x k at once would take n k^2 numbers
        lead = values[:, [a]] - values
        ties = np.abs(lead) <= TAU
        halves = 2 * np.count_nonzero((lead > 0) & ~ties, axis=0) + np.count_nonzero(ties, axis=0)
        out[a] = halves / (2 * len(values))
    np.fill_diagonal(out, np.nan)
    return out


# --- the headline


class Reading(StrEnum):
    """Whether an order against meaning holds in more than half of the originals, by its interval."""

    SURPRISING = "surprising"  # in more than half
    UNCLEAR = "unclear"
    AS_HOPED = "as hoped"  # in less than half


@dataclass(frozen=True)
class Finding:
    """The most frequent order against meaning: a rewrite that changes it is nearer than one that keeps it.

    Attributes:
        rate: its interval is corrected for the choice of the highest.
        out_of: the number of orders against meaning that it was chosen from.
    """

    rate: Rate
    out_of: int

    @property
    def reading(self) -> Reading:
        if self.rate.share.interval.low > HALF:
            return Reading.SURPRISING
        return Reading.AS_HOPED if self.rate.share.interval.high < HALF else Reading.UNCLEAR


def against_meaning(subsets: Sequence[str]) -> tuple[Ordering, ...]:
    """Every subset that changes the meaning as nearer than every one that keeps it.

    A typo is also a matter of spelling, so it counts only if no other subset keeps the meaning.
    """
    orderings = [Ordering(o.far, o.near) for o in _kept_over_changed(subsets)]
    return tuple([o for o in orderings if o.far.casefold() != SPELLING] or orderings)


def worst(cosines: Cosines) -> Finding | None:
    """The highest rate of an order against meaning; None if no subset's name tells whether it keeps the meaning.

    If eight shares are all one half, the highest one's own 95% interval is above one half in 15% of cases (150
    originals). So the interval here is for all of them at once.
    """
    candidates = against_meaning(cosines.subsets)
    rates = [rate(cosines, ordering, highest_of=len(candidates)) for ordering in candidates]
    return Finding(max(rates, key=lambda r: r.share.value), len(rates)) if rates else None


@dataclass(frozen=True)
class Contrast:
    """The order against meaning in which two of several variants differ most.

    Attributes:
        more, less: the variants' places.
        test: of the two, corrected for the number of orderings and pairs of variants among which this difference is the
            largest.
    """

    more: int
    less: int
    ordering: Ordering
    test: PairedTest


def contrast(variants: Sequence[Cosines]) -> Contrast | None:
    """The order in which the variants differ most, over the subsets that all have; None if they differ in no order."""
    shared = [s for s in variants[0].subsets if all(s in other.subsets for other in variants)]
    candidates = against_meaning(shared)
    if not candidates:
        return None
    places = range(len(variants))
    shares = {ordering: [float(cosines.outcomes(ordering).mean()) for cosines in variants] for ordering in candidates}
    widest = max(candidates, key=lambda o: np.ptp(shares[o]))
    more, less = (choose(places, key=lambda i: shares[widest][i]) for choose in (max, min))
    if shares[widest][more] == shares[widest][less]:
        return None
    dependence = variants[more].dependence
    two = [
        share_by_item(str(widest), variants[variant_number].outcomes(widest), dependence, Outcomes())
        for variant_number in (more, less)
    ]
    (test,) = compare([(two[0], two[1])])
    return Contrast(more, less, widest, decide_chosen(test, len(candidates) * math.comb(len(variants), 2)))


# --- in words, for the page and the command line alike


def finding_in_words(finding: Finding, variant: str, name_of: Callable[[str], str] = str) -> str:
    """One sentence, in terms of the right order; ``name_of`` puts a subset in words."""
    changed, kept = (name_of(subset) for subset in (finding.rate.ordering.near, finding.rate.ordering.far))
    share, sure = _right(finding.rate)
    weakest = f"Weakest of its {finding.out_of} orderings by meaning: " if finding.out_of > 1 else ""
    choice = f", corrected for this choice of {finding.out_of}" if finding.out_of > 1 else ""
    verdict = f": {NOT_BETTER[finding.reading]}" if finding.reading in NOT_BETTER else ""
    return (
        f"{weakest}{variant} finds the {kept} closer than the {changed} in {share} of the sentences "
        f"({ci_in_words(sure, '.1%')}{choice}){verdict}."
    )


NOT_BETTER = {
    Reading.SURPRISING: "worse than a coin toss",
    Reading.UNCLEAR: "not significantly better than a coin toss",
}


def share_in_words(finding: Finding, name_of: Callable[[str], str] = str) -> str:
    """Half a sentence: ``synonym closer than antonym in 17.0% (12.0 to 23.0%), worse than a coin toss``."""
    changed, kept = (name_of(subset) for subset in (finding.rate.ordering.near, finding.rate.ordering.far))
    share, sure = _right(finding.rate)
    verdict = f", {NOT_BETTER[finding.reading]}" if finding.reading in NOT_BETTER else ""
    return f"{kept} closer than {changed} in {share} ({interval(sure, '.1%')}){verdict}"


def _right(against: Rate) -> tuple[str, Interval]:
    """The share of the right order with its interval, from the rate of an order against meaning."""
    share = against.share
    return percent(1 - share.value, 1), Interval(1 - share.interval.high, 1 - share.interval.low)


MOST_NAMED = 3  # models; of more only their number


def contrast_in_words(contrast: Contrast, variants: Sequence[str], name_of: Callable[[str], str] = str) -> str:
    """One sentence; ``variants`` are the names of those that were compared, in their order."""
    names = listed(variants) if len(variants) <= MOST_NAMED else f"the {len(variants)} models"
    if contrast.test.verdict is Verdict.UNTESTED:
        return f"Not tested where {names} differ most: {contrast.test.refusal}."
    if contrast.test.verdict is Verdict.ALIKE:
        return f"No significant difference between {names} where they differ most."
    changed, kept = (name_of(subset) for subset in (contrast.ordering.near, contrast.ordering.far))
    who = "The two differ" if len(variants) == len({contrast.more, contrast.less}) else "The models differ"
    most, least = (percent(1 - share, 1) for share in (contrast.test.b, contrast.test.a))
    return (
        f"{who} most in how often the {kept} comes closer than the {changed}: in {most} of the sentences with "
        f"{variants[contrast.less]}, in {least} with {variants[contrast.more]}."
    )
