"""Views of a page: one question each, chosen by the reader; only the chosen one is computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

import streamlit as st

from core.ui.boundary import errors_shown

Shown = TypeVar("Shown")


@dataclass(frozen=True)
class View(Generic[Shown]):
    """A view: the question that it answers, and what draws it."""

    question: str
    show: Callable[[Shown], None]


def choose_view(shown: Shown, views: Mapping[str, View[Shown]], label: str, key: str) -> None:
    """Let the reader choose a view, and show it.

    Args:
        views: by their names, which also stand in the address; the first is the default.
        key: of the choice, in the session and in the address.
    """
    name = st.segmented_control(
        label,
        list(views),
        default=next(iter(views)),
        required=True,
        key=key,
        bind="query-params",
        help="\n".join(f"- **{name}**: {view.question}" for name, view in views.items()),
    )
    view = views[str(name)]
    st.markdown(f"**{view.question}**")
    with errors_shown():
        view.show(shown)
