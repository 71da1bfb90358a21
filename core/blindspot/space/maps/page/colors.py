"""Choice of the dots' colors on the page Map, and the colors of each map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from blindspot.datasets.kinds import own_columns
from blindspot.datasets.kinds.base import Dataset
from blindspot.datasets.kinds.pairs import PairSet
from blindspot.datasets.word_frequency import seems_english
from blindspot.numerics.similarity import Similarity
from blindspot.runs.spaces import Space
from blindspot.space.maps import projection
from blindspot.space.maps.colors import (
    Color,
    Coloring,
    Groups,
    Numbers,
    by_frequency,
    by_own_column,
    by_rank_of_match,
    by_source,
    of_clusters,
    on_one_scale,
)
from blindspot.space.page import Opened
from blindspot.types import Int64
from blindspot.ui.markdown import as_text
from blindspot.ui.pickers import DEFAULT_PROTOCOL
from blindspot.ui.resources import cached, repository
from blindspot.ui.widgets import dataset_offer
from blindspot.ui.widgets.addressed import one_named
from blindspot.variants import Variant

CLUSTERS_AT_FIRST, MOST_CLUSTERS = 8, 20
SEED = 0
HELP = """
- **none**: the model's own color
- **frequency**: Zipf frequency of English by wordfreq (3 is one occurrence per million words, 6 a thousand); for a \
sentence, the mean over its words
- **rank of the match**: rank of the match in a stored EvalRank run; with several matches, the best
- **cluster**: k-means in the full space, not on the picture
- **source**: where the text's pairs come from
"""
NAMES: Mapping[str, str] = {Color.MATCH: "rank of the match"}  # of others, what the address has


def choose(opened: Opened, container: DeltaGenerator) -> list[Coloring | None]:
    """The colors of the dataset's items in each map, as the reader chooses; None for plain dots."""
    user_columns = own_columns.choices_of(opened.dataset.groupings, list(map(str, Color)))
    options = [*map(str, Color), *user_columns]
    usual = next(iter(user_columns), "") or str(Color.FREQUENCY if _is_english(opened.dataset) else Color.CLUSTER)
    if st.session_state.get("color") not in (None, *options):  # a column of another file
        st.session_state["color"] = usual
    chosen = str(
        one_named(
            "Color by",
            options,
            key="color",
            name=lambda name: NAMES.get(name, name),
            index=options.index(usual),
            container=container,
            help=HELP + "".join(f"- **{as_text(name)}**: a column of the dataset\n" for name in user_columns),
        )
    )
    count = len(opened.spaces)
    if chosen in user_columns:
        return [by_own_column(opened.dataset, user_columns[chosen])] * count
    if chosen == Color.FREQUENCY:
        return [_frequency(opened.dataset)] * count
    if chosen == Color.MATCH:
        return list(on_one_scale([_rank_of_match(opened, space.variant) for space in opened.spaces]))
    if chosen == Color.CLUSTER:
        return _clusters(opened)
    if chosen == Color.SOURCE:
        return [_sources(opened.dataset)] * count
    return [None] * count


_frequency = cached(8, "Looking up frequencies …")(by_frequency)


def _is_english(dataset: Dataset) -> bool:
    return seems_english(dataset.items, _frequency(dataset).values)


def _rank_of_match(opened: Opened, variant: Variant) -> Numbers | None:
    params = opened.picks.params | {"protocol": DEFAULT_PROTOCOL}
    ranks = by_rank_of_match(opened.dataset, variant, params, repository())
    if ranks is None:
        st.caption(
            f"{as_text(variant.label)} has no EvalRank run on this dataset with similarity {opened.picks.metric}, "
            "so its dots have no color. Start one on the page Run."
        )
    return ranks


def _clusters(opened: Opened) -> list[Coloring | None]:
    each_own = "each its own"
    names = {str(space.variant): space for space in opened.spaces}
    left, right = st.columns(2)
    most = min(MOST_CLUSTERS, len(opened.spaces[0].items))
    if most < 2:
        st.caption("Too few texts for clusters.")
        return [None] * len(opened.spaces)
    k = left.number_input(
        "Clusters",
        min_value=2,
        max_value=most,
        value=min(CLUSTERS_AT_FIRST, most),
        step=1,
        key="map_clusters",
        persist_state="session",
        help="k of k-means, with a fixed seed; the largest cluster first.",
    )
    whose = each_own
    if len(names) > 1:
        whose = str(
            right.selectbox(
                "Clusters of",
                [each_own, *names],
                key="map_clusters_of",
                persist_state="session",
                help="Showing one model's clusters in all maps shows whether the others keep them together.",
            )
        )
    chosen = [names[whose]] * len(names) if whose in names else list(opened.spaces)
    return [
        of_clusters(space.items, _labels(space, opened.metric, int(k)), len(opened.dataset.items), space.variant.label)
        for space in chosen
    ]


@cached(32, "Clustering the full space …")
def _labels(space: Space, metric: Similarity, k: int) -> Int64:
    return projection.clusters(projection.as_compared(space.vectors, metric), k, SEED)


def _sources(dataset: Dataset) -> Groups | None:
    entry = dataset_offer.entry_of(dataset.id)
    if entry is None or not isinstance(dataset, PairSet):
        st.caption("The sources of these texts are not known, so dots have no color.")
        return None
    if not dataset_offer.is_here(entry):
        dataset_offer.offer(entry, "Coloring by source", key="fetch_map_sources")
        return None
    scored = dataset_offer.scored_pairs(entry)
    return None if scored is None else _by_source(dataset, scored)


_by_source = cached(4, "Looking up sources …")(by_source)


def note(coloring: Sequence[Coloring | None], items: Int64) -> None:
    """Say how many of the shown items have no color, and why; once if the maps agree."""
    notes = {}
    for colors_of_model in coloring:
        if colors_of_model is not None:
            values = (
                colors_of_model.codes[items] < 0
                if isinstance(colors_of_model, Groups)
                else np.isnan(colors_of_model.values[items])
            )
            notes[f"Gray: {np.count_nonzero(values):,} of {len(items):,} texts that {colors_of_model.lacking}."] = (
                values.any()
            )
    for sentence, is_needed in notes.items():
        if is_needed:
            st.caption(sentence)


def value_column(coloring: Coloring | None, items: Int64) -> tuple[str, list[object]] | None:
    """Heading and values of a table's column for what the colors show."""
    if coloring is None:
        return None
    if isinstance(coloring, Groups):
        return coloring.title, [coloring.names[c] if c >= 0 else None for c in coloring.codes[items].tolist()]
    return coloring.title, [None if np.isnan(v) else v for v in coloring.values[items].tolist()]
