"""The views of the page Evidence; only the chosen one is computed."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from core.ui import evidence_cell, evidence_compare, evidence_map, evidence_published, evidence_ranks
from core.ui.evidence_view import Shown
from core.ui.resources import scheme
from core.ui.views import View, choose_view

# By their names, which also stand in the address; the first is the default.
VIEWS: Mapping[str, View[Shown]] = {
    "correlations": View(
        "Which scores without a task go up and down with how well encoders do on one?", evidence_map.show
    ),
    "cell": View("Which variants make a correlation, and does it stand on one family?", evidence_cell.show),
    "compare": View("Does one evaluator foretell tasks better than another?", evidence_compare.show),
    "ranks": View("Which models do the scores order otherwise than a task does?", evidence_ranks.show),
    "published": View("What have papers found, and over which models?", evidence_published.show),
}


def look_closer(shown: Shown) -> None:
    """Let the reader choose a view, and show it."""
    choose_view(shown, VIEWS, "Look at", key="evidence_view")


def published_alone() -> None:
    """What papers have found, while too little is measured here."""
    st.subheader("Until then: what papers have found", anchor=False)
    evidence_published.show_alone(scheme())
