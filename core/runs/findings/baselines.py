"""Runs against the best of the encoders that know no meaning, on the same items: findings that diagnostics share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from blindspot.diagnostic import DiagnosticEntry
from blindspot.numerics.statistics import pairs as statistics
from blindspot.numerics.statistics.estimate import Estimate
from blindspot.numerics.statistics.intervals import ALPHA
from blindspot.numerics.statistics.p_values import p_in_words
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.runs.findings import Finding, Level
from blindspot.runs.findings.parts import finding
from blindspot.store.records import RunRecord
from blindspot.types import Float64

BASELINES = ("random-projection", "lsa")  # encoders without knowledge of meaning


@dataclass(frozen=True)
class AgainstBaseline:
    """A run's score less that of the best baseline; p is corrected for the choice of the best (Bonferroni)."""

    run: RunRecord
    best: RunRecord
    score: float
    reached: float
    difference: Estimate
    p: float


def against_baselines(
    runs: Sequence[RunRecord], baselines: Sequence[RunRecord], values: Mapping[str, Float64], known: Dependence
) -> list[AgainstBaseline]:
    """Every run but the baselines themselves against the best one; nothing if the items allow no test.

    Args:
        values: by run id the values ``[m]`` whose mean is the score, from 0 to 1: more is better.
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
            statistics.difference(values[run.run_id], reached, known),
            p,
        )
        for run, p in zip(own, p_values.tolist(), strict=True)
    ]


def findings_of(
    entry: DiagnosticEntry, found: AgainstBaseline, at: str, said: str, test: str, address: Mapping[str, str]
) -> list[Finding]:
    """The difference as a hypothesis, significant or not; where it is not, also that fact.

    Args:
        at: what the run is better or worse at, to follow "{A} is better": ``at ranking matches``.
        said: both scores and the difference with its interval.
        test: in words, without what is added here.
    """
    difference, is_below = found.difference, found.difference.value < 0
    than = f"than {{B}}, which knows only spelling and words, {at}: {said}."
    common: dict[str, Any] = {
        "value": difference.value,
        "interval": difference.interval,
        "n": max(1, round(difference.effective)),
        "address": address,
    }
    runs = [found.run, found.best]
    out = [
        finding(
            entry,
            runs,
            kind="worse-than-baseline" if is_below else "better-than-baseline",
            level=Level.BLIND_SPOT if is_below else Level.STRENGTH,
            sentence=f"{{A}} is {'worse' if is_below else 'better'} {than}",
            test=f"{test}, corrected for the choice of the best such model",
            p=found.p,
            severity=abs(difference.value),
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
                severity=1.0 - found.score,
                **common,
            )
        )
    return out
