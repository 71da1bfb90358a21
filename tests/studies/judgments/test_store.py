"""Votes in the store: written at once, the first answer kept, nothing lost in crashes, threads and processes."""

from __future__ import annotations

import math
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import duckdb
import pytest

from blindspot.errors import InputError
from blindspot.policy import SessionRoom
from blindspot.settings import ROOT
from blindspot.store import db
from blindspot.studies.judgments import store as judgments_module
from blindspot.studies.judgments.store import LISTED, Judgments, Merged
from blindspot.studies.judgments.types import Ballot, ItemSet, Recorded, Task, Vote
from tests.support.judgment_samples import MADE_AT, comparative_set, intruder_set
from tests.support.judgment_samples import votes as sample_votes


@pytest.fixture
def items(store: Judgments) -> ItemSet:
    made = comparative_set()
    store.add_set(made)
    return made


def ballot(items: ItemSet, rater: str = "Anna", session: str = "") -> Ballot:
    return Ballot(items.set_id, session, rater)


def program(text: str, *arguments: object) -> subprocess.Popen[str]:
    """A process of its own that runs ``text`` with these arguments; ``store`` is open on the first."""
    head = (
        "import sys\nfrom pathlib import Path\nfrom blindspot.studies.judgments.types import Ballot\n"
        "from blindspot.studies.judgments.store import Judgments\nstore = Judgments.at(Path(sys.argv[1]))\n"
    )
    return subprocess.Popen(
        [sys.executable, "-c", head + text, *map(str, arguments)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


# --- sets


@pytest.mark.parametrize("made", [intruder_set(), comparative_set()], ids=lambda made: made.task.value)
def test_a_set_comes_back_as_it_was_made(store: Judgments, path: Path, made: ItemSet) -> None:
    assert store.add_set(made)
    assert not store.add_set(replace(made, title="again")), "the same items are the same set"
    found = Judgments.at(path).find_set(made.set_id)
    assert found == made
    assert found is not None
    assert found.set_id == made.set_id


def test_sets_are_listed_newest_first_by_task(store: Judgments) -> None:
    elsewhere = MADE_AT.astimezone(timezone(timedelta(hours=5)))
    old = replace(intruder_set(), created_at=elsewhere)
    new = replace(comparative_set(), created_at=MADE_AT + timedelta(days=1))
    store.add_set(old)
    store.add_set(new)
    assert [one.set_id for one in store.sets()] == [new.set_id, old.set_id]
    (one,) = store.sets(Task.INTRUDER)
    assert (one.set_id, one.items, one.raters, one.votes) == (old.set_id, len(old.items), 0, 0)
    assert (one.variants, one.created_at, one.title) == (old.variants, MADE_AT, old.title)


def test_items_that_are_not_numbered_by_their_places_are_not_stored(store: Judgments) -> None:
    made = intruder_set()
    with pytest.raises(ValueError, match="not numbered"):
        store.add_set(replace(made, items=made.items[1:]))
    assert store.sets() == []


def test_the_beginning_of_an_id_is_enough_if_it_is_one_sets(store: Judgments) -> None:
    with pytest.raises(InputError, match="there is none yet"):
        store.named("abc")
    one, other = intruder_set(2), comparative_set(2)
    store.add_set(one)
    store.add_set(other)
    common = next(i for i in range(13) if one.set_id[i] != other.set_id[i])
    assert store.named(one.set_id).set_id == one.set_id
    assert store.named(other.set_id[: common + 1]).set_id == other.set_id
    for unknown in ("xyz", "", one.set_id + "0"):
        with pytest.raises(InputError, match="no set of items begins with") as caught:
            store.named(unknown)
        assert one.set_id in str(caught.value)
        assert other.set_id in str(caught.value)


def test_the_beginning_of_several_ids_is_refused_with_all_of_them(store: Judgments) -> None:
    sets = [intruder_set(2 + n, f"Set {n}") for n in range(17)]  # more than there are hexadecimal digits
    for items in sets:
        store.add_set(items)
    firsts = [items.set_id[0] for items in sets]
    shared = next(first for first in firsts if firsts.count(first) > 1)
    with pytest.raises(InputError, match="give more characters") as caught:
        store.named(shared)
    assert all(i.set_id in str(caught.value) for i in sets if i.set_id[0] == shared) or firsts.count(shared) > LISTED


def test_nothing_is_there_before_anything_was_stored(store: Judgments, path: Path) -> None:
    assert store.sets() == []
    assert store.find_set("abc") is None
    assert store.votes("abc") == []
    assert store.session("abc") is None
    assert not store.is_facilitator("abc", "key")
    assert not path.exists(), "looking makes no store"


def test_a_removed_set_takes_its_votes_and_sessions_along(store: Judgments, items: ItemSet) -> None:
    other = intruder_set()
    store.add_set(other)
    store.add_session("one", {Task.COMPARATIVE: items.set_id}, "key")
    store.add_session("two", {Task.COMPARATIVE: items.set_id, Task.INTRUDER: other.set_id}, "key")
    for of in (items, other):
        store.vote(ballot(of), 0, 0)
        store.vote(ballot(of, session="two"), 0, 0)
    store.remove_set(items.set_id)
    assert store.find_set(items.set_id) is None
    assert store.votes(items.set_id) == []
    assert [one.name for one in store.sessions()] == ["two"]
    assert store.sessions()[0].sets == {Task.INTRUDER: other.set_id}
    assert len(store.votes(other.set_id)) == 2
    with pytest.raises(InputError, match="the set may have been removed: go on with another one"):
        store.vote(ballot(items), 0, 0)
    assert store.add_set(items), "it may come back"
    assert store.vote(ballot(items), 0, 0) is Recorded.NEW


# --- votes


@pytest.mark.process
def test_a_vote_can_be_read_at_once_by_another_process(store: Judgments, items: ItemSet, path: Path) -> None:
    before = datetime.now(UTC)
    assert store.vote(ballot(items), 3, 1, 2.5) is Recorded.NEW
    with program("print(store.votes(sys.argv[2]))", path, items.set_id) as child:
        out, err = child.communicate(timeout=60)
    assert err == ""
    (vote,) = store.votes(items.set_id)
    assert out.strip() == repr([vote])
    assert before <= vote.voted_at <= datetime.now(UTC)
    assert vote == Vote("", "Anna", 3, 1, 2.5, vote.voted_at)


def test_the_first_answer_stands_until_it_is_taken_back(store: Judgments, items: ItemSet) -> None:
    anna = ballot(items)
    assert [store.vote(anna, 0, option) for option in (1, 2, None)] == ["new", "already", "already"]
    assert [vote.option for vote in store.votes(items.set_id)] == [1]
    assert store.vote(anna, 4, None) is Recorded.NEW
    assert store.answered(anna) == {0, 4}
    assert [store.undo(anna) for _ in range(3)] == [4, 0, None]
    assert store.vote(anna, 0, 2) is Recorded.NEW
    assert [vote.option for vote in store.votes(items.set_id)] == [2]


def test_an_answer_is_changed_while_somebody_reads(store: Judgments, items: ItemSet) -> None:
    """An index may keep what a reader still sees: the same key must be free again all the same."""
    anna = ballot(items)
    with store.database.cursor() as reader:
        reader.begin()
        assert reader.execute("SELECT count(*) FROM judgment_vote").fetchall() == [(0,)]
        for option in (0, 1, 2, None):
            assert store.vote(anna, 0, option) is Recorded.NEW
            assert store.undo(anna) == 0
        store.remove_set(items.set_id)
        assert store.add_set(items)
        assert store.vote(anna, 0, 1) is Recorded.NEW
        reader.rollback()
    assert [vote.option for vote in store.votes(items.set_id)] == [1]


def test_sessions_and_raters_are_kept_apart(store: Judgments, items: ItemSet) -> None:
    for session in ("", "reading group"):
        for rater in ("Anna", "Ben"):
            assert store.vote(ballot(items, rater, session), 0, 0) is Recorded.NEW
    assert len(store.votes(items.set_id)) == 4
    assert [v.session for v in store.votes(items.set_id, "")] == ["", ""]
    assert store.undo(ballot(items, "Ben", "reading group")) == 0
    assert store.answered(ballot(items, "Ben")) == {0}
    (summary,) = store.sets()
    assert (summary.raters, summary.votes) == (3, 3)


def test_a_rater_is_one_however_the_name_is_spelt_and_is_named_once(store: Judgments, items: ItemSet) -> None:
    for number, spelt in enumerate(["Zoë", "ZOË", "Zoe\u0308", "zoë"]):
        assert store.vote(ballot(items, spelt), number, None if number else 0) is Recorded.NEW
        assert store.vote(ballot(items, "zOë"), number, 1) is Recorded.ALREADY
    assert {vote.rater for vote in store.votes(items.set_id)} == {"Zoë"}
    (progress,) = store.progress(items.set_id, "")
    assert (progress.rater, progress.answered, progress.unknown) == ("Zoë", 4, 3)
    assert progress.last_at == store.votes(items.set_id)[-1].voted_at
    assert store.sets()[0].raters == 1
    assert store.undo(ballot(items, "ZOË")) == 3


@pytest.mark.parametrize(("item", "option"), [(12, 0), (-1, 0), (0, 3), (0, -1), (2**40, 0), (0, 2**70)])
def test_a_vote_for_what_is_not_there_is_refused(store: Judgments, items: ItemSet, item: int, option: int) -> None:
    assert len(items.items) == 12
    assert len(items.items[0].options) == 3
    with pytest.raises(InputError, match="there is no item"):
        store.vote(ballot(items), item, option)
    assert store.votes(items.set_id) == []


@pytest.mark.parametrize("seconds", [math.nan, math.inf, -0.5])
def test_what_is_no_duration_is_left_out_and_the_vote_counts(store: Judgments, items: ItemSet, seconds: float) -> None:
    assert store.vote(ballot(items), 0, 0, seconds) is Recorded.NEW
    assert store.votes(items.set_id)[0].seconds is None


# --- sessions


def test_a_session_belongs_to_who_opened_it(store: Judgments, items: ItemSet, path: Path) -> None:
    assert store.add_session("group", {Task.COMPARATIVE: items.set_id}, "the key of one")
    assert not store.add_session("group", {Task.INTRUDER: "other"}, "the key of another")
    (session,) = store.sessions()
    assert (session.name, session.sets, session.revealed) == ("group", {Task.COMPARATIVE: items.set_id}, False)
    assert store.is_facilitator("group", "the key of one")
    assert not store.is_facilitator("group", "the key of another")
    assert not store.is_facilitator("no such group", "the key of one")
    store.reveal("group", True)
    assert store.session("group") == replace(session, revealed=True)
    store.database.close()
    assert b"the key of one" not in path.read_bytes(), "the store has its digest only"


def test_sessions_of_strangers_end_and_make_room(
    store: Judgments, items: ItemSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the last vote; then those with the fewest votes, but none that was opened within the hour."""
    sets, room = {Task.COMPARATIVE: items.set_id}, SessionRoom(in_all=5, an_hour=3, days=14)
    store.add_set(items)
    now = datetime.now(UTC).replace(tzinfo=None)

    def opened(name: str, hours_ago: float, votes: int = 0, voted_hours_ago: float = 0.0) -> None:
        monkeypatch.setattr(judgments_module, "_now", lambda: now - timedelta(hours=hours_ago))
        assert store.add_session(name, sets, "key", room)
        monkeypatch.setattr(judgments_module, "_now", lambda: now - timedelta(hours=voted_hours_ago))
        for number in range(votes):
            store.vote(Ballot(items.set_id, name, "Ada"), number, 0)

    def names() -> set[str]:
        return {session.name for session in store.sessions()}

    opened("expired", 24 * 30, votes=9, voted_hours_ago=24 * 17)
    opened("old and used", 24 * 30, votes=5, voted_hours_ago=24)
    assert names() == {"expired", "old and used"}, "its last vote was later than this"
    opened("one vote", 30, votes=1)
    assert names() == {"old and used", "one vote"}
    assert store.votes(items.set_id, "expired") == [], "another session of that name would have them"
    opened("two votes", 29, votes=2)
    opened("no vote", 28)
    opened("fresh", 0.5)
    opened("next", 0.4)
    assert names() == {"old and used", "one vote", "two votes", "fresh", "next"}
    opened("third", 0.3)
    assert names() == {"old and used", "two votes", "fresh", "next", "third"}
    monkeypatch.setattr(judgments_module, "_now", lambda: now)
    with pytest.raises(InputError, match="3 sessions were opened here within the hour"):
        store.add_session("fourth", sets, "key", room)
    assert len(names()) == 5
    assert store.add_session("at home", sets, "key")


def test_only_answers_to_some_items_are_undone(store: Judgments, items: ItemSet) -> None:
    anna = ballot(items)
    for number in range(4):
        store.vote(anna, number, 0)
    assert [store.undo(anna, among) for among in ([], [9], [1, 0], [1, 0], [1, 0])] == [None, None, 1, 0, None]
    assert store.answered(anna) == {2, 3}


def test_a_session_has_a_name_and_a_set(store: Judgments) -> None:
    for name, sets in (("", {Task.INTRUDER: "abc"}), ("group", {})):
        with pytest.raises(ValueError, match="a name and at least one set"):
            store.add_session(name, sets, "key")
    assert store.sessions() == []


# --- from elsewhere


def test_merging_adds_what_is_not_here_and_changes_nothing(store: Judgments) -> None:
    made = comparative_set()
    first = sample_votes([("Anna", 0, 0), ("Anna", 1, None), ("Ben", 0, 2)])
    assert store.merge(made, first) == Merged(True, 3, 0, 0)
    assert store.votes(made.set_id) == first
    assert store.merge(made, first) == Merged(False, 0, 3, 0)
    mixed = sample_votes([("anna", 0, 1), ("ANNA", 1, None), ("Ben", 1, 1), ("Ben", 0, None)])
    assert store.merge(made, mixed) == Merged(False, 1, 1, 2)
    assert [v.option for v in store.votes(made.set_id) if v.item_no == 0] == [0, 2]
    assert store.merge(made, sample_votes([("Anna", 0, 0)], "group")) == Merged(False, 1, 0, 0)


def test_merging_that_fails_leaves_nothing(store: Judgments) -> None:
    made = comparative_set()
    twice = sample_votes([("Anna", 0, 0), ("Anna", 0, 0)])
    with pytest.raises(duckdb.ConstraintException):
        store.merge(made, twice)
    assert store.sets() == []
    assert store.votes(made.set_id) == []


# --- crashes, threads, processes


@pytest.mark.process
def test_every_vote_that_was_acknowledged_survives_kill_9(store: Judgments, items: ItemSet, path: Path) -> None:
    store.database.close()
    loop = (
        "for i in range(10**6):\n    ballot = Ballot(sys.argv[2], '', f'rater {i // 12}')\n"
        "    store.vote(ballot, i % 12, 0)\n"
        "    if i % 5 == 4:\n        store.undo(ballot)\n        store.vote(ballot, i % 12, 1)\n"
        "    print(i, flush=True)\n"
    )
    said = -1
    for killed_at in (3, 40):
        with program(loop.replace("range(10**6)", f"range({said + 1}, 10**6)"), path, items.set_id) as child:
            assert child.stdout is not None
            for line in child.stdout:
                said = int(line)
                if said >= killed_at:
                    child.kill()
                    break
            said = max([said, *map(int, child.stdout.read().split())])
        here = {(v.rater, v.item_no): v.option for v in store.votes(items.set_id)}
        for i in range(said + 1):
            assert here.pop((f"rater {i // 12}", i % 12)) == int(i % 5 == 4)
        # What was written and not yet said, at most one.
        assert len(here) <= 1
        if here:
            said += 1
            store.vote(ballot(items, f"rater {said // 12}"), said % 12, 0)
            while (f"rater {said // 12}", said % 12) in here:  # make it what the loop would have made of it
                if said % 5 == 4 and here[f"rater {said // 12}", said % 12] == 0:
                    store.undo(ballot(items, f"rater {said // 12}"))
                    store.vote(ballot(items, f"rater {said // 12}"), said % 12, 1)
                here.clear()
        store.database.close()


VOTE_AS_TABS = """
import threading
items, raters = int(sys.argv[3]), sys.argv[4].split(",")
def tab(rater, forwards):
    ballot = Ballot(sys.argv[2], "", rater)
    for item in range(items) if forwards else reversed(range(items)):
        said = store.vote(ballot, item, 0 if forwards else 1)
        if item % 25 == 24:
            taken = store.undo(ballot)  # of this rater's, perhaps the other tab's
            if taken is not None:
                said_again = store.vote(ballot, taken, None)
                assert said_again in {"new", "already"}, said_again
threads = [threading.Thread(target=tab, args=(r, f)) for r in raters for f in (True, False)]
failed = []
threading.excepthook = lambda args: failed.append(f"{args.exc_type.__name__}: {args.exc_value}")
[t.start() for t in threads]
[t.join() for t in threads]
print(failed)
"""


@pytest.mark.process
@pytest.mark.parametrize("each", [30, pytest.param(100, marks=pytest.mark.slow)])
def test_votes_of_ten_raters_with_two_tabs_in_three_processes(store: Judgments, path: Path, each: int) -> None:
    """Each rater answers in two tabs that start at opposite ends: for 100 items 2,000 votes, half second ones."""
    made = comparative_set(34)
    store.add_set(made)
    raters = [f"rater {number}" for number in range(10)]
    theirs = [raters[:1], raters[1:2]]
    children = [program(VOTE_AS_TABS, path, made.set_id, each, ",".join(names)) for names in theirs]

    def tab(rater: str, forwards: bool) -> Counter[Recorded]:
        said: Counter[Recorded] = Counter()
        for item in range(each) if forwards else reversed(range(each)):
            said[store.vote(ballot(made, rater), item, 0 if forwards else 1)] += 1
            if item % 10 == 0:
                store.votes(made.set_id)  # somebody looks at the results meanwhile
        return said

    with ThreadPoolExecutor(16) as pool:
        ours = [pool.submit(tab, rater, forwards) for rater in raters[2:] for forwards in (True, False)]
        counts = [future.result(timeout=120) for future in ours]
    for child in children:
        out, err = child.communicate(timeout=120)
        assert (out.strip(), err) == ("[]", "")
    votes = store.votes(made.set_id)
    assert len(votes) == 10 * each
    assert Counter((vote.rater, vote.item_no) for vote in votes) == Counter(
        (rater, item) for rater in raters for item in range(each)
    )
    for rater, pair in zip(raters[2:], zip(counts[::2], counts[1::2], strict=True), strict=True):
        assert sum(pair, Counter()) == {Recorded.NEW: each, Recorded.ALREADY: each}, rater
        options = Counter(vote.option for vote in votes if vote.rater == rater)
        assert options == Counter({0: pair[0][Recorded.NEW], 1: pair[1][Recorded.NEW]})


@pytest.mark.process
def test_a_vote_waits_for_a_foreign_process_that_has_the_store(store: Judgments, items: ItemSet, path: Path) -> None:
    store.database.close()
    hold = "import duckdb; c = duckdb.connect(sys.argv[1]); print('held', flush=True); import time; time.sleep(0.5)"
    with program(hold, path) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "held\n"
        assert store.vote(ballot(items), 0, 0) is Recorded.NEW
        assert child.wait(timeout=60) == 0


@pytest.mark.process
def test_a_process_that_is_never_idle_lets_another_one_in(
    store: Judgments, items: ItemSet, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Votes without a pause: without giving way the other process waits until they end."""
    monkeypatch.setattr(db, "IDLE_SECONDS", 600.0)
    done: list[int] = []
    with program("print(len(store.votes(sys.argv[2])))", path, items.set_id) as child:
        rounds = 0
        while child.poll() is None and rounds < 20_000:
            store.vote(ballot(items, f"rater {rounds}"), 0, 0)
            rounds += 1
        assert child.stdout is not None
        assert child.stderr is not None
        done = [int(child.stdout.read())]
        assert child.stderr.read() == ""
    assert rounds < 20_000
    assert 0 < done[0] <= rounds
    assert len(store.votes(items.set_id)) == rounds
    assert {file.name for file in path.parent.iterdir()} <= {"results.duckdb", "results.duckdb.wal"}, "no sign is left"
