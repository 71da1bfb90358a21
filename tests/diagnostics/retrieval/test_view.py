"""Views of retrieval runs: scores beside keyword search, and A against B."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from blindspot.diagnostics.retrieval.definition import ENTRY
from blindspot.diagnostics.retrieval.item_scores import paired, side_scores
from blindspot.diagnostics.retrieval.outcomes import QueryTable, Side, query_table
from blindspot.diagnostics.retrieval.view import against_view, ranking_scores, unjudged_in_words
from blindspot.numerics.statistics.compare import MAIN
from blindspot.numerics.statistics.written import p_in_words, percent
from tests.support import retrieval_world as toy
from tests.support.small_world import GramEncoder
from tests.support.world import World, small_world


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with small_world(tmp_path_factory.mktemp("world")) as made:
        made.add(GramEncoder("trigrams", 3), GramEncoder("letters", 1), toy.dataset())
        yield made


@pytest.fixture(scope="module")
def table(world: World) -> QueryTable:
    ids = [world.run(ENTRY.id, name, toy.NAME).run_id for name in ("trigrams", "letters")]
    return query_table(ENTRY, ids, world.repository)


def test_scores_are_those_of_the_runs_and_of_keyword_search(world: World, table: QueryTable) -> None:
    bm25 = ranking_scores(table, Side(table.run_ids[0], is_bm25=True))
    models = [ranking_scores(table, Side(run_id)) for run_id in table.run_ids]
    for name, scores in zip(("trigrams", "letters"), models, strict=True):
        metrics = world.run(ENTRY.id, name, toy.NAME).metrics
        for score, estimate in scores.estimates.items():
            assert estimate.value == pytest.approx(metrics[score])
            assert bm25.estimates[score].value == pytest.approx(metrics[f"bm25.{score}"])
        assert scores.against_bm25 is not None
        assert scores.against_bm25.value == pytest.approx(metrics["ndcg@10"] - metrics["bm25.ndcg@10"])
    for is_condensed in (False, True):
        said = unjudged_in_words(models, bm25, is_condensed=is_condensed)
        assert all(percent(one.unjudged) in said for one in (*models, bm25))
        assert ("Condensed" in said) is is_condensed


@pytest.mark.parametrize("is_bm25", [False, True])
def test_a_against_b(table: QueryTable, is_bm25: bool) -> None:
    first, second = table.run_ids
    a, b = Side(first), Side(first, is_bm25=True) if is_bm25 else Side(second)
    view, test = against_view(table, a, b), paired(table, b, a)
    gains = table.scores(b, "ndcg@10") - table.scores(a, "ndcg@10")
    assert (view.test.losses, view.test.wins) == (sum(gains < 0), sum(gains > 0))
    assert view.test.value == test.value == pytest.approx(gains.mean())
    assert {one.family for one in side_scores(table, a).values()} == {MAIN}, "the page says: for all scores"
    said = view.tested.replace("−", "-")
    assert f"{test.value:+.3f}" in said
    assert ("Too few queries differ" if test.detectable is None else f"{test.detectable:.3f}") in said
    assert f"corrected {p_in_words(test.p_corrected, test.p)}" in said
