"""Evidence between models: no significant difference from the best, and order reversed by post-processing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from blindspot.diagnostic import Diagnostic, GridRole
from blindspot.numerics.statistics.compare import PairedTest, Verdict
from blindspot.numerics.statistics.estimate import Measured
from blindspot.numerics.statistics.written import SCORE, number
from blindspot.runs.comparison import headline_tests
from blindspot.runs.findings.evidence import Evidence
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.variants import Variant

NOT_TOLD_APART = "not-told-apart"


@dataclass(frozen=True)
class Turn:
    """The tests of two models before and after a post-processing."""

    models: tuple[Variant, Variant]
    before: PairedTest
    after: PairedTest

    @property
    def apart(self) -> float:
        """How far the difference moves, as a share of the score's range; 0 where the order stays."""
        before, after = (test.advantage or 0.0 for test in (self.before, self.after))
        return abs(before - after) if before * after < 0 else 0.0

    @property
    def p(self) -> float:
        return max(self.before.p or 0.0, self.after.p or 0.0) if self.apart else 1.0


def evidence(entry: Diagnostic, runs: Sequence[RunRecord], repository: Repository) -> list[Evidence]:
    """Evidence of one diagnostic's runs, dataset by dataset; raises ``BlindspotError`` if their rows are gone.

    Empty for a diagnostic without a headline that ranks models, or without a test of two runs.
    """
    declared = entry.declared(entry.headline)
    if entry.grid is GridRole.DESCRIPTION or not declared or declared.higher_is_better is None:
        return []
    by_dataset: dict[str, list[RunRecord]] = {}
    for run in runs:
        if entry.headline in run.metrics:
            by_dataset.setdefault(run.plan.dataset, []).append(run)
    out: list[Evidence] = []
    for of_it in by_dataset.values():
        sign = 1.0 if declared.higher_is_better else -1.0
        best_first = sorted(of_it, key=lambda run: (-sign * run.metrics[entry.headline], run.run_seq))
        out += _not_told_apart(entry, best_first, repository)
        out += _orders_turned(entry, of_it, repository)
    return out


def _not_told_apart(entry: Diagnostic, best_first: Sequence[RunRecord], repository: Repository) -> list[Evidence]:
    """The models without a significant difference from the best, as one fact."""
    best, others = best_first[0], best_first[1:]
    tests = headline_tests(entry, [(best, run) for run in others], repository) if others else []
    alike = [(run, test) for run, test in zip(others, tests, strict=True) if test.verdict is Verdict.ALIKE]
    if not alike:
        return []
    closest = alike[0][1]
    return [
        Evidence(
            NOT_TOLD_APART,
            (best, *(run for run, _ in alike)),
            Measured(closest.value, closest.interval),
            closest.n,
            facts={
                "label": closest.label,
                "best": closest.a,
                "scores": [test.b for _, test in alike],
                "is_tie": any(number(test.b, SCORE) == number(closest.a, SCORE) for _, test in alike),
                "share": len(alike) / len(others),
                "basis": closest.basis,
                "corrected": (closest.despite and closest.p_corrected) or "",
            },
        )
    ]


def _orders_turned(entry: Diagnostic, runs: Sequence[RunRecord], repository: Repository) -> list[Evidence]:
    """For each post-processing, the two models that it puts in the opposite order most surely.

    A model with it is compared with another one, also with it if there is such a run; then both without. Both
    differences have to be significant, with opposite signs: p is the larger of the two (an intersection-union test),
    corrected for the number of pairs of models.
    """
    at = {run.plan.variant: run for run in runs}
    plain = [variant for variant in at if variant.transform == "none"]
    out = []
    for chain in dict.fromkeys(variant.transform for variant in at if variant.transform != "none"):
        made = {variant: at.get(Variant(variant.encoder, chain), at[variant]) for variant in plain}
        pairs = [pair for pair in combinations(plain, 2) if any(made[variant] is not at[variant] for variant in pair)]
        if not pairs:
            continue
        before = headline_tests(entry, [(at[a], at[other]) for a, other in pairs], repository)
        after = headline_tests(entry, [(made[a], made[other]) for a, other in pairs], repository)
        tests = zip(pairs, before, after, strict=True)
        turns = [Turn(*turn) for turn in tests if all(test.p is not None for test in turn[1:])]
        if not turns:
            continue
        surest = min(turns, key=lambda turn: turn.p)
        a, other = surest.models
        without, having = surest.before, surest.after
        processed = [variant for variant in surest.models if made[variant] is not at[variant]]
        both = {run.run_id: run for run in (at[a], at[other], made[a], made[other])}
        out.append(
            Evidence(
                "order-turned-by-{chain}",
                tuple(both.values()),
                Measured(having.value, having.interval),
                having.n,
                p=min(1.0, len(turns) * surest.p),
                facts={
                    "chain": chain,
                    "alone": processed[0] if len(processed) == 1 else "",
                    "label": without.label,
                    "a_before": without.a,
                    "b_before": without.b,
                    "a_after": having.a,
                    "b_after": having.b,
                    "basis": having.basis,
                    "choices": len(turns) if len(turns) > 1 else 0,
                    "apart": surest.apart,
                },
            )
        )
    return out
