"""Runs in a real DuckDB file: written whole or not at all, found again, taken over when their process died."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import duckdb
import numpy as np
import pytest

from blindspot.datasets.kinds.pairs import PairSet
from blindspot.encoders.base import EncoderInfo
from blindspot.encoders.cache import EmbeddingFacts
from blindspot.errors import BlindspotError, InputError
from blindspot.settings import ROOT, Settings
from blindspot.store.db import CONFINED
from blindspot.store.records import RunState
from blindspot.store.repository import Repository
from blindspot.variants import Variant
from tests.support.store_samples import (
    ENTRY,
    MANIFEST,
    TIMINGS,
    only_run,
    pair_set,
    plan,
    result,
    store_many,
    store_run,
)

SPAWN = get_context("spawn")
DATASET = pair_set()


def counts(repository: Repository) -> dict[str, int]:
    """Rows of every table that a run writes to."""
    with repository.database.cursor() as cursor:
        tables = {row[0] for row in cursor.execute("SHOW TABLES").fetchall()} - {"schema_version"}
        tables = {table for table in tables if not table.startswith("judgment")}
        return {t: cursor.execute(f"SELECT count(*) FROM {t}").fetchall()[0][0] for t in sorted(tables)}


def set_columns(repository: Repository, assignment: str) -> None:
    with repository.database.transaction() as cursor:
        cursor.execute(f"UPDATE run SET {assignment}")


def assert_whole(repository: Repository, run_id: str, dataset: PairSet, seed: int = 0) -> None:
    """The run is there as it was computed, to the last row."""
    record = repository.run(run_id)
    expected = result(dataset, seed)
    assert record.state is RunState.DONE
    assert dict(record.metrics) == dict(expected.metrics)
    assert dict(record.coverage) == dict(expected.coverage)
    items = repository.items(ENTRY, [run_id], texts=True)
    assert items["item_no"].tolist() == list(range(len(dataset.queries)))
    for column in ENTRY.columns:
        np.testing.assert_array_equal(items[column.name], expected.items[column.name].to_numpy())
    np.testing.assert_array_equal(items["query_no"], dataset.queries)
    np.testing.assert_array_equal(items["match_no"], dataset.matches)
    assert items["query"].tolist() == [dataset.items[i] for i in dataset.queries]
    assert items["match"].tolist() == [dataset.items[i] for i in dataset.matches]


# --- writing and reading


def test_reading_does_not_make_a_store(repository: Repository) -> None:
    for empty in (repository.runs, repository.counts, repository.variants, repository.datasets, repository.references):
        assert empty() == []
    assert repository.embeddings() == []
    assert repository.leaderboards(ENTRY, {}, [], ["mrr"], 5) == []
    assert repository.page().total == 0
    with pytest.raises(InputError):
        repository.run("a")
    assert repository.items(ENTRY, [], texts=True).empty
    assert not repository.database.path.exists()


def test_a_run_is_running_and_then_done(repository: Repository) -> None:
    run_seq = repository.begin(plan("aaaa", DATASET, "center"))
    running = only_run(repository)
    assert running.run_seq == run_seq
    assert running.state is RunState.RUNNING
    assert running.plan == plan("aaaa", DATASET, "center")
    assert running.finished_at is None
    assert (running.metrics, running.coverage, running.timings, running.manifest) == ({}, {}, {}, {})
    assert counts(repository)["metric"] == 0

    repository.finish(run_seq, ENTRY, DATASET, result(DATASET), TIMINGS, MANIFEST)
    assert_whole(repository, "aaaa", DATASET)
    done = only_run(repository)
    assert done.plan == running.plan
    assert done.started_at == running.started_at
    assert done.finished_at is not None
    assert done.finished_at >= done.started_at
    assert done.timings == TIMINGS
    assert done.manifest == MANIFEST


def test_items_of_several_runs_can_be_compared(repository: Repository) -> None:
    for seed, run_id in enumerate(("aaaa", "bbbb", "cccc")):
        store_run(repository, run_id, DATASET, seed)
    with_texts = repository.items(ENTRY, ["cccc", "aaaa"], texts=True)
    assert with_texts["run_id"].tolist() == ["aaaa", "cccc"] * 20
    assert list(with_texts.columns) == [
        "run_id",
        "item_no",
        *(column.name for column in ENTRY.columns),
        "rank",
        "rank_filtered",
        "query_no",
        "match_no",
        "query",
        "match",
    ]
    np.testing.assert_array_equal(with_texts["rank"], 1 + with_texts["greater"] + with_texts["ties"] / 2)
    without = repository.items(ENTRY, ["cccc", "aaaa"], texts=False)
    assert without["run_id"].tolist() == ["aaaa"] * 20 + ["cccc"] * 20
    np.testing.assert_array_equal(
        without.loc[without["run_id"] == "cccc", "greater"], result(DATASET, 2).items["greater"].to_numpy()
    )


def test_texts_stand_once_per_dataset(repository: Repository) -> None:
    other = pair_set(5, "other")
    for run_id, dataset in (("aaaa", DATASET), ("bbbb", DATASET), ("cccc", other), ("dddd", other)):
        store_run(repository, run_id, dataset)
    assert counts(repository) == {
        "dataset": 2,
        "dataset_alias": 0,
        "display_name": 0,
        "own_column": 0,
        "dataset_analogy": 0,
        "dataset_category": 0,
        "dataset_chunked_sentence": 0,
        "dataset_event": 0,
        "dataset_labeled_text": 0,
        "dataset_minimal_pair": 0,
        "dataset_outlier": 0,
        "dataset_pair": 25,
        "dataset_retrieval": 0,
        "dataset_scored_pair": 0,
        "dataset_text": 50,
        "embedding": 0,
        "encoder_reference": 0,
        "metric": 8,
        ENTRY.table: 50,
        "run": 4,
        "support": 0,
    }
    assert_whole(repository, "cccc", other)


def test_texts_and_matches_are_found_by_number(repository: Repository) -> None:
    dataset = PairSet("many matches", ("a", "ü\n\t\0", "'; --", "d"), np.int32([0, 0, 1]), np.int32([1, 2, 3]))
    store_run(repository, "aaaa", dataset)
    store_run(repository, "bbbb", DATASET)
    assert repository.texts(dataset.content_digest, [2, 1, 1]) == {1: "ü\n\t\0", 2: "'; --"}
    assert repository.matches(dataset.content_digest, 0) == {1, 2}
    assert repository.matches(dataset.content_digest, 3) == frozenset()
    assert repository.matches(DATASET.content_digest, 0) == {20}


def test_runs_are_filtered_and_the_newest_comes_first(repository: Repository) -> None:
    other = pair_set(5, "other")
    store_run(repository, "aaaa", DATASET)
    store_run(repository, "bbbb", other)
    repository.begin(plan("cccc", DATASET))

    def ids(**wanted: object) -> list[str]:
        return [r.run_id for r in repository.runs(**wanted)]  # type: ignore[arg-type]

    assert ids() == ["cccc", "bbbb", "aaaa"]
    assert ids(dataset="sample") == ["cccc", "aaaa"]
    assert ids(state=RunState.DONE) == ["bbbb", "aaaa"]
    assert ids(state=RunState.RUNNING) == ["cccc"]
    assert ids(state=RunState.INTERRUPTED) == []
    assert ids(run_id="bbbb") == ["bbbb"]
    assert ids(run_id="bbb") == ["bbbb"], "the beginning is enough"
    assert ids(run_id="bb b") == []
    assert ids(diagnostic="evalrank", dataset="other", state=RunState.DONE) == ["bbbb"]
    assert ids(diagnostic="heros") == []
    assert ids(dataset="' OR 1=1 --") == []


def test_variants_and_datasets_are_in_the_order_of_their_first_finished_run(repository: Repository) -> None:
    repository.begin(plan("0000", pair_set(dataset_id="unfinished"), "unfinished"))
    for run_id, name, transform in (
        ("aaaa", "second", "none"),
        ("bbbb", "first", "center"),
        ("cccc", "second", "none"),
    ):
        store_run(repository, run_id, pair_set(dataset_id=name), transform=transform)
    assert repository.datasets() == ["second", "first"]
    assert repository.variants() == [Variant("minilm", "none"), Variant("minilm", "center")]


@pytest.mark.parametrize(("given", "found"), [("ab", "abcd"), ("abcd", "abcd"), ("x", "xyz")])
def test_a_run_is_found_by_the_beginning_of_its_id(repository: Repository, given: str, found: str) -> None:
    for run_id in ("abcd", "axyz", "xyz"):
        store_run(repository, run_id, DATASET)
    assert repository.run(given).run_id == found


@pytest.mark.parametrize(("given", "number"), [("a", "2 runs"), ("", "no runs"), ("bcd", "no runs"), ("%", "no runs")])
def test_a_beginning_that_names_no_run_or_several_is_refused(repository: Repository, given: str, number: str) -> None:
    for run_id in ("abcd", "axyz", "xyz"):
        store_run(repository, run_id, DATASET)
    with pytest.raises(InputError) as caught:
        repository.run(given)
    assert str(caught.value).startswith(f"{number} have an id that begins with '{given}'")
    assert "blindspot runs" in caught.value.remedy


def test_the_cost_of_embeddings_stands_beside_their_runs(repository: Repository) -> None:
    run_seq = repository.begin(plan("aaaa", DATASET))
    assert only_run(repository).dimension is None
    facts = EmbeddingFacts("e" * 32, "minilm", "r", 384, 1_000, 2.0, "cpu")
    info = EncoderInfo("MiniLM", 384, 22_000_000, 3_000_000_000, "", "", "")
    repository.remember_embedding(replace(facts, seconds=9.0, device="cuda:0"), info)
    repository.remember_embedding(facts, info)
    repository.finish(run_seq, ENTRY, DATASET, result(DATASET), TIMINGS, MANIFEST)
    record = only_run(repository)
    assert (record.dimension, record.parameters, record.memory_bytes) == (384, 22_000_000, 3_000_000_000)
    assert (record.texts_per_second, record.device) == (500.0, "cpu")
    assert counts(repository)["embedding"] == 1
    repository.remember_embedding(replace(facts, digest="f" * 32, texts=60, seconds=3.0), info)
    assert only_run(repository).texts_per_second == pytest.approx(1_060 / 5), "all texts, not those of its dataset"
    repository.remember_embedding(replace(facts, digest="a" * 32, texts=50, seconds=0.1, device="cuda:0"), info)
    repository.remember_embedding(replace(facts, digest="b" * 32, revision="older", texts=9_999), info)
    record = only_run(repository)
    assert (record.texts_per_second, record.device) == (pytest.approx(1_060 / 5), "cpu"), "where most were encoded"
    repository.remember_embedding(replace(facts, texts=0, seconds=0.0), info)
    assert only_run(repository).texts_per_second is None, "60 texts are too few"


# --- encoders by reference


def test_a_reference_is_kept_with_what_was_found_and_comes_back_after_its_removal(repository: Repository) -> None:
    repository.remember_reference("hf:b/b", {"info": {"title": "“B”", "licence": None}})
    repository.remember_reference("dir:/a", {})
    first, second = repository.references()
    assert (first.reference, second.reference) == ("dir:/a", "hf:b/b")
    assert second.facts == {"info": {"title": "“B”", "licence": None}}
    assert second.checked_at.tzinfo is not None
    repository.remove_reference("hf:b/b")
    repository.remove_reference("dir:/never-checked")
    assert [(r.reference, r.is_removed) for r in repository.references()] == [
        ("dir:/a", False),
        ("dir:/never-checked", True),
        ("hf:b/b", True),
    ]
    assert repository.references()[2].facts == second.facts, "its runs still want to be described"
    repository.remember_reference("hf:b/b", {"info": {"title": "new"}})
    again = repository.references()[2]
    assert (again.is_removed, again.facts) == (False, {"info": {"title": "new"}})
    assert again.checked_at > second.checked_at


def test_what_encoding_cost_is_forgotten_where_no_run_stands_on_it(repository: Repository) -> None:
    store_run(repository, "aaaa", DATASET)
    info = EncoderInfo("", 384, 1, 4, "", "", "")
    of_run = EmbeddingFacts("e" * 32, "minilm", "r", 384, 10, 2.5, "cpu")
    for facts in (of_run, replace(of_run, digest="f" * 32), replace(of_run, digest="0" * 32, encoder="dir:/a")):
        repository.remember_embedding(facts, info)
    assert repository.embeddings()[1] == of_run
    repository.forget_embeddings("minilm")
    assert [facts.digest[0] for facts in repository.embeddings()] == ["0", "e"]


# --- whole or not at all


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_scores_that_are_no_numbers_are_refused(repository: Repository, value: float) -> None:
    run_seq = repository.begin(plan("aaaa", DATASET))
    bad = replace(result(DATASET), metrics={"mrr": 0.5, "hits@1": value})
    with pytest.raises(RuntimeError, match="not finite: hits@1"):
        repository.finish(run_seq, ENTRY, DATASET, bad, TIMINGS, MANIFEST)
    assert only_run(repository).state is RunState.RUNNING
    assert counts(repository)["metric"] == 0


def test_a_run_that_cannot_be_written_to_the_end_leaves_nothing(repository: Repository) -> None:
    run_seq = repository.begin(plan("aaaa", DATASET))
    empty = counts(repository)
    with pytest.raises(TypeError, match="not JSON serializable"):
        repository.finish(run_seq, ENTRY, DATASET, result(DATASET), TIMINGS, {"a set": {1}})
    assert counts(repository) == empty
    repository.finish(run_seq, ENTRY, DATASET, result(DATASET), TIMINGS, MANIFEST)
    assert_whole(repository, "aaaa", DATASET)


def test_rows_without_a_declared_column_are_refused(repository: Repository) -> None:
    run_seq = repository.begin(plan("aaaa", DATASET))
    whole = result(DATASET)
    with pytest.raises(ValueError, match="names"):
        repository.finish(
            run_seq, ENTRY, DATASET, replace(whole, items=whole.items.drop_columns(["ties"])), TIMINGS, MANIFEST
        )
    assert only_run(repository).state is RunState.RUNNING


def test_a_run_that_two_processes_computed_is_stored_once(repository: Repository) -> None:
    one, other = repository.begin(plan("aaaa", DATASET)), repository.begin(plan("aaaa", DATASET))
    assert one == other
    repository.finish(one, ENTRY, DATASET, result(DATASET), TIMINGS, MANIFEST)
    repository.finish(other, ENTRY, DATASET, result(DATASET, seed=1), TIMINGS, MANIFEST)
    assert_whole(repository, "aaaa", DATASET)


def test_beginning_a_finished_run_changes_nothing(repository: Repository) -> None:
    run_seq = store_run(repository, "aaaa", DATASET)
    before = only_run(repository)
    assert repository.begin(plan("aaaa", DATASET)) == run_seq
    assert only_run(repository) == before


def test_threads_that_store_runs_do_not_disturb_each_other(repository: Repository, settings: Settings) -> None:
    repositories = [repository, Repository.at(settings.store)]
    barrier = threading.Barrier(4)

    def work(thread: int) -> None:
        mine = repositories[thread % 2]
        barrier.wait(20)
        for i in range(3):
            store_run(mine, f"{thread}-{i}", DATASET, seed=10 * thread + i)
            store_run(mine, f"shared-{i}", DATASET)
            mine.runs()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert len(repository.runs(state=RunState.DONE)) == 4 * 3 + 3
    assert counts(repository)["dataset_text"] == len(DATASET.items)
    assert counts(repository)[ENTRY.table] == 15 * 20
    for thread in range(4):
        assert_whole(repository, f"{thread}-2", DATASET, seed=10 * thread + 2)
    repositories[1].database.close()


# --- deleting


def test_a_deleted_run_leaves_the_others(repository: Repository) -> None:
    for seed, run_id in enumerate(("aaaa", "bbbb")):
        store_run(repository, run_id, DATASET, seed)
    repository.delete(repository.run("aaaa"))
    assert [r.run_id for r in repository.runs()] == ["bbbb"]
    assert_whole(repository, "bbbb", DATASET, seed=1)
    assert counts(repository)["metric"] == 2
    assert counts(repository)[ENTRY.table] == 20
    store_run(repository, "aaaa", DATASET, seed=7)
    assert_whole(repository, "aaaa", DATASET, seed=7)


def test_a_run_that_never_finished_can_be_deleted(repository: Repository) -> None:
    repository.begin(plan("aaaa", DATASET))
    repository.delete(only_run(repository))
    assert repository.runs() == []


def test_a_run_deleted_while_it_is_computed_is_not_stored_in_part(repository: Repository) -> None:
    run_seq = repository.begin(plan("aaaa", DATASET))
    repository.delete(only_run(repository))
    with pytest.raises(BlindspotError, match="deleted while it was computed"):
        repository.finish(run_seq, ENTRY, DATASET, result(DATASET), TIMINGS, MANIFEST)
    assert set(counts(repository).values()) == {0}


# --- runs whose process gave up or died


def test_a_run_that_fails_is_interrupted_although_its_process_lives(repository: Repository) -> None:
    with pytest.raises(KeyboardInterrupt), repository.running(plan("aaaa", DATASET)):  # noqa: PT012 - that is the block
        assert only_run(repository).state is RunState.RUNNING
        raise KeyboardInterrupt
    assert only_run(repository).state is RunState.INTERRUPTED
    assert [r.run_id for r in repository.runs(state=RunState.INTERRUPTED)] == ["aaaa"]
    assert repository.runs(state=RunState.RUNNING) == []
    with repository.running(plan("aaaa", DATASET)) as run_seq:
        assert only_run(repository).state is RunState.RUNNING
        repository.finish(run_seq, ENTRY, DATASET, result(DATASET), TIMINGS, MANIFEST)
    assert_whole(repository, "aaaa", DATASET)
    with pytest.raises(InputError), repository.running(plan("bbbb", DATASET)):
        raise InputError("texts that no model takes")
    assert [r.run_id for r in repository.runs()] == ["aaaa"], "what was refused would be refused again"


def test_giving_up_leaves_what_is_finished_or_another_process_works_on(repository: Repository) -> None:
    run_seq = repository.begin(plan("aaaa", DATASET))
    parent = os.getppid()
    set_columns(repository, f"process_id = {parent}")
    repository.abandon(run_seq)
    assert only_run(repository).state is RunState.RUNNING
    set_columns(repository, f"process_id = {os.getpid()}")
    repository.finish(run_seq, ENTRY, DATASET, result(DATASET), TIMINGS, MANIFEST)
    repository.abandon(run_seq)
    assert_whole(repository, "aaaa", DATASET)


def test_a_process_number_that_was_given_to_another_process_is_not_believed(repository: Repository) -> None:
    repository.begin(plan("aaaa", DATASET))
    assert only_run(repository).state is RunState.RUNNING
    set_columns(repository, "started_at = started_at - INTERVAL 400 DAY")
    assert only_run(repository).state is RunState.INTERRUPTED


@pytest.mark.process
def test_a_process_that_nobody_has_buried_yet_is_dead(repository: Repository) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        repository.begin(plan("aaaa", DATASET))
        set_columns(repository, f"process_id = {child.pid}, started_at = now()::TIMESTAMP + INTERVAL 1 HOUR")
        assert only_run(repository).state is RunState.RUNNING
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # it has ended, and stays a zombie
        assert only_run(repository).state is RunState.INTERRUPTED


class KillingMapping(Mapping[str, int]):
    """Kills the process when it is read."""

    def __getitem__(self, key: str) -> int:
        return 1

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Iterator[str]:
        os.kill(os.getpid(), signal.SIGKILL)
        return iter(())


def killed_before_storing(repository: Repository, dataset: PairSet) -> None:
    repository.begin(plan("killed", dataset))
    os.kill(os.getpid(), signal.SIGKILL)


def killed_with_rows_in_the_transaction(repository: Repository, dataset: PairSet) -> None:
    run_seq = repository.begin(plan("killed", dataset))
    doomed = KillingMapping()  # read after texts, scores and rows were inserted
    repository.finish(run_seq, ENTRY, dataset, result(dataset, coverage=doomed), TIMINGS, MANIFEST)


def killed_after_the_commit(repository: Repository, dataset: PairSet) -> None:
    store_run(repository, "killed", dataset)
    os.kill(os.getpid(), signal.SIGKILL)


def store_in_child(path: Path, work: Callable[[Repository, PairSet], None], pairs: int) -> None:
    work(Repository.at(path), pair_set(pairs))


@pytest.mark.heavy
@pytest.mark.parametrize("earlier_runs", [0, 1])
@pytest.mark.parametrize("work", [killed_before_storing, killed_with_rows_in_the_transaction, killed_after_the_commit])
def test_a_killed_process_leaves_a_store_without_half_a_run(
    repository: Repository, work: Callable[[Repository, PairSet], None], earlier_runs: int
) -> None:
    if earlier_runs:
        store_run(repository, "earlier", DATASET, seed=5)
        repository.database.close()
    child = SPAWN.Process(target=store_in_child, args=(repository.database.path, work, 20))
    child.start()
    child.join(60)
    assert child.exitcode == -signal.SIGKILL

    if earlier_runs:
        assert_whole(repository, "earlier", DATASET, seed=5)
    if work is not killed_after_the_commit:
        assert repository.run("killed").state is RunState.INTERRUPTED
        rows = counts(repository)
        assert (rows["run"], rows["metric"]) == (1 + earlier_runs, 2 * earlier_runs)
        assert rows.get(ENTRY.table, 0) == 20 * earlier_runs
        assert rows["dataset_text"] == 40 * earlier_runs
        assert store_run(repository, "killed", DATASET) == repository.run("killed").run_seq
    assert_whole(repository, "killed", DATASET)


def store_slowly_in_child(path: Path, signal_file: Path, pairs: int) -> None:
    dataset, repository = pair_set(pairs), Repository.at(path)
    run_seq = repository.begin(plan("killed", dataset))
    computed = result(dataset)
    signal_file.touch()
    repository.finish(run_seq, ENTRY, dataset, computed, TIMINGS, MANIFEST)


@pytest.mark.heavy
@pytest.mark.parametrize("moment", [0.0, 0.02, 0.06, 0.15])
def test_a_process_killed_at_any_moment_of_a_long_write(repository: Repository, tmp_path: Path, moment: float) -> None:
    pairs = 60_000
    path, writing = repository.database.path, tmp_path / "writing"
    child = SPAWN.Process(target=store_slowly_in_child, args=(path, writing, pairs))
    child.start()
    while not writing.exists() and child.is_alive():
        threading.Event().wait(0.005)
    threading.Event().wait(moment)
    child.kill()
    child.join(60)

    dataset = pair_set(pairs)
    rows = counts(repository)
    if only_run(repository).state is RunState.INTERRUPTED:
        assert (rows["metric"], rows["dataset_text"], rows.get(ENTRY.table, 0)) == (0, 0, 0)
        store_run(repository, "killed", dataset)
    assert_whole(repository, "killed", dataset)


@pytest.mark.process
def test_a_run_of_another_living_process_is_running(repository: Repository) -> None:
    program = (
        "import sys\nfrom pathlib import Path\nfrom tests.support import store_samples\n"
        "from blindspot.store.repository import Repository\n"
        "repository = Repository.at(Path(sys.argv[1]))\n"
        "repository.begin(store_samples.plan('aaaa', store_samples.pair_set()))\nrepository.database.close()\n"
        "print('begun', flush=True)\nsys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(repository.database.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as child:
        assert child.stdout is not None
        assert child.stdin is not None
        assert child.stdout.readline() == "begun\n"
        assert only_run(repository).state is RunState.RUNNING
        child.stdin.close()
        child.wait(30)
        assert only_run(repository).state is RunState.INTERRUPTED


def test_the_file_holds_what_the_design_says(repository: Repository) -> None:
    """One typed table per diagnostic and version, with the columns that scripts rely on."""
    store_run(repository, "aaaa", DATASET)
    repository.database.close()
    with duckdb.connect(str(repository.database.path), read_only=True, config=CONFINED) as connection:
        columns = connection.execute(f"DESCRIBE {ENTRY.table}").fetchall()
    assert ENTRY.table == f"result_evalrank_v{ENTRY.version}"
    assert [(name, kind) for name, kind, *_ in columns] == [
        ("run_seq", "INTEGER"),
        ("item_no", "INTEGER"),
        ("similarity", "DOUBLE"),
        ("greater", "INTEGER"),
        ("ties", "INTEGER"),
        ("greater_filtered", "INTEGER"),
        ("ties_filtered", "INTEGER"),
    ]


def test_items_of_a_diagnostic_that_has_no_table_are_said_to_be_missing(repository: Repository) -> None:
    store_many(repository, 3, variants=1)
    run_ids = [run.run_id for run in repository.runs()]
    assert repository.with_items(ENTRY, run_ids) == frozenset()
    with pytest.raises(BlindspotError, match=ENTRY.title):
        repository.items(ENTRY, run_ids, texts=False)
