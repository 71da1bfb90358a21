"""Tables of the Overview, and what it says where there are no runs."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from core.datasets.catalog import title_of
from core.diagnostic import DiagnosticEntry, Parameter, named_function
from core.figures.labels import LABEL_WIDTH, wrapped
from core.store.records import Leaderboard, RunRecord, RunState
from core.texts import counted
from core.ui.options import asked_for
from core.ui.pickers import Picks
from core.ui.resources import repository
from core.ui.widgets import tables
from core.ui.widgets.work import being_computed, rerun_button

TOP = 25  # variants per dataset: more cannot be told apart in a figure
TESTED_PAIRS = 80_000  # over all variants: about a second of tests when they are new


def interrupted() -> None:
    """Offer to go on with runs whose process ended."""
    lost = repository().runs(state=RunState.INTERRUPTED)
    lost = [r for r, busy in zip(lost, being_computed(lost), strict=True) if not busy]
    if not lost:
        return
    with st.container(border=True, key="interrupted"):
        what = counted(len(lost), "run was", "runs were")
        st.warning(f"{what} interrupted. What was encoded is kept.", icon=":material/report:")
        rerun_button("Continue", "Interrupted runs", lost, key="resume")


def _value(parameter: Parameter, picks: Picks) -> str:
    """As picked in the sidebar, or the default."""
    return picks.params.get(parameter.name, parameter.default)


def which_parameters(entry: DiagnosticEntry, picks: Picks) -> None:
    """Name the values of parameters that the sidebar has no picker for."""
    chosen = [f"{p.name} `{p.default}`" for p in entry.parameters if p.name not in picks.params]
    if chosen:
        st.caption(f"All with {', '.join(chosen)}. Other values stand on the page below.")


def leaderboards(entry: DiagnosticEntry, picks: Picks) -> list[Leaderboard]:
    """Per dataset the best of the picked variants, the picked dataset first."""
    params = {p.name: _value(p, picks) for p in entry.parameters}
    wanted = [*entry.overview.columns, "pairs", "background", entry.overview.counted[0]]
    stored = repository().variants()
    kept = asked_for(picks, stored)
    boards = repository().leaderboards(entry, params, [] if kept == stored else kept, wanted, TOP)
    if len(kept) < len(stored) and not picks.variants:  # a dataset with nothing but what was left out
        shown = {board.dataset for board in boards}
        every = repository().leaderboards(entry, params, [], wanted, TOP)
        boards += [board for board in every if board.dataset not in shown]
    return sorted(boards, key=lambda board: board.dataset != picks.dataset)


def none_fit(entry: DiagnosticEntry, picks: Picks) -> None:
    """There are runs, but none for these picks."""
    said = {"metric": "similarity"}
    chosen = [f"{said.get(p.name, p.name)} `{_value(p, picks)}`" for p in entry.parameters]
    asked = f" with {' and '.join(chosen)}" if chosen else ""
    st.info(f"No runs of {entry.title}{asked} for these variants. Change the pickers in the sidebar.")


def label_of(dataset: str) -> str:
    """A dataset's name as a label of an axis."""
    return wrapped(title_of(dataset), LABEL_WIDTH + 4)


def headlines(entry: DiagnosticEntry, boards: Sequence[Leaderboard]) -> pd.DataFrame:
    """For ``figures.score_dots``."""
    return pd.DataFrame(
        [
            {"variant": r.plan.variant, "dataset": label_of(board.dataset), "score": r.metrics[entry.headline]}
            for board in boards
            for r in board.runs
            if entry.headline in r.metrics
        ],
        columns=["variant", "dataset", "score"],
    )


def tested(boards: Sequence[Leaderboard]) -> set[str]:
    """Datasets whose variants are tested against the best one: the first, and others as long as it is quick.

    The tests read every pair of every variant, and a store may hold many datasets.
    """
    found: set[str] = set()
    pairs = 0.0
    for board in boards:
        pairs += sum(run.metrics.get("pairs", 0.0) for run in board.runs)
        if not found or pairs <= TESTED_PAIRS:
            found.add(board.dataset)
    return found


def board_table(entry: DiagnosticEntry, board: Leaderboard, *, test: bool) -> None:
    """One dataset's table, without scores that some run lacks; ``test`` marks what is not separable from the best."""
    runs = list(board.runs)
    shared = {name: title for name, title in entry.overview.columns.items() if all(name in r.metrics for r in runs)}
    st.subheader(tables.dataset_title(board.dataset), anchor=False)
    frame = pd.concat([tables.score_table(runs, shared), tables.cost_table(runs)], axis=1)
    alike = named_function(entry.tested)(entry, runs) if test and entry.tested else None
    styled = tables.mark_best(frame, entry, shared, alike)
    st.dataframe(styled, hide_index=True, key=f"scores_{entry.id}_{board.dataset}")
    signs = tables.signs_in_words(entry, shared, alike) if len(runs) > 1 else ""
    more = (
        f" The best {len(runs)} of {board.variants:,} variants; pick others in the sidebar."
        if board.variants > len(runs)
        else ""
    )
    devices = ", ".join(sorted({r.device for r in runs if r.device}))
    st.caption(
        f"{tables.dataset_title(board.dataset)}: {_what(entry, runs[0])}. {signs}{more} texts/s: speed of encoding on "
        f"{devices}; poolings of one model share one pass, and each shows the whole pass's speed."
    )


def _what(entry: DiagnosticEntry, run: RunRecord) -> str:
    metric, things = entry.overview.counted
    found = f"{run.metrics[metric]:,.0f} {things}" if metric in run.metrics else "items"
    among = f" among {run.metrics['background']:,.0f} items" if "background" in run.metrics else ""
    known = " that all of them have a vector for" if run.plan.support_digest else ""
    return f"{found}{among}{known}"
