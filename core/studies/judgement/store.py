"""What people judged, in the store: sets of items, votes, sessions. Beside ``repository``, on the same file."""

from __future__ import annotations

import hashlib
import hmac
import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pyarrow as pa

from core.errors import InputError
from core.store.db import Database, queries_beside
from core.studies.judgement.raters import rater_key
from core.studies.judgement.types import (
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
from core.types import Variant

query = queries_beside(__file__)

LISTED = 10  # sets, at most, in a message

_ITEM_COLUMNS = pa.schema(
    [
        ("set_id", pa.string()),
        ("item_no", pa.int32()),
        ("query", pa.string()),
        ("part_of_speech", pa.string()),
        ("concreteness", pa.string()),
        ("category", pa.string()),
        ("band", pa.string()),
        ("k", pa.int32()),
        ("options", pa.list_(pa.string())),
        ("own", pa.list_(pa.int32())),
    ]
)
_VOTE_COLUMNS = pa.schema(
    [
        ("set_id", pa.string()),
        ("session", pa.string()),
        ("rater_key", pa.string()),
        ("rater", pa.string()),
        ("item_no", pa.int32()),
        ("option_no", pa.int32()),
        ("seconds", pa.float64()),
        ("voted_at", pa.timestamp("us")),
    ]
)


@dataclass(frozen=True)
class Merged:
    """What became of a set and its votes from elsewhere.

    Attributes:
        new_set: whether the set was not here before.
        new, known, differing: votes that were added, that were here, and that were here with another answer: the
            one that is here stands.
    """

    new_set: bool
    new: int
    known: int
    differing: int


class Judgements:
    """The human judgements of a store. Every method opens, reads or writes, and lets go."""

    def __init__(self, database: Database) -> None:
        self.database = database

    @classmethod
    def at(cls, path: Path) -> Judgements:
        return cls(Database(path))

    # --- sets of items

    def add_set(self, items: ItemSet) -> bool:
        """Store a set with all its items, or nothing; False where it was there before."""
        with self.database.transaction() as cursor:
            return _add_set(cursor, items)

    def merge(self, items: ItemSet, votes: Sequence[Vote]) -> Merged:
        """Store a set, where it is not here, and those votes on it that are not here: all of it, or nothing.

        The votes are on items and options that the set has, at most one of a rater on an item.
        """
        with self.database.transaction() as cursor:
            new_set = _add_set(cursor, items)
            here = {
                (session, key, item_no): option
                for session, key, item_no, option in cursor.execute(
                    "SELECT session, rater_key, item_no, option_no FROM judgement_vote WHERE set_id = ?", [items.set_id]
                ).fetchall()
            }
            rows, known, differing = [], 0, 0
            for vote in votes:
                key = (vote.session, rater_key(vote.rater), vote.item_no)
                if key not in here:
                    session, of_rater, item_no = key
                    rest = (vote.option, vote.seconds, _naive(vote.voted_at))
                    rows.append((items.set_id, session, of_rater, vote.rater, item_no, *rest))
                elif here[key] == vote.option:
                    known += 1
                else:
                    differing += 1
            named = [dict(zip(_VOTE_COLUMNS.names, row, strict=True)) for row in rows]
            cursor.from_arrow(pa.Table.from_pylist(named, _VOTE_COLUMNS)).insert_into("judgement_vote")
        return Merged(new_set, len(rows), known, differing)

    def sets(self, task: Task | None = None) -> list[SetSummary]:
        """Stored sets, newest first; of one task, or all."""
        if not self.database.path.exists():
            return []
        with self.database.cursor() as cursor:
            rows = cursor.execute(query("sets"), {"task": task}).fetchall()
        return [
            SetSummary(set_id, Task(which), title, _variants(variants), _utc(created), items, raters, votes)
            for set_id, which, title, variants, created, items, raters, votes in rows
        ]

    def named(self, beginning: str) -> SetSummary:
        """A stored set by its id or the beginning of it.

        Raises:
            InputError: no set's id begins so, or those of several do.
        """
        sets = self.sets()
        found = [one for one in sets if beginning and one.set_id.startswith(beginning)]
        if len(found) == 1:
            return found[0]
        listed = ", ".join(f"{s.set_id} ({s.task}: {s.title})" for s in (found or sets)[:LISTED])
        more = f" and {len(found or sets) - LISTED} more" if len(found or sets) > LISTED else ""
        if found:
            raise InputError(
                f"{len(found)} sets of items begin with '{beginning}': {listed}{more}",
                expected="the beginning of one of them",
                remedy="give more characters of its id",
            )
        raise InputError(
            f"no set of items begins with '{beginning}'",
            expected=f"one of {listed}{more}" if sets else "a stored set of items; there is none yet",
            remedy="'python -m core judge list' lists them",
        )

    def find_set(self, set_id: str) -> ItemSet | None:
        """A set with its items; None where there is none of that id."""
        if not self.database.path.exists():
            return None
        with self.database.cursor() as cursor:
            head = cursor.execute(query("set"), {"set_id": set_id}).fetchall()
            rows = cursor.execute(query("items"), {"set_id": set_id}).fetchall()
        if not head:
            return None
        task, title, variants, manifest, created = head[0]
        items = tuple(
            Item(no, Query(text, *about), band, k, tuple(options), tuple(own))
            for no, text, *about, band, k, options, own in rows
        )
        return ItemSet(Task(task), title, _variants(variants), items, json.loads(manifest), _utc(created))

    def remove_set(self, set_id: str) -> None:
        """Remove a set with all its votes, and from sessions; sessions left without a set go too."""
        with self.database.transaction() as cursor:
            for name in ("vote", "session_set", "item", "set"):
                cursor.execute(f"DELETE FROM judgement_{name} WHERE set_id = ?", [set_id])
            cursor.execute("DELETE FROM judgement_session WHERE name NOT IN (SELECT name FROM judgement_session_set)")

    # --- votes

    def vote(self, ballot: Ballot, item_no: int, option: int | None, seconds: float | None = None) -> Recorded:
        """Write an answer at once; the first answer to an item stands.

        Args:
            seconds: from the item's showing; what cannot be a duration (a clock that was set back) is left out.

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
            if cursor.execute(query("vote"), params).fetchall():
                return Recorded.NEW
            answered = cursor.execute(query("answered_items"), _of(ballot)).fetchall()
        if (item_no,) in answered:
            return Recorded.ALREADY
        raise InputError(
            f"there is no item {item_no} with an option {option} in the set {ballot.set_id}",
            expected="an item of a stored set",
            remedy="the set may have been removed: go on with another one",
        )

    def undo(self, ballot: Ballot) -> int | None:
        """Take back a rater's last answer: the number of the item that is open again; None where there was none."""
        with self.database.transaction() as cursor:
            rows = cursor.execute(query("undo_vote"), _of(ballot)).fetchall()
        return int(rows[0][0]) if rows else None

    def votes(self, set_id: str, session: str | None = None, without: Collection[str] = ()) -> list[Vote]:
        """Votes on a set, oldest first; of one session ("" for those outside of any), or of all (None) but some."""
        if not self.database.path.exists():
            return []
        with self.database.cursor() as cursor:
            rows = cursor.execute(query("votes"), _which(set_id, session, without)).fetchall()
        return [
            Vote(session, rater, item_no, option, seconds, _utc(at))
            for session, rater, item_no, option, seconds, at in rows
        ]

    def votes_digest(self, set_id: str, session: str | None = None, without: Collection[str] = ()) -> str:
        """Tells, at little cost, whether the votes that ``votes`` gives are still those that they were."""
        if not self.database.path.exists():
            return ""
        with self.database.cursor() as cursor:
            rows = cursor.execute(query("votes_digest"), _which(set_id, session, without)).fetchall()
        return "-".join(str(part) for part in rows[0])

    def sessions_with_votes(self, set_id: str) -> list[str]:
        """Names of the sessions in which a set has votes, in order; "" for votes outside of any."""
        if not self.database.path.exists():
            return []
        sql = "SELECT DISTINCT session FROM judgement_vote WHERE set_id = ? ORDER BY session"
        with self.database.cursor() as cursor:
            return [row[0] for row in cursor.execute(sql, [set_id]).fetchall()]

    def answered(self, ballot: Ballot) -> frozenset[int]:
        """Numbers of the items that a rater has answered."""
        with self.database.cursor() as cursor:
            return frozenset(row[0] for row in cursor.execute(query("answered_items"), _of(ballot)).fetchall())

    def progress(self, set_id: str, session: str) -> list[RaterProgress]:
        """How far the raters of a session ("" for those outside of any) are with a set; the latest first."""
        with self.database.cursor() as cursor:
            rows = cursor.execute(query("rater_progress"), {"set_id": set_id, "session": session}).fetchall()
        return [RaterProgress(rater, answered, unknown, _utc(last)) for rater, answered, unknown, last in rows]

    # --- sessions

    def add_session(self, name: str, sets: Mapping[Task, str], key: str, most: int | None = None) -> bool:
        """Open a session; False where there is one of that name.

        Args:
            key: the facilitator's; only its digest is stored.
            most: how many there may be; those of yesterday and before in which nobody has voted make room.

        Raises:
            InputError: there are as many.
            ValueError: it has no name (votes outside of any session have that one) or no set.
        """
        if not name or not sets:
            raise ValueError("a session has a name and at least one set")
        with self.database.transaction() as cursor:
            if most is not None:
                _make_room(cursor, most)
            new = cursor.execute(
                "INSERT INTO judgement_session VALUES (?, ?, false, ?) ON CONFLICT DO NOTHING RETURNING name",
                [name, _digest(key), _now()],
            ).fetchall()
            if new:
                for task, set_id in sets.items():
                    cursor.execute("INSERT INTO judgement_session_set VALUES (?, ?, ?)", [name, task, set_id])
        return bool(new)

    def session(self, name: str) -> Session | None:
        """A session by its name; None where there is none."""
        return next(iter(self._sessions(name)), None)

    def sessions(self) -> Sequence[Session]:
        """All sessions, newest first."""
        return self._sessions(None)

    def _sessions(self, name: str | None) -> list[Session]:
        if not self.database.path.exists():
            return []
        with self.database.cursor() as cursor:
            rows = cursor.execute(query("sessions"), {"name": name}).fetchall()
        return [
            Session(found, {Task(task): set_id for task, set_id in sets.items()}, revealed, _utc(created))
            for found, revealed, created, sets in rows
        ]

    def reveal(self, name: str, revealed: bool) -> None:
        """Show a session's results to its raters, or hide them again."""
        with self.database.transaction() as cursor:
            cursor.execute("UPDATE judgement_session SET revealed = ? WHERE name = ?", [revealed, name])

    def is_facilitator(self, name: str, key: str) -> bool:
        """Whether a key is that of a session's facilitator."""
        if not self.database.path.exists():
            return False
        with self.database.cursor() as cursor:
            rows = cursor.execute("SELECT key_digest FROM judgement_session WHERE name = ?", [name]).fetchall()
        return bool(rows) and hmac.compare_digest(rows[0][0], _digest(key))


def _add_set(cursor: duckdb.DuckDBPyConnection, items: ItemSet) -> bool:
    if [item.item_no for item in items.items] != list(range(len(items.items))):
        raise ValueError("items are not numbered 0, 1, 2, ...: a set's id goes by their places")
    rows = [
        {"set_id": items.set_id, "item_no": i.item_no}
        | asdict(i.query)
        | {"query": i.query.text, "band": i.band, "k": i.k, "options": list(i.options), "own": list(i.own)}
        for i in items.items
    ]
    table = pa.Table.from_pylist([{name: row[name] for name in _ITEM_COLUMNS.names} for row in rows], _ITEM_COLUMNS)
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
        cursor.from_arrow(table).insert_into("judgement_item")
    return bool(new)


def _make_room(cursor: duckdb.DuckDBPyConnection, most: int) -> None:
    """For one more session."""
    count = "SELECT count(*) FROM judgement_session"
    if cursor.execute(count).fetchall()[0][0] < most:
        return
    cursor.execute(query("drop_idle_sessions"), {"before": _now() - timedelta(days=1)})
    cursor.execute("DELETE FROM judgement_session_set WHERE name NOT IN (SELECT name FROM judgement_session)")
    if cursor.execute(count).fetchall()[0][0] >= most:
        raise InputError(
            f"there are {most} sessions", expected="fewer", remedy="join one of them, or try again tomorrow"
        )


def _which(set_id: str, session: str | None, without: Collection[str]) -> dict[str, object]:
    return {"set_id": set_id, "session": session, "without": list(without)}


def _of(ballot: Ballot) -> dict[str, object]:
    return {"set_id": ballot.set_id, "session": ballot.session, "rater_key": rater_key(ballot.rater)}


def _variants(names: Sequence[str]) -> tuple[Variant, ...]:
    return tuple(Variant.parse(name) for name in names)


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def _now() -> datetime:
    return _naive(datetime.now(UTC))


def _naive(moment: datetime) -> datetime:
    """As the store keeps it: UTC, without saying so."""
    return moment.astimezone(UTC).replace(tzinfo=None)


def _utc(naive: datetime) -> datetime:
    return naive.replace(tzinfo=UTC)
