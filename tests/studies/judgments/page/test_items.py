"""Making items on the page by AppTest: an empty store, own lists, what is wrong, a set's facts and its removal."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from blindspot.studies.judgments.page import form as judgment_form
from blindspot.studies.judgments.page.texts import ABOUT
from blindspot.studies.judgments.store import Judgments
from blindspot.studies.judgments.types import Ballot, Task
from blindspot.ui import resources
from tests.support.judgment_samples import comparative_set, intruder_set
from tests.support.making_world import NEITHER, WORDS, register
from tests.support.pages import OpenApp, written
from tests.support.small_world import wait_until


@pytest.fixture(autouse=True)
def world(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small defaults."""
    register(monkeypatch)
    monkeypatch.setattr(judgment_form, "DEFAULT_DATASET", "words-300")
    monkeypatch.setattr(judgment_form, "DEFAULT_VARIANTS", ("trigrams", "bigrams"))


def make(app: AppTest, task: Task) -> tuple[AppTest, str]:
    """Press the button: the page once the job has ended, and what was said by then, at once or after a while."""
    at_once = written(app.button(key=f"make_{task}_start").click().run())
    wait_until(lambda: not resources.jobs().active())
    return app, f"{at_once}\n{written(app.run())}"


def test_an_empty_store_offers_items_that_one_press_makes(open_app: OpenApp, store: Judgments, tmp_path: Path) -> None:
    """The words of ours that are among the 300."""
    app = open_app(tmp_path, "intruder")
    assert ABOUT[Task.INTRUDER] in written(app)
    assert app.button(key="make_intruder_start")
    assert not (tmp_path / "results.duckdb").exists(), "looking must not create a store"
    app, _ = make(app, Task.INTRUDER)
    (made,) = store.sets(Task.INTRUDER)
    said = written(open_app(tmp_path, "intruder", view="items"))  # also for who opens the page later
    assert [str(v) for v in made.variants] == ["trigrams~none", "bigrams~none"]
    assert made.items > 0
    assert f"{made.items} items of" in said
    assert "Not in the vocabulary: soft, " in said, "unknown words are named"


@pytest.mark.heavy
def test_a_list_of_ones_own(open_app: OpenApp, store: Judgments, tmp_path: Path) -> None:
    app = open_app(tmp_path, "compare_votes")
    app.selectbox(key="make_comparative_inventory_words").set_value("own").run()
    assert app.button(key="make_comparative_start").disabled, "the list is empty"
    words = ["<b>*x*</b>", *WORDS[10:40], *NEITHER, WORDS[10]]
    app.text_area(key="make_comparative_own").set_value("\n".join(words)).run()
    assert "33 queries of a list of my own. 1 more were repetitions" in written(app)
    app.multiselect(key="make_comparative_ranks").set_value([2, 5]).run()
    app, _ = make(app, Task.COMPARATIVE)
    (made,) = store.sets(Task.COMPARATIVE)
    items = store.find_set(made.set_id)
    assert items is not None
    assert {item.k for item in items.items} == {2, 5}
    said = written(open_app(tmp_path, "compare_votes", view="items"))
    assert r"\<b\>" in said, "text of the user's stands there as text"


def test_what_is_wrong_stands_beside_the_button(open_app: OpenApp, tmp_path: Path) -> None:
    app = open_app(tmp_path, "compare_votes")
    app.multiselect(key="make_comparative_variants").set_value(["trigrams"]).run()
    assert "1 variant chosen; expected at least 2" in written(app)
    assert app.button(key="make_comparative_start").disabled
    app.multiselect(key="make_comparative_variants").set_value(["trigrams", "trigrams~center"]).run()
    assert not app.button(key="make_comparative_start").disabled
    app.selectbox(key="make_comparative_inventory_words").set_value("own").run()
    app.text_area(key="make_comparative_own").set_value("x" * 501).run()
    assert "has 501 characters; expected at most 500" in written(app)
    app.text_area(key="make_comparative_own").set_value("zebra").run()
    app, said = make(app, Task.COMPARATIVE)
    assert "none of the 1 queries of 'a list of my own' is an item of words-300: zebra" in said.replace("\\", "")


def test_sentences_are_offered_first_for_datasets_of_sentences(open_app: OpenApp, tmp_path: Path) -> None:
    app = open_app(tmp_path, "intruder")
    app.selectbox(key="make_intruder_dataset").set_value("demo-pairs").run()
    assert app.selectbox(key="make_intruder_inventory_sentences").value == "sentences"
    assert "make_intruder_rule" not in [box.key for box in app.selectbox], "counts are of words"
    assert not app.button(key="make_intruder_start").disabled


def test_a_set_is_removed_with_its_votes_after_asking(open_app: OpenApp, store: Judgments, tmp_path: Path) -> None:
    kept, gone = comparative_set(), intruder_set(title="<i>Six</i> *words*")
    store.add_set(kept)
    store.add_set(gone)
    for rater in ("Ada", "Bob"):
        store.vote(Ballot(gone.set_id, "", rater), 0, 1)
    app = open_app(tmp_path, "intruder", view="items")
    assert r"\<i\>Six" not in written(app), "nothing is asked yet"
    table = next(frame.value for frame in app.dataframe if "raters" in frame.value)
    assert table.loc[0, ["title", "questions", "raters", "votes"]].tolist() == ["<i>Six</i> *words*", 11, 2, 2]
    app.button(key="judgment_remove").click().run()
    assert "**2 votes by 2 raters**" in written(app)
    assert r"\<i\>Six" in written(app)
    app.button(key="judgment_remove_no").click().run()
    assert [s.set_id for s in store.sets(Task.INTRUDER)] == [gone.set_id]
    app.button(key="judgment_remove").click().run()
    app.button(key="judgment_remove_yes").click().run()
    assert [s.set_id for s in store.sets()] == [kept.set_id]
    assert store.votes(gone.set_id) == []
    assert "was removed" in written(app)


def test_on_a_demo_nothing_is_removed(
    open_app: OpenApp, store: Judgments, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BLINDSPOT_MODE", "demo")
    store.add_set(intruder_set())
    app = open_app(tmp_path, "intruder", view="items")
    assert "nothing can be removed" in written(app)
    assert "judgment_remove" not in [button.key for button in app.button]
