"""Gate before Streamlit: checks and paces what browsers send over a page's websocket.

A page's front end sends its own messages, but any client can send anything. What is no message of a page
(``messages``) closes the connection. States of widgets are checked where a forged one does harm: Streamlit raises
exceptions, at that message and at all later ones, for a value of another field than the widget's own, for NaN and for
invalid JSON. Such states are left out: the widget keeps its own.

Streamlit's protocol is imported with the first message, when the server has already loaded it.
"""

from __future__ import annotations

import json
import logging
import math
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from blindspot.errors import InputError
from blindspot.server import messages
from blindspot.server.pace import Pace

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

log = logging.getLogger(__name__)
_REMEMBERED = 10_000  # widgets of all pages, for browsers that reconnect
_WIDGET = b"$$ID-"  # begins the id of every widget: a message without one draws none
_AREAS, _CORNERS = 20, 2_000  # that a person draws: boxes and lassos, and numbers of each
_SLIDER_OF_OPTIONS = "slider of options"
_PROTOCOL_ERROR = 1002  # websocket close code
# Tokens a second, after so many at once. The whole page takes four, a part of it one, as any other message: a page
# that follows a run sends nearly three of those a second.
_WHOLE_PAGE, _PART = 4, 1
_A_PAGE, _ALL_PAGES = (4.0, 24), (40.0, 80)

Fits = Callable[[Any], bool]


class Gate:
    """ASGI middleware that passes only messages that a page's own front end could have sent.

    Args:
        is_paced: nobody's messages may take the server's time from others.
    """

    def __init__(self, app: ASGIApp, *, is_paced: bool) -> None:
        self._app = app
        self._widgets: OrderedDict[str, Mapping[str, Fits]] = OrderedDict()
        self._all = Pace(*_ALL_PAGES) if is_paced else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            await self._app(scope, receive, send)
            return
        here: dict[str, Mapping[str, Fits]] = {}  # this page's widgets
        paces = (Pace(*_A_PAGE), self._all) if self._all else ()
        is_gone = False

        async def said(message: Message) -> None:
            nonlocal is_gone
            if message["type"] == "websocket.send" and _WIDGET in (data := message.get("bytes") or b""):
                self._note(data, here)
            try:
                await send(message)
            except OSError:
                # Nobody is there any more. Streamlit hears it when it reads next, and what they sent before is not
                # worth a turn; raised here, it would take the next reading for text and log sixty lines.
                is_gone = True

        async def heard() -> Message:
            while True:
                message: Message = {"type": "websocket.disconnect", "code": 1006} if is_gone else await receive()
                if message["type"] != "websocket.receive":
                    return message
                try:
                    data, tokens = self._checked(message.get("bytes"), here)
                except InputError as error:
                    log.warning("%s: its connection is closed", error)
                    await send({"type": "websocket.close", "code": _PROTOCOL_ERROR})
                    return {"type": "websocket.disconnect", "code": _PROTOCOL_ERROR}
                for pace in paces:
                    await pace.turn(tokens)
                if data:
                    return {**message, "bytes": data}

        await self._app(scope, heard, said)

    def _note(self, data: bytes, here: dict[str, Mapping[str, Fits]]) -> None:
        """Remember which values a widget that is sent out can have."""
        from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

        element = ForwardMsg.FromString(data).delta.new_element
        kind = element.WhichOneof("type")
        if kind in _KINDS and (widget := getattr(element, kind)).id:
            named = _SLIDER_OF_OPTIONS if kind == "slider" and widget.options else kind
            here[widget.id] = self._widgets[widget.id] = _KINDS[named]
            self._widgets.move_to_end(widget.id)
            if len(self._widgets) > _REMEMBERED:
                self._widgets.popitem(last=False)

    def _checked(self, data: bytes | None, here: Mapping[str, Mapping[str, Fits]]) -> tuple[bytes, int]:
        """The message without impossible states, b"" to drop it, and its tokens; raises ``InputError`` if invalid."""
        from streamlit.runtime.runtime_util import get_max_widget_state_size_bytes

        if data is None:
            raise InputError("a browser sent text, where pages send bytes")
        if len(data) > get_max_widget_state_size_bytes():
            return data, _WHOLE_PAGE  # Streamlit closes the connection, by its length alone
        if (message := messages.parsed(data)) is None:
            return b"", _PART
        if message.HasField("rerun_script"):
            states = message.rerun_script.widget_states.widgets
            fitting = [state for state in states if self._fits(state, here)]
            if len(fitting) < len(states):
                log.warning("a browser sent %d widget state(s) that its page cannot hold", len(states) - len(fitting))
                del states[:]
                states.extend(fitting)
        is_whole = message.HasField("rerun_script") and not message.rerun_script.fragment_id
        return message.SerializeToString(), _WHOLE_PAGE if is_whole else _PART

    def _fits(self, state: Any, here: Mapping[str, Mapping[str, Fits]]) -> bool:
        field = state.WhichOneof("value")
        can_hold = here.get(state.id) or self._widgets.get(state.id)
        if can_hold is None or field is None:  # None: emptied
            return can_hold is not None
        return field in can_hold and can_hold[field](getattr(state, field))


# --- valid values: a check per field of a widget's state


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


def _is_choice_of_rows(text: str) -> bool:
    """Rows by number, columns by name, cells by both; each is optional."""
    selection = _selection(text)
    rows, columns, cells = (selection.get(name, []) for name in ("rows", "columns", "cells"))
    return (
        bool(selection)
        and _are(rows, _is_place)
        and _are(columns, lambda name: isinstance(name, str))
        and _are(cells, lambda cell: isinstance(cell, list) and len(cell) == 2 and _is_place(cell[0]))
    )


def _is_choice_of_dots(text: str) -> bool:
    """Points, boxes and lassos, all present. A person draws few areas, and a page tests each for every dot."""
    selection = _selection(text)
    points, boxes, lassos = (selection.get(name) for name in ("points", "box", "lasso"))
    return _are(points, _is_dot) and _are(boxes, _is_area, _AREAS) and _are(lassos, _is_area, _AREAS)


def _are(values: object, fits: Fits, most: float = math.inf) -> bool:
    return isinstance(values, list) and len(values) <= most and all(fits(value) for value in values)


def _is_place(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 2**53  # exact in a browser


def _is_dot(value: object) -> bool:
    """A point, whose custom data is a number, alone or in a list."""
    if not isinstance(value, dict):
        return False
    held = value.get("customdata", 0)
    return _is_place(held[0] if isinstance(held, list) and held else held)


def _is_area(value: object) -> bool:
    def is_finite(number: object) -> bool:
        return isinstance(number, int | float) and not isinstance(number, bool) and math.isfinite(number)

    return isinstance(value, dict) and all(
        value.get(axis) and _are(value[axis], is_finite, _CORNERS) for axis in ("x", "y")
    )


def _is_any(_value: object) -> bool:
    return True


def _is_json(text: str) -> bool:
    return isinstance(_json(text), dict | list)


# By name in Streamlit's protocol, all kinds that pages use, with the fields that their states can have. Any other has
# no state. Streamlit itself keeps numbers, pages, options and lengths of texts within their bounds.
_KINDS: Mapping[str, Mapping[str, Fits]] = {
    "button": {"trigger_value": _is_any},
    "download_button": {"trigger_value": _is_any},
    "checkbox": {"bool_value": _is_any},
    "number_input": {"int_value": _is_any, "double_value": math.isfinite},
    "slider": {"double_array_value": _is_any},
    _SLIDER_OF_OPTIONS: {"string_array_value": _is_any},
    "pagination": {"int_value": _is_any},
    "text_input": {"string_value": _is_any},
    "text_area": {"string_value": _is_any},
    "selectbox": {"string_value": _is_any},
    "multiselect": {"string_array_value": _is_any},
    "button_group": {"string_array_value": _is_any},
    "file_uploader": {"file_uploader_state_value": _is_any},  # by ids that only their own session can name
    "bidi_component": {"json_value": _is_json, "json_trigger_value": _is_json},
    "dataframe": {"string_value": _is_choice_of_rows},
    "plotly_chart": {"string_value": _is_choice_of_dots},
}
