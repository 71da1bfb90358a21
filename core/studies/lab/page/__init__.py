"""The page Lab: a form, the grid that it describes, and its views."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from core import ui
from core.studies.lab.page import progress, size, views
from core.studies.lab.page.form import form
from core.studies.lab.page.progress import LabView
from core.ui.widgets.views import View, choose_view

# The keys are also in the address; the first is the default.
VIEWS: Mapping[str, View[LabView]] = {
    "grid": View("What does each encoder score under each setting?", views.grid),
    "ranking": View("How does the ranking of encoders move with each choice?", views.ranking),
    "agreement": View("Which choice moves the ranking, and how far?", views.agreement),
    "verdicts": View("Is one encoder better than another whatever is chosen?", views.by_pair),
    "size": View("Which encoder is better at equal size?", size.show),
}

HOW = r"""
Every cell is an ordinary run, of one encoder with one transform by one similarity on one task; it is stored, and found
on every other page. A grid is computed as one job. Cancelled, it continues from the cells that are there.

- A **setting** is all that a score depends on beside the encoder: the score itself, the similarity, the transform, the
  size. Encoders are ranked under every setting for itself; scores that are equal to the chosen number of decimals are
  tied and share the mean of their places.
- **Agreement** of two settings is the rank correlation of the encoders, Kendall's $\tau_b$ or Spearman's $\rho$, over
  the encoders that both have. What *one choice alone* does is read off the pairs of settings that differ in nothing
  else.
- A **verdict** of two encoders counts the settings in which either is before the other. It is *stable* where one of
  them is never behind. A choice *turns* it where, all else held, either leads for some value of it.
- Scores that describe a space without being better or worse (anisotropy, hubness) are shown and not ranked by.
- **Fitted on the test items**: a transform that learns from the items that are tested has seen the test, as published
  whitening and flow have. *Held out* fits it on another dataset's items, encoded by the same encoder.
- Encoders without a vector for some items (word vectors) are compared on what all the encoders of the grid cover.
"""


def show() -> None:
    """The page."""
    picks = ui.page(
        "Lab", "How much do similarity, post-processing and size change the scores and the ranking of models?"
    )
    with ui.errors_shown():
        if (grid := form(picks)) and (shown := progress.stored(grid)):
            choose_view(shown, VIEWS, "Details", key="lab_view")
    with st.expander("How is this computed?", icon=":material/function:"):
        st.markdown(HOW)
        st.caption(
            "Source: Wang, Kuo and Li 2022, Just Rank, tables 1b and 10; Eger, Rücklé and Gurevych 2019, Pitfalls in "
            "the Evaluation of Sentence Embeddings, section 3 and table 2."
        )
