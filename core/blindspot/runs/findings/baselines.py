"""Runs against the best of the encoders that know no meaning, on the same items: findings that diagnostics share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from blindspot.diagnostic import Diagnostic
from blindspot.numerics.statistics import pairs as statistics
from blindspot.numerics.statistics.against import share_against
from blindspot.numerics.statistics.estimate import Estimate
from blindspot.numerics.statistics.intervals import ALPHA
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.numerics.statistics.written import p_in_words
from blindspot.runs.findings import Compared, Example, Finding, Level
from blindspot.runs.findings.evidence import Evidence, Fact
from blindspot.runs.findings.parts import clipped, finding
from blindspot.runs.findings.rule import Rival
from blindspot.store.records import RunRecord
from blindspot.types import Float64

BASELINES = ("random-projection", "lsa")  # encoders without knowledge of meaning
AND_CHANCE = ", and better than chance"  # at the end of the test of a strength against a baseline


@dataclass(frozen=True)
class AgainstBaseline:
    """A run's score less that of the best baseline; p is corrected for the choice of the best (Bonferroni).

    ``chance`` compares the score with what it would be if nothing was known.
    """

    run: RunRecord
    best: RunRecord
    score: float
    reached: float
    difference: Estimate
    p: float
    chance: Compared

    @property
    def compared(self) -> Compared:
        return Compared(Rival.BASELINE, self.difference.value, self.p)

    def evidence(
        self, others: Sequence[Compared] = (), examples: tuple[Example, ...] = (), **facts: Fact
    ) -> list[Evidence]:
        """Its kinds have ``score`` and ``reached``, the best baseline's.

        Args:
            others: further baselines, which a strength must be better than too.
        """
        return outcomes(
            "baseline",
            (self.run, self.best),
            self.difference,
            self.compared,
            (self.chance, self.compared, *others),
            max(1, round(self.difference.effective)),
            {"score": self.score, "reached": self.reached, **facts},
            examples=examples,
        )


def against_baselines(
    runs: Sequence[RunRecord],
    baselines: Sequence[RunRecord],
    values: Mapping[str, Float64],
    known: Dependence,
    chance: float,
) -> list[AgainstBaseline]:
    """Every run but the baselines themselves against the best one; nothing if the items allow no test.

    Args:
        values: by run id the values ``[m]`` whose mean is the score, from 0 to 1: more is better.
        chance: the score by chance.
    """
    lexical = {run.plan.variant.encoder for run in baselines}
    own = [run for run in runs if run.plan.variant.encoder not in lexical]
    if not own or not baselines or known.refusal:
        return []
    best = max(baselines, key=lambda run: float(values[run.run_id].mean()))
    reached = values[best.run_id]
    paired = np.column_stack([values[run.run_id] - reached for run in own])
    p_values = np.minimum(1.0, statistics.p_values(paired, known) * len(baselines))
    return [
        AgainstBaseline(
            run,
            best,
            float(values[run.run_id].mean()),
            float(reached.mean()),
            statistics.difference(values[run.run_id], reached, known, among=len(baselines)),
            p,
            share_and_chance(values[run.run_id], known, chance),
        )
        for run, p in zip(own, p_values.tolist(), strict=True)
    ]


def share_and_chance(values: Float64, known: Dependence, chance: float) -> Compared:
    """A mean of ``values [m]`` from 0 to 1 against what it is by chance."""
    if not 0.0 < chance < 1.0:
        return Compared(Rival.CHANCE, float(values.mean()) - chance, np.nan)
    found, p = share_against(values, known, chance)
    return Compared(Rival.CHANCE, found.value - chance, p)


def outcomes(
    rival: str,
    runs: Sequence[RunRecord],
    found: Estimate,
    behind: Compared,
    ahead: Sequence[Compared],
    n: int,
    facts: Mapping[str, Fact],
    *,
    alike: str = "",
    examples: tuple[Example, ...] = (),
) -> list[Evidence]:
    """A difference from a rival as a hypothesis, significant or not; where it is not, also that fact.

    Args:
        found: the run's score less the rival's.
        behind: the run against the rival; ``ahead``: all that a strength must be better than.
        facts: ``score``, the run's, and what else the templates name.
        alike: kind of the fact; "no-better-than-" and the rival if empty.
    """
    is_below = found.value < 0
    kind, against = ("worse", (behind,)) if is_below else ("better", tuple(ahead))
    out = [Evidence(f"{kind}-than-{rival}", tuple(runs), found, n, against=against, facts=facts, examples=examples)]
    if behind.p >= ALPHA:
        kind = alike or f"no-better-than-{rival}"
        out.append(Evidence(kind, tuple(runs), found, n, facts={**facts, "p": behind.p}, examples=examples))
    return out


def findings_of(
    entry: Diagnostic,
    found: AgainstBaseline,
    at: str,
    said: str,
    test: str,
    address: Mapping[str, str],
    others: Sequence[Compared] = (),
) -> list[Finding]:
    """The difference as a hypothesis, significant or not; where it is not, also that fact.

    Args:
        at: what the run is better or worse at, to follow "{A} is better": ``at ranking matches``.
        said: both scores and the difference with its interval.
        test: in words, without what is added here.
        others: further baselines, which a strength must be better than too.
    """
    difference, is_below = found.difference, found.difference.value < 0
    than = f"than {{B}}, which knows only spelling and words, {at}: {said}."
    common: dict[str, Any] = {
        "found": difference,
        "n": max(1, round(difference.effective)),
        "address": address,
    }
    runs = [found.run, found.best]
    strength = (found.chance, found.compared, *others)
    out = [
        finding(
            entry,
            runs,
            kind="worse-than-baseline" if is_below else "better-than-baseline",
            level=Level.BLIND_SPOT if is_below else Level.STRENGTH,
            sentence=f"{{A}} is {'worse' if is_below else 'better'} {than}",
            test=f"{test}, corrected for the choice of the best such model{'' if is_below else AND_CHANCE}",
            against=(found.compared,) if is_below else strength,
            severity=clipped(abs(difference.value)),
            **common,
        )
    ]
    if found.p >= ALPHA:
        out.append(
            finding(
                entry,
                runs,
                kind="no-better-than-baseline",
                level=Level.CAUTION,
                sentence=f"{{A}} is not significantly better {than}",
                test=f"not significant: {test}, {p_in_words(found.p)}",
                severity=clipped(1.0 - found.score),
                **common,
            )
        )
    return out
