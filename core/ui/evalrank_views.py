"""The views of the EvalRank page below its scores; only the chosen one is computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import streamlit as st

from core.ui import evalrank_kinds, evalrank_pairs, evalrank_trust, evalrank_versus, evalrank_what_if
from core.ui.evalrank_view import Shown


@dataclass(frozen=True)
class View:
    """A view: the question that it answers, and what draws it."""

    question: str
    show: Callable[[Shown], None]


DEFAULT = "pairs"
# By their names, which also stand in the address.
VIEWS: Mapping[str, View] = {
    DEFAULT: View("Which pairs does it get wrong, and what stands above the mate?", evalrank_pairs.show),
    "A against B": View("Is it really better, or could that be chance?", evalrank_versus.show),
    "kinds of pair": View("On which kinds of pair does the score come about?", evalrank_kinds.show),
    "trust": View("How much of the score is the way of counting, or training on the pairs?", evalrank_trust.show),
    "what if": View("What would another transform or similarity change?", evalrank_what_if.show),
}


def look_closer(shown: Shown) -> None:
    """Let the reader choose a view, and show it."""
    name = st.segmented_control(
        "Look closer",
        list(VIEWS),
        default=DEFAULT,
        required=True,
        key="view",
        bind="query-params",
        help="\n".join(f"- **{name}**: {view.question}" for name, view in VIEWS.items()),
    )
    view = VIEWS[str(name)]
    st.markdown(f"**{view.question}**")
    view.show(shown)
