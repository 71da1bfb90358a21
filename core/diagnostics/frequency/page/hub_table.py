"""The hubs of a variant, those whom nobody lists, and for one of them: its neighbours, and whose neighbour it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

from core.diagnostics.frequency.hubness import Lists
from core.diagnostics.frequency.page.shown import Shown
from core.numerics.neighbours.hubness import HUB
from core.runs.spaces import Space
from core.types import Int64, Variant
from core.ui.markdown import as_text
from core.ui.widgets.browse_table import BrowseTable

LISTED = 50
MOST_ASKERS = 200
HUBS, NEVER = "most listed", "never listed"
TABLE = BrowseTable("hubs", key="hub", unit="item", number="no.")


@dataclass(frozen=True, eq=False)
class Counted:
    """A space with its lists, and how often each listed item occurs in them: ``counts [q] int64``."""

    space: Space
    lists: Lists
    counts: Int64
    k: int

    def items(self, numbers: Int64) -> Int64:
        """Numbers in the dataset of numbers in the lists."""
        return self.space.items[self.lists.places[numbers]]

    def number_of(self, item: int) -> int | None:
        """The other way round; None for an item that is not in the lists."""
        row = self.space.place_of(item)
        if row is None:
            return None
        number = int(np.searchsorted(self.lists.places, row))
        return number if number < len(self.lists.places) and self.lists.places[number] == row else None


def show(shown: Shown, counted: Mapping[Variant, Counted]) -> None:
    """The table, and what there is to say of the chosen item."""
    st.markdown("**Which items are they?**")
    left, right = st.columns([3, 2])
    by_id = {str(variant): one for variant, one in counted.items()}
    chosen = left.selectbox("Variant", list(by_id), key="hubs_of", bind="query-params")
    order = right.segmented_control(
        "Items", [HUBS, NEVER], default=HUBS, required=True, key="hub_list", bind="query-params"
    )
    one = by_id[str(chosen)]
    found = _frame(shown, one, _numbers(shown, one, str(order)))
    if len(found):
        _table(shown, one, found)
    else:
        st.info("Every item is among the neighbours of some other.")
    left_out = "has no vector that can be compared in all of the shown variants"
    listed = set(one.items(np.arange(len(one.counts))).tolist())
    item = TABLE.chosen(found, shown.dataset.id, listed, left_out, last=len(shown.dataset.items) - 1)
    if item is not None and (row := one.number_of(item)) is not None:
        _of_item(shown, one, row)


def _numbers(shown: Shown, one: Counted, order: str) -> Int64:
    """The rows of the table, as numbers in the lists."""
    if order == HUBS:
        return np.argsort(-one.counts, kind="stable")[:LISTED]
    never = np.flatnonzero(one.counts == 0)
    zipf = shown.frequencies.zipf[one.lists.places[never]]
    by_frequency = np.argsort(-np.where(np.isnan(zipf), -np.inf, zipf), kind="stable")  # the unknown come last
    st.caption(f"{len(never):,} items are in no list; shown are the {min(len(never), LISTED)} most frequent.")
    return never[by_frequency][:LISTED]


def _frame(shown: Shown, one: Counted, numbers: Int64) -> pd.DataFrame:
    items = one.items(numbers)
    return pd.DataFrame(
        {
            "no.": items,
            "in lists": one.counts[numbers],
            "times average": one.counts[numbers] / one.counts.mean(),
            "Zipf frequency": shown.frequencies.zipf[one.lists.places[numbers]],
            shown.entry.unit: [shown.dataset.items[i] for i in items],
        }
    )


def _table(shown: Shown, one: Counted, found: pd.DataFrame) -> None:
    number = st.column_config.NumberColumn
    config = {
        "no.": number(width="small", help="Number of the item in the dataset"),
        "in lists": number(format="localized", help=f"Lists of {one.k} neighbours that it stands in"),
        "times average": number(format="%.1f", help=f"From {HUB:g} on it is called a hub"),
        "Zipf frequency": number(format="%.2f", help="3 is one occurrence per million words, 5 a hundred"),
    }
    hint = "Choose a row to see its neighbours, and whose neighbour it is."
    TABLE.show(found, shown.dataset.id, config, hint=hint)


def _of_item(shown: Shown, one: Counted, number: int) -> None:
    """Its own list, and the lists that it stands in."""
    with st.container(border=True, key="hub_drill"):
        with st.container(horizontal=True, gap="small"):
            st.markdown(f"**{as_text(shown.entry.unit.capitalize())}**", width="content")
            st.text(shown.dataset.items[one.items(np.array([number]))[0]])
        count = int(one.counts[number])
        st.markdown(
            f"By {as_text(one.space.variant.label)} it stands in **{count:,}** lists of {one.k}, "
            f"**{count / one.counts.mean():.1f}** times the average."
        )
        left, right = st.columns(2)
        with left:
            st.markdown("**Its own nearest**")
            nearest = one.lists.nearest[number, : one.k].astype(np.int64)
            _neighbours(
                shown, one, nearest, np.arange(1, len(nearest) + 1), one.lists.similarity[number, : one.k], "own"
            )
        with right:
            st.markdown("**Whose nearest it is**")
            askers, ranks = one.lists.listed_by(number, one.k)
            if not len(askers):
                st.caption("Nobody's.")
                return
            some, at = askers[:MOST_ASKERS], ranks[:MOST_ASKERS]
            _neighbours(shown, one, some, at, one.lists.similarity[some, at - 1], "askers")
            if len(askers) > len(some):
                st.caption(f"The first {len(some)} of {len(askers):,}, those that rank it highest.")


def _neighbours(shown: Shown, one: Counted, numbers: Int64, ranks: Int64, similarity: np.ndarray, key: str) -> None:
    number = st.column_config.NumberColumn
    frame = pd.DataFrame(
        {
            "rank": ranks,
            "similarity": similarity,
            "in lists": one.counts[numbers],
            shown.entry.unit: [shown.dataset.items[i] for i in one.items(numbers)],
        }
    )
    about = "Rank in this item's list" if key == "own" else "Rank of this item in the list of that one"
    st.dataframe(
        frame,
        hide_index=True,
        key=f"hub_{key}",
        height=320,
        column_config={
            "rank": number(width="small", help=about),
            "similarity": number(format="%.4f"),
            "in lists": number(format="localized", help=f"Lists of {one.k} that it stands in itself"),
        },
    )
