"""View *published* of the page Retrieval: preferences of dense retrievers that were measured elsewhere (ColDeR)."""

from __future__ import annotations

import streamlit as st

from blindspot.diagnostics.retrieval import published
from blindspot.diagnostics.retrieval.page.retrieval_view import RetrievalView
from blindspot.diagnostics.retrieval.published import BIASES, Preference
from blindspot.errors import BlindspotError
from blindspot.figures.dots import dot, dots
from blindspot.figures.theme import Scheme, ink, looks
from blindspot.numerics.statistics.estimate import Measured
from blindspot.numerics.statistics.written import p_in_cell
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import explained, settings
from blindspot.ui.widgets import tables
from blindspot.variants import Variant

_FAILED = "_colder_failed"


def show(shown: RetrievalView) -> None:
    """The view, beside one's own runs."""
    show_tables(shown.scheme)


def show_tables(scheme: Scheme) -> None:
    """The six tables as effects with intervals, and as published."""
    st.caption(
        f"{published.SOURCE} ([repository]({published.URL}), license: {published.LICENCE}). Published results only: "
        "nothing here is measured on this machine."
    )
    if not published.is_here(settings()):
        _offer()
        return
    try:
        rows = published.load(settings())
    except BlindspotError as error:
        st.error(as_text(explained(error)), icon=":material/report:")
        return
    models = [Variant(model, "none") for model in dict.fromkeys(row.model for row in rows)]
    styles = dict(zip(models, looks(len(models), scheme), strict=True))
    lines = [dot(Variant(row.model, "none"), row.bias, Measured(row.effect, row.interval)) for row in rows]
    figure = dots(lines, styles, scheme, axis="preference, in standard deviations")
    figure.add_vline(x=0, line={"color": ink(scheme), "width": 1, "dash": "dot"})
    st.plotly_chart(figure, key="retrieval_published")
    st.markdown("\n".join(f"- **{bias}**: {what}" for bias, what in BIASES.items()))
    st.caption(
        "Mean difference of a query's scores with two forms of a document, over its standard deviation; 250 queries, "
        "bars: 95% CI (Student's t). Right of 0 the first form scores higher."
    )
    _table(rows)


def _offer() -> None:
    """The button that downloads the tables, and why the last try failed."""
    if failed := st.session_state.get(_FAILED):
        st.error(as_text(failed), icon=":material/report:")
    st.button(
        "Download the published tables", key="fetch_colder", icon=":material/download:", type="primary", on_click=_bring
    )


def _bring() -> None:
    st.session_state[_FAILED] = ""
    try:
        published.bring(settings())
    except BlindspotError as error:
        st.session_state[_FAILED] = explained(error)


def _table(rows: tuple[Preference, ...]) -> None:
    frame = [
        {
            "bias": row.bias,
            "model": row.model,
            "difference": row.mean,
            "SD": row.sd,
            "in SDs": row.effect,
            "p": p_in_cell(row.p),
            "queries": row.n,
            "positive": None if row.share is None else 100 * row.share,
        }
        for row in rows
    ]
    number = st.column_config.NumberColumn
    tables.draw(
        frame,
        key="retrieval_published_table",
        placeholder="–",
        column_config={
            "difference": number(format="%.3f", help="Mean difference of the scores, as published"),
            "SD": number(format="%.3f", help="Standard deviation of the differences, as published"),
            "in SDs": "%.2f",
            "positive": number(format="%.1f%%", help="Queries with a positive difference, where published"),
        },
    )
