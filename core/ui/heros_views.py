"""The views of the HEROS page below its profile; only the chosen one is computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import streamlit as st

from core.ui import heros_behaviour, heros_data, heros_orderings, heros_sentences, heros_spread
from core.ui.heros_view import Shown


@dataclass(frozen=True)
class View:
    """A view: the question that it answers, and what draws it."""

    question: str
    show: Callable[[Shown], None]


DEFAULT = "orderings"
# By their names, which also stand in the address.
VIEWS: Mapping[str, View] = {
    DEFAULT: View("Which rewrite is nearer to the original, and do two encoders differ in it?", heros_orderings.show),
    "sentences": View("On which sentences does it go wrong?", heros_sentences.show),
    "spread": View("How far do sentences differ, and what would a transform change?", heros_spread.show),
    "behaves like": View("Which published encoders does it resemble?", heros_behaviour.show),
    "the data": View("How much do a sentence and its rewrite share?", heros_data.show),
}


def look_closer(shown: Shown) -> None:
    """Let the reader choose a view, and show it."""
    name = st.segmented_control(
        "Look closer",
        list(VIEWS),
        default=DEFAULT,
        required=True,
        key="heros_view",
        bind="query-params",
        help="\n".join(f"- **{name}**: {view.question}" for name, view in VIEWS.items()),
    )
    view = VIEWS[str(name)]
    st.markdown(f"**{view.question}**")
    view.show(shown)
