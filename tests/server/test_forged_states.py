"""Forged widget states over the websocket of a real server: no page fails."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from google.protobuf.json_format import ParseDict
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Delta_pb2 import Delta
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from benchmarks import app_server, app_store, rerun_client
from benchmarks.app import PAGES
from benchmarks.app_server import Server
from blindspot.errors import InputError
from blindspot.server.gate import Gate, _Page, checked
from blindspot.settings import ROOT, Mode
from tests.support import forging
from tests.support.tables import each

TROUBLE = ("Traceback", "Uncaught", "Exception in", "a part of a page failed")


@contextmanager
def unharmed(cache: Path, mode: Mode = Mode.LOCAL, script: str = "app.py") -> Iterator[Server]:
    """A server whose log has no unhandled error at the end."""
    with app_server.serving(cache, mode=mode, script=script, prepare="nothing") as server:
        yield server
        log = server.log.read_text("utf-8", "replace")
    found = [line for line in log.splitlines() if any(word in line for word in TROUBLE)]
    assert not found, log[-6_000:]


def fuzz(server: Server, messages: int, seed: int, at_a_time: int) -> None:
    """Open page after page and send each some messages with forged states; a page that fails raises."""
    chance = random.Random(seed)
    sent = 0
    while sent < messages:
        page = PAGES[sent // at_a_time % len(PAGES)]
        with rerun_client.opened(server.address, page) as client:
            client.run()
            for _ in range(at_a_time):
                there = list(client.widgets.values())
                picked = chance.sample(there, min(len(there), chance.choice((1, 1, 2, 5))))
                fragment = chance.choice(picked).fragment if picked and chance.random() < 0.3 else ""
                client.run([forging.forged(widget, chance) for widget in picked], fragment)
                sent += 1


@pytest.mark.hostile
@pytest.mark.process
@pytest.mark.server
def test_every_page_survives_a_few_forged_states(demo_copy: Path) -> None:  # a copy: it renames datasets, too
    with unharmed(demo_copy) as server:
        fuzz(server, len(PAGES), 18, 1)
        log = server.log.read_text("utf-8", "replace")
    assert "its page cannot hold" in log, "the gate saw them"


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "messages"), [(Mode.LOCAL, 2_000), (Mode.DEMO, 500)])
def test_every_page_survives_thousands_of_forged_states(tmp_path: Path, mode: Mode, messages: int) -> None:
    store = app_store.fill(tmp_path, encoder_ids=("minilm-static", "random-projection"))
    with unharmed(store.cache, mode) as server:
        fuzz(server, messages, 18, 12)


@pytest.mark.hostile
@pytest.mark.process
@pytest.mark.server
def test_what_is_no_message_ends_its_connection_and_nothing_else(tmp_path: Path) -> None:
    with unharmed(tmp_path) as server:
        socket = f"ws{server.address.removeprefix('http')}/_stcore/stream"
        for nonsense in ("text", b"\xff\xff\xff", b"\x08", random.Random(1).randbytes(5_000)):
            with connect(socket, proxy=None, compression=None) as connection:
                connection.send(nonsense)
                with pytest.raises(ConnectionClosed):
                    list(iter(partial(connection.recv, rerun_client.PATIENCE_SECONDS), None))
        with rerun_client.opened(server.address, "models") as client:
            client.run()
            for forbidden in ({"clear_cache": True}, {"set_run_on_save": True}, {"debug_shutdown_runtime": True}, {}):
                client.send(ParseDict(forbidden, BackMsg()).SerializeToString())
            assert client.run().bytes_sent > 0, "the page still answers"


FAILING = """
if __name__ == "__main__":
    import streamlit as st

    from blindspot.ui.boundary import tell_failure

    def fails() -> None:
        {}["points"]

    tell_failure()
    st.button("press", key="press", on_click=fails)
    st.caption("the rest of the page")
else:
    from streamlit.starlette import App

    def failed(error):
        from blindspot import ui

        return ui.failed_before_page(error)

    app = App(__file__, on_script_error=failed)
"""


@pytest.mark.hostile
@pytest.mark.process
@pytest.mark.server
def test_a_callback_that_fails_is_said_on_the_page_which_is_drawn_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "failing.py"
    script.write_text(FAILING)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    with app_server.serving(tmp_path, script=str(script)) as server, rerun_client.opened(server.address, "") as client:
        client.run()
        (button,) = client.widgets.values()
        press = BackMsg()
        press.rerun_script.widget_states.widgets.append(forging.state(button, "trigger_value", value=True))
        client.send(press.SerializeToString())
        drawn: list[Delta] = []
        while not drawn or not drawn[-1].new_element.HasField("alert"):
            message = ForwardMsg.FromString(client.receive())
            assert message.delta.new_element.WhichOneof("type") != "exception"
            drawn.append(message.delta)
        assert "KeyError" in drawn[-1].new_element.alert.body
        rest = [ForwardMsg.FromString(client.receive()).delta.new_element.WhichOneof("type") for _ in range(2)]
        assert rest == ["button", "markdown"]
        assert "'points'" in server.log.read_text("utf-8", "replace"), "with its traceback"


# --- what the gate lets through

ROWS = (
    '{"selection": {"rows": [0, 7], "columns": [], "cells": []}}',
    '{"selection": {"rows": []}}',
    '{"selection": {"rows": [], "columns": [], "cells": [[2, "a model"]]}}',
)
NO_CELLS = [
    f'{{"selection": {{"cells": {cells}}}}}'
    for cells in ("3", "[3]", "[[1]]", '[[-1, "a"]]', '[["a", 1]]', '[[0, "a"], [1, "a"]]', '[{"row": 0}]')
]
DOTS = (
    '{"selection": {"points": [{"customdata": [3], "x": 1.5}], "point_indices": [0], "box": [], "lasso": []}}',
    '{"selection": {"points": [], "box": [{"xref": "x", "x": [1, 2.5], "y": [0, 3]}], "lasso": []}}',
)


NO_SELECTIONS = [text for text in forging.SELECTIONS if '"selection": {"' not in text]
NO_ROWS = [text for text in forging.SELECTIONS if '"rows"' in text and "[99999]" not in text]
NO_DOTS = [text for text in forging.SELECTIONS if '"points"' in text and '[{}], "box": []' not in text]


@each(
    ("kind", "held", "refused"),
    [
        ("dataframe", ROWS, NO_SELECTIONS + NO_ROWS + NO_CELLS),
        ("plotly_chart", DOTS, NO_SELECTIONS + NO_ROWS + NO_DOTS),
    ],
)
def test_selections(kind: str, held: tuple[str, ...], refused: list[str]) -> None:
    fits = gate_of({kind: {}})
    assert all(fits("string_value", text) for text in held)
    assert not any(fits("string_value", text) for text in refused)


@each(
    ("element", "field", "taken", "refused"),
    [
        (
            {"number_input": {}},
            "double_value",
            (1.0, 9.0),
            (math.nan, math.inf),
        ),
        ({"selectbox": {"options": ["a"]}}, "string_value", ("a", "b"), ()),
        ({"multiselect": {"options": ["a", "b"]}}, "string_array_value", ([], ["b", "a"]), (["x"] * 2_001,)),
        ({"buttonGroup": {"options": [{}, {}], "required": True}}, "string_array_value", (["a"],), ()),
        ({"pagination": {}}, "int_value", (1, 3), ()),
        ({"slider": {}}, "double_array_value", ([1.0],), ([0.0] * 3,)),
        ({"slider": {"options": ["a"]}}, "string_array_value", (["a"],), ()),
        ({"textInput": {}}, "string_value", ("abc",), ()),
        ({"checkbox": {}}, "bool_value", (True, False), ()),
        ({"bidiComponent": {}}, "json_value", ('{"a": 1}',), ("{", "5", '{"a": NaN}')),
    ],
)
def test_each_kind_of_widget(element: dict, field: str, taken: tuple, refused: tuple) -> None:  # type: ignore[type-arg]
    fits = gate_of(element)
    assert all(fits(field, value) for value in taken)
    assert not any(fits(field, value) for value in refused)
    also = {"int_value"} if "number_input" in element else set()  # whole numbers come as such
    others = [name for name in forging.VALUES if name not in {field, *also} and not name.startswith("json")]
    assert not any(fits(name, value) for name in others for value in forging.VALUES[name])
    assert fits("", None), "emptied"


def test_a_place_is_a_whole_number_that_a_browser_holds_exactly() -> None:
    fits = gate_of({"dataframe": {}})
    for number, is_place in ((0, True), (2**53, True), (2**53 + 1, False), (-1, False), (1.0, False), (True, False)):
        assert fits("string_value", json.dumps({"selection": {"rows": [number]}})) is is_place, number


def test_a_widget_that_was_never_drawn_can_hold_nothing() -> None:
    assert not gate_of({"markdown": {"body": "x"}})("bool_value", True)


@pytest.mark.hostile
def test_what_is_remembered_of_a_page_is_bounded() -> None:
    gate, page = Gate(lambda *_: None, is_paced=True), _Page("")  # type: ignore[arg-type, return-value]
    rerun = BackMsg()
    rerun.rerun_script.cached_message_hashes.append("a message that the browser has from another server")
    asked, _ = checked(rerun.SerializeToString(), page)
    assert BackMsg.FromString(asked).rerun_script.cached_message_hashes == [], "its widgets were never seen here"
    for session in ("", "a", "", "a", "b"):
        message = ForwardMsg()
        message.new_session.initialize.session_id = session
        page = gate._noted(message.SerializeToString(), page)
        for number in range(3_000 if session else 1):
            message = ForwardMsg()
            message.delta.new_element.checkbox.id = f"{session}{number}"
            assert gate._noted(message.SerializeToString(), page) is page
    assert list(gate._pages) == ["a", "b"]
    assert [len(one.widgets) for one in gate._pages.values()] == [1_000, 1_000]
    assert "b2999" in page.widgets
    for number in range(600):
        message = ForwardMsg()
        message.new_session.initialize.session_id = f"another {number}"
        gate._noted(message.SerializeToString(), page)
    assert len(gate._pages) == 500


def gate_of(element: dict):  # type: ignore[type-arg, no-untyped-def]
    """Whether a gate that saw an element drawn takes a state for it: of a field and a value."""
    from streamlit.proto.WidgetStates_pb2 import WidgetState

    gate = Gate(lambda *_: None, is_paced=False)  # type: ignore[arg-type, return-value]
    name, facts = next(iter(element.items()))
    element = {name: {**facts, **({"id": "it"} if name != "markdown" else {})}}
    page = gate._noted(ParseDict({"delta": {"newElement": element}}, ForwardMsg()).SerializeToString(), _Page(""))
    widget = rerun_client.Widget("it", "", "", None)

    def fits(field: str, value: object) -> bool:
        message = BackMsg()
        made = forging.state(widget, field, value) if field else WidgetState(id="it")
        message.rerun_script.widget_states.widgets.append(made)
        try:
            data, _ = checked(message.SerializeToString(), page)
        except InputError:
            return False
        return bool(data) and len(BackMsg.FromString(data).rerun_script.widget_states.widgets) == 1

    return fits
