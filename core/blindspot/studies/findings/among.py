"""Evidence between models: no significant difference from the best, and order reversed by post-processing."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from blindspot.diagnostic import Diagnostic, GridRole
from blindspot.numerics.statistics.compare import Verdict
from blindspot.numerics.statistics.estimate import Measured
from blindspot.runs.comparison import headline_tests
from blindspot.runs.findings.evidence import Evidence
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.variants import Variant

Pair = tuple[RunRecord, RunRecord]

NOT_TOLD_APART = "not-told-apart"


def evidence(entry: Diagnostic, runs: Sequence[RunRecord], repository: Repository) -> list[Evidence]:
    """Evidence of one diagnostic's runs, dataset by dataset; raises ``BlindspotError`` if their rows are gone.

    None for a diagnostic whose headline does not rank models or that has no test of two runs.
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
                "is_tie": any(f"{test.b:.3f}" == f"{closest.a:.3f}" for _, test in alike),
                "share": len(alike) / len(others),
                "basis": closest.basis,
            },
        )
    ]


def _orders_turned(entry: Diagnostic, runs: Sequence[RunRecord], repository: Repository) -> list[Evidence]:
    """For two encoders and a post-processing, whether it reverses their order.

    Both differences have to be significant, with opposite signs: p is the larger of the two (an intersection-union
    test).
    """
    at = {run.plan.variant: run for run in runs}
    encoders = list(dict.fromkeys(v.encoder for v in at if v.transform == "none"))
    chains = list(dict.fromkeys(v.transform for v in at if v.transform != "none"))
    wanted: list[tuple[str, Pair, Pair]] = []
    for chain in chains:
        for pair in combinations((e for e in encoders if Variant(e, chain) in at), 2):
            one, other = ((at[Variant(encoder, "none")], at[Variant(encoder, chain)]) for encoder in pair)
            wanted.append((chain, (one[0], other[0]), (one[1], other[1])))
    two_by_two = [pair for _, plain, made in wanted for pair in (plain, made)]
    tested = headline_tests(entry, two_by_two, repository) if two_by_two else []
    out = []
    for place, (chain, plain, made) in enumerate(wanted):
        before, after = tested[2 * place : 2 * place + 2]
        if before.p is None or after.p is None or before.advantage is None or after.advantage is None:
            continue
        is_turned = before.advantage * after.advantage < 0
        out.append(
            Evidence(
                "order-turned-by-{chain}",
                (*plain, *made),
                Measured(after.value, after.interval),
                after.n,
                p=max(before.p, after.p) if is_turned else 1.0,
                facts={
                    "chain": chain,
                    "label": before.label,
                    "a_before": before.a,
                    "b_before": before.b,
                    "a_after": after.a,
                    "b_after": after.b,
                    "basis": after.basis,
                    "apart": abs(before.advantage - after.advantage) if is_turned else 0.0,
                },
            )
        )
    return out
