"""The view *hubs* of the Frequency page: how uneven neighbors are, the hubs, and the lists around one item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

from blindspot.diagnostics.frequency import hubness
from blindspot.diagnostics.frequency.figures.hubs import occurrence_tails
from blindspot.diagnostics.frequency.hubness import Lists, NoNeighbors
from blindspot.diagnostics.frequency.page.shown import FrequencyView
from blindspot.errors import BlindspotError
from blindspot.numerics.neighbors.hubness import HUB, tail
from blindspot.numerics.similarity import Similarity
from blindspot.numerics.statistics.association import spearman
from blindspot.runs.spaces import Space
from blindspot.types import Int64
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import cached, explained, settings
from blindspot.ui.widgets.addressed import names_of_variants, one_named
from blindspot.ui.widgets.browse_table import BrowseTable
from blindspot.ui.widgets.choices import one_of
from blindspot.ui.widgets.work import duration, task_button
from blindspot.variants import Variant

KS = (1, 2, 3, 5, 10, 15, 20, 30, 50)
DEFAULT_K = 10
SECONDS_PER_PAIR = 4e-8  # of items, in 384 dimensions on two cores
LISTED = 50
MOST_ASKERS = 200
HUBS, NEVER = "most listed", "never listed"
TABLE = BrowseTable("hubs", unit="item", number="no.")

HOW = f"""
The *k-occurrence* `N_k(i)` of an item is the number of items that have i among their k nearest, by the similarity in
the sidebar; every item is asked, exactly, and its mean is k. Skewness is `E[(N_k − k)³]/sd³` over all items: 0 where
all are listed about equally often, above 1 where a few take many places (Radovanović, Nanopoulos and Ivanović 2010,
section 2.1). A *hub* is listed at least {HUB:g} times as often as the average item.

*Random*: as many vectors of as many dimensions whose coordinates are drawn independently from a normal
distribution (seeded): what dimensions and sampling alone bring about. Were all lists drawn at random, skewness would
be about 1/√k and a share of e^−k would never be listed.

With cosine, zero vectors have no direction and are left out. ρ is Spearman's rank correlation of k-occurrence and
frequency with its 95% interval (Bonett and Wright 2000), as if items were drawn independently.
"""


@dataclass(frozen=True, eq=False)
class _Counted:
    """A space with its lists of k neighbors, how often each listed item occurs in them, and random lists."""

    space: Space
    lists: Lists
    random: Lists
    k: int
    counts: Int64

    def items(self, numbers: Int64) -> Int64:
        """Numbers in the dataset of numbers in the lists."""
        return self.space.items[self.lists.places[numbers]]

    def number_of(self, item: int) -> int | None:
        """The inverse; None for an item that is not in the lists."""
        row, places = self.space.place_of(item), self.lists.places
        if row is None:
            return None
        number = int(np.searchsorted(places, row))
        return number if number < len(places) and places[number] == row else None


def show(shown: FrequencyView) -> None:
    """How skewed the k-occurrence is per variant, compared with random vectors; then the items."""
    k = st.select_slider(
        "Neighbors per item (k)",
        KS,
        value=DEFAULT_K,
        key="hub_k",
        bind="query-params",
        help="Every item lists its k nearest others. A hub is in many lists.",
    )
    k = min(int(k), max(len(shown.spaces[0].items) - 1, 1))
    found = _lists(shown, Similarity(shown.picks.metric))
    if not found:
        return
    highest = min(own.longest for _, own, _ in found)
    if k > highest:
        st.caption(f"k is {highest} here: an item has no more neighbors.")
        k = highest
    counted = {s.variant: _Counted(s, own, random, k, own.occurrences(k)) for s, own, random in found}
    figure = occurrence_tails(
        {variant: tail(one.counts) for variant, one in counted.items()},
        {space.vectors.shape[1]: tail(random.occurrences(k)) for space, _, random in found},
        k,
        HUB,
        shown.styles,
        shown.scheme,
    )
    st.plotly_chart(figure, key="hub_tails")
    st.caption(
        f"How to read it: the point at {HUB * k:g} on the x axis is the share of items that are in the lists of at "
        f"least {HUB * k:g} others, {HUB:g} times the average; a line that reaches far to the right has hubs."
    )
    _table(shown, counted)
    _items(shown, counted)
    with st.expander("How is this view computed?", icon=":material/function:"):
        st.markdown(HOW)


def _lists(shown: FrequencyView, metric: Similarity) -> list[tuple[Space, Lists, Lists]]:
    """Per space its lists and the random ones, if they are stored or quickly made; the others are offered as work."""
    found: list[tuple[Space, Lists, Lists]] = []
    missing: list[Space] = []
    for space in shown.spaces:
        try:
            if lists := _find(space, metric):
                found.append((space, *lists))
            else:
                missing.append(space)
        except BlindspotError as error:
            st.warning(f"**{as_text(space.variant.label)}**: {as_text(explained(error))}.", icon=":material/block:")
    if missing:
        _offer(shown, missing, metric)
    return found


def _find(space: Space, metric: Similarity) -> tuple[Lists, Lists] | None:
    if stored := hubness.find(space, metric, settings()):
        return stored
    if reason := _reason(space, metric):
        raise reason
    if len(space.items) > hubness.AT_ONCE_ITEMS:
        return None
    with st.spinner("Finding every item's neighbors …"):
        return hubness.make(space, metric, settings())


@cached(64)
def _reason(space: Space, metric: Similarity) -> NoNeighbors | None:
    """Why there can be no neighbors."""
    try:
        hubness.check_spread(space.vectors, metric)
    except NoNeighbors as error:
        return error
    return None


def _offer(shown: FrequencyView, missing: Sequence[Space], metric: Similarity) -> None:
    n = len(missing[0].items)
    wanted = {space.variant for space in missing}
    requests = [r for r in hubness.requests_of(shown.spaces, metric) if r.variant in wanted]
    names = ", ".join(f"**{as_text(space.variant.label)}**" for space in missing)
    st.info(
        f"The neighbors of all {n:,} items are not known yet for {names}. Finding them takes about "
        f"{duration(n * n * SECONDS_PER_PAIR)} each on two cores, once, and as long for the random vectors beside."
    )
    task_button("Find them", "Finding …", f"Neighbors of all items of {shown.dataset.id}", requests, key="hubs_make")


def _table(shown: FrequencyView, counted: Mapping[Variant, _Counted]) -> None:
    rows = []
    for variant, one in counted.items():
        compared = hubness.compare(one.lists, one.random, one.k)
        zipf = shown.frequencies.zipf[one.lists.places]
        known = ~np.isnan(zipf)
        rows.append(
            {
                "model": variant.label,
                "skewness": _or_none(compared.own.skewness),
                "random: skewness": _or_none(compared.random.skewness),
                "ρ with frequency": spearman(zipf[known], one.counts[known].astype(np.float64)).text,
                "never listed": compared.own.never,
                "random: never listed": compared.random.never,
                "hubs": compared.own.hubs,
                "places taken by hubs": compared.own.in_hubs,
                "most": compared.own.most,
                "tied lists": compared.tied,
                "zero vectors": one.lists.total - len(one.lists.places),
            }
        )
    number = st.column_config.NumberColumn
    percent = number(format="percent")
    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        key="hubs_table",
        column_config={
            "skewness": number(format="%.2f", help="Of the k-occurrence; 0 is even, above 1 a few take many places"),
            "random: skewness": number(format="%.2f", help="Of random vectors of the same number and dimension"),
            "never listed": percent,
            "random: never listed": percent,
            "hubs": number(format="localized", help=f"Items listed at least {HUB:g} times as often as the average"),
            "places taken by hubs": percent,
            "most": number(format="localized", help="Number of lists with the most listed item"),
            "tied lists": number(
                format="percent",
                help="Lists whose k-th neighbor and the next are equally near: which of them counts is arbitrary",
            ),
            "zero vectors": number(format="localized", help="They have no direction; with cosine they are left out"),
        },
    )


def _or_none(value: float) -> float | None:
    return None if np.isnan(value) else value


# --- items


def _items(shown: FrequencyView, counted: Mapping[Variant, _Counted]) -> None:
    """The hubs of a variant, or the items in no list, and the lists around the chosen one."""
    st.markdown("**Which items are they?**")
    left, right = st.columns([3, 2])
    by_id = {str(variant): one for variant, one in counted.items()}
    one = by_id[str(one_named("Model", list(by_id), key="hubs_of", name=names_of_variants(by_id), index=0, place=left))]
    order = one_of("Items", [HUBS, NEVER], "hub_list", place=right)
    if order == HUBS:
        numbers = np.argsort(-one.counts, kind="stable")[:LISTED]
    else:
        never = np.flatnonzero(one.counts == 0)
        zipf = shown.frequencies.zipf[one.lists.places[never]]
        by_frequency = np.argsort(-np.where(np.isnan(zipf), -np.inf, zipf), kind="stable")  # the unknown come last
        st.caption(f"{len(never):,} items are in no list; shown are the {min(len(never), LISTED)} most frequent.")
        numbers = never[by_frequency][:LISTED]
    items = one.items(numbers)
    found = pd.DataFrame(
        {
            "no.": items,
            "in lists": one.counts[numbers],
            "times average": one.counts[numbers] / one.counts.mean(),
            "Zipf frequency": shown.frequencies.zipf[one.lists.places[numbers]],
            shown.entry.unit: [shown.dataset.items[i] for i in items],
        }
    )
    if len(found):
        number = st.column_config.NumberColumn
        config = {
            "no.": number(width="small", help="Number of the item in the dataset"),
            "in lists": number(format="localized", help=f"How many items have it among their {one.k} nearest"),
            "times average": number(format="%.1f", help=f"From {HUB:g} on it is called a hub"),
            "Zipf frequency": number(format="%.2f", help="3 is one occurrence per million words, 5 a hundred"),
        }
        hint = "Choose a row to see its neighbors, and whose neighbor it is."
        TABLE.show(found, shown.dataset.id, config, hint=hint)
    else:
        st.info("Every item is among the neighbors of some other.")
    left_out = "has no vector that can be compared in all of the shown variants"
    listed = set(one.items(np.arange(len(one.counts))).tolist())
    item = TABLE.chosen(found, shown.dataset.id, listed, left_out, last=len(shown.dataset.items) - 1)
    if item is not None and (chosen := one.number_of(item)) is not None:
        _drill(shown, one, chosen)


def _drill(shown: FrequencyView, one: _Counted, number: int) -> None:
    """An item's own list, and the lists that it is in."""
    with st.container(border=True, key="hub_drill"):
        with st.container(horizontal=True, gap="small"):
            st.markdown(f"**{as_text(shown.entry.unit.capitalize())}**", width="content")
            st.text(shown.dataset.items[one.items(np.array([number]))[0]])
        count = int(one.counts[number])
        st.markdown(
            f"By {as_text(one.space.variant.label)} it is in **{count:,}** lists of {one.k}, "
            f"**{count / one.counts.mean():.1f}** times the average."
        )
        left, right = st.columns(2)
        with left:
            st.markdown("**Its own nearest**")
            nearest = one.lists.nearest[number, : one.k].astype(np.int64)
            similarity = one.lists.similarity[number, : one.k]
            _neighbors(shown, one, nearest, np.arange(1, len(nearest) + 1), similarity, "own")
        with right:
            st.markdown("**Whose nearest it is**")
            askers, ranks = one.lists.listed_by(number, one.k)
            if not len(askers):
                st.caption("Nobody's.")
                return
            some, at = askers[:MOST_ASKERS], ranks[:MOST_ASKERS]
            _neighbors(shown, one, some, at, one.lists.similarity[some, at - 1], "askers")
            if len(askers) > len(some):
                st.caption(f"The first {len(some)} of {len(askers):,}, those that rank it highest.")


def _neighbors(
    shown: FrequencyView, one: _Counted, numbers: Int64, ranks: Int64, similarity: np.ndarray, key: str
) -> None:
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
            "in lists": number(format="localized", help=f"How many lists of {one.k} it is in itself"),
        },
    )
