"""Messages of browsers that no page of ours sends, and the pace of those that one does."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from typing import Any

import pytest
from google.protobuf.descriptor import Descriptor
from google.protobuf.json_format import ParseDict
from streamlit.proto.BackMsg_pb2 import BackMsg

from blindspot.errors import InputError
from blindspot.server import messages
from blindspot.server.gate import Gate, Pace

WIDGET = "rerun_script.widget_states.widgets"


def made(place: str, value: Any) -> bytes:
    """A message with a value at a place of the protocol; lists on the way get one entry."""
    message = BackMsg()
    within: Any = message
    *outer, last = place.split(".")
    for name in outer:
        inside = getattr(within, name)
        within = inside.add() if within.DESCRIPTOR.fields_by_name[name].is_repeated else inside
    if within.DESCRIPTOR.fields_by_name[last].message_type:
        ParseDict({last: value}, within)
    elif isinstance(value, list):
        getattr(within, last).extend(value)
    else:
        setattr(within, last, value)
    data: bytes = message.SerializeToString()
    return data


def places(descriptor: Descriptor = BackMsg.DESCRIPTOR, place: str = "") -> Iterator[tuple[str, Any]]:
    for field in descriptor.fields:
        here = f"{place}{field.name}"
        yield here, field
        if field.message_type:
            yield from places(field.message_type, f"{here}.")


def is_taken(data: bytes) -> bool:
    try:
        return messages.parsed(data) is not None
    except InputError:
        return False


@pytest.mark.hostile
def test_every_text_and_list_of_the_protocol_is_bounded() -> None:
    """Also whatever a newer Streamlit adds; a message, or a part of one, is refused until somebody names it."""
    unbounded, taken = [], []
    for place, field in places():
        is_text = field.cpp_type == field.CPPTYPE_STRING
        if field.is_repeated:
            entry: Any = {} if field.message_type else "x" if is_text else 1
            tried: list[Any] = [[entry] * 40_000, *([["x" * 4_500_000]] if is_text else [])]
        elif is_text:
            tried = [b"x" if field.type == field.TYPE_BYTES else "x" * 4_500_000]
        else:
            continue  # a number, a switch, or a message whose fields are tried
        unbounded += [place for value in tried if is_taken(made(place, value))]
        if is_text and field.type != field.TYPE_BYTES:
            taken += [place] if is_taken(made(place, ["x"] if field.is_repeated else "x")) else []
    assert unbounded == []
    assert len(taken) == 27, taken


@pytest.mark.hostile
def test_messages_of_no_page_of_ours() -> None:
    """What a stranger tries with the protocol itself, each with its place or its type."""
    kept = [
        made("rerun_script.query_string", "data=demo-pairs"),
        made("rerun_script.fragment_id", "0123abc"),
        made("rerun_script.widget_states.widgets.string_value", "x" * 100_000),
        made("file_urls_request.file_names", ["texts.csv"] * 500),
        made("stop_script", value=True),
        made("app_heartbeat", value=True),
        made("backend_operation_request.deferred_file.file_id", "abc"),
    ]
    dropped = [
        made("clear_cache", value=True),
        made("set_run_on_save", value=True),
        made("load_git_info", value=True),
        made("debug_shutdown_runtime", value=True),
        made("debug_disconnect_websocket", value=True),
        b"",
    ]
    line_ends = [
        made(place, f"a{end}b")
        for place in ("rerun_script.fragment_id", "rerun_script.page_name", "rerun_script.page_script_hash")
        for end in ("\n", "\r", "\x1b[2J", "\x00", "\u2028", "\u202e")
    ]
    refused = [
        made("file_urls_request.file_names", [""] * 30_000),
        made("file_urls_request.file_names", [""] * 1_001),
        made("file_urls_request.file_names", ["x" * 70_000]),
        made("file_urls_request.request_id", "x" * 60_000),
        made("file_urls_request.request_id", "a\nb"),
        made("backend_operation_request.request_id", "x" * 301),
        made("backend_operation_request.request_id", "\x1b[31m"),
        made("backend_operation_request.install_skills", {}),
        made("backend_operation_request.dismiss_skills_nudge", {}),
        made("backend_operation_request.dataframe_chunk.source_id", "x" * 60_000),
        made("rerun_script.fragment_id", "x" * 4_000_000),
        made("rerun_script.cached_message_hashes", ["x"] * 10_001),
        made("rerun_script.cached_message_hashes", ["x" * 301]),
        made("rerun_script.query_string", "x" * 32_001),
        made(WIDGET, [{}] * 2_001),
        made(f"{WIDGET}.id", "x" * 2_001),
        made(f"{WIDGET}.double_array_value.data", [0.0] * 3),
        made(f"{WIDGET}.int_array_value.data", [0]),
        made(f"{WIDGET}.string_array_value.data", ["x"] * 2_001),
        made(f"{WIDGET}.json_value", "[" * 64_001),
        made(f"{WIDGET}.bytes_value", b"x"),
        made(f"{WIDGET}.chat_input_value.data", "x"),
        made(f"{WIDGET}.string_trigger_value.data", "x"),
        made(f"{WIDGET}.arrow_value.data", b"x"),
        made(f"{WIDGET}.file_uploader_state_value.uploaded_file_info", [{}] * 1_001),
        made(f"{WIDGET}.file_uploader_state_value.uploaded_file_info.name", "x" * 1_201),
        made("clear_cache", value=True) + b"\x00" * 70_000,
        b"\xff\xff\xff",
        b"\x08",
        random.Random(1).randbytes(5_000),
        *line_ends,
    ]
    assert [place for place, data in enumerate(kept) if not is_taken(data)] == []
    assert [place for place, data in enumerate(dropped) if messages.parsed(data) is not None] == []
    assert [data[:60] for data in refused if is_taken(data)] == []
    assert len(dropped) + len(refused) >= 40


def test_what_is_not_of_the_protocol_is_left_behind() -> None:
    """A field that Streamlit does not know would be kept with the page's state, megabytes of it."""
    inside = b"\x7a" + (3).to_bytes(1, "big") + b"xyz"  # field 15 of ClientState, which has none
    data = b"\x5a" + len(inside).to_bytes(1, "big") + inside
    message = messages.parsed(data)
    assert message is not None
    assert message.SerializeToString() == b"\x5a\x00"


def test_so_many_at_once_and_then_so_many_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]

    async def sleep(seconds: float) -> None:
        clock[0] += seconds

    monkeypatch.setattr("blindspot.server.gate.monotonic", lambda: clock[0])
    monkeypatch.setattr("blindspot.server.gate.asyncio.sleep", sleep)
    pace = Pace(rate=4.0, burst=8)

    def seconds(turns: int, tokens: float) -> float:
        began = clock[0]
        for _ in range(turns):
            asyncio.run(pace.turn(tokens))
        return clock[0] - began

    assert seconds(4, 2) == 0.0
    assert seconds(4, 2) == pytest.approx(2.0)
    clock[0] += 1.0
    assert seconds(2, 2) == pytest.approx(0.0)
    assert seconds(1, 2) == pytest.approx(0.5)
    clock[0] += 1_000
    assert seconds(4, 2) == 0.0
    assert seconds(1, 2) > 0, "a long rest fills the bucket and no more"


def test_turns_are_first_come_first_served() -> None:
    order = []

    async def one(pace: Pace, number: int) -> None:
        await pace.turn(1)
        order.append(number)

    async def many() -> None:
        pace = Pace(rate=200.0, burst=1)
        await asyncio.gather(*(one(pace, number) for number in range(8)))

    asyncio.run(many())
    assert order == list(range(8))


def test_whoever_leaves_takes_nobodys_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two hundred pages that are closed before their turn, none is run, and the next one does not wait for them."""
    rerun = BackMsg()
    rerun.rerun_script.page_name = "evalrank"
    asks = {"type": "websocket.receive", "bytes": rerun.SerializeToString()}
    leaves = {"type": "websocket.disconnect", "code": 1005}
    ran: list[str] = []
    monkeypatch.setattr("blindspot.server.gate._ALL_PAGES", (40.0, 4))  # one page at once, ten a second

    async def app(scope: Any, receive: Any, _send: Any) -> None:
        while (await receive())["type"] != "websocket.disconnect":
            ran.append(scope["of"])

    async def send(_message: Any) -> None: ...

    async def visit(gate: Gate, name: str, *, stays: bool) -> None:
        coming = iter([asks, leaves])

        async def receive() -> dict[str, Any]:
            message = next(coming)
            if message is leaves and stays:
                while name not in ran:
                    await asyncio.sleep(0.01)
            return message

        await gate({"type": "websocket", "of": name}, receive, send)

    async def many() -> None:
        gate = Gate(app, is_paced=True)
        leaving = [asyncio.ensure_future(visit(gate, "leaves", stays=False)) for _ in range(200)]
        await asyncio.sleep(0)
        await asyncio.wait_for(visit(gate, "stays", stays=True), 10)
        await asyncio.gather(*leaving)

    asyncio.run(many())
    assert ran.count("stays") == 1
    assert ran.count("leaves") <= 3
