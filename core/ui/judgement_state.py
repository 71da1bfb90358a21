"""What the parts of the pages of human judgement are given."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import streamlit as st

from core.judgement.types import ItemSet, Session, Task
from core.store.judgements import Judgements
from core.ui.resources import shared_repository


def judgements() -> Judgements:
    """The human judgements of this server's store."""
    return Judgements(shared_repository().database)


def hidden_sessions(facilitated: Collection[str] = ()) -> frozenset[str]:
    """Sessions whose results are not revealed yet, without those whose facilitator the reader is."""
    return frozenset(
        session.name for session in judgements().sessions() if not session.revealed and session.name not in facilitated
    )


@dataclass(frozen=True, eq=False)
class Judged:
    """A set of items that is answered and looked at.

    Attributes:
        session: the session that the reader is in; None outside of one: then everybody sees the results.
        facilitates: whether the reader is the session's facilitator.
    """

    task: Task
    items: ItemSet
    session: Session | None = None
    facilitates: bool = False

    @property
    def session_name(self) -> str:
        """The session's name as votes carry it: "" outside of one."""
        return self.session.name if self.session else ""


@st.cache_resource(show_spinner=False, max_entries=20)
def item_set(_store: Judgements, path: str, set_id: str) -> ItemSet | None:  # noqa: ARG001 - path is part of the key
    """A stored set, which never changes."""
    return _store.find_set(set_id)


_PAGES = {Task.INTRUDER: "pages/intruder.py", Task.COMPARATIVE: "pages/compare_votes.py"}


def page_of(task: Task) -> str:
    """The page's file, for links."""
    return _PAGES[task]


def other_task(task: Task) -> Task:
    return Task.COMPARATIVE if task is Task.INTRUDER else Task.INTRUDER


def link_for(session: str = "", set_id: str = "", view: str = "") -> dict[str, str]:
    """Query parameters of a link to a page of human judgement; "" is left out."""
    named = {"session": session, "set": set_id, "judge": view}
    return {name: value for name, value in named.items() if value}
