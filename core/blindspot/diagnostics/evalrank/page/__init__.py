"""Page EvalRank: the headline, the models' scores, and the views; only the chosen one is drawn."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np
import streamlit as st

from blindspot import ui
from blindspot.diagnostic import Diagnostic, find_diagnostic
from blindspot.diagnostics.evalrank.definition import CANDIDATES
from blindspot.diagnostics.evalrank.figures.scores import SCORES, rank_curve, score_dots
from blindspot.diagnostics.evalrank.page import (
    comparability,
    kinds,
    other_queries,
    pairs,
    published,
    trust,
    uncertainty,
    what_if,
)
from blindspot.diagnostics.evalrank.page.evalrank_view import EvalRankView, choose_candidates, choose_filtered, pairs_of
from blindspot.diagnostics.evalrank.uncertainty import Estimated
from blindspot.errors import BlindspotError
from blindspot.numerics.statistics.written import SCORE, number
from blindspot.store.records import RunRecord
from blindspot.texts import counted
from blindspot.ui.options import choose_protocol
from blindspot.ui.pickers import Picks
from blindspot.ui.widgets import missing_runs, shown_runs, tables
from blindspot.ui.widgets.views import View, choose_view

MAX_SHOWN = 20
MOST_CURVES = 10  # more cross each other too often
FEW_RIVALS = 10  # ranks
# By their names, which are part of the address; the first is the default.
VIEWS: Mapping[str, View[EvalRankView]] = {
    "pairs": View("Which pairs do the models get wrong, and what outranks the match?", pairs.show),
    "A against B": View("Is the difference significant?", uncertainty.show_versus),
    "kinds of pair": View("Where does the model do well, and where badly?", kinds.show),
    "trust": View("How robust is the score? Counting rules and training overlap", trust.show),
    "what if": View("What would other post-processing or another similarity change?", what_if.show),
}


def show() -> None:
    entry = find_diagnostic("evalrank")
    picks = ui.page("EvalRank", entry.question)
    picks = choose_protocol(picks)
    picks = replace(picks, dataset=missing_runs.dataset_shown([entry], picks) or picks.dataset)
    with ui.options():
        params = choose_candidates(picks)
    stored = missing_runs.stored(entry, picks, picks.dataset, params)
    with ui.errors_shown():
        _missing(entry, picks, stored, params)
    runs: Sequence[RunRecord] = comparability.comparable_runs(stored, picks)
    runs = shown_runs.first_of(runs, MAX_SHOWN)
    if runs:
        comparability.protocol_note(entry, runs, picks)
        with ui.options():
            filtered = choose_filtered()
        styles, scheme = ui.variant_styles(run.plan.variant for run in runs), ui.scheme()
        table = pairs_of(entry, runs)
        estimated = uncertainty.estimated(table)
        shown = EvalRankView(entry, picks, runs, table, filtered, styles, scheme, CANDIDATES.name in params)
        uncertainty.show_headline(shown, estimated)
        other_queries.note(shown)
        other_queries.near_duplicates(shown)
        dots, curve = st.columns(2)
        with dots:
            _scores(shown, estimated)
        with curve:
            ranks = {run.plan.variant: table.ranks(run.run_id, filtered=filtered) for run in runs[:MOST_CURVES]}
            background = max(int(run.metrics["background"]) for run in runs)
            st.plotly_chart(rank_curve(ranks, background, styles, scheme), key="curve")
        _notes(shown)
        choose_view(shown, VIEWS)
        if not shown.among_matches:  # published scores are among all texts
            published.published(runs, picks)
        _details(entry, runs, estimated)
    ui.how_computed(entry)


def _missing(entry: Diagnostic, picks: Picks, runs: Sequence[RunRecord], params: Mapping[str, str]) -> None:
    """Offer what is not computed, or say that the dataset is of another kind."""
    with suppress(BlindspotError):  # of a file that is gone: the offer says so
        dataset = picks.dataset.entry()
        if dataset.kind is not entry.dataset_kind:
            st.info(
                f"{entry.title} needs a {entry.dataset_kind.in_words}; {tables.dataset_title(dataset.id)} is a "
                f"{dataset.kind.in_words}. Pick another dataset in the sidebar.",
                icon=":material/info:",
            )
            return
    what = "ranks among matches only" if CANDIDATES.name in params else "ranks"
    missing_runs.offer(entry, picks, runs, picks.dataset, params, what)


def _scores(shown: EvalRankView, estimated: Sequence[Estimated]) -> None:
    """The dots."""
    runs, suffix = shown.runs, "_filtered" if shown.filtered else ""
    alike = comparability.same_items(runs)
    best = {name: runs[0].metrics[f"{name}_ceiling"] for name in SCORES}
    ceiling = best if alike and not shown.filtered and min(best.values()) < 1 else None
    scores = uncertainty.by_variant(estimated, runs, suffix)
    st.plotly_chart(score_dots(scores, ceiling, shown.styles, shown.scheme), key="scores")


def _notes(shown: EvalRankView) -> None:
    """Notes on the figures: the scores, what was ranked, and whether models compare."""
    runs = shown.runs
    notes = []
    if comparability.same_items(runs):
        notes.append(_ceiling_note(shown))
    notes += _few_rivals(shown)
    if len(runs) > MOST_CURVES:
        notes.append(f"Right: the best {MOST_CURVES} of {len(runs)} models.")
    if notes:
        st.caption(" ".join(notes))
    if about := tables.about_dataset(runs[0].plan.dataset):
        st.caption(about)
    comparability.coverage_notes(runs)
    comparability.model_notes(runs)
    comparability.training_notes(runs)


def _few_rivals(shown: EvalRankView) -> list[str]:
    """A sentence where all models rank nearly all matches near the top, so that a Hits@1 of 0 need not be a mistake."""
    ranks = [shown.pairs.ranks(run.run_id, filtered=shown.filtered) for run in shown.runs]
    last = max(float(np.nanquantile(values, 0.95)) for values in ranks)
    if not 1 < last <= FEW_RIVALS or shown.runs[0].metrics["background"] < 10 * FEW_RIVALS:
        return []
    return [
        f"Every model ranks 95% of the matches among its top {math.ceil(last)}: scores depend on the order of a few "
        "similar texts, any of which can outrank the match."
    ]


def _ceiling_note(shown: EvalRankView) -> str:
    m = shown.runs[0].metrics
    best = m["hits@1_ceiling"]
    among = "texts that are a match of a query" if shown.among_matches else "texts"
    pairs = f"{m['pairs']:,.0f} pairs, each match ranked among {m['background']:,.0f} {among}. Bars: 95% CI."
    can_be_one = not other_queries.stand_in_the_way(shown)
    if shown.filtered:
        text = "Other matches and near-duplicates are not counted"
        return f"{pairs} {text}, so a perfect model would score 1." if can_be_one else f"{pairs} {text}."
    if best < 1:
        return (
            f"{pairs} Some queries have several matches and only one can be first, so no model can exceed "
            f"{number(best, SCORE)} in raw Hits@1 (dotted, if it is near)."
        )
    return f"{pairs} Each query has one match, so a perfect model would score 1." if can_be_one else pairs


def _details(entry: Diagnostic, runs: Sequence[RunRecord], estimated: Sequence[Estimated]) -> None:
    """The numbers behind the dots, their intervals, and how far ties could move them."""
    with st.expander("All scores, with confidence intervals and the effect of ties", icon=":material/table:"):
        names = {
            "mrr": "MRR",
            "mrr_optimistic": "MRR optimistic",
            "mrr_pessimistic": "MRR pessimistic",
            "mrr_filtered": "MRR filtered",
            "hits@1": "Hits@1",
            "hits@1_filtered": "Hits@1 filtered",
            "hits@3": "Hits@3",
            "hits@5": "Hits@5",
            "hits@10": "Hits@10",
            "mean_rank": "mean rank",
            "median_rank": "median rank",
            "tied_pairs": "tied pairs",
        }
        frame = tables.score_table(runs, names)
        frame["tied pairs"] = frame["tied pairs"].astype(int)
        written = uncertainty.with_intervals(estimated, runs, list(names))
        alike = uncertainty.marks(estimated, runs)
        styled = tables.mark_best(frame, entry, names, alike, written).format("{:d}", subset=["tied pairs"])
        tables.draw(styled, key="details")
        of_itself = int(runs[0].metrics["self_pairs"])
        st.caption(
            "In parentheses: 95% CI. Optimistic and pessimistic scores resolve every tie for or against the match; the "
            "score is the expected value. "
            + (f"{counted(of_itself, 'pair is', 'pairs are')} a text with itself. " if of_itself else "")
            + (tables.signs_in_words(entry, names, alike) if len(runs) > 1 else "")
        )
        uncertainty.note(estimated)
