"""View *matched* of the Lab: does the order of two models change when their dimensions are matched?"""

from __future__ import annotations

import streamlit as st

from blindspot.errors import BlindspotError
from blindspot.figures import grids as figures
from blindspot.names import current
from blindspot.store.records import RunRecord
from blindspot.studies.lab.grid import Task, cannot_be, stored_runs
from blindspot.studies.lab.matched import MatchedView, Pair, PairView, matched_view, pairs_of, requests_of
from blindspot.studies.lab.page.progress import LabView, offer, task_of_items
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import cached, explained, repository, settings
from blindspot.ui.widgets.tables import draw
from blindspot.variants import Variant


def show(shown: LabView) -> None:
    """Sentences on every pair, the scores of one in every way, and the numbers of all."""
    task = task_of_items(shown, "lab_matched_task")
    if task is None:
        return
    try:
        pairs = pairs_of(shown.grid.encoders, settings())
        entry, asked = requests_of(pairs, task.dataset, settings(), task.diagnostic)
        wanted = [request for request in asked if not cannot_be(request, settings())]
    except BlindspotError as error:
        st.info(as_text(explained(error)), icon=":material/info:")
        return
    runs = stored_runs(wanted, repository())
    offer(wanted, runs, "matched", f"{entry.title} at matched dimensions")
    view = _view(task, pairs, {request.variant: run for request, run in runs.items()})
    if not view.pairs:
        return
    st.markdown("\n".join(f"- {as_text(sentence)}" for sentence in view.in_words))
    _figure(shown, task, view)
    with st.expander("The numbers", icon=":material/table:"):
        draw(view.rows, key="lab_matched_numbers")
    st.caption(
        "The larger model is truncated to the size of the smaller one, or projected at random. The smaller one grows "
        "by joining poolings (mean, max, min, p = 3, p = 2), by joining other chosen models, or by a random "
        "projection, and is cut to the size of the larger one. Where a classifier is trained, more dimensions are an "
        "advantage in themselves (Eger et al. 2019, section 3)."
    )


def _figure(shown: LabView, task: Task, view: MatchedView) -> None:
    pairs = {pair.title: pair for pair in view.pairs}
    picked = st.selectbox("Pair", list(pairs), key="lab_matched_pair", persist_state="session")
    pair = pairs.get(str(picked), view.pairs[0])
    lines = [_line(pair, side) for side in (1, -1)]
    score = f"{view.title}, {task.label}"
    figure = figures.series_lines(lines, score, "way", shown.styles, shown.scheme, across=False)
    st.plotly_chart(figure, key="lab_matched_lines")


def _line(pair: PairView, side: int) -> figures.SeriesLine:
    tests = [row.test for row in pair.rows]
    ends = [test.a_interval if side > 0 else test.b_interval for test in tests]
    return figures.SeriesLine(
        current().model(pair.pair.small if side > 0 else pair.pair.large),
        tuple(pair.pair.label(row.match) for row in pair.rows),
        tuple(test.a if side > 0 else test.b for test in tests),
        tuple((interval.low, interval.high) if interval else None for interval in ends),
    )


@cached(16, "Testing …")
def _view(task: Task, pairs: tuple[Pair, ...], runs: dict[Variant, RunRecord]) -> MatchedView:
    return matched_view(task.entry, pairs, runs, repository())
