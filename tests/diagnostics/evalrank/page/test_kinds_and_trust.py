"""The views *kinds of pair* and *trust* of the EvalRank page, by AppTest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from blindspot.datasets import fetch
from blindspot.datasets.catalog import DATASETS, SOURCES, SourceFile
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.published import scored_pairs
from blindspot.datasets.published.pairs import pair_set
from blindspot.diagnostics.evalrank.definition import ENTRY
from blindspot.diagnostics.evalrank.pairs import rows_of_runs
from blindspot.store.records import RunRecord
from blindspot.texts import length
from tests.support.pages import OpenApp, chart, table, values, written
from tests.support.small_world import CAT, DOG, DOG_IS, SMALL_PAIRS, GramEncoder, dataset_entry
from tests.support.world import World

SOURCE = f"g\tf\t2012\t1\t5.0\t{DOG}\t{DOG_IS}\n"


@pytest.fixture
def runs(small: World, monkeypatch: pytest.MonkeyPatch) -> dict[str, RunRecord]:
    """Runs of two encoders on the small pairs, which were taken from a set that is not here yet."""
    small.add(GramEncoder("bigrams", 2))
    entry = replace(DATASETS["small-pairs"], sources="small-sources")
    monkeypatch.setitem(DATASETS, "small-pairs", entry)
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
    monkeypatch.setitem(SOURCES, "small-sources", sources)
    return {encoder: small.run("evalrank", encoder, "small-pairs") for encoder in ("trigrams", "bigrams")}


@pytest.fixture
def opened(open_app: OpenApp, small: World, runs: dict[str, RunRecord]) -> Callable[..., AppTest]:
    """The page on the small pairs."""

    def opened(**query: str) -> AppTest:
        return open_app(small.cache, "evalrank", data="small-pairs", **query)

    return opened


def traces(app: AppTest) -> dict[str, dict]:  # type: ignore[type-arg]
    """The last chart's traces that hold values, by name."""
    drawn = chart(app, -1)["data"]
    return {trace["name"]: trace for trace in drawn if trace.get("showlegend") is False}


def choices_html(app: AppTest) -> str:
    return "\n".join(str(html.proto.body) for html in app.get("html"))


@pytest.mark.heavy
def test_kinds_show_the_means_of_stored_rows(
    opened: Callable[..., AppTest], small: World, runs: dict[str, RunRecord]
) -> None:
    app = opened(view="kinds of pair")
    assert set(traces(app)) == {"trigrams", "bigrams"}
    app.segmented_control(key="by").set_value("length").run()
    app.segmented_control(key="kinds_measure").set_value("hits@1").run()
    means = [
        (length(SMALL_PAIRS.items[q]) + length(SMALL_PAIRS.items[m])) / 2
        for q, m in zip(SMALL_PAIRS.queries, SMALL_PAIRS.matches, strict=True)
    ]
    for name, run in runs.items():
        hits = rows_of_runs(ENTRY, [run.run_id], small.repository)[run.run_id].hits_at_1(False)
        short = [h for h, mean in zip(hits, means, strict=True) if mean <= 5]
        assert traces(app)[name]["customdata"][0][0] == "up to 5"
        assert values(traces(app)[name]["y"])[0] == pytest.approx(sum(short) / len(short))
    app.segmented_control(key="by").set_value("frequency").run()
    assert "wordfreq" in written(app)


def test_words_are_grouped_by_frequency_at_first_since_two_have_none_in_common(open_app: OpenApp, world: World) -> None:
    words = [f"{a}{b}" for a in ("cat", "dog", "hen", "cow") for b in ("", "s", "let")]
    world.add(pair_set("words", [*zip(words[:6], words[6:], strict=True)], words), GramEncoder())
    world.run("evalrank", "trigrams", "words")
    app = open_app(world.cache, "evalrank", view="kinds of pair", data="words")
    assert app.segmented_control(key="by").options[0] == "frequency"


@pytest.mark.heavy
def test_sources_are_offered_and_then_shown(opened: Callable[..., AppTest], small: World) -> None:
    app = opened(view="kinds of pair", by="source")
    assert "not on this machine" in written(app)
    assert not app.button(key="fetch_kinds").disabled
    path = fetch.local_path(SOURCES["small-sources"].files[0], small.settings)
    path.parent.mkdir(parents=True)
    path.write_text(SOURCE)
    app.run()
    labels = [row[0] for row in traces(app)["trigrams"]["customdata"]]
    assert labels == ["set", "none of them"]
    assert traces(app)["trigrams"]["mode"] == "markers"


@pytest.mark.heavy
def test_a_dataset_without_known_sources_says_so(open_app: OpenApp, demo_cache: Path) -> None:
    app = open_app(demo_cache, "evalrank", view="kinds of pair", by="source")
    assert "sources of these pairs are not known" in written(app)


@pytest.mark.heavy
def test_trust_shows_what_each_choice_does(opened: Callable[..., AppTest], runs: dict[str, RunRecord]) -> None:
    app = opened(view="trust")
    best = max(runs.values(), key=lambda run: run.metrics["mrr"])
    assert app.selectbox(key="trust_of").value == best.plan.variant
    other = next(run for run in runs.values() if run is not best)
    app.selectbox(key="trust_of").set_value(other.plan.variant).run()
    html = choices_html(app)
    assert f">{other.metrics['mrr_filtered']:.3f}<" in html
    assert "without near-duplicates" in html
    assert not app.button(key="trust_protocol").disabled


@pytest.mark.matrix
def test_trust_compares_with_the_toolkit_where_it_was_run(
    opened: Callable[..., AppTest], small: World, runs: dict[str, RunRecord]
) -> None:
    toolkit = small.run("evalrank", "trigrams", "small-pairs", protocol="toolkit")
    app = opened(view="trust", model="trigrams~none")
    assert f">{toolkit.metrics['mrr']:.3f}<" in choices_html(app)
    assert "It also always centers the embeddings." in choices_html(app)
    assert f"by the published toolkit Hits@1 **{toolkit.metrics['hits@1']:.4f}**" in written(app)
    assert f"by definition Hits@1 **{runs['trigrams'].metrics['hits@1']:.4f}**" in written(app)


def name_training_set(app: AppTest, path: Path) -> None:
    app.segmented_control(key="training_2").set_value("a file on the server").run()
    app.text_input(key="training_path").set_value(str(path)).run()


@pytest.mark.heavy
def test_a_training_set_on_the_server_is_counted(
    opened: Callable[..., AppTest], runs: dict[str, RunRecord], tmp_path: Path
) -> None:
    app, path = opened(view="trust"), tmp_path / "train.txt"
    path.write_text(f"{DOG_IS.upper()}\t{DOG}\n{CAT}\n")
    name_training_set(app, path)
    assert "**2 of 9 pairs** (22.2%)" in written(app)
    assert "5 (55.6%) with at least one text" in written(app)
    rows = table(app, "MRR rest").set_index("model")
    assert list(rows.index) == [
        run.plan.variant.encoder for run in sorted(runs.values(), key=lambda r: -r.metrics["mrr"])
    ]
    assert rows.loc["trigrams", "Δ MRR rest"] == rows.loc["trigrams", "MRR rest"] - rows.loc["trigrams", "MRR all"]
    app.text_input(key="training_path").set_value(str(tmp_path / "none.csv")).run()
    assert "there is no file" in written(app)


@pytest.mark.heavy
def test_pairs_that_are_all_in_training_leave_no_score_and_are_remembered_at_it(
    opened: Callable[..., AppTest], tmp_path: Path
) -> None:
    path = tmp_path / "all of it.jsonl"
    pairs = zip(SMALL_PAIRS.queries, SMALL_PAIRS.matches, strict=True)
    items = SMALL_PAIRS.items
    path.write_text("\n".join(json.dumps({"query": items[q], "match": items[m]}) for q, m in pairs), "utf-8")
    app = opened(view="trust")
    assert path.name not in written(app)
    name_training_set(app, path)
    assert not any("MRR rest" in frame.value for frame in app.dataframe), "a table of nothing"
    assert [path.name in warning.value for warning in app.warning] == [True]
    assert [path.name in warning.value for warning in opened().warning] == [True], "in a new session, at the score"
    app.button(key="training_forget").click().run()
    assert not app.warning
    assert not opened().warning


def test_a_shared_demo_reads_no_files_of_strangers(
    opened: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BLINDSPOT_MODE", "demo")
    app = opened(view="trust")
    assert "Uploads are off" in written(app)
    assert not [w for w in app.text_input if w.key == "training_path"]
