"""Stores that earlier Blindspots left (``files/make.py``): opened, brought up to date, with the same content."""

from __future__ import annotations

import json
import lzma
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

from blindspot.cli import main
from blindspot.diagnostic import find_diagnostic
from blindspot.errors import BlindspotError
from blindspot.numerics.ranking.ranks import expected_reciprocal_rank
from blindspot.settings import ROOT
from blindspot.store.db import CONFINED, Database, migrate, migrations
from blindspot.store.records import RunState
from blindspot.store.repository import Repository
from blindspot.studies.judgement.store import Judgements
from tests.support import store_samples

FILES = Path(__file__).resolve().parent / "files"
VERSIONS = sorted(int(path.name[1:].partition(".")[0]) for path in FILES.glob("v*.duckdb.xz"))
SEED = 20261122
Columns = frozenset[tuple[str, ...]]
Tables = dict[str, list[str]]
Content = tuple[Tables, dict[str, tuple[int, int]]]
# Opens a store, says when it begins to bring it up to date, and how long it was until it had closed it again.
MIGRATE = """
import sys, time
from pathlib import Path
from blindspot.store import db
began, migrate = [], db.migrate
def told(*arguments):
    began.append(time.perf_counter())
    print("ready", flush=True)
    migrate(*arguments)
db.migrate = told
database = db.Database(Path(sys.argv[1]))
with database.cursor():
    pass
database.close()
print(time.perf_counter() - began[0], flush=True)
"""


def unpacked(version: int, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "results.duckdb"
    path.write_bytes(lzma.decompress((FILES / f"v{version}.duckdb.xz").read_bytes()))
    return path


def told_then(version: int) -> dict[str, dict[str, Any]]:
    """What the Blindspot of that time printed of its runs, by their ids."""
    return {run["run_id"]: run for run in json.loads((FILES / f"v{version}.json").read_text("utf-8"))}


def columns_of(connection: duckdb.DuckDBPyConnection) -> Tables:
    """The columns of every table but the list of migrations."""
    found: Tables = {}
    for table, column in connection.execute(
        "SELECT table_name, column_name FROM information_schema.columns ORDER BY table_name, ordinal_position"
    ).fetchall():
        found.setdefault(table, []).append(column)
    del found["schema_migration"]
    return found


def content(path: Path, tables: Tables) -> dict[str, tuple[int, int]]:
    """Per table the number of its rows and a digest of all their values; read without Blindspot."""
    with duckdb.connect(str(path), config=CONFINED) as connection:
        return {
            table: connection.execute(
                f"SELECT count(*), bit_xor(hash({', '.join(columns)})) FROM {table}"
            ).fetchall()[0]
            for table, columns in tables.items()
        }  # fmt: skip


def content_before(path: Path) -> Content:
    """What a store holds, and how to look at the same of a later version."""
    with duckdb.connect(str(path), config=CONFINED) as connection:
        tables = columns_of(connection)
    return tables, content(path, tables)


def schema_of(connection: duckdb.DuckDBPyConnection) -> tuple[int, Columns]:
    """The version, and every column of every table that migrations make."""
    (version,) = connection.execute("SELECT max(version) FROM schema_migration").fetchall()[0]
    columns = connection.execute(
        "SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns "
        "WHERE table_name NOT LIKE 'result_%'"
    ).fetchall()
    return version, frozenset(columns)


def schema(path: Path) -> tuple[int, Columns]:
    with duckdb.connect(str(path), config=CONFINED) as connection:
        return schema_of(connection)


@pytest.fixture(scope="module")
def schemas() -> dict[int, Columns]:
    """The columns of every version."""
    with duckdb.connect() as connection:
        found = []
        for step in migrations():
            migrate(connection, Path("in memory"), upto=step.version)
            found.append(schema_of(connection))
        return dict(found)


def test_a_run_of_an_earlier_version_is_exported_and_refused_where_versions_would_mix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    unpacked(VERSIONS[-1], tmp_path)
    monkeypatch.setenv("BLINDSPOT_CACHE", str(tmp_path))
    run = next(r for r in told_then(VERSIONS[-1]).values() if r["state"] == "done" and "mrr" in r["metrics"])
    assert main(["export", run["run_id"], "--output", str(tmp_path / "rows.parquet")]) == 0
    rows = pd.read_parquet(tmp_path / "rows.parquet")
    ranks = expected_reciprocal_rank(rows["greater"].to_numpy(), rows["ties"].to_numpy())
    assert np.mean(ranks) == pytest.approx(run["metrics"]["mrr"])
    assert main(["runs", "scores", run["run_id"]]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def assert_same_content(path: Path, version: int, before: Content) -> None:
    """The store shows what it showed to its own Blindspot, and every value of before is still there."""
    told, repository = told_then(version), Repository.at(path)
    records = {run.run_id: run for run in repository.runs()}
    assert {i: str(run.state) for i, run in records.items()} == {i: run["state"] for i, run in told.items()}
    assert {i: dict(run.metrics) for i, run in records.items()} == {i: run["metrics"] for i, run in told.items()}
    assert {i: run.plan.dataset for i, run in records.items()} == {i: run["dataset"] for i, run in told.items()}
    for run in records.values():
        if run.state is RunState.DONE:
            entry = replace(find_diagnostic(run.plan.diagnostic), version=run.plan.diagnostic_version)
            items = repository.items(entry, [run.run_id], texts=True)
            assert len(items) > 0
            assert not items.isna().any().any()
            assert run.dimension == (8 if run.plan.variant.encoder.startswith("vectors:") else 64)
    if version >= 4:
        assert [r.reference for r in repository.references()] == ["vectors:/nowhere/words.txt"]
    if version >= 7:
        judgements = Judgements(repository.database)
        (judged,) = judgements.sets()
        votes = judgements.votes(judged.set_id, "team")
        assert [(v.rater, v.item_no, v.option) for v in sorted(votes, key=lambda v: (v.rater, v.item_no))] == [
            (rater, number, option) for rater in ("Ada", "Grace") for number, option in enumerate((0, 1, None, 2))
        ]
    repository.database.close()
    tables, values = before
    assert content(path, tables) == values


def test_there_is_a_real_file_of_every_earlier_version() -> None:
    """Version 1 was never released alone. A new migration asks for the store of the version before it."""
    missing = set(range(2, len(migrations()))) - set(VERSIONS)
    assert not missing, f"make them with: python tests/store/files/make.py {' '.join(map(str, sorted(missing)))}"


@pytest.mark.parametrize("version", VERSIONS)
def test_a_real_store_of_an_earlier_version_keeps_everything(
    version: int, tmp_path: Path, schemas: dict[int, Columns]
) -> None:
    path = unpacked(version, tmp_path)
    assert schema(path) == (version, schemas[version])
    before = content_before(path)
    Repository.at(path).runs()
    assert_same_content(path, version, before)
    newest = len(migrations())
    assert schema(path) == (newest, schemas[newest])
    repository = Repository.at(path)  # and it can be written to: a new run, and the one that had been killed
    store_samples.store_run(repository, "new", store_samples.pair_set(3))
    (killed,) = repository.runs(state=RunState.INTERRUPTED)
    with repository.running(killed.plan) as run_seq:
        assert run_seq == killed.run_seq
        assert repository.run(killed.run_id).state is RunState.RUNNING
    repository.database.close()


def test_a_newer_store_is_refused_and_no_byte_of_it_changes(tmp_path: Path) -> None:
    path = unpacked(VERSIONS[-1], tmp_path)
    newer = len(migrations()) + 3
    with duckdb.connect(str(path), config=CONFINED) as connection:
        connection.execute("CREATE TABLE of_the_future AS SELECT 1 AS x")
        connection.execute("INSERT INTO schema_migration VALUES (?, 'from the future', now()::TIMESTAMP)", [newer])
    before = path.read_bytes()
    for _ in range(2):
        with pytest.raises(
            BlindspotError, match=f"has schema version {newer}; expected at most {len(migrations())}; a newer"
        ):
            Repository.at(path).runs()
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def migrating(path: Path) -> subprocess.Popen[str]:
    """A process that brings a store up to date."""
    return subprocess.Popen([sys.executable, "-c", MIGRATE, str(path)], cwd=ROOT, stdout=subprocess.PIPE, text=True)


def wait_ready(child: subprocess.Popen[str]) -> None:
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"


@pytest.mark.process
@pytest.mark.parametrize("points", [2, pytest.param(6, marks=pytest.mark.slow)])
def test_a_kill_while_migrating_leaves_whole_steps(points: int, tmp_path: Path, schemas: dict[int, Columns]) -> None:
    version, chance = VERSIONS[0], random.Random(SEED + points)
    with migrating(unpacked(version, tmp_path / "undisturbed")) as child:
        wait_ready(child)
        assert child.stdout is not None
        seconds = float(child.stdout.readline())
    left = []
    for point in range(points):
        path = unpacked(version, tmp_path / str(point))
        before = content_before(path)
        with migrating(path) as child:
            wait_ready(child)
            time.sleep(seconds * (point + chance.random()) / points)
            child.send_signal(signal.SIGKILL)
        found, columns = schema(path)
        left.append(found)
        assert columns == schemas[found], "no step is half done"
        assert_same_content(path, version, before)
        assert schema(path) == (len(migrations()), schemas[len(migrations())])
    print(f"killed while migrating from {version} ({seconds:.3f} s): left {left}")


@pytest.mark.slow
def test_two_processes_bring_one_store_up_to_date(tmp_path: Path) -> None:
    path = unpacked(VERSIONS[0], tmp_path)
    before = content_before(path)
    children = [migrating(path) for _ in range(2)]
    for child in children:
        out, _ = child.communicate(timeout=60)
        assert child.returncode == 0
        assert out.startswith("ready\n")
    assert_same_content(path, VERSIONS[0], before)
    database = Database(path)
    with database.cursor() as cursor:
        assert cursor.execute("SELECT version FROM schema_migration ORDER BY version").fetchall() == [
            (m.version,) for m in migrations()
        ]
    database.close()
