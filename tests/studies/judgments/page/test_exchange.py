"""Taking items and votes along, and bringing them, on the pages of human judgment."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from blindspot.files.typed_tables import TableFormat
from blindspot.studies.judgments import bundles
from blindspot.studies.judgments.bundles import Bundle
from blindspot.studies.judgments.store import Judgments
from blindspot.studies.judgments.types import Ballot, Task
from tests.support.judgment_samples import intruder_set, votes
from tests.support.pages import OpenApp

MADE = intruder_set(title="Six *words*")
CAST = tuple(votes([("Anna", 0, 0), ("Ben", 0, 1)]))
SCRIPT = """
import streamlit as st
from blindspot.studies.judgments.types import Task
from blindspot.studies.judgments.page import exchange as judgment_exchange
judgment_exchange.show(Task.INTRUDER, {})
"""


@pytest.fixture
def part(open_app: OpenApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], AppTest]:
    """The part alone, on the store; ``open_app`` clears what earlier tests left."""
    monkeypatch.setenv("BLINDSPOT_CACHE", str(tmp_path))
    return lambda: AppTest.from_string(SCRIPT, default_timeout=60).run()


def test_a_file_from_elsewhere_is_imported_and_reported(part: Callable[[], AppTest], store: Judgments) -> None:
    app = part()
    assert not app.selectbox, "there is nothing to take along yet"
    app = take_in(app, bundles.pack(Bundle(MADE, CAST), TableFormat.CSV))
    (said,) = app.success
    assert r"**Six \*words\***" in said.value
    assert {"11", "2", "0"} <= set(re.findall(r"\d+", said.value)), "items; new and known votes"
    assert store.find_set(MADE.set_id) == MADE
    assert len(store.votes(MADE.set_id)) == 2
    assert [option.rpartition(" · ")[2] for option in app.selectbox[0].options] == [MADE.set_id]
    store.undo(Ballot(MADE.set_id, "", "Ben"))
    store.vote(Ballot(MADE.set_id, "", "Ben"), 0, None)
    app = take_in(app, bundles.pack(Bundle(MADE, CAST), TableFormat.PARQUET))
    (said,) = app.success
    assert re.findall(r"(\d+) (?:new|known|that differ)", said.value) == ["0", "1", "1"]
    assert not app.run().success, "said once"


def take_in(app: AppTest, data: bytes) -> AppTest:
    app = app.file_uploader[0].set_value(("judgments.zip", data, "application/zip")).run()
    return app.button(key="exchange_import").click().run()


def test_a_broken_file_is_said_and_stays_to_be_replaced(part: Callable[[], AppTest], store: Judgments) -> None:
    app = take_in(part(), b"<b>no zip</b>")
    assert not app.exception
    assert "Nothing was imported: the file" in app.error[0].value
    assert store.sets() == []


def test_the_newest_set_is_offered_first_with_a_button_per_file(part: Callable[[], AppTest], store: Judgments) -> None:
    store.merge(MADE, CAST)
    app = part()
    assert app.selectbox[0].value == MADE.set_id
    assert [button.label for button in app.get("download_button")] == ["Everything (.zip)", "Items", "Votes"]
    assert not app.info


def test_votes_of_a_session_that_is_not_revealed_stay_hidden(part: Callable[[], AppTest], store: Judgments) -> None:
    store.merge(MADE, CAST)
    store.add_session("group", {Task.INTRUDER: MADE.set_id}, "key")
    assert not part().info, "nobody has voted there yet"
    store.vote(Ballot(MADE.set_id, "group", "Cleo"), 0, 0)
    assert "not revealed yet" in part().info[0].value
    store.reveal("group", True)
    assert not part().info


def test_a_demo_takes_no_files(part: Callable[[], AppTest], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BLINDSPOT_MODE", "demo")
    app = part()
    assert "takes no uploads" in app.info[0].value
    assert not app.file_uploader
