"""View on *Models*: the set-up check of the chosen model, its last report, and the button that makes it."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from blindspot import names
from blindspot.errors import BlindspotError
from blindspot.figures.html_tables import Column, folded, html_table
from blindspot.studies.setup_check.results import Report, Result, State
from blindspot.studies.setup_check.task import ABOUT, SetupCheck, find, is_of_today, references_of
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import explained, scheme, settings
from blindspot.ui.widgets.addressed import one_named
from blindspot.ui.widgets.work import task_button

KEY = "reference_model"  # in the address
_MODEL = "_setup_check_of"  # the model whose check was drawn last
MARKS = {State.WRONG: "✗ wrong", State.LOOK: "? look", State.OK: "✓ ok", State.UNCHECKED: "– not checked"}
_TO_CHECK = (State.WRONG, State.LOOK)
SHOWN = 10  # of the texts least like the reference's


def setup_check(encoder: str, models: Sequence[str]) -> None:
    """Draw the check of a model.

    Args:
        encoder: reference of the model.
        models: references of all models, one of which may be the reference.
    """
    st.markdown("**Set-up check**")
    st.caption(
        "Is it set up as its authors meant? Encodes about "
        f"{ABOUT[False]:,} short texts of our own. With a reference, the same model set up as meant, it also tells the "
        "pooling, layer, prompt and precision."
    )
    others = [model for model in models if model != encoder]
    _begin(encoder, others)
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    with left:
        called = names.current().model
        reference = one_named("Reference", others, key=KEY, name=called, placeholder="No reference") or ""
    with right:
        asked = SetupCheck(encoder, reference)
        task_button("Check the set-up", "Checking …", asked.label, [asked], key="setup_check")
    report = find(encoder, reference, settings())
    if report is None:
        st.caption("Not checked yet." if not reference else "Not checked against this reference yet.")
        return
    _report(report)


def _begin(encoder: str, others: Sequence[str]) -> None:
    """Choose the reference of the last check, where neither the reader nor the address has chosen one.

    It is in the address then, so that the link goes on meaning this reference.
    """
    if st.session_state.get(_MODEL) == encoder and st.session_state.get(KEY) in (None, *others):
        return
    is_first = _MODEL not in st.session_state
    st.session_state[_MODEL] = encoder
    if is_first and KEY in st.query_params:
        return
    stored = [reference for reference in references_of(encoder, settings()) if not reference or reference in others]
    st.session_state[KEY] = (stored[0] if stored else "") or None


def _report(report: Report) -> None:
    kind = st.error if report.of(State.WRONG) else st.warning if report.of(State.LOOK) else st.success
    kind(as_text(report.headline))
    try:
        if not is_of_today(report, settings()):
            st.warning("The model or its reference has changed since this check. Check the set-up again.")
    except BlindspotError as error:
        st.caption(as_text(f"The model cannot be used now: {explained(error)}"))
    order = list(MARKS)
    rows = sorted(report.results, key=lambda result: order.index(result.verdict))
    tinted = [i for i, result in enumerate(rows) if result.verdict in _TO_CHECK]
    columns = (
        Column("check", style="width:11rem", names_rows=True),
        Column("verdict", style="white-space:nowrap"),
        Column("evidence"),
        Column("what to do", style="width:24%"),
    )
    table = html_table(columns, [_row(r) for r in rows], scheme(), "Set-up check", tinted=tinted, min_width=640)
    st.html(table)
    if report.worst:
        with st.expander("Texts least like the reference's", key="setup_worst"):
            worst = [(f"{cosine:.5f}", kind, folded(text)) for text, kind, cosine in report.worst[:SHOWN]]
            heads = (Column.numbers("cosine"), Column("kind"), Column("text"))
            st.html(html_table(heads, worst, scheme(), "Texts least like the reference's"))
    st.caption(
        f"{report.texts:,} texts in {report.requests:,} batches, {report.seconds:,.0f} s, {report.made[:10]}. "
        "The address of this page is the link to this result."
    )


def _row(result: Result) -> tuple[str, ...]:
    return result.title, MARKS[result.verdict], result.evidence, result.advice
