"""Downloads: made, and allowed or refused, when the button is pressed, not when it was drawn.

A page stays open for hours. Meanwhile sessions are opened or hidden, datasets and runs are deleted, a visitor's part of
the cache is cleared. So every press asks ``policy`` for the reader of the page and makes the file anew. It runs in a
thread of its own, outside of any run of a page: nothing here may use Streamlit's state.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from blindspot import names, policy
from blindspot.datasets.catalog import title_of
from blindspot.errors import BlindspotError
from blindspot.files.export import as_file
from blindspot.jobs.visitors import Visitor
from blindspot.names import Names
from blindspot.ui.resources import settings, shared_repository, shared_settings, visitor

if TYPE_CHECKING:
    import pandas as pd

CSV, PARQUET, JSON, ZIP = "text/csv", "application/vnd.apache.parquet", "application/json", "application/zip"
TEXT = "text/plain"
TABLES = (("CSV", ".csv", CSV), ("Parquet", ".parquet", PARQUET))  # title, ending and type of the files of a table
LINES = ("JSONL", ".jsonl", "application/jsonl")


@dataclass(frozen=True)
class Holds:
    """Contents of a file: texts of ``dataset`` (a reference, or "") and results of ``runs`` (ids)."""

    dataset: str = ""
    runs: tuple[str, ...] = ()


def button(
    label: str,
    make: Callable[[], bytes],
    holds: Holds,
    *,
    file_name: str,
    mime: str,
    key: str,
    icon: str = ":material/download:",
    help: str | None = None,
) -> None:
    """A download button; ``make`` gives the file's content when it is pressed, and may raise ``BlindspotError``."""
    st.download_button(
        label,
        data=_Delivery(make, holds, visitor(), bool(settings().session), names.current()),
        file_name=file_name,
        mime=mime,
        key=key,
        on_click="ignore",
        icon=icon,
        help=help,
    )


def tables(
    rows: Callable[[], pd.DataFrame], holds: Holds, *, stem: str, key: str, help: str, has_lines: bool = False
) -> None:
    """Download buttons for a table as CSV and as Parquet, and as JSON lines if asked; ``key`` is followed by the
    ending."""
    with st.container(horizontal=True, vertical_alignment="center"):
        for title, ending, mime in (*TABLES, *([LINES] if has_lines else [])):
            make = partial(_file, rows, ending)
            button(title, make, holds, file_name=f"{stem}{ending}", mime=mime, key=f"{key}{ending}", help=help)


def _file(rows: Callable[[], pd.DataFrame], ending: str) -> bytes:
    return as_file(rows(), ending)


def stem_of(*parts: str) -> str:
    """A stem for a file's name; a dataset's reference (with a colon) is its name."""
    named = [title_of(part) if ":" in part else part for part in parts]
    return re.sub(r"[^\w.~-]+", "-", "-".join(named)).strip("-")


@dataclass(frozen=True)
class _Delivery:
    """A file for one reader (None on one's own machine); ``is_own`` if it is made of the reader's own uploads.

    What it says is called as on the page that it was offered on.
    """

    make: Callable[[], bytes]
    holds: Holds
    reader: Visitor | None
    is_own: bool
    names: Names

    def __call__(self) -> bytes:
        place = self.reader.place if self.reader and self.is_own else None
        gone = self.reader is not None and self.reader.gone.is_set()
        now = place.settings if place else shared_settings()
        policy.check_delivery(self.holds.dataset, now, reader_is_gone=gone)
        store = place.repository if place else shared_repository()
        for run_id in self.holds.runs:
            store.run(run_id)  # raises where it was deleted
        with names.in_force(self.names):
            return self.make()


class _InOneLine(logging.Filter):
    """Logs a refused file as one line without a traceback: it is no fault of the server."""

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(reason := error.__cause__ if error else None, BlindspotError):
            record.exc_info, record.exc_text = None, None
            record.levelno, record.levelname = logging.WARNING, logging.getLevelName(logging.WARNING)
            record.msg, record.args = "a file was not delivered: %s", (str(reason),)
        return True


logging.getLogger("streamlit.runtime.backend_operation_handler").addFilter(_InOneLine())
