"""The schema: one baseline; the migrations after it run step by step, each step all or nothing.

There is none yet. ``NOTES`` is the worked example: how one is written, and what is tested of it.
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pytest

from blindspot.cli import main
from blindspot.errors import BlindspotError
from blindspot.settings import ROOT
from blindspot.store import db
from blindspot.store.db import CONFINED, Database, Migration, migrations
from blindspot.store.records import RunState
from blindspot.store.repository import Repository
from tests.support import store_samples

NEW = len(migrations()) + 1
# As the file migrations/002_notes.sql would have it: what is there gets a value, and nothing is lost.
NOTES = Migration(
    NEW,
    "notes",
    "ALTER TABLE run ADD COLUMN note VARCHAR; UPDATE run SET note = 'of ' || encoder; "
    "CREATE TABLE note_of_dataset (dataset VARCHAR PRIMARY KEY, note VARCHAR NOT NULL); "
    "INSERT INTO note_of_dataset SELECT DISTINCT dataset, '' FROM dataset;",
)
SEED = 20261122
# Opens a store with a further migration, says when it begins with it, and how long it was until it had closed it again.
MIGRATE = f"""
import sys, time
from pathlib import Path
from blindspot.store import db
both = (*db.migrations(), db.{NOTES!r})
db.migrations = lambda: both
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
Content = dict[str, list[tuple[object, ...]]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store with two finished runs and one that was interrupted."""
    return filled(tmp_path / "results.duckdb")


def filled(path: Path) -> Path:
    repository = Repository.at(path)
    for run_id in ("aaaa", "cccc"):
        store_samples.store_run(repository, run_id, store_samples.pair_set(300))
    repository.begin(store_samples.plan("bbbb", store_samples.pair_set(300)))
    repository.remember_reference("vectors:/nowhere/words.txt", {"dimension": 8})
    with repository.database.transaction() as cursor:
        cursor.execute("UPDATE run SET process_id = 4194305 WHERE run_id = 'bbbb'")
    repository.database.close()
    return path


def use(monkeypatch: pytest.MonkeyPatch, *more: Migration) -> None:
    """Let Blindspot have more migrations."""
    both = (*migrations(), *more)
    monkeypatch.setattr(db, "migrations", lambda: both)


def versions(path: Path) -> list[tuple[int, str]]:
    with duckdb.connect(str(path), config=CONFINED) as connection:
        return connection.execute("SELECT version, name FROM schema_version ORDER BY version").fetchall()


def content(path: Path) -> Content:
    """All columns but the example's of all tables but its own, read without Blindspot."""
    with duckdb.connect(str(path), config=CONFINED) as connection:
        tables = sorted(db.tables_of(connection) - {"schema_version", "note_of_dataset"})
        return {
            table: connection.execute(
                f"SELECT {'* EXCLUDE (note)' if table == 'run' and _has_notes(connection) else '*'} FROM {table} "
                "ORDER BY ALL"
            ).fetchall()
            for table in tables
        }


def _has_notes(connection: duckdb.DuckDBPyConnection) -> bool:
    return "note" in {row[0] for row in connection.execute("DESCRIBE run").fetchall()}


def open_and_close(path: Path) -> None:
    database = Database(path)
    with database.cursor():
        pass
    database.close()


def test_a_new_store_has_the_baseline_and_opening_it_again_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "new.duckdb"
    open_and_close(path)
    assert versions(path) == [(1, "baseline")]
    before = content(path)
    assert len(before) > 20
    assert not any(before.values())
    open_and_close(path)
    assert versions(path) == [(1, "baseline")]
    assert content(path) == before


def test_a_migration_keeps_what_is_there_and_gives_it_values(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = content(path)
    assert len(before["run"]) == 3
    assert len(before["dataset_pair"]) == 300
    use(monkeypatch, NOTES)
    repository = Repository.at(path)
    assert {run.run_id: run.state for run in repository.runs()} == {
        "aaaa": RunState.DONE,
        "bbbb": RunState.INTERRUPTED,
        "cccc": RunState.DONE,
    }
    with repository.database.cursor() as cursor:
        assert cursor.execute("SELECT DISTINCT note FROM run").fetchall() == [("of minilm",)]
        assert cursor.execute("SELECT dataset, note FROM note_of_dataset").fetchall() == [("sample", "")]
    repository.database.close()
    assert versions(path) == [(1, "baseline"), (NEW, "notes")]
    assert content(path) == before
    store_samples.store_run(repository, "dddd", store_samples.pair_set(300))  # and it can be written to
    assert len(repository.runs()) == 4


def test_a_step_that_fails_leaves_nothing_of_itself_and_earlier_ones_stay(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = content(path)
    with monkeypatch.context() as patch:
        use(patch, NOTES, Migration(NEW + 1, "broken", "CREATE TABLE half (x INTEGER); SELECT 1 / 'a'"))
        for _ in range(2):
            with pytest.raises(duckdb.Error):
                open_and_close(path)
        assert versions(path) == [(1, "baseline"), (NEW, "notes")]
        assert content(path) == before
    use(monkeypatch, NOTES)
    assert len(Repository.at(path).runs()) == 3


def test_a_newer_store_is_refused_and_no_byte_of_it_changes(path: Path, tmp_path: Path) -> None:
    with duckdb.connect(str(path), config=CONFINED) as connection:
        connection.execute("INSERT INTO schema_version VALUES (?, 'from the future', now()::TIMESTAMP)", [NEW + 2])
    before = path.read_bytes()
    for _ in range(2):
        with pytest.raises(BlindspotError, match=f"has schema version {NEW + 2}; expected at most {NEW - 1}; a newer"):
            Repository.at(path).runs()
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.heavy
def test_a_store_of_a_development_version_gets_one_line_and_its_embeddings_are_used_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BLINDSPOT_CACHE", str(tmp_path))
    run = ["run", "evalrank", "--encoder", "random-projection", "--dataset", "demo-pairs"]
    assert main(run) == 0
    store = tmp_path / "results.duckdb"
    embeddings = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.npy")}
    assert embeddings
    db._close_all()
    store.unlink()
    with duckdb.connect(str(store), config=CONFINED) as connection:
        connection.execute("CREATE TABLE schema_migration (version INTEGER, name VARCHAR, applied_at TIMESTAMP)")
        connection.execute("CREATE TABLE run (run_seq INTEGER)")
    before = store.read_bytes()
    capsys.readouterr()
    for command in (["runs"], run, ["store", "backup", str(tmp_path / "copy")]):
        assert main(command) in {1, 2}
        (line,) = capsys.readouterr().err.strip().splitlines()[-1:]
        assert "is of a development version of Blindspot" in line
        assert "the embeddings are reused" in line
    assert main(["doctor", "--json"]) == 1
    assert "is of a development version of Blindspot" in capsys.readouterr().out
    assert store.read_bytes() == before
    store.rename(tmp_path / "old.duckdb")
    assert main(run) == 0
    assert {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.npy")} == embeddings


def migrating(path: Path) -> subprocess.Popen[str]:
    """A process that brings a store up to date."""
    return subprocess.Popen([sys.executable, "-c", MIGRATE, str(path)], cwd=ROOT, stdout=subprocess.PIPE, text=True)


def wait_ready(child: subprocess.Popen[str]) -> None:
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"


@pytest.mark.process
@pytest.mark.parametrize("points", [2, pytest.param(6, marks=pytest.mark.slow)])
def test_a_kill_while_migrating_leaves_whole_steps(points: int, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, stored = content(path), path.read_bytes()
    with migrating(path) as child:
        wait_ready(child)
        assert child.stdout is not None
        seconds = float(child.stdout.readline())
    assert versions(path)[-1] == (NEW, "notes")
    chance, left = random.Random(SEED + points), []
    for point in range(points):
        path.write_bytes(stored)
        with migrating(path) as child:
            wait_ready(child)
            time.sleep(seconds * (point + chance.random()) / points)
            child.send_signal(signal.SIGKILL)
        left.append(versions(path)[-1][0])
        with duckdb.connect(str(path), config=CONFINED) as connection:
            has_both = {_has_notes(connection), "note_of_dataset" in db.tables_of(connection)}
        assert has_both == {left[-1] == NEW}, "no step is half done"
        assert content(path) == before
    use(monkeypatch, NOTES)
    open_and_close(path)
    assert versions(path)[-1] == (NEW, "notes")
    print(f"killed while migrating ({seconds:.3f} s): left {left}")


@pytest.mark.slow
def test_two_processes_bring_one_store_up_to_date(path: Path) -> None:
    before = content(path)
    children = [migrating(path) for _ in range(2)]
    for child in children:
        out, _ = child.communicate(timeout=60)
        assert child.returncode == 0
        assert out.startswith("ready\n")
    assert content(path) == before
    assert versions(path) == [(1, "baseline"), (NEW, "notes")]
