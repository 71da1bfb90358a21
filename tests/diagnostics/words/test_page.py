"""The page Words by AppTest, on toy encoders that are run on the built-in sets."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from blindspot.datasets.catalog import title_of
from blindspot.datasets.kinds.labeled_texts import TEST, TRAIN
from blindspot.datasets.published.chunked import chunked_sentences
from blindspot.datasets.published.word_relations import (
    Event,
    Group,
    Question,
    analogies,
    categories,
    events,
    outliers,
)
from blindspot.diagnostic import find_diagnostic
from blindspot.diagnostics.words.analogy import ENTRY
from blindspot.diagnostics.words.page import table as table_of_words
from blindspot.numerics.statistics.estimate import Measured
from blindspot.numerics.statistics.intervals import Interval
from blindspot.numerics.statistics.written import percent
from blindspot.runs import pipeline
from blindspot.store.records import RunRecord
from tests.support.pages import OpenApp, chart, switch_page, table, written
from tests.support.small_world import GramEncoder
from tests.support.world import World

MARKED = "<b>dogs</b> *x*"
ASKED = analogies(
    "demo-analogies",
    [
        Question("capital", "semantic", "rome", "italy", "oslo", "norway"),
        Question("plural", "syntactic", "dog", "dogs", "cat", "cats"),
        Question("plural", "syntactic", "cat", "cats", "dog", MARKED),
        Question("plural", "syntactic", "dog", "dogs", "mouse", "mice"),
    ],
    ["winter", "catsdogs"],
)
KINDS = categories(
    "demo-categories",
    [("in", "walking"), ("in", "talking"), ("in", "barking"), ("er", "walker"), ("er", "talker"), ("er", "mice")],
)
ODD = outliers(
    "demo-outliers",
    [
        Group("walk", ("walking", "walker", "walks"), ("oslo", MARKED, "talking")),
        Group("talk", ("talking", "talker", "talks"), ("winter", "mice")),
    ],
)
DONE = events(
    "demo-events",
    [
        Event("walker", "walked", "walk", "oslo"),
        Event("talker", "walked", "talk", MARKED),
        Event("talker", "talked", "winter", "talks"),
        Event("mice", "talked", "talk", "walk"),
    ],
)


CHUNKS = chunked_sentences(
    "demo-chunks",
    [
        (
            TRAIN,
            [
                [("the", "B-NP"), (name, "I-NP"), (does, "B-VP")]
                for name in ("walker", "talker", "mice", MARKED)
                for does in ("walks", "talks", "barking")
            ],
        ),
        (TEST, [[("the", "B-NP"), ("walker", "I-NP"), ("talks", "B-VP")], [("walks", "B-VP"), (MARKED, "B-NP")]]),
    ],
)


SCORES = {
    "analogy": "accuracy",
    "categorization": "purity",
    "outliers": "accuracy",
    "thematic_fit": "accuracy",
    "chunking": "f1",
}


def of_analogies(app: AppTest) -> list[str]:
    """The table's cells of the analogies, a model each."""
    return list(table(app, "score").set_index("task").loc[title_of(ASKED.id)].drop("score"))


@pytest.fixture(scope="module")
def runs(module_world: World) -> dict[str, RunRecord]:
    """Two encoders on small sets in the built-in ones' places; lacks has seen its own words only."""
    module_world.add(
        ASKED, KINDS, ODD, DONE, CHUNKS, GramEncoder(), GramEncoder("lacks", lacks=lambda text: text == "mice")
    )
    return {
        f"{diagnostic} {encoder}": module_world.run(diagnostic, encoder, dataset)
        for diagnostic, dataset in (
            ("analogy", ASKED.id),
            ("categorization", KINDS.id),
            ("outliers", ODD.id),
            ("thematic_fit", DONE.id),
            ("chunking", CHUNKS.id),
        )
        for encoder in ("lacks", "trigrams")
    }


@pytest.fixture
def cache(module_world: World, runs: dict[str, RunRecord]) -> Path:
    module_world.repository.database.close()
    return module_world.cache


def test_an_empty_store_says_what_to_run_and_shows_what_was_published(open_app: OpenApp, tmp_path: Path) -> None:
    app = open_app(tmp_path, "words")
    assert "**minilm** solves" not in written(app)
    assert [b.label for b in app.button if b.label.startswith("Run")] == ["Run"] * 6 + ["Run the demo"]
    frame = table(app, "score").set_index("task")
    assert len(frame.columns) == 7
    assert frame.loc[title_of("rg65"), "CBOW, published"] == "0.740"
    assert not {title_of("categories-esslli"), title_of("categories-battig")} & set(frame.index), "not comparable"
    assert "esslli has no published score" in written(app)
    assert len([box for box in app.expander if box.icon == ":material/function:"]) == 1, "of five diagnostics"


def test_measured_rows_stand_above_published_ones(open_app: OpenApp, cache: Path, runs: dict[str, RunRecord]) -> None:
    app = open_app(cache, "words", words_covered="own")
    assert "not comparable" in written(app)
    frame = table(app, "score").set_index("task")
    assert list(frame) == ["score", "lacks", "trigrams"]  # published ones have no score of these sets
    assert list(frame.index) == list(map(title_of, (KINDS.id, ASKED.id, ODD.id, DONE.id, CHUNKS.id)))
    for run, score in SCORES.items():
        for encoder in ("lacks", "trigrams"):
            cell = frame.loc[title_of(runs[f"{run} {encoder}"].plan.dataset), encoder]
            value = runs[f"{run} {encoder}"].metrics[score]
            assert cell.removeprefix("↑ ") == (f"{value:.3f}" if score == "f1" else percent(value, 1))
    assert table_of_words._cell(Measured(0.5123, Interval(0.48, 0.5432)), ".1%", 0.512) == "↑ 51.2% (48.0 to 54.3%)"
    traces = chart(app, 0)["data"]
    assert [t["name"] for t in traces] == ["lacks", "trigrams"]
    assert "on 5 datasets some model lacks words" in written(app)
    least = min(run.coverage["items_covered"] / run.coverage["items"] for run in runs.values())
    assert f"where {percent(least)} of the words are left" in written(app)
    few = "(5 words), demo-analogies (3 questions), demo-outliers (2 groups), demo-events (2 verbs), demo-chunks (2 "
    assert few in written(app)
    assert "answered among 12 to 13 words" in written(app)
    app = open_app(cache, "words", words_covered="own", words_published="false", model=["trigrams~none"])
    assert list(table(app, "score")) == ["task", "score", "trigrams"]
    solved = f"**{percent(runs['analogy trigrams'].metrics['accuracy'], 1)}**"
    assert solved in written(app)
    found = f"**{percent(runs['outliers trigrams'].metrics['accuracy'], 1)}**"
    app = open_app(cache, "words", words_covered="own", model=["trigrams~none"], data=ODD.id)
    assert found in written(app), "of the picked dataset"


@pytest.mark.heavy
def test_the_page_is_about_the_picked_dataset(
    open_app: OpenApp, cache: Path, module_world: World, runs: dict[str, RunRecord]
) -> None:
    def about(app: AppTest, run: str) -> bool:
        score = percent(runs[f"{run} trigrams"].metrics[SCORES[run]], 1)
        return "**trigrams** " in written(app) and f"**{score}**" in written(app)

    where = {"words_covered": "own", "model": ["trigrams~none"]}
    app = open_app(cache, "words", **where, data="demo-pairs")
    assert "(sidebar)" in written(app), "it has no results here"
    app.button(key="pick_shown").click().run()
    assert app.selectbox(key="data").value == ASKED.id
    assert "(sidebar)" not in written(app)
    for dataset, run, view in ((ODD.id, "outliers", "outliers"), (KINDS.id, "categorization", "categories")):
        app.selectbox(key="data").set_value(dataset).run()
        assert app.segmented_control(key="view").value == view
        assert app.segmented_control(key=f"{view}_of").value == dataset
        assert about(app, run)
    app.segmented_control(key="view").set_value("coverage").run()
    assert app.segmented_control(key="view").value == "coverage", "the reader's choice, until another is picked"
    app.segmented_control(key="view").set_value("analogies").run()
    copied = open_app(cache, "words", **{name: app.query_params[name] for name in app.query_params})
    assert copied.segmented_control(key="view").value == "analogies", "a copied link shows the same"
    assert about(copied, "categorization")
    app = open_app(cache, "evalrank", data=ODD.id)
    switch_page(app, "words")
    app.query_params["words_covered"] = "own"
    app.run()
    assert app.segmented_control(key="view").value == "outliers"


def test_scores_on_other_words_are_not_compared(open_app: OpenApp, cache: Path, module_world: World) -> None:
    app = open_app(cache, "words")
    assert of_analogies(app).count("–") == 1
    assert "on other words are not shown" in written(app)
    request = replace(module_world.request("analogy", "trigrams", ASKED.id), covered_by=("lacks",))
    common = pipeline.run(request, module_world.settings, module_world.repository).record
    module_world.repository.database.close()
    app = open_app(cache, "words")
    _, trigrams = of_analogies(app)
    assert trigrams.removeprefix("↑ ").split()[0] == percent(common.metrics["accuracy"], 1)
    assert "–" not in of_analogies(app)


def test_wrong_questions_are_listed_as_text(
    open_app: OpenApp, cache: Path, module_world: World, runs: dict[str, RunRecord]
) -> None:
    app = open_app(
        cache, "words", words_covered="own", analogies_by="trigrams~none", data="demo-analogies", view="analogies"
    )
    line = chart(app, 1)["data"][1]
    assert line["name"] == "trigrams"
    of_sections = [runs["analogy trigrams"].metrics[f"accuracy@{name}"] for name in ("capital", "plural")]
    assert line["x"] == pytest.approx(of_sections)
    frame = table(app, "answered")
    items = module_world.repository.items(ENTRY, [runs["analogy trigrams"].run_id], texts=True)
    wrong = items[items["greater"] + items["ties"] > 0]
    assert 0 < len(wrong) < len(items)
    assert frame["right"].tolist() == wrong["d"].tolist()
    assert frame["answered"].tolist() == wrong["predicted"].tolist()
    assert frame["rank"].tolist() == (1 + wrong["greater"] + wrong["ties"] / 2).tolist()
    assert MARKED not in written(app, raw=False)
    app = open_app(cache, "words", words_covered="own", analogies_by="trigrams~none", analogy_section="capital")
    frame = table(app, "answered")
    assert set(frame["section"]) <= {"capital"}


def test_classes_and_clusters_are_shown(open_app: OpenApp, cache: Path, runs: dict[str, RunRecord]) -> None:
    query = {"words_covered": "own", "view": "categories", "categories_by": "trigrams~none"}
    app = open_app(cache, "words", **query)
    assert f"**{runs['categorization trigrams'].metrics['purity']:.1%}** of 6 words in 2 classes" in written(app)
    app = open_app(cache, "words", **query, cluster="0")
    frame = table(app, "cluster's class")
    assert set(frame["cluster"]) == {0}


def test_outliers_by_group_and_case(
    open_app: OpenApp, cache: Path, module_world: World, runs: dict[str, RunRecord]
) -> None:
    query = {"words_covered": "own", "view": "outliers", "outliers_by": "trigrams~none"}
    app = open_app(cache, "words", **query)
    run = runs["outliers trigrams"]
    items = module_world.repository.items(find_diagnostic("outliers"), [run.run_id], texts=True)
    module_world.repository.database.close()
    assert len(table(app, "cases")) == 2
    wrong = items[items["hit"] < 1]
    assert 0 < len(wrong) < len(items)
    assert table(app, "picked")["outlier"].tolist() == wrong["outlier"].tolist()
    app.toggle("case_wrong").set_value(False).run()
    assert len(table(app, "picked")) == len(items)
    app.text_input("case_word").set_value("OSLO").run()
    assert table(app, "picked")["outlier"].tolist() == ["oslo"]
    assert MARKED not in written(app, raw=False)
    app = open_app(cache, "words", **query, case_group="talk")
    assert set(table(app, "picked")["group_name"]) <= {"talk"}


def test_events_that_a_model_gets_wrong(open_app: OpenApp, cache: Path) -> None:
    query = {"words_covered": "own", "view": "events", "events_by": "trigrams~none", "case_group": "talked"}
    app = open_app(cache, "words", **query)
    app.toggle("case_wrong").set_value(False).run()
    frame = table(app, "cosine_typical")
    assert frame["typical"].tolist() == ["winter", "talk"]
    assert frame["fillers"].tolist() == [1, 1]
    assert table(app, "McRae")["UP"].tolist()[0] == pytest.approx(24.1)
    assert MARKED not in written(app, raw=False)


def test_phrases_by_kind_and_sentence(open_app: OpenApp, cache: Path, runs: dict[str, RunRecord]) -> None:
    query = {"words_covered": "own", "view": "chunks", "chunks_by": "lacks~none"}
    app = open_app(cache, "words", **query)
    metrics = runs["chunking lacks"].metrics
    assert table(app, "precision")["phrases"][0] == metrics["phrases"] == 4
    assert {line["name"] for line in chart(app, 1)["data"]} == {"lacks", "trigrams"}
    app.toggle("chunk_wrong").set_value(False).run()
    shown = table(app, "missed")
    assert len(shown) == metrics["sentences"] == 2
    assert shown["given"].tolist()[0] == "[NP the walker ] [VP talks ]"
    app.text_input("chunk_word").set_value("WALKER").run()
    assert len(table(app, "missed")) == 1
    assert MARKED not in written(app, raw=False)
    published = table(app, "dev").set_index("model")["test"].to_dict()
    assert published["Baseline"] == pytest.approx(93.78)
    assert len(published) == 7


def test_coverage_and_relatedness(open_app: OpenApp, cache: Path) -> None:
    app = open_app(cache, "words", words_covered="own", view="coverage")
    frame = table(app, "counted")
    assert "3 of 4 questions" in frame["counted"].tolist()
    app = open_app(cache, "words", view="relatedness")
    assert "page *Similarity*" in written(app)


def test_the_page_data_shows_their_rows(open_app: OpenApp, cache: Path) -> None:
    for name, words in (
        ("demo-analogies", "**4** questions in 2 sections"),
        ("demo-categories", "**6** distinct"),
        ("demo-outliers", "**5** cases of 2 groups"),
        ("demo-events", "**4** events of 2 verbs"),
        ("demo-chunks", "**14** sentences of **41** tokens"),
    ):
        app = open_app(cache, "data", data=name)
        assert words in written(app)
