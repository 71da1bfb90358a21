"""A store of made-up runs of many models, for tests of what stands on all of them: scores only, no rows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa

from blindspot.diagnostic import find_diagnostic
from blindspot.store.repository import Repository
from blindspot.variants import Variant

TRANSFORMS = ("none", "abtt:2", "whiten")
TASKS = ("mr", "cr", "trec", "mrpc")
SIGNAL = {"evalrank-sent": 1.0, "stsb-test": 0.3}  # how far a dataset's scores go along with the tasks'


@dataclass(frozen=True)
class Made:
    """A finished run that nobody computed."""

    diagnostic: str
    variant: Variant
    dataset: str
    metrics: Mapping[str, float]
    params: Mapping[str, str] = field(default_factory=dict)
    revision: str = ""
    covered_digest: str = ""
    dataset_digest: str = "content"


def store(repository: Repository, runs: Sequence[Made]) -> None:
    """Write runs, the first one the oldest; they come after those that are there."""
    with repository.database.transaction() as cursor:
        known = cursor.execute("SELECT coalesce(max(run_seq), 0) FROM run").fetchall()[0][0]
        started = datetime(2026, 1, 1)
        rows, metrics = [], []
        for seq, run in enumerate(runs, known + 1):
            entry = find_diagnostic(run.diagnostic)
            rows.append(
                {
                    "run_seq": seq,
                    "run_id": f"{seq:016x}",
                    "diagnostic": entry.id,
                    "diagnostic_version": entry.version,
                    "encoder": run.variant.encoder,
                    "transform": run.variant.transform,
                    "dataset": run.dataset,
                    "dataset_digest": run.dataset_digest,
                    "params": json.dumps(
                        {**entry.check_params({n: v for n, v in run.params.items() if n != "fit_on"}), **run.params},
                        sort_keys=True,
                    ),
                    "status": "done",
                    "process_id": 1,
                    "started_at": started + timedelta(seconds=seq),
                    "finished_at": started + timedelta(seconds=seq + 1),
                    "coverage": json.dumps({"items": 1, "items_covered": 1}),
                    "timings": "{}",
                    "manifest": json.dumps({"encoder": {"revision": run.revision}}),
                    "embedding_digest": "e" * 32,
                    "support": "[]",
                    "support_digest": run.covered_digest,
                    "own_support": not run.covered_digest,
                }
            )
            metrics += [{"run_seq": seq, "name": name, "value": float(v)} for name, v in run.metrics.items()]
        table = pa.Table.from_pylist(rows)
        cursor.register("made", table)
        cursor.execute(
            f"INSERT INTO run ({', '.join(table.column_names)}) SELECT {', '.join(table.column_names)} FROM made"
        )
        cursor.unregister("made")
        scores = pa.table(
            {
                "run_seq": pa.array([m["run_seq"] for m in metrics], pa.int32()),
                "name": pa.array([m["name"] for m in metrics], pa.string()),
                "value": pa.array([m["value"] for m in metrics], pa.float64()),
            }
        )
        cursor.from_arrow(scores).insert_into("metric")


def models(families: int) -> list[str]:
    """References of so many models, no two of one family."""
    return [f"hf:made/model-{number}" for number in range(families)]


def many_models(families: int, seed: int = 1) -> list[Made]:
    """Every model with three transforms on two evaluators of sentences, one of words, and four tasks.

    EvalRank goes along with the tasks, similarity hardly does.
    """
    rng = np.random.default_rng(seed)
    out = []
    for encoder in models(families):
        quality = rng.normal()
        for transform in TRANSFORMS:
            variant = Variant(encoder, transform)
            own = quality + rng.normal(0, 0.3)
            for task in TASKS:
                value = 0.7 + 0.05 * (own + rng.normal(0, 0.2))
                scores = {"accuracy": value, "macro_f1": value - 0.1, "accuracy_without_overlap": value - 0.01}
                out.append(Made("transfer", variant, task, scores))
            for dataset, signal in SIGNAL.items():
                value = 0.5 + 0.1 * (signal * own + (1 - signal) * rng.normal())
                if dataset == "evalrank-sent":
                    ranks = {"mrr": value, "hits@1": value - 0.1, "hits@3": value + 0.1, "pairs": 9, "background": 9}
                    out.append(Made("evalrank", variant, dataset, ranks))
                    out.append(Made("geometry", variant, dataset, {"align": 1 - value, "uniform": -value}))
                else:
                    out.append(Made("similarity", variant, dataset, {"spearman": value}))
            out.append(Made("similarity", variant, "ws353", {"spearman": rng.random()}))
    return out
