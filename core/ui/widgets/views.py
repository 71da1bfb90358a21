"""Views of a page, one question each; only the chosen one is computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

import streamlit as st

from blindspot.ui.boundary import errors_shown
from blindspot.ui.widgets.choices import one_of

Shown = TypeVar("Shown")


@dataclass(frozen=True)
class View(Generic[Shown]):
    """A view: its question, and the function that draws it."""

    question: str
    show: Callable[[Shown], None]


def choose_view(shown: Shown, views: Mapping[str, View[Shown]], label: str, key: str) -> None:
    """Let the reader choose a view, and show it; names and ``key`` are in the address, the first is the default."""
    questions = "\n".join(f"- **{name}**: {view.question}" for name, view in views.items())
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        view = views[one_of(label, views, key, questions)]
        st.markdown(f"**{view.question}**", width="content")
    with errors_shown():
        view.show(shown)
