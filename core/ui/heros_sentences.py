"""The view *sentences* of the HEROS page: every original with its rewrites."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from core.figures.heros import label
from core.store.records import RunRecord
from core.ui.heros_view import Shown
from core.ui.markdown import as_text

SENTENCES_PER_PAGE = 10


def show(shown: Shown) -> None:
    """The originals of one variant with the similarity of each rewrite."""
    sentences(shown.rows, shown.runs, shown.subsets)


def sentences(frame: pd.DataFrame, runs: Sequence[RunRecord], subsets: Sequence[str]) -> None:
    """The originals of one variant with the similarity of each rewrite; a chosen one shows its rewrites."""
    search, order, which = st.columns([3, 2, 2])
    wanted = search.text_input("Search in the originals", key="heros_search", persist_state="session")
    orders = ["order of the dataset", *(f"{label(s)}: highest first" for s in subsets)]
    sort = order.selectbox("Order", orders, key="heros_order")
    by_name = {str(r.plan.variant): r for r in runs}
    run = by_name[which.selectbox("Variant", list(by_name), key="heros_variant")]
    one = frame[frame["run_id"] == run.run_id]
    wide = one.pivot(index="item_no", columns="subset", values="similarity")[list(subsets)]
    wide.insert(0, "original", one.drop_duplicates("item_no").set_index("item_no")["original"])
    if wanted:
        wide = wide[wide["original"].str.contains(wanted, case=False, regex=False)]
    if sort != orders[0]:
        wide = wide.sort_values(subsets[orders.index(sort) - 1], ascending=False, kind="stable")
    if wide.empty:
        st.info("No original contains this. Try a shorter search.")
        return
    pages = -(-len(wide) // SENTENCES_PER_PAGE)
    number = min(int(st.session_state.get("heros_page", 1)), pages)
    shown = wide.iloc[(number - 1) * SENTENCES_PER_PAGE : number * SENTENCES_PER_PAGE]
    key = f"sentences_{number}_{sort}_{run.run_id}_{len(wide)}"
    event = st.dataframe(
        shown.reset_index(names="no"),
        hide_index=True,
        key=key,
        on_select="rerun",
        selection_mode="single-row",
        column_config={
            "no": st.column_config.NumberColumn(width="small", help="Number of the original in the dataset"),
            "original": st.column_config.TextColumn(width=420),
            **{s: st.column_config.NumberColumn(label(s), format="%.3f") for s in subsets},
        },
    )
    left, right = st.columns([3, 2], vertical_alignment="center")
    with left:
        st.pagination(pages, key="heros_page")
    right.caption(f"{len(wide):,} originals. Choose a row to read its rewrites.")
    chosen = event.selection.rows
    if chosen:
        _rewrites(one[one["item_no"] == shown.index[chosen[0]]], run)


def _rewrites(pairs: pd.DataFrame, run: RunRecord) -> None:
    """One original's rewrites, the most similar first."""
    with st.container(border=True, key="heros_drill"):
        st.markdown(f"**{as_text(run.plan.variant.label)}**")
        st.text(pairs["original"].iloc[0])
        ordered = pairs.sort_values("similarity", ascending=False)
        st.dataframe(
            ordered.assign(subset=ordered["subset"].map(label))[["subset", "similarity", "cosine", "rewrite"]],
            hide_index=True,
            key="rewrites",
            column_config={
                "similarity": st.column_config.NumberColumn(format="%.4f", help="normalised by cos_avg"),
                "cosine": st.column_config.NumberColumn(format="%.4f"),
                "rewrite": st.column_config.TextColumn(width=560),
            },
        )
        st.caption("The most similar first. Only the synonym and the typo keep the meaning.")
