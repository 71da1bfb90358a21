"""The results of human judgment on screen: every state that votes can be in."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from blindspot.datasets.published import pairs as loaders
from blindspot.settings import Settings
from blindspot.studies.judgments.store import Judgments
from blindspot.studies.judgments.types import Ballot, Item, ItemSet, Query, Task, Vote
from blindspot.variants import Variant
from tests.support.judgment_samples import A, comparative_set, intruder_set, votes
from tests.support.pages import TIMEOUT_SECONDS, OpenApp, table, written
from tests.support.small_world import GramEncoder
from tests.support.world import World


def results_of(set_id: str, session: str = "") -> None:
    """The script that is tested; it must hold all that it needs."""
    from blindspot.studies.judgments.page import results as judgment_results
    from blindspot.studies.judgments.page.judged_set import Judged, judgments

    items = judgments().find_set(set_id)
    assert items is not None
    judgment_results.show(Judged(items.task, items, judgments().session(session) if session else None))


@pytest.fixture
def store(environment: Settings) -> Judgments:
    return Judgments.at(environment.store)


def cast(store: Judgments, items: ItemSet, found: list[Vote]) -> None:
    store.add_set(items)
    for vote in found:
        store.vote(Ballot(items.set_id, vote.session, vote.rater), vote.item_no, vote.option, vote.seconds)


def opened(items: ItemSet, session: str = "", **query: str) -> AppTest:
    app = AppTest.from_function(results_of, kwargs={"set_id": items.set_id, "session": session})
    app.default_timeout = TIMEOUT_SECONDS
    for name, value in query.items():
        app.query_params[name] = value
    app.run()
    return app


def everybody(items: ItemSet, names: tuple[str, ...] = ("ann", "bob", "cem"), session: str = "") -> list[Vote]:
    """Votes for the first variant's own where there is one, and for option 0 elsewhere."""
    return votes([(name, i.item_no, max(i.own[0], 0)) for name in names for i in items.items], session)


@pytest.mark.parametrize("items", [intruder_set(6), comparative_set(4)], ids=lambda i: i.task)
def test_people_votes_are_shown_with_tests_agreement_and_what_was_missed(store: Judgments, items: ItemSet) -> None:
    cast(store, items, [*everybody(items), *votes([("dee", 0, None)])])
    app = opened(items, judged_by="band")
    said = written(app)
    assert "**minilm** with" in said
    assert "3 raters" in said
    assert '1 × "I don\'t know these words", left out' in said
    assert "100.0% of the time" in said, "all raters agree"
    assert f"only {len({i.query.text for i in items.items})} queries have votes" in said
    assert len(app.get("plotly_chart")) == 2, "overall, and by band"
    tests = app.dataframe[1].value
    assert len(tests) == (1 if items.task is Task.INTRUDER else 3)
    assert "3 votes: " in said
    assert "How is this computed?" in [e.label for e in app.expander]


@pytest.mark.heavy
@pytest.mark.parametrize("raters", [4, 5])
def test_the_page_says_whom_it_speaks_of(store: Judgments, raters: int) -> None:
    items = intruder_set(12)
    cast(store, items, everybody(items, tuple("abcdefg"[:raters])))
    app = opened(items)
    said = written(app)
    assert f"these {raters} raters only" in said, "all of them found every intruder"
    assert ("Tests generalize" in said) == (raters >= 5)
    tests = app.dataframe[1].value
    assert tests["p"].notna().all()
    assert len(tests) == 1
    assert re.search(r"\w+ significant difference \(p after Holm", said), "one pair is not counted"
    assert (tests["from"] < tests["A − B"]).all()


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        ([], "No votes yet"),
        ([("ann", 0, None), ("bob", 1, None)], 'All 2 answers so far are "I don\'t know these words"'),
    ],
)
def test_no_vote_counts(store: Judgments, cells: list[tuple[str, int, int | None]], told: str) -> None:
    items = intruder_set(3)
    cast(store, items, votes(cells))
    app = opened(items)
    assert told in written(app)
    assert app.get("plotly_chart") == []


def test_one_rater_and_one_variant(store: Judgments) -> None:
    items = intruder_set(4)
    alone = replace(
        items,
        variants=(A,),
        items=tuple(replace(i, item_no=n, own=i.own[:1]) for n, i in enumerate(items.items[:1] + items.items[1::2])),
    )
    cast(store, alone, votes([("ann", no, max(i.own[0], 0)) for no, i in enumerate(alone.items)]))
    app = opened(alone)
    said = written(app)
    assert "**minilm**: precision 100.0%. Guessing gives 25.0%." in said
    assert "only 4 queries have votes" in said
    assert not any("p, Holm" in frame.value for frame in app.dataframe), "nothing to compare it with"


@pytest.mark.heavy
def test_what_is_not_known_of_queries_is_a_group_of_its_own(store: Judgments) -> None:
    items = comparative_set(4)
    about = {i.query: replace(i.query, part_of_speech="") for i in items.items if i.query.part_of_speech == "verb"}
    items = replace(items, items=tuple(replace(i, query=about.get(i.query, i.query)) for i in items.items))
    cast(store, items, everybody(items))
    app = opened(items, judged_by="part-of-speech")
    assert app.dataframe[-1].value["group"].unique().tolist() == ["adjective", "adverb", "noun", "unknown"]
    assert "k" in app.get("button_group")[0].options
    alike = replace(intruder_set(3), items=tuple(replace(i, band="rare") for i in intruder_set(3).items))
    cast(store, alike, everybody(alike))
    app = opened(alike, judged_by="band")
    assert "k" not in app.get("button_group")[0].options
    assert app.dataframe[-1].value["group"].unique().tolist() == ["rare"], "a single group"


@pytest.mark.heavy
def test_votes_of_a_session_or_of_all(store: Judgments) -> None:
    items = intruder_set(4)
    cast(store, items, [*everybody(items, ("ann",), "one"), *everybody(items, ("bob", "cem"))])
    store.add_session("one", {Task.INTRUDER: items.set_id}, "key")
    app = opened(items)
    assert "2 raters" in written(app), "the session's results are hidden still"
    assert "not revealed yet" in written(app)
    assert "judged_votes" not in [s.key for s in app.selectbox]
    store.reveal("one", revealed=True)
    app = opened(items)
    assert "3 raters" in written(app)
    picker = app.selectbox(key="judged_votes")
    assert picker.options == ["all", "outside of sessions", "session one"]
    assert "2 raters" in written(picker.set_value("outside of sessions").run())
    assert "1 rater " in written(app.selectbox(key="judged_votes").set_value("session one").run())
    within = opened(items, session="one")
    assert "1 rater " in written(within)
    assert "judged_votes" not in [s.key for s in within.selectbox], "who is in a session sees that session's votes"


def test_a_vote_that_comes_in_is_counted_at_the_next_look(store: Judgments) -> None:
    items = intruder_set(4)
    cast(store, items, votes([("ann", 0, 0)]))
    app = opened(items)
    assert "1 vote ·" in written(app)
    store.vote(Ballot(items.set_id, "", "bob"), 1, 0)
    assert "2 votes ·" in written(app.run())
    store.undo(Ballot(items.set_id, "", "bob"))
    store.vote(Ballot(items.set_id, "", "bob"), 0, None)
    assert "1 vote ·" in written(app.run()), "as many answers as before, and other ones"


def test_the_texts_of_users_are_shown_as_text(store: Judgments) -> None:
    hostile = "<b>x</b> **y** $z$"
    item = Item(0, Query(hostile), "", 1, (hostile, "b"), (0, 1))
    items = replace(comparative_set(1), variants=(A, Variant("lsa", "none")), items=(item,))
    cast(store, items, votes([("ann", 0, 0)]))
    app = opened(items)
    assert f"1 vote: {hostile} (neighbor of minilm)" in [t.value for t in app.text]
    labels = [e.label for e in app.expander]
    assert any(r"\<b\>x\</b\> \*\*y\*\* \$z\$" in label for label in labels)
    assert all(hostile not in label for label in labels)


def test_pages_of_what_was_missed(store: Judgments) -> None:
    items = intruder_set(24)
    cast(store, items, everybody(items, ("ann",)))
    app = opened(items)

    def shown() -> int:
        return sum(" of 1 vote" in expander.label for expander in app.expander)

    assert shown() == 10
    app.session_state["missed_page"] = 3
    app.run()
    assert shown() == 4
    assert list(app.selectbox(key="missed_of").options) == ["minilm", "minilm-static"], "by their names"
    app.selectbox(key="missed_of").set_value("minilm-static~none").run()
    assert app.session_state["missed_page"] == 1
    assert shown() == 10


def test_an_item_that_is_open_stays_open_when_its_votes_change(store: Judgments) -> None:
    items = intruder_set(4)
    cast(store, items, everybody(items, ("ann",)))
    app = opened(items)
    app.session_state["_missed_open"] = {items.items[1]}
    store.vote(Ballot(items.set_id, "", "bob"), 1, (items.items[1].own[0] + 1) % 4)
    app.run()
    query = items.items[1].query.text
    open_labels = [e.label for e in app.expander if e.proto.expanded]
    assert [label.partition(":")[0] for label in open_labels] == [query]


# --- the automatic rater


@pytest.fixture
def encoded(world: World, store: Judgments) -> ItemSet:
    """Items over a dataset that trigrams have encoded and bigrams have not."""
    items = comparative_set(3)
    texts = sorted({t for i in items.items for t in (i.query.text, *i.options)})
    judged = loaders.pair_set("judged", pairs=[(t, t) for t in texts], background=[])
    world.add(judged, GramEncoder(), GramEncoder("bigrams", size=2)).encode("trigrams", judged.id)
    variants = (Variant("trigrams", "none"), *items.variants[1:])
    items = replace(items, variants=variants, manifest={**items.manifest, "dataset": judged.id})
    store.add_set(items)
    return items


def test_the_automatic_rater_answers_before_people_do(encoded: ItemSet) -> None:
    app = opened(encoded, judge_reference="trigrams~none")
    said = written(app)
    assert "all 9 questions" in said
    assert "trigrams is itself judged here" in said
    assert len(app.get("plotly_chart")) == 1


def test_what_it_needs_is_offered(store: Judgments, encoded: ItemSet) -> None:
    cast(store, encoded, everybody(encoded))
    app = opened(encoded, judge_reference="bigrams~none")
    assert "is not encoded by bigrams yet" in written(app)
    assert app.button(key="encode_reference").label == "Encode it"
    other = opened(encoded, judge_reference="trigrams~none")
    assert "automatic" in other.dataframe[0].value.columns


def test_a_dataset_that_is_gone_is_said(store: Judgments) -> None:
    items = replace(comparative_set(2), manifest={"dataset": "was-here-once"})
    cast(store, items, everybody(items))
    said = written(opened(items, judge_reference="minilm~none"))
    assert "The automatic rater cannot answer: unknown dataset 'was-here-once'" in said


# --- raters in doubt


@pytest.fixture
def stuffed(store: Judgments) -> ItemSet:
    """Ann read; Zora gave ten answers in no time."""
    items = intruder_set(6)
    store.add_set(items)
    for item in items.items[:10]:
        store.vote(Ballot(items.set_id, "", "ann"), item.item_no, max(item.own[0], 0), 6.0)
        store.vote(Ballot(items.set_id, "", "zora"), item.item_no, 1, 0.3)
    return items


def test_a_rater_who_cannot_have_read_is_flagged_and_can_be_left_out(store: Judgments, stuffed: ItemSet) -> None:
    app = opened(stuffed)
    assert "1 rater is in doubt" in written(app)
    assert "2 raters" in written(app), "nobody is left out by that alone"
    (table,) = [frame.value for frame in app.dataframe if "seconds per question" in frame.value]
    assert table[["rater", "answers", "seconds per question"]].to_numpy().tolist() == [["zora", 10, 0.3]]
    app.toggle(key="judged_careful").set_value(True).run()
    assert "1 rater ·" in written(app)
    app.toggle(key="judged_careful").set_value(False).run()
    app.multiselect(key="judged_leave_out").set_value(["ann"]).run()
    assert "1 rater ·" in written(app)
    assert {vote.rater for vote in store.votes(stuffed.set_id)} == {"ann", "zora"}, "what is stored stays"


def test_strangers_are_told_no_nickname(stuffed: ItemSet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BLINDSPOT_MODE", "demo")
    app = opened(stuffed)
    assert "1 rater is in doubt" in written(app)
    assert "zora" not in written(app)
    assert not app.multiselect
    assert not any("seconds per question" in frame.value for frame in app.dataframe)
    app.toggle(key="judged_careful").set_value(True).run()
    assert "1 rater ·" in written(app)


def test_nobody_is_in_doubt_who_reads(store: Judgments) -> None:
    items = intruder_set(6)
    cast(store, items, [replace(vote, seconds=6.0) for vote in everybody(items, ("ann",))])
    app = opened(items)
    assert "in doubt" not in written(app)
    assert not [toggle for toggle in app.toggle if toggle.key != "judged_training"]


@pytest.mark.heavy
def test_outlier_detection_of_the_judged_models_is_beside_peoples_precision(
    open_app: OpenApp, world: World, store: Judgments
) -> None:
    world.add(GramEncoder(), GramEncoder("bigrams", size=2))
    items = replace(intruder_set(6), variants=(Variant("trigrams", "none"), Variant("bigrams", "none")))
    cast(store, items, everybody(items))
    before = open_app(world.cache, "intruder", view="results")
    assert not [frame for frame in before.dataframe if "people" in frame.value]
    run = world.run("outliers", "trigrams", "demo-outliers")
    world.repository.database.close()
    shown = table(open_app(world.cache, "intruder", view="results"), "model", "people", "demo-outliers")
    assert shown["model"].tolist() == ["trigrams", "bigrams"]
    assert shown["people"].tolist() == pytest.approx([100, 100 / 6]), "the second model's only where both agree"
    assert shown["demo-outliers"][0] == pytest.approx(100 * run.metrics["accuracy"])
    assert np.isnan(shown["demo-outliers"][1]), "not run, not zero"
