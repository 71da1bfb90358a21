"""Answers that a repository keeps: the same as a fresh one's, whoever wrote in between, and few enough."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pytest

from blindspot.store import db
from blindspot.store.db import Database
from blindspot.store.records import RunState
from blindspot.store.repository import Answers, Repository
from tests.support.store_samples import pair_set, plan, store_run

DELETE = "import duckdb, sys; duckdb.connect(sys.argv[1]).execute(\"DELETE FROM run WHERE run_id = 'aaaa'\")"


def ids(repository: Repository) -> list[str]:
    return [run.run_id for run in repository.runs()]


def counted(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows by one with every question that the store is asked."""
    asked: list[int] = []
    cursor = Database.cursor

    def noted(self: Database):  # type: ignore[no-untyped-def]
        asked.append(1)
        return cursor(self)

    monkeypatch.setattr(Database, "cursor", noted)
    return asked


def test_a_question_is_asked_once(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    store_run(repository, "aaaa", pair_set(2))
    asked = counted(repository, monkeypatch)
    for _ in range(3):
        assert ids(repository) == ["aaaa"]
        assert [str(variant) for variant in repository.variants()] == ["minilm~none"]
    assert len(asked) == 3, "runs, the models' speeds, and the variants"
    repository.runs(metrics=["mrr"])
    assert len(asked) == 4, "another question"


def test_closing_and_opening_the_file_changes_no_answer(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    store_run(repository, "aaaa", pair_set(2))
    repository.database.close()  # moves the log into the file
    assert ids(repository) == ["aaaa"]
    repository.database.close()
    asked = counted(repository, monkeypatch)
    assert ids(repository) == ["aaaa"]
    assert asked == []


def test_a_callers_list_is_its_own(repository: Repository) -> None:
    store_run(repository, "aaaa", pair_set(2))
    repository.runs().clear()
    repository.variants().clear()
    repository.names().clear()
    assert ids(repository) == ["aaaa"]
    assert repository.variants()
    assert repository.names()


@pytest.mark.heavy
def test_another_repository_of_this_process_may_write(repository: Repository) -> None:
    other = Repository.at(repository.database.path)
    store_run(repository, "aaaa", pair_set(2))
    for number in range(20):  # within a tick of the clock
        store_run(other, f"{number:04x}", pair_set(2), transform=f"abtt:{number + 1}")
        assert len(ids(repository)) == number + 2
        assert len(repository.variants()) == number + 2
    other.delete(other.run("aaaa"))
    assert "aaaa" not in ids(repository)


@pytest.mark.process
def test_another_process_may_write(repository: Repository) -> None:
    for run_id, transform in (("aaaa", "none"), ("bbbb", "center")):
        store_run(repository, run_id, pair_set(2), transform=transform)
    assert ids(repository) == ["bbbb", "aaaa"]
    repository.database.close()
    subprocess.run([sys.executable, "-c", DELETE, str(repository.database.path)], check=True)
    assert ids(repository) == ["bbbb"]
    assert [variant.transform for variant in repository.variants()] == ["center"]


def test_the_file_may_be_replaced_or_removed(repository: Repository) -> None:
    store_run(repository, "aaaa", pair_set(2))
    assert ids(repository) == ["aaaa"]
    repository.database.close()
    repository.database.path.unlink()
    assert ids(repository) == []
    assert repository.variants() == []


def test_whether_a_run_goes_on_is_looked_at_every_time(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    repository.begin(plan("aaaa", pair_set(2)))
    assert [run.state for run in repository.runs()] == [RunState.RUNNING]
    monkeypatch.setattr("blindspot.store.records._alive", lambda *_: False)
    assert [run.state for run in repository.runs()] == [RunState.INTERRUPTED]


def test_the_oldest_answers_go(tmp_path: Path) -> None:
    answers = Answers(Database(tmp_path / "store.duckdb"), most_rows=10)
    asked: list[str] = []

    def ask(question: str, rows: int | None = 3) -> str:
        def found() -> tuple[str, int | None]:
            asked.append(question)
            return question.upper(), rows

        return answers.get(question, found)

    assert [ask(question) for question in "aba"] == ["A", "B", "A"]
    assert asked == ["a", "b"]
    ask("c")  # four each, with one for the question: b, not asked for since, has to go
    assert [ask(question) for question in "ac"] == ["A", "C"]
    assert asked == ["a", "b", "c"]
    ask("b")
    assert asked == ["a", "b", "c", "b"]
    ask("large", 1_000)
    ask("large", 1_000)
    assert asked[-2:] == ["large", "large"], "more than all answers may take together"
    ask("changing", None)
    ask("changing", None)
    assert asked[-2:] == ["changing", "changing"]


def test_what_was_written_while_a_question_was_answered_is_asked_again(tmp_path: Path) -> None:
    database = Database(tmp_path / "store.duckdb")
    answers = Answers(database)

    def while_writing() -> tuple[str, int]:
        with database.transaction() as cursor:
            cursor.execute("CREATE TABLE later (number INTEGER)")
        return "before", 1

    assert answers.get("q", while_writing) == "before"
    assert answers.get("q", lambda: ("after", 1)) == "after"


def test_the_state_changes_with_what_is_written_and_with_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "store.duckdb"
    db.Database(path).close()
    with (database := Database(path)).cursor():
        pass
    database.close()
    before = database.state()
    time.sleep(0.02)
    with database.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM run").fetchall()
    database.close()
    assert database.state() == before
    with duckdb.connect(path) as connection:  # as another program would
        connection.execute("CREATE TABLE other (number INTEGER)")
        assert database.state() != before
