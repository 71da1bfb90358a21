"""Queries of several runs, compared: what a searcher sees of a switch, tests, changes and findings."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from blindspot.diagnostics.retrieval.definition import ENTRY
from blindspot.diagnostics.retrieval.evidence import evidence
from blindspot.diagnostics.retrieval.item_scores import paired
from blindspot.diagnostics.retrieval.outcomes import Side, became, groups, lost, query_table
from blindspot.errors import InputError
from blindspot.numerics.statistics.estimate import Unit
from blindspot.numerics.statistics.outcomes import Outcome
from blindspot.numerics.statistics.pairs import Dependence, p_values
from blindspot.runs.comparison import changes, compare_runs, headline_tests
from blindspot.runs.findings import Level, Material
from blindspot.store.records import RunRecord
from blindspot.studies.findings.wording import findings
from tests.support import retrieval_world as toy
from tests.support.small_world import GramEncoder
from tests.support.world import World, small_world


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with small_world(tmp_path_factory.mktemp("world")) as world:
        lacking = GramEncoder("lacking", 3, lacks=lambda text: "castle" in text)
        world.add(GramEncoder("trigrams", 3), GramEncoder("letters", 1), lacking, toy.dataset())
        for name in ("trigrams", "letters", "lacking"):
            world.run(ENTRY.id, name, toy.NAME)
        yield world


def runs(world: World) -> tuple[RunRecord, RunRecord]:
    return world.run(ENTRY.id, "trigrams", toy.NAME), world.run(ENTRY.id, "letters", toy.NAME)


def test_near_duplicates_and_queries_for_the_same_documents_are_one_group() -> None:
    queries = ["Where is it?", "where is it", "Where was it?", "??", "!!"]
    assert groups(queries, [["a"], ["b"], ["c"], [], []]).tolist() == [0, 0, 1, 2, 3]
    assert groups(queries, [["a"], ["b"], ["c"], ["b"], ["a", "b"]]).tolist() == [0, 0, 1, 0, 2]
    assert groups(queries, [["a"], ["b", "c"], ["c", "b"], [], []]).tolist() == [0, 0, 0, 1, 2]


def test_the_difference_is_tested_on_whole_groups(made: World) -> None:
    a, b = runs(made)
    (found,) = headline_tests(ENTRY, [(a, b)], made.repository)
    table = query_table(ENTRY, [a.run_id, b.run_id], made.repository)
    one, other = (table.rows[run.run_id]["ndcg_10"].to_numpy() for run in (a, b))
    relevant = [[one.document for one in table.judged(a.run_id, row) if one.grade > 0] for row in range(len(table))]
    of_groups = groups(table.about["query"].tolist(), relevant)
    assert len(set(of_groups.tolist())) < len(table)  # "Where is the apple?" is asked twice
    assert found.n == len(set(of_groups.tolist()))
    assert found.value == pytest.approx(one.mean() - other.mean())
    known = Dependence.of_groups(of_groups, Unit.QUERIES)
    assert found.p == p_values((one - other)[:, np.newaxis], known)[0]
    assert table.known.freedom == known.freedom
    assert (found.wins, found.losses) == (int((one > other).sum()), int((one < other).sum()))


def test_what_a_searcher_sees_of_a_switch(made: World) -> None:
    a, b = runs(made)
    table = query_table(ENTRY, [a.run_id, b.run_id], made.repository)
    sides = Side(a.run_id), Side(b.run_id)
    losing = gaining = first = 0
    shares, gains = [], []
    for row in range(len(table)):
        tops = [[document for document, _ in table.top(side, row)] for side in sides]
        relevant = {one.document for one in table.judged(a.run_id, row) if one.grade >= 1}
        one, other = (set(top[:10]) for top in tops)
        losing += bool(relevant & one - other)
        gaining += bool(relevant & other - one)
        first += tops[0][0] != tops[1][0]
        shares.append(len(one & other) / 10)
        gains.append(np.subtract(*(table.scores(side, "ndcg@10")[row] for side in sides)))
    seen = lost(table, *sides)
    assert (seen.losing, seen.gaining, seen.first) == (losing, gaining, first)
    assert seen.overlap == pytest.approx(np.mean(shares))
    codes = became(table, *sides)
    assert codes.counts[Outcome.WON_BY_A] == sum(gain > 0 for gain in gains)
    assert codes.counts[Outcome.WON_BY_B] == sum(gain < 0 for gain in gains)


def test_changes_name_the_query_and_what_either_found(made: World) -> None:
    a, b = runs(made)
    found = changes(ENTRY, a, b, made.repository, 3)
    table = query_table(ENTRY, [a.run_id, b.run_id], made.repository)
    gain = table.scores(Side(a.run_id), "ndcg@10") - table.scores(Side(b.run_id), "ndcg@10")
    assert (found.won, found.lost) == (int((gain > 0).sum()), int((gain < 0).sum()))
    best = found.rows[0]
    assert best.gain == pytest.approx(gain.max())
    row = int(np.argmax(gain))
    assert best.item_no == table.numbers[row]
    assert dict(best.texts)["query"] == table.about["query"].iloc[row]
    ranks = [one[2] + 1 for one in json.loads(table.rows[a.run_id]["judged"].iloc[row]) if one[1] >= 1]
    assert f"rank {min(ranks)}" in best.a


def test_two_runs_compared_on_the_command_line(made: World) -> None:
    a, b = runs(made)
    found = compare_runs(a, b, made.repository)
    for test in found.tests:
        assert (test.a, test.b) == pytest.approx((a.metrics[test.score], b.metrics[test.score]))
        assert test.p <= test.p_corrected <= 1
        assert test.wins + test.losses + test.alike == 15
    assert found.tests[0].score == ENTRY.headline
    table = query_table(ENTRY, [a.run_id, b.run_id], made.repository)
    assert replace(paired(table, Side(a.run_id), Side(b.run_id)), address=found.tests[0].address) == found.tests[0]
    with pytest.raises(InputError, match="filtered"):
        compare_runs(a, b, made.repository, filtered=True)
    tied = made.run(ENTRY.id, "letters", toy.NAME, ties="trec_eval")
    with pytest.raises(InputError, match="ties"):
        compare_runs(a, tied, made.repository)


def test_runs_among_other_documents_do_not_compare(made: World) -> None:
    a = runs(made)[0]
    lacking = made.run(ENTRY.id, "lacking", toy.NAME)
    assert lacking.coverage["queries_covered"] < lacking.coverage["queries"]
    with pytest.raises(InputError, match="different queries"):
        query_table(ENTRY, [a.run_id, lacking.run_id], made.repository)


def test_findings_compare_with_keyword_search(made: World) -> None:
    a, b = runs(made)
    lacking = made.run(ENTRY.id, "lacking", toy.NAME)
    found = findings(evidence(Material([a, b, lacking], [], made.repository, made.settings)))
    for run in (a, b):
        (against,) = (
            one for one in found if one.runs == (run,) and one.kind in {"worse-than-bm25", "better-than-bm25"}
        )
        assert against.value == pytest.approx(run.metrics["ndcg@10"] - run.metrics["bm25.ndcg@10"])
        assert against.level is (Level.BLIND_SPOT if against.value < 0 else Level.STRENGTH)
        cautions = [one for one in found if one.runs == (run,) and one.kind == "no-better-than-bm25"]
        assert len(cautions) == (against.p >= 0.05)  # type: ignore[operator]
    table = query_table(ENTRY, [a.run_id], made.repository)
    assert table.unjudged(Side(a.run_id)).share == pytest.approx(a.metrics["unjudged@10"])
    more = a.metrics["unjudged@10"] - table.unjudged(Side(a.run_id, is_bm25=True)).share
    assert any(one.kind == "unjudged" and one.runs == (a,) for one in found) == (more >= 0.1)
    assert any(one.kind == "low-coverage" and one.runs == (lacking,) for one in found)
