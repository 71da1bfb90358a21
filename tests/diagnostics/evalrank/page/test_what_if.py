"""The EvalRank page's view "what if", and its published scores: AppTest on the demo's real runs."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from blindspot.diagnostic import find_diagnostic
from blindspot.diagnostics.evalrank import published as reference
from blindspot.diagnostics.evalrank import what_if
from blindspot.diagnostics.evalrank.page import what_if as page
from blindspot.diagnostics.evalrank.page.published import ALL
from blindspot.diagnostics.evalrank.what_if import Change
from blindspot.numerics.ranking.problem import RankCounts
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from tests.support.pages import OpenApp, chart_named, table, written
from tests.support.world import World

ENTRY = find_diagnostic("evalrank")
WHAT_IF = {"view": "what if", "if_variant": "minilm~none"}


@pytest.fixture(autouse=True)
def forget_vectors() -> Iterator[None]:
    yield
    what_if._transformed.cache_clear()


def demo_run(demo_cache: Path, transform: str) -> RunRecord:
    runs = Repository.at(demo_cache / "results.duckdb").runs(dataset="demo-pairs")
    (run,) = (r for r in runs if str(r.plan.variant) == f"minilm~{transform}" and r.plan.params["metric"] == "cos")
    return run


@pytest.mark.parametrize(
    ("ranks", "suffix"), [("raw", ""), pytest.param("filtered", "_filtered", marks=pytest.mark.matrix)]
)
def test_on_the_demo_the_scores_are_those_of_the_stored_runs(
    open_app: OpenApp, demo_cache: Path, ranks: str, suffix: str
) -> None:
    app = open_app(demo_cache, "evalrank", **WHAT_IF, ranks=ranks)
    assert app.selectbox(key="if_variant").value == "minilm~none"
    rows = table(app, "95% CI").set_index("score")
    before, after = demo_run(demo_cache, "none").metrics, demo_run(demo_cache, "center").metrics
    for name, title in what_if.SHOWN.items():
        assert rows.loc[title, "before"] == before[f"{name}{suffix}"]
        assert rows.loc[title, "after"] == after[f"{name}{suffix}"]
        assert rows.loc[title, "change"] == after[f"{name}{suffix}"] - before[f"{name}{suffix}"]
    assert "On all 400 pairs" in written(app)
    stored = f"MRR {before[f'mrr{suffix}']:.3f} → {after[f'mrr{suffix}']:.3f}"
    assert stored in written(app), "the run that this would be is in the store"
    assert all(button.key != "if_run" for button in app.button)


def test_a_score_without_an_interval_has_its_reason() -> None:
    """One pair's match goes from place 1 to 2, all others stay: one thing says nothing of how much it varies."""
    n = 60
    texts = np.arange(2 * n, dtype=np.int64)
    known = Dependence.of(texts[:n], texts[n:])
    before, after = (RankCounts(np.ones(n), np.array([g, *[0] * (n - 1)]), np.zeros(n, np.int64)) for g in (0, 1))
    text = page._independent(Change(known, before, after))
    missing = {what_if.SHOWN[c.name]: c.difference.refusal for c in Change(known, before, after).changes()}
    assert missing["MRR"]
    for title, reason in missing.items():
        assert (title in text) is bool(reason), title
        assert reason in text


@pytest.mark.heavy
def test_a_slider_moves_the_chain_and_the_button_queues_the_run(open_app: OpenApp, demo_cache: Path) -> None:
    app = open_app(demo_cache, "evalrank", **WHAT_IF, if_transform="truncate:128+normalize", if_metric="l2")
    (slider,) = app.slider
    assert (slider.label, slider.value, slider.max) == ("D of truncate", 128, 384)
    before = table(app, "95% CI")["after"].tolist()
    slider.set_value(64).run()
    # What AppTest makes of it; it cannot go on from a value that was not offered.
    assert app.selectbox(key="if_transform").value == "truncate:64+normalize"
    assert app.query_params["if_transform"] == "truncate:64+normalize"
    assert app.slider[0].value == 64
    assert table(app, "95% CI")["after"].tolist() != before
    assert not app.button(key="if_run").disabled


@pytest.mark.heavy
def test_the_pairs_that_change_most_and_one_of_them_looked_into(open_app: OpenApp, demo_cache: Path) -> None:
    app = open_app(demo_cache, "evalrank", **WHAT_IF, if_transform="whiten:128")
    rows = table(app, "match")
    factors = [max(b / a, a / b) for b, a in zip(rows["before"], rows["after"], strict=True)]
    assert factors == sorted(factors, reverse=True)
    assert factors[-1] > 1
    first = rows.iloc[0]
    before = Repository.at(demo_cache / "results.duckdb").items(
        ENTRY, [demo_run(demo_cache, "none").run_id], texts=True
    )
    stored = before.set_index("item_no").loc[first["pair"]]
    assert stored["rank"] == first["before"]
    assert (stored["query"], stored["match"]) == (first["query"], first["match"])

    app.number_input(key="item").set_value(int(first["pair"])).run()
    tables = [element.proto.body for element in app.get("html") if "<table" in element.proto.body]
    assert len(tables) == 2
    assert all(body.count("●") == 1 for body in tables)
    assert [body.count("▲") > 0 for body in tables] == [first["before"] > 1, first["after"] > 1]
    points = sum(len(trace["customdata"]["bdata"]) > 0 for trace in chart_named(app, "if_scatter")["data"])
    assert points == len(chart_named(app, "if_scatter")["data"])
    app.number_input(key="item").set_value(99_999).run()
    assert "There is no pair 99999 among the 400" in written(app)


def test_what_is_stored_is_not_computed(open_app: OpenApp, demo_cache: Path) -> None:
    app = open_app(demo_cache, "evalrank", **WHAT_IF, if_transform="none")
    assert "This is the current setting." in written(app)
    assert all("95% CI" not in frame.value for frame in app.dataframe)


@pytest.mark.parametrize(
    ("chain", "sentence"),
    [("centre", "This link names what is not here: 'centre'"), ("truncate:999", "truncate:999")],
)
def test_a_chain_that_does_not_fit_is_said(open_app: OpenApp, demo_cache: Path, chain: str, sentence: str) -> None:
    app = open_app(demo_cache, "evalrank", **WHAT_IF, if_transform=chain)
    assert any(sentence in one.value for one in [*app.error, *app.warning])


def test_deleted_embeddings_offer_to_encode_again(open_app: OpenApp, demo_copy: Path) -> None:
    shutil.rmtree(demo_copy / "embeddings")
    app = open_app(demo_copy, "evalrank", **WHAT_IF)
    assert not app.button(key="if_again").disabled


# --- under the toolkit protocol


@pytest.fixture
def published(small: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """Small runs under both protocols, on a dataset that published scores are of."""
    monkeypatch.setitem(reference.KINDS, "small-pairs", "sentence")
    for protocol in ("definition", "toolkit"):
        for transform in ("center", "whiten:2"):
            small.run("evalrank", f"trigrams~{transform}", "small-pairs", protocol=protocol)
    return small


@pytest.mark.heavy
def test_published_scores_stand_beside_the_toolkit_protocol_only(open_app: OpenApp, published: World) -> None:
    app = open_app(published.cache, "evalrank", data="small-pairs", protocol="toolkit", view="what if", post="true")
    rows = table(app, "published in")
    assert len(rows) == 7
    assert rows.set_index("model").loc["SimCSE", "MRR"] == 0.6950
    names = chart_named(app, "published_dots")["layout"]["yaxis"]["ticktext"]
    assert {"SimCSE · published", "trigrams + center", "trigrams + whiten:2"} <= set(names)
    assert "needs the protocol *definition*" in written(app)

    app.segmented_control(key="published").set_value("whitening").run()
    assert table(app, "published in")["model"].tolist() == ["BERT-whitening"]
    names = chart_named(app, "published_dots")["layout"]["yaxis"]["ticktext"]
    assert set(names) == {"BERT-whitening · published", "trigrams + whiten:2"}

    app = open_app(published.cache, "evalrank", data="small-pairs")
    assert "published" not in written(app).casefold().replace("published with the evalrank toolkit", "").replace(
        "published toolkit", ""
    )
    assert all("published in" not in frame.value for frame in app.dataframe)


@pytest.mark.heavy
def test_the_page_says_where_nothing_was_published_with_a_similarity(
    open_app: OpenApp, published: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    published.run("evalrank", "trigrams", "small-pairs", protocol="toolkit", metric="l2")
    app = open_app(published.cache, "evalrank", data="small-pairs", protocol="toolkit", metric="l2")
    assert "None of these was published with the similarity l2" in written(app)
    assert len(table(app, "published in")) == 7
    monkeypatch.setitem(reference.KINDS, "small-pairs", "word")
    app = open_app(published.cache, "evalrank", data="small-pairs", protocol="toolkit", metric="l2")
    assert len(table(app, "published in")) == 20
    names = chart_named(app, "published_dots")["layout"]["yaxis"]["ticktext"]
    assert {"toy_emb · published", "toy_emb + abtt · published"} <= set(names)


def test_a_filter_is_among_the_published_kinds() -> None:
    kinds = {row.post_processing for row in reference.evalrank_scores()}
    assert ALL not in kinds
