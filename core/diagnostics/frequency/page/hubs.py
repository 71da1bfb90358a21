"""The Frequency page's view: Hubness."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

from core.diagnostics.frequency import hubness
from core.diagnostics.frequency.figures.hubs import occurrence_tails
from core.diagnostics.frequency.hubness import Compared, Lists, NoNeighbours
from core.diagnostics.frequency.page import hub_table as frequency_hub_table
from core.diagnostics.frequency.page.hub_table import Counted
from core.diagnostics.frequency.page.shown import Shown
from core.errors import BlindspotError
from core.numerics.neighbours.hubness import HUB, tail
from core.numerics.similarity import Metric
from core.numerics.statistics.association import Correlation, spearman
from core.runs.spaces import Space
from core.types import Float64, Int64, Variant
from core.ui.markdown import as_text
from core.ui.resources import cached, settings
from core.ui.widgets.work import duration, task_button

KS = (1, 2, 3, 5, 10, 15, 20, 30, 50)
DEFAULT_K = 10
SECONDS_PER_PAIR = 4e-8  # of items, in 384 dimensions on two cores

HOW = f"""
The *k-occurrence* `N_k(i)` of an item is the number of items that have i among their k nearest, by the similarity in
the sidebar; every item is asked, exactly, and its mean is k. Skewness is `E[(N_k − k)³]/sd³` over all items: 0 where
all are listed about equally often, above 1 where a few take many places (Radovanović, Nanopoulos and Ivanović 2010,
section 2.1). A *hub* is listed at least {HUB:g} times as often as the average item.

*Random* stands for as many vectors of as many dimensions whose coordinates are drawn independently from a normal
distribution (seeded): what dimensions and sampling alone bring about. Were all lists drawn at random, skewness would
be about 1/√k and a share of e^−k would never be listed.

With cosine, zero vectors have no direction and are left out. ρ is Spearman's rank correlation of k-occurrence and
frequency with its 95% interval (Bonett and Wright 2000), as if items were drawn independently.
"""


@dataclass(frozen=True, eq=False)
class _Found:
    """The lists of a space, and of random vectors."""

    space: Space
    own: Lists
    random: Lists


def show(shown: Shown) -> None:
    """How skewed the k-occurrence is, the hubs, who never is a neighbour; per variant, and beside random vectors."""
    metric = Metric(shown.picks.metric)
    k = _k(len(shown.spaces[0].items))
    found = _lists(shown, metric)
    if not found:
        return
    highest = min(one.own.longest for one in found)
    if k > highest:
        st.caption(f"k is {highest} here: an item has no more neighbours.")
        k = highest
    counted = {one.space.variant: Counted(one.space, one.own, one.own.occurrences(k), k) for one in found}
    random = {one.space.vectors.shape[1]: one.random for one in found}
    figure = occurrence_tails(
        {variant: tail(one.counts) for variant, one in counted.items()},
        {dimensions: tail(lists.occurrences(k)) for dimensions, lists in random.items()},
        k,
        HUB,
        shown.styles,
        shown.scheme,
    )
    st.plotly_chart(figure, key="hub_tails")
    st.caption(
        f"How to read it: the point at {HUB * k:g} on the x axis is the share of items that stand in the lists of at "
        f"least {HUB * k:g} others, {HUB:g} times the average; a line that reaches far to the right has hubs."
    )
    _table(shown, found, counted, k)
    frequency_hub_table.show(shown, counted)
    with st.expander("How is this view computed?", icon=":material/function:"):
        st.markdown(HOW)


def _k(items: int) -> int:
    chosen = st.select_slider(
        "k: how many neighbours a list has",
        KS,
        value=DEFAULT_K,
        key="hub_k",
        bind="query-params",
        help="Every item lists its k nearest others; counted is how many lists an item stands in.",
    )
    return min(int(chosen), max(items - 1, 1))


def _lists(shown: Shown, metric: Metric) -> list[_Found]:
    """What is found out already, or can be at once; offers the rest as work in the background."""
    found: list[_Found] = []
    missing: list[Space] = []
    for space in shown.spaces:
        try:
            one = _find(space, metric)
        except BlindspotError as error:
            st.warning(f"**{as_text(space.variant.label)}**: {as_text(str(error))}.", icon=":material/block:")
        else:
            missing += [space] if one is None else []
            found += [] if one is None else [one]
    if missing:
        _offer(shown, missing, metric)
    return found


def _find(space: Space, metric: Metric) -> _Found | None:
    own = hubness.find(space, metric, settings())
    random = None if own is None else hubness.find_random(len(own.places), space.vectors.shape[1], metric, settings())
    if own is not None and random is not None:
        return _Found(space, own, random)
    _check(space, metric)
    if len(space.items) > hubness.AT_ONCE_ITEMS:
        return None
    with st.spinner("Finding every item's neighbours …"):
        return _Found(space, *hubness.make_of(space, metric, settings()))


def _check(space: Space, metric: Metric) -> None:
    """Raises what was found the last time, without looking again."""
    if reason := _reason(space, metric):
        raise reason


@cached(64)
def _reason(space: Space, metric: Metric) -> NoNeighbours | None:
    try:
        hubness.check_spread(space.vectors, metric)
    except NoNeighbours as error:
        return error
    return None


def _offer(shown: Shown, missing: Sequence[Space], metric: Metric) -> None:
    n = len(missing[0].items)
    wanted = {space.variant for space in missing}
    requests = [r for r in hubness.requests_of(shown.spaces, metric) if r.variant in wanted]
    names = ", ".join(f"**{as_text(space.variant.label)}**" for space in missing)
    st.info(
        f"The neighbours of all {n:,} items are not known yet for {names}. Finding them takes about "
        f"{duration(n * n * SECONDS_PER_PAIR)} each on two cores, once, and as long for the random vectors beside."
    )
    task_button("Find them", "Finding …", f"Neighbours of all items of {shown.dataset.id}", requests, key="hubs_make")


def _table(shown: Shown, found: Sequence[_Found], counted: dict[Variant, Counted], k: int) -> None:
    rows = []
    for one in found:
        compared = hubness.compare(one.own, one.random, k)
        counts = counted[one.space.variant].counts
        rows.append(_row(one, compared, _with_frequency(shown.frequencies.zipf, one.own.places, counts)))
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
            "most": number(format="localized", help="Lists that the most listed item stands in"),
            "tied lists": number(
                format="percent",
                help="Lists whose k-th neighbour and the next are equally near: which of them counts is arbitrary",
            ),
            "zero vectors": number(format="localized", help="They have no direction; with cosine they are left out"),
        },
    )


def _row(one: _Found, compared: Compared, correlation: Correlation) -> dict[str, object]:
    return {
        "variant": one.space.variant.label,
        "skewness": _or_none(compared.own.skewness),
        "random: skewness": _or_none(compared.random.skewness),
        "ρ with frequency": correlation.text,
        "never listed": compared.own.never,
        "random: never listed": compared.random.never,
        "hubs": compared.own.hubs,
        "places taken by hubs": compared.own.in_hubs,
        "most": compared.own.most,
        "tied lists": compared.tied,
        "zero vectors": one.own.total - len(one.own.places),
    }


def _or_none(value: float) -> float | None:
    return None if np.isnan(value) else value


def _with_frequency(zipf: Float64, places: Int64, counts: Int64) -> Correlation:
    of_listed = zipf[places]
    known = ~np.isnan(of_listed)
    return spearman(of_listed[known], counts[known].astype(np.float64))
