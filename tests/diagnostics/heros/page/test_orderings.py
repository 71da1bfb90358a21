"""The view *orderings* of the HEROS page and the headline above the profile, by AppTest on small runs."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from core.diagnostics.heros import comparison, orderings
from core.diagnostics.heros.definition import ENTRY, SUBSETS
from core.diagnostics.heros.orderings import Cosines
from core.store.repository import Repository
from core.texts import percent
from tests.support.heros_world import ORIGINALS, World, world
from tests.support.pages import OpenApp, chart, written

N = len(ORIGINALS)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world(tmp_path_factory.mktemp("orderings")) as built:
        built.run("six", "unigrams~none", "bigrams~none", "trigrams~none")
        built.run("nameless", "bigrams~none", "trigrams~none")
        built.run("alone", "bigrams~none")
        yield built


def table(small: World, dataset: str, variant: str, subsets: list[str] | None = None) -> Cosines:
    run = small.runs[dataset, variant]
    return Cosines.of_rows(small.repository.items(ENTRY, [run.run_id], texts=False), subsets)


def shown_order(app: AppTest) -> list[str]:
    """The variants in the order of the page, first the one with the largest lead."""
    return [f"{name}~none" for name in chart(app, 0)["data"][0]["y"]]


def test_the_headline_stands_above_the_profile(open_app: OpenApp, small: World) -> None:
    app = open_app(small.cache, "heros", data="six")
    assert not app.exception
    variants = shown_order(app)
    assert len(variants) == 3
    found = orderings.headline([table(small, "six", name, list(SUBSETS)) for name in variants])
    assert found is not None
    said = written(app)
    rate = found.worst.rate
    assert f"{rate.value:.0%}" in said
    assert f"{rate.interval.low:.0%} to {rate.interval.high:.0%}" in said
    assert found.contrast is not None
    names = [f"**{name.removesuffix('~none')}**" for name in variants]
    contrast = orderings.contrast_in_words(found.contrast, names, orderings_label)
    assert contrast in said
    for name in variants[1:]:
        worst = orderings.worst(table(small, "six", name, list(SUBSETS)))
        assert worst is not None
        assert f"**{name.removesuffix('~none')}**: {orderings_label(worst.rate.ordering.near)} closer than" in said
    first = app.markdown[
        [str(m.value) for m in app.markdown].index(
            "**How similar are a sentence and its rewrite?** 1: the same; 0: like two unrelated sentences."
        )
        - 1
    ]
    assert str(first.value) == contrast


def orderings_label(subset: str) -> str:
    names = {"negation_main": "negation of the clause", "negation_antonym": "negation of the word"}
    return names.get(subset, {"random_mlm": "random word"}.get(subset, subset))


def test_rates_of_every_variant_are_those_stored(open_app: OpenApp, small: World) -> None:
    app = open_app(small.cache, "heros", data="six")
    named = [o for o in ENTRY.metrics if ">" in o.name and not o.name.endswith(("_low", "_high"))]
    for trace in chart(app, 1)["data"]:
        metrics = small.runs["six", f"{trace['name']}~none"].metrics
        assert trace["x"] == pytest.approx([metrics[o.name] for o in named])
        lengths = trace["error_x"]["arrayminus"], trace["error_x"]["array"]
        ends = [(x - less, x + more) for x, less, more in zip(trace["x"], *lengths, strict=True)]
        stored = [(metrics[f"{o.name}_low"], metrics[f"{o.name}_high"]) for o in named]
        assert np.asarray(ends) == pytest.approx(np.asarray(stored))
        assert [said for _, *said in trace["customdata"]] == [
            [percent(metrics[f"{o.name}{end}"], 1) for end in ("", "_low", "_high")] for o in named
        ]
    assert "Listed are 6 of 15 pairs of subsets" in written(app)


def test_a_link_names_a_and_b_and_the_matrix(open_app: OpenApp, small: World) -> None:
    a, b = "trigrams~none", "unigrams~none"
    app = open_app(small.cache, "heros", data="six", heros_a=a, heros_b=b, heros_matrix="A minus B")
    assert not app.exception
    assert [app.selectbox(key=k).value for k in ("heros_a", "heros_b")] == [a, b]
    one, other = (orderings.win_rates(table(small, "six", name, list(SUBSETS))) for name in (a, b))
    cells = np.array(chart(app, 2)["data"][0]["z"], dtype=float)
    np.testing.assert_allclose(cells, one - other, atol=1e-12)
    for which, expected in (("A", one), ("B", other)):
        app.segmented_control(key="heros_matrix").set_value(which).run()
        cells = np.array(chart(app, 2)["data"][0]["z"], dtype=float)
        np.testing.assert_allclose(cells, expected, atol=1e-12)


def test_a_and_b_stand_in_the_address_from_the_start(open_app: OpenApp, small: World) -> None:
    app = open_app(small.cache, "heros", data="six")
    first, second, _ = shown_order(app)
    assert [app.query_params[k] for k in ("heros_a", "heros_b")] in ([first, second], [[first], [second]])


def test_a_stale_link_is_said(open_app: OpenApp, small: World) -> None:
    app = open_app(small.cache, "heros", data="six", heros_a="gone*one~none", heros_b="unigrams~none")
    assert not app.exception
    assert r"Not among the variants shown: gone\*one\~none. Another one stands in." in written(app)
    assert app.selectbox(key="heros_a").value == shown_order(app)[0]
    assert app.selectbox(key="heros_b").value == "unigrams~none"


def test_two_variants_are_tested_as_the_command_line_does(open_app: OpenApp, small: World) -> None:
    runs = [small.runs["nameless", f"{name}~none"] for name in ("trigrams", "bigrams")]
    tests = comparison.compare_orderings(*runs, small.repository)
    app = open_app(small.cache, "heros", data="nameless", heros_a="trigrams~none", heros_b="bigrams~none")
    shown = next(d.value for d in app.dataframe if "only A" in d.value)
    assert shown["ordering"].tolist() == [
        "<b>of* my own over formal>er",
        "<b>of* my own over third",
        "formal>er over third",
    ]
    by_name = {str(t.ordering).replace("_", " "): t for t in tests}
    for row in shown.to_dict("records"):
        near, far = row["ordering"].split(" over ")
        t = by_name.get(f"{near}>{far}")
        if t is not None:
            assert row["A − B"] == pytest.approx(100 * t.difference)
            assert (row["only A"], row["only B"]) == (t.test.first_better, t.test.second_better)
    assert len(by_name) == len(shown) == 3


def test_names_that_tell_no_meaning_have_no_headline(open_app: OpenApp, small: World) -> None:
    app = open_app(small.cache, "heros", data="nameless")
    assert not app.exception
    assert "No headline: the subsets' names do not tell" in written(app)
    assert "such shares" not in written(app)
    heat = chart(app, 2)
    assert heat["layout"]["yaxis"]["ticktext"][0] == "&lt;b&gt;of* my own"


def test_one_variant_has_its_matrix_alone(open_app: OpenApp, small: World) -> None:
    app = open_app(small.cache, "heros", data="six", enc="bigrams~none")
    assert not app.exception
    assert "Pick or run a second variant" in written(app)
    assert not [s for s in app.selectbox if s.key == "heros_a"]
    cells = np.array(chart(app, 2)["data"][0]["z"], dtype=float)
    expected = orderings.win_rates(table(small, "six", "bigrams~none", list(SUBSETS)))
    np.testing.assert_allclose(cells, expected, atol=1e-12)


def test_one_subset_says_what_to_bring(open_app: OpenApp, small: World) -> None:
    app = open_app(small.cache, "heros", data="alone")
    assert not app.exception
    assert "One kind of rewrite alone has nothing to be nearer than." in written(app)


def test_a_variant_chosen_twice(open_app: OpenApp, small: World) -> None:
    app = open_app(small.cache, "heros", data="six", heros_a="bigrams~none", heros_b="bigrams~none")
    assert not app.exception
    assert "Choose two different variants." in written(app)
    assert len(app.get("plotly_chart")) == 3, "the matrix is there all the same"


def test_rows_that_were_lost_are_told(open_app: OpenApp, small: World, tmp_path: Path) -> None:
    shutil.copytree(small.cache, tmp_path / "cache")
    repository = Repository.at(tmp_path / "cache" / small.settings.store.name)
    with repository.database.transaction() as cursor:
        cursor.execute(f"DELETE FROM {ENTRY.table} WHERE item_no = 3 AND subset = 'typo'")
    app = open_app(tmp_path / "cache", "heros", data="six")
    assert not app.exception
    assert "the stored cosines of a run are not complete" in written(app)
