"""The page HEROS with its published encoders, and ``runs resembles``, on a stand-in for HEROS's sentences.

The profiles of the encoders are known.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from blindspot.datasets import fetch
from blindspot.datasets.catalog import find_dataset
from blindspot.diagnostics.heros.published import SUBSETS, heros_profiles
from blindspot.diagnostics.heros.resemblance import is_on_published_sentences, of_run
from blindspot.errors import InputError
from blindspot.settings import Settings
from blindspot.store.records import RunRecord, RunState
from blindspot.store.repository import Repository
from tests.support.commands import Command
from tests.support.heros_world import run_heros, run_small
from tests.support.pages import OpenApp, chart, table, written
from tests.support.published_world import HEADER, rows, run_with_profile, settings_with_heros
from tests.support.small_world import SMALL_PAIRS, register_dataset

PUBLISHED = {profile.model: profile for profile in heros_profiles()}
TWIN = "MiniLM L6 v2 (all)"  # whose profile the encoder "twin" has
OWN_ORIGINALS = ["the cat is big", "it rains a lot", "a dog runs", "nobody came today"]


@dataclass(frozen=True)
class World:
    settings: Settings
    twin: RunRecord
    stranger: RunRecord


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """An encoder with a published profile, and one that is like none."""
    settings = settings_with_heros(tmp_path_factory.mktemp("published"))
    with pytest.MonkeyPatch.context() as patch:
        twin = run_with_profile(patch, settings, "twin", PUBLISHED[TWIN].means)
        stranger = run_with_profile(patch, settings, "stranger", dict.fromkeys(SUBSETS, 0.3))
        yield World(settings, twin, stranger)


def published_rows(app: AppTest) -> list[str]:
    return [str(text) for text in chart(app)["layout"].get("yaxis2", {}).get("ticktext", [])]


def test_the_encoder_has_the_profile_of_its_definition(world: World) -> None:
    assert world.twin.metrics["cos_avg"] == pytest.approx(0.0, abs=1e-6)
    for subset in SUBSETS:
        assert world.twin.metrics[subset] == pytest.approx(PUBLISHED[TWIN].means[subset], abs=1e-6)


# --- the profile


@pytest.mark.heavy
def test_on_heros_published_rows_are_shown_folded(open_app: OpenApp, world: World) -> None:
    app = open_app(world.settings.cache, "heros", data="heros")
    assert not app.error
    names = published_rows(app)
    assert len(names) == 17
    assert names[:6] == ["▸ QA (3)", "▸ GTR (4)", "▸ paraphrase (9)", "▸ QA+NLI (4)", "▸ all (10)", "▸ GloVe (1)"]
    assert names[6:8] == ["▸ SimCSE (4)<br>unsupervised", "▸ SimCSE (4)<br>unsupervised then NLI"]
    figure = chart(app)
    assert figure["data"][0]["y"] == ["twin", "stranger"], "measured rows stand by themselves"
    gtr = [p for p in heros_profiles() if p.block == "GTR"]
    expected = [f"{sum(p.means[s] for p in gtr) / 4:.3f}" for s in SUBSETS]
    assert figure["data"][2]["text"][6:12] == expected
    assert "mean of 4 published models" in figure["data"][1]["hovertext"][6]
    assert "synonym: 0.893 to 0.903" in figure["data"][1]["hovertext"][6]
    assert "not on these" not in written(app)


@pytest.mark.heavy
def test_a_group_is_unfolded_and_all_of_them(open_app: OpenApp, world: World) -> None:
    app = open_app(world.settings.cache, "heros", data="heros", unfold="GTR")
    names = published_rows(app)
    assert names[:7] == ["▸ QA (3)", "<b>▾ GTR (4)</b>", "base", "large", "xl", "xxl", "▸ paraphrase (9)"]
    colors = chart(app)["data"][0]["zmin"], chart(app)["data"][0]["zmax"]
    about = chart(app)["data"][1]["hovertext"][6]
    for part in ("synonym: 0.893", "GTR base (QA)", "figure 1", "Natural Questions", "110M parameters, 768 dimensions"):
        assert part in about

    app.toggle(key="unfold_all").set_value(True).run()
    figure = chart(app)
    assert len(published_rows(app)) == 60 + 13
    assert figure["data"][2]["text"] == [f"{p.means[s]:.3f}" for p in heros_profiles() for s in SUBSETS]
    assert (figure["data"][0]["zmin"], figure["data"][0]["zmax"]) == colors

    app.toggle(key="heros_intervals").set_value(True).run()
    assert "–<br>" in chart(app)["data"][0]["text"][0][0]
    app.toggle(key="published_profiles").set_value(False).run()
    assert published_rows(app) == []
    assert len(chart(app)["data"]) == 1


@pytest.mark.matrix
def test_elsewhere_published_rows_wait_to_be_asked_for(
    open_app: OpenApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And only the subsets that are there are filled; where none is a published one, nothing is offered."""
    settings = settings_with_heros(tmp_path)
    for name, subsets in {"some": ("synonym", "typo", "<b>mine</b>"), "other": ("mine",)}.items():
        rewrites = {s: [f"{text} {s}" for text in OWN_ORIGINALS] for s in subsets}
        run_small(monkeypatch, settings, name, OWN_ORIGINALS, rewrites, "trigrams")
    app = open_app(settings.cache, "heros", data="some")
    assert published_rows(app) == []
    app.toggle(key="published_elsewhere").set_value(True).run()
    assert "measured on HEROS's own 1,000 sentences, not on these" in written(app)
    assert len(published_rows(app)) == 17
    shown = chart(app)["data"][1]
    assert len(chart(app)["data"][2]["text"]) == 17 * 2
    columns = chart(app)["data"][0]["x"]
    centres = {round(base + width / 2) for base, width in zip(shown["base"], shown["x"], strict=True)}
    assert {columns[c] for c in centres} == {"synonym", "typo"}

    app.sidebar.selectbox(key="data").set_value("other").run()
    assert not [t for t in app.toggle if str(t.key).startswith("published")]


# --- behaves like


def test_the_nearest_and_the_guess(open_app: OpenApp, world: World) -> None:
    app = open_app(world.settings.cache, "heros", data="heros", view="behaves like")
    assert not app.error
    said = written(app)
    assert "twin behaves most like models trained on a billion pairs of 32 datasets of every kind (group all)" in said
    for accuracy in ("44 of 60 (73%;", "32 of 60 (53%;", "21 of 60 (35%;"):
        assert accuracy in said
    nearest = table(app, "published model")
    assert nearest["published model"].iloc[0] == TWIN
    assert nearest["distance"].iloc[0] == pytest.approx(0.0, abs=1e-5)
    assert nearest["distance"].is_monotonic_increasing
    assert len(nearest) == 10
    lines, places = chart(app, 1), chart(app, 2)
    assert next(trace["name"] for trace in lines["data"]) == f"{TWIN} · published"
    assert lines["data"][-1]["name"] == "twin, measured"
    assert sum(len(trace["x"]) for trace in places["data"] if trace["marker"]["symbol"].endswith("-open")) == 60
    assert [trace["name"] for trace in places["data"][7:]] == ["twin"]
    assert "Outside the map: stranger." in said

    app.selectbox(key="heros_like").set_value("stranger~none").run()
    said = written(app)
    assert "stranger resembles none of the 60 published models" in said
    assert "right for 44 of 60" in said
    assert "behaves most like" not in said
    assert "32 of 60" not in said


@pytest.mark.heavy
def test_on_the_demo_it_is_said_why_not_and_heros_is_offered(
    open_app: OpenApp, tmp_path: Path, encoders: tuple[str, str]
) -> None:
    settings = settings_with_heros(tmp_path)
    run_heros(settings, "trigrams", "demo-minimal")
    app = open_app(settings.cache, "heros", data="demo-minimal", view="behaves like")
    assert "HEROS's own 1,000 sentences" in written(app)
    assert len(app.get("plotly_chart")) == 1, "no nearest profile, no map"
    assert not app.button(key="fetch_heros").disabled
    assert "blindspot data fetch heros" in written(app)

    fetch.fetch_dataset(find_dataset("heros"), settings)
    app.run()
    app.button(key="pick_heros").click().run()
    assert app.sidebar.selectbox(key="data").value == "heros"


# --- the command line


@pytest.fixture
def resembles(world: World, monkeypatch: pytest.MonkeyPatch, blindspot: Command) -> Command:
    monkeypatch.setenv("BLINDSPOT_CACHE", str(world.settings.cache))
    return partial(blindspot, "runs", "resembles")


def test_the_command_line_says_the_same(world: World, resembles: Command) -> None:
    said = resembles(world.twin.run_id[:8], "--json").json
    assert (said["run_id"], said["dataset"], said["resembles_none"]) == (world.twin.run_id, "heros", False)
    assert said["guess"] == {"group": "all", "votes": 3, "voters": 3}
    assert said["profile"] == pytest.approx(PUBLISHED[TWIN].means, abs=1e-6)
    assert len(said["nearest"]) == 60
    assert said["nearest"][0]["model"] == TWIN
    assert said["accuracy"]["leave_one_out"] == pytest.approx(
        {"right": 44, "n": 60, "share": 44 / 60, "low": 0.6099, "high": 0.8287}, abs=1e-4
    )
    assert said["accuracy"]["leave_one_family_out"]["right"] == 32
    assert said["accuracy"]["majority"]["group"] == "unsupervised"
    assert sum(one["n"] for one in said["accuracy"]["leave_one_out_by_votes"].values()) == 60

    said = resembles(world.twin.run_id)
    assert said.code == 0
    assert said.out.startswith("twin on HEROS: nearest of the 60 published profiles")
    assert "Always saying unsupervised would be right for 21 of 60" in said.out

    said = resembles(world.stranger.run_id, "--json").json
    assert (said["resembles_none"], said["guess"]) == (True, None)


def test_other_sentences_are_refused_and_a_copy_is_not(
    world: World, resembles: Command, encoders: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, repository = world.settings, Repository.at(world.settings.store)
    said = resembles(run_heros(settings, "trigrams", "demo-minimal").run_id)
    assert said.code == 2
    assert "is on 'demo-minimal', the published profiles are of other sentences; expected a run" in said.error

    # A user's file with the very same content: one more run, which the store knows to be of HEROS.
    copy = tmp_path / "copy.tsv"
    with copy.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t")
        writer.writerows([HEADER, *rows()])
    copied = run_with_profile(monkeypatch, settings, "copied", PUBLISHED["GloVe"].means, f"file:{copy}")
    assert copied.plan.dataset != "heros"
    assert copied.plan.dataset_digest == world.twin.plan.dataset_digest
    assert is_on_published_sentences(copied, repository)
    assert resembles(copied.run_id, "--json").json["nearest"][0]["model"] == "GloVe"


def test_a_run_of_something_else_is_refused(
    world: World, resembles: Command, encoders: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    register_dataset(monkeypatch, SMALL_PAIRS)
    ranked = run_heros(world.settings, "trigrams", SMALL_PAIRS.id, diagnostic="evalrank")
    said = resembles(ranked.run_id)
    assert said.code == 2
    assert f"run {ranked.run_id} of evalrank is done" in said.error


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda run: replace(run, plan=replace(run.plan, diagnostic_version=1)),
            "was computed by version 1 of heros; expected version 5; run it again",
        ),
        (
            lambda run: replace(run, plan=replace(run.plan, dataset="elsewhere", dataset_digest="of others")),
            "expected a run on 'heros'",
        ),
        (
            lambda run: replace(run, state=RunState.INTERRUPTED),
            "of heros is interrupted",
        ),
        (
            lambda run: replace(run, metrics={name: run.metrics[name] for name in run.metrics if name != "typo"}),
            "has no typo; expected all of synonym, antonym",
        ),
    ],
)
def test_a_run_that_does_not_fit_is_refused(world: World, change: Callable[[RunRecord], RunRecord], said: str) -> None:
    with pytest.raises(InputError, match=said):
        of_run(change(world.twin), Repository.at(world.settings.store))
