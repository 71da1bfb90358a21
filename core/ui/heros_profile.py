"""The profile of every variant, on top of the HEROS page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from core.figures import heros as figures
from core.figures.heros_published import profile_beside_published
from core.store.records import RunRecord
from core.types import Variant
from core.ui import heros_accuracy, heros_headline, heros_published
from core.ui.heros_view import Shown
from core.ui.markdown import as_text


def show(shown: Shown) -> None:
    """The heat map, its intervals on demand, and what to look for."""
    heros_headline.headline(shown)
    st.markdown("**How similar are a sentence and its rewrite?** 1: the same; 0: like two unrelated sentences.")
    ends = intervals(shown.runs, shown.subsets)
    values = means(shown.runs, shown.subsets)
    published = heros_published.rows(shown)
    if published:
        span = heros_published.span([value for row in values.values() for value in row.values()])
        figure = profile_beside_published(values, published, span, shown.scheme, ends)
    else:
        figure = figures.profile(values, shown.scheme, ends)
    st.plotly_chart(figure, key="profile")
    profile_note(shown.runs)
    heros_accuracy.show(shown.runs)


def means(runs: Sequence[RunRecord], subsets: Sequence[str]) -> dict[Variant, dict[str, float]]:
    """For ``figures.profile``."""
    return {r.plan.variant: {subset: r.metrics[subset] for subset in subsets} for r in runs}


def intervals(
    runs: Sequence[RunRecord], subsets: Sequence[str]
) -> Mapping[Variant, Mapping[str, tuple[float, float]]] | None:
    """For ``figures.profile``, if the reader wants them; where a run cannot have them, it has none."""
    wanted = st.toggle(
        "Show 95% intervals",
        key="heros_intervals",
        persist_state="session",
        help="Below each value: how far it moves when the sentences are drawn anew, 2,000 times (bootstrap).",
    )
    if not wanted:
        return None
    found = {
        r.plan.variant: {s: (r.metrics[f"{s}_low"], r.metrics[f"{s}_high"]) for s in subsets if f"{s}_low" in r.metrics}
        for r in runs
    }
    if lacking := [as_text(variant.label) for variant, ends in found.items() if not ends]:
        st.caption(
            f"No interval for {', '.join(lacking)}: so many originals have one vector there that some draws of them "
            "cannot be normalised."
        )
    return found


def profile_note(runs: Sequence[RunRecord]) -> None:
    """What the numbers are of, and what to look for."""
    originals = runs[0].metrics["originals"]
    st.caption(
        f"Mean normalised similarity over {originals:,.0f} sentences. An encoder that reads for meaning puts synonym "
        "and typo above antonym and negation; how high a number is in itself matters less than their order. "
        "HEROS compares by cosine: the similarity and the protocol in the sidebar change nothing here."
    )
