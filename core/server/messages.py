"""Messages that a page's front end sends, by type, with the most that every text and list in them may hold.

Streamlit handles any message of its protocol, of any shape: a million names of files, say, are a million addresses in
its answer. What is not in the table here is no message of our pages.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from blindspot.errors import InputError

if TYPE_CHECKING:
    from streamlit.proto.BackMsg_pb2 import BackMsg

SHORT_BYTES = 64_000  # of all messages but those that rerun a page
LIST, NAME = 1_000, 300  # entries, characters

# Most characters of a text, entries of a list, or both of a list of texts, by place in the message. Numbers and
# switches need no entry; every other field that has none must be empty.
_CAPS: Mapping[str, int | tuple[int, int]] = {
    "rerun_script.query_string": 32_000,
    "rerun_script.page_script_hash": NAME,
    "rerun_script.page_name": NAME,
    "rerun_script.fragment_id": NAME,
    "rerun_script.cached_message_hashes": (10_000, NAME),
    "rerun_script.context_info.timezone": NAME,
    "rerun_script.context_info.locale": NAME,
    "rerun_script.context_info.url": 40_000,
    "rerun_script.context_info.color_scheme": NAME,
    "rerun_script.widget_states.widgets": 2_000,
    "rerun_script.widget_states.widgets.id": 2_000,
    "rerun_script.widget_states.widgets.string_value": 4_000_000,  # the choice of many points of a chart, too
    "rerun_script.widget_states.widgets.json_value": 64_000,
    "rerun_script.widget_states.widgets.json_trigger_value": 64_000,
    "rerun_script.widget_states.widgets.double_array_value.data": 2,  # ends of a slider
    "rerun_script.widget_states.widgets.string_array_value.data": (2_000, 32_000),
    "rerun_script.widget_states.widgets.file_uploader_state_value.uploaded_file_info": LIST,
    "rerun_script.widget_states.widgets.file_uploader_state_value.uploaded_file_info.name": 4 * NAME,
    "rerun_script.widget_states.widgets.file_uploader_state_value.uploaded_file_info.file_id": NAME,
    "rerun_script.widget_states.widgets.file_uploader_state_value.uploaded_file_info.file_urls.file_id": NAME,
    "rerun_script.widget_states.widgets.file_uploader_state_value.uploaded_file_info.file_urls.upload_url": 2 * NAME,
    "rerun_script.widget_states.widgets.file_uploader_state_value.uploaded_file_info.file_urls.delete_url": 2 * NAME,
    "stop_script": 0,
    "app_heartbeat": 0,
    "file_urls_request.request_id": NAME,
    "file_urls_request.file_names": (LIST, 4 * NAME),
    "file_urls_request.session_id": NAME,
    "backend_operation_request.request_id": NAME,
    "backend_operation_request.session_id": NAME,
    "backend_operation_request.deferred_file.file_id": NAME,
    "backend_operation_request.dataframe_chunk.source_id": NAME,
    "backend_operation_request.dataframe_chunk.sort.column": 4 * NAME,
}
_PARTS = frozenset(place[:at] for place in _CAPS for at, letter in enumerate(f"{place}.") if letter == ".")
# Streamlit writes these into its log, where a line end would begin a line of the sender's own.
_LOGGED = frozenset(
    {
        *("rerun_script.page_script_hash", "rerun_script.page_name", "rerun_script.fragment_id"),
        *(f"file_urls_request.{name}" for name in ("request_id", "session_id")),
        *(f"backend_operation_request.{name}" for name in ("request_id", "session_id", "deferred_file.file_id")),
        "backend_operation_request.dataframe_chunk.source_id",
    }
)


def parsed(data: bytes) -> BackMsg | None:
    """A message, without what is not of the protocol; None if its type is none that our pages send.

    Raises:
        InputError: it is no message, or holds more than a page sends.
    """
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
    from streamlit.proto.BackMsg_pb2 import BackMsg

    try:
        message: BackMsg = BackMsg.FromString(data)
    except DecodeError as error:
        raise InputError("what a browser sent is no message") from error
    kind = message.WhichOneof("type")
    if kind != "rerun_script" and len(data) > SHORT_BYTES:
        raise InputError(f"a message {kind} of {len(data):,} bytes", expected=f"at most {SHORT_BYTES:,}")
    if kind not in _PARTS:
        return None
    message.DiscardUnknownFields()
    _check(message, "")
    return message


def _check(message: Any, place: str) -> None:
    """Check lists before what is in them, so that it takes the time of what is allowed."""
    for field, value in message.ListFields():
        here = f"{place}.{field.name}" if place else field.name
        holds_more = field.cpp_type in {field.CPPTYPE_STRING, field.CPPTYPE_MESSAGE}
        if not holds_more and not field.is_repeated:
            continue  # a number or a switch
        if here not in _PARTS:
            raise InputError(f"no page of ours sends {here}")
        most = _CAPS.get(here, 0)
        entries, longest = most if isinstance(most, tuple) else (most, most)
        if field.is_repeated and len(value) > entries:
            raise _too_much(here, len(value), "entries", entries)
        for entry in (value if field.is_repeated else (value,)) if holds_more else ():
            if field.cpp_type == field.CPPTYPE_MESSAGE:
                _check(entry, here)
            elif len(entry) > longest:
                raise _too_much(here, len(entry), "characters", longest)
            elif here in _LOGGED and not entry.isprintable():
                raise InputError(f"{here} of a browser's message has characters that cannot be printed")


def _too_much(place: str, found: int, what: str, most: int) -> InputError:
    return InputError(f"{place} of a browser's message has {found:,} {what}", expected=f"at most {most:,}")
