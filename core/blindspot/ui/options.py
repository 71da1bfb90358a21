"""Row below a page's title: what the page leaves out, its options, what else can be run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from blindspot.references import made_of
from blindspot.store.records import RunRecord
from blindspot.texts import counted
from blindspot.ui.pickers import PROTOCOLS, Picks, show_postprocessed
from blindspot.ui.widgets.choices import one_of
from blindspot.variants import Variant

_ROW = "_tools"
_OPTIONS = "_options"


def begin_row() -> None:
    """Place the row; the page's frame calls it."""
    st.session_state[_ROW] = st.container(horizontal=True, vertical_alignment="center", gap="small", key="tools")
    st.session_state.pop(_OPTIONS, None)


def row() -> DeltaGenerator:
    """This page's row; its elements are as wide as their content."""
    container: DeltaGenerator | None = st.session_state.get(_ROW)
    return container if container is not None else st.container(horizontal=True)


def options() -> DeltaGenerator:
    """The popover with options that nobody needs at first sight; all parts of a page add to the same one."""
    if _OPTIONS not in st.session_state:
        st.session_state[_OPTIONS] = row().popover("Options", icon=":material/tune:", key="options", width="content")
    popover: DeltaGenerator = st.session_state[_OPTIONS]
    return popover


def choose_protocol(picks: Picks) -> Picks:
    """The picks with the protocol that the reader chooses among the options."""
    about = (
        "How ranks and similarities are computed. definition: exact, as in the papers, with ties. toolkit: the "
        "arithmetic of EvalRank's published toolkit, rounding included; only its scores can be compared with those "
        "that the toolkit gave others."
    )
    return replace(picks, protocol=one_of("Protocol", PROTOCOLS, "protocol", about, container=options()))


def asked_for(picks: Picks, variants: Iterable[Variant]) -> list[Variant]:
    """``Picks.asked_for``, with a line that says what it leaves out and a button that shows it."""
    here = list(variants)
    kept = picks.asked_for(here)
    left_out = {variant for variant in here if picks.keeps(variant)} - set(kept)
    # Of a study of sizes, layers, prompts or joined models there are dozens, which its own page shows.
    left_out = {v for v in left_out if not v.chain.only_shrinks and not made_of(v.encoder)}
    steps = sum(variant.transform == "none" for variant in left_out)
    if steps:
        with row():
            what = counted(steps, "earlier step of a training", "earlier steps of a training")
            st.caption(f"{what} hidden; *Steps of a training* on *Compare* has all.", width="content")
    if hidden := len(left_out) - steps:
        with row():
            what = counted(hidden, "post-processed model", "post-processed models")
            st.caption(f"{what} hidden.", width="content")
            st.button(
                "Show it" if hidden == 1 else "Show them",
                key="show_postprocessed",
                type="tertiary",
                on_click=show_postprocessed,
            )
    return kept


def runs_asked_for(picks: Picks, runs: Sequence[RunRecord]) -> list[RunRecord]:
    """The runs of ``asked_for``, in their order."""
    kept = set(asked_for(picks, (run.plan.variant for run in runs)))
    return [run for run in runs if run.plan.variant in kept]
