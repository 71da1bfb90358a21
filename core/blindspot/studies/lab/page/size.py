"""View *size* of the Lab: score by number of dimensions, to compare models at equal size."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import streamlit as st

from blindspot.encoders.catalog import resolve_encoder
from blindspot.errors import BlindspotError
from blindspot.figures import grids as figures
from blindspot.names import current
from blindspot.studies.lab.grid import FULL, REDUCTIONS, Scores, cannot_be, requests, score_cells, stored_runs
from blindspot.studies.lab.orders import in_words, orders
from blindspot.studies.lab.page.form import fit_note
from blindspot.studies.lab.page.progress import LabView, offer
from blindspot.transforms.chain import STEPS
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import explained, repository, settings
from blindspot.ui.widgets.choices import one_of

SIZES = (8, 16, 32, 64, 128, 256, 512, 1024)
DEFAULT_SIZES = (16, 32, 64, 128, 256)
METHODS = {
    "truncate": "the first dimensions",
    "pca": "the directions of largest variance",
    "random-project": "random directions, always the same; can add dimensions too",
}


def show(shown: LabView) -> None:
    """Choice of a reduction and sizes, an offer to compute the missing runs, and a line per model."""
    left, middle, right = st.columns([3, 5, 3])
    about = "\n".join(f"- `{name}`: {METHODS[name]}" for name in REDUCTIONS)
    method = one_of("Reduce by", REDUCTIONS, "lab_size_by", about, container=left)
    sizes = middle.pills(
        "Dimensions",
        SIZES,
        selection_mode="multi",
        default=list(DEFAULT_SIZES),
        key="lab_size",
        bind="query-params",
        help="Sizes larger than a model's own are left out, except for random projection.",
    )
    options = {measure.label: measure for measure in shown.measures}
    picked = right.selectbox("Score", list(options), key="lab_size_score", persist_state="session")
    measure = options.get(str(picked), shown.measures[0])
    metric = shown.grid.metrics[0]
    if len(shown.grid.metrics) > 1:
        metric = one_of("Similarity", shown.grid.metrics, "lab_size_metric")
    chains = ("none", *(f"{method}:{int(size)}" for size in sorted(sizes)))
    grid = replace(shown.grid, transforms=chains, metrics=(metric,), tasks=(measure.task,))
    try:
        wanted = [r for r in requests(grid, settings()) if not cannot_be(r, settings())]
    except BlindspotError as error:
        st.error(as_text(explained(error)), icon=":material/error:")
        return
    runs = stored_runs(wanted, repository())
    offer(wanted, runs, "size")
    scores = score_cells(wanted, runs, (measure,))
    lines = _lines(scores)
    if not lines:
        return
    st.plotly_chart(figures.size_lines(lines, measure.label, shown.styles, shown.scheme), key="lab_size_lines")
    st.caption(as_text(f"By {method}: {METHODS[method]}. Larger marks: a model's own size, unchanged."))
    if STEPS[method].learns:
        fit_note(grid, "lab_size_fit")
    equal = scores.only([i for i, s in enumerate(scores.settings) if s.size != FULL]).ranked
    if equal.settings and (of_pairs := orders(equal, shown.decimals)):
        st.markdown("**At equal size**, by scores that are not tested against each other")
        st.markdown("\n".join(f"- {as_text(in_words(order))}" for order in of_pairs[:20]))


def _lines(scores: Scores) -> list[figures.SizeLine]:
    """A line per encoder with a score; its unchanged score is at its own size."""
    out = []
    for row, encoder in enumerate(scores.encoders):
        dimension = resolve_encoder(encoder, settings()).info.dimension
        points: dict[int, float] = {}
        full = None
        for setting, value in zip(scores.settings, scores.values[row], strict=True):
            if np.isnan(value):
                continue
            if setting.size == FULL:
                full = dimension
                points[dimension] = float(value)
            elif argument := setting.steps[-1].argument:
                points.setdefault(argument, float(value))
        if points:
            sizes = tuple(sorted(points))
            out.append(figures.SizeLine(current().model(encoder), sizes, tuple(points[s] for s in sizes), full))
    return out
