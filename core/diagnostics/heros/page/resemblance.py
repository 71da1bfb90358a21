"""The view *behaves like* of the HEROS page: which published encoders does a measured one resemble?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import streamlit as st

from core.datasets import catalog as datasets
from core.diagnostics.heros import resemblance
from core.diagnostics.heros.figures import published as figures
from core.diagnostics.heros.figures.published import MapAxis, MapPoint, PublishedLine
from core.diagnostics.heros.page import published as heros_published
from core.diagnostics.heros.page.shown import Shown
from core.diagnostics.heros.published import SOURCE, SUBSETS, heros_profiles
from core.diagnostics.heros.resemblance import Neighbour, Resemblance
from core.errors import BlindspotError
from core.types import Float64, Variant
from core.ui.markdown import as_text
from core.ui.pickers import pick_dataset
from core.ui.resources import repository
from core.ui.widgets import dataset_offer
from core.ui.widgets.work import fetch_button

LINES = 3  # published profiles in the figure of lines: those that vote
NEAREST = 10  # in the table


def show(shown: Shown) -> None:
    """The nearest published profiles of a variant, the guess that they allow, and a map of all."""
    if not heros_published.are_comparable(shown):
        _elsewhere()
        return
    try:
        found = {run.plan.variant: resemblance.of_run(run, repository()) for run in shown.runs}
    except BlindspotError as error:
        st.warning(as_text(str(error)), icon=":material/report:")
        return
    by_name = {str(variant): variant for variant in found}
    variant = by_name[st.selectbox("Variant", list(by_name), key="heros_like", persist_state="session")]
    _guess(found[variant], variant)
    lines, places = st.columns([2, 3])
    with lines:
        st.markdown("**Its profile over the nearest published ones**")
        nearest = found[variant].neighbours[:LINES]
        own = dict(zip(SUBSETS, found[variant].means.tolist(), strict=True))
        st.plotly_chart(
            figures.nearest_profiles(
                variant, own, [_line(neighbour) for neighbour in nearest], shown.styles[variant], shown.scheme
            ),
            key="nearest_profiles",
        )
    with places:
        st.markdown("**All profiles on a map**")
        _map({v: r.means for v, r in found.items()}, variant, shown)
    st.markdown("**The nearest published encoders**")
    st.dataframe(_table(found[variant].neighbours[:NEAREST]), hide_index=True, key="nearest", column_config=_COLUMNS)
    st.caption(
        f"Published: {SOURCE}. Distance: how far two profiles are apart over all six kinds of rewrite together "
        "(Euclidean distance of the six means); 0 is the same profile. The guess is the group that most of the "
        f"{resemblance.VOTERS} nearest have, or the nearest one's where none has most; {resemblance.VOTERS} were "
        "chosen for being right most often on the published encoders, which flatters that number a little: beside it "
        "stands what is right where the choice is made without the encoder that is guessed. Published encoders are "
        "without transforms."
    )


def _elsewhere() -> None:
    """Why there is nothing to compare here, and what to do."""
    entry = datasets.DATASETS[resemblance.DATASET]
    st.info(
        f"The 60 published profiles are of HEROS's own 1,000 sentences. Other sentences move every number, so that a "
        f"nearest profile or a guess would mean nothing here. Choose the dataset `{entry.id}` for it.",
        icon=":material/menu_book:",
    )
    if dataset_offer.is_here(entry):
        st.button("Pick HEROS", key="pick_heros", type="primary", on_click=pick_dataset, args=(entry.id,))
        return
    fetch_button("Download", f"Download of {entry.title}", entry.id, key="fetch_heros")
    st.caption(f"Or on the command line: `python -m core data fetch {entry.id}`. Then pick it in the sidebar.")


def _guess(found: Resemblance, variant: Variant) -> None:
    first, *rest = resemblance.in_words(found, variant.label)
    if found.vote is None:
        st.warning(as_text(first), icon=":material/help:")
        st.caption(as_text(" ".join(rest)))
        return
    st.markdown("\n".join([f"**{as_text(first)}**", "", *(f"- {as_text(sentence)}" for sentence in rest)]))


def _line(neighbour: Neighbour) -> PublishedLine:
    return PublishedLine(f"{neighbour.profile.model} · {figures.PUBLISHED}", neighbour.profile.means)


def _map(measured: Mapping[Variant, Float64], chosen: Variant, shown: Shown) -> None:
    profiles = heros_profiles()
    means = resemblance.matrix(profiles)
    plane = resemblance.plane(means)
    points = [
        MapPoint(p.model, p.group, float(x), float(y)) for p, (x, y) in zip(profiles, plane.project(means), strict=True)
    ]
    across, up = (
        MapAxis(float(share), dict(zip(SUBSETS, loadings.tolist(), strict=True)))
        for share, loadings in zip(plane.shares, plane.directions.T, strict=True)
    )
    places = {variant: plane.project(one[np.newaxis])[0] for variant, one in measured.items()}
    st.plotly_chart(
        figures.profile_map(points, places, chosen, (across, up), shown.styles, shown.scheme), key="profile_map"
    )
    outside = [as_text(v.label) for v, place in places.items() if not figures.is_on_map(place, points)]
    st.caption(
        "Hollow: published; filled: measured here. The two directions are those in which the 60 published profiles "
        f"differ most (principal components); together they hold {plane.shares.sum():.0%} of what sets them apart, so "
        "that neighbours on the map can still differ in the rest."
        + (f" Too far away for the map: {', '.join(outside)}." if outside else "")
    )


def _table(neighbours: Sequence[Neighbour]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "published encoder": n.profile.model,
                "group": n.profile.group,
                "distance": n.distance,
                "mean difference": n.mean_difference,
                "size": n.profile.size,
                "trained on": n.profile.training_data,
                "note": n.profile.note,
            }
            for n in neighbours
        ]
    )


_COLUMNS = {
    "distance": st.column_config.NumberColumn(format="%.4f", help="Euclidean distance of the six means"),
    "mean difference": st.column_config.NumberColumn(
        format="%.4f", help="How far the two are apart in a kind of rewrite, on average over the six"
    ),
    "group": st.column_config.TextColumn(help="What the training data was, as the paper groups encoders"),
}
