"""Records of runs that were never computed, and the false discoveries among findings, for tests of findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
from scipy.stats import false_discovery_control

from blindspot.diagnostic import find_diagnostic
from blindspot.runs.findings import Finding, Level
from blindspot.store.records import RunPlan, RunRecord, RunState
from blindspot.variants import Variant

NEVER = datetime(2026, 1, 1, tzinfo=UTC)


def run_record(
    diagnostic: str,
    variant: str = "minilm",
    dataset: str = "made-up",
    *,
    metrics: Mapping[str, float] | None = None,
    coverage: Mapping[str, int] | None = None,
    manifest: Mapping[str, Any] | None = None,
    covered_digest: str = "",
    **params: str,
) -> RunRecord:
    """A finished run; its id tells diagnostic, variant and dataset."""
    entry = find_diagnostic(diagnostic)
    plan = RunPlan(
        run_id=f"{abs(hash((diagnostic, variant, dataset, *params.values()))):016x}"[:16],
        diagnostic=entry.id,
        diagnostic_version=entry.version,
        variant=Variant.parse(variant),
        dataset=dataset,
        dataset_digest=f"digest of {dataset}",
        params=entry.check_params(params),
        embedding_digest="e" * 32,
        covered_digest=covered_digest,
    )
    return RunRecord(
        run_seq=1,
        plan=plan,
        state=RunState.DONE,
        started_at=NEVER,
        finished_at=NEVER,
        metrics=metrics or {},
        coverage=coverage or {},
        timings={},
        manifest=manifest or {},
        dimension=8,
        parameters=0,
        memory_bytes=0,
        texts_per_second=1.0,
        device="cpu",
    )


def discovered(found: Sequence[Finding], alpha: float = 0.05) -> list[Finding]:
    """Counted facts, and what is significant after Benjamini and Hochberg by scipy."""
    tested = [finding for finding in found if finding.p is not None]
    adjusted = false_discovery_control(np.array([finding.p for finding in tested])).tolist() if tested else []
    kept = {id(finding) for finding, q in zip(tested, adjusted, strict=True) if q <= alpha}
    return [finding for finding in found if finding.p is None or id(finding) in kept]


def kinds(found: Sequence[Finding], level: Level | None = None) -> set[str]:
    return {finding.kind for finding in found if level in (None, finding.level)}
