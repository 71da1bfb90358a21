"""The pages of human judgment: answering, sessions, and what the address names."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path

import duckdb
import pytest
from streamlit.testing.v1 import AppTest

from blindspot import policy
from blindspot.store.repository import Repository
from blindspot.studies.judgments.page import answer
from blindspot.studies.judgments.raters import item_order, option_order
from blindspot.studies.judgments.store import Judgments
from blindspot.studies.judgments.types import Ballot, Query, Task
from blindspot.ui.markdown import as_text
from blindspot.ui.pickers import Picks
from blindspot.variants import Variant
from tests.support.judgment_samples import MADE_AT, comparative_set, intruder_set
from tests.support.pages import OpenApp, switch_page, written
from tests.support.store_samples import pair_set, store_run

INTRUDER, COMPARATIVE = intruder_set(queries=2), comparative_set(queries=1)
KEY = "the-facilitators-key"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """AppTest answers at once; the test of the settling time sets it back."""
    monkeypatch.setattr(answer, "SETTLE_SECONDS", 0.0)


@pytest.fixture
def store(store: Judgments) -> Judgments:
    store.add_set(INTRUDER)
    store.add_set(COMPARATIVE)
    return store


@pytest.fixture
def visit(open_app: OpenApp, tmp_path: Path) -> OpenApp:
    """Open a page on the store."""
    return partial(open_app, tmp_path)


@pytest.fixture
def answering(visit: OpenApp, store: Judgments) -> OpenApp:
    """A page with a rater who has given a nickname."""

    def opened(page: str = "intruder", rater: str = "Ada", **query: str) -> AppTest:
        return enter(visit(page, **query), rater)

    return opened


def enter(app: AppTest, rater: str) -> AppTest:
    app.text_input(key="nickname").set_value(rater)
    next(button for button in app.button if button.label == "Start").click()
    return app.run()


def press(app: AppTest, name: str) -> AppTest:
    """Click a button of the item on screen: "choice_1", "unknown", "undo", "pause"."""
    button = next(b for b in app.button if b.key and b.key.startswith(f"{name}_"))
    button.click()
    return app.run()


def cards(app: AppTest) -> list[str]:
    return [button.label for button in app.button if button.key and button.key.startswith("choice_")]


def ballot(rater: str = "Ada", session: str = "", set_id: str = INTRUDER.set_id) -> Ballot:
    return Ballot(set_id, session, rater)


def progress(app: AppTest) -> str:
    return str(app.get("progress")[0].proto.text)


def test_a_rater_goes_through_all_items_by_their_own_orders(answering: OpenApp, store: Judgments) -> None:
    app = answering()
    order = item_order(INTRUDER, ballot())
    for done, number in enumerate(order):
        item = INTRUDER.items[number]
        assert progress(app) == f"{done} of {len(order)} answered"
        options = option_order(item, ballot())
        assert cards(app) == [item.options[option] for option in options]
        press(app, "choice_3" if done else "unknown")
        vote = store.votes(INTRUDER.set_id)[-1]
        assert (vote.item_no, vote.option, vote.rater) == (number, options[2] if done else None, "Ada")
        assert vote.seconds is not None
        assert 0 <= vote.seconds < 60
    assert "Thank you, Ada" in written(app)
    press(app, "undo")
    last = INTRUDER.items[order[-1]]
    assert cards(app) == [last.options[option] for option in option_order(last, ballot())]
    assert len(store.votes(INTRUDER.set_id)) == len(order) - 1


def test_the_comparative_page_shows_the_query_and_the_distinct_candidates(answering: OpenApp, store: Judgments) -> None:
    app = answering("compare_votes")
    mine = ballot(set_id=COMPARATIVE.set_id)
    for number in item_order(COMPARATIVE, mine):
        item = COMPARATIVE.items[number]
        assert [heading.value for heading in app.subheader] == [item.query.text]
        assert sorted(cards(app)) == list(item.options)
        press(app, "choice_2")
        vote = store.votes(COMPARATIVE.set_id)[-1]
        assert (vote.item_no, vote.option) == (number, option_order(item, mine)[1])


@pytest.mark.heavy
def test_pausing_and_coming_back(answering: OpenApp, store: Judgments, visit: OpenApp) -> None:
    app = press(press(answering(), "choice_1"), "pause")
    assert "Paused" in written(app)
    assert not cards(app)
    app.button(key="judge_resume").click().run()
    assert progress(app) == "1 of 3 answered"
    again = enter(visit("intruder"), "ada")  # after a reload; capitals do not count
    assert "Welcome back, ada: 1 of 3 answered. If that was not you" in written(again)
    assert progress(again) == "1 of 3 answered"
    press(again, "undo")
    assert progress(again) == "1 of 3 answered", "whoever types the name could undo what another answered"
    again.button(key="judge_other").click().run()
    assert again.text_input(key="nickname")
    enter(again, "Bea")
    assert progress(again) == "0 of 3 answered"


@pytest.mark.parametrize(("typed", "told"), [("", "no nickname"), ("a\u202eb", "cannot be seen")])
def test_a_nickname_that_cannot_be_is_refused_in_words(answering: OpenApp, typed: str, told: str) -> None:
    app = answering(rater=typed)
    assert told in written(app)
    assert not cards(app)
    enter(app, "Ada")
    assert not app.error
    assert cards(app)


def test_markup_is_shown_as_text(visit: OpenApp, path: Path) -> None:
    store = Judgments.at(path)
    odd = "<b>b</b> **s** :smile: [x](http://y)"
    first = replace(COMPARATIVE.items[0], query=Query(odd), options=(odd, "plain"), own=(0, 0, 1))
    store.add_set(replace(COMPARATIVE, items=(first,)))
    app = enter(visit("compare_votes"), odd)
    assert as_text(odd) in written(app)
    assert as_text(odd) in cards(app)
    assert odd not in written(app) + "".join(cards(app))
    press(app, "choice_1")
    assert store.votes(store.sets()[0].set_id)[0].rater == odd
    assert odd not in written(app)


def test_two_tabs_each_show_the_next_item_not_answered(answering: OpenApp, store: Judgments) -> None:
    app = answering()
    first, second, third = item_order(INTRUDER, ballot())
    store.vote(ballot(), first, 1)  # in another tab, while this one shows the first item
    press(app, "choice_2")
    assert "in another tab" in written(app)
    store.vote(ballot(), third, None)
    assert [(v.item_no, v.option) for v in store.votes(INTRUDER.set_id)] == [(first, 1), (third, None)]
    press(app, "choice_2")
    assert "Thank you" in written(app)
    assert {v.item_no for v in store.votes(INTRUDER.set_id)} == {first, second, third}


@pytest.mark.matrix
def test_an_answer_right_after_the_item_came_up_is_not_taken(
    answering: OpenApp, store: Judgments, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = answering()
    monkeypatch.setattr(answer, "SETTLE_SECONDS", 3600.0)
    press(app, "choice_1")
    assert "too soon" in written(app)
    assert store.votes(INTRUDER.set_id) == []
    monkeypatch.setattr(answer, "SETTLE_SECONDS", 0.0)
    press(app, "choice_1")
    assert len(store.votes(INTRUDER.set_id)) == 1


def test_a_set_that_was_removed_meanwhile(answering: OpenApp, store: Judgments) -> None:
    app = answering()
    before = cards(app)
    store.remove_set(INTRUDER.set_id)
    # a fragment's run in the browser keeps the card and says so; a run of the whole page says that the set is gone
    press(app, "choice_1")
    assert "not here" in written(app)
    assert before
    assert store.votes(INTRUDER.set_id) == []


def test_a_store_that_cannot_be_written(answering: OpenApp, store: Judgments, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that is full, as DuckDB says it."""
    app = answering()
    shown = cards(app)
    true = Judgments.vote

    def full(self: Judgments, *args: object) -> None:
        with self.database.cursor():
            raise duckdb.IOException("IO Error: No space left on device")

    monkeypatch.setattr(Judgments, "vote", full)
    press(app, "choice_1")
    assert "free some space" in app.error[0].value
    assert cards(app) == shown
    monkeypatch.setattr(Judgments, "vote", true)
    press(app, "choice_1")
    assert not app.error
    assert len(store.votes(INTRUDER.set_id)) == 1


def test_the_answer_view_names_no_variant(visit: OpenApp, store: Judgments) -> None:
    store.add_set(replace(INTRUDER, title="Words of minilm-static", created_at=MADE_AT + timedelta(days=1)))
    app = enter(visit("intruder"), "Ada")
    names = [str(v) for v in INTRUDER.variants] + [v.encoder for v in INTRUDER.variants] + ["Words of"]
    shown = str(app) + str(dict(app.query_params)) + written(app)
    assert "near" in shown
    for name in names:
        assert name not in shown


def test_the_pickers_do_not_stand_here_and_keep_their_picks(visit: OpenApp, path: Path) -> None:
    store_run(Repository.at(path), "run", pair_set(), transform="center")
    app = visit("overview", model="minilm~center", metric="l2")
    for page in ("intruder", "compare_votes"):
        switch_page(app, page)
        app.run()
        assert not app.sidebar.selectbox
        assert not app.sidebar.multiselect
        assert "model" not in app.query_params
    switch_page(app, "overview")
    app.run()
    assert app.sidebar.multiselect(key="model").value == ["minilm~center"]
    center = Variant("minilm", "center")
    assert app.session_state["_picks"] == Picks("demo-pairs", "l2", "definition", (center,), baseline=center)


def test_a_cold_start_has_the_default_picks_afterwards(visit: OpenApp) -> None:
    app = visit("intruder")
    app.switch_page("pages/evalrank.py").run()
    assert app.sidebar.selectbox(key="data").value == "demo-pairs"
    assert app.sidebar.multiselect(key="model").value == []


# --- the address


@pytest.mark.heavy
def test_a_link_to_a_set(answering: OpenApp, store: Judgments) -> None:
    newer = replace(intruder_set(queries=1), created_at=MADE_AT + timedelta(days=1))
    store.add_set(newer)
    assert progress(answering()) == "0 of 1 answered", "the newest"
    app = answering(set=INTRUDER.set_id)
    assert progress(app) == "0 of 3 answered"
    app.selectbox(key="judge_set_blind").set_value(newer.set_id).run()
    assert app.query_params["set"] == newer.set_id
    assert progress(app) == "0 of 1 answered"


def test_a_link_to_an_unknown_set_says_so_and_offers_others(visit: OpenApp, store: Judgments) -> None:
    app = visit("intruder", set="gone<b>")
    assert as_text("'gone<b>'") in written(app)
    app.selectbox(key="judge_set_blind").set_value(INTRUDER.set_id).run()
    assert app.text_input(key="nickname")
    assert not app.warning
    other = visit("intruder", set=COMPARATIVE.set_id)
    assert any(f"set={COMPARATIVE.set_id}" in link.proto.query_string for link in other.get("page_link"))


def test_an_unknown_session_says_so_and_offers_others(visit: OpenApp, store: Judgments) -> None:
    store.add_session("team", {Task.INTRUDER: INTRUDER.set_id}, KEY)
    app = visit("intruder", session="gone")
    assert "'gone'" in app.warning[0].value
    links = [link.proto.query_string for link in app.get("page_link")]
    assert [link for link in links if "session=" in link] == ["part=intruder&session=team"]
    app.button(key="judge_leave").click().run()
    assert app.text_input(key="nickname")
    assert "session" not in app.query_params


# --- sessions


def test_a_session_from_opening_to_the_results(visit: OpenApp, store: Judgments) -> None:
    app = visit("intruder", view="sessions")
    for typed, told in (("a b", "cannot be a session's name"), ("team", "is open"), ("team", "already")):
        app.text_input(key="session_name").set_value(typed)
        app.selectbox(key="session_other").set_value(COMPARATIVE.set_id)
        app.button(key="session_open").click()
        app.run()
        assert told in written(app)
        if typed == "team" and "is open" in told:
            raters_link, own_link = (code.value for code in app.code)
    assert raters_link == "/people?part=intruder&session=team"
    key = own_link.partition("facilitator=")[2].partition("&")[0]
    assert store.is_facilitator("team", key)
    session = store.session("team")
    assert session is not None
    assert session.sets == {Task.INTRUDER: INTRUDER.set_id, Task.COMPARATIVE: COMPARATIVE.set_id}

    rater = enter(visit("intruder", session="team"), "Ada")
    press(press(rater, "choice_1"), "unknown")
    assert [(v.session, v.rater) for v in store.votes(INTRUDER.set_id)] == [("team", "Ada")] * 2
    rater.segmented_control(key="view").set_value("results").run()
    assert "hidden until the facilitator reveals them" in written(rater)
    assert "to come" not in written(rater)

    chief = visit("intruder", session="team", facilitator=key, view="sessions")
    raters, answers = (frame.value for frame in chief.dataframe)
    assert raters[["rater", "answered", "of", "don't know"]].to_numpy().tolist() == [["Ada", 2, 3, 1]]
    assert answers["chosen"].tolist()[0] == "don't know"
    assert chief.code[0].value == "/people?part=intruder&session=team", "the raters' link has no key"
    chief.button(key="session_reveal").click().run()
    assert store.session("team").revealed  # type: ignore[union-attr]
    rater.run()
    assert "hidden" not in written(rater)
    chief.button(key="session_reveal").click().run()
    assert not store.session("team").revealed  # type: ignore[union-attr]


def test_a_wrong_key_sees_what_raters_see(visit: OpenApp, store: Judgments) -> None:
    store.add_session("team", {Task.INTRUDER: INTRUDER.set_id}, KEY)
    app = visit("intruder", session="team", facilitator="wrong", view="sessions")
    assert "you see what raters see" in written(app)
    assert list(app.segmented_control(key="view").options) == ["answer", "results"]
    assert not app.dataframe


def test_the_navigation_does_not_lead_out_of_a_session(visit: OpenApp, store: Judgments) -> None:
    store.add_session("team", {Task.INTRUDER: INTRUDER.set_id, Task.COMPARATIVE: COMPARATIVE.set_id}, KEY)
    app = enter(visit("intruder", session="team"), "Ada")
    app.query_params.clear()
    switch_page(app, "compare_votes")
    app.run()
    assert app.query_params["session"] == "team"
    press(app, "choice_1")
    assert [v.session for v in store.votes(COMPARATIVE.set_id)] == ["team"]
    app.button(key="judge_leave").click().run()
    assert "session" not in app.query_params
    press(app, "choice_1")
    assert {v.session for v in store.votes(COMPARATIVE.set_id)} == {"team", ""}


# --- a demo's bounds


@pytest.mark.heavy
def test_a_visitor_of_a_demo_answers_under_a_few_nicknames(
    answering: OpenApp, store: Judgments, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BLINDSPOT_MODE", "demo")
    app = answering(rater="rater 0")
    most = policy.DEMO.raters_by_one or 0
    for number in range(1, most + 1):
        press(press(app, "choice_1"), "pause")
        app.button(key="judge_other").click().run()
        enter(app, f"rater {number}")
    assert f"at most {most}" in written(app)
    enter(app, "Rater 0")
    assert "Welcome back" in written(app), "those that were given already go on"
    assert len({vote.rater for vote in store.votes(INTRUDER.set_id)}) == most


@pytest.mark.heavy
def test_a_visitor_of_a_demo_opens_a_few_sessions(
    visit: OpenApp, store: Judgments, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BLINDSPOT_MODE", "demo")
    app = visit("intruder", view="sessions")
    most = policy.DEMO.sessions_by_one or 0
    for number in range(most + 1):
        app.text_input(key="session_name").set_value(f"team{number}")
        app.button(key="session_open").click()
        app.run()
    assert f"at most {most}" in written(app)
    assert len(store.sessions()) == most
