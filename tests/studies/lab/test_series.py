"""Series by layer and by prompt: the ways to read a model, tests that are the diagnostic's own, places by hand."""

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
from blindspot.runs.comparison import headline_tests
from blindspot.settings import Settings
from blindspot.studies.lab.series import (
    NONE,
    OWN,
    PROMPTS,
    By,
    Member,
    Places,
    Point,
    Series,
    SeriesView,
    corrected,
    p_of_one,
    requests_of,
    series_view,
    ways,
)
from tests.support.commands import Command
from tests.support.pages import OpenApp, charts
from tests.support.small_world import SMALL_PAIRS
from tests.support.tiny_models import LAYERS, plain, saved
from tests.support.world import World


def test_the_ways_to_read_a_model(settings: Settings, tmp_path: Path) -> None:
    layers = ways(By.LAYER, "minilm", settings)
    assert [member.reference for member in layers.members] == [f"minilm?layer={n}" for n in range(7)]
    assert (layers.members[layers.itself].label, layers.members[0].label) == ("6", "0")
    bare = ways(By.PROMPT, "minilm", settings, ["mine: ", PROMPTS[0]])
    assert [member.label for member in bare.members][:2] == [NONE, "“query:”"]
    assert len(bare.members) == 1 + len(PROMPTS) + 1
    assert resolve_encoder(bare.members[-1].reference, settings).identity.prompt == "mine: "
    named = ways(By.PROMPT, bare.members[1].reference, settings)
    assert [member.label for member in named.members][:3] == [OWN, NONE, bare.members[2].label]
    # What the model's folder declares is its own, and none is another; options stay, other prompts go.
    folder = saved(tmp_path / "e5", then={"prompts": {"query": "q: ", "document": ""}, "default_prompt_name": "query"})
    given = f"dir:{folder}?max_length=16&query_prompt=a"
    prompted = ways(By.PROMPT, given, settings)
    assert [member.label for member in prompted.members][:2] == [OWN, NONE]
    assert prompted.members[1].reference == f"dir:{folder}?max_length=16&prompt="
    assert prompted.members[prompted.itself].reference == given


def test_what_has_no_layers_or_takes_no_prompt_says_so(settings: Settings, tmp_path: Path) -> None:
    words = tmp_path / "words.vec"
    words.write_text("rain 1 0\nsnow 0 1\n", "utf-8")
    for model in ("lsa", f"vectors:{words}"):
        for by in By:
            with pytest.raises(InputError):
                ways(by, model, settings)
    with pytest.raises(InputError, match="without vectors"):
        ways(By.PROMPT, "bm25", settings)


@pytest.mark.heavy
def test_every_surface_has_the_diagnostics_own_tests(
    world: World, tmp_path: Path, environment: Settings, blindspot: Command
) -> None:
    world.add(SMALL_PAIRS)
    model = f"dir:{plain(tmp_path / 'tiny')}"
    every = [ways(By.LAYER, model, world.settings)]
    entry, requests = requests_of(every, DatasetRef("small-pairs"), world.settings)
    assert entry is find_diagnostic("evalrank")
    runs = {r.variant.encoder: world.run("evalrank", str(r.variant), "small-pairs") for r in requests}
    found = series_view(By.LAYER, entry, every, runs, world.repository)
    (one,) = found.series
    itself = runs[f"{model}?layer={LAYERS}"]
    assert one.itself.run == itself
    assert [point.value for point in one.points] == pytest.approx([run.metrics["mrr"] for run in runs.values()])
    others = [runs[f"{model}?layer={n}"] for n in range(LAYERS)]
    tests = headline_tests(entry, [(run, itself) for run in others], world.repository, at_once=LAYERS)
    assert [point.test for point in one.points] == [*tests, None]
    assert corrected(tests[0], LAYERS) == (None if tests[0].p is None else min(1.0, LAYERS * tests[0].p))
    assert found.rows[-1]["p (corrected)"] == "itself"
    least = replace(tests[0], p=1e-4)  # that of all flips
    assert (p_of_one(least, 3), p_of_one(least, 1)) == ("≤ 0.0003", "≤ 0.0001")
    told = blindspot.json("layers", "--encoder", model, "--data", "small-pairs")
    assert told == found.as_json()
    assert [row["layer"] for row in told["models"][0]["points"]] == ["0", "1", "2"]
    assert found.in_words[0] in " ".join(blindspot.out("layers", "--encoder", model, "--data", "small-pairs").split())
    api = bs.layers(model, "small-pairs", store=world.cache)
    assert api.said == found.in_words
    assert list(api.table()["value"]) == [point.value for point in one.points]


def test_the_page_draws_what_is_stored_and_leaves_out_what_has_no_layers(world: World, open_app: OpenApp) -> None:
    world.add(SMALL_PAIRS)
    layers = [ways(By.LAYER, "minilm", world.settings)]
    for request in requests_of(layers, DatasetRef("small-pairs"), world.settings)[1]:
        world.run("evalrank", str(request.variant), "small-pairs")
    world.run("evalrank", "minilm", "small-pairs")
    address = {"lab_enc": ["minilm", "lsa"], "lab_chain": ["none"], "lab_task": ["evalrank@small-pairs"]}
    app = open_app(world.cache, "lab", view="layers", **address)
    assert not app.exception
    (drawn,) = [spec["data"] for spec in charts(app)]
    assert [len(line["x"]) for line in drawn] == [7]
    assert any("no layers to read: lsa" in caption.value for caption in app.caption)
    app = open_app(world.cache, "lab", view="prompts", **address)
    assert not app.exception
    assert any("Compute" in button.label for button in app.button)


def change_of(value: float) -> PairedTest:
    """Of one of two prompts against the model's own."""
    ends = Interval(value - 0.1, value + 0.1)
    own = 0.5
    return PairedTest("mrr", "MRR", True, (0.0, 1.0), own + value, own, 20, "pairs", "flips", ends, 0.02, of_many=2)


def view_of(**models: tuple[float, ...]) -> SeriesView:
    """Of prompts: the first value is the model's own."""
    series = []
    for name, values in models.items():
        run = cast("Any", SimpleNamespace(run_id=name))
        points = tuple(Point(Member(name, str(n)), run, value, None, None) for n, value in enumerate(values))
        series.append(Series(name, points, points[0], 1))
    return SeriesView(By.PROMPT, find_diagnostic("evalrank"), "mrr", tuple(series))


def test_places_by_hand() -> None:
    found = view_of(a=(0.5, 0.4, 0.9), b=(0.7, 0.6, 0.8), c=(0.3, 0.2, 0.35))
    assert [found.places(one) for one in found.series] == [Places(2, 1, 2), Places(1, 1, 2), Places(3, 3, 3)]
    a, b, _ = found.series
    assert (a.best.value, a.worst.value, a.spread) == (0.9, 0.4, 0.5)
    assert b.spread == pytest.approx(0.2)
    assert "in place 2 where each is as it is, 1 with its best prompt" in found.in_words[1]
    equal = view_of(a=(0.5, 0.5), b=(0.5, 0.5))
    assert [equal.places(one) for one in equal.series] == [Places(1, 1, 1)] * 2


def test_the_ends_of_a_spread_have_their_intervals_or_no_name() -> None:
    low, high = change_of(-0.1), change_of(0.2)
    (one,) = view_of(a=(0.5, 0.4, 0.7)).series
    points = (one.itself, *(replace(p, test=t) for p, t in zip(one.points[1:], (low, high), strict=True)))
    (said, *_) = replace(view_of(a=(0.5,)), series=(replace(one, points=points),)).in_words
    assert "from 0.400 (1: −0.100, 95% CI of the difference −0.200 to 0.000, of all 2 at once)" in said
    assert "to 0.700 (2: +0.200, 95% CI of the difference +0.100 to +0.300, of all 2 at once)" in said
    few = replace(low, p=None, p_corrected=None, interval=None, refusal="too few")
    untested = tuple(replace(point, test=few if point.test else None) for point in points)
    (said, *_) = replace(view_of(a=(0.5,)), series=(replace(one, points=untested),)).in_words
    assert "from 0.400 to 0.700, a spread" in said
    (said,) = replace(view_of(a=(0.5,)), by=By.LAYER, series=(replace(one, points=untested),)).in_words
    assert said == (
        "a: the highest MRR of 3 layers is 0.700, that of the last layer, the model itself, 0.500; not tested: too few."
    )
    low_is_better = replace(one, points=points, direction=-1)
    (said,) = replace(view_of(a=(0.5,)), by=By.LAYER, series=(low_is_better,)).in_words
    assert said.startswith("a: MRR is lowest at layer 1, 0.400: −0.100 over the last layer")


def test_a_difference_is_from_the_model_itself_and_its_p_is_of_all_others() -> None:
    untested = view_of(a=(0.5, 0.4, 0.7))
    (series,), tests = untested.series, (None, change_of(-0.1), change_of(0.2))
    points = tuple(replace(point, test=test) for point, test in zip(series.points, tests, strict=True))
    view = replace(untested, series=(replace(series, points=points),))
    printed = view.as_json()["models"][0]
    assert [point["p_corrected"] for point in printed["points"]] == [None, 2 * 0.02, 2 * 0.02]
    assert [point["difference"] for point in printed["points"]] == pytest.approx([0.0, -0.1, 0.2])
    assert printed["spread"] == pytest.approx(0.3)
    assert "places" not in printed, "of one model there are none"
    assert [row["p (corrected)"] for row in view.rows] == ["itself", "0.04", "0.04"]
    assert [row["difference"] for row in view.rows] == [None, pytest.approx(-0.1), pytest.approx(0.2)]


def test_the_last_layer_as_the_best_one_says_how_many_differ_from_it() -> None:
    (one,) = view_of(a=(0.5, 0.4, 0.45)).series
    tests = (None, change_of(-0.1), replace(change_of(-0.05), p=0.2))
    points = tuple(replace(p, test=t) for p, t in zip(one.points, tests, strict=True))
    layers = replace(view_of(a=(0.5,)), by=By.LAYER, series=(replace(one, points=points, itself=points[0]),))
    assert layers.in_words[0].endswith(
        "the model itself; 1 of 2 other layers differs significantly from it after correction for 2."
    )
