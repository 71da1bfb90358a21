"""The views *bands*, *norms* and *hubs* of the Frequency page."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from blindspot.datasets.published import pairs as loaders
from blindspot.datasets.word_frequency import zipf_of
from blindspot.diagnostics.evalrank.definition import ENTRY
from blindspot.diagnostics.evalrank.kinds import by_bands, scores_by_kind
from blindspot.diagnostics.evalrank.pairs import RunRows, rows_of_runs
from blindspot.diagnostics.frequency import hubness
from blindspot.diagnostics.frequency.hubness import nearest_lists
from blindspot.diagnostics.frequency.page.norms import in_words as norms_in_words
from blindspot.diagnostics.frequency.view import BandsView
from blindspot.numerics.neighbors.hubness import Hubness
from blindspot.numerics.ranking.problem import RankCounts
from blindspot.numerics.similarity import Similarity, row_norms
from blindspot.numerics.statistics.association import Correlation
from blindspot.numerics.statistics.groups import FEW
from blindspot.numerics.statistics.intervals import Interval
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.runs.spaces import open_spaces
from blindspot.variants import Variant
from tests.conftest import make_settings
from tests.support.pages import OpenApp, charts, table, written
from tests.support.small_world import SMALL_PAIRS, GramEncoder, wait_until
from tests.support.world import World

TINY = loaders.pair_set("tiny", pairs=[("a cat sleeps", "the cat sleeps")], background=["rain falls"])
WITHOUT = SMALL_PAIRS.items[2:5]


@pytest.fixture(scope="module")
def world(module_world: World) -> World:
    """The small pairs ranked by three encoders, with spaces of all four; a dataset of three items."""
    world = module_world
    world.add(SMALL_PAIRS, TINY, GramEncoder(), GramEncoder("bigrams", 2))
    world.add(GramEncoder("constant", constant=True), GramEncoder("lacks", lacks=lambda text: text in WITHOUT))
    for encoder in ("trigrams", "bigrams", "constant", "lacks"):
        world.run("evalrank", encoder, TINY.id if encoder == "constant" else SMALL_PAIRS.id)
        for dataset in (SMALL_PAIRS, TINY):
            world.encode(encoder, dataset.id)
    world.encode("trigrams", "demo-minimal")
    return world


@pytest.fixture
def cache(world: World) -> Path:
    return world.cache


def view(open_app: OpenApp, cache: Path, name: str, *variants: str, **query: str) -> AppTest:
    query = {"data": SMALL_PAIRS.id} | query
    return open_app(cache, "frequency", view=name, model=[f"{v}~none" for v in variants], **query)


# --- bands


def test_bands_are_means_of_stored_rows(open_app: OpenApp, cache: Path, world: World) -> None:
    app = view(open_app, cache, "bands", "trigrams", "bigrams")
    frame = table(app, "MRR")
    repository = world.repository
    zipf = np.array(zipf_of(SMALL_PAIRS.items))
    for encoder in ("trigrams", "bigrams"):
        runs = [r for r in repository.runs() if r.plan.variant.encoder == encoder and r.plan.dataset == SMALL_PAIRS.id]
        reciprocal = rows_of_runs(ENTRY, [runs[0].run_id], repository)[runs[0].run_id].reciprocal_ranks(False)
        by_band: dict[tuple[str, str], list[float]] = {}
        for pair, value in enumerate(reciprocal):
            for side, items in (("query", SMALL_PAIRS.queries), ("match", SMALL_PAIRS.matches)):
                z = zipf[items[pair]]
                label = "over 100" if z >= 5 else "10 to 100" if z >= 4 else "not counted" if z == 0 else "rarer"
                by_band.setdefault((side, label), []).append(value)
        assert ("query", "not counted") in by_band, "the case has pairs without a word"
        for (side, label), values in by_band.items():
            row = frame[(frame["model"] == encoder) & (frame["of"] == side) & (frame["band"] == label)].iloc[0]
            assert row["pairs"] == len(values)
            assert row["MRR"] == pytest.approx(np.mean(values))
    both = frame[frame["of"] == "query and match"].groupby("model")["pairs"].sum()
    assert both.to_dict() == {"trigrams": 9, "bigrams": 9}
    assert len(charts(app)) == 3, "the lines, and a matrix per variant"


def test_the_sentence_of_bands_is_about_the_rarest_and_the_most_frequent_queries_of_which_there_are_enough() -> None:
    m = FEW
    queries = np.repeat([np.nan, 2.5, 3.5, 4.5, 6.0], [m, m - 1, m, m, m])  # few are the rarest, some are not counted
    numbers = np.arange(len(queries))
    counts = RankCounts(numbers * 0.0, np.repeat([0, 0, 3, 1, 0], [m, m - 1, m, m, m]), numbers * 0)
    bands, dependence = by_bands(queries, queries), Dependence.of(2 * numbers, 2 * numbers + 1)
    sides = scores_by_kind(bands.sides, RunRows(numbers, counts, counts), numbers, dependence, filtered=False)
    view = BandsView(bands, {"run": sides}, {}, 0)
    assert [(label, score.value) for label, score in view.ends("run", "mrr")] == [("1 to 10", 0.25), ("over 100", 1.0)]
    assert not BandsView(bands, {"run": sides[sides["label"] != "over 100"].iloc[:3]}, {}, 0).ends("run", "mrr")


def test_bands_offer_to_rank_what_is_not_ranked(open_app: OpenApp, cache: Path) -> None:
    app = view(open_app, cache, "bands", "trigrams", after="center")
    assert "has not ranked" in written(app)
    assert "trigrams + center" in written(app)
    assert not app.button(key="bands_run").disabled
    assert len(charts(app)) == 2
    alone = view(open_app, cache, "bands", "constant")
    assert not charts(alone)
    assert not alone.button(key="bands_run").disabled


def test_bands_leave_out_pairs_without_a_vector(open_app: OpenApp, cache: Path) -> None:
    app = view(open_app, cache, "bands", "lacks")
    inside = [
        q not in range(2, 5) and m not in range(2, 5)
        for q, m in zip(SMALL_PAIRS.queries, SMALL_PAIRS.matches, strict=True)
    ]
    frame = table(app, "MRR")
    assert frame[frame["of"] == "query"]["pairs"].sum() == sum(inside) < len(inside)


def test_bands_need_pairs(open_app: OpenApp, cache: Path) -> None:
    app = view(open_app, cache, "bands", "trigrams", data="demo-minimal")
    assert "Pick one of" in written(app)
    assert "`demo-pairs`" in written(app)
    assert not charts(app)


# --- norms


def test_lengths_are_those_of_the_vectors(open_app: OpenApp, cache: Path, world: World) -> None:
    app = view(open_app, cache, "norms", "trigrams", "constant", after="center")
    (space,) = open_spaces([Variant("trigrams", "none")], SMALL_PAIRS, world.settings)
    norms = row_norms(space.vectors)
    row = table(app, "zero vectors").set_index("model").loc["trigrams"]
    assert row["zero vectors"] == np.count_nonzero(norms == 0) == 3
    assert row["longest"] == pytest.approx(norms.max())
    assert row["shortest"] == pytest.approx(norms[norms > 0].min())
    assert row["median"] == pytest.approx(np.median(norms[norms > 0]))
    listed = table(app, "length")
    assert listed["length"].tolist() == sorted(norms[norms > 0], reverse=True)
    assert listed["sentence"].iloc[0] == SMALL_PAIRS.items[int(np.argmax(norms))]
    assert len(charts(app)) == 2, "trigrams, and trigrams + center"
    text = written(app)
    assert f"**constant**: all vectors have the same length, {0.5 * 96**0.5:.4g}:" in text
    assert f"**constant + center**: all {len(SMALL_PAIRS.items)} vectors are zero" in text
    app.segmented_control(key="norms_order").set_value("shortest").run()
    assert table(app, "length")["length"].tolist() == sorted(norms[norms > 0])


def test_the_sentence_of_lengths_says_longer_or_shorter_only_outside_of_chance() -> None:
    def correlated(low: float, value: float, high: float) -> dict[Variant, Correlation]:
        return {Variant("kb", "none"): Correlation(value, Interval(low, high), 50)}

    nothing = float("nan")
    assert "longer" in norms_in_words(correlated(0.1, 0.3, 0.5))
    assert "shorter" in norms_in_words(correlated(-0.5, -0.3, -0.1))
    for case in (correlated(-0.1, 0.1, 0.3), correlated(nothing, 1.0, nothing)):
        assert "no significant" in norms_in_words(case)
    both = norms_in_words(correlated(0.1, 0.3, 0.5) | {Variant("lsa", "none"): Correlation(-0.25, Interval(-1, 0), 50)})
    assert both.endswith("lsa −0.250.")


# --- hubs


def test_hubs_are_those_of_the_lists(open_app: OpenApp, cache: Path, world: World) -> None:
    app = view(open_app, cache, "hubs", "trigrams", hub_k="2")
    (space,) = open_spaces([Variant("trigrams", "none")], SMALL_PAIRS, world.settings)
    lists = nearest_lists(space.vectors, Similarity.COS)
    counts = lists.occurrences(2)
    expected = Hubness.of(counts, 2)
    row = table(app, "skewness").iloc[0]
    assert row["skewness"] == pytest.approx(expected.skewness)
    assert row["never listed"] == pytest.approx(expected.never)
    assert (row["hubs"], row["most"], row["zero vectors"]) == (expected.hubs, expected.most, 3)
    item = int(space.items[lists.places[np.argmax(counts)]])
    assert table(app, "times average")["no."].iloc[0] == item
    app.number_input(key="item").set_value(item).run()
    assert SMALL_PAIRS.items[item] in [text.value for text in app.text]
    assert [len(frame.value) for frame in app.dataframe if "rank" in frame.value] == [2, counts.max()]
    app.segmented_control(key="hub_list").set_value("never listed").run()
    assert f"{np.count_nonzero(counts == 0)} items are in no list" in written(app)
    assert set(table(app, "times average")["in lists"]) == {0}


def test_an_item_that_is_not_in_the_lists(open_app: OpenApp, cache: Path) -> None:
    app = view(open_app, cache, "hubs", "trigrams", item="1000")
    assert "There is no item 1000" in written(app)
    app = view(open_app, cache, "hubs", "trigrams", "lacks", item="3")
    assert "Item 3 has no vector that can be compared" in written(app)


def test_constant_vectors_have_no_neighbors_and_the_others_are_shown(open_app: OpenApp, cache: Path) -> None:
    app = view(open_app, cache, "hubs", "constant", "trigrams")
    assert "vectors point in one direction" in written(app)
    assert table(app, "skewness")["model"].tolist() == ["trigrams"]


@pytest.mark.parametrize("name", ["norms", "hubs", "bands"])
def test_three_items(open_app: OpenApp, cache: Path, name: str) -> None:
    app = view(open_app, cache, name, "trigrams", "constant", data=TINY.id)
    if name == "hubs":
        assert "k is 2 here" in written(app)
        assert table(app, "skewness")["never listed"].tolist() == [0.0], "each lists both of the others"
    elif name == "norms":
        assert table(app, "zero vectors")["zero vectors"].tolist() == [0, 0]


def test_many_items_are_counted_in_the_background(
    open_app: OpenApp, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hubness, "AT_ONCE_ITEMS", 5)
    settings = make_settings(shutil.copytree(cache, tmp_path / "own"))
    shutil.rmtree(settings.hubs, ignore_errors=True)
    app = view(open_app, settings.cache, "hubs", "trigrams", "lacks", after="center")
    assert "are not known yet for **trigrams**, **lacks**, **trigrams + center**, **lacks + center**" in written(app)
    assert not charts(app)
    app.button(key="hubs_make").click().run()
    folder = settings.hubs
    # Four spaces, and random vectors for 12 items and for 15.
    wait_until(lambda: folder.exists() and len(list(folder.glob("*.npz"))) >= 6 and not list(folder.glob("*.lock")))
    app.run()
    assert len(table(app, "skewness")) == 4
    assert table(app, "skewness")["hubs"].notna().all()
