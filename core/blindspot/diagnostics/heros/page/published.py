"""Rows of the paper's 60 encoders on the HEROS page, and the view *behaves like*."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

import streamlit as st

from blindspot.datasets.catalog import DATASETS
from blindspot.diagnostics.heros import resemblance
from blindspot.diagnostics.heros.figures import published as figures
from blindspot.diagnostics.heros.figures.profile import PublishedRow, label
from blindspot.diagnostics.heros.page.heros_view import HerosView
from blindspot.diagnostics.heros.published import SOURCE, SUBSETS, PublishedProfile, blocks, heros_profiles
from blindspot.diagnostics.heros.resemblance import Resemblance
from blindspot.errors import BlindspotError
from blindspot.numerics.statistics.written import SCORE, number, percent
from blindspot.types import Float64
from blindspot.ui.markdown import as_text
from blindspot.ui.options import options
from blindspot.ui.pickers import pick_dataset
from blindspot.ui.resources import explained, repository
from blindspot.ui.widgets import dataset_offer, tables
from blindspot.ui.widgets.work import fetch_button
from blindspot.variants import Variant

HOVER_WIDTH = 60
ROOM_BELOW = 0.2  # of the scale, as a share of the values' range
NEAREST = 10  # in the table


def _are_comparable(shown: HerosView) -> bool:
    """Whether all runs were measured on the sentences of the published profiles."""
    return all(resemblance.is_on_published_sentences(run, repository()) for run in shown.runs)


def rows(shown: HerosView) -> list[PublishedRow]:
    """The controls for published rows, and the rows that the reader wants; no rows if no shown subset was published.

    They are shown by default on HEROS's own sentences and hidden on others. The default of a toggle must not change,
    so there are two.
    """
    subsets = [subset for subset in shown.subsets if subset in SUBSETS]
    if not subsets:
        return []
    comparable = _are_comparable(shown)
    wanted = options().toggle(
        "Show published models",
        value=comparable,
        key="published_profiles" if comparable else "published_elsewhere",
        bind="query-params",
        help=f"The 60 models of {SOURCE}, below those measured here.",
    )
    if not wanted:
        return []
    if not comparable:
        st.caption(
            "The published models were measured on HEROS's own 1,000 sentences, not on these: compare the order of "
            "rewrites, not the values."
        )
    names = list(blocks())
    picked = options().pills(
        "Unfold",
        names,
        selection_mode="multi",
        wrap=True,
        key="unfold",
        bind="query-params",
        help="Groups of the paper's figures: by training data (QA to all), then by method (GloVe to AudioCSE). A "
        "folded group is one row with its mean, or two where some models were also trained on inference pairs (NLI).",
    )
    everything = options().toggle("Unfold all", key="unfold_all", bind="query-params")
    return _folded(names if everything else list(picked), subsets)


def _folded(unfolded: Sequence[str], subsets: Sequence[str]) -> list[PublishedRow]:
    """A row per encoder below the name of each unfolded block, a row per training group for each other block.

    A mean over encoders with and without training on inference pairs would resemble neither.
    """
    out: list[PublishedRow] = []
    for block, profiles in blocks().items():
        if block in unfolded:
            out.append(PublishedRow(f"▾ {block} ({len(profiles)})", {}))
            out += [_encoder(profile, subsets) for profile in profiles]
            continue
        groups = list(dict.fromkeys(profile.group for profile in profiles))
        for group in groups:
            members = [profile for profile in profiles if profile.group == group]
            kind = f"<br>{group}" if len(groups) > 1 else ""
            out.append(_mean(f"▸ {block} ({len(members)}){kind}", members, subsets))
    return out


def _encoder(profile: PublishedProfile, subsets: Sequence[str]) -> PublishedRow:
    short = profile.model.removeprefix(f"{profile.block} ").removesuffix(f" ({profile.block})")
    return PublishedRow(
        "<br>".join(textwrap.wrap(short.removesuffix(" (para)").removesuffix(" (QA)"), 20)),
        {subset: profile.means[subset] for subset in subsets},
        [
            f"<b>{profile.model}</b>, published in figure {profile.figure}",
            *textwrap.wrap(f"trained on {profile.training_data}", HOVER_WIDTH),
            profile.size,
            *textwrap.wrap(profile.note, HOVER_WIDTH),
        ],
    )


def _mean(name: str, members: Sequence[PublishedProfile], subsets: Sequence[str]) -> PublishedRow:
    first = members[0]
    if len(members) == 1:
        return PublishedRow(name, first.means, _encoder(first, subsets).about)
    values = {subset: [p.means[subset] for p in members] for subset in subsets}
    about = [
        f"mean of {len(members)} published models ({first.group})",
        *textwrap.wrap(f"trained on {first.training_data}", HOVER_WIDTH),
        "from the lowest to the highest of them:",
        *(
            f"{label(subset)}: {number(min(values_of_models), SCORE)} to {number(max(values_of_models), SCORE)}"
            for subset, values_of_models in values.items()
        ),
    ]
    return PublishedRow(
        name, {subset: sum(values_of_models) / len(members) for subset, values_of_models in values.items()}, about
    )


def span(values: Sequence[float]) -> tuple[float, float]:
    """The ends of a scale for measured values and all published ones, so that folding changes no color.

    It begins below the lowest value: a frame in the scale's end color would not show.
    """
    everything = [*values, *(value for profile in heros_profiles() for value in profile.means.values())]
    low, high = min(everything), max(everything)
    return low - ROOM_BELOW * (high - low), high


# --- the view *behaves like*


def show(shown: HerosView) -> None:
    """The nearest published profiles of a variant, the guess that follows from them, and a map of all profiles."""
    if not _are_comparable(shown):
        _offer_heros()
        return
    try:
        by_variant = {run.plan.variant: resemblance.of_run(run, repository()) for run in shown.runs}
    except BlindspotError as error:
        st.warning(as_text(explained(error)), icon=":material/report:")
        return
    by_name = {str(variant): variant for variant in by_variant}
    variant = by_name[st.selectbox("Model", list(by_name), key="heros_like", persist_state="session")]
    resembled = by_variant[variant]
    _guess(resembled, variant)
    lines, places = st.columns([2, 3])
    with lines:
        st.markdown("**Its profile and the nearest published ones**")
        voters = [n.profile for n in resembled.neighbors[: resemblance.VOTERS]]
        means = dict(zip(SUBSETS, resembled.means.tolist(), strict=True))
        figure = figures.nearest_profiles(variant, means, voters, shown.styles[variant], shown.scheme)
        st.plotly_chart(figure, key="nearest_profiles")
    with places:
        st.markdown("**Map of all profiles**")
        _map({v: r.means for v, r in by_variant.items()}, variant, shown)
    st.markdown("**The nearest published models**")
    _table(resembled)
    st.caption(
        f"Published: {SOURCE}, without post-processing. Distance: Euclidean distance of the six means; 0 is the same "
        f"profile. The guess is the most frequent group among the {resemblance.VOTERS} nearest, or the nearest one's "
        f"group if there is none. {resemblance.VOTERS} was chosen because it is right most often on the published "
        "models, which is slightly optimistic; the nested share is without that bias."
    )


def _offer_heros() -> None:
    """Say why other sentences cannot be compared with the published ones, and what to do."""
    entry = DATASETS[resemblance.DATASET]
    st.info(
        f"The 60 published profiles were measured on HEROS's own 1,000 sentences and cannot be compared with other "
        f"sentences. Switch to the dataset {as_text(entry.title)}.",
        icon=":material/menu_book:",
    )
    if dataset_offer.is_here(entry):
        st.button("Switch to HEROS", key="pick_heros", type="primary", on_click=pick_dataset, args=(entry.id,))
        return
    fetch_button("Download", f"Download of {entry.title}", entry.id, key="fetch_heros")
    st.caption(f"Or on the command line: `blindspot data fetch {entry.id}`. Then pick it under Dataset.")


def _guess(resembled: Resemblance, variant: Variant) -> None:
    first, *rest = resemblance.in_words(resembled, variant.label)
    if resembled.vote is None:
        st.warning(as_text(first), icon=":material/help:")
        st.caption(as_text(" ".join(rest)))
        return
    st.markdown("\n".join([f"**{as_text(first)}**", "", *(f"- {as_text(sentence)}" for sentence in rest)]))


def _map(measured: Mapping[Variant, Float64], chosen: Variant, shown: HerosView) -> None:
    profiles = heros_profiles()
    plane = resemblance.plane(resemblance.matrix(profiles))
    figure = figures.profile_map(profiles, measured, chosen, plane, shown.styles, shown.scheme)
    st.plotly_chart(figure, key="profile_map")
    outside = [as_text(v.label) for v, means in measured.items() if not figures.is_on_map(means, profiles, plane)]
    st.caption(
        "Hollow: published; filled: measured here. Axes: the first two principal components of the 60 published "
        f"profiles, {percent(plane.shares.sum())} of their variance."
        + (f" Outside the map: {', '.join(outside)}." if outside else "")
    )


def _table(resembled: Resemblance) -> None:
    rows = [
        {
            "published model": n.profile.model,
            "group": n.profile.group,
            "distance": n.distance,
            "mean difference": n.mean_difference,
            "size": n.profile.size,
            "trained on": n.profile.training_data,
            "note": n.profile.note,
        }
        for n in resembled.neighbors[:NEAREST]
    ]
    number = st.column_config.NumberColumn
    config = {
        "distance": number(format=f"%{SCORE}", help="Euclidean distance of the six means"),
        "mean difference": number(format=f"%{SCORE}", help="Mean absolute difference over the six kinds of rewrite"),
        "group": st.column_config.TextColumn(help="Training data, as the paper groups models"),
    }
    tables.draw(rows, key="nearest", column_config=config)
