"""The Map page: what is drawn and how, the maps, what may be believed of them, and what the reader selects."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from core import ui
from core.errors import BlindspotError
from core.files.export import as_file
from core.space.maps import maps
from core.space.maps.colours import Colouring
from core.space.maps.figures import Dots, map_figure
from core.space.maps.maps import MAX_NEIGHBORS, MIN_DIST, N_NEIGHBORS, SEED, MapRequest, Method
from core.space.maps.page import colours as map_colours
from core.space.maps.page import query as map_query
from core.space.maps.page import shown as map_state
from core.space.maps.page.shown import Drawn, Ground, draw
from core.space.maps.projection import Quality
from core.types import Int64
from core.ui.boundary import fragment
from core.ui.markdown import as_text
from core.ui.resources import jobs, settings
from core.ui.widgets import downloads
from core.ui.widgets.downloads import Holds
from core.ui.widgets.work import duration, task_button

METHODS = {Method.UMAP.value: "UMAP", Method.PCA.value: "PCA"}
DOTS_IN_ALL = 25_000  # of all maps together; a browser gets slow with more
# Without WebGL, of which a browser gives a page sixteen contexts: a map takes three, and while it is drawn anew six.
DOTS_WITHOUT_WEBGL = 8_000
MAPS_WITH_WEBGL = 2
TEXTS_IN_ALL = 25_000  # of all maps together: so many are sent to be read by pointing
MOST_ROWS = 500  # of the table of what is selected
SELECTED = "_map_selected"  # which dataset, and the numbers of the items
SEEDED, UNSEEDED = "reproducible", "fast"
SEED_HELP = (
    f"**{SEEDED}**: from seed {SEED}, the same picture every time; UMAP then runs on one thread. **{UNSEEDED}**: on "
    "all cores and without a seed, another picture every time. Measured on two busy cores with 24,957 sentences: 62 s "
    "against 48 s; with more cores reproducible takes several times as long."
)


def draw_maps(ground: Ground) -> None:
    """Everything below the page's title."""
    requests = _choose(ground)
    if requests is None:
        return
    drawn, missing = draw(ground, requests)
    _offer(ground, missing)
    _explore(ground, drawn)


def _choose(ground: Ground) -> list[MapRequest] | None:
    """How the maps are made; None, having said why, where that makes no sense."""
    left, middle, right, last = st.columns([2, 2, 2, 2], vertical_alignment="bottom")
    method = left.segmented_control(
        "Picture",
        list(METHODS),
        default=Method.UMAP.value,
        required=True,
        key="picture",
        bind="query-params",
        help="**umap** keeps neighbours together, and tears the rest apart as it has to. **pca** shows the two "
        "directions in which the vectors differ most, without distortion, and nothing of the others.",
    )
    chosen = Method(str(method))
    n_neighbors, min_dist, way = N_NEIGHBORS, MIN_DIST, SEEDED
    if chosen is Method.UMAP:
        n_neighbors = int(
            middle.number_input(
                "Neighbours of UMAP",
                min_value=2,
                max_value=MAX_NEIGHBORS,
                value=N_NEIGHBORS,
                step=1,
                key="umap_neighbors",
                bind="query-params",
                help="How many neighbours of each item it tries to keep: few show detail, many the whole.",
            )
        )
        min_dist = float(
            right.number_input(
                "Least distance",
                min_value=0.0,
                max_value=1.0,
                value=MIN_DIST,
                step=0.05,
                key="umap_min_dist",
                bind="query-params",
                help="How close it may put two items: 0 makes tight clumps.",
            )
        )
        way = str(
            last.segmented_control(
                "UMAP",
                [SEEDED, UNSEEDED],
                default=SEEDED,
                required=True,
                key="umap_way",
                bind="query-params",
                help=SEED_HELP,
            )
        )
    try:
        maps.checked(n_neighbors, min_dist)
    except BlindspotError as error:
        st.error(as_text(str(error)))
        return None
    seed = SEED if way == SEEDED else None
    return maps.requests_of(ground.spaces, ground.metric, chosen, seed, n_neighbors, min_dist)


def _offer(ground: Ground, missing: Sequence[MapRequest]) -> None:
    """The UMAPs that are not computed yet, with what they will take and the button."""
    under_way = {task for job in jobs().active() for task in job.tasks}
    if waiting := [request for request in missing if request in under_way]:
        st.info(f"UMAP of {_variants(waiting)} is being computed. Until then PCA stands in.", icon=":material/pending:")
        missing = [request for request in missing if request not in under_way]
    if not missing:
        return
    items = len(ground.spaces[0].items)
    seconds = sum(maps.estimated_seconds(items, request, settings()) for request in missing)
    text, button = st.columns([4, 1], vertical_alignment="center")
    text.info(
        f"UMAP of {_variants(missing)} is not computed yet: about {duration(seconds)}. Until then PCA stands in.",
        icon=":material/hourglass_empty:",
    )
    with button:
        title = missing[0].label if len(missing) == 1 else f"UMAP of {ground.dataset.id} by {len(missing)} variants"
        task_button("Compute UMAP", "Computing …", title, missing, key="map_compute")


def _variants(requests: Sequence[MapRequest]) -> str:
    return "one variant" if len(requests) == 1 else f"{len(requests)} variants"


@fragment  # what the reader selects draws nothing above again
def _explore(ground: Ground, drawn: Sequence[Drawn]) -> None:
    """The query, the maps, and a table of what is selected."""
    item, k = map_query.choose(ground)
    colouring = map_colours.choose(ground)
    arounds = [(one, None if item is None else map_query.around(ground, one, item, k)) for one in drawn]
    shown = _shown_rows(drawn)
    if shown is not None:
        map_colours.note(colouring, ground.spaces[0].items[shown])
    selected = _selected(ground)
    for start in range(0, len(drawn), 2):
        for column, place in zip(
            st.columns(2) if len(drawn) > 1 else [st.container()], range(start, start + 2), strict=False
        ):
            if place < len(drawn):
                with column:
                    _map(ground, *arounds[place], colouring[place], shown, selected)
    if item is not None:
        map_query.show(ground, item, arounds)
    _selection_table(ground, selected, colouring)


def _shown_rows(drawn: Sequence[Drawn]) -> Int64 | None:
    """Rows of the spaces that are drawn: those of the maps, or some of them where all the dots would be too many."""
    made = [one.map for one in drawn if one.map is not None]
    if not made:
        return None
    rows = made[0].rows
    total = len(drawn[0].space.items)
    if len(rows) < total:
        st.caption(f"A random sample of {len(rows):,} of the {total:,} items, the same in every map.")
    most = (DOTS_IN_ALL if len(made) <= MAPS_WITH_WEBGL else DOTS_WITHOUT_WEBGL) // len(made)
    if len(rows) > most:
        st.caption(
            f"Drawn are {most:,} of the {len(rows):,} items of each map, at random and the same in all, so that the "
            "browser stays quick; UMAP and the figures under the maps know all of them. Fewer variants show more."
        )
        rows = rows[maps.sample_rows(len(rows), most)]
    return rows


def _map(
    ground: Ground,
    one: Drawn,
    around: map_query.Around | None,
    colouring: Colouring | None,
    shown: Int64 | None,
    selected: Int64 | None,
) -> None:
    """One map, and what may be believed of it."""
    st.text(f"{one.variant.label}: {METHODS[one.request.method]}")
    if one.why:
        st.info(as_text(one.why), icon=":material/info:")
    if one.map is None or shown is None:
        return
    rows = shown[np.isin(shown, one.map.rows)]
    coordinates = one.map.coordinates[np.searchsorted(one.map.rows, rows)]
    placed = np.isfinite(coordinates).all(axis=1)
    items = one.space.items[rows[placed]]
    texts = [ground.dataset.items[i] for i in items] if len(items) * len(ground.spaces) <= TEXTS_IN_ALL else None
    explained = one.map.explained
    axes = ("", "")
    if explained:
        axes = (f"component 1: {explained[0]:.1%} of variance", f"component 2: {explained[1]:.1%}")
    figure = map_figure(
        Dots(items, coordinates[placed], texts),
        map_colours.of_dots(colouring, items),
        ground.styles[one.variant].colour,
        selected,
        None if around is None else around.tie,
        axes,
        ground.scheme,
        with_webgl=len(shown) * len(ground.spaces) > DOTS_WITHOUT_WEBGL,
    )
    key = f"map_{one.variant}"
    st.plotly_chart(
        figure,
        key=key,
        on_select=lambda: _take(ground, st.session_state[key].selection),
        selection_mode=("points", "box", "lasso"),
        config={"displaylogo": False, "scrollZoom": True},
        alt=f"{METHODS[one.request.method]} of the items by {one.variant.label}",
    )
    lost = len(one.map.rows) - int(np.isfinite(one.map.coordinates).all(axis=1).sum())
    if lost:
        st.caption(f"{lost:,} items are connected with nothing and have no place.")
    _belief(one.map.quality, explained)


def _belief(quality: Quality | None, explained: tuple[float, float] | None) -> None:
    """The figures under a map and what they mean."""
    if quality is None:
        st.caption("Too few items to measure how far the picture can be believed.")
        return
    trust = "–" if np.isnan(quality.trustworthiness) else f"{quality.trustworthiness:.3f}"
    asked = (
        f"measured on {quality.queries:,} of {quality.items:,} items"
        if quality.queries < quality.items
        else f"measured on all {quality.items:,} items"
    )
    st.markdown(
        f"Trustworthiness **{trust}** · true neighbours kept **{quality.kept:.0%}** (k = {quality.k}, by chance "
        f"{quality.by_chance:.2%}, {asked})" + (f" · variance shown **{sum(explained):.1%}**" if explained else "")
    )
    st.caption(verdict(quality, explained))


def verdict(quality: Quality, explained: tuple[float, float] | None) -> str:
    """When not to believe the picture, as sentences."""
    false = round(10 * (1 - quality.kept))
    of_ten = f"of ten near dots about {false} are" if false < 10 else "hardly any near dots are"
    if quality.kept >= 0.7:
        first = "Near dots are mostly true neighbours."
    elif quality.trustworthiness >= 0.85:
        first = f"Believe the groups, not the single neighbours: {of_ten} {'no ' if false < 10 else ''}true neighbours."
    else:
        first = (
            f"Do not believe nearness here: {of_ten} {'no ' if false < 10 else ''}true neighbours, many lie far off."
        )
    if explained:
        return f"{first} Far apart means far apart; on top of each other can mean apart in the other directions."
    return f"{first} Distances between groups, their sizes and their density mean nothing in UMAP."


# --- what is selected


def _take(ground: Ground, selection: Any) -> None:
    """The reader drew a box or a lasso: these items are selected, in every map. A clicked dot becomes the query."""
    items = len(ground.dataset.items)
    named = [_number(point["customdata"]) for point in selection.points if "customdata" in point]
    numbers = [number for number in named if number < items]
    if selection.box or selection.lasso:
        st.session_state[SELECTED] = (ground.dataset.texts_digest, tuple(dict.fromkeys(numbers)))
    elif numbers:
        st.session_state["item"] = numbers[-1]
    else:
        st.session_state.pop(SELECTED, None)


def _number(customdata: Any) -> int:
    """A dot's item: the browser sends it alone or in a list."""
    return int(customdata[0] if isinstance(customdata, list) else customdata)


def _selected(ground: Ground) -> Int64 | None:
    whose, numbers = st.session_state.get(SELECTED, ("", ()))
    return np.array(numbers, dtype=np.int64) if whose == ground.dataset.texts_digest and numbers else None


def _selection_table(ground: Ground, selected: Int64 | None, colouring: Sequence[Colouring | None]) -> None:
    if selected is None:
        st.caption(
            "Click a dot to see its true neighbours; drag to move, scroll to zoom. With the box or the lasso of a "
            "map's toolbar several are selected: the same items light up in the other maps, and are listed here."
        )
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{len(selected):,} items selected**", width="content")
        st.button(
            "Clear", key="map_clear", on_click=lambda: st.session_state.pop(SELECTED, None), icon=":material/close:"
        )
    columns: dict[str, Sequence[object]] = {
        "item": selected.tolist(),
        "text": [ground.dataset.items[i] for i in selected],
    }
    for space, one in zip(ground.spaces, colouring, strict=True):
        if found := map_colours.value_column(one, selected):
            title = found[0] if all(c is one for c in colouring) else f"{found[0]}: {space.variant.label}"
            columns.setdefault(title, found[1])
    frame = pd.DataFrame(columns)
    number = st.column_config.NumberColumn
    config = {name: number(format="%.2f") for name in columns if frame[name].dtype.kind == "f"}
    config |= {"item": number(width="small"), "text": st.column_config.TextColumn(width="large")}
    st.dataframe(frame.head(MOST_ROWS), hide_index=True, key="map_selection", column_config=config)
    if len(frame) > MOST_ROWS:
        st.caption(f"The first {MOST_ROWS} of them; the file has all.")
    downloads.button(
        "CSV",
        partial(as_file, frame, ".csv"),
        Holds(ground.picks.dataset),
        file_name="map-selection.csv",
        mime=downloads.CSV,
        key="map_download",
    )


HOW = f"""
**PCA** puts every item at its coordinates along the two directions of largest variance; the share of the variance \
stands at the axes. **UMAP** (McInnes, Healy and Melville 2018, [arXiv:1802.03426](https://arxiv.org/abs/1802.03426)) \
lays the graph of each item's nearest neighbours out in two dimensions; here these neighbours are the exact ones. With \
the similarity *cos* both see the vectors' directions only.

**Trustworthiness** (Venna and Kaski 2001), with $r(i, j)$ the rank of $j$ among the neighbours of $i$ in the full \
space and $U_k(i)$ the items that are among the $k$ nearest to $i$ in the picture but not in the space:

$$T(k) = 1 - \\frac{{2}}{{nk(2n - 3k - 1)}} \\sum_i \\sum_{{j \\in U_k(i)}} (r(i, j) - k)$$

Of many items the sum runs over {maps.QUALITY_QUERIES:,} random ones, each among all. **True neighbours kept** is the \
mean share of an item's $k$ nearest in the full space that are among its $k$ nearest in the picture. Maps hold \
at most {maps.MOST_ITEMS:,} items, of more a random sample.
"""


def how_computed() -> None:
    """The expander that the page ends with."""
    with st.expander("How is this computed?", icon=":material/function:"):
        st.markdown(HOW)


# The page map.


def show() -> None:
    """The page."""
    picks = ui.page("Map", "How do the items lie, and how far can the picture be believed?")
    with ui.errors_shown():
        ground = map_state.gather(picks)
        if ground is not None:
            draw_maps(ground)
    how_computed()
