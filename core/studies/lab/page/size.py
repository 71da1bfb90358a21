"""The Lab's view *size*: score against the number of dimensions, so that encoders are compared at equal size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import streamlit as st

from core.encoders import catalog as encoders
from core.errors import BlindspotError
from core.figures import grids as figures
from core.studies.lab import cells
from core.studies.lab.grid import FULL, REDUCTIONS, Reading, cannot_be, requests
from core.studies.lab.page.fit import fit_note
from core.studies.lab.page.progress import offer
from core.studies.lab.page.shown import Shown
from core.studies.lab.verdicts import in_words, verdicts
from core.transforms.chain import STEPS, TransformChain
from core.ui.markdown import as_text
from core.ui.resources import repository, settings

SIZES = (8, 16, 32, 64, 128, 256, 512, 1024)
DEFAULT_SIZES = (16, 32, 64, 128, 256)
NO_CHANGE = "none"
METHODS = {
    "truncate": "the first dimensions",
    "pca": "the directions of largest variance",
    "random-project": "random directions, always the same ones; also more than there are",
}


def show(shown: Shown) -> None:
    """Pick how the size is changed; the line of each encoder, and the job that computes what lacks."""
    methods = [name for name in REDUCTIONS if name in STEPS]
    left, middle, right = st.columns([3, 5, 3])
    method = left.segmented_control(
        "By",
        methods,
        default=methods[0],
        required=True,
        key="lab_size_by",
        bind="query-params",
        help="\n".join(f"- `{name}`: {METHODS[name]}" for name in methods),
    )
    sizes = middle.pills(
        "Dimensions",
        SIZES,
        selection_mode="multi",
        default=list(DEFAULT_SIZES),
        key="lab_size",
        bind="query-params",
        help="Those that an encoder does not have are left out; random projection goes up as well.",
    )
    reading = _reading(shown, right)
    metric = shown.grid.metrics[0] if len(shown.grid.metrics) == 1 else None
    if metric is None:
        metric = st.segmented_control(
            "Similarity",
            shown.grid.metrics,
            default=shown.grid.metrics[0],
            required=True,
            key="lab_size_metric",
            bind="query-params",
        )
    chains = (NO_CHANGE, *(f"{method}:{int(size)}" for size in sorted(sizes)))
    grid = replace(shown.grid, transforms=chains, metrics=(str(metric),), tasks=(reading.task,))
    try:
        wanted = [r for r in requests(grid, settings()) if not cannot_be(r, settings())]
    except BlindspotError as error:
        st.error(as_text(str(error)), icon=":material/error:")
        return
    found = cells.stored(wanted, repository())
    offer(wanted, found, "size")
    scores = cells.scores(wanted, found, (reading,))
    lines = size_lines(scores)
    if not lines:
        return
    st.plotly_chart(figures.size_lines(lines, reading.label, shown.styles, shown.scheme), key="lab_size_lines")
    st.caption(as_text(f"By {method}: {METHODS[str(method)]}. Larger marks: an encoder's own size, nothing changed."))
    if STEPS[str(method)].learns:
        fit_note(grid, "lab_size_fit")
    equal = scores.only([i for i, s in enumerate(scores.settings) if s.size != FULL]).ranked
    if equal.settings and (told := verdicts(equal, shown.decimals)):
        st.markdown("**At equal size**")
        st.markdown("\n".join(f"- {as_text(in_words(verdict))}" for verdict in told[:20]))


def _reading(shown: Shown, where: st.delta_generator.DeltaGenerator) -> Reading:
    options: Mapping[str, Reading] = {reading.label: reading for reading in shown.readings}
    names = list(options)
    picked = where.selectbox("Score", names, key="lab_size_score", persist_state="session")
    return options.get(str(picked), shown.readings[0])


def size_lines(scores: cells.Scores) -> list[figures.SizeLine]:
    """A line per encoder with at least one score; its untouched score stands at its own size."""
    out = []
    for row, encoder in enumerate(scores.encoders):
        own = encoders.resolve(encoder, settings()).info.dimension
        points: dict[int, float] = {}
        full = None
        for setting, value in zip(scores.settings, scores.values[row], strict=True):
            if np.isnan(value):
                continue
            argument = TransformChain.parse(setting.chain).steps[-1].argument if setting.size != FULL else own
            if setting.size == FULL:
                full = own
            if argument is not None and (setting.size == FULL or argument not in points):
                points[argument] = float(value)
        if points:
            ordered = sorted(points)
            out.append(figures.SizeLine(encoder, tuple(ordered), tuple(points[s] for s in ordered), full))
    return out
