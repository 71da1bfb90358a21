"""Page Evidence: headline, options and views."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from blindspot import ui
from blindspot.studies.evidence.page import correlations, published, ranks
from blindspot.studies.evidence.page.choices import EvidenceView, selected
from blindspot.ui.resources import scheme
from blindspot.ui.widgets.views import View, choose_view

# The keys are also in the address; the first is the default.
VIEWS: Mapping[str, View[EvidenceView]] = {
    "correlations": View("Which benchmark scores correlate with which tasks?", correlations.every),
    "cell": View("One correlation in detail: the models, and does it depend on one family?", correlations.one_cell),
    "compare": View("Which of two benchmark scores predicts a task better?", correlations.two_evaluators),
    "ranks": View("Which models rank differently by benchmark score and by task?", ranks.show),
    "published": View("What have papers found, with which models?", published.show),
}

HOW = r"""
- A **benchmark score** needs no downstream task (an *evaluator* in the paper); **downstream performance** is
  the score of a classifier trained on the embeddings (*Classification*). Both come from stored runs: per dataset, the
  newest content with default parameters (cosine, the paper's definition of ranks; for tasks the chosen classifier, seed
  1), post-processing fitted on the run's own texts, on the texts that most models were run on, each model's newest run.
- **rho** is Spearman's rank correlation over the models that have both scores; ties share the mean of their ranks, and
  scores that differ by less than $10^{-6}$ are ties. ↓ marks scores where lower is better (alignment, uniformity,
  anisotropy, hubness; in HEROS, similarity to a rewrite that changes the meaning). Their sign is already reversed: a
  positive rho always means that a better benchmark score goes with better downstream performance. Hubness comes from
  *Geometry*, within a sample; people's precision counts votes outside sessions and of revealed sessions.
- **Families.** Variants of one model are not independent evidence: poolings, sizes and post-processings of a model are
  one family, as are copies of one file. Files that differ count as different models even if they come from the same
  training; intervals are then too narrow.
- **Intervals** leave each family out in turn with all its models: the spread of rho, on Fisher's scale, gives a
  standard error (jackknife), combined with Student's t with one degree of freedom less than there are families. With
  fewer than ten families there is no interval. Treating 24 variants of 6 families as independent would exclude 0 in 25%
  of cases without any relation if variants of a family correlate at 0.9 (13% at 0.6); these intervals do in 2 to 5%.
- **Two benchmark scores** are compared by the difference of their rho with one task, over the same models, in the same
  way. Intervals are not corrected for the number of cells: of twenty unrelated ones, about one excludes 0.
- For sentences, MRPC and SICK-E are left out by default, as in the paper: these tasks resemble similarity benchmarks.
"""


def show() -> None:
    """The page."""
    picks = ui.page("Do scores predict tasks?", "Do benchmark scores predict downstream performance?")
    with ui.errors_shown():
        top = st.container()  # the headline's place, above what it counts
        if shown := selected(picks):
            with top:
                correlations.headline(shown)
            choose_view(shown, VIEWS)
        else:
            st.subheader("Published results", anchor=False)
            published.show_tables(scheme())
    ui.how(
        HOW,
        source="Wang, Kuo and Li 2022, Just Rank, sections 4.5, 5, 6, appendix C.3, tables 3, 6 and 11. The "
        "intervals are not the paper's.",
    )
