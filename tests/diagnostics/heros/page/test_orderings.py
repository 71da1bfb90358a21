"""The view *orderings* of the HEROS page and the headline above the profile, on small runs."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from blindspot.diagnostics.heros import orderings
from blindspot.diagnostics.heros.definition import ENTRY, SUBSETS
from blindspot.diagnostics.heros.figures.profile import label
from blindspot.diagnostics.heros.orderings import Cosines
from blindspot.store.repository import Repository
from tests.support.heros_world import HerosWorld, heros_world
from tests.support.pages import OpenApp, chart, written


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HerosWorld]:
    with heros_world(tmp_path_factory.mktemp("orderings")) as built:
        built.compute("six", "unigrams~none", "bigrams~none", "trigrams~none")
        built.compute("nameless", "bigrams~none", "trigrams~none")
        built.compute("alone", "bigrams~none")
        yield built


def of_six(small: HerosWorld, variant: str) -> Cosines:
    run = small.runs["six", variant]
    rows = small.repository.items(ENTRY, [run.run_id], texts=False)
    return Cosines.of_rows(rows, small.repository.same_texts(run.plan.dataset_digest), list(SUBSETS))


def cells(app: AppTest) -> np.ndarray:
    """The matrix of all subsets."""
    return np.array(chart(app, 2)["data"][0]["z"], dtype=float)


def shown_order(app: AppTest) -> list[str]:
    """The variants in the order of the page, the largest lead first."""
    return [f"{name}~none" for name in chart(app, 0)["data"][0]["y"]]


def test_the_headline_is_above_the_profile(open_app: OpenApp, small: HerosWorld) -> None:
    app = open_app(small.cache, "heros", data="six")
    variants = shown_order(app)
    assert len(variants) == 3
    tables = [of_six(small, name) for name in variants]
    names = [f"**{name.removesuffix('~none')}**" for name in variants]
    worst, *others = (orderings.worst(cosines) for cosines in tables)
    difference = orderings.contrast(tables)
    assert worst is not None
    assert difference is not None
    contrast = orderings.contrast_in_words(difference, names, label)
    texts = [str(element.value) for element in app.markdown]
    place = next(i for i, text in enumerate(texts) if text.startswith("**Similarity of a sentence"))
    assert any(text.endswith(orderings.finding_in_words(worst, names[0], label)) for text in texts[:place])
    assert contrast in texts[place:], "one sentence above the figure"
    assert "6 of 15 pairs" in written(app)
    for name, other in zip(names[1:], others, strict=True):
        assert other is not None
        assert f"{name}: {orderings.share_in_words(other, label)}" in written(app)


@pytest.mark.heavy
def test_a_link_names_a_and_b_and_the_matrix(open_app: OpenApp, small: HerosWorld) -> None:
    a, b = "trigrams~none", "unigrams~none"
    app = open_app(small.cache, "heros", data="six", a=a, b=b, heros_matrix="A minus B")
    assert [app.selectbox(key=k).value for k in ("a", "b")] == [a, b]
    one, other = (orderings.win_rates(of_six(small, name)) for name in (a, b))
    np.testing.assert_allclose(cells(app), one - other, atol=1e-12)
    for which, expected in (("A", one), ("B", other)):
        app.segmented_control(key="heros_matrix").set_value(which).run()
        np.testing.assert_allclose(cells(app), expected, atol=1e-12)


def test_names_that_tell_no_meaning_have_no_headline(open_app: OpenApp, small: HerosWorld) -> None:
    app = open_app(small.cache, "heros", data="nameless")
    assert "No headline" in written(app)
    assert "95% CI" not in "".join(m.value for m in app.markdown[:3])
    heat = chart(app, 2)
    assert heat["layout"]["yaxis"]["ticktext"][0] == "&lt;b&gt;of* my own"


def test_one_variant_has_its_matrix_alone(open_app: OpenApp, small: HerosWorld) -> None:
    app = open_app(small.cache, "heros", data="six", model="bigrams~none")
    assert not [s for s in app.dataframe if "only A" in s.value]
    assert not [s for s in app.selectbox if s.key == "a"]
    np.testing.assert_allclose(cells(app), orderings.win_rates(of_six(small, "bigrams~none")), atol=1e-12)


def test_one_subset_says_what_to_bring(open_app: OpenApp, small: HerosWorld) -> None:
    app = open_app(small.cache, "heros", data="alone")
    assert "only one kind of rewrite" in written(app)


def test_lost_rows_are_reported(open_app: OpenApp, small: HerosWorld, tmp_path: Path) -> None:
    shutil.copytree(small.cache, tmp_path / "cache")
    repository = Repository.at(tmp_path / "cache" / small.settings.store.name)
    with repository.database.transaction() as cursor:
        cursor.execute(f"DELETE FROM {ENTRY.table} WHERE item_no = 3 AND subset = 'typo'")
    app = open_app(tmp_path / "cache", "heros", data="six")
    assert "the stored cosines of a run are not complete" in written(app)
