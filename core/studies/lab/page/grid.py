"""The Lab's view *grid*: every cell's score, one kind of score at a time."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from core.figures import grids as figures
from core.studies.lab.grid import Reading
from core.studies.lab.page.shown import Shown
from core.ui.markdown import as_text


def show(shown: Shown) -> None:
    """A heat map per score that is looked at."""
    for reading in shown.readings:
        with st.container():  # its figure comes when the first run is there, and moves nothing below
            _one(shown, reading)
    with st.expander("The numbers", icon=":material/table:"):
        st.dataframe(numbers(shown), hide_index=True, key="lab_numbers")


def _one(shown: Shown, reading: Reading) -> None:
    keep = [i for i, setting in enumerate(shown.scores.settings) if setting.reading == reading]
    scores = shown.scores.only(keep)
    st.markdown(f"**{as_text(reading.label)}**")
    if np.isnan(scores.values).all():
        st.caption("None of its runs is stored yet.")
        return
    labels = [f"{setting.chain} · {setting.metric}" for setting in scores.settings]
    figure = figures.score_grid(scores.values, scores.encoders, labels, reading.direction, shown.scheme)
    st.plotly_chart(figure, key=f"lab_grid_{reading}")
    what = next((m.description for m in reading.task.entry.metrics if m.name == reading.score), "")
    order = {1: "More is better.", -1: "Less is better.", 0: "It describes the space; neither is better."}
    missing = int(np.isnan(scores.values).sum())
    dash = f" – : {missing} of {scores.values.size} cells are not computed, or cannot be." if missing else ""
    st.caption(as_text(f"{what[:1].upper()}{what[1:]}. {order[reading.direction]}{dash}"))


def numbers(shown: Shown) -> pd.DataFrame:
    """A row per setting: the score, the transform, the similarity, then a column per encoder."""
    scores = shown.scores
    columns: dict[str, list[object]] = {
        "score": [s.reading.label for s in scores.settings],
        "transform": [s.chain for s in scores.settings],
        "similarity": [s.metric for s in scores.settings],
    }
    for row, encoder in enumerate(scores.encoders):
        columns[encoder] = [None if np.isnan(v) else float(v) for v in scores.values[row]]
    return pd.DataFrame(columns)
