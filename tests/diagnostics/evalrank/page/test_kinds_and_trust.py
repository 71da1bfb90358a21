"""The views *kinds of pair* and *trust* of the EvalRank page, by AppTest."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.datasets import catalog, fetch
from core.datasets.catalog import SourceFile
from core.datasets.kinds.base import DatasetKind
from core.datasets.published import scored_pairs
from core.diagnostics.evalrank.definition import ENTRY
from core.diagnostics.evalrank.figures.choices import difference
from core.diagnostics.evalrank.pairs import rows_of_runs
from core.runs import pipeline
from core.store.records import RunRecord
from core.store.repository import Repository
from tests.conftest import make_settings
from tests.support.pages import OpenApp, chart, written
from tests.support.small_world import (
    CAT,
    DOG,
    DOG_IS,
    SMALL_PAIRS,
    GramEncoder,
    dataset_entry,
    register_dataset,
    register_encoder,
)

World = tuple[Path, dict[str, RunRecord]]
SOURCE = f"g\tf\t2012\t1\t5.0\t{DOG}\t{DOG_IS}\n"


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> World:
    """Two encoders on the small pairs, which were taken from a set that is not here yet."""
    settings = make_settings(tmp_path / "cache")
    for encoder in (GramEncoder(), GramEncoder("bigrams", 2)):
        register_encoder(monkeypatch, encoder)
    register_dataset(monkeypatch, SMALL_PAIRS)
    entry = replace(catalog.DATASETS["small-pairs"], sources="small-sources")
    monkeypatch.setitem(catalog.DATASETS, "small-pairs", entry)
    digest = hashlib.sha256(SOURCE.encode()).hexdigest()
    file = SourceFile("small", "sts-train.csv", "https://localhost/none", len(SOURCE.encode()), digest)
    sources = replace(
        dataset_entry(SMALL_PAIRS),
        id="small-sources",
        title="Small sources",
        kind=DatasetKind.SCORED_PAIRS,
        files=(file,),
        load=lambda name, paths: scored_pairs.scored_pairs(name, {"set": scored_pairs.sts_benchmark(paths[0])}),
    )
    monkeypatch.setitem(catalog.SOURCES, "small-sources", sources)
    repository = Repository.at(settings.store)
    runs = {}
    for encoder in ("trigrams", "bigrams"):
        request = pipeline.request("evalrank", encoder, "none", "small-pairs", {}, settings)
        runs[encoder] = pipeline.run(request, settings, repository).record
    return settings.cache, runs


def traces(app: AppTest) -> dict[str, dict]:  # type: ignore[type-arg]
    """The last chart's traces that hold values, by name."""
    drawn = chart(app, -1)["data"]
    return {trace["name"]: trace for trace in drawn if trace.get("showlegend") is False}


def choices_html(app: AppTest) -> str:
    return "\n".join(str(html.proto.body) for html in app.get("html"))


def test_kinds_show_the_means_of_stored_rows(open_app: OpenApp, world: World) -> None:
    cache, runs = world
    app = open_app(cache, "evalrank", data="small-pairs", view="kinds of pair")
    assert not app.exception
    assert set(traces(app)) == {"trigrams", "bigrams"}
    rows = rows_of_runs(ENTRY, [r.run_id for r in runs.values()], Repository.at(cache / "results.duckdb"))
    app.segmented_control(key="by").set_value("length").run()
    app.segmented_control(key="kinds_measure").set_value("hits@1").run()
    assert not app.exception
    from core.texts import length

    means = [
        (length(SMALL_PAIRS.items[q]) + length(SMALL_PAIRS.items[m])) / 2
        for q, m in zip(SMALL_PAIRS.queries, SMALL_PAIRS.mates, strict=True)
    ]
    for name, run in runs.items():
        hits = rows[run.run_id].hits_at_1(False)
        short = [h for h, mean in zip(hits, means, strict=True) if mean <= 5]
        assert traces(app)[name]["customdata"][0][0] == "up to 5"
        assert _first(traces(app)[name]["y"]) == pytest.approx(sum(short) / len(short))
    app.segmented_control(key="by").set_value("frequency").run()
    assert not app.exception
    assert "wordfreq" in written(app)


def _first(values: object) -> float:
    """The first of a trace's values, which plotly may have packed."""
    if isinstance(values, dict):
        import base64

        import numpy as np

        return float(np.frombuffer(base64.b64decode(values["bdata"]), dtype=values["dtype"])[0])
    return float(values[0])  # type: ignore[index]


def test_sources_are_offered_and_then_shown(open_app: OpenApp, world: World) -> None:
    cache, _ = world
    app = open_app(cache, "evalrank", data="small-pairs", view="kinds of pair", by="source")
    assert not app.exception
    assert "needs Small sources" in written(app)
    assert not app.button(key="fetch_kinds").disabled
    path = fetch.local_path(catalog.SOURCES["small-sources"].files[0], make_settings(cache))
    path.parent.mkdir(parents=True)
    path.write_text(SOURCE)
    app.run()
    assert not app.exception
    labels = [row[0] for row in traces(app)["trigrams"]["customdata"]]
    assert labels == ["set", "in none of them"]
    assert traces(app)["trigrams"]["mode"] == "markers"


def test_a_dataset_without_known_sources_says_so(open_app: OpenApp, demo_cache: Path) -> None:
    app = open_app(demo_cache, "evalrank", view="kinds of pair", by="source")
    assert not app.exception
    assert "not known where the pairs of this dataset come from" in written(app)


def test_trust_shows_what_each_choice_does(open_app: OpenApp, world: World) -> None:
    cache, runs = world
    app = open_app(cache, "evalrank", data="small-pairs", view="trust")
    assert not app.exception
    best = max(runs.values(), key=lambda run: run.metrics["mrr"])
    assert app.selectbox(key="trust_of").value == best.plan.variant
    other = next(run for run in runs.values() if run is not best)
    app.selectbox(key="trust_of").set_value(other.plan.variant).run()
    assert not app.exception
    html = choices_html(app)
    m = other.metrics
    for name in ("mrr", "mrr_optimistic", "mrr_pessimistic", "mrr_filtered", "hits@1_filtered"):
        assert f">{m[name]:.4f}<" in html
    assert f">{difference(m['mrr_filtered'] - m['mrr'])}<" in html
    assert "without near-duplicates" in html
    assert "Not computed yet: the same by the protocol toolkit" in written(app)
    assert not app.button(key="trust_protocol").disabled


def test_trust_lays_the_toolkit_beside_where_it_was_run(open_app: OpenApp, world: World) -> None:
    cache, runs = world
    settings = make_settings(cache)
    request = pipeline.request("evalrank", "trigrams", "none", "small-pairs", {"protocol": "toolkit"}, settings)
    toolkit = pipeline.run(request, settings, Repository.at(settings.store)).record
    app = open_app(cache, "evalrank", data="small-pairs", view="trust", enc="trigrams~none")
    assert not app.exception
    assert f">{toolkit.metrics['mrr']:.4f}<" in choices_html(app)
    assert "It also centres the embeddings, always." in choices_html(app)
    assert f"as the published toolkit Hits@1 **{toolkit.metrics['hits@1']:.4f}**" in written(app)
    assert f"by definition Hits@1 **{runs['trigrams'].metrics['hits@1']:.4f}**" in written(app)


def test_a_training_set_on_the_server_is_counted(open_app: OpenApp, world: World, tmp_path: Path) -> None:
    cache, runs = world
    app = open_app(cache, "evalrank", data="small-pairs", view="trust")
    app.segmented_control(key="training_2").set_value("a file on the server").run()
    path = tmp_path / "train.txt"
    path.write_text(f"{DOG_IS.upper()}\t{DOG}\n{CAT}\n")
    app.text_input(key="training_path").set_value(str(path)).run()
    assert not app.exception
    assert "**2 of 9 pairs** (22.2%)" in written(app)
    assert "5 (55.6%) with at least one text" in written(app)
    table = next(d.value for d in app.dataframe if "MRR rest" in d.value)
    rows = rows_of_runs(ENTRY, [r.run_id for r in runs.values()], Repository.at(cache / "results.duckdb"))
    for name, run in runs.items():
        reciprocal = rows[run.run_id].reciprocal_ranks(False)
        rest = [r for i, r in enumerate(reciprocal) if i not in (0, 2)]
        row = table[table["variant"] == name].iloc[0]
        assert row["MRR rest"] == pytest.approx(sum(rest) / len(rest))
        assert row["Δ MRR rest"] == pytest.approx(sum(rest) / len(rest) - run.metrics["mrr"])
    app.text_input(key="training_path").set_value(str(tmp_path / "none.csv")).run()
    assert not app.exception
    assert "there is no file" in written(app)


def test_pairs_that_are_all_in_training_leave_no_score_and_are_remembered_at_it(
    open_app: OpenApp, world: World, tmp_path: Path
) -> None:
    cache, runs = world
    path = tmp_path / "all of it.jsonl"
    items = SMALL_PAIRS.items
    pairs = zip(SMALL_PAIRS.queries, SMALL_PAIRS.mates, strict=True)
    rows = [json.dumps({"query": items[query], "mate": items[mate]}) for query, mate in pairs]
    path.write_text("\n".join(rows), "utf-8")
    app = open_app(cache, "evalrank", data="small-pairs", view="trust")
    assert path.name not in written(app)
    app.segmented_control(key="training_2").set_value("a file on the server").run()
    app.text_input(key="training_path").set_value(str(path)).run()
    assert not app.exception
    assert not any("MRR rest" in frame.value for frame in app.dataframe), "a table of nothing"
    assert [path.name in warning.value for warning in app.warning] == [True]
    again = open_app(cache, "evalrank", data="small-pairs")
    assert [path.name in warning.value for warning in again.warning] == [True], "in a new session, at the score"
    app.button(key="training_forget").click().run()
    assert not app.exception
    assert not app.warning
    assert not open_app(cache, "evalrank", data="small-pairs").warning
    assert runs


def test_a_shared_demo_reads_no_files_of_strangers(
    open_app: OpenApp, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BLINDSPOT_MODE", "demo")
    app = open_app(world[0], "evalrank", data="small-pairs", view="trust")
    assert not app.exception
    assert "A demo that strangers share takes no uploads" in written(app)
    assert not [w for w in app.text_input if w.key == "training_path"]
