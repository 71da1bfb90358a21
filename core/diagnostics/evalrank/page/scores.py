"""The parts of the EvalRank page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.datasets import catalog as datasets
from core.diagnostic import DiagnosticEntry
from core.diagnostics.evalrank import pairs as explore
from core.diagnostics.evalrank.figures.scores import SCORES
from core.diagnostics.evalrank.page import uncertainty
from core.diagnostics.evalrank.pairs import PairTable
from core.diagnostics.evalrank.uncertainty import Sample
from core.errors import BlindspotError
from core.figures.theme import MANY_VARIANTS
from core.store.records import RunRecord
from core.ui.pickers import Picks
from core.ui.resources import cached, repository
from core.ui.widgets import missing_runs, tables

MAX_SHOWN = 11


def finished_runs(entry: DiagnosticEntry, picks: Picks) -> list[RunRecord]:
    """The runs that the pickers ask for, of every support, newest first."""
    return missing_runs.stored(entry, picks, picks.dataset, picks.params)


def best_of(runs: Sequence[RunRecord]) -> Sequence[RunRecord]:
    """As many variants, the best ones, as can be told apart; says so where that leaves some out."""
    if len(runs) > MAX_SHOWN:
        st.caption(f"The best {MAX_SHOWN} of {len(runs):,} variants. Pick others in the sidebar.")
    return runs[:MAX_SHOWN]


def missing(entry: DiagnosticEntry, picks: Picks, runs: Sequence[RunRecord]) -> None:
    """Offer what is not computed; say where the dataset is of another kind."""
    with suppress(BlindspotError):  # of a file that is gone: the offer says so
        dataset = datasets.find(picks.dataset)
        if dataset.kind is not entry.dataset_kind:
            st.info(
                f"{entry.title} ranks the pairs of a {entry.dataset_kind}; {tables.dataset_title(dataset.id)} is a "
                f"{dataset.kind}. Pick another dataset in the sidebar.",
                icon=":material/info:",
            )
            return
    missing_runs.offer(entry, picks, runs, picks.dataset, picks.params, "ranks")


def reading() -> bool:
    """Raw or filtered ranks; True for filtered."""
    choice = st.segmented_control(
        "Ranks",
        ["raw", "filtered"],
        default="raw",
        required=True,
        key="ranks",
        bind="query-params",
        help="raw: among all items. filtered: without the query's other mates and without texts that differ from "
        "query or mate only in case, spaces or punctuation.",
    )
    return choice == "filtered"


def side_by_side(runs: Sequence[RunRecord]) -> Sequence[DeltaGenerator]:
    """Room for two figures: beside each other, or below each other where many variants need the width."""
    return st.columns(2) if len(runs) < MANY_VARIANTS else (st.container(), st.container())


def scores(runs: Sequence[RunRecord], suffix: str) -> pd.DataFrame:
    """For ``figures.score_bars``."""
    return pd.DataFrame(
        [{"variant": r.plan.variant} | {name: r.metrics[f"{name}{suffix}"] for name in SCORES} for r in runs]
    )


def background(runs: Sequence[RunRecord]) -> int:
    """The most items that any of the runs ranked."""
    return max(int(r.metrics["background"]) for r in runs)


def ceiling(run: RunRecord) -> Mapping[str, float] | None:
    """The best raw scores that the dataset allows; None where nothing stands in the way of 1."""
    best = {name: run.metrics[f"{name}_ceiling"] for name in SCORES}
    return best if min(best.values()) < 1 else None


def ceiling_note(run: RunRecord, filtered: bool) -> None:
    """Say what the ceiling is, or what was left out."""
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


def score_details(entry: DiagnosticEntry, runs: Sequence[RunRecord], samples: Sequence[Sample]) -> None:
    """The numbers behind the bars, how sure they are, and how far ties could move them."""
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


@cached(16, "Reading ranks …")
def _pairs(entry: DiagnosticEntry, run_ids: tuple[str, ...]) -> PairTable:
    return explore.pair_table(entry, run_ids, repository())


def pairs(entry: DiagnosticEntry, runs: Sequence[RunRecord]) -> PairTable:
    """The ranks of every pair, cached by run: a finished run never changes."""
    return _pairs(entry, tuple(r.run_id for r in runs))
