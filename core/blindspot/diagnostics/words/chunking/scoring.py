"""Scores of chunking: F1 of phrases by the rules of CoNLL-2000, with intervals and tests over sentences.

A phrase counts as found if its first word, its last word and its kind are right. Sentences are independent, and those
that say the same are one. F1 is not a mean over them, so its interval is a bootstrap of sentences and its test Yeh's
(2000): approximate randomization, which swaps the answers of two models sentence by sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from blindspot.datasets.kinds.chunked import chunks_of
from blindspot.numerics.statistics.estimate import Estimate, Unit
from blindspot.numerics.statistics.intervals import level_of_each, percentile_interval
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.numerics.statistics.resampling import RESAMPLES, bootstrap_sums, sums_within, swap_p_value
from blindspot.types import Float64, Int64

FEWEST = 20  # independent sentences for an interval
FEWEST_BEYOND = 10  # resamples beyond either end of an interval
HOW = f"bootstrap of sentences, {RESAMPLES:,} resamples"
RIGHT, FOUND, GIVEN = range(3)


@dataclass(frozen=True, eq=False)
class Counts:
    """Phrases per sentence and kind.

    Attributes:
        kinds: of phrases, in the order of their names.
        values: ``[s, k, 3] int64``: phrases found right, found at all, and given.
    """

    kinds: tuple[str, ...]
    values: Int64

    @classmethod
    def of(cls, given: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> Counts:
        """Count phrases in the tags of sentences, as people gave them and as they were predicted."""
        gold, predicted_chunks = [chunks_of(tags) for tags in given], [chunks_of(tags) for tags in predicted]
        kinds = tuple(sorted({kind for some in (gold, predicted_chunks) for sentence in some for *_, kind in sentence}))
        column_of = {kind: i for i, kind in enumerate(kinds)}
        values = np.zeros((len(gold), len(kinds), 3), dtype=np.int64)
        for row, ours, theirs in zip(values, gold, predicted_chunks, strict=True):
            right = set(ours)
            for phrase in theirs:
                row[column_of[phrase[2]], FOUND] += 1
                row[column_of[phrase[2]], RIGHT] += phrase in right
            for phrase in ours:
                row[column_of[phrase[2]], GIVEN] += 1
        return cls(kinds, values)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def sentences(self) -> Int64:
        """Counts per sentence ``[s, 3]``, over all kinds."""
        return np.asarray(self.values.sum(axis=1), dtype=np.int64)

    @property
    def of_kinds(self) -> Int64:
        """Counts per kind ``[k, 3]``, over all sentences."""
        return np.asarray(self.values.sum(axis=0), dtype=np.int64)

    def estimate(self, dependence: Dependence) -> Estimate:
        """F1 over all phrases; ``dependence`` is ``dependence_of`` the sentences."""
        return estimate_of(self.sentences, dependence)


def dependence_of(sentences: Iterable[str]) -> Dependence:
    """Which sentences are independent: a sentence that occurs twice has the same tags twice."""
    return Dependence.of_texts(sentences, unit=Unit.SENTENCES)


def f1(sums: Int64 | Float64) -> Float64:
    """``2 right / (found + given)`` of sums ``[..., 3]``; NaN where no phrase is given and none is found."""
    both = np.asarray(sums[..., FOUND] + sums[..., GIVEN], dtype=np.float64)
    right = 2.0 * np.asarray(sums[..., RIGHT], dtype=np.float64)
    return np.asarray(np.divide(right, both, out=np.full(both.shape, np.nan), where=both > 0))


def of_sentences(sums: Int64 | Float64) -> Float64:
    """F1 of single sentences ``[s]``; 1 where no phrase is given and none is found."""
    f1_here = f1(sums)
    return np.where(np.isnan(f1_here), 1.0, f1_here)


def estimate_of(sums: Int64 | Float64, dependence: Dependence, among: int = 1) -> Estimate:
    """F1 of sentences' counts ``[s, 3]``, with an interval that holds for ``among`` of them at once."""
    drawn = f1(bootstrap_sums(sums_within(sums.astype(np.float64), dependence.groups)))
    return _estimate(float(f1(sums.sum(axis=0))), drawn, dependence, among)


def difference_of(
    first: Int64 | Float64, second: Int64 | Float64, dependence: Dependence, among: int = 1
) -> tuple[Estimate, float]:
    """F1 of the first minus F1 of the second, on the same sentences ``[s, 3]``, and Yeh's p-value; ``among`` as in
    ``pairs.difference``."""
    sums_a, other = (sums_within(sums.astype(np.float64), dependence.groups) for sums in (first, second))
    both = np.concatenate([sums_a, other], axis=1)

    def apart(sums: Float64) -> Float64:
        return f1(sums[..., :3]) - f1(sums[..., 3:])

    estimate = _estimate(float(apart(both.sum(axis=0))), apart(bootstrap_sums(both)), dependence, among)
    return estimate, swap_p_value(sums_a, other, f1)


def _estimate(value: float, drawn: Float64, dependence: Dependence, among: int) -> Estimate:
    level, refusal, worth = level_of_each(among), "", round(dependence.effective)
    if worth < FEWEST or not np.isfinite(drawn).all():
        refusal = f"{worth:,} independent sentences are too few for an interval"
    elif len(drawn) * (1 - level) / 2 < FEWEST_BEYOND:
        refusal = f"{len(drawn):,} resamples are too few for {among:,} intervals at once"
    interval = None if refusal else percentile_interval(drawn, value, level)
    return Estimate(value, interval, HOW, dependence.unit, dependence.units, dependence.effective, refusal, level)
