"""The page Lab by AppTest: a small grid of stored runs, its views, and the states in which there is nothing to show."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1.element_tree import Block

from blindspot.datasets.catalog import DatasetRef, title_of
from blindspot.numerics.statistics.compare import PairedTest
from blindspot.numerics.statistics.intervals import Interval
from blindspot.runs import pipeline
from blindspot.runs.requests import EncodeRequest
from blindspot.store.repository import Repository
from blindspot.studies.lab.grid import Grid, Measure, Scores, Task, changes, requests, score_cells, stored_runs
from blindspot.studies.lab.orders import effects, in_words, orders
from blindspot.studies.lab.page.headline import _significant_in_words
from blindspot.studies.lab.series import sure
from blindspot.ui import resources
from blindspot.ui.markdown import as_text
from tests.conftest import make_settings
from tests.support.pages import OpenApp, charts, written
from tests.support.small_world import SMALL_PAIRS, Gate, GramEncoder, register_encoder, wait_until
from tests.support.world import World

ENCODERS = ("bigrams", "trigrams", "quadgrams")
CHAINS = ("none", "center", "truncate:8", "pca:4")
TASKS = (Task("evalrank", "small-pairs"), Task("geometry", "small-pairs"))
GRID = Grid(ENCODERS, CHAINS, ("cos", "l2"), TASKS)
ADDRESS = {"lab_enc": list(ENCODERS), "lab_chain": list(CHAINS), "lab_task": [str(task) for task in TASKS]}
BOTH = ["evalrank@small-pairs:mrr", "geometry@small-pairs:align"]
MISSING = ("quadgrams", "center")


@pytest.fixture(scope="module")
def cache(module_world: World) -> Path:
    """All cells of ``GRID`` are stored but those of one variant."""
    module_world.add(*(GramEncoder(name, size) for size, name in enumerate(ENCODERS, 2)), SMALL_PAIRS)
    for request in requests(GRID, module_world.settings):
        if (request.variant.encoder, request.variant.transform) != MISSING:
            pipeline.run(request, module_world.settings, module_world.repository)
    return module_world.cache


def table(cache: Path, *scores: str) -> Scores:
    settings = make_settings(cache)
    asked = requests(GRID, settings)
    found = stored_runs(asked, Repository.at(settings.store))
    wanted = [Measure(task, score) for task, score in zip(TASKS, scores, strict=False)]
    return score_cells(asked, found, wanted)


def test_the_grid_shows_every_stored_cell(open_app: OpenApp, cache: Path) -> None:
    app = open_app(cache, "lab", **ADDRESS)
    expected = table(cache, "mrr", "align")
    drawn = [spec["data"][0]["z"] for spec in charts(app)]  # type: ignore[index]
    assert len(drawn) == 2
    values = np.array([row for z in drawn for row in z], dtype=np.float64).T
    np.testing.assert_allclose(values, expected.values)
    assert np.isnan(expected.values).sum() == 3
    assert "2 of 24 cells" in written(app)
    (button,) = [b for b in app.button if b.key == "lab_run_grid"]
    assert button.label == "Compute 3"
    assert "3 of 36 runs" in written(app)


def test_a_whole_grid_stands_above_the_form_and_a_part_below(open_app: OpenApp, cache: Path) -> None:
    for encoders, is_above in ((list(ENCODERS), False), (["bigrams", "trigrams"], True)):
        app = open_app(cache, "lab", **{**ADDRESS, "lab_enc": encoders})
        # a tree is walked in the order of the page
        elements = list(app.main)
        figure = next(place for place, element in enumerate(elements) if element.type == "plotly_chart")
        assert (figure < elements.index(app.multiselect(key="lab_enc"))) == is_above, encoders


def test_the_headline_is_the_largest_change_with_its_interval(open_app: OpenApp, cache: Path) -> None:
    app = open_app(cache, "lab", **ADDRESS)
    mrr = table(cache, "mrr")
    plain = mrr.values[:, mrr.settings.index(next(s for s in mrr.settings if s.chain == "none" and s.metric == "cos"))]
    gains = np.abs(mrr.values - plain[:, None])
    row, column = np.unravel_index(np.nanargmax(gains), gains.shape)
    (headline,) = (block.value for block in app.markdown if f"**{ENCODERS[row]}**" in block.value)
    assert f"from {plain[row]:.3f} to **{mrr.values[row, column]:.3f}**" in headline
    assert "not tested: " in headline, "there are too few pairs"
    found = orders(mrr.ranked)
    assert {v.choices for v in found} == {6, 8}, "each two models share the settings but those of one variant"
    assert f"**{sum(v.is_stable for v in found)} of {len(found)} " in headline


def test_every_score_has_its_largest_change(cache: Path) -> None:
    settings = make_settings(cache)
    asked = requests(GRID, settings)
    found = stored_runs(asked, Repository.at(settings.store))
    both = [Measure(TASKS[0], "mrr"), Measure(TASKS[0], "hits@1")]
    for measure in both:
        own = [one for one in changes(asked, found, both) if one.measure == measure]
        assert own == changes(asked, found, [measure])
        for one in own:
            assert one.gain == one.run.metrics[measure.score] - one.plain.metrics[measure.score]
    described = Measure(TASKS[1], "align")
    assert changes(asked, found, [described]), "nothing else is there"
    assert {one.measure for one in changes(asked, found, [described, both[0]])} == {both[0]}


def test_two_models_with_one_setting_in_common_have_no_order_to_keep(open_app: OpenApp, cache: Path) -> None:
    app = open_app(cache, "lab", **{**ADDRESS, "lab_chain": ["none"], "lab_metric": ["cos"]})
    (one,) = {v.choices for v in orders(table(cache, "mrr").only([0]))}
    assert one == 1
    assert not any("pairs** of models" in block.value for block in app.markdown)


@pytest.mark.parametrize(("p", "tried", "verdict"), [(0.01, 1, "; significant"), (0.01, 5, "; not significant")])
def test_the_largest_of_many_changes_is_corrected_for_their_number(p: float, tried: int, verdict: str) -> None:
    found = PairedTest("mrr", "MRR", True, (0.0, 1.0), 0.7, 0.6, 50, "pairs", "bootstrap", Interval(0.02, 0.18), p)
    said = sure(replace(found, of_many=tried), tried)
    assert "+0.020 to +0.180" in said
    assert (f"of all {tried} at once" in said) == (tried > 1)
    assert verdict in said


def test_a_grid_with_nothing_stored_says_what_to_do(open_app: OpenApp, cache: Path) -> None:
    app = open_app(cache, "lab", **{**ADDRESS, "lab_task": ["evalrank@demo-pairs"]})
    assert any(b.key == "lab_run_grid" for b in app.button)
    assert not any("95% CI" in block.value for block in app.markdown)


def test_ranking(open_app: OpenApp, cache: Path) -> None:
    app = open_app(cache, "lab", **ADDRESS, view="ranking", lab_score="evalrank@small-pairs:mrr")
    (figure,) = charts(app)
    lines = figure["data"]
    assert [line["name"] for line in lines] == list(ENCODERS)  # type: ignore[index,attr-defined]
    mrr = table(cache, "mrr").values
    for i, line in enumerate(lines):  # type: ignore[arg-type,var-annotated]
        for j, place in enumerate(line["x"]):
            before = sum(round(mrr[k, j], 4) > round(mrr[i, j], 4) for k in range(3))
            equal = sum(round(mrr[k, j], 4) == round(mrr[i, j], 4) for k in range(3))
            assert place == (None if np.isnan(mrr[i, j]) else before + (equal + 1) / 2)


def test_rows_of_several_scores_have_their_titles(open_app: OpenApp, cache: Path) -> None:
    app = open_app(cache, "lab", **ADDRESS, view="ranking", lab_score=BOTH)
    rows = charts(app)[0]["layout"]["yaxis"]["ticktext"]  # type: ignore[index]
    assert {row.split()[0] for row in rows} == {"EvalRank", "Geometry"}


def test_agreement_says_which_choice_moves_the_ranking(open_app: OpenApp, cache: Path) -> None:
    app = open_app(cache, "lab", **ADDRESS, view="agreement", lab_score=BOTH)
    found = effects(table(cache, "mrr", "align").ranked)
    rows = app.dataframe[0].value
    assert rows["choice"].tolist() == [str(e.knob) for e in found]
    assert rows["mean τ-b"].tolist() == [round(e.mean, 3) for e in found]
    app.segmented_control(key="lab_correlation").set_value("spearman").run()
    assert "Spearman's ρ of the rankings" in written(app)


def test_order(open_app: OpenApp, cache: Path) -> None:
    app = open_app(cache, "lab", **ADDRESS, view="order", lab_score=BOTH)
    found = orders(table(cache, "mrr", "align").ranked)
    assert len(found) == 3
    assert "scores, which are not tested" in written(app)
    for order in found:
        assert as_text(in_words(order)) in written(app)
    app.segmented_control(key="lab_order").set_value("stable").run()
    for order in found:
        assert (as_text(in_words(order)) in written(app)) == order.is_stable


def test_size_offers_what_lacks_and_draws_what_is_there(open_app: OpenApp, cache: Path) -> None:
    app = open_app(cache, "lab", **ADDRESS, view="size", lab_size=["8", "16"])
    (figure,) = charts(app)
    assert [list(line["x"]) for line in figure["data"]] == [[8, 96]] * 3  # type: ignore[index,attr-defined]
    assert [b.label for b in app.button if b.key == "lab_run_size"] == ["Compute 3"]
    assert "At equal size" in written(app)


def test_the_fit_corpus_is_stated_and_the_held_out_grid_is_one_click_away(open_app: OpenApp, cache: Path) -> None:
    app = open_app(cache, "lab", **ADDRESS)
    assert "center, pca:4 are fitted on the test texts" in written(app)
    (button,) = [b for b in app.button if b.key == "lab_fit_other"]
    button.click().run()
    assert title_of(app.selectbox(key="lab_fit").value) in button.label
    assert "Held out. center, pca:4" in written(app)
    assert [b.label for b in app.button if b.key == "lab_run_grid"] == ["Compute 18"], "the rest learns nothing"
    next(b for b in app.button if b.key == "lab_fit_own").click().run()
    assert any(b.key == "lab_fit_other" for b in app.button)


def test_what_learns_nothing_has_not_seen_the_test(open_app: OpenApp, cache: Path) -> None:
    app = open_app(cache, "lab", **{**ADDRESS, "lab_chain": ["none", "truncate:8"]})
    assert "None of" not in written(app)
    assert not any((b.key or "").startswith("lab_fit") for b in app.button)
    assert "All 18 runs" in written(app)


def test_an_empty_store_is_offered_the_grid_above_what_papers_found(open_app: OpenApp, tmp_path: Path) -> None:
    app = open_app(tmp_path / "cache", "lab")
    assert [b.label for b in app.button if b.key == "lab_run_grid"] == ["Compute 128"]
    assert not app.get("plotly_chart")
    assert len(app.dataframe) == 3


@pytest.mark.heavy
def test_what_is_wrong_stands_on_the_page(open_app: OpenApp, cache: Path) -> None:
    app = open_app(cache, "lab", **{**ADDRESS, "lab_chain": ["none", "whitten"]})
    assert "This link names what is not here: 'whitten'. The rest is shown" in written(app)
    assert app.multiselect(key="lab_chain").value == ["none"]
    app.multiselect(key="lab_chain").set_value(["none", "whitten"]).run()
    assert any("whitten" in str(error.value) for error in app.error), "typed"
    app = open_app(cache, "lab", **{**ADDRESS, "lab_chain": ["none", "truncate:97"]})
    assert "truncate:97 does not fit 96 dimensions" in written(app)


def test_one_encoder_has_nobody_to_be_ranked_against(open_app: OpenApp, cache: Path) -> None:
    app = open_app(cache, "lab", **{**ADDRESS, "lab_enc": ["bigrams"]}, view="ranking")
    assert "choose a second one" in written(app)


def test_nobody_is_ranked_by_the_space_unasked(open_app: OpenApp, cache: Path) -> None:
    app = open_app(cache, "lab", **ADDRESS, view="order")
    for order in orders(table(cache, "mrr").ranked):
        assert as_text(in_words(order)) in written(app)


def test_a_corpus_that_holds_the_tested_texts_is_not_called_held_out(open_app: OpenApp, cache: Path) -> None:
    """The demo's pairs and minimal pairs are of the same sentences."""
    app = open_app(cache, "lab", **{**ADDRESS, "lab_task": ["evalrank@demo-pairs"]}, lab_fit="demo-minimal")
    assert "Not held out. center, pca:4" in written(app)
    assert "100% of Demo pairs" in written(app)


def places(block: Block, path: tuple[int, ...] = ()) -> dict[str, tuple[int, ...]]:
    """Where widgets and figures stand on the page: places below places. A browser keeps what stands at a place."""
    found: dict[str, tuple[int, ...]] = {}
    for number, child in block.children.items():
        if isinstance(child, Block):
            found |= places(child, (*path, number))
        elif key := getattr(child, "key", None) or getattr(child.proto, "id", ""):
            found[key] = (*path, number)
    return found


def test_what_comes_and_goes_while_a_grid_runs_moves_no_control(
    open_app: OpenApp, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the browser shows both, the old ones greyed, until the page is drawn to its end."""
    gate = Gate()
    register_encoder(monkeypatch, GramEncoder("held", before=gate))
    register_encoder(monkeypatch, GramEncoder(MISSING[0], ENCODERS.index(MISSING[0]) + 2))
    app = open_app(cache, "lab", **ADDRESS)
    before = places(app.main)
    queue = resources.jobs()
    settings = resources.settings()
    missing = [r for r in requests(GRID, settings) if (r.variant.encoder, r.variant.transform) == MISSING]
    try:
        queue.submit("held", [EncodeRequest("held", DatasetRef(SMALL_PAIRS.id))])
        queue.submit("the rest", missing)
        wait_until(lambda: gate.reached == 1)
        app.run()
        assert any((button.key or "").startswith("cancel_") for button in app.button), "both jobs are under way"
        during = places(app.main)
        assert not any(button.key == "lab_run_grid" for button in app.button), "the offer is gone"
        stay = before.keys() & during.keys()
        assert {"lab_enc", "lab_chain", "lab_score", "lab_decimals", "view"} <= stay
        assert {key: during[key] for key in stay} == {key: before[key] for key in stay}
    finally:
        queue.close(0)
        gate.open(1_000)
        queue.close()


def test_a_task_that_an_address_names_twice_is_shown_once(open_app: OpenApp, cache: Path) -> None:
    twice = ["evalrank@demo-pairs"] * 2
    app = open_app(cache, "lab", **{**ADDRESS, "lab_task": twice, "lab_metric": ["cos", "cos"]})
    assert not app.error


def test_what_papers_found_is_there_before_a_run_of_theirs(open_app: OpenApp, cache: Path) -> None:
    app = open_app(cache, "lab", **ADDRESS, view="published")
    assert len(app.dataframe) == 3
    for source in ("Wang, Kuo and Li 2022, table 10", "Wang, Kuo and Li 2022, table 1b", "Eger et al. 2019, table 2"):
        assert source in written(app)
    assert "Nothing was measured here yet." in written(app)


def test_a_single_score_is_not_counted() -> None:
    said = [_significant_in_words(*scores) for scores in ((0, 1), (1, 1), (0, 3), (2, 3))]
    assert [any(c.isdigit() for c in text) for text in said] == [False, False, True, True]
    assert "2 of 3" in said[-1]
