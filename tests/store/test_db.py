"""The DuckDB file: shared by threads, let go for other processes, refused where it is no store of ours."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import pytest

from blindspot.errors import BlindspotError, StoreBusy
from blindspot.settings import PACKAGE, ROOT
from blindspot.store import db
from blindspot.store.db import Database
from tests.support import sources
from tests.support.held_store import held_by_a_child

OPEN = "import duckdb, sys; duckdb.connect(sys.argv[1]).execute('SELECT 1')"


@pytest.mark.heavy
@pytest.mark.parametrize("owner", ["store", "studies/judgments"])
def test_every_query_is_named_somewhere(owner: str) -> None:
    """A file of SQL that no module names is dead; one that is named and missing fails where it is run.

    Those of items go by the name of their dataset's kind.
    """
    folder = PACKAGE / owner / "queries"
    files = {path.relative_to(folder).with_suffix("").as_posix() for path in folder.rglob("*.sql")}
    nodes = (node for path in sources.package() for node in ast.walk(sources.tree(path)))
    named = {node.value for node in nodes if isinstance(node, ast.Constant)}
    assert len(files) > 10
    assert {file for file in files - named if not (file.startswith("items/") and Path(file).name in named)} == set()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "results.duckdb"


@pytest.fixture
def database(path: Path) -> Iterator[Database]:
    database = Database(path, lock_patience=20.0)
    yield database
    database.close()


def another_process_can_open(path: Path) -> bool:
    done = subprocess.run([sys.executable, "-c", OPEN, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0 or "Could not set lock" in done.stderr
    return done.returncode == 0


def count(database: Database, table: str) -> int:
    with database.cursor() as cursor:
        return int(cursor.execute(f"SELECT count(*) FROM {table}").fetchall()[0][0])


def make_table(database: Database) -> None:
    with database.transaction() as cursor:
        cursor.execute("CREATE TABLE t (x INTEGER)")


# --- transactions and threads


def test_a_transaction_is_kept(database: Database) -> None:
    make_table(database)
    with database.transaction() as cursor:
        cursor.execute("INSERT INTO t VALUES (1), (2)")
    database.close()
    assert count(database, "t") == 2


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_transaction_that_fails_leaves_nothing(database: Database, error: type[BaseException]) -> None:
    make_table(database)
    with pytest.raises(error), database.transaction() as cursor:  # noqa: PT012 - the block is the transaction
        cursor.execute("INSERT INTO t VALUES (1)")
        cursor.execute("CREATE TABLE other (x INTEGER)")
        raise error
    assert count(database, "t") == 0
    with pytest.raises(duckdb.CatalogException):
        count(database, "other")


def test_a_transaction_that_sql_refuses_leaves_nothing(database: Database) -> None:
    make_table(database)
    with pytest.raises(duckdb.ConversionException), database.transaction() as cursor:  # noqa: PT012
        cursor.execute("INSERT INTO t VALUES (1)")
        cursor.execute("INSERT INTO t VALUES ('not a number')")
    assert count(database, "t") == 0
    with database.transaction() as cursor:
        cursor.execute("INSERT INTO t VALUES (3)")
    assert count(database, "t") == 1


@pytest.mark.parametrize("databases", [1, 3])
def test_threads_read_and_write_while_the_file_is_closed_and_opened(
    path: Path, databases: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(db, "IDLE_SECONDS", 0.001)
    ours = [Database(path) for _ in range(databases)]
    barrier = threading.Barrier(6)

    def work(thread: int) -> list[int]:
        database = ours[thread % databases]
        barrier.wait(20)
        seen = []
        for i in range(8):
            with database.transaction() as cursor:
                cursor.execute("CREATE TABLE IF NOT EXISTS t (thread INTEGER, i INTEGER)")
                cursor.execute("INSERT INTO t VALUES (?, ?)", [thread, i])
            seen.append(count(database, f"t WHERE thread = {thread}"))
            if i % 3 == thread % 3:
                threading.Event().wait(0.003)
        return seen

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(work, range(6))) == [list(range(1, 9))] * 6
    assert count(ours[0], "t") == 48
    for database in ours:
        database.close()


def test_a_new_file_is_opened_by_several_at_once(path: Path) -> None:
    ours = [Database(path) for _ in range(8)]
    barrier = threading.Barrier(len(ours))

    def work(database: Database) -> int:
        barrier.wait(20)
        return count(database, "run")

    with ThreadPoolExecutor(len(ours)) as pool:
        assert list(pool.map(work, ours)) == [0] * len(ours)
    for database in ours:
        database.close()


def test_a_statement_parsed_once_has_each_threads_values(database: Database, tmp_path: Path) -> None:
    other, sql = Database(tmp_path / "other.duckdb"), "SELECT $value + i FROM range(100) AS numbers(i)"

    def added(value: int) -> set[int]:
        seen = set()
        for store in (database, other) * 20:
            with store.cursor() as cursor:
                seen.add(sum(row[0] for row in cursor.execute(db.parsed(cursor, sql), {"value": value}).fetchall()))
        return seen

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(added, range(4))) == [{100 * value + 4950} for value in range(4)]
    other.close()


def test_results_of_one_thread_are_not_disturbed_by_another(database: Database) -> None:
    with database.cursor() as one, database.cursor() as other:
        one.execute("SELECT range FROM range(5)")
        other.execute("SELECT 'other'")
        assert one.fetchone() == (0,)
        assert other.fetchall() == [("other",)]
        assert one.fetchall() == [(1,), (2,), (3,), (4,)]


# --- other processes


@pytest.mark.process
def test_the_file_is_let_go_after_a_while_of_idleness(
    database: Database, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(db, "IDLE_SECONDS", 600.0)
    make_table(database)
    assert not another_process_can_open(path)
    database.close()
    assert another_process_can_open(path)

    monkeypatch.setattr(db, "IDLE_SECONDS", 0.02)
    assert count(database, "t") == 0
    for _ in range(50):
        if another_process_can_open(path):
            break
    else:
        pytest.fail("the file was never let go")
    assert count(database, "t") == 0


@pytest.mark.process
def test_the_file_is_not_let_go_while_it_is_used(
    database: Database, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(db, "IDLE_SECONDS", 0.01)
    make_table(database)
    with database.cursor() as cursor:
        threading.Event().wait(0.1)
        database.close()
        assert not another_process_can_open(path)
        assert cursor.execute("SELECT count(*) FROM t").fetchall() == [(0,)]


@pytest.mark.process
def test_a_file_that_another_process_keeps_is_named_with_its_holder(database: Database, path: Path) -> None:
    make_table(database)
    database.close()
    with held_by_a_child(path) as child:
        with pytest.raises(StoreBusy) as caught:
            count(Database(path, lock_patience=0.1), "t")
        assert str(caught.value).startswith(f"the store {path} is held by process {child.pid} (")
        assert "python" in str(caught.value)
        assert "\n" not in str(caught.value)
        assert caught.value.exit_code == 1
        assert caught.value.remedy
        assert child.stdin is not None
        child.stdin.close()


@pytest.mark.process
def test_a_busy_file_is_waited_for(database: Database, path: Path) -> None:
    make_table(database)
    database.close()
    with held_by_a_child(path) as child, ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(count, database, "t")
        threading.Event().wait(0.1)
        assert not waiting.done()
        assert child.stdin is not None
        child.stdin.close()
        assert waiting.result(timeout=30) == 0


@pytest.mark.process
def test_a_process_that_ends_leaves_a_closed_file_and_says_nothing(path: Path) -> None:
    program = (
        "import sys\nfrom pathlib import Path\nfrom blindspot.store.db import Database\n"
        "with Database(Path(sys.argv[1])).transaction() as cursor:\n"
        "    cursor.execute('CREATE TABLE t AS SELECT 7 AS x')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert [p.name for p in path.parent.iterdir()] == [path.name], "no write-ahead log is left"
    database = Database(path)
    assert count(database, "t") == 1
    database.close()


# --- files that are no store


@pytest.mark.parametrize(
    "content", [b"", b"this is a text file\n" * 1_000, os.urandom(8_192)], ids=["empty", "text", "noise"]
)
def test_a_file_that_is_no_database_is_refused_at_once(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a block lock" / "results.duckdb"  # DuckDB's message holds the path: its words mean nothing
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(BlindspotError) as caught:
        count(Database(path, lock_patience=0.1), "run")
    assert not isinstance(caught.value, StoreBusy)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "BLINDSPOT_CACHE" in caught.value.remedy
    assert caught.value.exit_code == 1
    assert path.read_bytes() == content


@pytest.mark.parametrize("damage", ["0.1%", "1%", "50%", "99%", "bits"])
def test_a_damaged_store_is_one_clear_line(database: Database, path: Path, damage: str) -> None:
    with database.transaction() as cursor:
        cursor.execute("CREATE TABLE t AS SELECT range AS x, hash(range) AS y FROM range(100000)")
    database.close()
    whole = path.read_bytes()
    if damage == "bits":
        path.write_bytes(bytes(byte ^ (i > 12_288 and i % 10_000 == 0) for i, byte in enumerate(whole)))
    else:
        path.write_bytes(whole[: int(len(whole) * float(damage[:-1]) / 100)])
    with pytest.raises(BlindspotError) as caught:
        count(Database(path), "(SELECT DISTINCT x, y FROM t)")
    assert str(path) in str(caught.value)
    assert "move it away" in caught.value.remedy or "check its permissions" in caught.value.remedy
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("in_the_way", "said"), [("results.duckdb", "cannot open the store"), ("", "cannot write")])
def test_a_folder_in_place_of_the_file_or_a_file_in_place_of_the_folder(path: Path, in_the_way: str, said: str) -> None:
    if in_the_way:
        path.mkdir(parents=True)
    else:
        path.parent.write_text("in the way")
    with pytest.raises(BlindspotError, match=said):
        count(Database(path), "run")


@pytest.mark.process
def test_a_refused_file_is_let_go(path: Path, database: Database) -> None:
    with database.transaction() as cursor:
        cursor.execute("INSERT INTO schema_version VALUES (99, 'from the future', now()::TIMESTAMP)")
    database.close()
    with pytest.raises(BlindspotError):
        count(database, "run")
    assert another_process_can_open(path)


def test_a_store_that_is_removed_meanwhile_is_made_anew(database: Database, path: Path) -> None:
    make_table(database)
    database.close()
    path.unlink()
    assert count(database, "run") == 0
    with pytest.raises(duckdb.CatalogException):
        count(database, "t")
