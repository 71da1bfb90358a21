"""Views of a page, one question each; only the chosen one is computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

import streamlit as st

from blindspot.ui.boundary import errors_shown, fragment
from blindspot.ui.page_state import VIEW
from blindspot.ui.widgets.addressed import tab_named

Shown = TypeVar("Shown")


@dataclass(frozen=True)
class View(Generic[Shown]):
    """A view: its question, and the function that draws it."""

    question: str
    show: Callable[[Shown], None]


def choose_view(shown: Shown, views: Mapping[str, View[Shown]]) -> None:
    """Let the reader choose a view, and show it; its name is in the address, the first is the default.

    Another choice redraws the view alone: it must not write into what is above it.
    """
    _choose_and_show(shown, views)


def choose_page(shown: Shown, views: Mapping[str, View[Shown]]) -> None:
    """As ``choose_view``, of views that also write elsewhere: another choice redraws the whole page."""
    _draw(shown, views)


def _draw(shown: Shown, views: Mapping[str, View[Shown]]) -> None:
    questions = "\n".join(f"- **{name}**: {view.question}" for name, view in views.items())
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        view = views[tab_named("View", list(views), key=VIEW, name=str, help=questions)]
        st.markdown(f"**{view.question}**", width="content")
    with errors_shown():
        view.show(shown)


_choose_and_show = fragment(_draw)
