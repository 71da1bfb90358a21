"""Models with matched dimensions: the ways by hand, an order that changes, and tests that are the diagnostic's own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

import blindspot as bs
from blindspot.datasets.catalog import DatasetRef
from blindspot.diagnostic import find_diagnostic
from blindspot.encoders.catalog import resolve_encoder
from blindspot.errors import InputError
from blindspot.numerics.statistics.compare import PairedTest
from blindspot.numerics.statistics.intervals import Interval
from blindspot.runs.comparison import headline_test
from blindspot.settings import Settings
from blindspot.studies.lab.matched import (
    Compared,
    Match,
    MatchedView,
    Pair,
    PairView,
    Way,
    matched_view,
    pairs_of,
    requests_of,
)
from blindspot.variants import Variant
from tests.support.commands import Command
from tests.support.pages import OpenApp, charts
from tests.support.small_world import SMALL_PAIRS, GramEncoder
from tests.support.world import World

OWN, TRUNCATED, PROJECTED, POOLED, JOINED, EXPANDED = Way


def said(match: Match) -> tuple[Way, int, str, str]:
    return match.way, match.dimension, str(match.small), str(match.large)


def test_the_ways_to_match_two_models(settings: Settings, tmp_path: Path) -> None:
    (pair,) = pairs_of(["lsa", "minilm"], settings)
    assert (pair.small, pair.large, pair.sizes) == ("lsa", "minilm", (300, 384))
    assert [said(match) for match in pair.matches] == [
        (OWN, 0, "lsa~none", "minilm~none"),
        (TRUNCATED, 300, "lsa~none", "minilm~truncate:300"),
        (PROJECTED, 300, "lsa~none", "minilm~random-project:300"),
        (EXPANDED, 384, "lsa~random-project:384", "minilm~none"),
    ], "no poolings of it, and no other model"
    (larger,) = pairs_of(["cat:minilm+minilm-cls+lsa", "minilm"], settings)
    assert said(larger.matches[3]) == (
        POOLED,
        1068,
        "minilm?pooling=mean+max+min~truncate:1068",
        "cat:minilm+minilm-cls+lsa~none",
    )
    whole = pairs_of(["minilm", "minilm?pooling=cls+max"], settings)[0]
    assert str(whole.matches[3].small) == "minilm?pooling=mean+max~none", "two of 384 are as many as 768"
    words = tmp_path / "words.vec"
    words.write_text("rain 1 0\nsnow 0 1\n", "utf-8")
    wide = tmp_path / "wide.vec"
    wide.write_text("rain 1 0 0\nsnow 0 1 0\n", "utf-8")
    (of_words,) = pairs_of([f"vectors:{words}", f"vectors:{wide}"], settings)
    assert str(of_words.matches[3].small) == f"vectors:{words}?pooling=mean+max~truncate:3"
    assert all(
        resolve_encoder(match.small.encoder, settings).info.dimension >= 3 or match.way is not POOLED
        for match in of_words.matches
    )


def test_other_models_make_a_small_one_grow(settings: Settings, tmp_path: Path) -> None:
    models = ["lsa", "random-projection", "minilm"]
    first, second = pairs_of(models, settings)
    grown = next(match for match in first.matches if match.way is JOINED)
    assert said(grown) == (JOINED, 384, "cat:lsa+random-projection~truncate:384", "minilm~none")
    assert first.label(grown) == "lsa grown to 384 by joining random-projection"
    assert [pair.label(pair.matches[1]) for pair in (first, second)] == ["minilm truncated to 300"] * 2
    assert len(first.matches) == 5
    # Own models come first, whatever was named first, and what it is compared with is no way to grow.
    files = {name: f"table:{tmp_path / name}.csv" for name in ("mine", "wide")}
    for name, vector in (("mine", [0] * 100), ("wide", [0] * 400)):
        (tmp_path / f"{name}.csv").write_text(f'text,embedding\nx,"{vector}"\n', "utf-8")
    both = pairs_of(["lsa", "random-projection", *files.values()], settings)
    grown = next(
        m
        for pair in both
        if (pair.small, pair.large) == ("lsa", files["wide"])
        for m in pair.matches
        if m.way is JOINED
    )
    assert str(grown.small) == f"cat:lsa+{files['mine']}~none"
    (same,) = (
        p for p in pairs_of(["minilm", "lsa", "cat:lsa+minilm"], settings) if (p.small, p.large[:3]) == ("lsa", "cat")
    )
    assert JOINED not in [match.way for match in same.matches]


def test_two_models_of_one_dimension_have_nothing_to_match(settings: Settings) -> None:
    for models, what in ((["minilm"], "1 model;"), (["minilm", "minilm-cls"], "2 models, all of 384 dimensions")):
        with pytest.raises(InputError, match=what):
            pairs_of(models, settings)
    with pytest.raises(InputError, match="without vectors"):
        pairs_of(["minilm", "bm25"], settings)


def compared(way: Way, a: float, b: float, p: float) -> Compared:
    """Of accuracies ``a`` of the smaller model and ``b`` of the larger."""
    test = PairedTest(
        *("mrr", "MRR", True, (0.0, 1.0), a, b, 50, "pairs", "sign flips of pairs"),
        interval=Interval(a - b - 0.1, a - b + 0.1),
        p=p,
        p_corrected=p,
    )
    run = cast(Any, SimpleNamespace(run_id="x"))
    return Compared(Match(way, 0 if way is OWN else 2, Variant("s", "none"), Variant("l", "none")), run, run, test)


def view_of(*rows: Compared) -> MatchedView:
    pair = Pair("s", "l", (2, 4), tuple(row.match for row in rows))
    return MatchedView(find_diagnostic("evalrank"), "mrr", (PairView(pair, rows[0], rows[1:]),))


def test_an_order_that_changes_is_said_from_the_side_of_the_model_ahead() -> None:
    view = view_of(
        compared(OWN, 0.5, 0.7, 0.001),
        compared(TRUNCATED, 0.5, 0.4, 0.03),
        compared(PROJECTED, 0.5, 0.5, 1.0),
        compared(EXPANDED, 0.52, 0.7, 0.2),
    )
    (pair,) = view.pairs
    assert pair.reversed == pair.matched[:1]
    assert pair.is_reversed_for_sure
    assert view.in_words == (
        "1 of 1 pair of models changes its order with matched dimensions; 1 is significant before and after.",
        "l (4) is ahead of s (2) at their own sizes, MRR 0.700 and 0.500 (95% CI of the difference +0.100 to "
        "+0.300; significant). With matched dimensions the order is reversed in 1 of 3: l truncated to 2: s by "
        "0.100 (95% CI of the difference 0.000 to +0.200; p = 0.03 by sign flips of pairs; significant).",
        "1 of 2 significant differences also holds after correction (Holm) for 4 comparisons.",
    )
    # Holm by hand: 4 x 0.001, then 3 x 0.03, 2 x 0.2 and the largest.
    after = list(view.p_of_all.values())
    assert after == pytest.approx([0.004, 0.09, 1.0, 0.4])
    assert [row["order"] for row in view.rows] == ["", "reversed", "tie", "same"]


def test_an_order_that_stays_and_one_that_is_not_sure() -> None:
    stays = view_of(compared(OWN, 0.5, 0.7, 0.001), compared(TRUNCATED, 0.5, 0.6, 0.3))
    assert "the same in the comparison" in stays.in_words[1]
    assert stays.in_words[0] == "None of 1 pair of models changes its order with matched dimensions."
    unsure = view_of(compared(OWN, 0.5, 0.7, 0.001), compared(TRUNCATED, 0.61, 0.6, 0.3))
    assert not unsure.pairs[0].is_reversed_for_sure
    assert "none is significant" in unsure.in_words[0]
    alone = view_of(compared(OWN, 0.5, 0.7, 0.001))
    assert alone.in_words[0].endswith("No matched size is computed yet.")


def small(world: World) -> list[str]:
    """Two models of 96 and 160 dimensions, and one to join."""
    grams = [GramEncoder("trigrams", 3), GramEncoder("letters", 1), GramEncoder("pairs", 2)]
    grams[1].info = replace(grams[1].info, dimension=160)
    world.add(*grams, SMALL_PAIRS)
    return [one.reference for one in grams]


def test_every_comparison_is_the_diagnostics_own_test(world: World) -> None:
    models = small(world)
    pairs = pairs_of(models, world.settings)
    assert [(pair.small, pair.large) for pair in pairs] == [("trigrams", "letters"), ("pairs", "letters")]
    entry, requests = requests_of(pairs, DatasetRef("small-pairs"), world.settings)
    runs = {r.variant: world.run("evalrank", str(r.variant), "small-pairs") for r in requests}
    found = matched_view(entry, pairs, runs, world.repository)
    assert sorted(len(view.rows) for view in found.pairs) == [5, 5]
    for view in found.pairs:
        for row in view.rows:
            assert row.test == headline_test(row.small, row.large, world.repository)
            assert (row.test.a, row.test.b) == (row.small.metrics["mrr"], row.large.metrics["mrr"])
    fewer = {variant: run for variant, run in runs.items() if "random-project" not in str(variant)}
    assert {len(view.rows) for view in matched_view(entry, pairs, fewer, world.repository).pairs} == {3}
    assert not matched_view(entry, pairs, {}, world.repository).pairs


@pytest.mark.heavy
def test_the_command_and_the_program_say_what_the_view_says(
    world: World, environment: Settings, blindspot: Command
) -> None:
    models = small(world)
    pairs = pairs_of(models, world.settings)
    entry, requests = requests_of(pairs, DatasetRef("small-pairs"), world.settings)
    runs = {r.variant: world.run("evalrank", str(r.variant), "small-pairs") for r in requests}
    found = matched_view(entry, pairs, runs, world.repository)
    asked = [word for model in models for word in ("--encoder", model)]
    assert blindspot.json("matched", *asked, "--data", "small-pairs") == found.as_json()
    assert found.in_words[0] in " ".join(blindspot.out("matched", *asked, "--data", "small-pairs").split())
    api = bs.matched(models, "small-pairs", store=world.cache)
    assert api.said == found.in_words
    assert len(api.table()) == 10
    assert set(api.table()["larger"]) == {"letters"}


def test_the_page_draws_what_is_stored(world: World, open_app: OpenApp) -> None:
    models = small(world)[:2]
    pairs = pairs_of(models, world.settings)
    address = {"lab_enc": models, "lab_chain": ["none"], "lab_task": ["evalrank@small-pairs"]}
    for model in models:
        world.run("evalrank", model, "small-pairs")
    app = open_app(world.cache, "lab", view="matched", **address)
    assert not app.exception
    assert any("Compute" in button.label for button in app.button)
    entry, requests = requests_of(pairs, DatasetRef("small-pairs"), world.settings)
    runs = {r.variant: world.run("evalrank", str(r.variant), "small-pairs") for r in requests}
    app = open_app(world.cache, "lab", view="matched", **address)
    assert not app.exception
    view = matched_view(entry, pairs, runs, world.repository)
    assert any(view.pairs[0].in_words[:40] in one.value for one in app.markdown)
    (drawn,) = [spec["data"] for spec in charts(app)]
    assert [len(line["x"]) for line in drawn] == [4, 4]
