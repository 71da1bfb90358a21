"""The parts of the HEROS page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from core import comparison, pipeline
from core.datasets import catalog as datasets
from core.diagnostics.base import DiagnosticEntry
from core.errors import BlindspotError
from core.figures.heros import label
from core.store.records import RunRecord, RunState
from core.types import Float64, Variant
from core.ui import tables
from core.ui.markdown import as_text
from core.ui.pickers import Picks, pick_dataset
from core.ui.resources import repository, settings
from core.ui.run_form import run_form
from core.ui.work import run_button

DEFAULT = "demo-minimal"
SENTENCES_PER_PAGE = 10


def dataset_of(entry: DiagnosticEntry, picks: Picks) -> str:
    """The picked dataset if it holds minimal pairs; else the built-in one, and a word about it."""
    try:
        fits = datasets.find(picks.dataset).kind is entry.dataset_kind
    except BlindspotError:  # a user's file that is gone: its runs tell what it held
        fits = bool(repository().runs(diagnostic=entry.id, dataset=picks.dataset, state=RunState.DONE))
    if fits:
        return picks.dataset
    text, button = st.columns([4, 1], vertical_alignment="center")
    text.caption(
        f"{tables.dataset_title(picks.dataset)}, picked in the sidebar, holds no minimal pairs. Shown: "
        f"{tables.dataset_title(DEFAULT)}."
    )
    button.button("Pick it", key="pick_minimal", on_click=pick_dataset, args=(DEFAULT,), width="stretch")
    return DEFAULT


def finished_runs(entry: DiagnosticEntry, dataset: str, picks: Picks) -> list[RunRecord]:
    """The newest run of each picked variant, in order of the synonym's lead over the antonym."""
    found = repository().runs(
        diagnostic=entry.id, version=entry.version, dataset=dataset, state=RunState.DONE, current=True
    )
    wanted = [r for r in found if picks.keeps(r.plan.variant)]
    newest = {r.plan.variant: r for r in reversed(wanted)}
    return sorted(newest.values(), key=lambda r: -r.metrics.get(entry.headline, -math.inf))


def offer(entry: DiagnosticEntry, dataset: str, runs: Sequence[RunRecord]) -> None:
    """A first run where there is none, else another variant."""
    if runs:
        with st.expander("Run another variant", icon=":material/add:"):
            run_form(entry, dataset, {})
        return
    with st.container(border=True, key="empty"):
        try:
            described = datasets.find(dataset)
        except BlindspotError as error:
            st.warning("Nothing more can be computed on this file.", icon=":material/report:")
            st.text(str(error))
            return
        st.subheader(f"No HEROS run on {tables.dataset_title(dataset)} yet", anchor=False)
        st.markdown(f"{described.description} ({described.size}.)")
        requests = [pipeline.request(entry.id, e, "none", dataset, {}, settings()) for e in ("minilm", "minilm-cls")]
        run_button("Compare two poolings of MiniLM", f"HEROS on {dataset}", requests, key="run_first")
        st.caption("Or choose what to run:")
        run_form(entry, dataset, {})


def subsets_of(entry: DiagnosticEntry, run: RunRecord) -> list[str]:
    """The subsets that a run has (each has a standard deviation beside it): HEROS's in its order, then any others."""
    names = dict.fromkeys([*(m.name for m in entry.metrics), *sorted(run.metrics)])
    return [name for name in names if name in run.metrics and f"{name}_sd" in run.metrics]


def means(runs: Sequence[RunRecord], subsets: Sequence[str]) -> dict[Variant, dict[str, float]]:
    """For ``figures.profile``."""
    return {r.plan.variant: {subset: r.metrics[subset] for subset in subsets} for r in runs}


def intervals(
    runs: Sequence[RunRecord], subsets: Sequence[str]
) -> Mapping[Variant, Mapping[str, tuple[float, float]]] | None:
    """For ``figures.profile``, if the reader wants them; where a run cannot have them, it has none."""
    wanted = st.toggle(
        "Show 95% intervals",
        key="heros_intervals",
        persist_state="session",
        help="Below each value: how far it moves when the sentences are drawn anew, 2,000 times (bootstrap).",
    )
    if not wanted:
        return None
    found = {
        r.plan.variant: {s: (r.metrics[f"{s}_low"], r.metrics[f"{s}_high"]) for s in subsets if f"{s}_low" in r.metrics}
        for r in runs
    }
    if lacking := [as_text(variant.label) for variant, ends in found.items() if not ends]:
        st.caption(
            f"No interval for {', '.join(lacking)}: so many originals have one vector there that some draws of them "
            "cannot be normalised."
        )
    return found


def profile_note(runs: Sequence[RunRecord]) -> None:
    """What the numbers are of, and what to look for."""
    originals = runs[0].metrics["originals"]
    st.caption(
        f"Mean normalised similarity over {originals:,.0f} sentences. An encoder that reads for meaning puts synonym "
        "and typo above antonym and negation; how high a number is in itself matters less than their order. "
        "HEROS compares by cosine: the similarity and the protocol in the sidebar change nothing here."
    )


def rates(entry: DiagnosticEntry, runs: Sequence[RunRecord]) -> dict[Variant, dict[str, tuple[float, float, float]]]:
    """For ``figures.ordering_rates``: the orderings that all runs have."""
    orderings = [m.name for m in entry.metrics if ">" in m.name]
    names = [name for name in orderings if all(f"{name}_low" in r.metrics for r in runs)]
    return {
        r.plan.variant: {n: (r.metrics[n], r.metrics[f"{n}_low"], r.metrics[f"{n}_high"]) for n in names} for r in runs
    }


@st.cache_data(show_spinner="Reading similarities …", max_entries=16)
def _rows(_entry: DiagnosticEntry, table: str, run_ids: tuple[str, ...]) -> pd.DataFrame:  # noqa: ARG001 - cache key
    return repository().items(_entry, run_ids, texts=True)


def rows(entry: DiagnosticEntry, runs: Sequence[RunRecord]) -> pd.DataFrame:
    """Every minimal pair of the runs, cached by run: a finished run never changes."""
    return _rows(entry, entry.table, tuple(r.run_id for r in runs))


def similarities(
    frame: pd.DataFrame, runs: Sequence[RunRecord], subsets: Sequence[str]
) -> Mapping[Variant, Mapping[str, Float64]]:
    """For ``figures.spread``."""
    return {
        r.plan.variant: {
            subset: frame.loc[(frame["run_id"] == r.run_id) & (frame["subset"] == subset), "similarity"].to_numpy()
            for subset in subsets
        }
        for r in runs
    }


@st.cache_data(show_spinner="Comparing two variants …", max_entries=64)
def _tests(
    _first: RunRecord,
    _second: RunRecord,
    run_ids: tuple[str, str],  # noqa: ARG001 - cache key
) -> tuple[comparison.OrderingTest, ...]:
    return comparison.compare_orderings(_first, _second, repository())


def difference(runs: Sequence[RunRecord]) -> None:
    """Two variants side by side, ordering by ordering, and whether what sets them apart could be chance."""
    by_name = {str(r.plan.variant): r for r in runs}
    if len(by_name) < 2:
        return
    st.subheader("Does A differ from B?", anchor=False)
    names, keys = list(by_name), ("heros_a", "heros_b")
    for key, other in zip(keys, reversed(keys), strict=True):
        if st.session_state.get(key) not in names:  # nothing was chosen yet, or the sidebar has left it out since
            st.session_state[key] = next(name for name in names if name != st.session_state.get(other))
    first, second = (
        by_name[column.selectbox(letter, names, key=key, persist_state="session")]
        for letter, key, column in zip("AB", keys, st.columns(2), strict=True)
    )
    if first is second:
        st.info("Choose two different variants.")
        return
    try:
        tests = _tests(first, second, (first.run_id, second.run_id))
    except BlindspotError as error:
        st.warning(as_text(str(error)))
        return
    one, other = (f"**{as_text(r.plan.variant.label)}**" for r in (first, second))
    headline, *details = comparison.verdict(tests, one, other, label)
    st.markdown("\n".join([headline, "", *(f"- {sentence}" for sentence in details)]))
    if tests:
        _test_table(tests)


def _test_table(tests: Sequence[comparison.OrderingTest]) -> None:
    frame = pd.DataFrame(
        [
            {
                "ordering": label(t.ordering),
                "A": 100 * t.first_rate,
                "B": 100 * t.second_rate,
                "A − B": 100 * t.difference,
                "only A": t.test.first_better,
                "only B": t.test.second_better,
                "alike": t.test.alike,
                "p": t.test.p_value,
                "p, Holm": t.p_corrected,
            }
            for t in tests
        ]
    )
    column = st.column_config.NumberColumn
    st.dataframe(
        frame,
        hide_index=True,
        key="heros_tests",
        column_config={
            "A": column(format="%.1f%%", help="Share of originals with this order in A, ties counting half"),
            "B": column(format="%.1f%%", help="Share of originals with this order in B, ties counting half"),
            "A − B": column(format="%+.1f", help="How much larger A's share is, in percentage points"),
            "only A": column(help="Originals with this order in A and not in B; where one has a tie, A is ahead"),
            "only B": column(help="Originals with this order in B and not in A; where one has a tie, B is ahead"),
            "alike": column(help="Originals on which A and B agree"),
            "p": column(format="%.2g", help="McNemar's exact test on the originals on which A and B disagree"),
            "p, Holm": column(format="%.2g", help="The same, corrected for the number of orderings tested"),
        },
    )
    st.caption(
        f"p: how likely a split between A and B at least as uneven is, were they equally good. More than chance is a "
        f"corrected p below {comparison.ALPHA:g}."
    )


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
