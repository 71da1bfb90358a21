"""The page Frequency by AppTest, on toy encoders: stored runs of a vocabulary, other datasets computed here."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from core.datasets import uploads
from core.datasets.own import files as own_files
from core.datasets.published import pairs as loaders
from core.datasets.published import vocabularies
from core.diagnostics.frequency import classes
from core.runs import pipeline
from core.runs.pipeline import EncodeRequest
from core.settings import Settings
from core.store.repository import Repository
from core.types import CancelToken, Float32
from tests.conftest import make_settings
from tests.support.pages import OpenApp, chart, written
from tests.support.small_world import GramEncoder, register_dataset, register_encoder

N = 520


@dataclass
class Constant(GramEncoder):
    """But for the seeds, so that it is among the stored variants."""

    reference: str = "constant"

    def encode(self, texts: tuple[str, ...], cancel: CancelToken) -> Float32:  # type: ignore[override]
        out = super().encode(texts, cancel)
        out[[not text.startswith("seed") for text in texts]] = 1.0
        return out


@dataclass
class Lacks(GramEncoder):
    reference: str = "lacks"

    def encode(self, texts: tuple[str, ...], cancel: CancelToken) -> Float32:  # type: ignore[override]
        out = super().encode(texts, cancel)
        out[[text.startswith("c") for text in texts]] = np.nan
        return out


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A vocabulary, its words as a pair set, and a dataset of three items; a store that knows some variants, and
    their embeddings of these."""
    rng = np.random.default_rng(7)
    words = [f"{a}{b}{c}{i}" for i in range(9) for a in "abcd" for b in "efgh" for c in "ijkl"][:N]
    counts = np.exp(rng.normal(7, 2, N)).tolist()
    pairs = [*zip(words[:40], words[40:80], strict=True)]
    seeds = [f"seed{'abcdefg'[i % 7]}{i}" for i in range(60)]
    with pytest.MonkeyPatch.context() as patch:
        register_dataset(patch, vocabularies.vocabulary("toy-words", words, counts, sum(counts)))
        register_dataset(patch, loaders.pair_set("toy-pairs", pairs, [*words, "tiger", "cat"]))
        register_dataset(patch, loaders.pair_set("three", [("one", "two"), ("two", "three")], []))
        register_dataset(patch, vocabularies.vocabulary("seeds", seeds, range(1, 61), 1e4))
        register_encoder(patch, GramEncoder())
        register_encoder(patch, Constant())
        register_encoder(patch, Lacks(info=replace(GramEncoder().info, is_partial=True)))
        folder = tmp_path_factory.mktemp("frequency") / "cache"
        settings = make_settings(folder)
        repository = Repository.at(settings.store)
        for variant in ("trigrams~none", "trigrams~center", "constant~none", "lacks~none"):
            encoder, _, transform = variant.partition("~")
            request = pipeline.request("frequency", encoder, transform, "seeds", {}, settings)
            pipeline.run(request, settings, repository)
            for dataset in ("toy-words", "toy-pairs", "three"):
                pipeline.encode(EncodeRequest(encoder, dataset), settings, repository)
        repository.database.close()
        yield folder


@pytest.fixture
def world(cache: Path) -> tuple[Settings, Repository]:
    settings = make_settings(cache)
    return settings, Repository.at(settings.store)


def lines(app: AppTest) -> dict[str, Any]:
    """The named traces of the figure."""
    found = app.get("plotly_chart")
    return {t["name"]: t for t in json.loads(found[0].proto.spec)["data"] if t.get("name")} if found else {}


def own_counts(settings: Settings) -> str:
    """The name of uploaded counts, that know the words that begin with a."""
    rows = [f"{a}{b}{c}{i},{1 + (i * 7 + ord(c)) % 13}" for i in range(9) for a in "a" for b in "efgh" for c in "ijkl"]
    data = "\n".join(["word,count", *rows]).encode()
    upload = uploads.add(own_files.parse(Path("counts.csv"), data), data, settings)
    return uploads.short_name(upload.reference, settings)


def test_an_empty_store_offers_to_encode(open_app: OpenApp, tmp_path: Path) -> None:
    app = open_app(tmp_path, "frequency", data="vocab-wordfreq")
    assert not app.exception
    assert "Not encoded yet: 20,000 words with their counts by minilm" in written(app)
    assert [b.label for b in app.button] == ["Encode"]


def test_a_vocabularys_runs_are_computed_when_asked_and_shown(open_app: OpenApp, cache: Path, tmp_path: Path) -> None:
    cache = shutil.copytree(cache, tmp_path / "cache")
    settings = make_settings(cache)
    repository = Repository.at(settings.store)
    query = {"data": "toy-words", "enc": ["trigrams~none", "trigrams~center"]}
    app = open_app(cache, "frequency", **query)
    assert not app.exception
    assert "Not computed yet: trigrams, trigrams + center" in written(app)
    assert "Compute" in [b.label for b in app.button]
    assert not lines(app)
    runs = [
        pipeline.run(pipeline.request("frequency", "trigrams", t, "toy-words", {}, settings), settings, repository)
        for t in ("none", "center")
    ]
    app = open_app(cache, "frequency", **query)
    assert not app.exception
    assert list(lines(app)) == ["trigrams", "trigrams + center", "shuffled labels, mean"]
    assert f"**{runs[0].record.metrics['accuracy']:.1%}** on average" in written(app)
    assert "Not computed yet" not in written(app)
    numbers = next(d.value for d in app.dataframe if "threshold" in d.value)
    assert "p50" in numbers["threshold"].tolist()


def test_variants_are_compared_on_the_words_that_all_have(
    open_app: OpenApp, cache: Path, world: tuple[Settings, Repository]
) -> None:
    settings, repository = world
    for support in ((), ("lacks",)):
        request = pipeline.request("frequency", "trigrams", "none", "toy-words", {}, settings, support)
        pipeline.run(request, settings, repository)
    request = pipeline.request("frequency", "lacks", "none", "toy-words", {}, settings, ("trigrams",))
    pipeline.run(request, settings, repository)
    app = open_app(cache, "frequency", data="toy-words", enc=["trigrams~none", "lacks~none"])
    assert not app.exception
    assert "items that all these encoders have a vector for" in written(app)
    assert list(lines(app)) == ["trigrams", "lacks", "shuffled labels, mean"]


def test_another_dataset_is_computed_here_by_other_counts(
    open_app: OpenApp, cache: Path, world: tuple[Settings, Repository]
) -> None:
    counts = own_counts(world[0])
    app = open_app(cache, "frequency", data="toy-pairs", enc=["trigrams~none"], counts=counts)
    assert not app.exception
    assert "Left out, since they have no frequency by these counts" in written(app)
    assert list(lines(app)) == ["trigrams", "shuffled labels"]
    app = open_app(cache, "frequency", data="toy-pairs", enc=["trigrams~none"], counts=counts, after="abtt:2")
    assert list(lines(app)) == ["trigrams", "trigrams + abtt:2", "shuffled labels, mean"]


def test_vectors_that_are_all_alike_have_a_state_of_their_own(
    open_app: OpenApp, cache: Path, world: tuple[Settings, Repository]
) -> None:
    counts = own_counts(world[0])
    query = {"data": "toy-pairs", "enc": ["trigrams~none", "constant~none"], "counts": counts}
    for view in ("classifier", "neighbours"):
        app = open_app(cache, "frequency", **query, frequency_view=view)
        assert not app.exception
        if view == "classifier":
            assert "constant: all vectors have the same direction" in written(app)
            assert list(lines(app)) == ["trigrams", "shuffled labels"]
        else:  # of the words that these counts know there are too few
            assert "are too few for a curve" in written(app)


def test_neighbours_are_looked_up_and_the_fit_is_said(
    open_app: OpenApp, cache: Path, world: tuple[Settings, Repository]
) -> None:
    app = open_app(
        cache, "frequency", data="toy-words", enc=["trigrams~none"], frequency_view="neighbours", after="center"
    )
    assert not app.exception
    assert list(lines(app)) == ["trigrams", "trigrams + center", "random items"]
    assert "400 sentences drawn" in written(app)
    assert "no power law" in written(app) or "mean corpus rank ≈" in written(app)
    fits = next(d.value for d in app.dataframe if "R²" in d.value)
    assert fits["variant"].tolist() == ["trigrams", "trigrams + center"]


@pytest.mark.parametrize("view", ["classifier", "neighbours"])
def test_three_items_are_a_clear_state(
    open_app: OpenApp, cache: Path, world: tuple[Settings, Repository], view: str
) -> None:
    app = open_app(cache, "frequency", data="three", enc=["trigrams~none"], frequency_view=view)
    assert not app.exception
    said = {"classifier": "frequent and rare cannot be told apart among 3 items", "neighbours": "are too few"}
    assert said[view] in written(app)


def test_counts_that_know_nothing_are_said(open_app: OpenApp, cache: Path, world: tuple[Settings, Repository]) -> None:
    app = open_app(cache, "frequency", data="three", enc=["trigrams~none"], counts=own_counts(world[0]))
    assert not app.exception
    assert "none of the 3 items has a frequency by these counts" in written(app)


def test_counts_that_are_not_here_are_offered(
    open_app: OpenApp, cache: Path, world: tuple[Settings, Repository]
) -> None:
    app = open_app(cache, "frequency", data="toy-pairs", enc=["trigrams~none"], counts="vocab-wiki")
    assert not app.exception
    assert "are not on this machine yet" in written(app)
    assert "Download" in [b.label for b in app.button]


def test_pages_of_other_diagnostics_say_that_a_vocabulary_is_not_theirs(
    open_app: OpenApp, cache: Path, world: tuple[Settings, Repository]
) -> None:
    for page in ("evalrank", "heros", "data"):
        app = open_app(cache, page, data="toy-words")
        assert not app.exception, page
    assert "words, in a corpus of" in written(app)


def test_the_overview_shows_it_without_calling_one_the_best(open_app: OpenApp, cache: Path) -> None:
    app = open_app(cache, "overview")
    assert not app.exception
    boards = [d.value for d in app.dataframe if "shuffled labels" in d.value]
    assert any({"trigrams", "trigrams + center"} <= set(board["variant"]) for board in boards)
    assert "60 words" in written(app)
    assert "★" not in written(app)


def test_of_too_few_items_nothing_is_told(open_app: OpenApp, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixty words: what guessing gets is drawn, no verdict; from so many on as are enough, both."""
    query = {"data": "seeds", "enc": "trigrams~none"}
    app = open_app(cache, "frequency", **query)
    assert not app.exception
    (warning,) = app.warning
    assert f"{classes.ENOUGH} + {classes.ENOUGH}" in warning.value
    assert "tells frequent from rare" not in written(app)
    spec = chart(app, 0)
    assert not any(trace.get("fill") for trace in spec["data"])
    monkeypatch.setattr(classes, "ENOUGH", classes.LEAST)
    app = open_app(cache, "frequency", **query)
    assert not app.warning
    assert "tells frequent from rare" in written(app)
    assert any(trace.get("fill") for trace in chart(app, 0)["data"])
