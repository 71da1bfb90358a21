"""Resources of pages: settings, the store, the job queue, caches, the theme.

All sessions of a server share them. On a demo, a session that has picked an upload of its own works in its own part of
the cache: ``settings()`` and ``repository()`` are then of that part, so that others see nothing of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, ParamSpec, Protocol, TypeVar

import numpy as np
import pandas as pd
import streamlit as st
from streamlit import config, runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile

from blindspot import policy
from blindspot.datasets import fetch
from blindspot.datasets.entries import DatasetEntry, SourceFile
from blindspot.datasets.kinds import KINDS
from blindspot.datasets.kinds.base import Dataset
from blindspot.datasets.user_data.files import is_own
from blindspot.datasets.word_frequency import Frequencies
from blindspot.diagnostic import all_diagnostics
from blindspot.figures.theme import Scheme
from blindspot.jobs import visitors
from blindspot.jobs.queue import JobQueue
from blindspot.jobs.visitors import Visitor, Visitors
from blindspot.policy import Policy
from blindspot.runs import log as joblog
from blindspot.runs.spaces import Space
from blindspot.settings import Settings
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository

PICKED_DATASET = "data"  # the key of the shared picker

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)

Keys = Mapping[type, Callable[[Any], object]]


class Cached(Protocol[P, R_co]):
    """A function with cached results."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co: ...

    def clear(self) -> None: ...


# --- caches


def _content(dataset: Dataset) -> object:
    return dataset.id, dataset.content_digest, tuple(column.digest for column in dataset.own_columns)


def on_disk(path: Path) -> object:
    """Cache key of a file, which changes whenever the file does."""
    try:
        stat = path.stat()
    except OSError:
        return str(path)
    return str(path), stat.st_ino, stat.st_size, stat.st_mtime_ns


def _source(file: SourceFile) -> object:
    return on_disk(fetch.local_path(file, settings())), fetch.recorded_checksum(file, settings())


def _refuse(value: object) -> NoReturn:
    raise TypeError(f"a {type(value).__name__} is no key of a cache: name its parameter _so, and pass what decides it")


# Streamlit looks for the very class of an argument, not for its bases, and never inside a dataclass. Of a large array
# or table it would hash a sample, and so mistake one for another. What is kept of runs and spaces may name them.
KEYS: Keys = {
    RunRecord: lambda run: (run.run_id, run.plan.variant.label),
    Space: lambda space: (space.digest, space.variant.label),
    **dict.fromkeys(map(type, all_diagnostics().values()), lambda entry: (entry.id, entry.version)),
    SourceFile: _source,
    DatasetEntry: lambda entry: (entry.id, entry.revision, entry.own and entry.own.sha256, entry.files),
    UploadedFile: lambda file: file.file_id,
    Frequencies: lambda run: (run.source, run.digest),
    **dict.fromkeys(KINDS.values(), _content),
    **dict.fromkeys((np.ndarray, np.memmap, pd.DataFrame, pd.Series), _refuse),
}


def cached(
    most: int, spinner: str | bool = False, *, shared: bool = False, ttl: float | None = None, keys: Keys | None = None
) -> Callable[[Callable[P, R_co]], Cached[P, R_co]]:
    """Cache a page's function by its arguments, except those that start with _, which must follow from the others.

    Args:
        most: entries.
        shared: all callers get the same object, which nobody may change; otherwise each gets a copy.
        ttl: seconds.
        keys: identify arguments of classes that are not in ``KEYS``.
    """
    keep: Callable[..., Any] = st.cache_resource if shared else st.cache_data
    decorate: Callable[[Callable[P, R_co]], Cached[P, R_co]] = keep(
        max_entries=most, show_spinner=spinner, ttl=ttl, hash_funcs={**KEYS, **(keys or {})}
    )
    return decorate


@cached(4, "Reading the dataset …", shared=True)
def load(entry: DatasetEntry) -> Dataset:
    """A dataset whose files are here."""
    return fetch.load(entry, settings())


# --- shared by all sessions


@st.cache_resource(show_spinner=False)
def shared_settings() -> Settings:
    """The server's settings."""
    settings_now = Settings.from_environment()
    if not policy.of(settings_now).changes:
        visitors.clear_left_over(settings_now)
        visitors.keep_out_of_logs()
    return settings_now


@st.cache_resource(show_spinner=False)
def shared_repository() -> Repository:
    """The store that all sessions see."""
    return Repository.at(shared_settings().store)


@st.cache_resource(show_spinner=False)
def jobs() -> JobQueue:
    joblog.echo_to_stderr()
    return JobQueue(shared_settings(), shared_repository())


@st.cache_resource(show_spinner=False)
def _visitors() -> Visitors:
    patience = config.get_option("server.disconnectedSessionTTL")  # for so long a browser finds its session again
    return Visitors(shared_settings(), jobs(), _is_connected, patience)


def _is_connected(session: str) -> bool:
    return runtime.exists() and runtime.get_instance().is_active_session(session)


@dataclass(frozen=True)
class _Arrival:
    visitors: Visitors
    session: str
    visitor: Visitor


# Streamlit releases it as soon as the connection ends, and asks again when the browser is back.
@st.cache_resource(show_spinner=False, scope="session", on_release=lambda visit: visit.visitors.leaves(visit.session))
def _arrival() -> _Arrival:
    context = get_script_run_ctx()
    session = "" if context is None else context.session_id
    return _Arrival(_visitors(), session, _visitors().arrives(session))


def allowed() -> Policy:
    """What the reader may do here."""
    return policy.of(shared_settings())


def explained(error: Exception) -> str:
    """Text of an error for the reader; the log, and the host's own machine, have it with the paths of the server."""
    return allowed().explained(error)


def visitor() -> Visitor | None:
    """The reader, on a demo; None on one's own machine."""
    return None if allowed().changes else _arrival().visitor


def is_back_with_uploads() -> bool:
    """Whether the reader lost the connection and finds their uploads again; said once."""
    reader = visitor()
    return reader is not None and _visitors().came_back(_arrival().session) and reader.place.settings.uploads.is_dir()


def _has_picked_own() -> bool:
    picked = st.session_state.get(PICKED_DATASET)
    return isinstance(picked, str) and is_own(picked)


def settings() -> Settings:
    """The server's settings; on a demo the visitor's own while one of their uploads is picked."""
    reader = visitor()
    return reader.place.settings if reader and _has_picked_own() else shared_settings()


def upload_settings() -> Settings:
    """The settings of the reader's uploads."""
    reader = visitor()
    return reader.place.settings if reader else shared_settings()


def repository() -> Repository:
    """The store that belongs to ``settings()``."""
    reader = visitor()
    return reader.place.repository if reader and _has_picked_own() else shared_repository()


def bytes_in_forms(page: str) -> tuple[int, int]:
    """Bytes of the files that Streamlit holds for a page (its session's id), and for all."""
    if not runtime.exists():
        return 0, 0
    held = runtime.get_instance().uploaded_file_mgr.file_storage  # type: ignore[attr-defined]
    sizes = {name: sum(len(file.data) for file in list(files.values())) for name, files in list(held.items())}
    return sizes.get(page, 0), sum(sizes.values())


def scheme() -> Scheme:
    """The theme that the reader sees."""
    return Scheme.DARK if st.context.theme.type == "dark" else Scheme.LIGHT
