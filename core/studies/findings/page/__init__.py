"""The page *Findings*, the first of the app: what the stored runs say, worst first."""

from __future__ import annotations

import streamlit as st

from core import ui
from core.numerics.statistics.intervals import ALPHA
from core.runs.findings import Level
from core.studies.findings.collection import Collected
from core.studies.findings.page import cards
from core.studies.findings.page.reading import collected
from core.studies.report.page import report_buttons
from core.texts import counted
from core.ui.markdown import as_text
from core.ui.pickers import Picks
from core.ui.widgets.choices import one_of
from core.ui.widgets.doors import doors

SHOWN = 7
ALL = "all"
EVERYWHERE, PICKED = "all datasets", "the picked one"

PLURALS = {Level.BLIND_SPOT: "blind spots", Level.CAUTION: "cautions", Level.STRENGTH: "strengths"}

HOW = r"""
- Each diagnostic tests what a reader should know and returns one result per hypothesis, significant or not. Of each
  model and dataset the newest run with default parameters and the picked similarity counts.
- **False discoveries** are controlled over all of these tests together, after Benjamini and Hochberg (1995): of the
  tested findings on this page at most 5% are expected to be false. *Corrected p* is p after that. Facts that are
  counted, not tested (texts cut off, say) have none and are always shown.
- A **blind spot** is worse than chance, than a baseline that knows no meaning, or than the meaning demands. A
  **caution** says what a score does not mean. A **strength** is the opposite of a blind spot.
- **Worst first**: by level, then by the distance from where the value should be, as a share of the largest possible.
"""


def show() -> None:
    picks = ui.page("Findings", "What should you know about these models before you use them?")
    with ui.errors_shown():
        if not any(count.finished for count in ui.repository().counts()):
            doors()
            return
        _list(picks)
    with st.expander("How is this computed?", icon=":material/function:"):
        st.markdown(HOW)


def _list(picks: Picks) -> None:
    headline, linked = st.container(), st.container()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        where = one_of("Datasets", (EVERYWHERE, PICKED), "findings_in", "All, or the one picked above the page.")
        found = collected(picks.variants, picks.metric, picks.dataset if where == PICKED else "")
        there = [level for level in Level if found.at(level)]
        level = one_of("Findings", (ALL, *map(str, there)), "findings_level")
        if found.runs:
            report_buttons(picks, picks.variants, found.runs, datasets=(picks.dataset,) if where == PICKED else ())
    with linked:
        if finding_id := st.query_params.get("finding", ""):
            _linked(found, finding_id)
        for line in found.failures:
            st.warning(as_text(line), icon=":material/report:")
    if not found.runs:
        st.info("These models were not run with these picks.", icon=":material/info:")
        return
    headline.markdown(_headline(found))
    wanted = found.groups(None if level == ALL else Level(level))
    cards_place, more_place = st.container(), st.container()
    with more_place:
        is_long = len(wanted) > SHOWN and st.toggle(
            f"Show {len(wanted) - SHOWN} more", key="findings_more", bind="query-params"
        )
    with cards_place:
        for number, (first, *others) in enumerate(wanted if is_long else wanted[:SHOWN]):
            cards.card(first, key=f"finding_{number}", others=others, is_open=number == 0)
    st.caption(_tested(found, is_picked=bool(picks.variants)))


def _tested(found: Collected, *, is_picked: bool) -> str:
    tested = counted(found.hypotheses, "hypothesis", "hypotheses")
    of = f"{counted(len(found.runs), 'run')} of {counted(len(found.variants), 'model')}"
    without = "" if is_picked else " Models that know no meaning (lsa, random-projection) are shown where picked."
    return (
        f"{tested} tested in {of}; of the findings that rest on a test at most {ALPHA:.0%} are expected to be false "
        f"(Benjamini and Hochberg).{without}"
    )


def _linked(found: Collected, finding_id: str) -> None:
    """The finding that the address names, above all others, or a line that says that it is gone."""
    if one := found.find(finding_id):
        cards.card(one, key="finding_linked")
        st.divider()
    else:
        st.warning(
            as_text(f"The finding of this link is gone: its runs were deleted, or are not picked ({finding_id[:80]})."),
            icon=":material/link_off:",
        )


def _headline(found: Collected) -> str:
    parts = [f"**{counted(len(found.at(level)), level, PLURALS[level])}**" for level in Level]
    return f"{', '.join(parts[:-1])} and {parts[-1]} in {counted(len(found.variants), 'model')}."
