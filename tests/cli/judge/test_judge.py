"""``blindspot judge export|import|remove``, in this process."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from blindspot.files.typed_tables import TableFormat
from blindspot.settings import Settings
from blindspot.studies.judgments import bundles
from blindspot.studies.judgments.bundles import Bundle
from blindspot.studies.judgments.store import Judgments
from tests.support.commands import Command
from tests.support.judgment_samples import comparative_set, intruder_set, votes

MADE = comparative_set()


@pytest.fixture
def store(settings: Settings) -> Judgments:
    """With a set of twelve items and three votes."""
    judgments = Judgments.at(settings.store)
    judgments.merge(MADE, votes([("Anna", 0, 0), ("Anna", 1, None), ("=Ben", 0, 2)]))
    return judgments


@pytest.mark.parametrize("form", TableFormat)
def test_exported_here_and_imported_there(
    store: Judgments, form: TableFormat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, blindspot: Command
) -> None:
    file = tmp_path / "judgments.zip"
    out = blindspot.out("judge", "export", MADE.set_id[:4], "--output", str(file), "--format", form)
    assert out == f"12 items and 3 votes: {file}\n"
    monkeypatch.setenv("BLINDSPOT_CACHE", str(tmp_path / "other"))
    assert blindspot.json("judge", "import", str(file)) == {
        "set_id": MADE.set_id,
        "task": "comparative",
        "new_set": True,
        "votes": {"new": 3, "known": 0, "differing": 0},
    }
    other = Judgments.at(Settings.from_environment().store)
    assert other.find_set(MADE.set_id) == MADE
    assert other.votes(MADE.set_id) == store.votes(MADE.set_id)
    out = blindspot.out("judge", "import", str(file))
    assert "votes: 0 new, 3 known, 0 " in out


def test_a_table_alone(store: Judgments, blindspot: Command, tmp_path: Path) -> None:
    file = tmp_path / "votes.csv"
    assert blindspot("judge", "export", MADE.set_id, "--only", "votes", "--output", str(file)).code == 0
    lines = file.read_bytes().decode().split("\r\n")
    assert lines[0] == "session,rater,item_no,option_no,option,seconds,voted_at"
    assert next(line for line in lines if "Ben" in line).startswith(",'=Ben,0,2,c0at1,")


def test_a_set_is_removed_when_asked_twice(
    store: Judgments, monkeypatch: pytest.MonkeyPatch, blindspot: Command
) -> None:
    store.add_set(intruder_set())
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    said = blindspot("judge", "remove", MADE.set_id)
    assert (said.code, said.out.strip()) == (0, "nothing was removed")
    assert "12 items and 3 votes of 2 rater(s)" in said.err
    assert store.find_set(MADE.set_id) is not None
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    said = blindspot("judge", "remove", MADE.set_id)
    assert (said.code, "--yes" in said.err) == (2, True)
    assert store.find_set(MADE.set_id) is not None
    assert blindspot("judge", "remove", MADE.set_id, "--yes").code == 0
    assert [one.set_id for one in store.sets()] == [intruder_set().set_id]
    assert store.votes(MADE.set_id) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["export", "zzz", "--output", "a.zip"], "'zzz'"),
        (["export", MADE.set_id, "--output", "a.csv"], "cannot write 'a.csv'; expected a name that ends in .zip"),
        (["export", MADE.set_id, "--only", "items", "--output", "a.zip"], "a name that ends in .csv or .parquet"),
        (["export", MADE.set_id, "--output", "no/such/a.zip"], "there is no folder no/such"),
        (["import", "nowhere.zip"], "there is no file nowhere.zip; check the path"),
        (["import", "README.md"], "is no zip"),
        (["import", "core"], "core is a folder; expected a file"),
        (["remove", "zzz"], "'zzz'"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(
    store: Judgments, blindspot: Command, arguments: list[str], message: str
) -> None:
    assert message in blindspot.error("judge", *arguments)
    assert len(store.votes(MADE.set_id)) == 3


def test_half_a_file_changes_nothing(store: Judgments, tmp_path: Path, blindspot: Command) -> None:
    file = tmp_path / "half.zip"
    data = bundles.pack(Bundle(intruder_set(), tuple(votes([("Cleo", 0, 0)]))), TableFormat.CSV)
    file.write_bytes(data[: len(data) // 2])
    assert "expected a zip of set.json" in blindspot.error("judge", "import", str(file))
    assert len(store.sets()) == 1
