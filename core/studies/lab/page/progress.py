"""What stands above every view of the Lab: how much of the grid is computed, and which scores are looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from core.errors import BlindspotError
from core.figures.theme import Style
from core.runs import estimates
from core.runs.pipeline import RunRequest
from core.store.records import RunRecord
from core.studies.lab import cells
from core.studies.lab.grid import Grid, Reading, cannot_be, headlines, readings, requests
from core.studies.lab.page import form as lab_form
from core.studies.lab.page.fit import fit_note
from core.studies.lab.page.shown import Shown
from core.types import Variant
from core.ui.markdown import as_text
from core.ui.resources import jobs, repository, scheme, settings
from core.ui.variant_looks import variant_styles
from core.ui.widgets.work import duration, run_button

MANY_CELLS = 2_000  # runs of a grid that a page starts at once
DECIMALS = (4, 3, 2)
TITLE = "Grid of the lab"


def gather(grid: Grid) -> Shown | None:
    """The grid as far as it is stored, with the button that computes the rest; None, having said why, without any."""
    try:
        asked = requests(grid, settings())
        impossible = {request: why for request in asked if (why := cannot_be(request, settings()))}
    except BlindspotError as error:
        st.error(as_text(str(error)), icon=":material/error:")
        return None
    possible = tuple(request for request in asked if request not in impossible)
    found = cells.stored(possible, repository())
    # Each in a place of its own: what comes and goes moves nothing below it.
    with st.container():
        offer(possible, found, "grid")
    with st.container():
        _say_impossible(impossible)
    with st.container():
        fit_note(grid)
    if not found:
        return None
    wanted, by, decimals = _what_is_read(grid)
    scores = cells.scores(asked, found, wanted)
    return Shown(
        grid,
        possible,
        impossible,
        found,
        wanted,
        scores,
        scores.only([i for i, s in enumerate(scores.settings) if s.reading in by]).ranked,
        decimals,
        encoder_styles(grid),
        scheme(),
    )


def offer(wanted: Sequence[RunRequest], found: Mapping[RunRequest, RunRecord], key: str) -> None:
    """How many of a grid's cells are there, what the rest takes, and the button that computes it as one job."""
    missing = [request for request in wanted if request not in found]
    if not missing:
        st.caption(f"All {len(wanted):,} runs of this grid are stored.")
        return
    active = [job for job in jobs().active() if job.requests]
    if any(job.stage == "cancelling" and not set(missing).isdisjoint(job.requests) for job in active):
        st.info(
            f"{len(found):,} of {len(wanted):,} runs are stored; the computation of the rest is being cancelled.",
            icon=":material/hourglass_top:",
        )
        return
    under_way = {request for job in active for request in job.requests}
    if under_way.issuperset(missing):
        st.info(
            f"{len(found):,} of {len(wanted):,} runs are stored, the rest is being computed. What is there is shown.",
            icon=":material/hourglass_top:",
        )
        return
    if len(missing) > MANY_CELLS:
        st.error(
            f"These are {len(missing):,} runs, more than the {MANY_CELLS:,} that this page starts at once. Choose "
            "fewer, or use `python -m core sweep`.",
            icon=":material/error:",
        )
        return
    try:
        cost = estimates.estimate(missing, settings(), repository())
    except BlindspotError as error:
        st.error(as_text(str(error)), icon=":material/error:")
        return
    guess = ", a rough guess" if cost.guessed else ""
    downloads = f", and a download of {', '.join(cost.downloads)}" if cost.downloads else ""
    with st.container(border=True, key=f"lab_offer_{key}"):
        text, button = st.columns([4, 1], vertical_alignment="center")
        text.markdown(
            as_text(
                f"{len(missing):,} of {len(wanted):,} runs are to be computed: about {duration(cost.seconds)}"
                f"{guess}{downloads}. They are kept; cancelled, the rest continues from there."
            )
        )
        with button:
            run_button(f"Compute {len(missing):,}", TITLE, missing, key=f"lab_run_{key}")


def _say_impossible(impossible: Mapping[RunRequest, str]) -> None:
    if impossible:
        reasons = dict.fromkeys(
            f"{request.variant.encoder} on {request.dataset}: {why}" for request, why in impossible.items()
        )
        st.caption(as_text(f"Left out, since it cannot be: {'; '.join(list(reasons)[:6])}."))


def _what_is_read(grid: Grid) -> tuple[tuple[Reading, ...], tuple[Reading, ...], int]:
    """The scores that are looked at, by default each task's headline; those that encoders are ranked by; and how finely
    they are compared."""
    options = {_address(reading): reading for reading in readings(grid.tasks)}
    usual = [_address(reading) for reading in headlines(grid.tasks)]
    left, right = st.columns([3, 1])
    names = left.multiselect(
        "Scores",
        list(options),
        key="lab_score",
        bind="query-params",
        wrap=True,
        placeholder=", ".join(usual),
        help="What encoders are ranked by. Empty means each task's headline, where Geometry is shown and not ranked "
        "by: mates are nearest in a space that has collapsed to a point. Choose its scores to rank by them.",
    )
    decimals = right.segmented_control(
        "Equal to",
        DECIMALS,
        default=DECIMALS[0],
        required=True,
        key="lab_decimals",
        bind="query-params",
        help="Decimals to which scores are rounded before encoders are ranked: what is equal then is tied.",
    )
    if names:
        chosen = tuple(options[name] for name in names)
        return chosen, chosen, int(decimals)
    wanted = headlines(grid.tasks)
    return wanted, tuple(r for r in wanted if not r.is_described), int(decimals)


def _address(reading: Reading) -> str:
    return f"{lab_form.address(reading.task)}:{reading.score}"


def encoder_styles(grid: Grid) -> dict[str, Style]:
    """The look of each encoder: that of its untransformed variant."""
    wanted = [Variant(encoder, "none") for encoder in grid.encoders]
    looks = variant_styles(wanted)
    return {variant.encoder: looks[variant] for variant in wanted}
