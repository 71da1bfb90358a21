"""Lists of runs: filters, pages, leaderboards against a slow choice by hand, ten thousand of them."""

from __future__ import annotations

import random
from copy import copy
from dataclasses import replace

import pytest

from blindspot.runs.same_items import on_same_items
from blindspot.store.records import RunPlan, RunRecord, RunState, StoredJson
from blindspot.store.repository import Repository
from blindspot.variants import Variant
from tests.support.store_samples import ENTRY, MANIFEST, TIMINGS, pair_set, plan, result, store_many, store_run
from tests.support.tables import each

PARAMS = {"metric": "cos", "protocol": "definition"}


def finish(repository: Repository, a_plan: RunPlan, score: float) -> None:
    dataset = pair_set(2, a_plan.dataset)
    made = replace(result(dataset), metrics={"mrr": score, "hits@1": score / 2})
    repository.finish(repository.begin(a_plan), ENTRY, dataset, made, TIMINGS, MANIFEST)


def test_a_page_of_runs_knows_how_many_there_are(repository: Repository) -> None:
    dataset = pair_set(2)
    for i in range(7):
        store_run(repository, f"{i:04x}", dataset, transform=f"abtt:{i + 1}")
    page = repository.page(limit=3, skip=3)
    assert page.total == 7
    assert [r.run_id for r in page.runs] == ["0003", "0002", "0001"]
    assert repository.page(limit=3, skip=6).total == 7
    assert [r.run_id for r in repository.page(limit=3, skip=6).runs] == ["0000"]
    only = repository.page(variants=[Variant("minilm", "abtt:2"), Variant("minilm", "abtt:4")], limit=1)
    assert (only.total, [r.run_id for r in only.runs]) == (2, ["0003"])
    assert repository.page(variants=[]).total == 0, "none is wanted"
    assert repository.runs(params={"protocol": "definition", "metric": "cos"}, limit=1)[0].run_id == "0006"
    assert repository.runs(params={"metric": "l2", "protocol": "definition"}) == []
    assert repository.runs(version=ENTRY.version + 1) == []
    assert repository.runs(encoder="other") == []


def test_unfinished_runs_are_paged_by_what_their_processes_do(repository: Repository) -> None:
    dataset = pair_set(2)
    store_run(repository, "aaaa", dataset)
    for i in range(4):
        repository.begin(plan(f"bb{i}", dataset, transform=f"abtt:{i + 1}"))
    for run in repository.runs(run_id="bb")[2:]:
        repository.abandon(run.run_seq)
    assert [r.run_id for r in repository.page(state=RunState.RUNNING, limit=1, skip=1).runs] == ["bb2"]
    assert repository.page(state=RunState.RUNNING, limit=1).total == 2
    assert [r.run_id for r in repository.runs(state=RunState.INTERRUPTED)] == ["bb1", "bb0"]


def test_only_the_scores_that_are_asked_for_are_read(repository: Repository) -> None:
    store_run(repository, "aaaa", pair_set(2))
    (all_scores,) = repository.runs()
    assert set(all_scores.metrics) == {"mrr", "hits@1"}
    assert repository.runs(metrics=["mrr", "no such"])[0].metrics == {"mrr": all_scores.metrics["mrr"]}
    assert repository.runs(metrics=[])[0].metrics == {}


def test_current_runs_are_those_over_the_newest_content(repository: Repository) -> None:
    for run_id, content in (("old", "1"), ("new", "2")):
        finish(repository, replace(plan(run_id, pair_set(2)), dataset_digest=content), 0.5)
    repository.begin(replace(plan("begun", pair_set(2)), dataset_digest="3", variant=Variant("x", "none")))
    assert [r.run_id for r in repository.runs(state=RunState.DONE, current=True)] == ["new"]
    assert len(repository.runs(state=RunState.DONE)) == 2
    assert [r.run_id for r in repository.finished(ENTRY)] == ["new"]
    assert repository.finished(ENTRY.at_version(ENTRY.version + 1)) == []


def test_json_is_parsed_once_it_is_looked_at() -> None:
    assert dict(StoredJson('{"a": [1]}')) == {"a": [1]}
    assert dict(StoredJson(None)) == {}
    broken = StoredJson("{")
    with pytest.raises(ValueError, match="Expecting"):
        len(broken)


def leaderboard_by_hand(records: list[RunRecord]) -> dict[str, list[str]]:
    """What the SQL chooses, from all records, newest first."""
    found: dict[str, list[str]] = {}
    for dataset in {r.plan.dataset for r in records}:
        ours = [r for r in records if r.plan.dataset == dataset]
        content = max(ours, key=lambda r: r.run_seq).plan.dataset_digest
        ours = [r for r in ours if r.plan.dataset_digest == content and r.plan.params == PARAMS]
        chosen = on_same_items(sorted(ours, key=lambda r: -r.run_seq), own=False)
        if chosen:
            found[dataset] = [r.run_id for r in sorted(chosen, key=lambda r: (-r.metrics["mrr"], r.run_seq))]
    return found


@pytest.mark.heavy
@each("seed", range(5))  # each adds its runs to those before
def test_leaderboards_are_those_of_a_choice_by_hand(repository: Repository, seed: int) -> None:
    rng = random.Random(seed)
    for i in range(40):
        a_plan = replace(
            plan(f"{i:04x}", pair_set(2, rng.choice(["one", "two", "three"])), f"abtt:{rng.randint(1, 4)}"),
            dataset_digest=rng.choice(["first", "second"]),
            covered_digest=rng.choice(["", "s", "t"]),
            params=rng.choice([PARAMS, PARAMS | {"metric": "l2"}]),
        )
        finish(repository, a_plan, rng.choice([0.1, 0.2, 0.3, 0.4]))
    boards = repository.leaderboards(ENTRY, PARAMS, [], ["mrr"], top=100)
    assert {b.dataset: [r.run_id for r in b.runs] for b in boards} == leaderboard_by_hand(repository.runs())
    assert all(board.variants == len(board.runs) for board in boards)
    assert all(set(r.metrics) == {"mrr"} for board in boards for r in board.runs)
    last = [max(r.run_seq for r in board.runs) for board in boards]
    assert last == sorted(last, reverse=True)


def test_a_leaderboard_of_picked_variants_of_few_and_of_a_score_where_less_is_better(repository: Repository) -> None:
    for i, score in enumerate((0.1, 0.3, 0.2)):
        finish(repository, plan(f"{i}", pair_set(2), f"abtt:{i + 1}"), score)
    (board,) = repository.leaderboards(ENTRY, PARAMS, [], ["mrr"], top=2)
    assert (board.variants, [r.run_id for r in board.runs]) == (3, ["1", "2"])
    (board,) = repository.leaderboards(ENTRY, PARAMS, [Variant("minilm", "abtt:1")], ["mrr"], top=2)
    assert (board.variants, [r.run_id for r in board.runs]) == (1, ["0"])
    assert repository.leaderboards(ENTRY, PARAMS | {"metric": "l2"}, [], ["mrr"], top=2) == []
    lower = copy(ENTRY)
    lower.metrics = tuple(replace(metric, higher_is_better=False) for metric in ENTRY.metrics)
    (board,) = repository.leaderboards(lower, PARAMS, [], ["mrr"], top=2)
    assert [r.run_id for r in board.runs] == ["0", "2"]


def test_ten_thousand_runs(repository: Repository) -> None:
    store_many(repository, 10_000, variants=500)
    page = repository.page(limit=15, skip=9_990, metrics=["mrr"])
    assert (page.total, len(page.runs)) == (10_000, 10)
    assert sum(count.runs for count in repository.counts()) == 10_000
    boards = repository.leaderboards(ENTRY, PARAMS, [], ["mrr"], top=25)
    assert len(boards) == 20
    for board in boards:
        assert (board.variants, len(board.runs)) == (500, 25)
        assert board.runs[0].plan.variant.transform == "abtt:500"
    assert repository.run("0000000000000abc").run_seq == 0xABC + 1
