"""The view *sentences* of the HEROS page, against loops over stored rows."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from blindspot.diagnostics.heros import retrieval
from blindspot.diagnostics.heros.definition import ENTRY
from blindspot.numerics.ranking.problem import TAU
from blindspot.settings import Settings
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.ui.widgets.browse_table import ROWS_PER_PAGE
from tests.conftest import make_settings
from tests.support.heros_world import run_small
from tests.support.pages import OpenApp, charts, table, values, written

PAGE = ROWS_PER_PAGE
MARKUP = "A <b>bold</b> *dog* costs $5 [here](x)."
NAMES = ["Ann", "Bo", "Cy", "Di", "Ed", "Flo", "Gus", "Hal", "Ida", "Jo", "Kit"]
ORIGINALS = [*(f"{name} has a large cat in town {i}." for i, name in enumerate(NAMES)), MARKUP]
REWRITES = {
    "synonym": [o.replace("large", "huge") for o in ORIGINALS],  # the last one is unchanged
    "antonym": [o.replace("large", "larger") for o in ORIGINALS],
    "mine & *co*": [o.replace("town", "Rome" if i % 3 else "TOWN") for i, o in enumerate(ORIGINALS)],
}
SUBSETS = list(REWRITES)
A, B = "trigrams~none", "unigrams~none"


@dataclass(frozen=True)
class World:
    settings: Settings
    runs: dict[str, RunRecord]
    rows: pd.DataFrame

    def value(self, variant: str, number: int, subset: str, name: str = "similarity") -> float:
        rows = self.rows
        run_id = self.runs[variant].run_id
        mask = (rows["run_id"] == run_id) & (rows["item_no"] == number) & (rows["subset"] == subset)
        (value,) = rows.loc[mask, name]
        return value

    def above(self, variant: str, number: int, nearer: str, farther: str) -> bool:
        return self.value(variant, number, nearer, "cosine") - self.value(variant, number, farther, "cosine") > TAU


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with pytest.MonkeyPatch.context() as patch:
        settings, encoders = make_settings(tmp_path_factory.mktemp("sentences") / "cache"), ("trigrams", "unigrams")
        runs = run_small(patch, settings, "mine", ORIGINALS, REWRITES, *encoders)
        run_small(patch, settings, "other", ["a cat", "a dog"], {"of other": ["the cat", "the dog"]}, *encoders)
        rows = Repository.at(settings.store).items(ENTRY, [run.run_id for run in runs.values()], texts=True)
        yield World(settings, {str(run.plan.variant): run for run in runs.values()}, rows)


def view(open_app: OpenApp, cache: Path, **query: str | list[str]) -> AppTest:
    app = open_app(cache, "heros", **({"data": "mine", "view": "sentences", "a": A} | query))
    assert not app.error
    return app


def html(app: AppTest, part: str) -> str:
    """The HTML element that contains ``part``."""
    return next(element.proto.body for element in app.get("html") if part in element.proto.body)


def test_one_variant_shows_every_rewrite_of_every_original(open_app: OpenApp, world: World) -> None:
    app = view(open_app, world.settings.cache)
    frame = table(app, "original")
    assert frame["no"].tolist() == list(range(PAGE))
    assert frame["original"].tolist() == ORIGINALS[:PAGE]
    for subset in SUBSETS:
        assert frame[f"A: {subset}"].tolist() == [world.value(A, n, subset) for n in range(PAGE)]
    assert f"All **{len(ORIGINALS)}** sentences." in written(app)
    assert app.pills(key="sent_preset").options == ["antonym above synonym"]
    assert app.number_input(key="sent_apart").disabled


@pytest.mark.parametrize(
    ("where", "keeps"),
    [
        ("in B", lambda a, b: b),
        ("in A, not in B", lambda a, b: a and not b),
    ],
)
def test_an_order_is_asked_of_either_variant(
    open_app: OpenApp, world: World, where: str, keeps: Callable[[bool, bool], bool]
) -> None:
    pair = ("mine & *co*", "synonym")
    app = view(open_app, world.settings.cache, b=B, sent_above=" above ".join(pair), sent_where=where)
    expected = [n for n in range(len(ORIGINALS)) if keeps(world.above(A, n, *pair), world.above(B, n, *pair))]
    assert app.selectbox(key="sent_where").value == where
    if not expected:
        assert "No sentences match" in written(app)
        return
    assert table(app, "original")["no"].tolist() == expected[:PAGE]
    share = f"**{len(expected)} of {len(ORIGINALS)} sentences ({len(expected) / len(ORIGINALS):.1%})**: "
    variant = "unigrams" if where.startswith("in B") else "trigrams"
    assert f"{share}mine & \\*co\\* above synonym in {variant}" in written(app)


def test_a_preset_sets_the_filter_and_is_marked_only_while_it_holds(open_app: OpenApp, world: World) -> None:
    app = view(open_app, world.settings.cache)
    app.pills(key="sent_preset").set_value("antonym above synonym").run()
    assert app.multiselect(key="sent_above").value == ["antonym above synonym"]
    expected = [n for n in range(len(ORIGINALS)) if world.above(A, n, "antonym", "synonym")]
    leads = {n: world.value(A, n, "antonym") - world.value(A, n, "synonym") for n in expected}
    assert table(app, "original")["no"].tolist() == sorted(expected, key=lambda n: -leads[n])[:PAGE]
    assert app.pills(key="sent_preset").value == "antonym above synonym"
    app.segmented_control(key="sent_direction").set_value("low to high").run()
    assert app.pills(key="sent_preset").value is None
    app.button(key="sent_clear").click().run()
    assert app.multiselect(key="sent_above").value == []
    assert app.selectbox(key="sent_order").value == "no"
    assert f"All **{len(ORIGINALS)}** sentences." in written(app)


def test_the_largest_disagreement_comes_first(open_app: OpenApp, world: World) -> None:
    app = view(open_app, world.settings.cache, b=B)
    app.pills(key="sent_preset").set_value("largest disagreement").run()
    sizes = {n: max(abs(world.value(A, n, s) - world.value(B, n, s)) for s in SUBSETS) for n in range(len(ORIGINALS))}
    frame = table(app, "original")
    assert frame["largest difference"].tolist() == sorted(sizes.values(), reverse=True)[:PAGE]
    assert all(sizes[row["no"]] == row["largest difference"] for row in frame.to_dict("records"))
    app.selectbox(key="sent_subset").set_value("antonym").run()
    for row in table(app, "original").to_dict("records"):
        one, other = (world.value(v, row["no"], "antonym") for v in (A, B))
        assert (row["A: antonym"], row["B: antonym"], row["A − B: antonym"]) == (one, other, one - other)
    sizes = {n: abs(world.value(A, n, "antonym") - world.value(B, n, "antonym")) for n in range(len(ORIGINALS))}
    assert [sizes[n] for n in table(app, "original")["no"]] == sorted(sizes.values(), reverse=True)[:PAGE]


def test_search_and_bounds_narrow_what_is_listed(open_app: OpenApp, world: World) -> None:
    app = view(open_app, world.settings.cache)
    app.text_input(key="sent_search").set_value("ROME").run()
    in_rome = [n for n in range(len(NAMES)) if n % 3]
    assert table(app, "original")["no"].tolist() == in_rome[:PAGE]
    bound = sorted(world.value(A, n, "antonym") for n in in_rome)[2]
    app.selectbox(key="sent_subset").set_value("antonym").run()
    app.number_input(key="sent_high").set_value(round(bound + 1e-4, 4)).run()
    assert table(app, "original")["no"].tolist() == [n for n in in_rome if world.value(A, n, "antonym") <= bound + 1e-4]
    app.text_input(key="sent_search").set_value("no such words").run()
    assert "No sentences match" in written(app)


def test_a_link_restores_the_view(open_app: OpenApp, world: World) -> None:
    app = view(
        open_app,
        world.settings.cache,
        b=B,
        sent_above=["synonym above mine & *co*"],
        sent_where="in B, not in A",
        sent_order="B: synonym",
        sent_direction="high to low",
        item="4",
        sent_rewrite="antonym",
    )
    assert app.selectbox(key="a").value == A
    assert app.selectbox(key="b").value == B
    assert app.selectbox(key="sent_order").value == "B: synonym"
    assert app.number_input(key="item").value == 4
    assert app.selectbox(key="sent_rewrite").value == "antonym"
    assert "**Sentence 4**" in written(app)
    assert ORIGINALS[4] in [t.value for t in app.text]
    assert "This link names" not in written(app)


def test_a_link_to_what_is_not_here_says_so(open_app: OpenApp, world: World) -> None:
    app = view(open_app, world.settings.cache, b="gone~none", sent_above="typo above synonym", item="99")
    said = written(app)
    assert all(name in said for name in ("'gone'", "'typo above synonym'"))
    assert any("99" in line and f"0 to {len(ORIGINALS) - 1}" in line for line in said.splitlines())


def test_a_rewrite_s_changes_are_marked_and_its_markup_is_text(open_app: OpenApp, world: World) -> None:
    app = view(open_app, world.settings.cache, b=B, item=str(len(ORIGINALS) - 1))
    rewrites = html(app, "Rewrites of original")
    assert "&lt;b&gt;bold&lt;/b&gt; *dog* costs $5 [here](x)." in rewrites
    assert "mine &amp; *co*" in rewrites
    assert "<b>bold" not in rewrites
    assert rewrites.count("(unchanged)") == 3
    app.number_input(key="item").set_value(1).run()
    rewrites = html(app, "Rewrites of original")
    assert rewrites.count("<ins") == rewrites.count("<del") == 3
    for word in ("huge", "larger", "Rome"):
        assert f">{word}</ins>" in rewrites
    for subset in SUBSETS:
        assert f"{world.value(B, 1, subset):.3f}" in rewrites


def test_dots_and_ranks_are_those_of_the_store_and_the_embeddings(open_app: OpenApp, world: World) -> None:
    app = view(open_app, world.settings.cache, item="1", sent_rewrite="antonym")
    figure = charts(app)[-1]
    assert [trace["name"] for trace in figure["data"]] == ["trigrams", "unigrams"]
    by_a = sorted(SUBSETS, key=lambda s: -world.value(A, 1, s))
    for trace, variant in zip(figure["data"], (A, B), strict=True):
        assert values(trace["x"]) == [world.value(variant, 1, s) for s in by_a]
    ranks = table(app, "rewrite")
    row = world.rows[(world.rows["item_no"] == 1) & (world.rows["run_id"] == world.runs[A].run_id)]
    for place, run in enumerate(world.runs.values()):
        original, repository = int(row["original_no"].iloc[0]), Repository.at(world.settings.store)
        cosines = retrieval.cosines_to_all(run, original, world.settings, repository)
        expected = [
            retrieval.rank_of(cosines, int(r["original_no"]), int(r["rewrite_no"])).rank
            for r in row.set_index("subset").loc[SUBSETS].to_dict("records")
        ]
        assert ranks[str(place)].tolist() == expected
    ranking = html(app, "Ranking by trigrams")
    assert "(antonym of 1)" in ranking
    assert "●" in ranking


def test_embeddings_that_are_gone_leave_the_rest(open_app: OpenApp, world: World, tmp_path: Path) -> None:
    cache = shutil.copytree(world.settings.cache, tmp_path / "copy")
    shutil.rmtree(cache / "embeddings")
    app = view(open_app, cache, item="0")
    assert app.button(key="encode_again").label == "Encode again"
    assert charts(app)[-1]["data"]
    assert not [d for d in app.dataframe if "rewrite" in d.value]


def test_another_dataset_forgets_the_original_and_the_filter(open_app: OpenApp, world: World) -> None:
    app = view(open_app, world.settings.cache, item="1", sent_above="antonym above synonym")
    app.sidebar.selectbox(key="data").set_value("other").run()
    assert app.number_input(key="item").value is None
    assert table(app, "original")["original"].tolist() == ["a cat", "a dog"]
    assert "All **2** sentences." in written(app)
    assert "This link names" not in written(app)
