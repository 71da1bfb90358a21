"""The Lab's view *verdicts*: per pair of encoders, does who is better depend on the choice?"""

from __future__ import annotations

import streamlit as st

from core.studies.lab.page.shown import Shown
from core.studies.lab.verdicts import Knob, Verdict, in_words, verdicts
from core.ui.markdown import as_text

ALL, STABLE, DEPENDS = "all", "stable", "depends"
SHOWN = 40


def show(shown: Shown) -> None:
    """Plain sentences, filtered by whether the order is stable and by what it depends on."""
    found = verdicts(shown.ranked, shown.decimals)
    if not found:
        st.info(
            "No two encoders have a score under the same setting yet: choose two encoders, and compute the grid above.",
            icon=":material/info:",
        )
        return
    stable = sum(v.is_stable for v in found)
    tied = sum(v.is_tied for v in found)
    equal = f", {tied} equal throughout" if tied else ""
    st.markdown(
        f"Of {len(found)} pair{'s' if len(found) != 1 else ''} of encoders, **{stable} in one order** whatever is "
        f"chosen{equal}; **{len(found) - stable - tied} whose order depends** on a choice."
    )
    left, right = st.columns(2)
    which = left.segmented_control(
        "Verdict",
        (ALL, STABLE, DEPENDS),
        default=ALL,
        required=True,
        key="lab_verdict",
        bind="query-params",
        help="stable: one encoder is never behind. depends: either is before the other somewhere.",
    )
    knobs = right.pills(
        "Depends on",
        [str(knob) for knob in Knob],
        selection_mode="multi",
        key="lab_knob",
        bind="query-params",
        help="Only pairs that this choice alone turns; several: any of them.",
    )
    kept = [v for v in found if keeps(v, str(which), [str(k) for k in knobs])]
    for verdict in kept[:SHOWN]:
        icon = (
            ":material/lock:"
            if verdict.is_stable
            else ":material/equal:"
            if verdict.is_tied
            else ":material/swap_vert:"
        )
        st.markdown(f"{icon} {as_text(in_words(verdict))}")
    if len(kept) > SHOWN:
        st.caption(f"and {len(kept) - SHOWN} more pairs")
    if not kept:
        st.caption("No pair is like that.")
    st.caption(
        "A case is a set of settings that differ in this choice alone; it is turned where either encoder leads in it. "
        f"Scores are compared to {shown.decimals} decimals. Whether a lead is more than chance, the pages of the "
        "diagnostics test."
    )


def keeps(verdict: Verdict, which: str, knobs: list[str]) -> bool:
    """Whether a verdict passes the filter."""
    if which == STABLE and not verdict.is_stable:
        return False
    if which == DEPENDS and (verdict.is_stable or verdict.is_tied):
        return False
    return not knobs or any(str(flip.knob) in knobs for flip in verdict.flips)
