"""Gate before Streamlit: validates the messages of browsers on a page's websocket.

A page's front end sends back the states of its widgets, but any client can send anything, and
Streamlit trusts it: a text instead of a list, an invalid chart selection or NaN in a number field raise exceptions in
some thread, then and at every later message. So the gate records which values each widget sent out can have, and
removes other states from incoming messages: the widget then keeps its state. An invalid message closes the connection.

Streamlit's protocol is imported with the first message, when the server has already loaded it.
"""

from __future__ import annotations

import json
import logging
import math
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

log = logging.getLogger(__name__)
# Streamlit's message types except those that clear all visitors' caches or change how the server runs.
_TAKEN = ("rerun_script", "stop_script", "app_heartbeat", "file_urls_request", "backend_operation_request")
_REMEMBERED = 10_000  # widgets of all pages, for browsers that reconnect
_LONGEST_TEXT = 1_000_000  # characters
_LARGEST = 2**53  # browsers' integers are exact up to here
_PROTOCOL_ERROR, _UNSUPPORTED_DATA = 1002, 1003  # websocket close codes

Fits = Callable[[Any], bool]


class Gate:
    """ASGI middleware that passes only messages that a page's own front end could have sent."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._widgets: OrderedDict[str, Mapping[str, Fits]] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            await self._app(scope, receive, send)
            return
        here: dict[str, Mapping[str, Fits]] = {}  # this page's widgets

        async def said(message: Message) -> None:
            if message["type"] == "websocket.send" and (data := message.get("bytes")):
                self._note(data, here)
            await send(message)

        async def heard() -> Message:
            while True:
                message = await receive()
                if message["type"] != "websocket.receive":
                    return message
                data = message.get("bytes")
                checked = None if data is None else self._checked(data, here)
                if checked is None:
                    code = _UNSUPPORTED_DATA if data is None else _PROTOCOL_ERROR
                    log.warning("a browser sent what is no message of a page: its connection is closed")
                    await send({"type": "websocket.close", "code": code})
                    return {"type": "websocket.disconnect", "code": code}
                if checked:
                    return {**message, "bytes": checked}

        await self._app(scope, heard, said)

    def _note(self, data: bytes, here: dict[str, Mapping[str, Fits]]) -> None:
        """Remember which values a widget that is sent out can have."""
        from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

        message = ForwardMsg.FromString(data)
        element = message.delta.new_element
        kind = element.WhichOneof("type")
        if kind not in _KINDS:
            return
        widget = getattr(element, kind)
        if widget.id:
            here[widget.id] = self._widgets[widget.id] = _KINDS[kind](widget)
            self._widgets.move_to_end(widget.id)
            if len(self._widgets) > _REMEMBERED:
                self._widgets.popitem(last=False)

    def _checked(self, data: bytes, here: Mapping[str, Mapping[str, Fits]]) -> bytes | None:
        """The message without impossible states; b"" to drop it, None if it is invalid."""
        from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
        from streamlit.proto.BackMsg_pb2 import BackMsg

        try:
            message = BackMsg.FromString(data)
        except DecodeError:
            return None
        if message.WhichOneof("type") not in _TAKEN:
            return b""
        states = message.rerun_script.widget_states.widgets
        wrong = [i for i, state in enumerate(states) if not self._fits(state, here)]
        if not wrong:
            return data
        which = ", ".join(f"{states[i].WhichOneof('value')} of {states[i].id[-40:]!r}" for i in wrong[:3])
        log.warning("a browser sent %d widget state(s) that its page cannot hold, left out: %s", len(wrong), which)
        for i in reversed(wrong):
            del states[i]
        rest: bytes = message.SerializeToString()
        return rest

    def _fits(self, state: Any, here: Mapping[str, Mapping[str, Fits]]) -> bool:
        field = state.WhichOneof("value")
        can_hold = here.get(state.id) or self._widgets.get(state.id)
        if can_hold is None or field is None:  # None: emptied
            return can_hold is not None
        return field in can_hold and can_hold[field](getattr(state, field))


# --- valid values of each kind of widget: a check per field of its state


def _is_text(longest: int = 0) -> Fits:
    return lambda text: len(text) <= (longest or _LONGEST_TEXT)


def _number(widget: Any) -> Mapping[str, Fits]:
    low = widget.min if widget.has_min else -_LARGEST
    high = widget.max if widget.has_max else _LARGEST
    # The front end sends integers as such, Streamlit's own tests as floats. NaN fails both comparisons.
    return dict.fromkeys(("int_value", "double_value"), lambda number: low <= number <= high)


def _numbers(widget: Any) -> Mapping[str, Fits]:
    """A slider: one or two numbers, or one or two options."""
    low, high, count = widget.min, widget.max, len(widget.default)
    options = frozenset(map(hash, widget.options))

    def fits(held: Any) -> bool:
        return len(held.data) == count and all(low <= number <= high for number in held.data)

    def are_options(held: Any) -> bool:
        return len(held.data) == count and all(hash(text) in options for text in held.data)

    return {"string_array_value": are_options} if options else {"double_array_value": fits}


def _page(widget: Any) -> Mapping[str, Fits]:
    pages = widget.num_pages
    return {"int_value": lambda number: 1 <= number <= pages}


def _text(widget: Any) -> Mapping[str, Fits]:
    return {"string_value": _is_text(widget.max_chars)}


def _one(widget: Any) -> Mapping[str, Fits]:
    if widget.accept_new_options:
        return {"string_value": _is_text()}
    options = frozenset(map(hash, widget.options))
    return {"string_value": lambda text: hash(text) in options}


def _several(widget: Any) -> Mapping[str, Fits]:
    options = None if widget.accept_new_options else frozenset(map(hash, widget.options))
    most = len(widget.options) + 1_000 if options is None else len(options)

    def fits(held: Any) -> bool:
        texts = held.data
        is_known = options is None or all(hash(text) in options for text in texts)
        return is_known and _differ(texts) and len(texts) <= most

    return {"string_array_value": fits}


def _buttons(widget: Any) -> Mapping[str, Fits]:
    least, most = int(widget.required), len(widget.options)
    return {"string_array_value": lambda held: least <= len(held.data) <= most and _differ(held.data)}


def _differ(texts: Sequence[str]) -> bool:
    return len(set(texts)) == len(texts)


def _json(text: str) -> object:
    """The value of a JSON text; None if it is invalid or contains NaN or an infinity."""

    def refused(constant: str) -> object:
        raise ValueError(constant)

    try:
        return json.loads(text, parse_constant=refused)
    except (ValueError, RecursionError):
        return None


def _selection(text: str) -> Mapping[str, Any]:
    held = _json(text)
    found = held.get("selection") if isinstance(held, dict) else None
    return found if isinstance(found, dict) else {}


def _is_choice_of_rows(selection: Mapping[str, Any]) -> bool:
    """Rows by number, columns by name, cells by both; each is optional."""
    rows, columns, cells = (selection.get(name, []) for name in ("rows", "columns", "cells"))
    return (
        bool(selection)
        and _are(rows, _is_place)
        and _are(columns, lambda name: isinstance(name, str))
        and _are(cells, lambda cell: isinstance(cell, list) and len(cell) == 2 and _is_place(cell[0]))
    )


def _is_choice_of_dots(selection: Mapping[str, Any]) -> bool:
    """Points, boxes and lassos, all present."""
    points, boxes, lassos = (selection.get(name) for name in ("points", "box", "lasso"))
    return _are(points, _is_dot) and _are(boxes, _is_area) and _are(lassos, _is_area)


def _are(values: object, fits: Fits) -> bool:
    return isinstance(values, list) and all(fits(value) for value in values)


def _is_place(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LARGEST


def _is_dot(value: object) -> bool:
    """A point, whose custom data is a number, alone or in a list."""
    if not isinstance(value, dict):
        return False
    held = value.get("customdata", 0)
    return _is_place(held[0] if isinstance(held, list) and held else held)


def _is_area(value: object) -> bool:
    def is_finite(number: object) -> bool:
        return isinstance(number, int | float) and not isinstance(number, bool) and math.isfinite(number)

    return isinstance(value, dict) and all(value.get(axis) and _are(value[axis], is_finite) for axis in ("x", "y"))


def _fixed(fits: Fits, *fields: str) -> Callable[[Any], Mapping[str, Fits]]:
    """A kind of widget whose check does not depend on its settings."""
    return lambda _widget: dict.fromkeys(fields, fits)


def _any(_value: object) -> bool:
    return True


# By name in Streamlit's protocol: all kinds that pages use. Any other has no valid value.
_KINDS: Mapping[str, Callable[[Any], Mapping[str, Fits]]] = {
    "button": _fixed(_any, "trigger_value"),
    "download_button": _fixed(_any, "trigger_value"),
    "checkbox": _fixed(_any, "bool_value"),
    "number_input": _number,
    "slider": _numbers,
    "pagination": _page,
    "text_input": _text,
    "text_area": _text,
    "selectbox": _one,
    "multiselect": _several,
    "button_group": _buttons,
    "file_uploader": _fixed(_any, "file_uploader_state_value"),  # by ids that only their own session can name
    "bidi_component": _fixed(lambda text: isinstance(_json(text), dict | list), "json_value", "json_trigger_value"),
    "dataframe": _fixed(lambda text: _is_choice_of_rows(_selection(text)), "string_value"),
    "plotly_chart": _fixed(lambda text: _is_choice_of_dots(_selection(text)), "string_value"),
}
