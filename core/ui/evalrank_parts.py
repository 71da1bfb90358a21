"""The parts of the EvalRank page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core import explore, pipeline
from core.datasets import catalog as datasets
from core.datasets import fetch
from core.diagnostics.base import DiagnosticEntry
from core.errors import BlindspotError
from core.explore import EmbeddingsGone, PairTable, Relation
from core.figures.evalrank import SCORES
from core.figures.ranking_table import TableRow, ranking_table
from core.figures.theme import MANY_VARIANTS
from core.store.records import RunRecord, RunState
from core.ui import tables
from core.ui.markdown import as_text
from core.ui.pickers import DEFAULT_PROTOCOL, Picks
from core.ui.resources import repository, scheme, settings
from core.ui.run_form import run_form
from core.ui.work import rerun_button, run_button

PAIRS_PER_PAGE = 10
MAX_SIDE_BY_SIDE = 4
WORST = "worst rank"
ORDERS = ("worst rank first", "largest difference in rank", "order of the dataset")


def finished_runs(entry: DiagnosticEntry, picks: Picks) -> list[RunRecord]:
    """The runs that the pickers ask for, of every support, newest first."""
    found = repository().runs(
        diagnostic=entry.id,
        version=entry.version,
        dataset=picks.dataset,
        params=picks.params,
        state=RunState.DONE,
        current=True,
    )
    return [r for r in found if picks.keeps(r.plan.variant)]


def missing(entry: DiagnosticEntry, picks: Picks, runs: Sequence[RunRecord]) -> None:
    """Offer what is not computed: picked variants, a first run on this dataset, another variant."""
    try:
        dataset = datasets.find(picks.dataset)
    except BlindspotError as error:  # a file of the user's that is gone, or holds something else now
        st.warning("Nothing more can be computed on this file; what is stored is shown.", icon=":material/report:")
        st.text(str(error))
        return
    if dataset.kind is not entry.dataset_kind:
        st.info(
            f"{entry.title} ranks the pairs of a {entry.dataset_kind}; {tables.dataset_title(dataset.id)} is a "
            f"{dataset.kind}. Pick another dataset in the sidebar.",
            icon=":material/info:",
        )
        return
    asked = f"similarity {picks.metric}" + (
        "" if picks.protocol == DEFAULT_PROTOCOL else f", protocol {picks.protocol}"
    )
    have = {r.plan.variant for r in runs}
    if lacking := [v for v in picks.variants if v not in have]:
        names = ", ".join(f"`{v.label}`" for v in lacking)
        st.info(f"Not computed yet on `{picks.dataset}` with {asked}: {names}.")
        try:
            requests = [
                pipeline.request(entry.id, v.encoder, v.transform, picks.dataset, picks.params, settings())
                for v in lacking
            ]
        except BlindspotError as error:
            st.warning(str(error))
        else:
            run_button("Compute them", f"{entry.title} on {picks.dataset}", requests, key="run_missing")
    if runs or lacking:
        with st.expander("Run another variant", icon=":material/add:"):
            run_form(entry, picks.dataset, picks.params)
        return
    with st.container(border=True, key="empty"):
        st.subheader(f"No ranks on {tables.dataset_title(dataset.id)} with {asked} yet", anchor=False)
        st.markdown(f"{dataset.description} ({dataset.size}.)")
        state = fetch.dataset_state(dataset, settings())
        if state is fetch.DataState.MISSING:
            megabytes = sum(f.size for f in dataset.files) / 1e6
            st.markdown(f"Its files ({megabytes:.1f} MB) are downloaded first.")
        elif state is fetch.DataState.CORRUPT:
            st.error(f"Its files on disk are corrupt. Mend them with `python -m core data fetch {dataset.id}`.")
        run_form(entry, picks.dataset, picks.params)


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


def score_details(entry: DiagnosticEntry, runs: Sequence[RunRecord]) -> None:
    """The numbers behind the bars, and how far ties could move them."""
    with st.expander("All scores, and what ties do to them", icon=":material/table:"):
        names = {
            "mrr": "MRR",
            "mrr_optimistic": "MRR optimistic",
            "mrr_pessimistic": "MRR pessimistic",
            "mrr_filtered": "MRR filtered",
            "hits@1": "Hits@1",
            "hits@1_filtered": "Hits@1 filtered",
            "hits@5": "Hits@5",
            "mean_rank": "mean rank",
            "median_rank": "median rank",
            "tied_pairs": "tied pairs",
        }
        frame = tables.score_table(runs, names)
        frame["tied pairs"] = frame["tied pairs"].astype(int)
        styled = tables.mark_best(frame, entry, names).format("{:d}", subset=["tied pairs"])
        st.dataframe(styled, hide_index=True, key="details")
        st.caption(
            "Optimistic and pessimistic resolve every tie for or against the mate; the score is the expectation "
            f"in between. {runs[0].metrics['self_pairs']:.0f} pair(s) are of a text with itself. "
            "★ best of its column."
        )


@st.cache_data(show_spinner="Reading ranks …", max_entries=16)
def _pairs(_entry: DiagnosticEntry, table: str, run_ids: tuple[str, ...]) -> PairTable:  # noqa: ARG001 - cache key
    return explore.pair_table(_entry, run_ids, repository())


def pairs(entry: DiagnosticEntry, runs: Sequence[RunRecord]) -> PairTable:
    """The ranks of every pair, cached by run: a finished run never changes."""
    return _pairs(entry, entry.table, tuple(r.run_id for r in runs))


def pair_browser(table: PairTable, runs: Sequence[RunRecord], filtered: bool) -> int | None:
    """Search, sort and page through the pairs; the number of the chosen pair."""
    search, order = st.columns([3, 2])
    wanted = search.text_input("Search in query and mate", key="search", persist_state="session")
    sort = order.selectbox("Order", ORDERS if len(runs) > 1 else (ORDERS[0], ORDERS[2]), key="order")
    frame = _sorted_pairs(table, runs, filtered, wanted, sort)
    if frame.empty:
        st.info("No pair contains this. Try a shorter search.")
    else:
        _page_of_pairs(frame, runs, sort)
    return _chosen(table)


def _sorted_pairs(table: PairTable, runs: Sequence[RunRecord], filtered: bool, wanted: str, sort: str) -> pd.DataFrame:
    """Columns ``item_no, query, mate``, the worst rank, and the rank per run id."""
    ranks = pd.DataFrame({run.run_id: table.ranks(run.run_id, filtered=filtered) for run in runs})
    worst = ranks.max(axis=1)
    frame = pd.concat([table.frame[["item_no", "query", "mate"]], worst.rename(WORST), ranks], axis=1)
    if sort == ORDERS[0]:
        frame = frame.loc[worst.sort_values(ascending=False, kind="stable").index]
    elif sort == ORDERS[1]:
        frame = frame.loc[(worst - ranks.min(axis=1)).sort_values(ascending=False, kind="stable").index]
    if wanted:
        hit = frame["query"].str.contains(wanted, case=False, regex=False)
        frame = frame[hit | frame["mate"].str.contains(wanted, case=False, regex=False)]
    return frame


def _page_of_pairs(frame: pd.DataFrame, runs: Sequence[RunRecord], sort: str) -> None:
    """One page of the table, and the buttons that turn the pages."""
    pages = -(-len(frame) // PAIRS_PER_PAGE)
    number = min(int(st.session_state.get("pairs_page", 1)), pages)
    shown = frame.iloc[(number - 1) * PAIRS_PER_PAGE : number * PAIRS_PER_PAGE]
    key = f"pairs_{number}_{sort}_{len(frame)}_{'-'.join(run.run_id for run in runs)}"
    numbers = shown["item_no"].tolist()
    labels = {run.run_id: f"rank: {run.plan.variant.label}" for run in runs}
    ranks, texts = list(labels.values()), ["query", "mate"]
    # Many ranks stand behind the texts, so that these stay in sight.
    columns = [*ranks, *texts] if len(runs) < MANY_VARIANTS else [WORST, *texts, *ranks]
    st.dataframe(
        shown.rename(columns={"item_no": "pair", **labels})[["pair", *columns]],
        hide_index=True,
        key=key,
        on_select=lambda: _choose(key, numbers),
        selection_mode="single-row",
        column_config={
            "pair": st.column_config.NumberColumn(width="small", help="Number of the pair in the dataset"),
            "query": st.column_config.TextColumn(width=340),
            "mate": st.column_config.TextColumn(width=340),
            **{
                label: st.column_config.NumberColumn(
                    format="localized", help="Rank of the mate; 1 is best, .5 is a tie"
                )
                for label in (WORST, *ranks)
            },
        },
    )
    left, right = st.columns([3, 2], vertical_alignment="center")
    with left:
        st.pagination(pages, key="pairs_page")
    right.caption(f"{len(frame):,} pairs. Choose a row to see what stands above its mate.")


def _choose(key: str, numbers: Sequence[int]) -> None:
    """A row of the table was chosen. Only then: a number that is typed later wins over the row."""
    if rows := st.session_state[key].selection.rows:
        st.session_state["pair"] = int(numbers[rows[0]])


def _chosen(table: PairTable) -> int | None:
    """The chosen pair; its number is in the address, so that a link leads to it."""
    numbers = table.frame["item_no"]
    last = int(numbers.max())
    value = st.number_input(
        "Pair",
        min_value=0,
        value=None,
        step=1,
        key="pair",
        bind="query-params",
        placeholder=f"0 to {last}",
        help="Number of the pair that is looked into below; chosen by a row of the table, or typed.",
        width=220,
    )
    if value is None:
        st.caption("No pair is chosen yet.")
        return None
    if value not in set(numbers):
        beyond = (
            f"its pairs are 0 to {last}" if value > last else "none of the shown encoders has a vector for both texts"
        )
        st.warning(f"There is no pair {value} here: {beyond}.")
        return None
    return int(value)


def drill_down(table: PairTable, runs: Sequence[RunRecord], selected: int) -> None:
    """For one pair: what each variant puts above the mate."""
    pair = table.frame[table.frame["item_no"] == selected].iloc[0]
    with st.container(border=True, key="drill"):
        for label, text in (("Query", pair["query"]), ("Mate", pair["mate"])):
            with st.container(horizontal=True, gap="small"):
                st.markdown(f"**{label}**", width="content")
                st.text(text)  # as text: never as HTML or markdown
        shown = runs[:MAX_SIDE_BY_SIDE]
        if len(runs) > len(shown):
            st.caption(f"The first {len(shown)} of {len(runs)} variants; pick others in the sidebar.")
        for column, run in zip(st.columns(len(shown)), shown, strict=True):
            with column:
                st.markdown(f"**{as_text(run.plan.variant.label)}**")
                _above(run, pair)
        st.caption(
            "▲ above the mate, ● the mate, = tied with it, ▽ below it. Underlined: words that the query does not have. "
            "In brackets: why filtered ranks ignore an item."
        )


def _above(run: RunRecord, pair: pd.Series) -> None:
    raw, filtered = pair[f"{run.run_id} rank"], pair[f"{run.run_id} filtered rank"]
    if pd.isna(raw):
        st.caption("Not ranked: it has no vector for query or mate.")
        return
    st.markdown(
        f"rank **{raw:,g}** raw, **{filtered:,g}** filtered · similarity {pair[f'{run.run_id} similarity']:.4f}"
    )
    if run.plan.params["protocol"] != DEFAULT_PROTOCOL:
        st.caption("With the toolkit's rounding. Choose the protocol *definition* to see what stands above the mate.")
        return
    try:
        items = explore.around_mate(run, int(pair["query_no"]), int(pair["mate_no"]), settings(), repository())
    except EmbeddingsGone as gone:
        st.warning(str(gone))
        rerun_button("Encode again", f"Encoding for {run.plan.variant.label}", [run], key=f"again_{run.run_id}")
        return
    marks = {Relation.ABOVE: "▲", Relation.TIED: "=", Relation.MATE: "●", Relation.BELOW: "▽"}
    rows = [
        TableRow(
            item.position,
            marks[item.relation],
            item.similarity,
            item.text,
            item.left_out,
            item.relation is Relation.MATE,
        )
        for item in items
    ]
    st.html(ranking_table(pair["query"], rows, scheme(), f"Ranking by {run.plan.variant.label}"))
