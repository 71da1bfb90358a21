"""Candidates on the EvalRank page: the note on other queries, both scores in *trust*, and the option."""

from __future__ import annotations

from pathlib import Path

import pytest

from blindspot.diagnostics.evalrank.definition import ENTRY
from blindspot.diagnostics.evalrank.pairs import rows_of_runs
from blindspot.numerics.statistics.written import percent
from tests.support.pages import OpenApp, written
from tests.support.question_passages import PAIRS, write
from tests.support.small_world import GramEncoder
from tests.support.world import World

CLAIM = "perfect model would score 1"


@pytest.fixture
def questions(world: World, tmp_path: Path) -> str:
    world.add(GramEncoder())
    return write(tmp_path)


def html_of(app: object) -> str:
    return "\n".join(str(html.proto.body) for html in app.get("html"))  # type: ignore[attr-defined]


@pytest.mark.heavy
def test_other_queries_are_named_where_they_compete(open_app: OpenApp, world: World, questions: str) -> None:
    every = world.run("evalrank", "trigrams", questions)
    counted = rows_of_runs(ENTRY, [every.run_id], world.repository)[every.run_id].raw.greater
    among = world.run("evalrank", "trigrams", questions, candidates="matches")
    matches = rows_of_runs(ENTRY, [among.run_id], world.repository)[among.run_id].raw.greater
    share = float((counted > matches).mean())  # all texts that are no match are queries here
    for ranks in ("raw", "filtered"):
        said = written(open_app(world.cache, "evalrank", data=questions, ranks=ranks))
        assert "Other queries are candidates too" in said
        assert f"{share:.1%}" in said
        assert f"of {len(PAIRS)} pairs" in said
        assert CLAIM not in said
    said = written(open_app(world.cache, "evalrank", data=questions, protocol="toolkit"))
    assert CLAIM not in said
    app = open_app(world.cache, "evalrank", data=questions, among="matches")
    assert "Other queries" not in written(app)
    assert CLAIM in written(app)
    assert percent(among.metrics["hits@1"], 1) in written(app)
    linked = open_app(world.cache, "evalrank", data=questions, candidates="matches")
    assert linked.segmented_control(key="among").value == "matches"


@pytest.mark.heavy
def test_trust_offers_the_other_candidates_and_then_shows_both(open_app: OpenApp, world: World, questions: str) -> None:
    every = world.run("evalrank", "trigrams", questions)
    app = open_app(world.cache, "evalrank", data=questions, view="trust")
    assert not app.button(key="trust_candidates").disabled
    assert "among matches only **" not in written(app)
    among = world.run("evalrank", "trigrams", questions, candidates="matches")
    both = [f"**{run.metrics['hits@1']:.3f}**" for run in (every, among)]
    for options in ({}, {"among": "matches"}):
        app = open_app(world.cache, "evalrank", data=questions, view="trust", **options)
        assert not [button for button in app.button if button.key == "trust_candidates"]
        (line,) = [one.value for one in app.markdown if all(part in one.value for part in both)]
        assert line.index(both[0]) < line.rindex(both[1])
        assert "candidates" in html_of(app)


def test_pairs_in_both_directions_are_as_before(open_app: OpenApp, demo_cache: Path) -> None:
    said = written(open_app(demo_cache, "evalrank"))
    assert "Other queries" not in said
    assert CLAIM in said


def test_without_runs_among_matches_they_are_offered(open_app: OpenApp, demo_cache: Path) -> None:
    app = open_app(demo_cache, "evalrank", among="matches")
    assert "among matches only" in written(app)
    assert app.segmented_control(key="among").value == "matches"
