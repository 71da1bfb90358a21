"""The Lab's views *ranking* and *agreement*: who is where under which setting, and how far the settings agree."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from core.figures import grids as figures
from core.numerics.statistics import rankings
from core.studies.lab.page.shown import Shown
from core.studies.lab.verdicts import Effect, effects

KENDALL, SPEARMAN = "Kendall's tau-b", "Spearman's rho"
KINDS = {"kendall": KENDALL, "spearman": SPEARMAN}
MOST_SETTINGS = 60  # that a chart shows


def ranking(shown: Shown) -> None:
    """A slope chart of places."""
    scores = shown.ranked
    if not _enough(shown, len(scores.settings)):
        return
    if len(scores.settings) > MOST_SETTINGS:
        st.caption(f"The first {MOST_SETTINGS} of {len(scores.settings)} settings. Choose fewer above.")
        scores = scores.only(range(MOST_SETTINGS))
    better = rankings.oriented(scores.values, scores.directions, shown.decimals)
    labels = [
        s.label if len({s.reading for s in scores.settings}) > 1 else f"{s.chain} · {s.metric}" for s in scores.settings
    ]
    figure = figures.place_lines(
        rankings.places(better), scores.values, scores.encoders, labels, shown.styles, shown.scheme
    )
    st.plotly_chart(figure, key="lab_places")
    st.caption(
        "A row per setting; lines that do not cross are encoders whose order does not depend on the choice. The tied "
        f"share the mean of their places; scores are compared to {shown.decimals} decimals."
    )


def agreement(shown: Shown) -> None:
    """How far the ranking stays when one choice alone changes, and every setting against every other."""
    scores = shown.ranked
    if not _enough(shown, len(scores.settings)):
        return
    found = effects(scores, shown.decimals)
    if found:
        st.markdown("\n".join(f"- {effect_in_words(effect)}" for effect in found))
        st.dataframe(effect_table(found), hide_index=True, key="lab_effects")
    kind = st.segmented_control(
        "Correlation",
        list(KINDS),
        default="kendall",
        required=True,
        key="lab_correlation",
        bind="query-params",
        help="Of two rankings of the encoders. kendall: tau-b, pairs of encoders in the same order less those in the "
        "opposite. spearman: the correlation of the places.",
    )
    if len(scores.settings) > MOST_SETTINGS:
        st.caption(f"The first {MOST_SETTINGS} of {len(scores.settings)} settings. Choose fewer above.")
        scores = scores.only(range(MOST_SETTINGS))
    better = rankings.oriented(scores.values, scores.directions, shown.decimals)
    values = rankings.kendall(better) if kind == "kendall" else rankings.spearman(better)
    labels = [
        s.label if len({s.reading for s in scores.settings}) > 1 else f"{s.chain} · {s.metric}" for s in scores.settings
    ]
    st.plotly_chart(figures.agreement_matrix(values, labels, shown.scheme), key="lab_agreement")
    few = int((~np.isnan(scores.values)).sum(axis=0).min())
    st.caption(
        f"{KINDS[str(kind)]} of the rankings of {few} encoder{'s' if few != 1 else ''} by every two settings: 1 the "
        "same ranking, -1 the opposite. Of few encoders it moves in large steps. Empty: a setting that tells no two "
        "encoders apart."
    )


def effect_in_words(effect: Effect) -> str:
    """What changing one choice alone does to the ranking."""
    if effect.same == 1.0:
        return f"**The {effect.knob}** alone never changes the ranking ({_pairs(effect)})."
    return (
        f"**The {effect.knob}** alone leaves the ranking as it is in {effect.same:.0%} of the cases "
        f"({_pairs(effect)}); tau-b is {effect.mean:.2f} on average, {effect.least:.2f} at least."
    )


def _pairs(effect: Effect) -> str:
    return f"{effect.pairs:,} pair{'s' if effect.pairs != 1 else ''} of settings"


def effect_table(found: tuple[Effect, ...]) -> pd.DataFrame:
    """A row per choice, the one that moves the ranking most first."""
    return pd.DataFrame(
        {
            "choice": [str(e.knob) for e in found],
            "pairs of settings": [e.pairs for e in found],
            "same ranking": [f"{e.same:.0%}" for e in found],
            "mean tau-b": [round(e.mean, 3) for e in found],
            "least tau-b": [round(e.least, 3) for e in found],
        }
    )


def _enough(shown: Shown, settings: int) -> bool:
    if len(shown.grid.encoders) < 2:
        st.info("One encoder has nobody to be ranked against: choose a second one above.", icon=":material/info:")
        return False
    if not settings:
        st.info(
            "No setting has scores of two encoders yet that can be ranked. Compute the grid above, or choose scores of "
            "which more or less is better.",
            icon=":material/info:",
        )
        return False
    return True
