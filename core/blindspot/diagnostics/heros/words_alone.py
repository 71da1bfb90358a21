"""Scores of words alone on HEROS's originals, beside a model's: by kind of change, with a paired test.

The score is the share of originals whose right rewrite is nearest, where a dataset has one (``definition.RIGHT``), else
the share of the orderings that meaning demands. Originals that share a text depend on each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from blindspot.datasets.kinds.own_columns import OwnColumn
from blindspot.diagnostics.heros.browsing import Sentences
from blindspot.diagnostics.heros.definition import picks, right_of
from blindspot.diagnostics.heros.dependence import of_numbers
from blindspot.diagnostics.heros.orderings import HALF, Cosines, tested
from blindspot.numerics.statistics import pairs as statistics
from blindspot.numerics.statistics.estimate import Estimate
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.numerics.words_alone import Words, similarities
from blindspot.runs.findings.baselines import ALL, AgainstWords, best_rival, share_and_chance
from blindspot.texts import numbered
from blindspot.types import Bool, Float64, Int64


@dataclass(frozen=True, eq=False)
class Alone:
    """What words alone say about originals.

    Attributes:
        outcomes: per measure ``[n] float64`` from 0 to 1; the score is their mean.
        dependence: of the originals.
        chance: the score of guessing.
        cosines: per measure the similarities themselves.
    """

    outcomes: Mapping[Words, Float64]
    dependence: Dependence
    chance: float
    cosines: Mapping[Words, Cosines]

    def scores(self, inside: Bool) -> dict[Words, Estimate]:
        """The score of each measure on the originals inside, ``[n] bool``."""
        dependence = self.dependence.among(inside)
        return {words: statistics.share(outcomes[inside], dependence) for words, outcomes in self.outcomes.items()}


def is_scored(subsets: Sequence[str]) -> bool:
    """Whether the names of the subsets tell which rewrites should be nearer."""
    return bool(right_of(subsets) or tested(subsets))


def judged(subsets: Sequence[str]) -> str:
    """What the score is a share of, in the plural: sentences or, where each is in several orderings, comparisons."""
    return "sentences" if right_of(subsets) or len(tested(subsets)) == 1 else "comparisons"


def score_in_words(subsets: Sequence[str]) -> str:
    """The score in a sentence, for ``baselines.in_words``; the page's headline is about the weakest ordering alone."""
    if right := right_of(subsets):
        how = f"closest of all {n} rewrites" if (n := len(subsets)) > 2 else "closer than the other rewrite"
        return f"finds the {right} {how} in {{}} of the sentences"
    over_all = f", over the {n} orderings that have a right answer" if (n := len(tested(subsets))) > 1 else ""
    return f"gets {{}} of the {judged(subsets)} right{over_all}"


def outcomes(cosines: Cosines) -> Float64:
    """The originals' outcomes ``[n]``; the score is their mean. Raises ``ValueError`` where ``is_scored`` is false."""
    if right := right_of(cosines.subsets):
        return picks(cosines.values, cosines.subsets.index(right))
    if not (orderings := tested(cosines.subsets)):
        raise ValueError("no subset is known to keep or to change the meaning")
    return np.asarray(np.mean([cosines.outcomes(ordering) for ordering in orderings], axis=0))


def of_words(sentences: Sentences) -> Alone:
    """The score's outcomes by each measure of words."""
    n, k = len(sentences.originals), len(sentences.subsets)
    firsts = [text for text in sentences.originals for _ in range(k)]
    seconds = [text for rewrites in sentences.rewrites for text in rewrites]
    measured = similarities(firsts, seconds)
    alone = {words: Cosines(sentences.subsets, values.reshape(n, k)) for words, values in measured.items()}
    original, rewrites = numbered(sentences.originals, seconds)
    by_words = of_numbers(np.column_stack([original, rewrites.reshape(n, k)]))
    return Alone(
        {words: outcomes(scores) for words, scores in alone.items()}, by_words, by_chance(sentences.subsets), alone
    )


def by_chance(subsets: Sequence[str]) -> float:
    """The score of guessing: which of the rewrites is right, or which of two is nearer."""
    return 1.0 / len(subsets) if right_of(subsets) else HALF


def kinds_of(numbers: Int64, column: OwnColumn | None) -> list[tuple[str, Bool]]:
    """All originals, then those of each value of a column, by their numbers ``[n]``."""
    every = [(ALL, np.ones(len(numbers), dtype=np.bool_))]
    return every if column is None else [*every, *column.groups(numbers)]


def against(model: Float64, alone: Alone, kind: str, inside: Bool) -> AgainstWords:
    """A model's outcomes ``[n]`` against those of the measure that is best on the originals inside, ``[n] bool``."""
    dependence, of_model = alone.dependence.among(inside), model[inside]
    scores = alone.scores(inside)
    best = max(scores, key=lambda words: scores[words].value)
    reached = alone.outcomes[best][inside]
    return AgainstWords(
        statistics.share(of_model, dependence),
        scores[best],
        statistics.difference(of_model, reached, dependence, among=len(Words)),
        best_rival(of_model, [reached], dependence, of=len(Words))[0].p,
        share_and_chance(of_model, dependence, alone.chance),
        best,
        int(inside.sum()),
        kind,
    )
