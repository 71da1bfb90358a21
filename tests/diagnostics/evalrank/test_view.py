"""Views of EvalRank's runs: choices of counting and overlap with training, by stored rows and against loops."""

from __future__ import annotations

from dataclasses import replace

import pytest

from blindspot.datasets.training_overlap import training_set
from blindspot.diagnostics.evalrank.definition import ENTRY
from blindspot.diagnostics.evalrank.pairs import pair_table
from blindspot.diagnostics.evalrank.view import Others, TrustView, overlap_view, ranked_again, trust_view
from blindspot.store.records import RunRecord
from tests.support.commands import Command
from tests.support.small_world import CAT, DOG, DOG_IS, SMALL_PAIRS, GramEncoder
from tests.support.world import World


@pytest.fixture(scope="module")
def stored(module_world: World) -> tuple[World, RunRecord, RunRecord, RunRecord]:
    """The same by definition, by the toolkit's protocol and among matches only."""
    module_world.add(GramEncoder(), SMALL_PAIRS)
    params: list[dict[str, str]] = [{}, {"protocol": "toolkit"}, {"candidates": "matches"}]
    run, toolkit, matches = (module_world.run("evalrank", "trigrams", "small-pairs", **own) for own in params)
    return module_world, run, toolkit, matches


Stored = tuple[World, RunRecord, RunRecord, RunRecord]


def trust(world: World, run: RunRecord, *, filtered: bool = False) -> TrustView:
    frame = pair_table(ENTRY, [run.run_id], world.repository).frame
    return trust_view(run, frame, Others.of(run, world.repository), world.repository, filtered=filtered)


@pytest.mark.parametrize("filtered", [False, True])
def test_a_choice_of_another_run_has_its_score(stored: Stored, filtered: bool) -> None:
    world, run, toolkit, matches = stored
    view, suffix = trust(world, run, filtered=filtered), "_filtered" if filtered else ""
    assert view.choices[0].is_shown
    for about, way, other in (("protocol", "toolkit", toolkit), ("candidates", "matches", matches)):
        choice = view.of(about)
        assert choice is not None
        assert (choice.way, choice.run_id) == (way, other.run_id)
        expected = other.metrics[f"mrr{suffix}"], other.metrics[f"hits@1{suffix}"]
        assert (choice.score.mrr, choice.score.hits_at_1) == pytest.approx(expected)
    assert view.of("support") is None, "all texts have a vector"
    protocol = view.of("protocol")
    assert protocol is not None
    assert "centers the embeddings" in protocol.meaning
    (back,) = (one for one in trust(world, toolkit).choices if one.about == "protocol")
    assert (back.way, back.run_id) == ("definition", run.run_id)


def test_the_command_prints_the_view(stored: Stored, monkeypatch: pytest.MonkeyPatch, blindspot: Command) -> None:
    world, run, *_ = stored
    monkeypatch.setenv("BLINDSPOT_CACHE", str(world.cache))
    view = trust(world, run).with_choices(ranked_again(run, world.settings, world.repository, filtered=False))
    assert blindspot.json("runs", "trust", run.run_id) == view.as_json()
    printed = blindspot.out("runs", "trust", run.run_id, "--filtered")
    for choice in trust(world, run, filtered=True).choices:
        assert choice.way in printed
        assert f"{choice.score.mrr:.3f}" in printed


def test_the_overlap_with_training_parts_the_pairs_of_all_runs_alike(small: World) -> None:
    small.add(GramEncoder("bigrams", 2))
    runs = [small.run("evalrank", encoder, "small-pairs") for encoder in ("trigrams", "bigrams")]
    ids = [run.run_id for run in runs]
    table = pair_table(ENTRY, ids, small.repository)
    training = training_set("mine", [(DOG_IS.upper(), DOG), (CAT,)])
    view = overlap_view(table, training)
    assert (view.pairs, view.both, view.any_text) == (9, 2, 5)
    for run_id in ids:
        seen = {"all": range(9), "seen": (0, 2), "rest": (1, 3, 4, 5, 6, 7, 8)}
        for filtered in (False, True):
            ranks, hits = (of(filtered) for of in (table.rows[run_id].reciprocal_ranks, table.rows[run_id].hits_at_1))
            for part, inside in seen.items():
                score = view.scores[run_id][part].by(filtered)
                assert score.pairs == len(inside)
                assert score.mrr == pytest.approx(sum(ranks[i] for i in inside) / len(inside))
                assert score.hits_at_1 == pytest.approx(sum(hits[i] for i in inside) / len(inside))
    none = overlap_view(table, replace(training, pairs=frozenset(), texts=frozenset()))
    assert none.as_json(ids[0])["scores"]["seen"]["raw"] == {"mrr": None, "hits@1": None, "pairs": 0}
