"""Page Lab: a headline, a form, the grid that it describes, and its views."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from blindspot import ui
from blindspot.numerics.statistics.families import FEWEST_FAMILIES
from blindspot.studies.evidence.scores import family_of
from blindspot.studies.lab.page import headline, matched, progress, series, size, views
from blindspot.studies.lab.page.form import form
from blindspot.studies.lab.page.progress import LabView
from blindspot.ui.widgets.doubts import show_doubts
from blindspot.ui.widgets.tables import show_limits
from blindspot.ui.widgets.views import View, choose_view

EVIDENCE = "evidence"  # a part of this page, which needs more families of models than most stores have
# The keys are also in the address; the first is the default.
VIEWS: Mapping[str, View[LabView]] = {
    "grid": View("What does each model score under each setting?", views.grid),
    "ranking": View("How does the ranking of models change with each choice?", views.ranking),
    "agreement": View("Which choice changes the ranking most?", views.agreement),
    "order": View("Which models keep their order under every choice?", views.by_pair),
    "size": View("What does each model score with the same number of dimensions?", size.show),
    "matched": View("Does the order of two models change when their dimensions are matched?", matched.show),
    "layers": View("Which layer of a model is best?", series.layers),
    "prompts": View("How much does a score depend on the prompt?", series.prompts),
    "published": View("What have papers found with other similarities and post-processing?", views.published),
}

HOW = r"""
Each cell is an ordinary run: one model, one post-processing, one similarity, one task. It appears on all other pages
too. A grid is computed as one job; after a cancellation it continues where it stopped.

- **Post-processing**: a chain of steps, described below the pickers and in their help; *none* is the model unchanged.
- A **setting** is everything a score depends on besides the model: the score itself, the similarity, the
  post-processing, the size. Models are ranked separately under each setting. Scores that are equal after rounding are
  ties and share the mean of their places.
- The **headline** names, for each score, the largest difference from the same model's score without post-processing,
  tested as the diagnostic's own page does, with the p-value multiplied by the number of changes of all scores. Only a
  pair of models with scores under two or more post-processings, similarities or sizes can keep or change its order.
- **Agreement** of two settings is the rank correlation of the models, Kendall's $\tau_b$ or Spearman's $\rho$, over the
  models that both have. The effect of *one choice alone* is measured over pairs of settings that differ only in it.
- The **order** of two models counts the settings in which either scores better, by however little: scores of two
  models are not tested here, so it is no verdict (*Compare* tests them). It is *stable* if one of them is never worse.
  A choice *reverses* it if, with everything else fixed, each scores better for some value of that choice.
- **Matched dimensions**: every two models at their own sizes, with the larger one truncated or projected, and with the
  smaller one grown. Each is the diagnostic's paired test of two ordinary runs, with p-values after Holm over its main
  scores, as on the other pages; how many hold for all comparisons at once is said below.
- **Layers** and **prompts**: each is a model of its own, tested against the model itself; p-values are multiplied by
  the number of layers or prompts, and intervals of differences hold for all at once.
- Scores that describe a space without being better or worse (anisotropy, hubness) are shown but not ranked by.
- **Fitted on the test texts**: post-processing that learns from the tested texts has seen the test, as published
  whitening and flow have. *Held out* fits it on another dataset, encoded by the same model.
- Models without a vector for some texts (word vectors) are compared on the texts that all models of the grid cover.
"""


def show() -> None:
    """The page."""
    families = {family_of(variant.encoder) for variant in ui.repository().variants()}
    picks = ui.page(
        "Lab",
        "How much do similarity, post-processing and size change the scores and the ranking of models?",
        hidden_parts=() if len(families) >= FEWEST_FAMILIES else (EVIDENCE,),
    )
    with ui.errors_shown():
        # What the form asks for decides the answer, and a whole answer is above the form.
        top, whole = st.container(), st.container()
        grid = form(picks)
        shown = progress.stored(grid) if grid else None
        part = st.container()
        if shown:
            with top:
                headline.show(shown)
                for entry in {task.entry: None for task in shown.grid.tasks}:
                    show_doubts(entry, [run for run in shown.found.values() if run.plan.diagnostic == entry.id])
            with whole if shown.is_whole else part:
                choose_view(shown, VIEWS)
                show_limits(task.dataset for task in shown.grid.tasks)
        else:
            with part:
                st.subheader("Published results", anchor=False)
                views.published()
    ui.how(
        HOW,
        source="Wang, Kuo and Li 2022, Just Rank, tables 1b and 10; Eger, Rücklé and Gurevych 2019, Pitfalls in "
        "the Evaluation of Sentence Embeddings, section 3 and table 2; on layers Skean et al. 2025, arXiv "
        "2502.02013; on prompts arXiv 2605.22544.",
    )
