"""Grid of the Lab: the stored scores, the offer to compute the rest, and the choice of scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from blindspot import ui
from blindspot.datasets.catalog import title_of
from blindspot.errors import BlindspotError
from blindspot.figures.theme import Scheme, Style
from blindspot.runs import estimates
from blindspot.runs.requests import RunRequest
from blindspot.store.records import RunRecord
from blindspot.studies.lab.grid import (
    Grid,
    Measure,
    Scores,
    Task,
    cannot_be,
    headlines,
    measures,
    requests,
    score_cells,
    stored_runs,
)
from blindspot.studies.lab.page.form import address, fit_note
from blindspot.studies.size.grid import measured_by_item
from blindspot.texts import listed
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import explained, jobs, repository, scheme, settings
from blindspot.ui.variant_looks import variant_styles
from blindspot.ui.widgets.addressed import some_named
from blindspot.ui.widgets.choices import one_of
from blindspot.ui.widgets.missing_runs import runs_to_compute
from blindspot.ui.widgets.work import run_button
from blindspot.variants import Variant

NAMED = 6  # of what does not fit
MANY_CELLS = 2_000  # runs of a grid that a page starts at once
DECIMALS = (4, 3, 2)
TITLE = "Grid of the lab"


@dataclass(frozen=True, eq=False)
class LabView:
    """A grid as far as it is stored.

    Attributes:
        requests, found: the runs of the grid, and those that are stored.
        possible: how many of the runs fit their data; the others are left out.
        measures: the scores that the reader chose, in order.
        scores: of these measures under all the grid's settings.
        ranked: the scores that rank encoders; those that describe the space only if the reader chose them.
        decimals: scores are rounded to these before ranking.
        styles: by the encoder's name.
    """

    grid: Grid
    requests: tuple[RunRequest, ...]
    found: Mapping[RunRequest, RunRecord]
    possible: int
    measures: tuple[Measure, ...]
    scores: Scores
    ranked: Scores
    decimals: int
    styles: Mapping[str, Style]
    scheme: Scheme

    @property
    def is_whole(self) -> bool:
        return len(self.found) == self.possible


def _left_out(impossible: Mapping[RunRequest, str]) -> str:
    """What does not fit, with all the models that it does not fit in one line."""
    models: dict[tuple[str, str], dict[str, None]] = {}
    for request, why in impossible.items():
        labels = models.setdefault((title_of(request.dataset), why), {})
        labels[Variant(request.variant.encoder, "none").label] = None
    parts = [f"{listed(list(labels))} on {dataset}: {why}" for (dataset, why), labels in models.items()]
    return "; ".join([*parts[:NAMED], *([f"{len(parts) - NAMED} more"] if len(parts) > NAMED else [])])


def stored(grid: Grid) -> LabView | None:
    """The grid as far as it is stored, with an offer to compute the rest; None if there is nothing to show."""
    try:
        asked = requests(grid, settings())
        impossible = {request: why for request in asked if (why := cannot_be(request, settings()))}
    except BlindspotError as error:
        st.error(as_text(explained(error)), icon=":material/error:")
        return None
    possible = tuple(request for request in asked if request not in impossible)
    runs = stored_runs(possible, repository())
    # Containers keep their places, so that nothing moves when one of these comes or goes.
    with st.container():
        offer(possible, runs, "grid")
    with st.container():
        if impossible:
            st.caption(as_text(f"Left out because the sizes do not fit: {_left_out(impossible)}."))
    with st.container():
        fit_note(grid)
    if not runs:
        return None
    wanted, by, decimals = _measures(grid)
    scores = score_cells(asked, runs, wanted)
    return LabView(
        grid,
        asked,
        runs,
        len(possible),
        wanted,
        scores,
        scores.only([i for i, s in enumerate(scores.settings) if s.measure in by]).ranked,
        decimals,
        _encoder_styles(grid),
        scheme(),
    )


def offer(wanted: Sequence[RunRequest], runs: Mapping[RunRequest, RunRecord], key: str, title: str = TITLE) -> None:
    """Number of a grid's stored cells, and the button that computes the rest as one job, called ``title``."""
    missing = [request for request in wanted if request not in runs]
    if not missing:
        st.caption(f"All {len(wanted):,} runs are computed.")
        return
    active = [job for job in jobs().active() if job.requests]
    if any(job.stage == "cancelling" and not set(missing).isdisjoint(job.requests) for job in active):
        st.info(
            f"{len(runs):,} of {len(wanted):,} runs are computed; the rest is being canceled.",
            icon=":material/hourglass_top:",
        )
        return
    under_way = {request for job in active for request in job.requests}
    if under_way.issuperset(missing):
        st.info(
            f"{len(runs):,} of {len(wanted):,} runs are computed and shown; the rest is being computed.",
            icon=":material/hourglass_top:",
        )
        return
    if len(missing) > MANY_CELLS:
        st.error(
            f"{len(missing):,} runs are more than this page starts at once ({MANY_CELLS:,}). Choose fewer, or use "
            "`blindspot sweep`.",
            icon=":material/error:",
        )
        return
    try:
        cost = estimates.estimate(missing, settings(), repository())
    except BlindspotError as error:
        st.error(as_text(explained(error)), icon=":material/error:")
        return
    with st.container(border=True, key=f"lab_offer_{key}"):
        text, button = st.columns([4, 1], vertical_alignment="center")
        sentence = runs_to_compute(len(missing), len(wanted), cost)
        text.markdown(as_text(f"{sentence} Finished runs are kept; you can cancel and resume."))
        with button:
            run_button(f"Compute {len(missing):,}", title, missing, key=f"lab_run_{key}")


def _measures(grid: Grid) -> tuple[tuple[Measure, ...], tuple[Measure, ...], int]:
    """The shown scores, by default each task's main one; those that rank encoders; the decimals to compare."""
    options = {_address(measure): measure for measure in measures(grid.tasks)}
    usual = [_address(measure) for measure in headlines(grid.tasks)]
    container_of_options = ui.options()
    names = some_named(
        "Scores",
        list(options),
        key="lab_score",
        name=lambda name: options[name].label if name in options else name,
        container=container_of_options,
        wrap=True,
        placeholder=", ".join(options[name].label for name in usual if name in options),
        help="Scores to rank models by. Empty: each task's main score. Geometry is then shown but not ranked by, since "
        "matches are closest in a space that has collapsed to a point; choose its scores to rank by them.",
    )
    about = "Scores are rounded before ranking, so that tiny differences count as ties."
    decimals = one_of(
        "Round to … decimals when ranking", DECIMALS, "lab_decimals", about, container=container_of_options
    )
    if names:
        chosen = tuple(options[name] for name in names)
        return chosen, chosen, decimals
    wanted = headlines(grid.tasks)
    return wanted, tuple(r for r in wanted if not r.is_described), decimals


def _address(measure: Measure) -> str:
    return f"{address(measure.task)}:{measure.score}"


def _encoder_styles(grid: Grid) -> dict[str, Style]:
    variants = [Variant(encoder, "none") for encoder in grid.encoders]
    looks = variant_styles(variants)
    return {variant.label: looks[variant] for variant in variants}


def task_of_items(shown: LabView, key: str) -> Task | None:
    """The chosen task among those with scores made of items; if there is none, say what to do and return None."""
    tasks = {task.label: task for task in shown.grid.tasks if task.entry in measured_by_item()}
    if not tasks:
        st.info("Choose a task whose scores are made of items, such as EvalRank, above.", icon=":material/info:")
        return None
    picked = st.selectbox("Task", list(tasks), key=key, persist_state="session")
    return tasks.get(str(picked), next(iter(tasks.values())))
