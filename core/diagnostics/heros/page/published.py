"""The paper's 60 encoders on the HEROS page: rows below the measured profiles, folded by the groups of the figures."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import streamlit as st

from core.diagnostics.heros import published as reference
from core.diagnostics.heros.figures.profile import label
from core.diagnostics.heros.figures.published import PublishedRow
from core.diagnostics.heros.page.shown import Shown
from core.diagnostics.heros.published import PublishedProfile
from core.diagnostics.heros.resemblance import is_on_published_sentences
from core.ui.resources import repository

HOVER_WIDTH = 60
ROOM_BELOW = 0.2  # of the scale, as a share of what the values span


def are_comparable(shown: Shown) -> bool:
    """Whether what is shown was measured on the sentences that the published profiles are of."""
    return all(is_on_published_sentences(run, repository()) for run in shown.runs)


def rows(shown: Shown) -> list[PublishedRow]:
    """The published rows that the reader wants, with the controls for them; none where no subset was published.

    On HEROS's own sentences they are shown at first, on others they are not: defaults must not change, so there are
    two toggles.
    """
    subsets = [subset for subset in shown.subsets if subset in reference.SUBSETS]
    if not subsets:
        return []
    comparable = are_comparable(shown)
    wanted = st.toggle(
        "Show published encoders",
        value=comparable,
        key="published_profiles" if comparable else "published_elsewhere",
        bind="query-params",
        help=f"The 60 encoders of {reference.SOURCE}, below those measured here.",
    )
    if not wanted:
        return []
    if not comparable:
        st.caption(
            "The published encoders were measured on HEROS's own 1,000 sentences, not on these: compare how subsets "
            "stand to each other, not how high numbers are."
        )
    return folded(_unfolded(), subsets)


def _unfolded() -> list[str]:
    """The groups whose every encoder the reader wants to see."""
    names = list(reference.blocks())
    picked = st.pills(
        "Unfold",
        names,
        selection_mode="multi",
        wrap=True,
        key="unfold",
        bind="query-params",
        help="The groups of the paper's figures: by training data (QA to all), then by method (GloVe to AudioCSE). A "
        "folded group is one row with its mean; of a method there are two where some encoders were trained further on "
        "inference pairs (NLI).",
    )
    everything = st.toggle("Unfold all", key="unfold_all", bind="query-params")
    return names if everything else list(picked)


def folded(unfolded: Sequence[str], subsets: Sequence[str]) -> list[PublishedRow]:
    """A row per encoder for groups that are unfolded, below the group's name; for others one per training group.

    A mean over encoders with and without training on inference pairs would be like none of them.
    """
    out: list[PublishedRow] = []
    for block, profiles in reference.blocks().items():
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
    means = {subset: sum(p.means[subset] for p in members) / len(members) for subset in subsets}
    ranges = [
        f"{label(s)}: {min(p.means[s] for p in members):.3f} to {max(p.means[s] for p in members):.3f}" for s in subsets
    ]
    about = [
        f"mean of {len(members)} published encoders ({first.group})",
        *textwrap.wrap(f"trained on {first.training_data}", HOVER_WIDTH),
        "from the lowest to the highest of them:",
        *ranges,
    ]
    return PublishedRow(name, means, about)


def span(values: Sequence[float]) -> tuple[float, float]:
    """The ends of a scale for measured values and all published ones, so that folding changes no colour.

    It begins below the lowest: a frame in the scale's last colour would not show.
    """
    everything = [*values, *(value for profile in reference.heros_profiles() for value in profile.means.values())]
    low, high = min(everything), max(everything)
    return low - ROOM_BELOW * (high - low), high
