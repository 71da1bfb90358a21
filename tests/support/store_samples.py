"""Small runs for the tests of the store: made up, but of the shapes that the real diagnostic gives."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa

from blindspot.datasets.kinds.pairs import PairSet
from blindspot.diagnostic import DiagnosticResult, find_diagnostic
from blindspot.store.records import RunPlan, RunRecord
from blindspot.store.repository import Repository
from blindspot.variants import Variant

ENTRY = find_diagnostic("evalrank")
MANIFEST = {"blindspot": "0", "nested": {"ü": [1, 2.5, None]}}
TIMINGS = {"encode": 1.25, "compute": 0.5}


def pair_set(pairs: int = 20, dataset_id: str = "sample") -> PairSet:
    """A dataset of ``2 * pairs`` texts: text i is the query of pair i, text ``pairs + i`` its match."""
    numbers = np.arange(pairs, dtype=np.int32)
    return PairSet(dataset_id, tuple(f"“{dataset_id}” № {i}" for i in range(2 * pairs)), numbers, numbers + pairs)


def plan(run_id: str, dataset: PairSet, transform: str = "none", encoder: str = "minilm") -> RunPlan:
    return RunPlan(
        run_id=run_id,
        diagnostic=ENTRY.id,
        diagnostic_version=ENTRY.version,
        variant=Variant(encoder, transform),
        dataset=dataset.id,
        dataset_digest=dataset.content_digest,
        params={"metric": "cos", "protocol": "definition"},
        embedding_digest="e" * 32,
    )


def result(dataset: PairSet, seed: int = 0, coverage: Mapping[str, int] | None = None) -> DiagnosticResult:
    """Random per-pair rows with every declared column."""
    rng = np.random.default_rng(seed)
    m = len(dataset.queries)
    columns = {
        c.name: rng.random(m) if c.type == pa.float64() else rng.integers(0, 99, m, dtype=np.int32)
        for c in ENTRY.columns
    }
    return DiagnosticResult(
        metrics={"mrr": float(rng.random()), "hits@1": float(rng.random())},
        items=pa.table(columns, schema=ENTRY.schema),
        coverage={"pairs": m} if coverage is None else coverage,
    )


def store_run(
    repository: Repository,
    run_id: str,
    dataset: PairSet,
    seed: int = 0,
    transform: str = "none",
    encoder: str = "minilm",
) -> int:
    """Begin and finish a run; its ``run_seq``."""
    run_seq = repository.begin(plan(run_id, dataset, transform, encoder))
    repository.finish(run_seq, ENTRY, dataset, result(dataset, seed), TIMINGS, MANIFEST)
    return run_seq


def only_run(repository: Repository) -> RunRecord:
    (record,) = repository.runs()
    return record


def store_many(repository: Repository, runs: int, variants: int) -> None:
    """So many finished runs without rows, written at once: ``variants`` variants on as many datasets as it takes,
    scores rising with the variant's number."""
    started = datetime(2026, 1, 1)
    params = json.dumps({"metric": "cos", "protocol": "definition"}, sort_keys=True)
    names = ["mrr", "hits@1", "hits@3", "hits@10", "mrr_filtered", "hits@1_filtered", "pairs", "background"]
    rows = [
        {
            "run_seq": i + 1,
            "run_id": f"{i:016x}",
            "diagnostic": ENTRY.id,
            "diagnostic_version": ENTRY.version,
            "encoder": "minilm",
            "transform": f"abtt:{i % variants + 1}",
            "dataset": f"dataset-{i // variants}",
            "dataset_digest": f"content of {i // variants}",
            "params": params,
            "status": "done",
            "process_id": 1,
            "started_at": started + timedelta(seconds=i),
            "finished_at": started + timedelta(seconds=i + 1),
            "coverage": json.dumps({"pairs": 1, "pairs_covered": 1, "items": 2, "items_covered": 2}),
            "timings": json.dumps(TIMINGS),
            "manifest": json.dumps(MANIFEST | {"filler": "x" * 1_000}),
            "embedding_digest": "e" * 32,
            "support": "[]",
            "support_digest": "",
            "own_support": True,
        }
        for i in range(runs)
    ]
    scores = np.repeat(np.arange(runs) % variants / variants, len(names))
    metrics = pa.table(
        {
            "run_seq": np.repeat(np.arange(1, runs + 1, dtype=np.int32), len(names)),
            "name": names * runs,
            "value": scores,
        }
    )
    table = pa.Table.from_pylist(rows)
    with repository.database.transaction() as cursor:
        cursor.register("many", table)
        columns = ", ".join(table.column_names)
        cursor.execute(f"INSERT INTO run ({columns}) SELECT {columns} FROM many")
        cursor.unregister("many")
        cursor.from_arrow(metrics).insert_into("metric")
