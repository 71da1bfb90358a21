"""Figures of HEROS's view *behaves like*: a profile with its nearest published ones, and a map of them all."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from blindspot.diagnostics.heros.figures.profile import label
from blindspot.diagnostics.heros.published import SUBSETS, PublishedProfile
from blindspot.diagnostics.heros.resemblance import Plane, matrix
from blindspot.figures.theme import Scheme, Style, apply_layout, ink, styles
from blindspot.numerics.statistics.written import SCORE, number, percent
from blindspot.types import Float64
from blindspot.variants import Variant

TITLE_WIDTH = 46  # of an axis, in characters: more is cut off on a narrow screen
STRONG = 0.35  # the least loading of a subset that an axis names; six equal ones are 0.41
_HOLLOW = ("circle-open", "square-open", "diamond-open", "triangle-up-open", "star-open", "hexagon-open")


def nearest_profiles(
    variant: Variant, values: Mapping[str, float], nearest: Sequence[PublishedProfile], style: Style, scheme: Scheme
) -> go.Figure:
    """A measured profile over the published ones nearest to it, which are hollow on dotted lines.

    Args:
        values: by subset, in the order of the axis.
        nearest: the nearest first.
    """
    figure = go.Figure()
    names = ["<br>".join(textwrap.wrap(label(subset), 8)) for subset in values]
    common = {"x": names, "mode": "lines+markers"}

    def hovers(means: Mapping[str, float]) -> dict[str, object]:
        text = [f"{label(subset)}: {number(means[subset], SCORE)}" for subset in values]
        return {"text": text, "hovertemplate": "%{text}<extra>%{fullData.name}</extra>"}

    for i, profile in enumerate(nearest):
        figure.add_scatter(
            name=f"{profile.model} · published",
            y=[profile.means[subset] for subset in values],
            line={"color": ink(scheme), "width": 1, "dash": "dot"},
            marker={"symbol": _HOLLOW[i % len(_HOLLOW)], "size": 10, "color": ink(scheme), "line": {"width": 1.5}},
            opacity=0.75,
            **common,
            **hovers(profile.means),
        )
    figure.add_scatter(
        name=f"{variant.label}, measured",
        y=list(values.values()),
        line={"color": style.color, "width": 3},
        marker={"symbol": style.symbol, "size": 11, "color": style.color},
        **common,
        **hovers(values),
    )
    figure.update_yaxes(title="mean normalized similarity")
    figure.update_xaxes(tickangle=0)
    apply_layout(figure, scheme, height=400 + 22 * (len(nearest) + 1))
    return figure.update_layout(legend={"orientation": "h", "yanchor": "bottom", "y": 1.02, "traceorder": "reversed"})


def profile_map(
    published: Sequence[PublishedProfile],
    measured: Mapping[Variant, Float64],
    chosen: Variant,
    plane: Plane,
    looks: Mapping[Variant, Style],
    scheme: Scheme,
) -> go.Figure:
    """Published profiles in the plane in which they differ most, hollow, in a color per group; measured ones filled.

    The map spans the published profiles and a quarter of their range on each side. Measured ones outside are left out.

    Args:
        measured: profiles ``[6] float64``.
        chosen: the only one with its name beside it; several names would hide each other.
    """
    figure = go.Figure()
    groups = list(dict.fromkeys(profile.group for profile in published))
    styled = styles([Variant(group, "none") for group in groups], scheme)
    for group in groups:
        members = [profile for profile in published if profile.group == group]
        points = plane.project(matrix(members))
        style = styled[Variant(group, "none")]
        figure.add_scatter(
            name=group,
            x=points[:, 0].tolist(),
            y=points[:, 1].tolist(),
            text=[profile.model for profile in members],
            mode="markers",
            marker={"symbol": f"{style.symbol}-open", "size": 9, "color": style.color, "line": {"width": 2}},
            hovertemplate="%{text}<extra>%{fullData.name}, published</extra>",
        )
    shown = {variant: means for variant, means in measured.items() if is_on_map(means, published, plane)}
    for variant, means in sorted(shown.items(), key=lambda item: item[0] == chosen):  # that one on top
        x, y = plane.project(means).tolist()
        figure.add_scatter(
            name=variant.label,
            x=[x],
            y=[y],
            text=[variant.label],
            textposition="top center",
            mode="markers+text" if variant == chosen else "markers",
            marker={
                "symbol": looks[variant].symbol,
                "size": 16 if variant == chosen else 11,
                "color": looks[variant].color,
                "line": {"color": ink(scheme), "width": 1.5},
            },
            showlegend=False,
            hovertemplate="%{text}<extra>measured</extra>",
        )
    apply_layout(figure, scheme, height=560)
    low, high = _ends(published, plane)
    for axis, name, update in ((0, "across", figure.update_xaxes), (1, "up", figure.update_yaxes)):
        update(title=_axis_title(name, plane, axis), range=[float(low[axis]), float(high[axis])])
    return figure.update_layout(legend={"title": {"text": "published, by training: "}})


def _axis_title(name: str, plane: Plane, axis: int) -> str:
    """The axis's share of the variance, and the subsets that are more (or less) similar at its high end."""
    loadings = dict(zip(SUBSETS, plane.directions[:, axis].tolist(), strict=True))
    more = [label(s) for s, loading in loadings.items() if loading >= STRONG]
    less = [label(s) for s, loading in loadings.items() if loading <= -STRONG]
    parts = [f"{', '.join(names)} {how}" for names, how in ((more, "more similar"), (less, "less similar")) if names]
    title = f"{name}, {percent(plane.shares[axis])} of the variance"
    return "<br>".join([title, *textwrap.wrap("; ".join(parts), TITLE_WIDTH)])


def is_on_map(means: Float64, published: Sequence[PublishedProfile], plane: Plane) -> bool:
    """Whether a measured profile ``[6]`` is within the map."""
    point = plane.project(means)
    low, high = _ends(published, plane)
    return bool(((low <= point) & (point <= high)).all())


def _ends(published: Sequence[PublishedProfile], plane: Plane) -> tuple[Float64, Float64]:
    """The map's lower and upper ends, ``[2]`` each."""
    points = plane.project(matrix(published))
    low, high = points.min(axis=0), points.max(axis=0)
    room = 0.25 * (high - low)
    return low - room, high + room
