"""Checks of the store, which is not changed, and of runs that need attention."""

from __future__ import annotations

import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from blindspot import cli, doctor
from blindspot.doctor import results
from blindspot.doctor.findings import Finding, State, guarded
from blindspot.encoders.catalog import canonical_encoder
from blindspot.errors import BlindspotError
from blindspot.settings import Settings
from blindspot.store import db, inspection
from blindspot.store.db import CONFINED, Database, Migration, migrations
from blindspot.store.records import RunState
from blindspot.store.repository import Repository
from tests.support import store_samples
from tests.support.findings import by_name, check, of_state, problems
from tests.support.held_store import held_by_a_child
from tests.support.small_world import SMALL_PAIRS, GramEncoder, register_dataset, register_encoder

DATASET = replace(store_samples.pair_set(), id="demo-pairs")  # a dataset that this version has
KILLED = """
import os, signal, sys
from pathlib import Path
from blindspot.store.repository import Repository
from tests.support import store_samples
Repository.at(Path(sys.argv[1])).begin(store_samples.plan("killed", store_samples.pair_set(dataset_id="demo-pairs")))
os.kill(os.getpid(), signal.SIGKILL)
"""


def examined(settings: Settings) -> list[Finding]:
    return [*guarded("store", "store", lambda: results.store(settings, Repository.at(settings.store)))]


def only_problem(settings: Settings) -> Finding:
    (found,) = examined(settings)
    assert found.state is State.PROBLEM
    return found


def notes(settings: Settings) -> list[Finding]:
    found = examined(settings)
    assert problems(found) == []
    return of_state(State.NOTE, found)


def run_sql(settings: Settings, *statements: str) -> None:
    with duckdb.connect(str(settings.store), config=CONFINED) as connection:
        for statement in statements:
            connection.execute(statement)


# --- the file


def test_no_store_is_made(settings: Settings) -> None:
    (found,) = examined(settings)
    assert found.state is State.OK
    assert found.what == f"none yet: the first run makes {settings.store}"
    assert not settings.cache.exists()


@pytest.mark.parametrize("is_open", [False, True])
def test_a_healthy_store_is_left_as_it_is(settings: Settings, repository: Repository, is_open: bool) -> None:
    store_samples.store_run(repository, "aaaa", DATASET)
    if is_open:  # by this very process, for writing
        with repository.database.cursor():
            found = examined(settings)
    else:
        repository.database.close()
        before = {path.name: path.read_bytes() for path in settings.cache.iterdir()}
        found = examined(settings)
        assert {path.name: path.read_bytes() for path in settings.cache.iterdir()} == before
    assert [finding.state for finding in found] == [State.OK] * 3
    file, schema, runs = found
    assert str(settings.store) in file.what
    assert schema.what == f"version {len(migrations())} of {len(migrations())}"
    assert runs.what == "1 done"


@pytest.mark.process
def test_what_a_killed_process_had_not_written_to_the_file_is_seen_and_left(settings: Settings) -> None:
    settings.cache.mkdir()
    done = subprocess.run([sys.executable, "-c", KILLED, str(settings.store)], check=False)
    assert done.returncode == -9
    before = {path.name: path.read_bytes() for path in settings.cache.iterdir()}
    assert f"{settings.store.name}.wal" in before, "it was killed before it could put its rows into the file"
    (found,) = notes(settings)
    assert found.name == "run killed"
    assert found.what.startswith("interrupted: EvalRank of minilm on Demo pairs, begun 20")
    assert found.remedy == (
        "go on with: blindspot run evalrank --encoder minilm --transform none --dataset demo-pairs --metric cos "
        "--protocol definition (or forget it: blindspot runs delete killed)"
    )
    assert {path.name: path.read_bytes() for path in settings.cache.iterdir()} == before


def test_a_store_that_waits_for_a_migration_is_read_as_it_is(
    settings: Settings, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    store_samples.store_run(repository, "aaaa", DATASET)
    repository.database.close()
    before = settings.store.read_bytes()
    both = (*migrations(), Migration(2, "notes", "ALTER TABLE run ADD COLUMN note VARCHAR"))
    for module in (db, inspection):
        monkeypatch.setattr(module, "migrations", lambda: both)
    found = by_name(examined(settings))
    assert found["schema"].what.startswith("version 1 of 2; brought up to date when")
    assert found["runs"].what == "1 done"
    assert settings.store.read_bytes() == before


def test_a_store_of_a_newer_version_is_refused_as_everywhere(settings: Settings, repository: Repository) -> None:
    repository.remember_reference("dir:/a", {})
    repository.database.close()
    run_sql(settings, "INSERT INTO schema_version VALUES (99, 'future', now()::TIMESTAMP)")
    found = only_problem(settings)
    with pytest.raises(BlindspotError) as refused:
        repository.runs()
    assert found.what == f"{refused.value.what}; expected {refused.value.expected}"
    assert found.remedy == refused.value.remedy


@pytest.mark.process
def test_a_store_that_another_process_holds(
    settings: Settings, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "PATIENCE_SECONDS", 0.1)
    store_samples.store_run(repository, "aaaa", DATASET)
    repository.database.close()
    with held_by_a_child(settings.store) as child:
        found = only_problem(settings)
    held = f"the store {settings.store} is held by process {child.pid} ("
    check(found, State.PROBLEM, held, remedy="close that program")
    assert notes(settings) == []


@pytest.mark.parametrize("content", [b"", b"not a database" * 999])
def test_a_file_that_is_no_store(settings: Settings, content: bytes) -> None:
    settings.cache.mkdir()
    settings.store.write_bytes(content)
    what = f"the store {settings.store} cannot be read: "
    check(only_problem(settings), State.PROBLEM, what, remedy="move it away")
    assert settings.store.read_bytes() == content


def test_damage_in_the_middle_of_a_table_is_found(settings: Settings, repository: Repository) -> None:
    dataset = replace(store_samples.pair_set(20_000), id="demo-pairs")
    store_samples.store_run(repository, "aaaa", dataset)
    repository.database.close()
    run_sql(settings, "CHECKPOINT")
    content = bytearray(settings.store.read_bytes())
    headers, block = 3 * 4096, 1 << 18
    for start in range(headers + block + 4000, len(content), block):  # in every block but the first, the catalog's
        content[start : start + 16] = bytes(byte ^ 0xFF for byte in content[start : start + 16])
    settings.store.write_bytes(content)
    check(only_problem(settings), State.PROBLEM, str(settings.store), remedy="move it away")


def test_a_folder_in_place_of_the_store(settings: Settings) -> None:
    settings.store.mkdir(parents=True)
    assert "cannot be read" in only_problem(settings).what


# --- runs


def forget_that_it_is_done(settings: Settings, where: str) -> None:
    """Runs as a process leaves them that died before it could store anything."""
    with duckdb.connect(str(settings.store), config=CONFINED) as connection:
        tables = [row[0] for row in connection.execute("SHOW TABLES").fetchall()]
        for table in ["metric", *(t for t in tables if t.startswith("result_"))]:
            connection.execute(f"DELETE FROM {table} WHERE run_seq IN (SELECT run_seq FROM run WHERE {where})")
        connection.execute(f"UPDATE run SET status = 'running', process_id = 0, finished_at = NULL WHERE {where}")


def go_on(found: Finding) -> None:
    """Type the command that a remedy names."""
    command = found.remedy.removeprefix("go on with: ").rpartition(" (or forget it")[0]
    words = shlex.split(command)
    assert words[0] == "blindspot"
    assert cli.main(words[1:]) == 0


def test_the_command_goes_on_with_the_run(
    environment: Settings, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    register_encoder(monkeypatch, GramEncoder())
    register_dataset(monkeypatch, SMALL_PAIRS)
    small = ["run", "evalrank", "--encoder", "trigrams", "--dataset", "small-pairs", "--metric", "l2"]
    assert cli.main([*small, "--transform", "abtt:2+center", "--protocol", "toolkit"]) == 0
    (before,) = repository.runs()
    repository.database.close()
    forget_that_it_is_done(environment, "true")
    (found,) = notes(environment)
    go_on(found)
    (after,) = repository.runs()
    assert (after.run_id, after.state, after.metrics) == (before.run_id, RunState.DONE, before.metrics)
    assert notes(environment) == []


def test_the_command_goes_on_with_common_coverage_and_odd_paths(
    environment: Settings, repository: Repository, tmp_path: Path
) -> None:
    folder = tmp_path / "it's my $HOME"
    folder.mkdir()
    (folder / "pairs.csv").write_text("query,match\nred,blue\nblue,red\ngreen,red\nblue,green\n", "utf-8")
    (folder / "all.txt").write_text("red 1 0\nblue 1 1\ngreen 0 1\n", "utf-8")
    (folder / "some.txt").write_text("red 1 0\nblue 1 1\n", "utf-8")
    compared = ["--encoder", f"vectors:{folder / 'all.txt'}", "--encoder", f"vectors:{folder / 'some.txt'}"]
    assert cli.main(["run", "evalrank", *compared, "--dataset", f"file:{folder / 'pairs.csv'}"]) == 0
    ids = {run.run_id for run in repository.runs()}
    assert len(ids) == 2
    repository.database.close()
    forget_that_it_is_done(environment, "encoder LIKE '%all.txt'")
    (found,) = notes(environment)
    assert "EvalRank of all on pairs" in found.what
    go_on(found)
    assert {run.run_id for run in repository.runs(state=RunState.DONE)} == ids
    repository.database.close()

    forget_that_it_is_done(environment, "encoder LIKE '%all.txt'")
    (folder / "pairs.csv").unlink()
    cannot, gone = notes(environment)
    assert cannot.what.startswith("interrupted, and cannot be continued here: there is no file")
    assert cannot.remedy.startswith("forget it: blindspot runs delete ")
    assert cli.main(shlex.split(cannot.remedy.removeprefix("forget it: blindspot "))) == 0
    assert len(repository.runs()) == 1
    assert gone.name == "files"
    assert gone.what == f"not there any more: file:{folder / 'pairs.csv'}"


def test_runs_of_what_this_version_does_not_have(settings: Settings, repository: Repository) -> None:
    variant = store_samples.plan("x", DATASET).variant
    for run_id, change in (
        ("aaaa", {"diagnostic": "abandoned"}),
        ("bbbb", {"diagnostic": "abandoned"}),
        ("cccc", {"diagnostic_version": 0}),
        ("dddd", {"variant": replace(variant, encoder="elmo")}),
        ("eeee", {"variant": replace(variant, encoder=canonical_encoder("dir:/gone/model"))}),
    ):
        repository.begin(replace(store_samples.plan(run_id, DATASET), **change))  # type: ignore[arg-type]
    repository.remember_reference("vectors:/gone/vectors.txt", {})
    repository.database.close()
    run_sql(settings, "UPDATE run SET status = 'done', finished_at = started_at")
    found = by_name(notes(settings))
    for name, what in {
        "abandoned": "2 runs of the diagnostic 'abandoned', which this Blindspot does not have",
        "evalrank": "1 run of evalrank version 0, this Blindspot computes version",
        "elmo": "1 run of the encoder 'elmo'",
        "files": "not there any more: dir:/gone/model, vectors:/gone/vectors.txt",
    }.items():
        assert found[name].what.startswith(what)
        assert found.pop(name).remedy
    assert found == {}


def test_runs_by_state(settings: Settings, repository: Repository) -> None:
    repository.begin(store_samples.plan("aaaa", DATASET))
    store_samples.store_run(repository, "bbbb", DATASET)
    run_seq = repository.begin(store_samples.plan("cccc", DATASET))
    repository.abandon(run_seq)
    repository.database.close()
    found = by_name(examined(settings))
    assert found["runs"].what == "1 running, 1 done, 1 interrupted"
    assert found["run cccc"].state is State.NOTE
    assert "run aaaa" not in found


# --- all of it


def test_nothing_is_changed_by_the_whole_examination(settings: Settings, repository: Repository) -> None:
    store_samples.store_run(repository, "aaaa", DATASET)
    repository.database.close()
    before = {path: path.read_bytes() for path in settings.cache.rglob("*") if path.is_file()}
    found = doctor.examine(settings, repository, {})
    assert problems(found) == []
    assert {path: path.read_bytes() for path in settings.cache.rglob("*") if path.is_file()} == before
    areas = ["versions", "settings", "devices", "cache", "encoders", "datasets", "uploads", "store"]
    assert list(dict.fromkeys(finding.area for finding in found)) == areas


def test_a_missing_store_is_none(settings: Settings) -> None:
    assert inspection.inspect(Database(settings.store), patience=0.0) is None
