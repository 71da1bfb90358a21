"""The EvalRank page: scores of the shown variants, and the views, of which only the chosen one is computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

import pandas as pd
import streamlit as st

from core import ui
from core.datasets.catalog import find_dataset
from core.diagnostic import DiagnosticEntry, find_diagnostic
from core.diagnostics.evalrank.figures.scores import SCORES, rank_curve, score_bars
from core.diagnostics.evalrank.page import comparability, kinds, pairs, published, trust, uncertainty, what_if
from core.diagnostics.evalrank.page.shown import EvalRankView, choose_filtered, pairs_of, side_by_side
from core.diagnostics.evalrank.uncertainty import Sample
from core.errors import BlindspotError
from core.store.records import RunRecord
from core.ui.pickers import Picks
from core.ui.widgets import missing_runs, tables
from core.ui.widgets.views import View, choose_view

MAX_SHOWN = 11
# By their names, which are part of the address; the first is the default.
VIEWS: Mapping[str, View[EvalRankView]] = {
    "pairs": View("Which pairs does it get wrong, and what stands above the mate?", pairs.show),
    "A against B": View("Is it really better, or could that be chance?", uncertainty.show_versus),
    "kinds of pair": View("On which kinds of pair does the score come about?", kinds.show),
    "trust": View("How much of the score is the way of counting, or training on the pairs?", trust.show),
    "what if": View("What would another transform or similarity change?", what_if.show),
}


def show() -> None:
    entry = find_diagnostic("evalrank")
    picks = ui.page("EvalRank", entry.question)
    found = missing_runs.stored(entry, picks, picks.dataset, picks.params)
    with ui.errors_shown():
        _missing(entry, picks, found)
    runs: Sequence[RunRecord] = comparability.on_one_support(found, picks)
    if len(runs) > MAX_SHOWN:
        st.caption(f"The best {MAX_SHOWN} of {len(runs):,} variants. Pick others in the sidebar.")
        runs = runs[:MAX_SHOWN]
    if runs:
        comparability.protocol_note(entry, runs, picks)
        with ui.options():
            filtered = choose_filtered()
        styles, scheme = ui.variant_styles(run.plan.variant for run in runs), ui.scheme()
        table = pairs_of(entry, runs)
        samples = uncertainty.samples(table)
        shown = EvalRankView(entry, picks, runs, table, filtered, styles, scheme)
        bars, curve = side_by_side(runs)
        with bars:
            st.markdown("**Scores per variant**")
            _scores(shown, samples)
        with curve:
            st.markdown("**How far down is the mate?**")
            ranks = {run.plan.variant: table.ranks(run.run_id, filtered=filtered) for run in runs}
            background = max(int(run.metrics["background"]) for run in runs)
            st.plotly_chart(rank_curve(ranks, background, styles, scheme), key="curve")
        _details(entry, runs, samples)
        published.published(runs, picks)
        choose_view(shown, VIEWS, "Look closer", key="view")
    ui.how_computed(entry)


def _missing(entry: DiagnosticEntry, picks: Picks, runs: Sequence[RunRecord]) -> None:
    """Offer what is not computed, or say that the dataset is of another kind."""
    with suppress(BlindspotError):  # of a file that is gone: the offer says so
        dataset = find_dataset(picks.dataset)
        if dataset.kind is not entry.dataset_kind:
            st.info(
                f"{entry.title} ranks the pairs of a {entry.dataset_kind}; {tables.dataset_title(dataset.id)} is a "
                f"{dataset.kind}. Pick another dataset in the sidebar.",
                icon=":material/info:",
            )
            return
    missing_runs.offer(entry, picks, runs, picks.dataset, picks.params, "ranks")


def _scores(shown: EvalRankView, samples: Sequence[Sample]) -> None:
    """The bars, and notes on what they compare."""
    runs, suffix = shown.runs, "_filtered" if shown.filtered else ""
    frame = pd.DataFrame(
        [{"variant": r.plan.variant} | {name: r.metrics[f"{name}{suffix}"] for name in SCORES} for r in runs]
    )
    alike = comparability.same_items(runs)
    best = {name: runs[0].metrics[f"{name}_ceiling"] for name in SCORES}
    ceiling = best if alike and not shown.filtered and min(best.values()) < 1 else None
    intervals = uncertainty.intervals(samples, runs, suffix)
    st.plotly_chart(score_bars(frame, ceiling, shown.styles, shown.scheme, intervals), key="bars")
    if alike:
        _ceiling_note(runs[0], shown.filtered)
    uncertainty.note(samples)
    comparability.coverage_notes(runs)
    comparability.prompt_notes(runs)
    comparability.training_notes(runs)


def _ceiling_note(run: RunRecord, filtered: bool) -> None:
    best = run.metrics["hits@1_ceiling"]
    pairs = f"{run.metrics['pairs']:,.0f} pairs among {run.metrics['background']:,.0f} items."
    if filtered:
        st.caption(f"{pairs} Rival mates and twins are left out of the candidates, so 1 can be reached.")
    elif best < 1:
        st.caption(
            f"{pairs} Dotted: the ceiling of raw ranks. Some queries have several mates and only one can be first, "
            f"so no encoder can exceed {best:.3f} in Hits@1."
        )
    else:
        st.caption(f"{pairs} Every query has one mate, so raw ranks can reach 1.")


def _details(entry: DiagnosticEntry, runs: Sequence[RunRecord], samples: Sequence[Sample]) -> None:
    """The numbers behind the bars, their intervals, and how far ties could move them."""
    with st.expander("All scores, how sure they are, and what ties do to them", icon=":material/table:"):
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
        written = uncertainty.with_intervals(samples, runs, list(names))
        alike = uncertainty.marks(samples, runs)
        styled = tables.mark_best(frame, entry, names, alike, written).format("{:d}", subset=["tied pairs"])
        st.dataframe(styled, hide_index=True, key="details")
        st.caption(
            "In brackets: 95% intervals. Optimistic and pessimistic resolve every tie for or against the mate; the "
            f"score is the expectation in between. {runs[0].metrics['self_pairs']:.0f} pair(s) are of a text with "
            f"itself. {tables.signs_in_words(entry, names, alike) if len(runs) > 1 else ''}"
        )
