"""Messages that a page's front end sends, with the most that every text and list in them may hold.

Streamlit handles any message of its protocol, of any shape: a million names of files, say, are a million addresses in
its answer. Our pages send no message, and no part of a message, that is not named here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from blindspot.errors import InputError

if TYPE_CHECKING:
    from streamlit.proto.BackMsg_pb2 import BackMsg

SHORT_BYTES = 64_000  # of all messages but those that rerun a page
_PARTS = frozenset(
    {
        *("rerun_script", "context_info", "widget_states", "widgets", "double_array_value", "string_array_value"),
        *("file_uploader_state_value", "uploaded_file_info", "file_urls", "file_urls_request"),
        *("backend_operation_request", "deferred_file", "dataframe_chunk", "sort"),
    }
)
# Characters of texts that people or their machines write. All others are printable names: Streamlit writes some into
# its log, where a line end would begin a line of the sender's own.
_TEXTS: Mapping[str, int] = {
    "query_string": 32_000,
    "url": 40_000,
    "id": 2_000,
    "string_value": 4_000_000,  # the choice of many points of a chart, too
    "data": 32_000,
    **dict.fromkeys(("json_value", "json_trigger_value"), 64_000),
    **dict.fromkeys(("name", "file_names", "column"), 1_200),
}
_NAME = 300
_LISTS: Mapping[str, int] = {"widgets": 2_000, "data": 2_000, "cached_message_hashes": 10_000}
_LIST, _NUMBERS = 1_000, 2  # entries of all others; of a list of numbers: the ends of a slider


def parsed(data: bytes) -> BackMsg | None:
    """A message, without fields that the protocol lacks; None if our pages send no messages of its type.

    Raises:
        InputError: it is no message, or is larger than a page's messages can be.
    """
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
    from streamlit.proto.BackMsg_pb2 import BackMsg
    from streamlit.runtime.runtime_util import get_max_widget_state_size_bytes

    _bound("a message", len(data), "bytes", get_max_widget_state_size_bytes())
    try:
        message: BackMsg = BackMsg.FromString(data)
    except DecodeError as error:
        raise InputError("what a browser sent is no message") from error
    kind = message.WhichOneof("type")
    if kind != "rerun_script":
        _bound(f"a message {kind}", len(data), "bytes", SHORT_BYTES)
    if kind not in _PARTS | {"stop_script", "app_heartbeat"}:
        return None
    message.DiscardUnknownFields()
    _check(message)
    return message


def _check(message: Any) -> None:
    """Check the lengths of lists before their entries, so that a long list costs no time."""
    for field, value in message.ListFields():
        name, is_message = field.name, field.type == field.TYPE_MESSAGE
        if field.type == field.TYPE_BYTES or (is_message and name not in _PARTS):
            raise InputError(f"no page of ours sends {field.full_name}")
        is_number = not is_message and field.type != field.TYPE_STRING
        if field.is_repeated:
            _bound(field.full_name, len(value), "entries", _NUMBERS if is_number else _LISTS.get(name, _LIST))
        for entry in () if is_number else value if field.is_repeated else (value,):
            if is_message:
                _check(entry)
                continue
            _bound(field.full_name, len(entry), "characters", _TEXTS.get(name, _NAME))
            if name not in _TEXTS and not entry.isprintable():
                raise InputError(f"{field.full_name} of a browser's message has characters that cannot be printed")


def _bound(what: str, n: int, unit: str, most: int) -> None:
    if n > most:
        raise InputError(f"{what} of a browser has {n:,} {unit}", expected=f"at most {most:,}")
