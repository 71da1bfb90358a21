"""The view *hubs* of the Frequency page: how uneven neighbors are, the hubs, and the lists around one item."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

from blindspot.diagnostics.frequency import hubness
from blindspot.diagnostics.frequency.figures.hubs import occurrence_tails
from blindspot.diagnostics.frequency.hubness import Lists, NoNeighbors
from blindspot.diagnostics.frequency.page.frequency_view import FrequencyView
from blindspot.diagnostics.frequency.view import Hubs, Neighbor, hubs_view
from blindspot.errors import BlindspotError
from blindspot.numerics.neighbors.hubness import HUB
from blindspot.numerics.similarity import Similarity
from blindspot.numerics.statistics.written import SCORE, percent
from blindspot.runs.spaces import Space
from blindspot.texts import counted, duration
from blindspot.ui import headline
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import cached, explained, settings
from blindspot.ui.widgets import tables
from blindspot.ui.widgets.addressed import names_of_variants, one_named
from blindspot.ui.widgets.browse_table import BrowseTable
from blindspot.ui.widgets.choices import one_of
from blindspot.ui.widgets.work import task_button

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
    lists = _lists(shown, Similarity(shown.picks.metric))
    if not lists:
        return
    models = hubs_view(lists, int(k))
    if (longest := models[0].k) < int(k):
        st.caption(f"k is {longest} here: an item has no more neighbors.")
    k = longest
    headline.show(in_words(models, k))
    figure = occurrence_tails(
        {model.variant: model.tail for model in models},
        {model.space.vectors.shape[1]: model.random_tail for model in models},
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
    _table(shown, models)
    _items(shown, models)
    with st.expander("How is this view computed?", icon=":material/function:"):
        st.markdown(HOW)


def in_words(models: Sequence[Hubs], k: int) -> str:
    """How many hubs the first model has and what they take, and how many the others have."""
    first, *others = models
    found, items = first.hubness, len(first.counts)
    name = f"**{as_text(first.variant.label)}**"
    which = f"in {HUB * k:,.0f} lists or more, {HUB:g} times the average"
    if found.hubs:
        text = f"{name} has **{counted(found.hubs, 'hub')}** among {items:,} items ({which})"
        text += f", with {percent(found.in_hubs)} of all places"
    else:
        text = f"{name} has **no hub** among {items:,} items ({which})"
    rest = ", ".join(f"{as_text(model.variant.label)} {model.hubness.hubs:,}" for model in others)
    return f"{text}; hubs of other models: {rest}." if rest else f"{text}."


def _lists(shown: FrequencyView, metric: Similarity) -> list[tuple[Space, Lists, Lists]]:
    """Per space its lists and the random ones, if they are stored or quickly made; the others are offered as work."""
    spaces: list[tuple[Space, Lists, Lists]] = []
    missing: list[Space] = []
    for space in shown.spaces:
        try:
            if lists := _find(space, metric):
                spaces.append((space, *lists))
            else:
                missing.append(space)
        except BlindspotError as error:
            st.warning(f"**{as_text(space.variant.label)}**: {as_text(explained(error))}.", icon=":material/block:")
    if missing:
        _offer(shown, missing, metric)
    return spaces


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
    """Why the items of a space have no neighbors; None if they have some."""
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


def _table(shown: FrequencyView, models: Sequence[Hubs]) -> None:
    rows = [
        {
            "model": model.variant.label,
            "skewness": model.hubness.skewness,
            "random: skewness": model.random.skewness,
            "ρ with frequency": model.with_frequency(shown.frequencies.zipf).text,
            "never listed": model.hubness.never,
            "random: never listed": model.random.never,
            "hubs": model.hubness.hubs,
            "places taken by hubs": model.hubness.in_hubs,
            "most": model.hubness.most,
            "tied lists": model.tied,
            "zero vectors": model.zero_vectors,
        }
        for model in models
    ]
    number = st.column_config.NumberColumn
    percent = "percent"
    tables.draw(
        rows,
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


# --- items


def _items(shown: FrequencyView, models: Sequence[Hubs]) -> None:
    """The hubs of a model, or the items in no list, and the lists around the chosen one."""
    st.markdown("**Which items are they?**")
    left, right = st.columns([3, 2])
    by_id = {str(model.variant): model for model in models}
    model = by_id[
        str(one_named("Model", list(by_id), key="hubs_of", name=names_of_variants(by_id), index=0, container=left))
    ]
    zipf = shown.frequencies.zipf
    if one_of("Items", [HUBS, NEVER], "hub_list", container=right) == HUBS:
        items = model.largest(LISTED)
    else:
        never = int(np.count_nonzero(model.counts == 0))
        st.caption(f"{never:,} items are in no list; shown are the {min(never, LISTED)} most frequent.")
        items = model.never_listed(zipf, LISTED)
    listed = pd.DataFrame(
        {
            "no.": [item.item_no for item in items],
            "in lists": [item.occurrences for item in items],
            "times average": [item.times_average for item in items],
            "Zipf frequency": [zipf[model.space.place_of(item.item_no)] for item in items],
            shown.entry.unit: [item.text for item in items],
        }
    )
    if items:
        number = st.column_config.NumberColumn
        config = {
            "no.": number(width="small", help="Number of the item in the dataset"),
            "in lists": number(format="localized", help=f"How many items have it among their {model.k} nearest"),
            "times average": number(format="%.1f", help=f"From {HUB:g} on it is called a hub"),
            "Zipf frequency": number(format="%.2f", help="3 is one occurrence per million words, 5 a hundred"),
        }
        hint = "Choose a row to see its neighbors, and whose neighbor it is."
        TABLE.show(listed, shown.dataset.id, config, hint=hint)
    else:
        st.info("Every item is among the neighbors of some other.")
    left_out = "has no vector that can be compared in all of the shown variants"
    numbers = set(model.numbers.tolist())
    item_no = TABLE.chosen(listed, shown.dataset.id, numbers, left_out, last=len(shown.dataset.items) - 1)
    if item_no is not None and (item := model.item(item_no)) is not None:
        _drill(shown, model, item)


def _drill(shown: FrequencyView, hubs: Hubs, item: int) -> None:
    """An item's own list, and the lists that it is in."""
    chosen = hubs.listed(item)
    with st.container(border=True, key="hub_drill"):
        with st.container(horizontal=True, gap="small"):
            st.markdown(f"**{as_text(shown.entry.unit.capitalize())}**", width="content")
            st.text(chosen.text)
        st.markdown(
            f"By {as_text(hubs.variant.label)} it is in **{chosen.occurrences:,}** lists of {hubs.k}, "
            f"**{chosen.times_average:.1f}** times the average."
        )
        left, right = st.columns(2)
        with left:
            st.markdown("**Its own nearest**")
            _neighbors(shown, hubs, hubs.neighbors(item), "own")
        with right:
            st.markdown("**Whose nearest it is**")
            if not chosen.occurrences:
                st.caption("Nobody's.")
                return
            _neighbors(shown, hubs, hubs.listed_by(item, MOST_ASKERS), "askers")
            if chosen.occurrences > MOST_ASKERS:
                st.caption(f"The first {MOST_ASKERS} of {chosen.occurrences:,}, those that rank it highest.")


def _neighbors(shown: FrequencyView, hubs: Hubs, neighbors: Sequence[Neighbor], key: str) -> None:
    number = st.column_config.NumberColumn
    about = "Rank in this item's list" if key == "own" else "Rank of this item in the list of that one"
    tables.draw(
        [
            {"rank": n.rank, "similarity": n.similarity, "in lists": n.occurrences, shown.entry.unit: n.text}
            for n in neighbors
        ],
        key=f"hub_{key}",
        height=320,
        column_config={
            "rank": number(width="small", help=about),
            "similarity": f"%{SCORE}",
            "in lists": number(format="localized", help=f"How many lists of {hubs.k} it is in itself"),
        },
    )
