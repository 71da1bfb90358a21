"""Human judgments in the store: sets of items, votes, sessions, in the same file as ``repository``."""

from __future__ import annotations

import hashlib
import hmac
import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import astuple, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from blindspot.errors import InputError, unknown
from blindspot.policy import SessionRoom
from blindspot.store.db import Database, parsed, queries_beside
from blindspot.studies.judgments.raters import rater_key
from blindspot.studies.judgments.types import (
    Ballot,
    Item,
    ItemSet,
    Query,
    RaterProgress,
    Recorded,
    Session,
    SetSummary,
    Task,
    Vote,
)
from blindspot.variants import Variant

query = queries_beside(__file__)

LISTED = 10  # sets, at most, in a message

_TEXT, _INT = pa.string(), pa.int32()
_ITEM_COLUMNS = pa.schema(
    {
        "set_id": _TEXT,
        "item_no": _INT,
        **dict.fromkeys(("query", "part_of_speech", "concreteness", "category", "band"), _TEXT),
        "k": _INT,
        "options": pa.list_(_TEXT),
        "own": pa.list_(_INT),
    }
)
_VOTE_COLUMNS = pa.schema(
    {
        **dict.fromkeys(("set_id", "session", "rater_key", "rater"), _TEXT),
        **dict.fromkeys(("item_no", "option_no"), _INT),
        "seconds": pa.float64(),
        "voted_at": pa.timestamp("us"),
    }
)


@dataclass(frozen=True)
class Merged:
    """The result of ``merge``: whether the set is new, and how many votes are.

    A ``known`` vote was stored before; a ``differing`` one with another answer, which is kept.
    """

    new_set: bool
    new: int
    known: int
    differing: int


class Judgments:
    """Human judgments in a store. Every method opens the file and closes it."""

    def __init__(self, database: Database) -> None:
        self.database = database

    @classmethod
    def at(cls, path: Path) -> Judgments:
        return cls(Database(path))

    def _rows(self, sql: str, params: Mapping[str, object]) -> list[Any]:
        """The rows of a query; empty before anything was stored, since reading creates no file."""
        if not self.database.path.exists():
            return []
        with self.database.cursor() as cursor:
            return list(cursor.execute(parsed(cursor, sql), dict(params)).fetchall())

    # --- sets of items

    def add_set(self, items: ItemSet) -> bool:
        """Store a set with all its items; False if it was stored before."""
        with self.database.transaction() as cursor:
            return _add_set(cursor, items)

    def merge(self, items: ItemSet, votes: Sequence[Vote]) -> Merged:
        """Store a set and votes on it, as far as they are new; if that fails, nothing is stored.

        The votes must be on items and options of the set, at most one per rater and item.
        """
        with self.database.transaction() as cursor:
            new_set = _add_set(cursor, items)
            here = {
                (session, key, item_no): option
                for session, key, item_no, option in cursor.execute(
                    "SELECT session, rater_key, item_no, option_no FROM judgment_vote WHERE set_id = ?", [items.set_id]
                ).fetchall()
            }
            same_votes = 0
            rows = []
            for vote in votes:
                session, key, item_no = vote.session, rater_key(vote.rater), vote.item_no
                if (session, key, item_no) in here:
                    same_votes += here[session, key, item_no] == vote.option
                    continue
                rest = (vote.option, vote.seconds, _naive(vote.voted_at))
                rows.append((items.set_id, session, key, vote.rater, item_no, *rest))
            _insert(cursor, "judgment_vote", rows, _VOTE_COLUMNS)
        return Merged(new_set, len(rows), same_votes, len(votes) - len(rows) - same_votes)

    def sets(self, task: Task | None = None) -> list[SetSummary]:
        """Stored sets, newest first; of one task, or all."""
        return [
            SetSummary(set_id, Task(which), title, _variants(variants), _utc(created), items, raters, votes)
            for set_id, which, title, variants, created, items, raters, votes in self._rows(
                query("sets"), {"task": task}
            )
        ]

    def named(self, beginning: str) -> SetSummary:
        """A stored set by the beginning of its id; ``InputError`` unless exactly one begins so."""
        sets = self.sets()
        matching = [summary for summary in sets if beginning and summary.set_id.startswith(beginning)]
        if len(matching) == 1:
            return matching[0]
        listed = ", ".join(f"{s.set_id} ({s.task}: {s.title})" for s in (matching or sets)[:LISTED])
        more = f" and {len(matching or sets) - LISTED} more" if len(matching or sets) > LISTED else ""
        if matching:
            raise InputError(
                f"{len(matching)} sets of items begin with '{beginning}': {listed}{more}",
                expected="the beginning of one of them",
                remedy="give more characters of its id",
            )
        raise InputError(
            f"no set of items begins with '{beginning}'",
            expected=f"one of {listed}{more}" if sets else "a stored set of items; there is none yet",
            remedy="'blindspot judge list' lists them",
        )

    def find_set(self, set_id: str) -> ItemSet | None:
        """A set with its items; None if no set has that id."""
        head = self._rows(query("set"), {"set_id": set_id})
        rows = self._rows(query("items"), {"set_id": set_id})
        if not head:
            return None
        task, title, variants, manifest, created = head[0]
        items = tuple(
            Item(no, Query(text, *about), band, k, tuple(options), tuple(options_of_variants))
            for no, text, *about, band, k, options, options_of_variants in rows
        )
        return ItemSet(Task(task), title, _variants(variants), items, json.loads(manifest), _utc(created))

    def with_votes(self, beginning: str, session: str | None = None) -> tuple[ItemSet, list[Vote]]:
        """A set by the beginning of its id, and its votes: all, or those of a session ("" for those outside of any).

        Raises:
            InputError: there is no such set, or it has no such session.
        """
        set_id = self.named(beginning).set_id
        items = self.find_set(set_id)
        if items is None:
            raise InputError(f"the set '{beginning}' was removed meanwhile", remedy="see: blindspot judge list")
        if session:
            sessions = {s.name for s in self.sessions() if set_id in s.sets.values()}
            sessions.update(self.sessions_with_votes(set_id))
            if session not in sessions:
                raise unknown("session", session, sessions - {""})
        return items, self.votes(set_id, session)

    def remove_set(self, set_id: str) -> None:
        """Remove a set with its votes, and sessions that have no other set."""
        with self.database.transaction() as cursor:
            for name in ("vote", "session_set", "item", "set"):
                cursor.execute(f"DELETE FROM judgment_{name} WHERE set_id = ?", [set_id])
            cursor.execute("DELETE FROM judgment_session WHERE name NOT IN (SELECT name FROM judgment_session_set)")

    # --- votes

    def vote(self, ballot: Ballot, item_no: int, option: int | None, seconds: float | None = None) -> Recorded:
        """Write an answer at once; the first answer to an item is kept.

        Args:
            seconds: since the item was shown; not stored if negative or not finite (a clock was set back).

        Raises:
            InputError: there is no such item or option (any more).
        """
        params = _of(ballot) | {
            "rater": ballot.rater,
            "item_no": item_no,
            "option_no": option,
            "seconds": seconds if seconds is not None and math.isfinite(seconds) and seconds >= 0 else None,
            "voted_at": _now(),
        }
        with self.database.transaction() as cursor:
            if cursor.execute(parsed(cursor, query("vote")), params).fetchall():
                return Recorded.NEW
            answered = cursor.execute(query("answered_items"), _of(ballot)).fetchall()
        if (item_no,) in answered:
            return Recorded.ALREADY
        raise InputError(
            f"there is no item {item_no} with an option {option} in the set {ballot.set_id}",
            expected="an item of a stored set",
            remedy="the set may have been removed: go on with another one",
        )

    def undo(self, ballot: Ballot, among: Collection[int] | None = None) -> int | None:
        """Take back a rater's last answer, or the last to ``among``; the number of its item, None without an answer."""
        params = _of(ballot) | {"among": None if among is None else sorted(among)}
        with self.database.transaction() as cursor:
            rows = cursor.execute(parsed(cursor, query("undo_vote")), params).fetchall()
        return int(rows[0][0]) if rows else None

    def votes(self, set_id: str, session: str | None = None, without: Collection[str] = ()) -> list[Vote]:
        """Votes on a set, oldest first; of one session ("": outside of any), or of all (None) except ``without``."""
        rows = self._rows(query("votes"), {"set_id": set_id, "session": session, "without": list(without)})
        return [
            Vote(name, rater, item_no, option, seconds, _utc(at)) for name, rater, item_no, option, seconds, at in rows
        ]

    def votes_digest(self, set_id: str, session: str | None = None, without: Collection[str] = ()) -> str:
        """A cheap digest of what ``votes`` gives."""
        rows = self._rows(query("votes_digest"), {"set_id": set_id, "session": session, "without": list(without)})
        return "-".join(str(part) for row in rows for part in row)

    def sessions_with_votes(self, set_id: str) -> list[str]:
        """Names of the sessions in which a set has votes, in order; "" for votes outside of any."""
        sql = "SELECT DISTINCT session FROM judgment_vote WHERE set_id = $set_id ORDER BY session"
        return [name for (name,) in self._rows(sql, {"set_id": set_id})]

    def answered(self, ballot: Ballot) -> frozenset[int]:
        """Numbers of the items that a rater has answered."""
        return frozenset(item_no for (item_no,) in self._rows(query("answered_items"), _of(ballot)))

    def progress(self, set_id: str, session: str) -> list[RaterProgress]:
        """How far the raters of a session ("" for those outside of any) are with a set; the latest first."""
        rows = self._rows(query("rater_progress"), {"set_id": set_id, "session": session})
        return [RaterProgress(rater, answered, unknown, _utc(last)) for rater, answered, unknown, last in rows]

    # --- sessions

    def add_session(self, name: str, sets: Mapping[Task, str], key: str, room: SessionRoom | None = None) -> bool:
        """Open a session; False if there is one of that name.

        Args:
            key: the facilitator's; only its digest is stored.
            room: where strangers open sessions; others may end to make room, with their votes.

        Raises:
            InputError: too many were opened lately.
            ValueError: no name ("" stands for votes outside of any session) or no set.
        """
        if not name or not sets:
            raise ValueError("a session has a name and at least one set")
        with self.database.transaction() as cursor:
            if room is not None:
                _make_room(cursor, room)
            new = cursor.execute(
                "INSERT INTO judgment_session VALUES (?, ?, false, ?) ON CONFLICT DO NOTHING RETURNING name",
                [name, _digest(key), _now()],
            ).fetchall()
            if new:
                for task, set_id in sets.items():
                    cursor.execute("INSERT INTO judgment_session_set VALUES (?, ?, ?)", [name, task, set_id])
        return bool(new)

    def session(self, name: str) -> Session | None:
        """A session by its name."""
        return next(iter(self._sessions(name)), None)

    def sessions(self) -> Sequence[Session]:
        """All sessions, newest first."""
        return self._sessions(None)

    def _sessions(self, name: str | None) -> list[Session]:
        return [
            Session(session_id, {Task(task): set_id for task, set_id in sets.items()}, revealed, _utc(created))
            for session_id, revealed, created, sets in self._rows(query("sessions"), {"name": name})
        ]

    def reveal(self, name: str, revealed: bool) -> None:
        """Show a session's results to its raters, or hide them again."""
        with self.database.transaction() as cursor:
            cursor.execute("UPDATE judgment_session SET revealed = ? WHERE name = ?", [revealed, name])

    def is_facilitator(self, name: str, key: str) -> bool:
        rows = self._rows("SELECT key_digest FROM judgment_session WHERE name = $name", {"name": name})
        return bool(rows) and hmac.compare_digest(rows[0][0], _digest(key))


def _add_set(cursor: duckdb.DuckDBPyConnection, items: ItemSet) -> bool:
    if [item.item_no for item in items.items] != list(range(len(items.items))):
        raise ValueError("items are not numbered 0, 1, 2, ...: a set's id depends on their order")
    new = cursor.execute(
        query("add_set"),
        {
            "set_id": items.set_id,
            "task": items.task,
            "title": items.title,
            "variants": [str(v) for v in items.variants],
            "manifest": json.dumps(dict(items.manifest), ensure_ascii=False, sort_keys=True),
            "created_at": _naive(items.created_at),
        },
    ).fetchall()
    if new:
        rows = [(items.set_id, i.item_no, *astuple(i.query), i.band, i.k, i.options, i.own) for i in items.items]
        _insert(cursor, "judgment_item", rows, _ITEM_COLUMNS)
    return bool(new)


def _insert(
    cursor: duckdb.DuckDBPyConnection, table: str, rows: Sequence[Sequence[object]], columns: pa.Schema
) -> None:
    named = [dict(zip(columns.names, row, strict=True)) for row in rows]
    cursor.from_arrow(pa.Table.from_pylist(named, columns)).insert_into(table)


def _make_room(cursor: duckdb.DuckDBPyConnection, room: SessionRoom) -> None:
    """Make room for one more session. A session's votes go with it: otherwise a later session of that name would have
    them, and everybody's results would show them, though its facilitator may not have revealed them."""
    now = _now()
    settled = now - timedelta(hours=1)
    lately = "SELECT count(*) FROM judgment_session WHERE created_at >= ?"
    if cursor.execute(lately, [settled]).fetchall()[0][0] >= room.an_hour:
        raise InputError(
            f"{room.an_hour} sessions were opened here within the hour",
            expected="fewer",
            remedy="join one of them, or try again later",
        )
    moments = {"expired": now - timedelta(days=room.days), "settled": settled, "kept": room.in_all - 1}
    ended = [name for (name,) in cursor.execute(query("crowded_sessions"), moments).fetchall()]
    for table, column in (("vote", "session"), ("session_set", "name"), ("session", "name")):
        cursor.execute(f"DELETE FROM judgment_{table} WHERE list_contains(?::VARCHAR[], {column})", [ended])


def _of(ballot: Ballot) -> dict[str, object]:
    return {"set_id": ballot.set_id, "session": ballot.session, "rater_key": rater_key(ballot.rater)}


def _variants(names: Sequence[str]) -> tuple[Variant, ...]:
    return tuple(Variant.parse(name) for name in names)


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def _now() -> datetime:
    return _naive(datetime.now(UTC))


def _naive(moment: datetime) -> datetime:
    """UTC without a zone, as the store keeps it."""
    return moment.astimezone(UTC).replace(tzinfo=None)


def _utc(naive: datetime) -> datetime:
    return naive.replace(tzinfo=UTC)
