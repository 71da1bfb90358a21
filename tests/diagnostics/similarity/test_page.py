"""The page Similarity by AppTest, on toy encoders: its views, the pair in the address, scored pairs of one's own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from blindspot.datasets import uploads
from blindspot.datasets.published import scored_pairs
from blindspot.datasets.user_data import files as own
from blindspot.diagnostics.similarity import bands, learned
from blindspot.diagnostics.similarity.learned import LearnRequest
from blindspot.names import in_address
from blindspot.runs.findings.baselines import VARIANTS
from blindspot.variants import Variant
from tests.support.pages import OpenApp, table, written
from tests.support.small_world import GramEncoder
from tests.support.world import World

MARKED = "it *rains* on [x](http://a)"


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
def cache(module_world: World) -> Path:
    """Two encoders, and one that lacks some texts, on two sets; two of them on a small STS-Benchmark, one learned."""
    some = {
        "one": [("dogs run", "dogs ran", 4.5), ("cats sleep", "dogs run", 0.5), (MARKED, "it rained", 4.0)],
        "two": [("birds sing", "dogs run", 0.0), ("cats sleep", "cats slept", 4.2), ("dogs ran", "a dog ran", 3.0)],
    }
    module_world.add(scored_pairs.scored_pairs("toy-scores", some), scored_pairs.scored_pairs(bands.DATASET, parts()))
    encoders = GramEncoder(), GramEncoder("bigrams", size=2), GramEncoder("lacks", lacks=lambda text: "rain" in text)
    module_world.add(*encoders)
    for encoder in encoders:
        module_world.run("similarity", encoder.reference, "toy-scores")
    module_world.run("similarity", "trigrams", bands.DATASET)
    learned.make(LearnRequest(Variant("trigrams", "none")), module_world.settings)
    module_world.repository.database.close()
    return module_world.cache


TWO = ["trigrams~none", "bigrams~none"]


def test_scores_of_all_pairs_the_mean_and_every_set(open_app: OpenApp, cache: Path) -> None:
    app = open_app(cache, "similarity", data="toy-scores", model=TWO)
    every = table(app, "over")
    of_words = every["model"].isin([variant.label for variant in VARIANTS.values()])
    rows, alone = every[~of_words], every[of_words]
    assert rows["over"].tolist() == ["all pairs", "weighted mean", "one", "two"] * 2
    assert alone["model"].nunique() == len(VARIANTS)
    assert alone[["Pearson", "Kendall"]].isna().all(axis=None)
    assert "same order" in written(app) or "different orders" in written(app)
    assert "Coverage" not in written(app)


def test_coverage_is_said_and_scores_are_of_what_all_have(open_app: OpenApp, cache: Path) -> None:
    app = open_app(cache, "similarity", data="toy-scores")
    assert "5 of 6 pairs that all models cover" in written(app)
    rows = table(app, "over")
    assert set(rows[rows["over"] == "all pairs"]["pairs"]) == {5}
    assert rows[rows["over"] == "all pairs"]["model"].nunique() == 3 + len(VARIANTS)


def test_a_pair_of_the_address_is_shown_as_text(open_app: OpenApp, cache: Path) -> None:
    app = open_app(cache, "similarity", data="toy-scores", model=TWO, view="pairs", item="2")
    assert MARKED in [text.value for text in app.text]
    assert "People gave **4.00**" in written(app)
    assert MARKED not in written(app, raw=False)
    rows = table(app, "residual in A")
    assert len(rows) == 6
    assert rows["residual in A"].abs().is_monotonic_decreasing
    app.segmented_control(key="sim_rows").set_value("A and B disagree").run()
    rows = table(app, "residual in A")
    assert rows["A − B"].abs().is_monotonic_decreasing
    app.selectbox(key="sim_set").set_value("two").run()
    rows = table(app, "residual in A")
    assert set(rows["pair"]) == {3, 4, 5}
    app.number_input(key="item").set_value(99).run()
    assert any("99" in warning.value for warning in app.warning)


def test_a_link_restores_the_view(open_app: OpenApp, cache: Path) -> None:
    query = {"view": "pairs", "sim_set": "one", "sim_fit": "line", "sim_rows": "too alike for A"}
    app = open_app(cache, "similarity", data="toy-scores", model=TWO, a=TWO[1], b=TWO[0], **query)
    assert "**A: bigrams**" in written(app)
    assert "a straight line" in written(app)
    rows = table(app, "residual in A")
    assert set(rows["pair"]) == {0, 1, 2}
    assert rows["residual in A"].is_monotonic_decreasing


def test_one_variant_has_no_b(open_app: OpenApp, cache: Path) -> None:
    app = open_app(cache, "similarity", data="toy-scores", model=TWO[:1], view="pairs", sim_fit="line")
    assert "A and B disagree" not in app.segmented_control(key="sim_rows").options
    assert "a straight line" in written(app)


def test_bands_and_what_is_missing_for_them(open_app: OpenApp, cache: Path) -> None:
    app = open_app(cache, "similarity", data="toy-scores", model=TWO, view="bands")
    assert "Missing: `bigrams`" in written(app)
    assert "Run them" in [button.label for button in app.button]
    assert "[5,3] 36 of 36" in written(app)


def test_learned_and_what_is_not_yet(open_app: OpenApp, cache: Path) -> None:
    app = open_app(cache, "similarity", data="toy-scores", model=TWO[:1], view="learned")
    assert "Trained on the 24 pairs" in written(app)
    rows = table(app, "similarity", "Pearson")
    assert rows["similarity"].tolist() == list(learned.MODELS)
    app = open_app(cache, "similarity", data="toy-scores", model=TWO[1:], view="learned")
    assert "Missing: `bigrams`" in written(app)


def test_a_dataset_without_scores_offers_two_that_have(open_app: OpenApp, tmp_path: Path) -> None:
    app = open_app(tmp_path, "similarity")
    assert "has no pairs that people scored" in written(app)
    app.button(key="pick_ws353").click().run()
    assert app.selectbox(key="data").value == "ws353"
    assert "No scores on WordSim-353" in written(app)


@pytest.mark.heavy
def test_scored_pairs_of_ones_own(open_app: OpenApp, cache: Path, module_world: World) -> None:
    data = b"left,right,gold\ndogs run,dogs ran,4\ncats sleep,birds sing,1\ncats,dogs,2\n"
    upload = uploads.add(own.parse(Path("mine.csv"), data), data, module_world.settings)
    module_world.run("similarity", "trigrams", upload.reference)
    module_world.repository.database.close()
    name = in_address(upload.reference)
    app = open_app(cache, "similarity", data=name)
    assert "3 pairs." in written(app)
    app = open_app(cache, "data", data=name)
    assert table(app, "first text")["score"].tolist() == [4, 1, 2]


def test_scores_that_all_models_and_the_words_contradict_are_asked_about(
    open_app: OpenApp, world: World, tmp_path: Path
) -> None:
    """A column of distances that is called score."""
    path = tmp_path / "mine.csv"
    rows = [(left, right, 5 - score) for part in parts().values() for left, right, score in part]
    pd.DataFrame(rows, columns=["left", "right", "score"]).to_csv(path, index=False)
    world.add(GramEncoder()).run("similarity", "trigrams", f"file:{path}")
    app = open_app(world.cache, "similarity", data=f"file:{path}")
    assert ["minus the score" in warning.value for warning in app.warning] == [True]
