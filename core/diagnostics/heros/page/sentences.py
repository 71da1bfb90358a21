"""The view *sentences* of the HEROS page: find an original by what encoders make of its rewrites, and look into it."""

from __future__ import annotations

import streamlit as st

from core.diagnostics.heros import browsing
from core.diagnostics.heros.browsing import Sentences
from core.diagnostics.heros.page import sentence_drill as drill
from core.diagnostics.heros.page import sentence_filters as filters
from core.diagnostics.heros.page import sentence_table as table
from core.diagnostics.heros.page.shown import BY_RUNS, Shown
from core.ui.boundary import fragment
from core.ui.resources import cached


@fragment  # what the reader does here draws nothing above again
def show(shown: Shown) -> None:
    """Which variants, which originals, in which order; then the chosen one."""
    found = _sentences(shown)
    filters.stale_link(shown)
    chosen = filters.sides(shown.runs)
    filters.pick_preset(shown, chosen)
    wish = filters.pick_filter(shown, chosen)
    a, b = chosen.a.run_id, chosen.b_id
    described = browsing.described(found, a, b, wish.above, wish.subset)
    order, descending = filters.pick_order(browsing.orders(described))
    listed = browsing.in_order(described[browsing.kept(found, wish, a, b)], order, descending=descending)
    table.headline(listed, len(described), wish, chosen)
    if listed.empty:
        st.info("No original is left. Loosen a condition above, or search for something shorter.")
    else:
        table.show(listed, shown, chosen, table.columns(wish, order, shown.subsets, b=b is not None))
        table.files(listed, found, shown)
    place = table.chosen_original(found, listed, shown.dataset)
    if place is not None:
        drill.show(shown, found, chosen, place)


@cached(16, "Reading similarities …", keys=BY_RUNS)
def _sentences(shown: Shown) -> Sentences:
    return browsing.sentences(shown.rows, shown.subsets)
