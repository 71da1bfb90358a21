"""Page Map: the maps, how far to trust them, and the reader's selection."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from blindspot import ui
from blindspot.errors import BlindspotError
from blindspot.files.export import as_file
from blindspot.numerics.statistics.written import percent
from blindspot.space.maps import maps
from blindspot.space.maps.colors import Coloring
from blindspot.space.maps.figures import Dots, map_figure
from blindspot.space.maps.maps import MAX_NEIGHBORS, MIN_DIST, N_NEIGHBORS, SEED, MapRequest, Method
from blindspot.space.maps.page import colors, query
from blindspot.space.maps.page.drawn import Drawn, draw
from blindspot.space.maps.projection import Quality
from blindspot.space.page import Opened, open_picked
from blindspot.texts import duration
from blindspot.types import Int64
from blindspot.ui.boundary import fragment
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import explained, jobs, settings
from blindspot.ui.widgets import downloads, tables
from blindspot.ui.widgets.choices import one_of
from blindspot.ui.widgets.downloads import Holds
from blindspot.ui.widgets.work import task_button

METHODS = {Method.UMAP.value: "UMAP", Method.PCA.value: "PCA"}
MEANING = {
    Method.UMAP: "places texts with the same neighbors together",
    Method.PCA: "shows the two directions in which the texts vary most",
}
DOTS_IN_ALL = 25_000  # in all maps together; with more a browser gets slow
# A browser gives a page sixteen WebGL contexts; a map takes three, and six while it is redrawn.
DOTS_WITHOUT_WEBGL = 8_000
MAPS_WITH_WEBGL = 2
TEXTS_IN_ALL = 25_000  # in all maps together, sent as hover texts
MOST_ROWS = 500  # of the table of selected items
SELECTED = "_map_selected"  # the dataset, and the numbers of its items
SEEDED, UNSEEDED = "reproducible", "fast"
SEED_HELP = (
    f"**{SEEDED}**: fixed seed {SEED}, one thread, the same picture every time. **{UNSEEDED}**: no seed, all cores, a "
    "different picture every time. Measured on two busy cores with 24,957 sentences: 62 s against 48 s; with more "
    "cores the difference is larger."
)


def _choose(opened: Opened) -> list[MapRequest] | None:
    """The requested maps; None, with the reason shown, if UMAP cannot take the parameters."""
    left = middle = right = last = ui.options()
    chosen = one_of(
        "Projection",
        Method,
        "picture",
        "**umap** keeps neighbors together and distorts the rest. **pca** shows the two directions of largest "
        "variance, without distortion, and nothing of the others.",
        container=left,
    )
    n_neighbors, min_dist, way = N_NEIGHBORS, MIN_DIST, SEEDED
    if chosen is Method.UMAP:
        n_neighbors = int(
            middle.number_input(
                "Neighbors (UMAP)",
                min_value=2,
                max_value=MAX_NEIGHBORS,
                value=N_NEIGHBORS,
                step=1,
                key="umap_neighbors",
                bind="query-params",
                help="Few show local detail, many the overall structure.",
            )
        )
        min_dist = float(
            right.number_input(
                "Minimum distance (UMAP)",
                min_value=0.0,
                max_value=1.0,
                value=MIN_DIST,
                step=0.05,
                key="umap_min_dist",
                bind="query-params",
                help="How close two dots may be: 0 makes tight clusters.",
            )
        )
        way = one_of("UMAP", [SEEDED, UNSEEDED], "umap_way", SEED_HELP, container=last)
    try:
        maps.checked(n_neighbors, min_dist)
    except BlindspotError as error:
        st.error(as_text(explained(error)))
        return None
    seed = SEED if way == SEEDED else None
    return maps.requests_of(opened.spaces, opened.metric, chosen, seed, n_neighbors, min_dist)


def _offer(opened: Opened, missing: Sequence[MapRequest], *, is_pca: bool) -> None:
    """Offer to compute the missing UMAPs; ``is_pca`` if PCA is drawn in their place."""
    until = "; until then the maps are PCA" if is_pca else ""
    under_way = {task for job in jobs().active() for task in job.tasks}
    if waiting := [request for request in missing if request in under_way]:
        st.info(f"UMAP of {_variants(waiting)} is being computed{until}.", icon=":material/pending:")
        missing = [request for request in missing if request not in under_way]
    if not missing:
        return
    items = len(opened.spaces[0].items)
    seconds = sum(maps.estimated_seconds(items, request, settings()) for request in missing)
    text, button = st.columns([4, 1], vertical_alignment="center")
    text.info(
        f"UMAP of {_variants(missing)} is not computed yet: about {duration(seconds)}{until}.",
        icon=":material/hourglass_empty:",
    )
    with button:
        title = missing[0].label if len(missing) == 1 else f"UMAP of {opened.dataset.id} by {len(missing)} models"
        task_button("Compute UMAP", "Computing …", title, missing, key="map_compute")


def _variants(requests: Sequence[MapRequest]) -> str:
    return "one model" if len(requests) == 1 else f"{len(requests)} models"


@fragment  # what the reader selects draws nothing above again
def _explore(opened: Opened, drawn: Sequence[Drawn]) -> None:
    """The query, the maps, and a table of the selected items."""
    st.caption(
        f"Each dot is a text; near-duplicates share a spot. {_meaning(drawn)} Click a dot to see its true neighbors."
    )
    *places, last = st.columns([4, 2, 2, 3], vertical_alignment="bottom")
    item, k = query.choose(opened, places)
    coloring = colors.choose(opened, last)
    arounds = [(drawn_map, None if item is None else query.around(opened, drawn_map, item, k)) for drawn_map in drawn]
    shown = _shown_rows(drawn)
    if shown is not None:
        colors.note(coloring, opened.spaces[0].items[shown])
    selected = _selected(opened)
    for start in range(0, len(drawn), 2):
        for number, column in enumerate(st.columns(min(len(drawn), 2)), start):
            if number < len(drawn):
                with column:
                    _map(opened, *arounds[number], coloring[number], shown, selected)
    if item is not None:
        query.show(opened, item, arounds)
    _selection_table(opened, selected, coloring)


def _meaning(drawn: Sequence[Drawn]) -> str:
    """A phrase on each method drawn."""
    methods = dict.fromkeys(drawn_map.request.method for drawn_map in drawn)
    return " ".join(f"{METHODS[method]} {MEANING[method]}." for method in methods)


def _shown_rows(drawn: Sequence[Drawn]) -> Int64 | None:
    """Rows of the spaces to draw: all rows of the maps, or a sample if there are too many; None without a map."""
    made = [drawn_map.map for drawn_map in drawn if drawn_map.map is not None]
    if not made:
        return None
    rows = made[0].rows
    total = len(drawn[0].space.items)
    if len(rows) < total:
        st.caption(f"A random sample of {len(rows):,} of the {total:,} texts, the same in every map.")
    most = (DOTS_IN_ALL if len(made) <= MAPS_WITH_WEBGL else DOTS_WITHOUT_WEBGL) // len(made)
    if len(rows) > most:
        st.caption(
            f"Drawn: a random {most:,} of the {len(rows):,} texts of each map, the same in all, so that the browser "
            "stays fast. UMAP and the measures use all of them. Pick fewer models to see more dots."
        )
        rows = rows[maps.sample_rows(len(rows), most)]
    return rows


def _map(
    opened: Opened,
    drawn: Drawn,
    around: query.Around | None,
    coloring: Coloring | None,
    shown: Int64 | None,
    selected: Int64 | None,
) -> None:
    st.markdown(f"**{as_text(drawn.variant.label)}**: {METHODS[drawn.request.method]}")
    if drawn.why:
        st.info(as_text(drawn.why), icon=":material/info:")
    if drawn.map is None or shown is None:
        return
    rows = shown[np.isin(shown, drawn.map.rows)]
    coordinates = drawn.map.coordinates[np.searchsorted(drawn.map.rows, rows)]
    placed = np.isfinite(coordinates).all(axis=1)
    items = drawn.space.items[rows[placed]]
    texts = [opened.dataset.items[i] for i in items] if len(items) * len(opened.spaces) <= TEXTS_IN_ALL else None
    explained = drawn.map.explained
    axes = ("", "")
    if explained:
        axes = (f"component 1: {percent(explained[0], 1)} of variance", f"component 2: {percent(explained[1], 1)}")
    figure = map_figure(
        Dots(items, coordinates[placed], texts),
        coloring.part(items) if coloring else None,
        opened.styles[drawn.variant].color,
        selected,
        None if around is None else around.tie,
        axes,
        opened.scheme,
        with_webgl=len(shown) * len(opened.spaces) > DOTS_WITHOUT_WEBGL,
    )
    key = f"map_{drawn.variant}"
    st.plotly_chart(
        figure,
        key=key,
        on_select=lambda: _take(opened, st.session_state[key].selection),
        selection_mode=("points", "box", "lasso"),
        config={"displaylogo": False, "scrollZoom": True},
        alt=f"{METHODS[drawn.request.method]} of the texts by {drawn.variant.label}",
    )
    lost = len(drawn.map.rows) - int(np.isfinite(drawn.map.coordinates).all(axis=1).sum())
    if lost:
        st.caption(f"{lost:,} texts have no neighbors in the graph and are not shown.")
    _trust(drawn.map.quality, explained)


def _trust(quality: Quality | None, explained: tuple[float, float] | None) -> None:
    if quality is None:
        st.caption("Too few texts to measure how reliable the picture is.")
        return
    trust = "–" if np.isnan(quality.trustworthiness) else f"{quality.trustworthiness:.3f}"
    asked = (
        f"measured on {quality.queries:,} of {quality.items:,} texts"
        if quality.queries < quality.items
        else f"measured on all {quality.items:,} texts"
    )
    st.markdown(
        f"Trustworthiness **{trust}** (1: no false neighbors) · **{percent(quality.kept)}** of the {quality.k} nearest "
        f"neighbors kept (by chance {percent(quality.by_chance, 1)}, {asked})"
        + (f" · variance shown **{percent(sum(explained), 1)}**" if explained else "")
    )
    st.caption(closeness(quality))


def _headline(drawn: Drawn) -> None:
    """How far to trust the first map."""
    if drawn.map is None or drawn.map.quality is None:
        return
    quality = drawn.map.quality
    st.markdown(
        f"The {METHODS[drawn.request.method]} of **{as_text(drawn.variant.label)}** keeps **{percent(quality.kept)}** "
        f"of the {quality.k} nearest neighbors (by chance: {percent(quality.by_chance, 1)}). "
        f"{verdict(quality, drawn.map.explained)}"
    )


def closeness(quality: Quality) -> str:
    """How far to trust close dots, in words."""
    false = 1 - quality.kept
    if quality.kept >= 0.7:
        return "Dots that look close are mostly true neighbors."
    if quality.trustworthiness >= 0.85:
        return f"Read regions, not single neighbors: about {percent(false)} of the closest dots are not true neighbors."
    return f"Do not rely on closeness here: about {percent(false)} of the closest dots are not true neighbors."


def verdict(quality: Quality, explained: tuple[float, float] | None) -> str:
    """How far to trust the picture, in words."""
    first = closeness(quality)
    if explained:
        return (
            f"{first} The picture shows {percent(sum(explained))} of the variance: texts that are far apart in it "
            "differ, texts that overlap may differ in other directions."
        )
    return f"{first} In UMAP, distances between groups, their sizes and densities mean nothing."


# --- what is selected


def _take(opened: Opened, selection: Any) -> None:
    """Take the reader's selection: a box or lasso selects items in every map, a clicked dot becomes the query."""
    data = [point["customdata"] for point in selection.points if "customdata" in point]
    named = [int(number[0] if isinstance(number, list) else number) for number in data]  # browsers send both forms
    numbers = [number for number in named if number < len(opened.dataset.items)]
    if selection.box or selection.lasso:
        st.session_state[SELECTED] = (opened.dataset.texts_digest, tuple(dict.fromkeys(numbers)))
    elif numbers:
        st.session_state["item"] = numbers[-1]
    else:
        st.session_state.pop(SELECTED, None)


def _selected(opened: Opened) -> Int64 | None:
    whose, numbers = st.session_state.get(SELECTED, ("", ()))
    return np.array(numbers, dtype=np.int64) if whose == opened.dataset.texts_digest and numbers else None


def _selection_table(opened: Opened, selected: Int64 | None, coloring: Sequence[Coloring | None]) -> None:
    if selected is None:
        st.caption(
            "To list several texts here and highlight them in all maps, select them with the box or lasso of a map's "
            "toolbar."
        )
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{len(selected):,} texts selected**", width="content")
        st.button(
            "Clear", key="map_clear", on_click=lambda: st.session_state.pop(SELECTED, None), icon=":material/close:"
        )
    columns: dict[str, Sequence[object]] = {
        "item": selected.tolist(),
        "text": [opened.dataset.items[i] for i in selected],
    }
    for space, values in zip(opened.spaces, coloring, strict=True):
        if value_column := colors.value_column(values, selected):
            title = (
                value_column[0] if all(c is values for c in coloring) else f"{value_column[0]}: {space.variant.label}"
            )
            columns.setdefault(title, value_column[1])
    frame = pd.DataFrame(columns)
    number = st.column_config.NumberColumn
    config: dict[str, Any] = {name: "%.2f" for name in columns if frame[name].dtype.kind == "f"}
    config |= {"item": number(width="small"), "text": st.column_config.TextColumn(width="large")}
    tables.draw(frame.head(MOST_ROWS), key="map_selection", column_config=config)
    if len(frame) > MOST_ROWS:
        st.caption(f"The first {MOST_ROWS} of them; the file has all.")
    downloads.button(
        "CSV",
        partial(as_file, frame, ".csv"),
        Holds(opened.picks.dataset),
        file_name="map-selection.csv",
        mime=downloads.CSV,
        key="map_download",
    )


HOW = f"""
**PCA** plots each text along the two directions of largest variance; the axes give the share of the variance. \
**UMAP** (McInnes, Healy and Melville 2018, [arXiv:1802.03426](https://arxiv.org/abs/1802.03426)) draws the graph of \
each text's nearest neighbors in two dimensions, here from exact neighbors. With *cos*, both use only the directions \
of the vectors. Near-duplicates lie on top of each other, so there can be fewer visible dots than texts.

**Trustworthiness** (Venna and Kaski 2001), with $r(i, j)$ the rank of $j$ among the neighbors of $i$ in the full \
space and $U_k(i)$ the texts among the $k$ nearest to $i$ in the picture but not in the space:

$$T(k) = 1 - \\frac{{2}}{{nk(2n - 3k - 1)}} \\sum_i \\sum_{{j \\in U_k(i)}} (r(i, j) - k)$$

With many texts the sum is over {maps.QUALITY_QUERIES:,} random ones, each compared with all. **True neighbors kept** \
is the mean share of a text's $k$ nearest in the full space that are among its $k$ nearest in the picture. Maps show \
at most {maps.MOST_ITEMS:,} texts: a random sample of larger datasets.
"""


def show() -> None:
    """The page."""
    picks = ui.page("Map", "How is the embedding space laid out, and how reliable is the picture?")
    with ui.errors_shown():
        opened = open_picked(picks)
        requests = _choose(opened) if opened else None
        if opened and requests:
            drawn, missing = draw(opened, requests)
            _headline(next((drawn_map for drawn_map in drawn if drawn_map.map), drawn[0]))
            _offer(opened, missing, is_pca=len(missing) == len(drawn))
            _explore(opened, drawn)
    ui.how(HOW)
