"""The view *spread* of the HEROS page: how far the sentences of a subset differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from core.figures import heros_spread as figures
from core.store.records import RunRecord
from core.types import Float64, Variant
from core.ui.heros_view import Shown


def show(shown: Shown) -> None:
    """The distribution of every subset."""
    values = similarities(shown.rows, shown.runs, shown.subsets)
    st.plotly_chart(figures.spread(values, shown.styles, shown.scheme), key="spread")
    st.caption("Box: the middle half of the sentences; whiskers: 5% to 95%.")


def similarities(
    frame: pd.DataFrame, runs: Sequence[RunRecord], subsets: Sequence[str]
) -> Mapping[Variant, Mapping[str, Float64]]:
    """For ``figures.spread``."""
    return {
        r.plan.variant: {
            subset: frame.loc[(frame["run_id"] == r.run_id) & (frame["subset"] == subset), "similarity"].to_numpy()
            for subset in subsets
        }
        for r in runs
    }
