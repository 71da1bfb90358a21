"""What a browser may say on a page's websocket: checked here, in one place, before Streamlit reads it.

A page's front end sends the state of its widgets back as it drew them; whoever speaks the protocol can send anything.
Streamlit trusts what it gets: a text where a list belongs, a chart's selection that is no selection or NaN in a field
of numbers ends in an exception in whatever thread reads it, and another one at every later message. So this notes of
each widget that is sent out what it can hold, and takes states that it cannot hold out of what comes in: the widget
then stays as it was. What is no message at all ends the connection.

Streamlit's protocol is imported with the first message: by then the server has it.
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
# Of the messages that Streamlit knows: not those that clear the caches of all visitors or change how the server runs.
_TAKEN = ("rerun_script", "stop_script", "app_heartbeat", "file_urls_request", "backend_operation_request")
_REMEMBERED = 10_000  # widgets of all pages: a browser that connects again speaks of those it has
_LONGEST_TEXT = 1_000_000  # characters
_LARGEST = 2**53  # a browser's numbers are exact up to here
_NOT_UNDERSTOOD, _NO_TEXT = 1002, 1003  # codes with which a websocket is closed

Fits = Callable[[Any], bool]


class Gate:
    """ASGI middleware that lets through what a page's own front end could have said."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._widgets: OrderedDict[str, Mapping[str, Fits]] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            await self._app(scope, receive, send)
            return
        here: dict[str, Mapping[str, Fits]] = {}  # of this page, as long as it is open

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
                    code = _NO_TEXT if data is None else _NOT_UNDERSTOOD
                    log.warning("a browser sent what is no message of a page: its connection is closed")
                    await send({"type": "websocket.close", "code": code})
                    return {"type": "websocket.disconnect", "code": code}
                if checked:
                    return {**message, "bytes": checked}

        await self._app(scope, heard, said)

    def _note(self, data: bytes, here: dict[str, Mapping[str, Fits]]) -> None:
        """Remember what the widget of a message can hold."""
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
        """A message without what no widget can hold; b"" where it is not to be taken, None where it is none."""
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
        if can_hold is None:
            return False
        if field is None:  # emptied
            return True
        return field in can_hold and can_hold[field](getattr(state, field))


# --- what each kind of widget can hold


def _is_text(longest: int = 0) -> Fits:
    return lambda text: len(text) <= (longest or _LONGEST_TEXT)


def _any(_value: object) -> bool:
    return True


def _button(_widget: Any) -> Mapping[str, Fits]:
    return {"trigger_value": _any}


def _checkbox(_widget: Any) -> Mapping[str, Fits]:
    return {"bool_value": _any}


def _number(widget: Any) -> Mapping[str, Fits]:
    low = widget.min if widget.has_min else -_LARGEST
    high = widget.max if widget.has_max else _LARGEST
    # A whole number comes as such from the front end, and as a fraction from Streamlit's own tests. NaN is nowhere.
    return dict.fromkeys(("int_value", "double_value"), lambda number: low <= number <= high)


def _numbers(widget: Any) -> Mapping[str, Fits]:
    """Of a slider: one number or two, or one text or two."""
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
    """Nobody can choose an option twice."""
    return len(set(texts)) == len(texts)


def _files(_widget: Any) -> Mapping[str, Fits]:
    return {"file_uploader_state_value": _any}  # by ids that only their own session can name


def _component(_widget: Any) -> Mapping[str, Fits]:
    return dict.fromkeys(("json_value", "json_trigger_value"), lambda text: isinstance(_json(text), dict | list))


def _rows(_widget: Any) -> Mapping[str, Fits]:
    return {"string_value": lambda text: _is_choice_of_rows(_selection(text))}


def _dots(_widget: Any) -> Mapping[str, Fits]:
    return {"string_value": lambda text: _is_choice_of_dots(_selection(text))}


def _json(text: str) -> object:
    """What a JSON text holds; None for what is none, or holds NaN or an infinity."""

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
    """Rows by their numbers, columns by their names, cells by both; each may be left out."""
    rows, columns, cells = (selection.get(name, []) for name in ("rows", "columns", "cells"))
    return (
        bool(selection)
        and _are(rows, _is_place)
        and _are(columns, lambda name: isinstance(name, str))
        and _are(cells, lambda cell: isinstance(cell, list) and len(cell) == 2 and _is_place(cell[0]))
    )


def _is_choice_of_dots(selection: Mapping[str, Any]) -> bool:
    """Points, and the boxes and lassos around them; all are sent."""
    points, boxes, lassos = (selection.get(name) for name in ("points", "box", "lasso"))
    return _are(points, _is_dot) and _are(boxes, _is_area) and _are(lassos, _is_area)


def _are(values: object, fits: Fits) -> bool:
    return isinstance(values, list) and all(fits(value) for value in values)


def _is_place(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LARGEST


def _is_dot(value: object) -> bool:
    """What a point stands for is a number, alone or in a list."""
    if not isinstance(value, dict):
        return False
    held = value.get("customdata", 0)
    return _is_place(held[0] if isinstance(held, list) and held else held)


def _is_area(value: object) -> bool:
    def is_finite(number: object) -> bool:
        return isinstance(number, int | float) and not isinstance(number, bool) and math.isfinite(number)

    return isinstance(value, dict) and all(value.get(axis) and _are(value[axis], is_finite) for axis in ("x", "y"))


# By the names of Streamlit's protocol: all that pages have. A kind that is not here can hold nothing.
_KINDS: Mapping[str, Callable[[Any], Mapping[str, Fits]]] = {
    "button": _button,
    "download_button": _button,
    "checkbox": _checkbox,
    "number_input": _number,
    "slider": _numbers,
    "pagination": _page,
    "text_input": _text,
    "text_area": _text,
    "selectbox": _one,
    "multiselect": _several,
    "button_group": _buttons,
    "file_uploader": _files,
    "bidi_component": _component,
    "dataframe": _rows,
    "plotly_chart": _dots,
}
