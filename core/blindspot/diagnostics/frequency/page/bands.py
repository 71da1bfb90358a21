"""The view *bands* of the Frequency page: EvalRank by frequency band."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from blindspot.datasets.catalog import DATASETS
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.diagnostic import find_diagnostic
from blindspot.diagnostics.evalrank.kinds import LABELS, MEASURES, UNKNOWN
from blindspot.diagnostics.evalrank.page import comparability
from blindspot.diagnostics.evalrank.page.evalrank_view import BY_RUNS, choose_filtered, pairs_of
from blindspot.diagnostics.evalrank.pairs import PairTable
from blindspot.diagnostics.frequency.figures.bands import Cell, band_matrix
from blindspot.diagnostics.frequency.page.frequency_view import MOST_VARIANTS, FrequencyView
from blindspot.diagnostics.frequency.view import BandsView, bands_view
from blindspot.errors import BlindspotError
from blindspot.figures.groups import group_lines
from blindspot.numerics.statistics.groups import FEW
from blindspot.numerics.statistics.written import SCORE, with_ci
from blindspot.runs import requesting
from blindspot.store.records import RunRecord
from blindspot.ui import headline
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import cached, explained, repository, settings
from blindspot.ui.widgets import kinds, tables
from blindspot.ui.widgets.work import run_button
from blindspot.variants import Variant

MEASURE = "mrr"
ENTRY = find_diagnostic("evalrank")

HOW = """
MRR is the mean of 1/rank of the match among all items, expected under ties, of the stored runs of EvalRank (Wang, Kuo
and Li 2022, section 4.2). A pair is in the band of its query's frequency and in that of its match's; in the matrix
in both at once. Intervals are 95%, dyadic-robust (Aronow, Samii and Assenova 2015): pairs that share a text are not
independent. Bands are powers of ten of occurrences per million words.
"""


def show(shown: FrequencyView) -> None:
    """MRR by the band of the query, of the match, and of both, per variant that was run on the dataset."""
    if shown.dataset.kind is not ENTRY.dataset_kind:
        sets = [f"`{entry.id}`" for entry in DATASETS.values() if entry.kind is DatasetKind.PAIR_SET]
        st.info(
            f"{ENTRY.title} ranks the matches of a {ENTRY.dataset_kind.in_words}; "
            f"{tables.dataset_title(shown.dataset.id)} is a {shown.dataset.kind.in_words}. Pick one of "
            f"{', '.join(sets)} in the sidebar, or a file of your own with pairs.",
            icon=":material/info:",
        )
        return
    finished = repository().finished(  # newest first
        ENTRY, dataset=shown.dataset.id, params=shown.picks.params
    )
    wanted = _wanted(shown, finished)
    picked = [run for run in finished if run.plan.variant in wanted]
    stored = comparability.comparable_runs(picked, shown.picks) if picked else []
    _offer(shown, [variant for variant in wanted if variant not in {run.plan.variant for run in picked}])
    runs = sorted(stored, key=lambda run: wanted.index(run.plan.variant))
    if not runs:
        return
    filtered = choose_filtered()
    scores = _scores(pairs_of(ENTRY, runs), shown, filtered)
    headline.show(in_words(headline.subject_first(runs, shown.picks)[0], scores))
    st.caption(
        "Occurrences per million words. Bars: 95% CI that allow for pairs sharing texts; hollow and gray: fewer "
        f"than {FEW} pairs, a mean that says little. {UNKNOWN.capitalize()}: these counts do not have the text."
    )
    if scores.left_out:
        st.caption(f"{scores.left_out:,} pairs are left out: not all shown variants have a vector for both texts.")
    if kinds.are_alike(scores.bands.sides, "pairs"):
        return
    by_variant = {run.plan.variant: scores.sides[run.run_id] for run in runs}
    figure = group_lines(
        by_variant,
        scores.bands.sides.axis,
        MEASURE,
        MEASURES[MEASURE],
        "pairs",
        shown.styles,
        shown.scheme,
        joined=True,
    )
    st.plotly_chart(figure, key="bands")
    _matrices(shown, runs, scores)
    with st.expander("The numbers", icon=":material/table:"):
        _table(runs, scores)
    with st.expander("How is this view computed?", icon=":material/function:"):
        st.markdown(HOW)


def in_words(run: RunRecord, scores: BandsView) -> str:
    """The run's scores on the rarest and on the most frequent queries, or that too few are of other bands."""
    if not (ends := scores.ends(run.run_id, MEASURE)):
        return (
            f"**No answer from these pairs:** fewer than two bands have {FEW} queries or more, so they do not tell "
            "rare words from frequent ones."
        )
    (rare, on_rare), (frequent, on_frequent) = ends
    return (
        f"**{as_text(run.plan.variant.label)}**: {MEASURES[MEASURE]} {with_ci(on_rare, SCORE)} on queries that occur "
        f"{rare} times per million words, {with_ci(on_frequent, SCORE)} on those that occur {frequent} times."
    )


def _wanted(shown: FrequencyView, finished: Sequence[RunRecord]) -> list[Variant]:
    """The picked variants and their post-processed copies; if none are picked, the first that were run here."""
    have = {run.plan.variant for run in finished}
    stored = [variant for variant in repository().variants() if variant in have]
    ranked = [] if shown.picks.variants else shown.picks.subject_first(shown.picks.asked_for(stored))
    if not ranked:
        return [space.variant for space in shown.spaces]
    if len(ranked) > MOST_VARIANTS:
        st.caption(f"Here the first {MOST_VARIANTS} of the {len(ranked):,} models whose ranks are stored.")
    copies = [twin for twin in shown.after.values() if twin not in ranked[:MOST_VARIANTS]]
    return [*ranked[:MOST_VARIANTS], *copies]


def _offer(shown: FrequencyView, lacking: Sequence[Variant]) -> None:
    """Offer to compute the runs of variants that have none."""
    if not lacking:
        return
    names = ", ".join(f"**{as_text(variant.label)}**" for variant in lacking)
    st.info(f"EvalRank has not ranked {tables.dataset_title(shown.dataset.id)} yet with {names}.")
    everybody = [space.variant.encoder for space in shown.spaces]
    try:
        requests = [
            requesting.request(
                ENTRY.id, v.encoder, v.transform, shown.dataset.id, shown.picks.params, settings(), everybody
            )
            for v in lacking
        ]
    except BlindspotError as error:
        st.warning(as_text(explained(error)))
    else:
        run_button("Rank the pairs", f"{ENTRY.title} on {shown.dataset.id}", requests, key="bands_run")


@cached(16, "Sorting the pairs …", keys={**BY_RUNS, FrequencyView: lambda shown: shown.key})
def _scores(pairs: PairTable, shown: FrequencyView, filtered: bool) -> BandsView:
    return bands_view(pairs, shown.spaces[0].items, shown.frequencies.zipf, filtered=filtered)


def _matrices(shown: FrequencyView, runs: Sequence[RunRecord], scores: BandsView) -> None:
    """Query's band against match's band, a matrix per variant on one color scale."""
    highest = scores.highest(MEASURE) or 1.0
    st.markdown(f"**{MEASURES[MEASURE]} by the band of both**")
    columns = st.columns(2) if len(runs) > 1 else [st.container()]
    for number, run in enumerate(runs):
        frame = scores.cells[run.run_id]
        cells = [
            Cell(query, match, row[MEASURE], row[f"{MEASURE}_low"], row[f"{MEASURE}_high"], row["pairs"])
            for (query, match), row in zip(scores.bands.places, frame.to_dict("records"), strict=True)
            if row["pairs"]
        ]
        with columns[number % len(columns)]:
            st.markdown(f"**{as_text(run.plan.variant.label)}**")
            figure = band_matrix(cells, LABELS, MEASURES[MEASURE], FEW, highest, shown.scheme)
            st.plotly_chart(figure, key=f"band_matrix_{number}")
    st.caption("In each cell the score and, below it, its number of pairs. The brighter, the higher; empty: no pairs.")


def _table(runs: Sequence[RunRecord], scores: BandsView) -> None:
    """A row per variant and band or cell."""
    score = MEASURES[MEASURE]
    names = {"variant": "model", "side": "of", "label": "band", "pairs": "pairs"}
    names |= {MEASURE: score, f"{MEASURE}_low": "low", f"{MEASURE}_high": "high"}
    parts = [
        part.assign(variant=run.plan.variant.label)
        for run in runs
        for part in (scores.sides[run.run_id], scores.cells[run.run_id])
    ]
    frame = pd.concat(parts, ignore_index=True)[list(names)].rename(columns=names)
    tables.draw(
        frame.replace({"of": {"pair": "query and match"}}),
        key="bands_numbers",
        column_config=dict.fromkeys((score, "low", "high"), f"%{SCORE}"),
    )
