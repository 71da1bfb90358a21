"""Several models on *Compare*: the best on a dataset by one diagnostic. Only that diagnostic is read and drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

import streamlit as st

from blindspot import ui
from blindspot.datasets.catalog import title_of
from blindspot.diagnostic import Diagnostic, GridRole, all_diagnostics
from blindspot.runs.default_models import KNOW_NO_MEANING
from blindspot.store.records import Leaderboard
from blindspot.studies.compare.page import several
from blindspot.ui.boundary import errors_shown
from blindspot.ui.frame import how_computed
from blindspot.ui.markdown import as_text
from blindspot.ui.options import row
from blindspot.ui.page_state import link
from blindspot.ui.pickers import Picks
from blindspot.ui.resources import scheme
from blindspot.ui.variant_looks import variant_styles
from blindspot.ui.widgets.addressed import tab_named
from blindspot.ui.widgets.doors import doors
from blindspot.ui.widgets.doubts import show_doubts
from blindspot.ui.widgets.tables import show_limits
from blindspot.ui.widgets.views import View, choose_page
from blindspot.workspace.overview import best, figures, tables
from blindspot.workspace.overview.best import Best

DRAWN = 11  # models in the figure: as many as have a color of their own
KEY = "scores"
TABLES = 6  # datasets at first, the picked one and those run last: each table takes as long as the rest of the page


@dataclass(frozen=True)
class Stored:
    """What there is: the diagnostics with results, and the ids of those with results of the picked dataset."""

    picks: Picks
    entries: Mapping[str, Diagnostic]
    of_picked: Set[str]


def show() -> None:
    picks = ui.page("Several models", "Which model is best, and what does it cost to run?")
    with ui.errors_shown():
        tables.interrupted()
    counts = [count for count in ui.repository().counts() if count.finished]
    finished = {count.diagnostic for count in counts}
    entries = {name: entry for name, entry in all_diagnostics().items() if name in finished}
    if doors(are_open=not entries):
        return
    of_picked = {count.diagnostic for count in counts if count.dataset == picks.dataset}
    choose_page(Stored(picks, entries, of_picked), VIEWS)


def _one_test(stored: Stored) -> None:
    """Draw a diagnostic's section, which the reader chooses."""
    picks, entries = stored.picks, stored.entries
    fitting = {name: entry for name, entry in entries.items() if name in stored.of_picked}
    if fitting and KEY not in st.session_state and KEY not in st.query_params:
        st.session_state[KEY] = next(iter(fitting))
    with row():
        chosen = tab_named(
            "Diagnostic",
            list(entries),
            key=KEY,
            name=lambda name: entries[name].title,
            label_visibility="collapsed",
            help="\n".join(f"- **{entry.title}**: {entry.question}" for entry in entries.values()),
        )
    with errors_shown():
        if chosen not in fitting:
            _say_other_datasets(entries[chosen], picks, list(fitting.values()))
        section(entries[chosen], picks)


def _say_other_datasets(entry: Diagnostic, picks: Picks, fitting: Sequence[Diagnostic]) -> None:
    """Say that the picked dataset has no results of a diagnostic; ``fitting`` are the diagnostics that have some."""
    instead = f" It has results of {' and '.join(each.title for each in fitting)}." if fitting else ""
    st.info(
        f"{as_text(title_of(picks.dataset))} has no results of {entry.title}: other datasets are shown.{instead}",
        icon=":material/info:",
    )


def section(entry: Diagnostic, picks: Picks) -> None:
    """Draw the best model on the picked dataset in a sentence and a figure, then datasets' tables, few at first."""
    boards = tables.leaderboards(entry, picks)
    if not boards:
        tables.none_fit(entry, picks)
        return
    tested = tables.tested(boards)
    if tables.takes_long(entry, boards[0]):  # the scores can be read while the tests go on
        at_first = st.empty()
        with at_first.container():
            _at_first(entry, boards[0])
        tables.best_of(entry, boards[0])
        at_first.empty()
    in_question = show_doubts(entry, boards[0].runs)
    if (best_here := tables.best_of(entry, boards[0])) is not None:  # a user's own minimal pairs may have no synonym
        if not in_question:
            _sentence(f"**{as_text(best.verdict(best_here))}** {as_text(best.cost(best_here))}", key="headline")
        _dots(best_here, boards[0], key=f"dots_{entry.id}")
    drawn = st.container()
    is_long = len(boards) > TABLES and st.toggle(
        f"Show all {len(boards):,} datasets", key="overview_more", bind="query-params"
    )
    with drawn:
        for number, board in enumerate(boards if is_long else boards[:TABLES]):
            if number:  # the first one's question is above its sentence
                in_question = show_doubts(entry, board.runs)
            tables.board_table(entry, board, test=board.dataset in tested and not in_question)
        show_limits(board.dataset for board in (boards if is_long else boards[:TABLES]))
    tables.which_parameters(entry, picks)
    how_computed(entry)


def _at_first(entry: Diagnostic, board: Leaderboard) -> None:
    """The first dataset's scores, without what takes time."""
    best_here = best.untested(entry, board.runs)
    _sentence(as_text(best.at_first(best_here)), key="headline_at_first")
    _dots(best_here, board, key=f"dots_{entry.id}_at_first")
    tables.board_table(entry, board, test=False, key="at_first")


def _sentence(text: str, key: str) -> None:
    with st.container(border=True, key=key):
        st.markdown(text)


def _dots(best_here: Best, board: Leaderboard, key: str) -> None:
    """The figure of the first dataset."""
    entry = best_here.entry
    scores = tables.headlines(best_here).head(DRAWN)
    chart = figures.score_dots(
        scores,
        entry.overview.axis,
        variant_styles(scores["variant"]),
        scheme(),
        is_at_most_one=not entry.headline_is_lower_better,
    )
    st.plotly_chart(chart, key=key, config={"displayModeBar": False})
    if entry.deeper:
        link(entry.deeper, label=entry.overview.link, icon=":material/arrow_forward:")
    note = (
        "Bars: 95% intervals of each score; overlapping bars can still differ significantly."
        if best_here.intervals
        else ""
    )
    if board.variants > len(scores):
        end = "lowest" if entry.headline_is_lower_better else "highest"
        note = f"{board.variants:,} models; showing the {len(scores)} with the {end} {best_here.label}. {note}"
    toys = [variant.label for variant in scores["variant"] if variant.encoder in KNOW_NO_MEANING]
    if toys and entry.grid is GridRole.TASK:
        know = "knows" if len(toys) == 1 else "know"
        note += f" {' and '.join(toys)} {know} only spelling and words: a useful model should beat them."
    if note:
        st.caption(as_text(note))


def _all_tests(stored: Stored) -> None:
    several.show(stored.picks)


# The keys are also in the address; the first is the default.
VIEWS: Mapping[str, View[Stored]] = {
    "one test": View("Which model is best on a dataset?", _one_test),
    "all tests": View("Which model wins how often, and which is worth its cost?", _all_tests),
}
