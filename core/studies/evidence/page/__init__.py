"""The page Evidence: its controls and its views."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from core import ui
from core.studies.evidence.page import correlations, published, ranks
from core.studies.evidence.page.choices import EvidenceView, selected
from core.ui.resources import scheme
from core.ui.widgets.views import View, choose_view

# The keys are also in the address; the first is the default.
VIEWS: Mapping[str, View[EvidenceView]] = {
    "correlations": View("Which benchmark scores correlate with which tasks?", correlations.every),
    "cell": View("Which models are behind a correlation, and does it depend on one family?", correlations.one_cell),
    "compare": View("Does one evaluator predict tasks better than another?", correlations.two_evaluators),
    "ranks": View("Which models rank differently by score and by task?", ranks.show),
    "published": View("What have papers found, and with which models?", published.show),
}

HOW = r"""
- An **evaluator** is a score of an encoder that needs no task; the outcome is how well a classifier does on its
  embeddings (page *Transfer*). Both are read from the store: per dataset the runs over its newest content with usual
  parameters (cosine, the paper's definition of ranks; of tasks the chosen classifier, seed 1), the transform fitted on
  the run's own items, on the items that most variants were run on, of each variant the newest run.
- **rho** is Spearman's rank correlation over the variants that have both scores; the tied share the mean of their
  ranks, and scores are equal that differ by less than $10^{-6}$. ↓ marks what counts as better where there is less of
  it (alignment, uniformity, anisotropy, hubness; in HEROS similarity to a rewrite that changes the meaning): its sign
  is turned, so that more is better on both sides. Hubness is of runs of *Geometry*, within a sample; people's
  precision is of votes outside of sessions and of revealed ones.
- **Families.** Variants of one model are no independent evidence: poolings, sizes and transforms of an encoder are one
  family, as are copies of one file. Files that differ are taken for different models, also where both came from one
  training: then intervals are too narrow.
- **Intervals** leave each family out in turn, with all its variants: the spread of rho, on Fisher's scale, gives its
  standard error (a jackknife), and Student's t with the number of families less one its factor. With fewer than ten
  families there is no interval. Taking 24 variants of 6 families for independent would exclude 0 in 25% of cases in
  which nothing is related, if variants of a family correlate at 0.9 (in 13% at 0.6); these intervals do in 2 to 5%.
- **Two evaluators** are compared by the difference of their rho with one task, over the same variants, likewise.
  Intervals are not corrected for how many cells there are: of twenty that mean nothing, one leaves 0 out.
- At the sentence level MRPC and SICK-E are left out unless asked for, since they are much like similarity sets.
"""


def show() -> None:
    """The page."""
    picks = ui.page("Evidence", "Do benchmark scores predict downstream performance?")
    with ui.errors_shown():
        if shown := selected(picks):
            choose_view(shown, VIEWS, "Details", key="evidence_view")
        else:
            st.subheader("Published results", anchor=False)
            published.show_tables(scheme())
    with st.expander("How is this computed?", icon=":material/function:"):
        st.markdown(HOW)
        st.caption(
            "Source: Wang, Kuo and Li 2022, Just Rank, sections 4.5, 5, 6, appendix C.3, tables 3, 6 and 11. The "
            "intervals are not the paper's."
        )
