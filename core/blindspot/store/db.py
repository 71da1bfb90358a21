"""The DuckDB file: opened on use, shared by the threads of a process, migrated on opening.

A process with the file open locks out all others. So an idle connection is closed after a second, and a process that
finds the file locked retries, and touches a file next to the store: otherwise a process that is never idle (ten voting
raters) would never close it.
"""

from __future__ import annotations

import atexit
import random
import re
import threading
import time
import weakref
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import duckdb

from blindspot.errors import BlindspotError, DiskRefused, StoreBusy
from blindspot.files.writing import make_folder
from blindspot.settings import READ_ONLY, stores_are_read_only

_HERE = Path(__file__).resolve().parent
HELD = re.compile("could not set lock|used by another process", re.IGNORECASE)  # Unix, Windows
_DISK = re.compile("could not write|no space left|read-only file system|file too large", re.IGNORECASE)
# SQL cannot leave the store's file: no other file, no ATTACH, no extension, no Python variable by its name. DuckDB
# refuses a second connection of the same process with another configuration.
CONFINED = {
    "enable_external_access": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "python_enable_replacements": False,
    "lock_configuration": True,
}
IDLE_SECONDS = 1.0
LOCK_PATIENCE_SECONDS = 15.0
TURN_SECONDS = 0.5  # minimum time that a process keeps the file while others wait: opening takes 0.03
GIVING_WAY_SECONDS = 0.5  # and then leaves it to them for this long
_DEVELOPMENT = "schema_migration"  # table of stores from before 0.3, which nobody outside of development has
_FRESH_SECONDS = 2.0  # an older waiting file was left by a process that died


@dataclass(frozen=True)
class Migration:
    version: int
    name: str
    sql: str


@cache
def migrations() -> tuple[Migration, ...]:
    """The steps of the schema; versions count from 1 without gaps."""
    paths = sorted((_HERE / "migrations").glob("*.sql"))
    files = tuple(Migration(int(p.stem[:3]), p.stem[4:], p.read_text("utf-8")) for p in paths)
    if [m.version for m in files] != list(range(1, len(files) + 1)):
        raise RuntimeError(f"migrations are not numbered 1..n: {[p.name for p in paths]}")
    return files


def queries_beside(module: str) -> Callable[[str], str]:
    """A function from names to the SQL of ``queries/<name>.sql`` next to a module, given its ``__file__``."""
    folder = Path(module).resolve().parent / "queries"

    @cache
    def query(name: str) -> str:
        return (folder / f"{name}.sql").read_text("utf-8")

    return query


query = queries_beside(__file__)
_PARSED: dict[str, duckdb.Statement] = {}
_DATABASES: weakref.WeakSet[Database] = weakref.WeakSet()

# If two transactions on one table, key or name overlap, DuckDB fails one, also across two Databases of one file.
_WRITING = threading.RLock()
_COMMITTED = [0]  # transactions of this process: faster than a file system's clock ticks
_MIGRATING = threading.Lock()  # taken while a Database's own lock is held, never the other way round


@atexit.register
def _close_all() -> None:
    """Avoid DuckDB's message on stderr about a connection that outlives the interpreter."""
    for database in _DATABASES:
        database.close()


class Database:
    """One DuckDB file of this process, made when it is first written to; safe to use from several threads.

    Args:
        lock_patience: seconds to wait for another process that holds the file.

    Attributes:
        read_only: as the environment says when it is made (``settings.stores_are_read_only``). Other processes can then
            have the file open, too, if they only read it.
    """

    def __init__(self, path: Path, lock_patience: float = LOCK_PATIENCE_SECONDS) -> None:
        self.path = path
        self.read_only = stores_are_read_only()
        self._lock_patience = lock_patience
        self._lock = threading.RLock()
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._file: int | None = None
        self._users = 0
        self._last_used = 0.0
        self._opened = 0.0
        self._gave_way = False
        self._closer: threading.Timer | None = None
        _DATABASES.add(self)

    @contextmanager
    def cursor(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A new cursor, closed at the end; fetch every result inside.

        Raises:
            StoreBusy: another process held the file for too long.
            BlindspotError: the file is damaged or no store, or a newer Blindspot wrote it, or the disk is full.
        """
        try:
            connection = self._acquire()
            try:
                with connection.cursor() as cursor:
                    yield cursor
            finally:
                self._release()
        except duckdb.Error as error:
            if not _is_of_the_file(error):
                raise
            raise _kind_of(error)(
                f"cannot read or write the store {self.path}: {first_line(error)}",
                remedy="free some space; if the file is damaged, move it away: what is in it can be computed again",
            ) from error

    @contextmanager
    def transaction(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A cursor for one transaction; the threads of a process take turns.

        Raises:
            BlindspotError: for the reasons of ``cursor``; or this process may only read the store.
        """
        if self.read_only:
            raise only_read()
        with _WRITING, self.cursor() as cursor:
            cursor.begin()
            try:
                yield cursor
            except BaseException:
                cursor.rollback()
                raise
            cursor.commit()
            _COMMITTED[0] += 1

    def state(self) -> Hashable:
        """A value that changes whenever any process writes to the store; computing it takes microseconds.

        DuckDB writes what is committed to the log beside the file, and moves it into the file later.
        """
        return _COMMITTED[0], _facts_of(self.path), _facts_of(self.path.with_name(f"{self.path.name}.wal"))

    def close(self, patience: float = -1.0) -> None:
        """Close the file, unless it is in use.

        Args:
            patience: seconds to wait for a thread that is opening it (and may wait for another process), after which
                the file stays open; forever where negative.
        """
        if not self._lock.acquire(timeout=patience):
            return
        try:
            if self._closer:
                self._closer.cancel()
                self._closer = None
            if self._connection is not None and self._users == 0:
                self._connection.close()
                self._connection = None
        finally:
            self._lock.release()

    def _acquire(self) -> duckdb.DuckDBPyConnection:
        with self._lock:
            if self.read_only and not self._users and self._file != _file_of(self.path):
                self.close()  # it was replaced by a newer one
            if self._connection is None:
                self._file = _file_of(self.path)
                self._connection = self._open()
                self._opened = time.monotonic()
            self._users += 1
            return self._connection

    def _release(self) -> None:
        with self._lock:
            self._users -= 1
            self._last_used = time.monotonic()
            if self._users == 0 and self._last_used - self._opened >= TURN_SECONDS and self._is_wanted():
                self.close()
                self._gave_way = True
            elif self._users == 0 and self._closer is None:
                self._close_later(IDLE_SECONDS)

    def _close_later(self, seconds: float) -> None:
        self._closer = threading.Timer(seconds, self._close_if_idle)
        self._closer.daemon = True
        self._closer.start()

    def _close_if_idle(self) -> None:
        with self._lock:
            self._closer = None
            if self._connection is None or self._users:
                return  # the last user to release it starts a new timer
            rest = self._last_used + IDLE_SECONDS - time.monotonic()
            if rest > 0:
                self._close_later(rest)
            else:
                self.close()

    def _open(self) -> duckdb.DuckDBPyConnection:
        if self.read_only and not self.path.exists():
            raise only_read(f"there is no store {self.path}")
        if not self.read_only:
            make_folder(self.path.parent)
        connection = self._connect()
        try:
            if self.read_only:
                _check_version(connection, self.path)
                return connection
            with _MIGRATING:  # every time: the file may have been replaced, and looking takes a millisecond
                migrate(connection, self.path)
        except BaseException:
            connection.close()
            raise
        return connection

    @property
    def _wanted(self) -> Path:
        """A file that exists while a process waits for the store."""
        return self.path.with_name(f"{self.path.name}.wanted")

    def _is_wanted(self) -> bool:
        try:
            return abs(time.time() - self._wanted.stat().st_mtime) < _FRESH_SECONDS
        except OSError:
            return False

    def _let_others_in(self) -> None:
        """After giving way: wait until another process has the store, and so deletes its waiting file."""
        until = time.monotonic() + GIVING_WAY_SECONDS if self._gave_way else 0.0
        while time.monotonic() < until and self._is_wanted():
            time.sleep(0.005)
        self._gave_way = False

    def _connect(self) -> duckdb.DuckDBPyConnection:
        self._let_others_in()
        deadline = time.monotonic() + self._lock_patience
        delay = 0.02
        waited = False
        try:
            while True:
                connection = self._try_to_connect(deadline)
                if connection is not None:
                    return connection
                waited = True
                with suppress(OSError):  # in a read-only folder nobody votes
                    self._wanted.touch()
                time.sleep(delay * random.uniform(0.5, 1.5))  # noqa: S311 - spreads waiting processes out
                delay = min(delay * 1.5, 0.1)
        finally:
            if waited:
                with suppress(OSError):
                    self._wanted.unlink(missing_ok=True)

    def _try_to_connect(self, deadline: float) -> duckdb.DuckDBPyConnection | None:
        """A connection; None if the file is held and the deadline has not passed."""
        try:
            return duckdb.connect(str(self.path), read_only=self.read_only, config=CONFINED)
        except (duckdb.IOException, duckdb.ResourceInUseException) as error:
            # In use: another Database of this process is closing the same file at this moment.
            if not isinstance(error, duckdb.ResourceInUseException) and not HELD.search(str(error)):
                raise _kind_of(error)(
                    f"cannot open the store {self.path}: {first_line(error)}",
                    remedy="check its permissions and the free space, or set BLINDSPOT_CACHE to another folder",
                ) from error
            if time.monotonic() > deadline:
                raise StoreBusy(
                    f"the store {self.path} is held by {holder(error)}",
                    remedy="close that program, or wait for it, then try again",
                ) from error
        except duckdb.Error as error:
            raise BlindspotError(
                f"{self.path} is not a store that this DuckDB can read: {first_line(error)}",
                remedy="move it away, or set BLINDSPOT_CACHE to another folder",
            ) from error
        return None


def only_read(what: str = "the store is only read here") -> BlindspotError:
    """The error for work that would write to the store, in a process that may only read it."""
    return BlindspotError(f"{what} (BLINDSPOT_STORE={READ_ONLY})", remedy="do it in a process without BLINDSPOT_STORE")


def _check_version(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Raise ``BlindspotError`` unless a store that is only read has the schema of this version."""
    version = version_of(connection, path)
    if version != len(migrations()):
        raise BlindspotError(
            f"the store {path} has schema version {version}, and is only read here (BLINDSPOT_STORE={READ_ONLY})",
            expected=f"version {len(migrations())}",
            remedy="open it once without BLINDSPOT_STORE, for example with: blindspot runs",
        )


def _file_of(path: Path) -> int | None:
    facts = _facts_of(path)
    return None if facts is None else facts[0]


def _facts_of(path: Path) -> tuple[int, int, int] | None:
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_ino, stat.st_size, stat.st_mtime_ns


def migrate(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Bring a store's schema up to date, one transaction per step.

    Raises:
        BlindspotError: for the reasons of ``version_of``.
    """
    version = version_of(connection, path)
    if not version:
        connection.execute(
            "CREATE TABLE IF NOT EXISTS schema_version "
            "(version INTEGER PRIMARY KEY, name VARCHAR NOT NULL, applied_at TIMESTAMP NOT NULL)"
        )
    for step in migrations()[version:]:
        connection.begin()
        try:
            connection.execute(step.sql)
            connection.execute("INSERT INTO schema_version VALUES (?, ?, now()::TIMESTAMP)", [step.version, step.name])
        except BaseException:
            connection.rollback()
            raise
        connection.commit()


def parsed(cursor: duckdb.DuckDBPyConnection, sql: str) -> duckdb.Statement:
    """One of our statements, parsed once per process: parsing takes a third of a long one's time."""
    if sql not in _PARSED:
        (_PARSED[sql],) = cursor.extract_statements(sql)
    return _PARSED[sql]


def tables_of(connection: duckdb.DuckDBPyConnection) -> set[str]:
    return {row[0] for row in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}


def version_of(connection: duckdb.DuckDBPyConnection, path: Path) -> int:
    """A store's schema version; 0 of a new file.

    Raises:
        BlindspotError: the store was written by a newer Blindspot, or before its schema had versions that are kept.
    """
    try:
        version = int(connection.execute("SELECT coalesce(max(version), 0) FROM schema_version").fetchall()[0][0])
    except duckdb.CatalogException:  # asking for the tables first would take a third of opening a file
        if _DEVELOPMENT in tables_of(connection):
            raise BlindspotError(
                f"the store {path} is of a development version of Blindspot",
                expected="one of version 0.3 or later",
                remedy="move it away, then run again what you need (blindspot sweep): the embeddings are reused",
            ) from None
        return 0
    if version > len(migrations()):
        raise BlindspotError(
            f"the store {path} has schema version {version}",
            expected=f"at most {len(migrations())}",
            remedy="a newer Blindspot wrote it: update this one, or set BLINDSPOT_CACHE to another folder",
        )
    return version


def holder(error: Exception) -> str:
    """The process that holds the lock, by DuckDB's message."""
    match = re.search(r"lock is held in (\S.*?) \(PID (\d+)\)", str(error))
    return f"process {match[2]} ({match[1]})" if match else "another process"


def _is_of_the_file(error: duckdb.Error) -> bool:
    """Whether an error is the fault of the file or the disk, not of the statement.

    DuckDB has no class for a wrong checksum, and raises the class of conflicts for a full disk.
    """
    is_disk = isinstance(error, duckdb.TransactionException) and _DISK.search(str(error))
    return type(error) is duckdb.Error or isinstance(error, duckdb.IOException | duckdb.FatalException) or bool(is_disk)


def _kind_of(error: duckdb.Error) -> type[BlindspotError]:
    return DiskRefused if _DISK.search(str(error)) else BlindspotError


def first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]
