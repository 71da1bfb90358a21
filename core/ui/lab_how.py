"""How the Lab ranks and judges, for its readers."""

from __future__ import annotations

import streamlit as st

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
