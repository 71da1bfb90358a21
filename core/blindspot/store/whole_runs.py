"""Whole runs: everything that the store keeps of a finished one, to take in and to give out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa

from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.kinds.own_columns import OwnColumn
from blindspot.diagnostic import Diagnostic, result_table
from blindspot.store import schema
from blindspot.store.db import Database, query, tables_of
from blindspot.store.records import RunPlan, plan_of
from blindspot.store.repository import has_dataset, store_own_columns, store_texts, with_number

Covered = tuple[int, bytes]  # number of items, and a bit per item: whether it was ranked


@dataclass(frozen=True)
class EncodingCost:
    """The cost of encoding, as the store's table ``embedding`` has it; ``seconds`` without loading."""

    digest: str
    encoder: str
    revision: str
    dimension: int
    parameters: int
    memory_bytes: int
    texts: int
    seconds: float
    device: str


@dataclass(frozen=True, eq=False)
class WholeRun:
    """A finished run; times are UTC.

    Attributes:
        items: ``item_no``, then the diagnostic's columns.
        covered: which items were ranked; None for all.
        costs: of its embeddings.
        own_columns: of a user's file.
    """

    plan: RunPlan
    started_at: datetime
    finished_at: datetime
    metrics: Mapping[str, float]
    coverage: Mapping[str, int]
    timings: Mapping[str, float]
    manifest: Mapping[str, Any]
    items: pa.Table
    covered: Covered | None = None
    costs: Sequence[EncodingCost] = ()
    own_columns: Sequence[OwnColumn] = field(default=())


@dataclass(frozen=True, eq=False)
class StoredTexts:
    """A dataset's ``texts`` and, if its kind keeps them, ``rows`` (``repository.rows_of``)."""

    id: str
    digest: str
    kind: DatasetKind
    texts: pa.Array | pa.ChunkedArray
    rows: pa.Table | None


def has_texts(database: Database, digest: str) -> bool:
    """Whether a store has the texts of a dataset's content."""
    if not database.path.exists():
        return False
    with database.cursor() as cursor:
        return has_dataset(cursor, digest)


def finished_ids(database: Database) -> frozenset[str]:
    """Ids of all finished runs of a store."""
    if not database.path.exists():
        return frozenset()
    with database.cursor() as cursor:
        return frozenset(row[0] for row in cursor.execute("SELECT run_id FROM run WHERE status = 'done'").fetchall())


def take_in(database: Database, entry: Diagnostic, run: WholeRun, texts: StoredTexts | None) -> bool:
    """Store a run that was computed elsewhere, in one transaction; False, without a change, if the store has it.

    Args:
        texts: of its dataset; None if the store has them (``has_texts``).
    """
    plan = run.plan
    with database.transaction() as cursor:
        params = {
            "run_id": plan.run_id,
            "started_at": _naive(run.started_at),
            "finished_at": _naive(run.finished_at),
            "coverage": json.dumps(dict(run.coverage)),
            "timings": json.dumps(dict(run.timings)),
            "manifest": json.dumps(dict(run.manifest), sort_keys=True),
        }
        rows = cursor.execute(query("runs/take_in"), params | plan.columns).fetchall()
        rows = rows or cursor.execute(query("runs/take_over"), params).fetchall()
        if not rows:
            return False
        run_seq = int(rows[0][0])
        cursor.execute(schema.result_table(entry))
        if not has_dataset(cursor, plan.dataset_digest):
            if texts is None:
                raise LookupError(f"the store has no texts of {plan.dataset}")
            store_texts(cursor, plan.dataset, texts.digest, texts.kind, texts.texts, texts.rows)
        if run.own_columns:
            store_own_columns(cursor, plan.dataset, plan.dataset_digest, run.own_columns)
        if run.covered is not None:
            items, ranked = run.covered
            cursor.execute(
                query("runs/remember_support"),
                {"support_digest": plan.covered_digest, "items": items, "ranked": ranked},
            )
        for cost in run.costs:
            cursor.execute(query("encoders/take_in_embedding"), vars(cost))
        values = pa.array(list(run.metrics.values()), pa.float64())
        metrics = pa.table({"name": pa.array(list(run.metrics), pa.string()), "value": values})
        cursor.from_arrow(with_number("run_seq", run_seq, metrics)).insert_into("metric")
        cursor.from_arrow(with_number("run_seq", run_seq, run.items)).insert_into(entry.table)
    return True


def give_out(database: Database, entry: Diagnostic, run_id: str) -> WholeRun | None:
    """A finished run; None if the store has none with this id and this version of its diagnostic."""
    if not database.path.exists():
        return None
    with database.cursor() as cursor:
        rows = cursor.sql(query("runs/whole"), params={"run_id": run_id}).to_arrow_table().to_pylist()
        if not rows or (rows[0]["diagnostic"], rows[0]["diagnostic_version"]) != (entry.id, entry.version):
            return None
        row = rows[0]
        plan = plan_of(row)
        if result_table(entry.id, entry.version) not in tables_of(cursor):
            return None
        metrics = cursor.execute(
            "SELECT name, value FROM metric WHERE run_seq = ? ORDER BY rowid", [row["run_seq"]]
        ).fetchall()
        names = ", ".join(["item_no", *entry.schema.names])
        items = cursor.sql(
            f"SELECT {names} FROM {entry.table} WHERE run_seq = ? ORDER BY rowid", params=[row["run_seq"]]
        ).to_arrow_table()
        costs = cursor.execute(query("encoders/embedding"), {"digests": [plan.embedding_digest]}).fetchall()
        covered = cursor.execute(query("runs/support"), {"support_digest": plan.covered_digest}).fetchall()
        columns = cursor.execute(
            query("datasets/own_columns"), {"dataset": plan.dataset, "dataset_digest": plan.dataset_digest}
        ).fetchall()
    return WholeRun(
        plan=plan,
        started_at=row["started_at"],
        finished_at=row["finished_at"],
        metrics=dict(metrics),
        coverage=json.loads(row["coverage"]),
        timings=json.loads(row["timings"]),
        manifest=json.loads(row["manifest"]),
        items=items,
        covered=(int(covered[0][0]), bytes(covered[0][1])) if plan.covered_digest else None,
        costs=tuple(EncodingCost(*cost) for cost in costs),
        own_columns=tuple(OwnColumn(name, tuple(v), np.frombuffer(codes, np.uint8)) for name, v, codes in columns),
    )


def _naive(when: datetime) -> datetime:
    """UTC, as the store keeps times."""
    return when.astimezone(UTC).replace(tzinfo=None) if when.tzinfo else when
