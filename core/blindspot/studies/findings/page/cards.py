"""Cards: one finding each, with its sentence, test, examples, and a link to the texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import streamlit as st

from blindspot.figures.html_tables import Column, Html, highlighted, html_table, quiet
from blindspot.runs.findings import Example, Finding, Level
from blindspot.studies.findings.collection import Discovery
from blindspot.texts import counted
from blindspot.ui.markdown import as_text
from blindspot.ui.navigation import entry_of
from blindspot.ui.page_state import link, state_of
from blindspot.ui.pickers import Picks
from blindspot.ui.resources import scheme

_Color = Literal["red", "orange", "green"]
_LOOKS: dict[Level, tuple[str, _Color]] = {
    Level.BLIND_SPOT: (":material/visibility_off:", "red"),
    Level.CAUTION: (":material/warning:", "orange"),
    Level.STRENGTH: (":material/verified:", "green"),
}
_WRAPS = "overflow-wrap:anywhere;white-space:pre-wrap"


def card(discovery: Discovery, key: str, others: Sequence[Discovery] = (), *, is_open: bool = False) -> None:
    """Draw a finding with ``others`` of its kind; ``key`` is unique on the page, ``is_open`` shows an example."""
    finding = discovery.finding
    icon, color = _LOOKS[finding.level]
    with st.container(border=True, key=key):
        st.badge(str(finding.level).capitalize(), icon=icon, color=color)
        st.markdown(f"**{as_text(finding.said())}**")
        st.caption(" · ".join(map(as_text, discovery.basis)))
        at_once = finding.examples[:1] if is_open else ()
        for example in at_once:
            _show(example)
        if folded := finding.examples[len(at_once) :]:
            more = "more " if at_once else ""
            with st.expander(counted(len(folded), f"{more}example")):
                for example in folded:
                    _show(example)
        with st.container(horizontal=True, vertical_alignment="center"):
            _links(finding, key)
            if others:
                with st.popover(f"{len(others)} more like this", type="tertiary"):
                    st.markdown("\n".join(f"- {as_text(other.finding.said())}" for other in others))


def _show(example: Example) -> None:
    rows = [
        (quiet(role, scheme()), Html(f'<div style="{_LONG}">{highlighted(text, marked, scheme())}</div>'))
        for role, text, marked in example.parts
    ]
    columns = (Column("", style="width:9rem", names_rows=True), Column("", style=_WRAPS))
    st.html(html_table(columns, rows, scheme(), example.note or "Example", has_head=False))
    if example.note:
        st.caption(as_text(example.note))


_LONG = "max-height:9rem;overflow-y:auto"  # long passages scroll in their cell


def _links(finding: Finding, key: str) -> None:
    if finding.page:
        details = state_of(finding.runs[0].plan, *finding.variants).with_(data=finding.dataset, is_visit=True)
        label = f"See the details in {entry_of(finding.page).title}"
        link(finding.page, details.at(finding.address), label=label, icon=":material/arrow_forward:")
    again = Picks.current().state.with_(data="", options={"finding": finding.id})
    with st.container(key=f"link_of_{key}", width="content"):
        st.html(_QUIET_LINK)
        link("findings", again, label="Link to this card", icon=":material/link:")


# Streamlit fills links to the current page.
_QUIET_LINK = '<style>[class*="st-key-link_of_"] a {background: transparent !important; opacity: 0.7}</style>'
