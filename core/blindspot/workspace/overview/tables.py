"""Tables of the Overview, and its messages where no runs fit."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pandas as pd
import streamlit as st

from blindspot.datasets.published.tatoeba import place_of
from blindspot.datasets.user_data.files import is_own
from blindspot.diagnostic import Diagnostic, Parameter
from blindspot.runs.comparison import best_of_each
from blindspot.store.records import Leaderboard, RunRecord, RunState
from blindspot.store.repository import Repository
from blindspot.texts import counted
from blindspot.ui.options import asked_for
from blindspot.ui.page_state import link
from blindspot.ui.pickers import Picks
from blindspot.ui.resources import cached, repository
from blindspot.ui.widgets import tables
from blindspot.ui.widgets.work import being_computed, rerun_button
from blindspot.workspace.overview import best
from blindspot.workspace.overview.best import Best

TOP = 25  # models per dataset: tests of each against the best take time
TESTED_PAIRS = 80_000  # over all variants: about a second of tests when they are new


def interrupted() -> None:
    """Offer to resume runs whose process ended."""
    lost = repository().runs(state=RunState.INTERRUPTED)
    lost = [r for r, busy in zip(lost, being_computed(lost), strict=True) if not busy]
    if not lost:
        return
    with st.container(border=True, key="interrupted"):
        what = counted(len(lost), "run was", "runs were")
        st.warning(f"{what} interrupted. Computed embeddings are kept.", icon=":material/report:")
        rerun_button("Continue", "Interrupted runs", lost, key="resume")


def _value(parameter: Parameter, picks: Picks) -> str:
    """The picked value, or the default."""
    return picks.params.get(parameter.name, parameter.default)


def which_parameters(entry: Diagnostic, picks: Picks) -> None:
    """Name the values of parameters that have no picker."""
    unpicked = [p for p in entry.parameters if p.name not in picks.params and not p.only_if_chosen]
    chosen = [f"{p.name} `{p.default}`" for p in unpicked]
    if chosen:
        st.caption(f"All with {', '.join(chosen)}. For other values, open the page linked above.")


def leaderboards(entry: Diagnostic, picks: Picks) -> list[Leaderboard]:
    """Per dataset the best of the picked variants, the picked dataset first."""
    params = entry.check_params({p.name: _value(p, picks) for p in entry.parameters})
    wanted = [*entry.overview.columns, "pairs", "background", entry.overview.counted[0]]
    stored = repository().variants()
    kept = asked_for(picks, stored)
    boards = repository().leaderboards(entry, params, [] if kept == stored else kept, wanted, TOP)
    if len(kept) < len(stored) and not picks.variants:  # a dataset with nothing but what was left out
        shown = {board.dataset for board in boards}
        every = repository().leaderboards(entry, params, [], wanted, TOP)
        boards += [board for board in every if board.dataset not in shown]
    return sorted(boards, key=lambda board: (board.dataset != picks.dataset, not is_own(board.dataset)))


def none_fit(entry: Diagnostic, picks: Picks) -> None:
    """Say that there are runs, but none for these picks."""
    titles = {"metric": "similarity"}
    chosen = [f"{titles.get(p.name, p.name)} `{_value(p, picks)}`" for p in entry.parameters if not p.only_if_chosen]
    asked = f" with {' and '.join(chosen)}" if chosen else ""
    st.info(f"No {entry.title} results{asked} for these models. Change the selection in the sidebar.")
    if any(count.diagnostic == entry.id and place_of(count.dataset) for count in repository().counts()):
        link("languages", label="Translations are on Languages", icon=":material/arrow_forward:")


def best_of(entry: Diagnostic, board: Leaderboard) -> Best | None:
    """The best of a dataset's models, tested against the others; None where no run has the headline score."""
    if not _is_scored(entry, board):
        return None
    ids = tuple(run.run_id for run in board.runs)
    best_here = _best_of(entry, ids, tuple(names_shown(board.runs)), _runs=board.runs, _repository=repository())
    _compared().add((entry.id, ids))
    return best_here


def takes_long(entry: Diagnostic, board: Leaderboard) -> bool:
    """Whether ``best_of`` takes seconds: the models have many pairs, and were not compared since the server started."""
    is_known = (entry.id, tuple(run.run_id for run in board.runs)) in _compared()
    return _is_scored(entry, board) and len(board.runs) > 1 and _pairs(board) > TESTED_PAIRS and not is_known


@cached(1, shared=True)
def _compared() -> set[tuple[str, tuple[str, ...]]]:
    """The diagnostics and runs that ``best_of`` was asked for."""
    return set()


def _is_scored(entry: Diagnostic, board: Leaderboard) -> bool:
    return any(entry.headline in run.metrics for run in board.runs)


def _pairs(board: Leaderboard) -> float:
    return sum(run.metrics.get("pairs", 0.0) for run in board.runs)


def names_shown(runs: Sequence[RunRecord]) -> list[str]:
    """Labels of the runs' models."""
    return [run.plan.variant.label for run in runs]


@cached(64, "Comparing with the best …", shared=True)
def _best_of(
    entry: Diagnostic,
    ids: tuple[str, ...],  # noqa: ARG001 - runs do not change
    labels: tuple[str, ...],  # noqa: ARG001 - but their models' names do
    _runs: Sequence[RunRecord],
    _repository: Repository,
) -> Best:
    return best.best_of(entry, _runs, _repository)


@cached(128, "Comparing with the best …", shared=True)
def _alike(
    entry: Diagnostic,
    ids: tuple[str, ...],  # noqa: ARG001 - runs do not change
    _runs: Sequence[RunRecord],
) -> Mapping[str, Collection[int]] | None:
    """For ``tables.mark_best``."""
    return best_of_each(entry, _runs, repository())


def headlines(best_here: Best) -> pd.DataFrame:
    """For ``figures.score_dots``."""
    ends = {run.run_id: best_here.intervals.get(run.run_id) for run in best_here.runs}
    return pd.DataFrame(
        [
            {
                "variant": run.plan.variant,
                "score": run.metrics[best_here.entry.headline],
                "low": interval.low if (interval := ends[run.run_id]) else np.nan,
                "high": interval.high if interval else np.nan,
            }
            for run in best_here.runs
        ]
    )


def tested(boards: Sequence[Leaderboard]) -> set[str]:
    """The datasets to test models on against the best one: the first, and others as long as that is quick.

    The tests read all pairs of all models, and a store may have many datasets.
    """
    seen: set[str] = set()
    pairs = 0.0
    for board in boards:
        pairs += _pairs(board)
        if not seen or pairs <= TESTED_PAIRS:
            seen.add(board.dataset)
    return seen


def board_table(entry: Diagnostic, board: Leaderboard, *, test: bool, key: str = "scores") -> None:
    """One dataset's table, without scores that some run lacks; costs that are the same for all are said below it.

    Args:
        test: mark what is not significantly worse.
    """
    runs = list(board.runs)
    shared = {name: title for name, title in entry.overview.columns.items() if all(name in r.metrics for r in runs)}
    differing, in_all = apart(tables.cost_table(runs))
    what = "Scores" if differing.empty else "Scores and cost"
    st.subheader(f"{what} on {tables.dataset_title(board.dataset)}", anchor=False)
    scores = tables.score_table(runs, shared).rename(columns={"variant": "model"})
    frame = pd.concat([scores, differing], axis=1)
    alike = _alike(entry, tuple(run.run_id for run in runs), _runs=runs) if test else None
    styled = tables.mark_best(frame, entry, shared, alike)
    tables.draw(styled, key=f"{key}_{entry.id}_{board.dataset}")
    signs = tables.signs_in_words(entry, shared, alike) if len(runs) > 1 else ""
    more = (
        f" {board.variants:,} models; showing the {len(runs)} with the best score. Pick others in the sidebar."
        if board.variants > len(runs)
        else ""
    )
    same = f" Same for all: {in_all}." if in_all else ""
    st.caption(f"{tables.dataset_title(board.dataset)}: {_what(entry, runs[0])}. {signs}{more}{same}")


def apart(costs: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """The costs in which models differ, and the known ones that are the same for all, in words."""
    is_same = (costs.nunique(dropna=False) == 1) & (len(costs) > 1)
    known = costs.loc[:, is_same].iloc[0].dropna()
    units = {"dimension": "dimensions", "memory, MB": "MB of memory"}
    in_all = ", ".join(f"{value:,.0f} {units.get(str(name), name)}" for name, value in known.items())
    return costs.loc[:, ~is_same], in_all


def _what(entry: Diagnostic, run: RunRecord) -> str:
    metric, things = entry.overview.counted
    items = f"{run.metrics[metric]:,.0f} {things}" if metric in run.metrics else "all examples"
    among = f" among {run.metrics['background']:,.0f} texts" if "background" in run.metrics else ""
    covered = " that all models cover" if run.plan.covered_digest else ""
    return f"{items}{among}{covered}"
