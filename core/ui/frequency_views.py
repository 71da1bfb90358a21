"""The views of the Frequency page; only the chosen one is computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import streamlit as st

from core.ui import (
    frequency_bands,
    frequency_hubs,
    frequency_information,
    frequency_neighbours,
    frequency_norms,
)
from core.ui.frequency_view import Shown


@dataclass(frozen=True)
class View:
    """A view: the question that it answers, and what draws it."""

    question: str
    show: Callable[[Shown], None]


DEFAULT = "classifier"
# By their names, which also stand in the address.
VIEWS: Mapping[str, View] = {
    DEFAULT: View("How well does a linear classifier tell frequent from rare?", frequency_information.show),
    "neighbours": View("How frequent are the nearest neighbours?", frequency_neighbours.show),
    "bands": View("Is the encoder worse on rare words?", frequency_bands.show),
    "norms": View("Do frequent words have longer vectors?", frequency_norms.show),
    "hubs": View("Which items stand among the nearest of too many others?", frequency_hubs.show),
}


def look_closer(shown: Shown) -> None:
    """Let the reader choose a view, and show it."""
    name = st.segmented_control(
        "Look at",
        list(VIEWS),
        default=DEFAULT,
        required=True,
        key="frequency_view",
        bind="query-params",
        help="\n".join(f"- **{name}**: {view.question}" for name, view in VIEWS.items()),
    )
    view = VIEWS[str(name)]
    st.markdown(f"**{view.question}**")
    view.show(shown)
