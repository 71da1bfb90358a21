"""The views of the Overview: one diagnostic each; only the chosen one is read and drawn."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import streamlit as st

from core import diagnostic as diagnostics
from core import ui
from core.ui.frame import how_computed
from core.ui.pickers import Picks
from core.ui.resources import scheme
from core.ui.variant_looks import variant_styles
from core.ui.widgets.views import View, choose_view
from core.workspace.overview import figures
from core.workspace.overview import tables as parts


@dataclass(frozen=True)
class Section:
    """How the Overview shows a diagnostic.

    Attributes:
        axis: what its headline score is, for the figure.
        columns: the metrics of its tables, with their headings.
        page: stem of the page that goes deeper.
        link: what the reader sees there.
    """

    axis: str
    columns: Mapping[str, str]
    page: str
    link: str

    def show(self, diagnostic: str, picks: Picks) -> None:
        """Every variant's headline in one figure, and a table per dataset."""
        entry = diagnostics.find(diagnostic)
        boards = parts.leaderboards(entry, picks, list(self.columns))
        if not boards:
            parts.none_fit(entry, picks)
            return
        names = [board.dataset for board in boards]
        scores = parts.headlines(entry, boards)
        if len(scores):  # a user's own minimal pairs may have no synonym
            chart = figures.score_dots(
                scores,
                names,
                self.axis,
                variant_styles(scores["variant"]),
                scheme(),
                is_at_most_one=not entry.headline_is_lower_better,
            )
            st.plotly_chart(chart, key=f"dots_{diagnostic}")
        tested = parts.tested(boards)
        for board in boards:
            parts.board_table(entry, board, self.columns, test=board.dataset in tested)
        parts.which_parameters(entry, picks)
        st.page_link(f"pages/{self.page}.py", label=self.link, icon=":material/arrow_forward:")
        how_computed(entry)


# By the diagnostics' ids, in the order of the choice.
SECTIONS: Mapping[str, Section] = {
    "evalrank": Section(
        "MRR, raw ranks (higher is better)",
        {
            "mrr": "MRR",
            "hits@1": "Hits@1",
            "hits@3": "Hits@3",
            "hits@10": "Hits@10",
            "mrr_filtered": "MRR filtered",
            "hits@1_filtered": "Hits@1 filtered",
        },
        "evalrank",
        "See which pairs they get wrong",
    ),
    "heros": Section(
        "Sentences whose synonym is nearer than the antonym (higher is better)",
        {
            "synonym>antonym": "synonym > antonym",
            "synonym>negation_main": "> negated clause",
            "synonym>negation_antonym": "> negated word",
            "synonym>random_mlm": "> random word",
        },
        "heros",
        "See which rewrites they take for the same",
    ),
    "similarity": Section(
        "Spearman's ρ with people's scores, all pairs (higher is better)",
        {
            "spearman": "Spearman",
            "spearman_weighted_mean": "Spearman, weighted mean",
            "pearson": "Pearson",
            "kendall": "Kendall",
        },
        "similarity",
        "See where they disagree with people",
    ),
    "analogy": Section(
        "Analogies answered right (higher is better)",
        {
            "accuracy": "accuracy",
            "accuracy_semantic": "semantic",
            "accuracy_syntactic": "syntactic",
            "mrr": "MRR of the right word",
        },
        "words",
        "See which relations they know",
    ),
    "categorization": Section(
        "Purity of clusters of words (higher is better)",
        {"purity": "purity", "purity_mean": "mean over starts", "chance": "chance"},
        "words",
        "See which kinds they mix up",
    ),
    "geometry": Section(
        "Alignment: mean squared distance of mates (lower is better)",
        {
            "align": "alignment",
            "uniform": "uniformity",
            "anisotropy": "anisotropy",
            "hubness_cos_sample": "hubness of the sample",
        },
        "evidence",
        "See whether it goes with how they do on tasks",
    ),
    "frequency": Section(
        "Words told to be frequent or rare by a linear classifier (0.5 is chance)",
        {
            "accuracy": "accuracy",
            "accuracy_max": "highest accuracy",
            "control": "shuffled labels",
            "neighbour_exponent": "neighbours' exponent",
            "neighbour_r2": "R² of its fit",
        },
        "frequency",
        "See it by threshold",
    ),
    "transfer": Section(
        "Accuracy of a logistic regression on the embeddings (higher is better)",
        {
            "accuracy": "accuracy",
            "accuracy_without_overlap": "without repeated examples",
            "macro_f1": "macro F1",
            "majority": "majority baseline",
        },
        "transfer",
        "See which examples they get wrong",
    ),
}


def look_at(picks: Picks, finished: Collection[str]) -> None:
    """Let the reader choose among the diagnostics that have finished runs, and show it."""
    choose_view(picks, {name: _view(name) for name in SECTIONS if name in finished}, "Scores of", key="scores")


def _view(name: str) -> View[Picks]:
    return View(diagnostics.find(name).question, lambda picks: SECTIONS[name].show(name, picks))


# The page overview.


def show() -> None:
    """The page."""
    picks = ui.page("Overview", "Which encoder puts texts next to what means the same, and what does it cost?")
    with ui.errors_shown():
        parts.interrupted()
    finished = {count.diagnostic for count in ui.repository().counts() if count.finished}
    if finished:
        look_at(picks, finished)
    else:
        parts.empty()
