"""Cards of comparisons of the reader's own models, above all findings."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from blindspot.runs.scope import Scope
from blindspot.studies.compare.page.reading import compared, tested
from blindspot.studies.compare.rows import Comparison
from blindspot.studies.findings import own
from blindspot.studies.findings.own import OwnComparison
from blindspot.ui.markdown import as_text
from blindspot.ui.page_state import link
from blindspot.ui.pickers import Picks
from blindspot.variants import Variant


def comparisons(picks: Picks, variants: Sequence[Variant], dataset: str, most: int) -> None:
    """Draw a card per comparison of own models with a difference, and a line for those without one; at most ``most``
    comparisons, on one dataset or, for "", on all."""
    all_comparisons = own.comparisons(
        variants,
        picks.known,
        tested(picks),
        lambda a, b: compared(a, b, picks),
        baseline=picks.baseline,
        scope=Scope((dataset,) if dataset else ()),
        most=most,
    )
    for number, comparison in enumerate(all_comparisons):
        if comparison.lines:
            _card(comparison, picks, f"own_comparison_{number}")
    if alike := [comparison for comparison in all_comparisons if not comparison.lines]:
        _line(alike, picks)


def _card(comparison: OwnComparison, picks: Picks, key: str) -> None:
    """Draw what is better or worse, and how much shows no difference."""
    with st.container(border=True, key=key):
        st.badge("Comparison", icon=":material/balance:", color="blue")
        for who, on in comparison.lines:
            st.markdown(f"**{as_text(who)}** on {as_text(on)}")
        if rest := comparison.without_difference:
            st.caption(f"{rest[0].upper()}{rest[1:]}.")
        _compare_link(comparison.whole, picks, "Compare them")


def _line(alike: Sequence[OwnComparison], picks: Picks) -> None:
    """Draw in one line that nothing is better or worse, with a link to each comparison."""
    mine = as_text(alike[0].whole.a.label)
    differences = "; ".join(
        f"against {as_text(comparison.whole.b.label)}: {comparison.without_difference}" for comparison in alike
    )
    with st.container(horizontal=True, vertical_alignment="center", key="own_alike"):
        st.markdown(f"**{mine}** {differences}.", width="content")
        for comparison in alike:
            label = "Compare" if len(alike) == 1 else f"Compare with {as_text(comparison.whole.b.label)}"
            _compare_link(comparison.whole, picks, label)


def _compare_link(whole: Comparison, picks: Picks, label: str) -> None:
    two = picks.state.with_(data="", a=str(whole.a), b=str(whole.b))
    link("compare", two, label=label, icon=":material/arrow_forward:")
