"""Figure of a repair: how every score changes, beside random maps and shuffled labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

import plotly.graph_objects as go

from blindspot.figures.theme import Scheme, apply_layout, faint, looks
from blindspot.studies.repair.results import Measure

ROW = 30  # pixels of a measure


def changes(measures: Sequence[Measure], tolerated: float, scheme: Scheme) -> go.Figure:
    """Changes of scores against the model alone, with 95% intervals; the first measure is at the top."""
    figure = go.Figure()
    shown = list(reversed(measures))
    names = [f"{escape(one.title)} ({one.items:,})" for one in shown]
    repair, random, shuffled = looks(3, scheme)
    others: tuple[tuple[str, Callable[[Measure], float | None], str], ...] = (
        ("random maps", lambda one: one.random, random.color),
        ("shuffled labels", lambda one: one.shuffled, shuffled.color),
    )
    for name, value_of, color in others:
        own = [
            (label, one, value) for label, one in zip(names, shown, strict=True) if (value := value_of(one)) is not None
        ]
        figure.add_scatter(
            x=[value - one.before for _, one, value in own],
            y=[label for label, *_ in own],
            mode="markers",
            name=name,
            marker={"color": color, "size": 9, "symbol": "circle-open" if name == "random maps" else "diamond-open"},
            customdata=[[value] for *_, value in own],
            hovertemplate=f"{name}: %{{customdata[0]:.3f}} (%{{x:+.3f}})<extra></extra>",
        )
    figure.add_scatter(
        x=[one.change.value for one in shown],
        y=names,
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [0.0 if one.change.high is None else one.change.high - one.change.value for one in shown],
            "arrayminus": [0.0 if one.change.low is None else one.change.value - one.change.low for one in shown],
            "thickness": 1.5,
            "width": 4,
        },
        mode="markers",
        name="repair",
        marker={"color": repair.color, "size": 10},
        customdata=[[one.before, one.after] for one in shown],
        hovertemplate="%{customdata[0]:.3f} before, %{customdata[1]:.3f} after (%{x:+.3f})<extra></extra>",
    )
    figure.add_vline(0, line={"color": faint(scheme), "width": 1})
    figure.add_vline(-tolerated, line={"color": faint(scheme), "width": 1, "dash": "dot"})
    figure.update_xaxes(title="change of the score", tickformat="+.2f")
    figure.update_yaxes(type="category", categoryorder="array", categoryarray=names)
    return apply_layout(figure, scheme, height=120 + ROW * len(shown), variants=3)
