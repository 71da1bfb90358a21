"""The EvalRank page's view of pairs: find one, and see what stands above its mate."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from core import explore
from core.explore import EmbeddingsGone, PairTable, Relation
from core.figures.ranking_table import TableRow, ranking_table
from core.figures.theme import MANY_VARIANTS
from core.store.records import RunRecord
from core.ui.evalrank_view import Shown
from core.ui.markdown import as_text
from core.ui.pickers import DEFAULT_PROTOCOL
from core.ui.resources import repository, scheme, settings
from core.ui.work import rerun_button

PAIRS_PER_PAGE = 10
MAX_SIDE_BY_SIDE = 4
WORST = "worst rank"
ORDERS = ("worst rank first", "largest difference in rank", "order of the dataset")


def show(shown: Shown) -> None:
    """The table of pairs, and what is behind the chosen one."""
    selected = pair_browser(shown.pairs, shown.runs, shown.filtered)
    if selected is not None:
        drill_down(shown.pairs, shown.runs, selected)


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
