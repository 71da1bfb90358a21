"""Gate before Streamlit: checks and paces what browsers send over a page's websocket.

A page's front end sends its own messages, but any client can send anything. Anything but a message of a page
(``messages``) closes the connection. A part of a page that its session does not have cannot be redrawn. States of
widgets are checked where a forged one does harm: Streamlit raises exceptions, at that message and at all later ones,
for a value of another field than the widget's own, for NaN and for invalid JSON. Such states are left out, so that the
widget keeps its own. On a server that strangers use, a browser that sends too fast has to wait. Meanwhile only one more
message of its connection is read, so that it cannot pile up many, and a browser that has left takes nobody's turn.

Streamlit's protocol is imported with the first message, when the server has already loaded it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, Any

from blindspot.errors import InputError
from blindspot.server import messages

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

log = logging.getLogger(__name__)
_SESSIONS, _WIDGETS = 500, 1_000  # remembered for browsers that reconnect: sessions, and widgets of each
_AREAS, _CORNERS = 20, 2_000  # boxes and lassos that a person draws, tested for every dot, and numbers of each
_PROTOCOL_ERROR = 1002  # websocket close code
# Tokens per second, and how many at once. Redrawing the whole page takes four, a part of it or any other message one: a
# page that follows a run sends nearly three of those per second.
_WHOLE_PAGE, _PART = 4, 1
_A_PAGE, _ALL_PAGES = (4.0, 24), (40.0, 80)

Fits = Callable[[Any], bool]


class _Page:
    """What a browser was sent: the id of its session, and the kinds of its widgets by id."""

    def __init__(self, session: str) -> None:
        self.session = session
        self.widgets: dict[str, str] = {}

    def has(self, fragment: str) -> bool:
        from streamlit import runtime

        session = runtime.get_instance().get_app_session(self.session)
        return session is not None and session.has_fragment(fragment)

    def fits(self, state: Any) -> bool:
        field, kind = state.WhichOneof("value"), self.widgets.get(state.id)
        if kind is None or field is None:  # None: emptied
            return kind is not None
        value = getattr(state, field)
        return kind in _KINDS.get(field, ()) and all(_VALID[name](value) for name in (field, kind) if name in _VALID)


class Gate:
    """ASGI middleware that passes only messages that a page's own front end could have sent.

    Args:
        is_paced: whether to limit messages, so that nobody takes the server's time from others.
    """

    def __init__(self, app: ASGIApp, *, is_paced: bool) -> None:
        self._app = app
        self._pages: dict[str, _Page] = {}
        self._all = Pace(*_ALL_PAGES) if is_paced else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            await self._app(scope, receive, send)
            return
        named = "".join(scope.get("subprotocols", ())[2:3])  # the session that a browser comes back to
        page = self._pages.get(named) or _Page(named)
        paces = (Pace(*_A_PAGE), self._all) if self._all else ()
        is_gone = False
        ahead: asyncio.Future[Any] | None = None  # the next message, read while the last one waits for its turn

        async def said(message: Message) -> None:
            nonlocal is_gone, page
            if message["type"] == "websocket.send":
                page = self._noted(message.get("bytes") or b"", page)
            try:
                await send(message)
            except OSError:
                is_gone = True  # as Streamlit hears when it reads next; raised here, it would log sixty lines

        async def next_message() -> Message:
            nonlocal ahead
            coming, ahead = ahead, None
            return {"type": "websocket.disconnect", "code": 1006} if is_gone else await (coming or receive())

        async def has_left(tokens: int) -> bool:
            """Wait for a turn; returns whether the browser closed its page meanwhile, and so gave up the turn."""
            nonlocal ahead
            turns: asyncio.Future[Any] = asyncio.ensure_future(_turns(paces, tokens))
            ahead = ahead or asyncio.ensure_future(receive())
            try:
                await asyncio.wait((turns, ahead), return_when=asyncio.FIRST_COMPLETED)
                if not turns.done() and ahead.result()["type"] == "websocket.disconnect":
                    return True
                await turns
                return False
            finally:
                turns.cancel()

        async def heard() -> Message:
            while True:
                message = await next_message()
                if message["type"] != "websocket.receive":
                    return message
                try:
                    data, tokens = checked(message.get("bytes"), page)
                except InputError as error:
                    log.warning("%s: its connection is closed", error)
                    await send({"type": "websocket.close", "code": _PROTOCOL_ERROR})
                    return {"type": "websocket.disconnect", "code": _PROTOCOL_ERROR}
                if paces and await has_left(tokens):
                    continue
                if data:
                    return {**message, "bytes": data}

        try:
            await self._app(scope, heard, said)
        finally:
            if ahead is not None:
                ahead.cancel()
            if page.widgets:
                _keep(self._pages, page.session, page, _SESSIONS)

    def _noted(self, data: bytes, page: _Page) -> _Page:
        """The page after a message to it: Streamlit names the session first, then come the widgets."""
        from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

        message = ForwardMsg.FromString(data)
        session = message.new_session.initialize.session_id
        if session and session != page.session:
            page = _Page(session)
            _keep(self._pages, session, page, _SESSIONS)
        kind = message.delta.new_element.WhichOneof("type") or ""
        widget: Any = getattr(message.delta.new_element, kind, None)
        if widget_id := getattr(widget, "id", ""):
            kind = _SLIDER_OF_OPTIONS if kind == "slider" and widget.options else kind
            _keep(page.widgets, widget_id, kind, _WIDGETS)
        return page


async def _turns(paces: Sequence[Pace], tokens: int) -> None:
    for pace in paces:
        await pace.turn(tokens)


def _keep(entries: dict[str, Any], key: str, value: object, most: int) -> None:
    """Add an entry; if there are more than ``most``, the oldest is removed."""
    entries.pop(key, None)
    entries[key] = value
    if len(entries) > most:
        del entries[next(iter(entries))]


def checked(data: bytes | None, page: _Page) -> tuple[bytes, int]:
    """A message without impossible states, b"" to drop it, and its tokens; raises ``InputError`` if it is invalid."""
    if data is None:
        raise InputError("a browser sent text, where pages send bytes")
    message = messages.parsed(data)
    if message is None or not message.HasField("rerun_script"):
        return b"" if message is None else message.SerializeToString(), _PART
    rerun = message.rerun_script
    if rerun.fragment_id and not page.has(rerun.fragment_id):
        return b"", _PART  # gone, or made up
    if not page.widgets:
        del rerun.cached_message_hashes[:]  # those of widgets that it had before: they have to be seen again
    states = rerun.widget_states.widgets
    fitting = [state for state in states if page.fits(state)]
    if len(fitting) < len(states):
        log.warning("a browser sent %d widget state(s) that its page cannot hold", len(states) - len(fitting))
        del states[:]
        states.extend(fitting)
    return message.SerializeToString(), _PART if rerun.fragment_id else _WHOLE_PAGE


# --- valid values: a check per field of a widget's state, or per kind of widget


def _json(text: str) -> object:
    """The value of a JSON text; None if it is invalid or contains NaN or an infinity, which are no ``int``."""
    try:
        return json.loads(text, parse_constant=int)
    except (ValueError, RecursionError):
        return None


def _list(fits: Fits, most: float = math.inf) -> Fits:
    return lambda values: isinstance(values, list) and len(values) <= most and all(map(fits, values))


def _selection(lists: Mapping[str, Fits], *, are_needed: bool = False) -> Fits:
    """A check of a selection's JSON: an object with these lists, all of them or any."""

    def fits(text: str) -> bool:
        held = _json(text)
        selection = held.get("selection") if isinstance(held, dict) else None
        if not isinstance(selection, dict) or not selection:
            return False
        return all(fits(selection[name]) if name in selection else not are_needed for name, fits in lists.items())

    return fits


def _is_place(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 2**53  # exact in a browser


def _is_cell(value: object) -> bool:
    """Whether a value is a row and the name of a column."""
    return isinstance(value, list) and len(value) == 2 and _is_place(value[0]) and isinstance(value[1], str)


def _is_finite(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_dot(value: object) -> bool:
    """Whether a value is a point with a number as custom data, alone or in a list."""
    held = value.get("customdata", 0) if isinstance(value, dict) else None
    return _is_place(held[0] if isinstance(held, list) and held else held)


def _is_area(value: object) -> bool:
    return isinstance(value, dict) and all(value.get(axis) and _CORNERS_FIT(value[axis]) for axis in ("x", "y"))


_CORNERS_FIT = _list(_is_finite, _CORNERS)
_DRAWN = _list(_is_area, _AREAS)
_NONE = _list(_is_place, 0)  # no table of ours lets choose columns
_SLIDER_OF_OPTIONS = "slider of options"
# All kinds of widgets that pages use, as Streamlit's protocol names them, by the field that their states can have. Any
# other has no state. Streamlit itself keeps numbers, pages, options and lengths of texts within their bounds.
_KINDS: Mapping[str, frozenset[str]] = {
    "trigger_value": frozenset({"button", "download_button"}),
    "bool_value": frozenset({"checkbox"}),
    "int_value": frozenset({"number_input", "pagination"}),
    "double_value": frozenset({"number_input"}),
    "double_array_value": frozenset({"slider"}),
    "string_value": frozenset({"text_input", "text_area", "selectbox", "dataframe", "plotly_chart"}),
    "string_array_value": frozenset({_SLIDER_OF_OPTIONS, "multiselect", "button_group"}),
    "file_uploader_state_value": frozenset({"file_uploader"}),  # by ids that only their own session can name
    **dict.fromkeys(("json_value", "json_trigger_value"), frozenset({"bidi_component"})),
}
_VALID: Mapping[str, Fits] = {
    "double_value": math.isfinite,
    "bidi_component": lambda text: isinstance(_json(text), dict | list),
    "dataframe": _selection({"rows": _list(_is_place), "columns": _NONE, "cells": _list(_is_cell, 1)}),
    "plotly_chart": _selection({"points": _list(_is_dot), "box": _DRAWN, "lasso": _DRAWN}, are_needed=True),
}


@dataclass
class Pace:
    """A token bucket: ``burst`` tokens at once, then ``rate`` per second.

    Turns are first come, first served. A waiter that is cancelled has taken nothing.
    """

    rate: float
    burst: float
    _empty_until: float = 0.0
    _line: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def turn(self, tokens: float) -> None:
        """Wait until there are enough tokens, and take them."""
        async with self._line:
            now = monotonic()
            empty_until = max(self._empty_until, now - self.burst / self.rate) + tokens / self.rate
            if empty_until > now:
                await asyncio.sleep(empty_until - now)
            self._empty_until = empty_until
