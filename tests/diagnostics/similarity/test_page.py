"""The page Similarity by AppTest, on toy encoders: its views, the pair in the address, scored pairs of one's own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.datasets import uploads
from core.datasets.own import files as own
from core.datasets.published import scored_pairs
from core.diagnostics.similarity import bands, learned
from core.diagnostics.similarity.learned import LearnRequest
from core.runs import pipeline
from core.settings import Settings
from core.store.repository import Repository
from core.types import CancelToken, Float32, Variant
from tests.conftest import make_settings
from tests.support.pages import OpenApp, written
from tests.support.small_world import GramEncoder, register_dataset, register_encoder

MARKED = "it *rains* on [x](http://a)"


class LacksRain(GramEncoder):
    """Has no vector for a text with rain in it."""

    def encode(self, texts: tuple[str, ...], cancel: CancelToken) -> Float32:  # type: ignore[override]
        out = super().encode(texts, cancel)
        out[["rain" in text for text in texts]] = np.nan
        return out


def parts() -> dict[str, list[scored_pairs.Row]]:
    """A small STS-Benchmark: pairs that share some words, scored by how many."""
    rng = np.random.default_rng(4)
    words = "red green blue dog cat bird runs sleeps sings".split()
    out = {}
    for name in (learned.TRAIN, learned.DEV, learned.TEST):
        rows = []
        for i in range(24):
            first = [str(word) for word in rng.choice(words, 5)]
            kept = i % 6
            second = first[:kept] + [str(word) for word in rng.choice(words, 5 - kept)]
            rows.append((f"{' '.join(first)} {name}", f"{' '.join(second)} {i}", float(kept)))
        out[f"Toy {name}"] = rows
    return out


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Two encoders, and one that lacks some texts, on two sets; two of them on a small STS-Benchmark, one learned."""
    with pytest.MonkeyPatch.context() as patch:
        some = {
            "one": [("dogs run", "dogs ran", 4.5), ("cats sleep", "dogs run", 0.5), (MARKED, "it rained", 4.0)],
            "two": [("birds sing", "dogs run", 0.0), ("cats sleep", "cats slept", 4.2), ("dogs ran", "a dog ran", 3.0)],
        }
        register_dataset(patch, scored_pairs.scored_pairs("toy-scores", some))
        register_dataset(patch, scored_pairs.scored_pairs(bands.DATASET, parts()))
        register_encoder(patch, GramEncoder())
        register_encoder(patch, GramEncoder("bigrams", size=2))
        register_encoder(patch, LacksRain("lacks", info=replace(GramEncoder().info, is_partial=True)))
        folder = tmp_path_factory.mktemp("similarity-page") / "cache"
        settings = make_settings(folder)
        repository = Repository.at(settings.store)
        for encoder, dataset in (
            ("trigrams", "toy-scores"),
            ("bigrams", "toy-scores"),
            ("lacks", "toy-scores"),
            ("trigrams", bands.DATASET),
        ):
            pipeline.run(pipeline.request("similarity", encoder, "none", dataset, {}, settings), settings, repository)
        learned.make(LearnRequest(Variant("trigrams", "none")), settings)
        repository.database.close()
        yield folder


@pytest.fixture
def settings(cache: Path) -> Settings:
    return make_settings(cache)


TWO = ["trigrams~none", "bigrams~none"]


def test_scores_of_all_pairs_the_mean_and_every_set(open_app: OpenApp, cache: Path, settings: Settings) -> None:
    app = open_app(cache, "similarity", data="toy-scores", enc=TWO)
    assert not app.exception
    table = next(frame.value for frame in app.dataframe if "over" in frame.value)
    assert table["over"].tolist() == ["all pairs", "weighted mean", "one", "two"] * 2
    repository = Repository.at(settings.store)
    runs = {run.plan.variant.label: run for run in repository.runs(diagnostic="similarity", dataset="toy-scores")}
    for _, row in table[table["over"] == "all pairs"].iterrows():
        metrics = runs[row["variant"]].metrics
        assert [row[k] for k in ("Pearson", "Spearman", "Kendall")] == pytest.approx(
            [metrics[k] for k in ("pearson", "spearman", "kendall")]
        )
    for _, row in table[table["over"] == "weighted mean"].iterrows():
        assert row["Spearman"] == pytest.approx(runs[row["variant"]].metrics["spearman_weighted_mean"])
    repository.database.close()
    assert "same order" in written(app) or "different orders" in written(app)
    assert "Coverage" not in written(app)


def test_coverage_is_said_and_scores_are_of_what_all_have(open_app: OpenApp, cache: Path) -> None:
    app = open_app(cache, "similarity", data="toy-scores")
    assert not app.exception
    assert "**Coverage:** 5 of 6 pairs" in written(app)
    table = next(frame.value for frame in app.dataframe if "over" in frame.value)
    assert set(table[table["over"] == "all pairs"]["pairs"]) == {5}
    assert table[table["over"] == "all pairs"]["variant"].nunique() == 3


def test_a_pair_of_the_address_is_shown_as_text(open_app: OpenApp, cache: Path) -> None:
    app = open_app(cache, "similarity", data="toy-scores", enc=TWO, similarity_view="pairs", pair="2")
    assert not app.exception
    assert MARKED in [text.value for text in app.text]
    assert "People gave **4.00**" in written(app)
    assert MARKED not in written(app, raw=False)
    table = next(frame.value for frame in app.dataframe if "residual in A" in frame.value)
    assert len(table) == 6
    assert table["residual in A"].abs().is_monotonic_decreasing
    app.segmented_control(key="sim_rows").set_value("A and B disagree").run()
    table = next(frame.value for frame in app.dataframe if "residual in A" in frame.value)
    assert table["A − B"].abs().is_monotonic_decreasing
    app.selectbox(key="sim_set").set_value("two").run()
    table = next(frame.value for frame in app.dataframe if "residual in A" in frame.value)
    assert set(table["pair"]) == {3, 4, 5}
    app.number_input(key="pair").set_value(99).run()
    assert "There is no pair 99 here: they are 0 to 5." in written(app)


def test_a_link_restores_the_view(open_app: OpenApp, cache: Path) -> None:
    query = {"similarity_view": "pairs", "sim_set": "one", "sim_fit": "line", "sim_rows": "too alike for A"}
    app = open_app(cache, "similarity", data="toy-scores", enc=TWO, sim_a=TWO[1], sim_b=TWO[0], **query)
    assert not app.exception
    assert "**A: bigrams**" in written(app)
    assert "a straight line" in written(app)
    table = next(frame.value for frame in app.dataframe if "residual in A" in frame.value)
    assert set(table["pair"]) == {0, 1, 2}
    assert table["residual in A"].is_monotonic_decreasing


def test_one_variant_has_no_b(open_app: OpenApp, cache: Path) -> None:
    app = open_app(cache, "similarity", data="toy-scores", enc=TWO[:1], similarity_view="pairs", sim_fit="line")
    assert not app.exception
    assert "A and B disagree" not in app.segmented_control(key="sim_rows").options
    assert "a straight line" in written(app)


def test_bands_and_what_is_missing_for_them(open_app: OpenApp, cache: Path) -> None:
    app = open_app(cache, "similarity", data="toy-scores", enc=TWO, similarity_view="bands")
    assert not app.exception
    assert "Without one: `bigrams`" in written(app)
    assert "Run them" in [button.label for button in app.button]
    assert "[5,3] 36 of 36" in written(app)


def test_learned_and_what_is_not_yet(open_app: OpenApp, cache: Path) -> None:
    app = open_app(cache, "similarity", data="toy-scores", enc=TWO[:1], similarity_view="learned")
    assert not app.exception
    assert "Trained on the 24 pairs" in written(app)
    table = next(frame.value for frame in app.dataframe if "similarity" in frame.value and "Pearson" in frame.value)
    assert table["similarity"].tolist() == list(learned.MODELS)
    app = open_app(cache, "similarity", data="toy-scores", enc=TWO[1:], similarity_view="learned")
    assert "Without one: `bigrams`" in written(app)


def test_a_dataset_without_scores_offers_two_that_have(open_app: OpenApp, cache: Path) -> None:
    app = open_app(cache, "similarity")
    assert not app.exception
    assert "has no pairs that people scored" in written(app)
    app.button(key="pick_ws353").click().run()
    assert app.selectbox(key="data").value == "ws353"
    assert "No scores on WordSim-353" in written(app)


def test_scored_pairs_of_ones_own(open_app: OpenApp, cache: Path, settings: Settings) -> None:
    data = b"left,right,gold\ndogs run,dogs ran,4\ncats sleep,birds sing,1\ncats,dogs,2\n"
    upload = uploads.add(own.parse(Path("mine.csv"), data), data, settings)
    repository = Repository.at(settings.store)
    request = pipeline.request("similarity", "trigrams", "none", upload.reference, {}, settings)
    pipeline.run(request, settings, repository)
    repository.database.close()
    name = uploads.short_name(upload.reference, settings)
    app = open_app(cache, "similarity", data=name)
    assert not app.exception
    assert "3 pairs." in written(app)
    app = open_app(cache, "data", data=name)
    assert not app.exception
    rows = next(frame.value for frame in app.dataframe if "first text" in frame.value)
    assert rows["score"].tolist() == [4, 1, 2]
