"""Correlation of shared words with people's scores, beside that of a model: the lexical baseline of scored pairs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from blindspot.diagnostics.similarity.pairs import ScoredTable
from blindspot.numerics.statistics.against import correlation_against
from blindspot.numerics.statistics.correlations import spearman, spearman_influences
from blindspot.numerics.statistics.pairs import Dependence, change, correlation, p_of_change
from blindspot.numerics.words_alone import Words, similarities
from blindspot.runs.findings.baselines import AgainstWords, for_choice
from blindspot.runs.findings.rule import Compared, Rival
from blindspot.texts import are_words
from blindspot.types import Float64

SCORE = "correlates with people's scores at ρ = {}"  # for ``baselines.in_words``


def of_table(table: ScoredTable) -> dict[Words, Float64]:
    """Each measure of every pair ``[m]``. Measures with one value for all pairs are left out; there are none for single
    words, which share no words unless they are the same."""
    firsts, seconds = (table.frame[side].tolist() for side in ("first", "second"))
    if are_words([*firsts, *seconds]):
        return {}
    return {words: values for words, values in similarities(firsts, seconds).items() if np.ptp(values) > 0}


def against(
    model: Float64, alone: Mapping[Words, Float64], table: ScoredTable, dependence: Dependence | None = None
) -> AgainstWords | None:
    """Spearman's rho of a model's similarities ``[m]`` against the best measure's; None if either is undefined.

    ``dependence`` is the dependence of the pairs, if it is known already.
    """
    gold, dependence = table.gold, dependence or table.dependence
    if not alone or np.ptp(gold) == 0 or np.ptp(model) == 0:
        return None
    rho = {words: spearman(values, gold) for words, values in alone.items()}
    best = max(rho, key=lambda words: rho[words])
    rho_of_model = spearman(model, gold)
    moved, of_best = spearman_influences(model, gold), spearman_influences(alone[best], gold)
    difference = rho_of_model - rho[best]
    return AgainstWords(
        correlation(rho_of_model, moved, dependence),
        correlation(rho[best], of_best, dependence),
        change(difference, moved - of_best, dependence, among=len(Words)),
        for_choice(p_of_change(difference, moved - of_best, dependence), len(Words)),
        Compared(Rival.CHANCE, rho_of_model, correlation_against(rho_of_model, moved, dependence, 0.0)[1]),
        best,
        len(gold),
    )
