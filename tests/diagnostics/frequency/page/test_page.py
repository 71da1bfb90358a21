"""The page Frequency on toy encoders: stored runs of a vocabulary, other datasets computed on the page."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from blindspot.datasets import uploads
from blindspot.datasets.published import pairs as loaders
from blindspot.datasets.published import vocabularies
from blindspot.datasets.user_data import files as own_files
from blindspot.diagnostics.frequency import classes
from blindspot.names import in_address
from blindspot.runs import pipeline, requesting
from blindspot.settings import Settings
from blindspot.store.repository import Repository
from blindspot.types import CancelToken, Float32
from tests.conftest import make_settings
from tests.support.pages import OpenApp, chart, charts, table, written
from tests.support.small_world import GramEncoder
from tests.support.world import World

N = 520
pytestmark = pytest.mark.usefixtures("few_thresholds")


@dataclass
class Constant(GramEncoder):
    """One vector for all texts."""

    def encode(self, texts: Sequence[str], cancel: CancelToken) -> Float32:
        return np.ones_like(super().encode(texts, cancel))


@pytest.fixture(scope="module")
def world(module_world: World) -> World:
    """A vocabulary, its words as a pair set, and a dataset of three items; a store that knows some variants, and
    their embeddings of these."""
    rng = np.random.default_rng(7)
    words = [f"{a}{b}{c}{i}" for i in range(9) for a in "abcd" for b in "efgh" for c in "ijkl"][:N]
    counts = np.exp(rng.normal(7, 2, N)).tolist()
    pairs = [*zip(words[:40], words[40:80], strict=True)]
    seeds = [f"seed{'abcdefg'[i % 7]}{i}" for i in range(60)]
    module_world.add(
        vocabularies.vocabulary("toy-words", words, counts, sum(counts)),
        loaders.pair_set("toy-pairs", pairs, [*words, "tiger", "cat"]),
        loaders.pair_set("three", [("one", "two"), ("two", "three")], []),
        vocabularies.vocabulary("seeds", seeds, range(1, 61), 1e4),
        GramEncoder(),
        Constant("constant"),
        GramEncoder("lacks", lacks=lambda text: text.startswith("c")),
    )
    for encoder in ("constant", "lacks"):
        module_world.run("geometry", encoder, "toy-pairs")
    for variant in ("trigrams~none", "trigrams~center"):
        module_world.run("frequency", variant, "seeds")
    for encoder in ("trigrams", "constant", "lacks"):
        for dataset in ("toy-words", "toy-pairs", "three"):
            module_world.encode(encoder, dataset)
    return module_world


@pytest.fixture
def cache(world: World) -> Path:
    return world.cache


def lines(app: AppTest) -> dict[str, Any]:
    """The named traces of the figure."""
    return {trace["name"]: trace for figure in charts(app)[:1] for trace in figure["data"] if trace.get("name")}


def own_counts(settings: Settings) -> str:
    """The name of uploaded counts, that know the words that begin with a."""
    rows = [f"{a}{b}{c}{i},{1 + (i * 7 + ord(c)) % 13}" for i in range(9) for a in "a" for b in "efgh" for c in "ijkl"]
    data = "\n".join(["word,count", *rows]).encode()
    upload = uploads.add(own_files.parse(Path("counts.csv"), data), data, settings)
    return in_address(upload.reference)


def test_an_empty_store_offers_to_encode(open_app: OpenApp, tmp_path: Path) -> None:
    app = open_app(tmp_path, "frequency", data="vocab-wordfreq")
    assert "Not encoded yet: 20,000 words with their counts by minilm" in written(app)
    assert [b.label for b in app.button] == ["Encode"]


@pytest.mark.heavy
def test_a_vocabularys_runs_are_computed_when_asked_and_shown(open_app: OpenApp, cache: Path, tmp_path: Path) -> None:
    settings = make_settings(shutil.copytree(cache, tmp_path / "cache"))
    query = {"data": "toy-words", "model": ["trigrams~none", "trigrams~center"]}
    app = open_app(settings.cache, "frequency", **query)
    assert "Not computed yet: trigrams, trigrams + center" in written(app)
    assert "Compute" in [b.label for b in app.button]
    assert not lines(app)
    requests = [requesting.request("frequency", "trigrams", t, "toy-words", {}, settings) for t in ("none", "center")]
    runs = [pipeline.run(request, settings, Repository.at(settings.store)) for request in requests]
    app = open_app(settings.cache, "frequency", **query)
    assert list(lines(app)) == ["trigrams", "trigrams + center", "shuffled labels, mean"]
    assert f"**{runs[0].record.metrics['accuracy']:.1%}**" in written(app)
    assert "Not computed yet" not in written(app)
    assert "p50" in table(app, "threshold")["threshold"].tolist()


@pytest.mark.heavy
def test_variants_are_compared_on_the_words_that_all_have(open_app: OpenApp, cache: Path, world: World) -> None:
    for encoder, covered_by in (("trigrams", ()), ("trigrams", ("lacks",)), ("lacks", ("trigrams",))):
        request = requesting.request("frequency", encoder, "none", "toy-words", {}, world.settings, covered_by)
        pipeline.run(request, world.settings, world.repository)
    app = open_app(cache, "frequency", data="toy-words", model=["trigrams~none", "lacks~none"])
    assert "items that all these models have a vector for" in written(app)
    assert list(lines(app)) == ["trigrams", "lacks", "shuffled labels, mean"]


@pytest.mark.heavy
def test_another_dataset_is_computed_here_by_other_counts(open_app: OpenApp, cache: Path, world: World) -> None:
    counts = own_counts(world.settings)
    app = open_app(cache, "frequency", data="toy-pairs", model=["trigrams~none"], counts=counts)
    assert "Left out, without a known frequency" in written(app)
    assert list(lines(app)) == ["trigrams", "shuffled labels"]
    app = open_app(cache, "frequency", data="toy-pairs", model=["trigrams~none"], counts=counts, after="abtt:2")
    assert list(lines(app)) == ["trigrams", "trigrams + abtt:2", "shuffled labels, mean"]


@pytest.mark.heavy
def test_vectors_that_are_all_alike_have_a_state_of_their_own(open_app: OpenApp, cache: Path, world: World) -> None:
    counts = own_counts(world.settings)
    query = {"data": "toy-pairs", "model": ["trigrams~none", "constant~none"], "counts": counts}
    app = open_app(cache, "frequency", **query)
    assert "the same direction" in written(app)
    assert list(lines(app)) == ["trigrams", "shuffled labels"]


def test_neighbors_are_looked_up_and_the_fit_is_said(open_app: OpenApp, cache: Path) -> None:
    app = open_app(cache, "frequency", data="toy-words", model=["trigrams~none"], view="neighbors", after="center")
    assert list(lines(app)) == ["trigrams", "trigrams + center", "random items"]
    assert "400 sentences drawn" in written(app)
    assert "no power law" in written(app) or "mean corpus rank ≈" in written(app)
    fits = table(app, "R²")
    assert fits["model"].tolist() == ["C&W, published", "trigrams", "trigrams + center"]
    assert [" to " in ends for ends in fits["95% CI of b"][1:]] == [True, True]


@pytest.mark.parametrize("view", ["classifier", "neighbors"])
def test_three_items_are_a_clear_state(open_app: OpenApp, cache: Path, view: str) -> None:
    app = open_app(cache, "frequency", data="three", model=["trigrams~none"], view=view)
    said = {"classifier": "among 3 items", "neighbors": "are too few"}
    assert said[view] in written(app)


def test_counts_that_know_nothing_are_said(open_app: OpenApp, cache: Path, world: World) -> None:
    app = open_app(cache, "frequency", data="three", model=["trigrams~none"], counts=own_counts(world.settings))
    assert "none of the 3 items has a frequency by these counts" in written(app)


def test_counts_that_are_not_here_are_offered(open_app: OpenApp, cache: Path) -> None:
    app = open_app(cache, "frequency", data="toy-pairs", model=["trigrams~none"], counts="vocab-wiki")
    assert "not on this machine yet" in written(app)
    assert "Download" in [b.label for b in app.button]


@pytest.mark.heavy
def test_pages_of_other_diagnostics_say_that_a_vocabulary_is_not_theirs(open_app: OpenApp, cache: Path) -> None:
    for page in ("evalrank", "heros", "data"):
        app = open_app(cache, page, data="toy-words")
        assert not app.exception, page
    assert "words, in a corpus of" in written(app)


def test_the_overview_shows_it_without_calling_one_the_best(open_app: OpenApp, cache: Path) -> None:
    app = open_app(cache, "overview", post="true", data="seeds")
    boards = [d.value for d in app.dataframe if "shuffled labels" in d.value]
    assert any({"trigrams", "trigrams + center"} <= set(board["model"]) for board in boards)
    assert "60 words" in written(app)
    assert "★" not in written(app)


def test_too_few_items_have_no_verdict(open_app: OpenApp, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixty words: what guessing gets is drawn, no verdict; from so many on as are enough, both."""
    query = {"data": "seeds", "model": "trigrams~none"}
    app = open_app(cache, "frequency", **query)
    assert f"{0.5 - classes.strays(classes.ENOUGH):.0%} to {0.5 + classes.strays(classes.ENOUGH):.0%}" in written(app)
    rows = table(app, "threshold", "trigrams")
    mean = np.mean([float(cell.split("%")[0]) / 100 for cell in rows["trigrams"]])
    assert ("may or may not show" in written(app)) == (mean - 0.5 <= classes.strays(30))
    spec = chart(app, 0)
    assert not any(trace.get("fill") for trace in spec["data"])
    monkeypatch.setattr(classes, "ENOUGH", classes.LEAST)
    app = open_app(cache, "frequency", **query)
    assert f"{classes.ENOUGH} + {classes.ENOUGH}" not in written(app)
    assert "may or may not show" not in written(app)
    assert any(trace.get("fill") for trace in chart(app, 0)["data"])
