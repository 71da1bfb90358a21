"""The views of the Lab; only the chosen one is computed."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from core import ui
from core.studies.lab.page import grid as lab_grid
from core.studies.lab.page import progress as lab_parts
from core.studies.lab.page import rankings as lab_rankings
from core.studies.lab.page import size as lab_size
from core.studies.lab.page import verdicts as lab_verdicts
from core.studies.lab.page.form import form
from core.studies.lab.page.shown import Shown
from core.ui.widgets.views import View, choose_view

# By their names, which also stand in the address; the first is the default.
VIEWS: Mapping[str, View[Shown]] = {
    "grid": View("What does each encoder score under each setting?", lab_grid.show),
    "ranking": View("How does the ranking of encoders move with each choice?", lab_rankings.ranking),
    "agreement": View("Which choice moves the ranking, and how far?", lab_rankings.agreement),
    "verdicts": View("Is one encoder better than another whatever is chosen?", lab_verdicts.show),
    "size": View("Which encoder is better at equal size?", lab_size.show),
}


def look_closer(shown: Shown) -> None:
    """Let the reader choose a view, and show it."""
    choose_view(shown, VIEWS, "Look at", key="lab_view")


# How the Lab ranks and judges, for its readers.

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


def how_ranked() -> None:
    """The expander that the page ends with."""
    with st.expander("How is this computed?", icon=":material/function:"):
        st.markdown(HOW)
        st.caption(
            "Source: Wang, Kuo and Li 2022, Just Rank, tables 1b and 10; Eger, Rücklé and Gurevych 2019, Pitfalls in "
            "the Evaluation of Sentence Embeddings, section 3 and table 2."
        )


# The page lab.


def show() -> None:
    """The page."""
    picks = ui.page(
        "Lab", "How much of a score is the similarity, the post-processing, the size? Turn a knob, and see what moves."
    )
    with ui.errors_shown():
        if (grid := form(picks)) and (shown := lab_parts.gather(grid)):
            look_closer(shown)
    how_ranked()
