"""What pages work with: settings, the store, the worker, the theme.

All sessions of a server share them. On a demo, a session that has picked a text of its own works in a part of the
cache that is its own: ``settings()`` and ``repository()`` then are of that part, so that nothing of it comes among
what the others see.
"""

from __future__ import annotations

import streamlit as st
from streamlit import runtime

from core import policy
from core.datasets.own.files import is_own
from core.figures.theme import Scheme
from core.jobs import visitors
from core.jobs.queue import JobQueue
from core.jobs.visitors import Visitor
from core.policy import Policy
from core.runs import log as joblog
from core.settings import Settings
from core.store.repository import Repository

PICKED_DATASET = "data"  # the key of the shared picker


@st.cache_resource(show_spinner=False)
def shared_settings() -> Settings:
    """The server's settings, whoever asks."""
    found = Settings.from_environment()
    if not policy.of(found).changes:
        visitors.clear_left_over(found)
    return found


@st.cache_resource(show_spinner=False)
def shared_repository() -> Repository:
    """The store of what all sessions see."""
    return Repository.at(shared_settings().store)


@st.cache_resource(show_spinner=False)
def jobs() -> JobQueue:
    joblog.say_on_stderr()
    return JobQueue(shared_settings(), shared_repository())


@st.cache_resource(show_spinner=False, scope="session", on_release=visitors.end)
def _visitor() -> Visitor:
    return visitors.begin(shared_settings(), jobs())


def allowed() -> Policy:
    """What the reader may do here."""
    return policy.of(shared_settings())


def visitor() -> Visitor | None:
    """Who reads: a demo tells its visitors apart; None on a machine of one's own."""
    return None if allowed().changes else _visitor()


def _has_picked_own() -> bool:
    picked = st.session_state.get(PICKED_DATASET)
    return isinstance(picked, str) and is_own(picked)


def settings() -> Settings:
    """The server's settings; on a demo those of the visitor's own part while one of their uploads is picked."""
    reader = visitor()
    return reader.place.settings if reader and _has_picked_own() else shared_settings()


def upload_settings() -> Settings:
    """The settings of the place where the reader's uploads are kept."""
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
