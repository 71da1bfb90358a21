"""What is in the store, as records; the only module that runs SQL."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import pandas as pd
import pyarrow as pa

from core.datasets.kinds import KINDS
from core.datasets.kinds.base import Dataset, Part
from core.diagnostic import DiagnosticEntry, DiagnosticResult
from core.encoders.base import EncoderInfo
from core.encoders.cache import EmbeddingFacts
from core.errors import BlindspotError, InputError
from core.store.db import Database, query
from core.store.records import (
    Leaderboard,
    RunCount,
    RunFilter,
    RunPage,
    RunPlan,
    RunRecord,
    RunState,
    StoredReference,
    record_of,
)
from core.store.rows import metric_rows, store_dataset
from core.types import Bool, Variant

_SQL_TYPES = {pa.int32(): "INTEGER", pa.int64(): "BIGINT", pa.float64(): "DOUBLE", pa.string(): "VARCHAR"}
MANY = 100  # runs whose ids begin alike: more are not counted


class Repository:
    """The store at a path. Every method opens, reads or writes, and lets go."""

    def __init__(self, database: Database) -> None:
        self.database = database

    @classmethod
    def at(cls, path: Path) -> Repository:
        return cls(Database(path))

    # --- reading

    def runs(
        self,
        *,
        metrics: Sequence[str] | None = None,
        limit: int | None = None,
        skip: int = 0,
        **wanted: Unpack[RunFilter],
    ) -> list[RunRecord]:
        """Runs, newest first. An empty store is not created by reading it.

        Args:
            metrics: names of the scores that are wanted; all where it is left out. Reading thousands of runs takes
                a fraction of the time with a few.
            limit, skip: at most so many, after so many.
            wanted: what they must be, see ``RunFilter``.
        """
        return list(self.page(metrics=metrics, limit=limit, skip=skip, **wanted).runs)

    def page(
        self,
        *,
        metrics: Sequence[str] | None = None,
        limit: int | None = None,
        skip: int = 0,
        **wanted: Unpack[RunFilter],
    ) -> RunPage:
        """As ``runs``, and how many there are without the limit."""
        if not self.database.path.exists():
            return RunPage(0, ())
        state, params = wanted.get("state"), wanted.get("params")
        variants, run_seqs = wanted.get("variants"), wanted.get("run_seqs")
        # Whether a run that has not ended goes on or was interrupted, only its record tells; there are few.
        unfinished = state in {RunState.RUNNING, RunState.INTERRUPTED}
        filters = {
            "run_id": wanted.get("run_id"),
            "diagnostic": wanted.get("diagnostic"),
            "version": wanted.get("version"),
            "encoder": wanted.get("encoder"),
            "variants": None if variants is None else [str(v) for v in variants],
            "dataset": wanted.get("dataset"),
            "params": None if params is None else json.dumps(dict(params), sort_keys=True),
            "status": "running" if unfinished else state,
            "current": wanted.get("current", False),
            "run_seqs": None if run_seqs is None else list(run_seqs),
            "metrics": None if metrics is None else list(metrics),
            "limit": None if unfinished else limit,
            "skip": 0 if unfinished else skip,
        }
        with self.database.cursor() as cursor:
            rows = cursor.sql(query("runs/list"), params=filters).to_arrow_table().to_pylist()
        records = [record_of(row) for row in rows]
        if unfinished:
            records = [r for r in records if r.state is state]
            end = None if limit is None else skip + limit
            return RunPage(len(records), tuple(records[skip:end]))
        return RunPage(rows[0]["total"] if rows else 0, tuple(records))

    def counts(self) -> list[RunCount]:
        """How many runs there are per diagnostic, dataset and whether they are finished."""
        if not self.database.path.exists():
            return []
        with self.database.cursor() as cursor:
            rows = cursor.execute(query("runs/count")).fetchall()
        return [RunCount(diagnostic, dataset, status == RunState.DONE, n) for diagnostic, dataset, status, n in rows]

    def leaderboards(
        self,
        entry: DiagnosticEntry,
        params: Mapping[str, str],
        variants: Sequence[Variant],
        metrics: Sequence[str] | None,
        top: int,
    ) -> list[Leaderboard]:
        """Per dataset the runs of a diagnostic that can be compared, the best first; the dataset that was run last
        comes first.

        Which run of a variant counts, and on which support, is as in ``ui.tables.on_one_support``.

        Args:
            variants: only these; all where it is empty.
            metrics: names of the scores that are wanted; all for None.
            top: at most so many runs per dataset.
        """
        if not self.database.path.exists():
            return []
        filters = {
            "diagnostic": entry.id,
            "version": entry.version,
            "params": json.dumps(dict(params), sort_keys=True),
            "variants": [str(v) for v in variants] or None,
            "headline": entry.headline,
            "sign": -1 if entry.headline_is_lower_better else 1,
            "top": top,
        }
        with self.database.cursor() as cursor:
            rows = cursor.execute(query("runs/leaderboard"), filters).fetchall()
        if not rows:
            return []
        records = {r.run_seq: r for r in self.runs(run_seqs=[row[0] for row in rows], metrics=metrics)}
        boards: dict[str, Leaderboard] = {}
        for run_seq, count, _ in rows:
            if (run := records.get(run_seq)) is None:  # deleted in between
                continue
            before = boards.get(run.plan.dataset)
            boards[run.plan.dataset] = Leaderboard(count, (*(before.runs if before else ()), run))
        return list(boards.values())

    def variants(self) -> list[Variant]:
        """Variants with a finished run, in order of first appearance (which decides their colours)."""
        if not self.database.path.exists():
            return []
        with self.database.cursor() as cursor:
            return [Variant(*row) for row in cursor.execute(query("runs/variants")).fetchall()]

    def datasets(self) -> list[str]:
        """Ids of datasets with a finished run, in order of first appearance."""
        if not self.database.path.exists():
            return []
        with self.database.cursor() as cursor:
            return [row[0] for row in cursor.execute(query("datasets/tested")).fetchall()]

    def references(self) -> list[StoredReference]:
        """Encoders that were added by reference or removed, in order of their names."""
        if not self.database.path.exists():
            return []
        with self.database.cursor() as cursor:
            rows = cursor.execute(query("encoders/references")).fetchall()
        return [
            StoredReference(name, at.replace(tzinfo=UTC), gone, json.loads(facts)) for name, at, gone, facts in rows
        ]

    def embeddings(self) -> list[EmbeddingFacts]:
        """What encoding cost for every run so far, also where the embeddings are no longer on disk."""
        if not self.database.path.exists():
            return []
        with self.database.cursor() as cursor:
            return [EmbeddingFacts(*row) for row in cursor.execute(query("encoders/embeddings")).fetchall()]

    def run(self, run_id: str) -> RunRecord:
        """One run, by its id or the beginning of it.

        Raises:
            InputError: none or several begin so.
        """
        found = self.runs(run_id=run_id, limit=MANY) if run_id else []
        if len(found) != 1:
            raise InputError(
                f"{'many' if len(found) == MANY else len(found) or 'no'} runs have an id that begins with '{run_id}'",
                expected="the beginning of exactly one run id",
                remedy="list them with: python -m core runs",
            )
        return found[0]

    def items(self, entry: DiagnosticEntry, run_ids: Sequence[str], *, texts: bool) -> pd.DataFrame:
        """Rows of finished runs: ``run_id, item_no``, the columns and, with ``texts``, those of the dataset."""
        if not run_ids:
            return pd.DataFrame()
        stored_as = KINDS[entry.dataset_kind].stored_as
        name = f"items/{stored_as if texts and stored_as else 'without_texts'}"
        sql = query(name).replace("{table}", entry.table)  # a name of ours, never a user's
        with self.database.cursor() as cursor:
            table: pa.Table = cursor.sql(sql, params={"run_ids": list(run_ids)}).to_arrow_table()
        return pd.DataFrame(table.to_pandas())

    def with_items(self, entry: DiagnosticEntry, run_ids: Sequence[str]) -> frozenset[str]:
        """Those of the runs whose per-item rows are there."""
        with self.database.cursor() as cursor:
            if entry.table not in {row[0] for row in cursor.execute("SHOW TABLES").fetchall()}:
                return frozenset()
            sql = query("runs/with_items").replace("{table}", entry.table)
            return frozenset(row[0] for row in cursor.execute(sql, {"run_ids": list(run_ids)}).fetchall())

    def texts(self, dataset_digest: str, numbers: Sequence[int]) -> dict[int, str]:
        """Texts of a stored dataset by their numbers."""
        params = {"dataset_digest": dataset_digest, "numbers": [int(n) for n in numbers]}
        with self.database.cursor() as cursor:
            return dict(cursor.execute(query("datasets/texts"), params).fetchall())

    def mates(self, dataset_digest: str, query_no: int) -> frozenset[int]:
        """Item numbers of all the mates that a query has in a stored dataset."""
        params = {"dataset_digest": dataset_digest, "query_no": int(query_no)}
        with self.database.cursor() as cursor:
            return frozenset(row[0] for row in cursor.execute(query("datasets/mates"), params).fetchall())

    def support(self, support_digest: str) -> Bool:
        """Per item of its dataset, whether a run ranked it, ``[n] bool``; for a ``support_digest`` that is not ""."""
        with self.database.cursor() as cursor:
            rows = cursor.execute(query("runs/support"), {"support_digest": support_digest}).fetchall()
        items, ranked = rows[0]
        return np.unpackbits(np.frombuffer(ranked, dtype=np.uint8), count=items).astype(np.bool_)

    # --- writing

    def remember_embedding(self, facts: EmbeddingFacts, info: EncoderInfo) -> None:
        """Keep what encoding cost."""
        with self.database.transaction() as cursor:
            cursor.execute(
                query("encoders/remember_embedding"),
                {
                    "digest": facts.digest,
                    "encoder": facts.encoder,
                    "revision": facts.revision,
                    "dimension": facts.dimension,
                    "parameters": info.parameters,
                    "memory_bytes": info.memory_bytes,
                    "texts": facts.texts,
                    "seconds": facts.seconds,
                    "device": facts.device,
                },
            )

    def remember_alias(self, dataset: str, dataset_digest: str) -> None:
        """Note that a stored dataset's content was asked for under another name: its runs are this name's too."""
        with self.database.transaction() as cursor:
            cursor.execute(query("datasets/remember_alias"), {"dataset": dataset, "dataset_digest": dataset_digest})

    def remember_reference(self, reference: str, facts: Mapping[str, Any]) -> None:
        """Keep an encoder among those that are here, with what looking at it found; again after it was removed."""
        with self.database.transaction() as cursor:
            cursor.execute(
                query("encoders/remember_reference"),
                {"reference": reference, "checked_at": _now(), "facts": json.dumps(dict(facts), sort_keys=True)},
            )

    def remove_reference(self, reference: str) -> None:
        """Note that an encoder was removed. Its runs stay, and what their embeddings cost."""
        with self.database.transaction() as cursor:
            cursor.execute(query("encoders/remove_reference"), {"reference": reference, "now": _now()})

    def forget_embeddings(self, encoder: str) -> None:
        """Drop what encoding cost where no run stands on it any more."""
        with self.database.transaction() as cursor:
            cursor.execute(query("encoders/forget_embeddings"), {"encoder": encoder})

    def begin(self, plan: RunPlan) -> int:
        """Note that this process computes a run; one that was interrupted is taken over. Its ``run_seq``."""
        with self.database.transaction() as cursor:
            rows = cursor.execute(
                query("runs/begin"),
                {
                    "run_id": plan.run_id,
                    "diagnostic": plan.diagnostic,
                    "diagnostic_version": plan.diagnostic_version,
                    "encoder": plan.variant.encoder,
                    "transform": plan.variant.transform,
                    "dataset": plan.dataset,
                    "dataset_digest": plan.dataset_digest,
                    "params": json.dumps(dict(plan.params), sort_keys=True),
                    "process_id": os.getpid(),
                    "started_at": _now(),
                    "embedding_digest": plan.embedding_digest,
                    "support": json.dumps(plan.support),
                    "support_digest": plan.support_digest,
                    "own_support": plan.own_support,
                },
            ).fetchall()
        return int(rows[0][0])

    def finish(
        self,
        run_seq: int,
        entry: DiagnosticEntry,
        dataset: Dataset,
        result: DiagnosticResult,
        timings: Mapping[str, float],
        manifest: Mapping[str, Any],
        ranked: Part | None = None,
    ) -> None:
        """Store a run's scores, items and manifest, in one transaction.

        Args:
            dataset: the whole of it.
            ranked: the part of it that was looked at, where it was chosen; which one it was is kept.

        A run that another process finished meanwhile stays as it is: its numbers are the same.

        Raises:
            BlindspotError: the run was deleted meanwhile.
        """
        if bad := sorted(name for name, value in result.metrics.items() if not np.isfinite(value)):
            raise RuntimeError(f"{entry.id} computed values that are not finite: {', '.join(bad)}")
        columns = ", ".join(f"{c.name} {_SQL_TYPES[c.type]} NOT NULL" for c in entry.columns)
        item_numbers = np.arange(result.items.num_rows) if result.item_numbers is None else result.item_numbers
        numbers = pa.array(item_numbers.astype(np.int32))
        seqs = pa.array(np.full(result.items.num_rows, run_seq, dtype=np.int32))
        items = result.items.cast(entry.schema).add_column(0, "item_no", numbers).add_column(0, "run_seq", seqs)
        metrics = metric_rows(run_seq, result.metrics)
        with self.database.transaction() as cursor:
            status = cursor.execute("SELECT status FROM run WHERE run_seq = ?", [run_seq]).fetchall()
            if not status:
                raise BlindspotError("the run was deleted while it was computed", remedy="run it again")
            if status[0][0] == RunState.DONE:
                return
            cursor.execute(
                f"CREATE TABLE IF NOT EXISTS {entry.table} "
                f"(run_seq INTEGER NOT NULL, item_no INTEGER NOT NULL, {columns})"
            )
            store_dataset(cursor, dataset)
            if ranked is not None and ranked.digest:
                bits = np.packbits(ranked.support).tobytes()
                params = {"support_digest": ranked.digest, "items": len(ranked.support), "ranked": bits}
                cursor.execute(query("runs/remember_support"), params)
            cursor.from_arrow(metrics).insert_into("metric")
            cursor.from_arrow(items).insert_into(entry.table)
            cursor.execute(
                query("runs/finish"),
                {
                    "run_seq": run_seq,
                    "finished_at": _now(),
                    "coverage": json.dumps(dict(result.coverage)),
                    "timings": json.dumps(dict(timings)),
                    "manifest": json.dumps(dict(manifest), sort_keys=True),
                },
            )

    @contextmanager
    def running(self, plan: RunPlan) -> Iterator[int]:
        """``begin``, for the length of a with block that ends with ``finish``; one that fails abandons the run."""
        run_seq = self.begin(plan)
        try:
            yield run_seq
        except BaseException:
            with suppress(BlindspotError):  # what went wrong first matters more
                self.abandon(run_seq)
            raise

    def abandon(self, run_seq: int) -> None:
        """Note that a run was given up by this process, which lives on; it counts as interrupted."""
        with self.database.transaction() as cursor:
            cursor.execute(query("runs/abandon"), {"run_seq": run_seq, "process_id": os.getpid()})

    def delete(self, run: RunRecord) -> None:
        """Remove a run with its scores and items, also of a diagnostic that this version no longer has."""
        table = run.plan.table
        with self.database.transaction() as cursor:
            if table in {row[0] for row in cursor.execute("SHOW TABLES").fetchall()}:
                cursor.execute(f'DELETE FROM "{table}" WHERE run_seq = ?', [run.run_seq])
            cursor.execute("DELETE FROM metric WHERE run_seq = ?", [run.run_seq])
            cursor.execute("DELETE FROM run WHERE run_seq = ?", [run.run_seq])


def _now() -> datetime:
    """UTC, as the store keeps times."""
    return datetime.now(UTC).replace(tzinfo=None)
