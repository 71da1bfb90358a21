"""Backup and restoring of the store: everything is there, whoever writes meanwhile."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from blindspot.errors import BlindspotError, InputError
from blindspot.settings import Settings
from blindspot.store import backup
from blindspot.store.db import Database
from tests.support.commands import Command

WRITER = """
import sys, time
from pathlib import Path
from blindspot.store.db import Database
database = Database(Path(sys.argv[1]))
number = 0
until = time.monotonic() + float(sys.argv[2])
while time.monotonic() < until:
    with database.transaction() as cursor:
        cursor.execute("INSERT INTO numbers VALUES (?)", [number])
    number += 1
    print(number, flush=True)
"""


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store with a table of its own, whose rows are still in the log."""
    path = tmp_path / "cache" / "results.duckdb"
    add(path, range(100))
    return path


def add(path: Path, numbers: range) -> None:
    database = Database(path)
    with database.transaction() as cursor:
        cursor.execute("CREATE TABLE IF NOT EXISTS numbers (number INTEGER)")
        cursor.executemany("INSERT INTO numbers VALUES (?)", [[number] for number in numbers])
    database.close()


def numbers(path: Path) -> list[int]:
    with duckdb.connect(str(path), read_only=True) as connection:
        return [row[0] for row in connection.execute("SELECT number FROM numbers ORDER BY number").fetchall()]


def test_a_backup_has_what_is_still_in_the_log(store: Path, tmp_path: Path) -> None:
    with Database(store).transaction() as cursor:  # stays open for a second, as an app's does
        cursor.execute("INSERT INTO numbers VALUES (100)")
        alone = shutil.copy(store, tmp_path / "alone.duckdb")
    backup.back_up(store, tmp_path / "backup.duckdb")
    assert numbers(tmp_path / "backup.duckdb") == list(range(101))
    assert 100 not in numbers(Path(alone))


def test_what_is_restored_is_what_was_backed_up_and_the_store_before_is_kept(store: Path, tmp_path: Path) -> None:
    copy = tmp_path / "backup.duckdb"
    facts = backup.back_up(store, copy)
    add(store, range(100, 105))
    restored, before = backup.restore(copy, store)
    assert restored.rows == facts.rows
    assert numbers(store) == list(range(100))
    assert before is not None
    assert numbers(before) == list(range(105))
    assert not list(store.parent.glob("*.wal"))
    add(store, range(100, 102))  # the restored one takes new rows
    assert numbers(store) == list(range(102))


def test_a_store_is_restored_into_an_empty_cache(store: Path, tmp_path: Path) -> None:
    backup.back_up(store, tmp_path / "backup.duckdb")
    other = tmp_path / "new" / "results.duckdb"
    assert backup.restore(tmp_path / "backup.duckdb", other)[1] is None
    assert numbers(other) == list(range(100))


def test_what_cannot_be_backed_up_or_restored_changes_nothing(store: Path, tmp_path: Path) -> None:
    there = tmp_path / "there.duckdb"
    there.write_text("mine")
    with pytest.raises(InputError, match="exists"):
        backup.back_up(store, there)
    with pytest.raises(InputError, match="there is no store"):
        backup.back_up(tmp_path / "none.duckdb", tmp_path / "x.duckdb")
    with pytest.raises(BlindspotError, match="cannot write"):
        backup.back_up(store, tmp_path / "no" / "folder.duckdb")
    with pytest.raises(InputError, match="not a store that can be read"):
        backup.restore(there, store)
    with pytest.raises(InputError, match="there is no file"):
        backup.restore(tmp_path / "none.duckdb", store)
    foreign = tmp_path / "foreign.duckdb"
    with duckdb.connect(str(foreign)) as connection:
        connection.execute("CREATE TABLE t (a INTEGER)")
    with pytest.raises(InputError, match="no store of Blindspot"):
        backup.restore(foreign, store)
    torn = tmp_path / "torn.duckdb"
    backup.back_up(store, torn)
    torn.write_bytes(torn.read_bytes()[: torn.stat().st_size // 2])
    with pytest.raises(BlindspotError):
        backup.restore(torn, store)
    assert there.read_text() == "mine"
    assert numbers(store) == list(range(100))
    assert sorted(path.name for path in store.parent.iterdir()) == ["results.duckdb"]


@pytest.mark.process
def test_backups_beside_a_process_that_writes_all_the_time_are_whole(store: Path, tmp_path: Path) -> None:
    """Each has all rows that were committed before it, in order, and the writer loses none."""
    (tmp_path / "writer.py").write_text(WRITER)
    command = [sys.executable, str(tmp_path / "writer.py"), str(store), "4"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        copies = [tmp_path / f"{number}.duckdb" for number in range(3)]
        for copy in copies:
            backup.back_up(store, copy)
        written = int(writer.stdout.read().split()[-1])
    assert writer.returncode == 0
    lengths = [len(numbers(copy)) for copy in copies]
    assert lengths == sorted(lengths)
    assert all(100 < length <= 100 + written for length in lengths)
    assert len(numbers(store)) == 100 + written


def test_the_commands(blindspot: Command, environment: Settings, tmp_path: Path) -> None:
    assert blindspot("run", "evalrank", "--encoder", "random-projection", "--dataset", "demo-pairs").code == 0
    copy = tmp_path / "backup.duckdb"
    made = json.loads(blindspot.out("store", "backup", str(copy), "--json"))
    assert made["runs"] == 1
    assert made["bytes"] == copy.stat().st_size
    assert blindspot("store", "backup", str(copy)).code == 2
    shown = blindspot.out("store", "restore", str(copy))
    assert "1 run," in shown
    assert "the store before: " in shown
    assert len(json.loads(blindspot.out("runs", "--json"))["runs"]) == 1
