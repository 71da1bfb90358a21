"""The store's records; with ``purging``, ``inspection`` and ``db`` the only module that runs SQL."""

from __future__ import annotations

import json
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar, Unpack, cast

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa

from blindspot.datasets.catalog import DatasetRef
from blindspot.datasets.kinds import KINDS
from blindspot.datasets.kinds.base import Dataset, DatasetKind, Part
from blindspot.datasets.kinds.own_columns import OwnColumn
from blindspot.diagnostic import Diagnostic, DiagnosticResult
from blindspot.encoders.base import EncoderInfo
from blindspot.encoders.cache import EmbeddingFacts
from blindspot.errors import BlindspotError, InputError
from blindspot.names import Kind
from blindspot.references import ModelRef
from blindspot.store.db import Database, parsed, query, tables_of
from blindspot.store.records import (
    Leaderboard,
    RunCount,
    RunPage,
    RunPlan,
    RunQuery,
    RunRecord,
    RunState,
    Speed,
    StoredReference,
    record_of,
)
from blindspot.store.schema import result_table
from blindspot.texts import numbered
from blindspot.types import Bool, Int64
from blindspot.variants import Variant

_RANKS = "1 + greater + ties / 2 AS rank, 1 + greater_filtered + ties_filtered / 2 AS rank_filtered,"
RUN_AS_ROWS = 5  # rows that a run counts for in the memory for answers
UNMEASURED = {"texts": None, "seconds": None, "device": None}  # the speed of a model that encoded nothing
MANY = 100  # runs whose ids begin alike: more are not counted
MOST_ROWS = 50_000  # of all answers that are kept: some tens of megabytes

A = TypeVar("A")


class Answers:
    """Answers to earlier questions, valid until the store's file changes, in this process or in another one.

    A page asks some ten small questions, such as which models there are, every time it is drawn. DuckDB takes some
    milliseconds for each, tens of them in a store of 100,000 runs, and has to open the file again after a second's
    rest. Those asked for longest ago are dropped first. Callers share the answers: nobody may change one.
    """

    def __init__(self, database: Database, most_rows: int = MOST_ROWS) -> None:
        self._database = database
        self._most = most_rows
        self._lock = threading.Lock()
        self._state: Hashable = None
        self._kept: OrderedDict[Hashable, tuple[object, int]] = OrderedDict()
        self._rows = 0

    def get(self, question: Hashable, ask: Callable[[], tuple[A, int | None]]) -> A:
        """The answer to a question; ``ask`` returns it with its number of rows, None if it can change by itself."""
        before = self._database.state()  # looked at first: what changes meanwhile makes the answer look older
        with self._lock:
            if before != self._state:
                self._kept.clear()
                self._rows, self._state = 0, before
            if question in self._kept:
                self._kept.move_to_end(question)
                return cast("A", self._kept[question][0])
        answer, rows = ask()
        if rows is not None:
            with self._lock:
                if before == self._state and question not in self._kept:
                    self._kept[question] = (answer, rows + 1)
                    self._rows += rows + 1
                    while self._rows > self._most:
                        self._rows -= self._kept.popitem(last=False)[1][1]
        return answer


class Repository:
    """The store at a path. Every method opens it, reads or writes, and closes it; reading never creates one."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._answers = Answers(database)

    @classmethod
    def at(cls, path: Path) -> Repository:
        return cls(Database(path))

    def _rows(self, name: str, params: Mapping[str, object] | None = None) -> list[tuple[Any, ...]]:
        """Result of a query; empty if there is no store yet."""
        if not self.database.path.exists():
            return []

        def ask() -> tuple[list[tuple[Any, ...]], int]:
            with self.database.cursor() as cursor:
                rows: list[tuple[Any, ...]] = cursor.execute(parsed(cursor, _by_version(name)), params).fetchall()
            return rows, len(rows)

        return list(self._answers.get((name, _key(params)), ask))

    def _write(self, name: str, params: Mapping[str, object]) -> list[tuple[Any, ...]]:
        """Run a query in a transaction of its own."""
        with self.database.transaction() as cursor:
            rows: list[tuple[Any, ...]] = cursor.execute(parsed(cursor, query(name)), params).fetchall()
        return rows

    # --- reading

    def runs(self, **wanted: Unpack[RunQuery]) -> list[RunRecord]:
        """Runs, newest first."""
        return list(self.page(**wanted).runs)

    def finished(self, entry: Diagnostic, **wanted: Unpack[RunQuery]) -> list[RunRecord]:
        """Finished runs of this version of a diagnostic over the current content of their datasets, newest first."""
        wanted.update({"diagnostic": entry.id, "version": entry.version, "state": RunState.DONE, "current": True})
        return self.runs(**wanted)

    def page(self, **wanted: Unpack[RunQuery]) -> RunPage:
        """The result of ``runs``, and the number of runs without the limit."""
        if not self.database.path.exists():
            return RunPage(0, ())
        state, params, metrics = wanted.get("state"), wanted.get("params"), wanted.get("metrics")
        variants, run_seqs = wanted.get("variants"), wanted.get("run_seqs")
        limit, skip = wanted.get("limit"), wanted.get("skip", 0)
        # SQL cannot tell a run that goes on from one whose process died; there are few of them.
        unfinished = state in {RunState.RUNNING, RunState.INTERRUPTED}
        filters = {name: wanted.get(name) for name in ("run_id", "diagnostic", "version", "encoder", "dataset")} | {
            "variants": None if variants is None else [str(v) for v in variants],
            "params": None if params is None else _json(params),
            "status": "running" if unfinished else state,
            "current": wanted.get("current", False),
            "run_seqs": None if run_seqs is None else list(run_seqs),
            "metrics": None if metrics is None else list(metrics),
            "limit": None if unfinished else limit,
            "skip": 0 if unfinished else skip,
        }

        def ask() -> tuple[tuple[list[RunRecord], int], int | None]:
            with self.database.cursor() as cursor:
                # Not as a relation: DuckDB would plan it several times, and planning takes longer than anything else.
                values = cursor.execute(parsed(cursor, _by_version("runs/list")), filters).fetchall()
                names = [column[0] for column in cursor.description]
            fastest = {
                (encoder, revision): {"texts": texts, "seconds": seconds, "device": device}
                for encoder, revision, device, texts, seconds, _, place in self._rows("encoders/speeds")
                if place == 1
            }
            rows = [dict(zip(names, row, strict=True)) for row in values]
            rows = [row | fastest.get((row["encoded_by"], row["revision"]), UNMEASURED) for row in rows]
            # Whether a process still computes a run is no fact of the store.
            is_fixed = all(row["status"] == RunState.DONE for row in rows)
            page = [record_of(row) for row in rows], rows[0]["total"] if rows else 0
            return page, RUN_AS_ROWS * len(rows) if is_fixed else None

        records, total = self._answers.get(("runs/list", _key(filters)), ask)
        if unfinished:
            records = [r for r in records if r.state is state]
            end = None if limit is None else skip + limit
            return RunPage(len(records), tuple(records[skip:end]))
        return RunPage(total, tuple(records))

    def counts(self) -> list[RunCount]:
        """Number of runs per diagnostic, dataset and whether they are finished."""
        rows = self._rows("runs/count")
        return [RunCount(diagnostic, dataset, status == RunState.DONE, n) for diagnostic, dataset, status, n in rows]

    def leaderboards(
        self,
        entry: Diagnostic,
        params: Mapping[str, str],
        variants: Sequence[Variant],
        metrics: Sequence[str] | None,
        top: int,
    ) -> list[Leaderboard]:
        """Per dataset the comparable runs of a diagnostic, best first; the dataset that was run last comes first.

        Which run of a variant counts, and on which items, is as in ``runs.same_items.on_same_items``.

        Args:
            variants: only these; all if it is empty.
            metrics: the scores to read; None for all.
            top: the most runs per dataset.
        """
        filters = {
            "diagnostic": entry.id,
            "version": entry.version,
            "params": _json(params),
            "variants": [str(v) for v in variants] or None,
            "headline": entry.headline,
            "sign": -1 if entry.headline_is_lower_better else 1,
            "top": top,
        }
        rows = self._rows("runs/leaderboard", filters)
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
        """Variants with a finished run, in order of first appearance (which decides their colors)."""
        return [Variant(*row) for row in self._rows("runs/variants")]

    def datasets(self) -> list[DatasetRef]:
        """Ids of datasets with a finished run, in order of first appearance."""
        return [DatasetRef(row[0]) for row in self._rows("datasets/tested")]

    def references(self) -> list[StoredReference]:
        """Encoders that were added by reference or removed, by name."""
        return [
            StoredReference(name, at.replace(tzinfo=UTC), gone, json.loads(facts))
            for name, at, gone, facts in self._rows("encoders/references")
        ]

    def names(self) -> list[tuple[str, str, str | None]]:
        """Kind (``blindspot.names.Kind``) and reference of what the store knows, in order of first appearance, and the
        name that a user gave it."""
        return [(kind, reference, name) for kind, reference, name in self._rows("names/known")]

    def versions(self) -> list[tuple[str, str]]:
        """Reference and label of every version of the models that got other weights between runs."""
        rows = self._rows("encoders/versions")
        return [(reference, f"version {number} of {at.day} {at:%b}") for reference, number, at in rows]

    def embeddings(self) -> list[EmbeddingFacts]:
        """Costs of encoding for every run so far, even if the embeddings are no longer on disk."""
        return [EmbeddingFacts(*row) for row in self._rows("encoders/embeddings")]

    def newest_revisions(self) -> list[tuple[ModelRef, str, datetime]]:
        """Every model with a reference to something outside of the catalog, the revision of its newest finished run,
        and when that began."""
        rows = self._rows("encoders/newest_revisions")
        return [(Variant(model, "none").encoder, revision, at.replace(tzinfo=UTC)) for model, revision, at in rows]

    def speeds(self) -> tuple[Speed, ...]:
        """Speed of every model by revision and device; those with the most encoded texts first."""
        speeds = [
            Speed(encoder, revision, device, texts, seconds, began and began.replace(tzinfo=UTC))
            for encoder, revision, device, texts, seconds, began, _ in self._rows("encoders/speeds")
        ]
        return tuple(sorted(speeds, key=lambda speed: -speed.texts))

    def digest(self) -> str:
        """A cheap digest of the finished runs, the judgments and who may see them; "" for an empty store."""
        return "-".join(str(part) for row in self._rows("store_digest") for part in row)

    def run(self, run_id: str) -> RunRecord:
        """One run, by its id or the beginning of it; raises ``InputError`` if none or several begin so."""
        runs = self.runs(run_id=run_id, limit=MANY) if run_id else []
        if len(runs) != 1:
            raise InputError(
                f"{'many' if len(runs) == MANY else len(runs) or 'no'} runs have an id that begins with '{run_id}'",
                expected="the beginning of exactly one run id",
                remedy="list them with: blindspot runs",
            )
        return runs[0]

    def items(self, entry: Diagnostic, run_ids: Sequence[str], *, texts: bool) -> pd.DataFrame:
        """Rows of finished runs: ``run_id, item_no``, the diagnostic's columns and, with ``texts``, the dataset's; for
        minimal pairs always the numbers of their texts.

        Raises:
            BlindspotError: the store has no table of this diagnostic's rows.
        """
        if not run_ids:
            return pd.DataFrame()
        stored_as = KINDS[entry.dataset_kind].stored_as
        without = "minimal_pair_without_texts" if stored_as == "minimal_pair" else "without_texts"
        name = f"items/{stored_as if texts and stored_as else without}"
        sql = query(name).replace("{table}", entry.table)  # our own name, never a user's
        sql = sql.replace("{ranks}", _RANKS if "greater_filtered" in entry.schema.names else "")
        with self.database.cursor() as cursor:
            try:
                table: pa.Table = cursor.sql(parsed(cursor, sql), params={"run_ids": list(run_ids)}).to_arrow_table()
            except duckdb.CatalogException as error:
                if entry.table in tables_of(cursor):
                    raise
                raise BlindspotError(
                    f"the store has scores of {entry.title}, but not its items",
                    remedy="delete these runs and run them again",
                ) from error
        return pd.DataFrame(table.to_pandas())

    def item_rows(self) -> int:
        """Approximate number of per-item rows of all finished runs; does not read them."""
        rows = self._rows("items/about_how_many")
        return int(rows[0][0]) if rows else 0

    def with_items(self, entry: Diagnostic, run_ids: Sequence[str]) -> frozenset[str]:
        """Those of the runs whose per-item rows are in the store."""
        with self.database.cursor() as cursor:
            if entry.table not in tables_of(cursor):
                return frozenset()
            sql = query("runs/with_items").replace("{table}", entry.table)
            return frozenset(row[0] for row in cursor.execute(sql, {"run_ids": list(run_ids)}).fetchall())

    def texts(self, dataset_digest: str, numbers: Sequence[int]) -> dict[int, str]:
        """Texts of a stored dataset by their numbers."""
        params = {"dataset_digest": dataset_digest, "numbers": [int(n) for n in numbers]}
        return dict(self._rows("datasets/texts", params))

    def same_texts(self, dataset_digest: str) -> Int64:
        """``Dataset.same_texts`` of a stored dataset."""
        return numbered(text for (text,) in self._rows("datasets/every_text", {"dataset_digest": dataset_digest}))[0]

    def pairs(self, dataset_digest: str) -> tuple[Int64, Int64]:
        """Numbers of the texts of each pair of a stored pair set, ``[m]`` each."""
        rows = self._rows("datasets/pairs", {"dataset_digest": dataset_digest})
        queries, matches = np.array(rows, dtype=np.int64).reshape(-1, 2).T
        return queries, matches

    def longest_texts(self, dataset_digest: str, most: int) -> dict[int, str]:
        """The texts of a stored dataset with the most characters, by their numbers, the longest first."""
        return dict(self._rows("datasets/longest", {"dataset_digest": dataset_digest, "most": most}))

    def matches(self, dataset_digest: str, query_no: int) -> frozenset[int]:
        """Item numbers of all the matches that a query has in a stored dataset."""
        params = {"dataset_digest": dataset_digest, "query_no": int(query_no)}
        return frozenset(row[0] for row in self._rows("datasets/matches", params))

    def asking(self, dataset_digest: str) -> Int64:
        """``Dataset.asking`` of stored pairs or minimal pairs."""
        rows = self._rows("datasets/asking", {"dataset_digest": dataset_digest})
        return np.array([row[0] for row in rows], dtype=np.int64)

    def own_columns(self, dataset: str, dataset_digest: str) -> tuple[OwnColumn, ...]:
        """The own columns of a user's file, as they were when a run on it was last computed or looked for."""
        rows = self._rows("datasets/own_columns", {"dataset": dataset, "dataset_digest": dataset_digest})
        return tuple(OwnColumn(name, tuple(v), np.frombuffer(codes, dtype=np.uint8)) for name, v, codes in rows)

    def covered(self, covered_digest: str) -> Bool:
        """Whether a run ranked each item of its dataset, ``[n] bool``; ``covered_digest`` must not be ""."""
        items, ranked = self._rows("runs/support", {"support_digest": covered_digest})[0]
        return np.unpackbits(np.frombuffer(ranked, dtype=np.uint8), count=items).astype(np.bool_)

    # --- writing

    def give_name(self, kind: Kind, reference: str, name: str) -> None:
        """Store a user's name for a model or a dataset; "" removes it."""
        params = {"kind": kind.value, "reference": reference}
        if name:
            self._write("names/give", params | {"name": name})
        else:
            self._write("names/take", params)

    def remember_embedding(self, facts: EmbeddingFacts, info: EncoderInfo) -> None:
        """Store the costs of an encoding."""
        params = {
            "digest": facts.digest,
            "encoder": facts.encoder,
            "revision": facts.revision,
            "dimension": facts.dimension,
            "parameters": info.parameters,
            "memory_bytes": info.memory_bytes,
            "texts": facts.texts,
            "seconds": facts.seconds,
            "device": facts.device,
        }
        self._write("encoders/remember_embedding", params)

    def remember_alias(self, dataset: str, dataset_digest: str) -> None:
        """Store another name of a dataset's content: its runs also belong to this name."""
        self._write("datasets/remember_alias", {"dataset": dataset, "dataset_digest": dataset_digest})

    def remember_own_columns(self, dataset: Dataset) -> None:
        """Store the own columns of a dataset, replacing those stored for its name and content."""
        columns = self.own_columns(dataset.id, dataset.content_digest)
        if [(c.name, c.values, c.codes.tobytes()) for c in columns] == [
            (c.name, c.values, c.codes.tobytes()) for c in dataset.own_columns
        ]:
            return
        with self.database.transaction() as cursor:
            store_own_columns(cursor, dataset.id, dataset.content_digest, dataset.own_columns)

    def remember_reference(self, reference: str, facts: Mapping[str, Any]) -> None:
        """Store an encoder with the facts of its check, even if it was removed before."""
        params = {"reference": reference, "checked_at": _now(), "facts": _json(facts)}
        self._write("encoders/remember_reference", params)

    def remove_reference(self, reference: str) -> None:
        """Note that an encoder was removed. Its runs and the costs of their embeddings stay."""
        self._write("encoders/remove_reference", {"reference": reference, "now": _now()})

    def forget_embeddings(self, encoder: str) -> None:
        """Delete the costs of embeddings that no run uses anymore."""
        self._write("encoders/forget_embeddings", {"encoder": encoder})

    def forget_costs(self, digests: Sequence[str]) -> int:
        """``forget_embeddings`` for some embeddings; returns how many were dropped."""
        return len(self._write("encoders/forget_costs", {"digests": list(digests)}))

    def begin(self, plan: RunPlan) -> int:
        """Note that this process computes a run, or takes over an interrupted one. Returns its ``run_seq``."""
        params = {"run_id": plan.run_id, "process_id": os.getpid(), "started_at": _now(), **plan.columns}
        return int(self._write("runs/begin", params)[0][0])

    def finish(
        self,
        run_seq: int,
        entry: Diagnostic,
        dataset: Dataset,
        result: DiagnosticResult,
        timings: Mapping[str, float],
        manifest: Mapping[str, Any],
        ranked: Part | None = None,
    ) -> None:
        """Store a run's scores, items and manifest, in one transaction.

        A run that another process has finished meanwhile stays as it is: its numbers are the same.

        Args:
            dataset: the whole dataset.
            ranked: the part that the run looked at; which items it covers is stored.

        Raises:
            BlindspotError: the run was deleted meanwhile.
        """
        items = items_of(entry, result)
        metrics = pa.table(
            {"name": list(result.metrics), "value": pa.array(list(result.metrics.values()), pa.float64())}
        )
        with self.database.transaction() as cursor:
            status = cursor.execute("SELECT status FROM run WHERE run_seq = ?", [run_seq]).fetchall()
            if not status:
                raise BlindspotError("the run was deleted while it was computed", remedy="run it again")
            if status[0][0] == RunState.DONE:
                return
            cursor.execute(result_table(entry))
            store_dataset(cursor, dataset)
            store_own_columns(cursor, dataset.id, dataset.content_digest, dataset.own_columns)
            if ranked is not None and ranked.digest:
                bits = np.packbits(ranked.covered).tobytes()
                params = {"support_digest": ranked.digest, "items": len(ranked.covered), "ranked": bits}
                cursor.execute(query("runs/remember_support"), params)
            cursor.from_arrow(with_number("run_seq", run_seq, metrics)).insert_into("metric")
            cursor.from_arrow(with_number("run_seq", run_seq, items)).insert_into(entry.table)
            params = {
                "run_seq": run_seq,
                "finished_at": _now(),
                "coverage": json.dumps(dict(result.coverage)),
                "timings": json.dumps(dict(timings)),
                "manifest": _json(manifest),
            }
            cursor.execute(query("runs/finish"), params)

    @contextmanager
    def running(self, plan: RunPlan) -> Iterator[int]:
        """``begin`` for a with block that ends with ``finish``; a block that fails abandons the run.

        After an ``InputError`` nothing is left to continue, since the run would be refused again.
        """
        run_seq = self.begin(plan)
        try:
            yield run_seq
        except BaseException as error:
            with suppress(BlindspotError):  # the first error matters more
                if isinstance(error, InputError):
                    self._write("runs/refuse", {"run_seq": run_seq, "process_id": os.getpid()})
                else:
                    self.abandon(run_seq)
            raise

    def abandon(self, run_seq: int) -> None:
        """Note that this process abandoned a run; it counts as interrupted."""
        self._write("runs/abandon", {"run_seq": run_seq, "process_id": os.getpid()})

    def drop_interrupted(self, run: RunRecord) -> bool:
        """Remove a run that was begun and not finished. False if it was taken over, finished or removed since."""
        started_at = run.started_at.astimezone(UTC).replace(tzinfo=None)
        return bool(self._write("runs/drop_interrupted", {"run_seq": run.run_seq, "started_at": started_at}))

    def delete(self, run: RunRecord) -> None:
        """Remove a run with its scores and items, also of a diagnostic that this version no longer has."""
        with self.database.transaction() as cursor:
            for table in tables_of(cursor) & {run.plan.table}:
                cursor.execute(f'DELETE FROM "{table}" WHERE run_seq = ?', [run.run_seq])
            cursor.execute("DELETE FROM metric WHERE run_seq = ?", [run.run_seq])
            cursor.execute("DELETE FROM run WHERE run_seq = ?", [run.run_seq])


def items_of(entry: Diagnostic, result: DiagnosticResult) -> pa.Table:
    """The per-item rows of a result as they are stored: ``item_no``, then the diagnostic's columns."""
    if bad := sorted(name for name, value in result.metrics.items() if not np.isfinite(value)):
        raise RuntimeError(f"{entry.id} computed values that are not finite: {', '.join(bad)}")
    item_numbers = np.arange(result.items.num_rows) if result.item_numbers is None else result.item_numbers
    return result.items.cast(entry.schema).add_column(0, "item_no", pa.array(item_numbers.astype(np.int32)))


def store_dataset(cursor: duckdb.DuckDBPyConnection, dataset: Dataset) -> None:
    """Store a dataset's texts, and the rows that name them by number, once per content."""
    digest = dataset.content_digest
    if not has_dataset(cursor, digest):
        store_texts(cursor, dataset.id, digest, dataset.kind, pa.array(dataset.items, pa.string()), rows_of(dataset))


def has_dataset(cursor: duckdb.DuckDBPyConnection, digest: str) -> bool:
    return bool(cursor.execute("SELECT 1 FROM dataset WHERE dataset_digest = ?", [digest]).fetchall())


def rows_of(dataset: Dataset) -> pa.Table | None:
    """A dataset's rows as they are stored; None for a kind that keeps no rows."""
    return pa.table(dataset.stored_rows()) if dataset.stored_as else None


def store_texts(
    cursor: duckdb.DuckDBPyConnection,
    dataset: str,
    digest: str,
    kind: DatasetKind,
    texts: pa.Array | pa.ChunkedArray,
    rows: pa.Table | None,
) -> None:
    """Store the texts and rows of a dataset that is not in the store yet."""
    inserted = cursor.execute(
        "INSERT INTO dataset (dataset, dataset_digest, kind) VALUES (?, ?, ?) RETURNING dataset_seq",
        [dataset, digest, kind],
    ).fetchall()
    seq = int(inserted[0][0])
    numbers = np.arange(len(texts), dtype=np.int32)
    cursor.from_arrow(with_number("dataset_seq", seq, pa.table({"text_no": numbers, "text": texts}))).insert_into(
        "dataset_text"
    )
    if rows is not None:
        cursor.from_arrow(with_number("dataset_seq", seq, rows)).insert_into(f"dataset_{KINDS[kind].stored_as}")


def store_own_columns(
    cursor: duckdb.DuckDBPyConnection, dataset: str, digest: str, columns: Iterable[OwnColumn]
) -> None:
    cursor.execute("DELETE FROM own_column WHERE dataset = ? AND dataset_digest = ?", [dataset, digest])
    for number, column in enumerate(columns):
        cursor.execute(
            "INSERT INTO own_column VALUES (?, ?, ?, ?, ?, ?)",
            [dataset, digest, number, column.name, list(column.values), column.codes.tobytes()],
        )


def with_number(column: str, number: int, table: pa.Table) -> pa.Table:
    """The table with one number in a new first column."""
    return table.add_column(0, column, pa.array(np.full(table.num_rows, number, dtype=np.int32)))


def _by_version(name: str) -> str:
    """A query that reads runs and shows runs of older weights as a version of their own."""
    return query(name).replace("{older}", query("runs/older")).replace("{revisions}", query("runs/revisions"))


def _key(params: Mapping[str, object] | None) -> str:
    """Key of a query's parameters, as text: some are lists."""
    return repr(sorted((params or {}).items()))


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(dict(value), sort_keys=True)


def _now() -> datetime:
    """UTC, as the store keeps times."""
    return datetime.now(UTC).replace(tzinfo=None)
