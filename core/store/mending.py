"""Removing from a store what a crash left in it, and what is of no use any more."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC

from core.store.db import Database, query
from core.store.records import RunRecord


def drop_interrupted(database: Database, run: RunRecord) -> bool:
    """Remove a run that was begun and not finished; it has no scores and no items. False where it is not so any more:
    somebody took it over, or finished or removed it."""
    with database.transaction() as cursor:
        params = {"run_seq": run.run_seq, "started_at": run.started_at.astimezone(UTC).replace(tzinfo=None)}
        return bool(cursor.execute(query("runs/drop_interrupted"), params).fetchall())


def forget_costs(database: Database, digests: Sequence[str]) -> int:
    """Remove what is remembered of embeddings on which no run stands; how many there were."""
    with database.transaction() as cursor:
        return len(cursor.execute(query("encoders/forget_costs"), {"digests": list(digests)}).fetchall())
