"""Views *layers* and *prompts* of the Lab: a model's score by the layer that is read, or by its prompt."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from blindspot.errors import InputError
from blindspot.figures import grids as figures
from blindspot.names import current
from blindspot.references import read_otherwise
from blindspot.store.records import RunRecord
from blindspot.studies.lab.grid import Task, stored_runs
from blindspot.studies.lab.page.progress import LabView, offer, task_of_items
from blindspot.studies.lab.series import PROMPTS, By, SeriesView, Ways, requests_of, series_view, ways
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import cached, repository, settings
from blindspot.ui.widgets.tables import draw

LONGEST_PROMPT = 400  # characters


def layers(shown: LabView) -> None:
    """A line per model from layer 0, the embeddings' output, to the last, which is the model itself."""
    _show(shown, By.LAYER, ())
    st.caption(
        "Each layer's token vectors are pooled and normalized as the model does its last layer's. Layer 0 is the "
        "embeddings' output; the last layer is the model itself. One pass through the model gives all."
    )


def prompts(shown: LabView) -> None:
    """A dot per model and prompt, and the places that a model can come in by prompts alone."""
    typed = st.text_input(
        "Your own prompt",
        key="lab_prompt",
        bind="query-params",
        placeholder=PROMPTS[0],
        max_chars=LONGEST_PROMPT,
        help="Put before every text, as it is: end it with a space where one belongs.",
    )
    _show(shown, By.PROMPT, (typed,) if typed else ())
    st.caption(
        "Every prompt is put before every text, also where the model has one for queries and one for documents. The "
        "common prompts are those of E5, BGE, Nomic Embed, E5-Mistral and EmbeddingGemma."
    )


def _show(shown: LabView, by: By, prompts: Sequence[str]) -> None:
    task = task_of_items(shown, f"lab_{by}_task")
    if task is None:
        return
    every, left_out = _ways(shown.grid.encoders, by, prompts)
    if left_out:
        without = "no layers to read" if by is By.LAYER else "no prompt"
        names = ", ".join(map(current().model, left_out))
        st.caption(as_text(f"Left out, since {'it has' if len(left_out) == 1 else 'they have'} {without}: {names}."))
    if not every:
        st.info("Choose a transformer above.", icon=":material/info:")
        return
    entry, wanted = requests_of(every, task.dataset, settings(), task.diagnostic)
    runs = stored_runs(wanted, repository())
    offer(wanted, runs, by.value, f"{entry.title} by {by}")
    view = _view(by, task, tuple(every), {r.variant.encoder: run for r, run in runs.items()})
    if not view.series:
        return
    st.markdown("\n".join(f"- {as_text(sentence)}" for sentence in view.in_words))
    lines = [
        figures.SeriesLine(
            series.name,
            tuple(point.member.label for point in series.points),
            tuple(point.value for point in series.points),
            tuple((point.interval.low, point.interval.high) if point.interval else None for point in series.points),
        )
        for series in view.series
    ]
    score = f"{view.title}, {task.label}"
    figure = figures.series_lines(lines, score, by.value, shown.styles, shown.scheme, across=by is By.LAYER)
    st.plotly_chart(figure, key=f"lab_{by}_lines")
    with st.expander("The numbers", icon=":material/table:"):
        draw(view.rows, key=f"lab_{by}_numbers")


def _ways(encoders: Sequence[str], by: By, prompts: Sequence[str]) -> tuple[list[Ways], list[str]]:
    """The ways to read the models, and the models that have none."""
    every, left_out = [], []
    for encoder in encoders:
        if read_otherwise(encoder) in encoders:  # one of that model's ways
            continue
        try:
            every.append(ways(by, encoder, settings(), prompts))
        except InputError:  # it has no layers, or takes no prompt
            left_out.append(encoder)
    return every, left_out


@cached(16, "Testing …")
def _view(by: By, task: Task, every: tuple[Ways, ...], runs: dict[str, RunRecord]) -> SeriesView:
    return series_view(by, task.entry, every, runs, repository())
