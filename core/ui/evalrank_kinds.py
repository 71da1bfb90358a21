"""The EvalRank page's view of kinds of pair: where the score comes from."""

from __future__ import annotations

import streamlit as st

from core.figures import evalrank as figures
from core.ui import comparability
from core.ui.evalrank_view import Shown


def show(shown: Shown) -> None:
    """MRR by how frequent the words of query and mate are."""
    bands = comparability.frequency_bands(shown.pairs, shown.runs, shown.filtered)
    st.plotly_chart(figures.band_lines(bands, shown.styles, shown.scheme), key="bands")
    comparability.bands_note()
