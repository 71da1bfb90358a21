"""Rank in A against rank in B, and the pairs that the reader picks out of the figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from core.diagnostics.evalrank.browsing import Area
from core.diagnostics.evalrank.figures.pairs import rank_scatter
from core.diagnostics.evalrank.page.shown import Shown
from core.errors import InputError
from core.types import Bool
from core.ui.markdown import as_text
from core.ui.widgets.two_variants import Sides

AREA = "area"  # the key of the box that holds the selected area: in the address, and typed by who cannot drag
LASSO = "_lasso"  # numbers of the pairs in a lasso, with what they are numbers of; too many for an address


def show(shown: Shown, sides: Sides, described: pd.DataFrame) -> Bool | None:
    """The figure; per row of ``described`` whether it is selected there, None where nothing is selected."""
    if sides.b is None:
        st.caption("Compute a second variant, or pick one in the sidebar, to see its ranks against these.")
        return None
    figure, beside = st.columns([3, 2])
    with beside:
        wins = described["rank difference"].to_numpy()
        a, b = (as_text(run.plan.variant.label) for run in (sides.a, sides.b))
        st.markdown(
            f"A, {a}, ranks the mate better in **{np.count_nonzero(wins < 0):,}** pairs, B, {b}, in "
            f"**{np.count_nonzero(wins > 0):,}**; both alike in **{np.count_nonzero(wins == 0):,}**."
        )
        st.caption(
            "Drag a box or a lasso around dots to keep only their pairs in the table; the address keeps a box, not a "
            "lasso. Dots above the diagonal: A is better. Many pairs can share one dot."
        )
        areas = _areas()
        selected = _selected(shown, described, areas)
        if selected is not None:
            with st.container(horizontal=True, vertical_alignment="center"):
                st.markdown(f"**{np.count_nonzero(selected):,} pairs selected in the figure**", width="content")
                st.button("Clear", key="clear_area", on_click=clear, icon=":material/close:")
    with figure:
        drawn = rank_scatter(
            (described["rank in A"].to_numpy(), described["rank in B"].to_numpy()),
            described["pair"].to_numpy(),
            (sides.a.plan.variant, sides.b.plan.variant),
            [(area.a_low, area.a_high, area.b_low, area.b_high) for area in areas],
            selected,
            shown.styles,
            shown.scheme,
        )
        key = "scatter"
        st.plotly_chart(
            drawn,
            key=key,
            on_select=lambda: _take(st.session_state[key].selection, shown, described),
            selection_mode=("box", "lasso"),
            config={"displaylogo": False},
            alt=f"Rank of every pair's mate in {a} against its rank in {b}",
        )
    return selected


def clear() -> None:
    """Forget what was selected in the figure."""
    st.session_state[AREA] = ""
    st.session_state.pop(LASSO, None)


def _areas() -> list[Area]:
    """The box that holds the areas, and what it says."""
    text = st.text_input(
        "Ranks selected in the figure",
        key=AREA,
        bind="query-params",
        placeholder="1-1, 10-500",
        help="Ranks in A, a comma, ranks in B: 1-1, 10-500 are the pairs that A ranks first and B tenth or worse. "
        "Several such areas are joined by a semicolon. Dragging a box in the figure fills this in.",
    )
    try:
        return [Area.parse(part) for part in (text or "").split(";") if part.strip()]
    except InputError as error:
        st.warning(as_text(str(error)))
        return []


def _selected(shown: Shown, described: pd.DataFrame, areas: Sequence[Area]) -> Bool | None:
    a, b = described["rank in A"].to_numpy(), described["rank in B"].to_numpy()
    whose, numbers = st.session_state.get(LASSO, ("", ()))
    if areas:
        return np.asarray(np.any([area.holds(a, b) for area in areas], axis=0), dtype=np.bool_)
    if whose == shown.runs[0].plan.dataset_digest:
        return np.asarray(described["pair"].isin(numbers), dtype=np.bool_)
    return None


def _take(selection: Any, shown: Shown, described: pd.DataFrame) -> None:
    """The reader selected dots: by boxes or by a lasso; or let go of them."""
    numbers = [_number(point["customdata"]) for point in selection.points if "customdata" in point]
    if selection.lasso:
        st.session_state[AREA] = ""
        st.session_state[LASSO] = (shown.runs[0].plan.dataset_digest, tuple(numbers))
    elif selection.box:
        a, b = described["rank in A"].to_numpy(), described["rank in B"].to_numpy()
        drawn = [Area(*sorted(box["x"]), *sorted(box["y"])) for box in selection.box]
        areas = [around for area in drawn if (around := area.around(a, b))]
        st.session_state.pop(LASSO, None)
        st.session_state[AREA] = "; ".join(str(area) for area in areas)
    else:
        clear()


def _number(customdata: Any) -> int:
    """A dot's pair: the browser sends it alone or in a list."""
    return int(customdata[0] if isinstance(customdata, list) else customdata)
