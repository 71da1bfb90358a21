"""The schema: reached step by step, from real files of every older version, each step all or nothing."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest

from blindspot.store import db
from blindspot.store.db import Database, Migration, migrate, migrations
from blindspot.store.records import RunState
from blindspot.store.repository import Repository
from tests.support import store_samples
from tests.support.tables import each


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "results.duckdb"


def versions(path: Path) -> list[tuple[int, str]]:
    with duckdb.connect(str(path)) as connection:
        return connection.execute("SELECT version, name FROM schema_migration ORDER BY version").fetchall()


def schema(path: Path) -> list[tuple[str, ...]]:
    """Every column of every table."""
    with duckdb.connect(str(path)) as connection:
        return connection.execute(
            "SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns ORDER BY ALL"
        ).fetchall()


def open_and_close(path: Path) -> None:
    database = Database(path)
    with database.cursor():
        pass
    database.close()


def older_store(path: Path, version: int) -> None:
    """An empty store as a Blindspot of that version left it."""
    with duckdb.connect(str(path)) as connection:
        migrate(connection, path, upto=version)


def store_of_version_1(path: Path) -> None:
    """A store with a finished and an interrupted run, written with the statements that version 1 had."""
    older_store(path, 1)
    dataset = store_samples.pair_set(3)
    with duckdb.connect(str(path)) as connection:
        for run_id, status in (("aaaa", "done"), ("bbbb", "running")):
            connection.execute(
                "INSERT INTO run (run_id, diagnostic, diagnostic_version, encoder, transform, dataset, dataset_digest, "
                "params, status, process_id, started_at, finished_at, coverage, timings, manifest) "
                "VALUES (?, 'evalrank', 1, 'minilm', 'center', 'sample', ?, '{\"metric\": \"cos\"}', ?, 4194305, "
                "TIMESTAMP '2026-01-02 03:04:05', TIMESTAMP '2026-01-02 03:05:05', '{\"pairs\": 3}', '{}', '{}')",
                [run_id, dataset.content_digest, status],
            )
        connection.execute("INSERT INTO metric VALUES (1, 'mrr', 0.25), (1, 'hits@1', 0.125)")
        connection.execute(
            "INSERT INTO dataset (dataset, dataset_digest, kind) VALUES ('sample', ?, 'pair set')",
            [dataset.content_digest],
        )
        connection.executemany("INSERT INTO dataset_text VALUES (1, ?, ?)", [*enumerate(dataset.items)])
        pairs = zip(dataset.queries.tolist(), dataset.mates.tolist(), strict=True)
        connection.executemany("INSERT INTO dataset_pair VALUES (1, ?, ?, ?)", [(i, *p) for i, p in enumerate(pairs)])
        connection.execute(
            "CREATE TABLE result_evalrank_v1 (run_seq INTEGER NOT NULL, item_no INTEGER NOT NULL, "
            "similarity DOUBLE NOT NULL, greater INTEGER NOT NULL, ties INTEGER NOT NULL, "
            "greater_filtered INTEGER NOT NULL, ties_filtered INTEGER NOT NULL)"
        )
        connection.execute(
            "INSERT INTO result_evalrank_v1 VALUES "
            "(1, 0, .5, 10, 1, 9, 0), (1, 1, .6, 0, 0, 0, 0), (1, 2, .7, 4, 2, 4, 2)"
        )


def test_a_new_store_has_the_whole_schema(path: Path) -> None:
    open_and_close(path)
    assert versions(path) == [(m.version, m.name) for m in migrations()]
    before = schema(path)
    open_and_close(path)
    assert versions(path) == [(m.version, m.name) for m in migrations()]
    assert schema(path) == before


@pytest.mark.heavy
@each("version", range(len(migrations())))
def test_every_older_schema_becomes_the_newest(tmp_path: Path, version: int) -> None:
    path, new = tmp_path / "older.duckdb", tmp_path / "new.duckdb"
    older_store(path, version)
    assert len(versions(path)) == version
    open_and_close(path)
    open_and_close(new)
    assert schema(path) == schema(new)
    assert versions(path) == versions(new)


def test_the_content_of_a_store_of_version_1_survives_and_it_takes_new_runs(path: Path) -> None:
    store_of_version_1(path)
    assert versions(path) == [(1, "runs")]
    repository = Repository.at(path)

    interrupted, done = repository.runs()
    assert (interrupted.run_id, interrupted.state) == ("bbbb", RunState.INTERRUPTED)
    assert (done.run_id, done.state, done.run_seq) == ("aaaa", RunState.DONE, 1)
    assert dict(done.metrics) == {"mrr": 0.25, "hits@1": 0.125}
    assert done.coverage == {"pairs": 3}
    assert done.plan.params == {"metric": "cos"}
    assert done.started_at == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert done.plan.embedding_digest == "", "version 1 did not know it"
    assert done.dimension is None
    assert done.texts_per_second is None

    items = repository.items(replace(store_samples.ENTRY, version=1), ["aaaa"], texts=True)
    dataset = store_samples.pair_set(3)
    assert items["greater"].tolist() == [10, 0, 4]
    assert items["query"].tolist() == list(dataset.items[:3])
    assert items["mate"].tolist() == list(dataset.items[3:])

    assert store_samples.store_run(repository, "cccc", dataset) == 3
    assert store_samples.store_run(repository, "bbbb", dataset) == 2, "the interrupted run is taken over"
    assert {r.run_id: r.state for r in repository.runs()} == dict.fromkeys(("aaaa", "bbbb", "cccc"), RunState.DONE)
    assert repository.run("cccc").plan.embedding_digest == "e" * 32
    with repository.database.cursor() as cursor:
        assert cursor.execute("SELECT count(*) FROM dataset_text").fetchall() == [(6,)], "texts stand once"


def test_a_step_that_fails_leaves_nothing_and_can_be_tried_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store_of_version_1(path)
    before = schema(path)
    good = migrations()
    broken = Migration(
        2, "broken", "CREATE TABLE half (x INTEGER); ALTER TABLE run ADD COLUMN x INTEGER; SELECT 1 / 'a'"
    )
    monkeypatch.setattr(db, "migrations", lambda: (good[0], broken))
    with pytest.raises(duckdb.Error):
        open_and_close(path)
    assert versions(path) == [(1, "runs")]
    assert schema(path) == before
    monkeypatch.setattr(db, "migrations", lambda: good)
    assert len(Repository.at(path).runs()) == 2


def test_earlier_steps_stay_when_a_later_one_fails(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = Migration(len(migrations()) + 1, "broken", "SELECT * FROM nowhere")
    good = migrations()
    monkeypatch.setattr(db, "migrations", lambda: (*good, broken))
    with pytest.raises(duckdb.CatalogException):
        open_and_close(path)
    assert versions(path) == [(m.version, m.name) for m in good]
