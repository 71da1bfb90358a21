"""The figure of human judgment: shares of votes for each variant, with intervals and the share by guessing."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

import pandas as pd
import plotly.graph_objects as go

from blindspot.diagnostics.heros.figures.profile import LEGEND_HEIGHT
from blindspot.figures.dots import MOST_LABELED, label_ends
from blindspot.figures.labels import wrapped
from blindspot.figures.theme import Scheme, Style, apply_layout, ink
from blindspot.numerics.statistics.intervals import Interval
from blindspot.numerics.statistics.written import ci, each_written, percent
from blindspot.studies.judgments.types import Task
from blindspot.texts import counted
from blindspot.variants import Variant

AXIS = {
    Task.INTRUDER: "precision: share of votes that found the intruder",
    Task.COMPARATIVE: "win ratio: share of votes for its neighbor",
}
ROW, SLOT = 46, 20  # pixels of a row, and of each further variant in it
AUTOMATIC = "automatic rater"
_BELOW = 0.25  # of a slot: offset of the automatic rater's mark


def own_votes(
    rows: pd.DataFrame, styles: Mapping[Variant, Style], scheme: Scheme, task: Task, *, legend: bool
) -> go.Figure:
    """Shares of votes with intervals, a row per ``row`` with its variants below each other.

    Args:
        rows: columns ``row`` (text), ``variant``, ``votes``, and the shares ``value, low, high, chance, automatic``,
            None if missing. Guessing is a dotted line per row, the automatic rater hollow. A few marks have their
            numbers beside them.
        legend: whether there is a legend of variants; without a legend, rows are named after the variants.
    """
    figure = go.Figure()
    names = list(dict.fromkeys(rows["row"]))
    variants = list(dict.fromkeys(rows["variant"]))
    slots = len(variants) if legend else 1
    labels: list[tuple[float, float, str]] = []
    for number, variant in enumerate(variants):
        of_variant = rows[rows["variant"] == variant]
        slot = number if legend else 0
        offset = (slot - (slots - 1) / 2) * 0.7 / slots
        of_people = of_variant[of_variant["value"].notna()]
        _people(figure, of_people, names, offset, styles[variant], variant, legend)
        for name, value, high in zip(of_people["row"], of_people["value"], of_people["high"], strict=True):
            labels.append((value if pd.isna(high) else high, names.index(name) + offset, percent(value, 1)))
        _automatic(
            figure,
            of_variant[of_variant["automatic"].notna()],
            names,
            offset + _BELOW / slots,
            styles[variant],
            variant,
        )
    if rows["automatic"].notna().any():
        figure.add_scatter(
            x=[None],
            y=[None],
            mode="markers",
            name=AUTOMATIC,
            marker={"color": ink(scheme), "symbol": "circle-open", "size": 9, "line": {"width": 2}},
        )
    _guessing(figure, rows, names, scheme)
    figure.update_yaxes(
        tickvals=list(range(len(names))),
        ticktext=[wrapped(name, 18) for name in names],
        range=[len(names) - 0.5, -0.5],
        showgrid=False,
    )
    figure.update_xaxes(title=AXIS[task], tickformat=".0%", range=[-0.02, 1.02])
    figure.update_layout(showlegend=True)
    entries = (len(variants) if legend else 0) + 2
    apply_layout(figure, scheme, height=80 + (ROW + SLOT * (slots - 1)) * len(names) + LEGEND_HEIGHT * entries)
    if len(labels) <= MOST_LABELED:
        label_ends(figure, labels)
    return figure


def _people(
    figure: go.Figure, rows: pd.DataFrame, names: list[str], offset: float, style: Style, variant: Variant, legend: bool
) -> None:
    """A variant's points, with intervals if there are any."""
    low, high = rows["low"].fillna(rows["value"]), rows["high"].fillna(rows["value"])
    figure.add_scatter(
        x=rows["value"].tolist(),
        y=[names.index(name) + offset for name in rows["row"]],
        error_x={
            "type": "data",
            "symmetric": False,
            "array": (high - rows["value"]).tolist(),
            "arrayminus": (rows["value"] - low).tolist(),
            "thickness": 1.5,
            "width": 3,
            "color": style.color,
        },
        mode="markers",
        name=escape(variant.label, quote=False),
        showlegend=legend,
        marker={"color": style.color, "symbol": style.symbol, "size": 11},
        customdata=[
            f"{escape(name, quote=False)}: {percent(value, 1)}{'' if pd.isna(a) else ci(Interval(a, b), '.1%')}, "
            f"{counted(votes, 'vote')}"
            for name, value, votes, a, b in zip(
                *(rows[column] for column in ("row", "value", "votes", "low", "high")), strict=True
            )
        ],
        hovertemplate="%{customdata}<extra>%{fullData.name}</extra>",
    )


def _automatic(
    figure: go.Figure, rows: pd.DataFrame, names: list[str], offset: float, style: Style, variant: Variant
) -> None:
    if rows.empty:
        return
    figure.add_scatter(
        x=rows["automatic"].tolist(),
        y=[names.index(name) + offset for name in rows["row"]],
        mode="markers",
        name=f"{AUTOMATIC}: {escape(variant.label, quote=False)}",
        showlegend=False,
        marker={"color": style.color, "symbol": f"{style.symbol}-open", "size": 9, "line": {"width": 2}},
        text=each_written(rows["automatic"], ".1%"),
        hovertemplate="%{text}<extra>%{fullData.name}</extra>",
    )


def _guessing(figure: go.Figure, rows: pd.DataFrame, names: list[str], scheme: Scheme) -> None:
    chance = rows.groupby("row", sort=False)["chance"].mean()
    x: list[float | None] = []
    y: list[float | None] = []
    for number, name in enumerate(names):
        if pd.notna(chance[name]):
            x += [chance[name], chance[name], None]
            y += [number - 0.5, number + 0.5, None]
    figure.add_scatter(
        x=x,
        y=y,
        mode="lines",
        name="guessing",
        line={"color": ink(scheme), "width": 1.5, "dash": "dot"},
        text=["" if at is None else percent(at, 1) for at in x],
        hovertemplate="guessing: %{text}<extra></extra>",
    )
