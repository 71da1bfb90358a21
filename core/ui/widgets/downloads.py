"""Files that a reader takes along: what may leave is decided when the button is pressed, not when it was drawn.

A page stays open for hours. Meanwhile a session is opened or hidden, a dataset or a run is deleted, a visitor's part of
the cache is cleared. So every file is made anew for the press, after ``policy`` has been asked for the reader whose
page it is. A press comes in a thread of its own, outside of any run of a page: nothing here may ask Streamlit's state.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from core import policy
from core.datasets import uploads
from core.errors import BlindspotError
from core.files.export import as_file
from core.jobs.visitors import Visitor
from core.ui.resources import settings, shared_repository, shared_settings, visitor

if TYPE_CHECKING:
    import pandas as pd

CSV, PARQUET, JSON, ZIP = "text/csv", "application/vnd.apache.parquet", "application/json", "application/zip"
TABLES = (("CSV", ".csv", CSV), ("Parquet", ".parquet", PARQUET))  # title, ending and type of the files of a table


@dataclass(frozen=True)
class Holds:
    """What a file is made of.

    Attributes:
        dataset: reference of the dataset whose texts are in it, or "".
        runs: ids of the runs whose results are in it.
    """

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
    """A button for a file.

    Args:
        make: the file's content, from what is there when it is called; it may raise ``BlindspotError``.
    """
    st.download_button(
        label,
        data=_Delivery(make, holds, visitor(), bool(settings().session)),
        file_name=file_name,
        mime=mime,
        key=key,
        on_click="ignore",
        icon=icon,
        help=help,
    )


def tables(rows: Callable[[], pd.DataFrame], holds: Holds, *, stem: str, key: str, help: str) -> None:
    """Buttons for a table as CSV and as Parquet.

    Args:
        rows: makes what the files hold.
        stem: of the files' names.
        key: of the buttons, with the ending.
    """
    with st.container(horizontal=True, vertical_alignment="center"):
        for title, ending, mime in TABLES:
            make = partial(_file, rows, ending)
            button(title, make, holds, file_name=f"{stem}{ending}", mime=mime, key=f"{key}{ending}", help=help)


def _file(rows: Callable[[], pd.DataFrame], ending: str) -> bytes:
    return as_file(rows(), ending)


def stem_of(*parts: str) -> str:
    """The stem of a file's name; of a dataset that is a file its name only, not where it lies on the server."""
    named = [uploads.short_name(part, shared_settings()).rsplit("/", 1)[-1] for part in parts]
    return re.sub(r"[^\w.~-]+", "-", "-".join(named)).strip("-")


@dataclass(frozen=True)
class _Delivery:
    """A file for one reader.

    Attributes:
        reader: whose page offers it; None on a machine of one's own.
        is_own: whether it is made of what is the reader's alone.
    """

    make: Callable[[], bytes]
    holds: Holds
    reader: Visitor | None
    is_own: bool

    def __call__(self) -> bytes:
        place = self.reader.place if self.reader and self.is_own else None
        gone = self.reader is not None and self.reader.gone.is_set()
        now = place.settings if place else shared_settings()
        policy.check_delivery(self.holds.dataset, now, reader_is_gone=gone)
        store = place.repository if place else shared_repository()
        for run_id in self.holds.runs:
            store.run(run_id)  # raises where it was deleted
        return self.make()


class _InOneLine(logging.Filter):
    """A file that was refused is no fault of the server: one line in its log, without a traceback."""

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(reason := error.__cause__ if error else None, BlindspotError):
            record.exc_info, record.exc_text = None, None
            record.levelno, record.levelname = logging.WARNING, logging.getLevelName(logging.WARNING)
            record.msg, record.args = "a file was not delivered: %s", (str(reason),)
        return True


logging.getLogger("streamlit.runtime.backend_operation_handler").addFilter(_InOneLine())
