"""Figure of a repair: how every score changes, beside random maps and shuffled labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import plotly.graph_objects as go

from blindspot.figures.dots import MOST_LABELED, label_ends
from blindspot.figures.labels import wrapped
from blindspot.figures.theme import Scheme, apply_layout, faint, looks
from blindspot.numerics.statistics.written import number
from blindspot.studies.repair.results import Measure

ROW = 34  # pixels of a measure
NAME = 26  # letters of a line of its name, so that a phone has room for the marks


def changes(measures: Sequence[Measure], tolerated: float, scheme: Scheme) -> go.Figure:
    """Changes of scores against the model alone, with 95% intervals; the first measure is at the top."""
    figure = go.Figure()
    shown = list(reversed(measures))
    names = [wrapped(f"{measure.title} ({measure.items:,})", NAME) for measure in shown]
    repair, random, shuffled = looks(3, scheme)
    others: tuple[tuple[str, Callable[[Measure], float | None], str], ...] = (
        ("random maps", lambda measure: measure.random, random.color),
        ("shuffled labels", lambda measure: measure.shuffled, shuffled.color),
    )
    for name, value_of, color in others:
        points = [
            (label, measure, value)
            for label, measure in zip(names, shown, strict=True)
            if (value := value_of(measure)) is not None
        ]
        figure.add_scatter(
            x=[value - measure.before for _, measure, value in points],
            y=[label for label, *_ in points],
            mode="markers",
            name=name,
            marker={"color": color, "size": 9, "symbol": "circle-open" if name == "random maps" else "diamond-open"},
            text=[
                f"{number(value, measure.spec)} ({number(value - measure.before, f'+{measure.spec}')})"
                for _, measure, value in points
            ],
            hovertemplate=f"{name}: %{{text}}<extra></extra>",
        )
    figure.add_scatter(
        x=[measure.change.value for measure in shown],
        y=names,
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [
                0.0 if measure.change.high is None else measure.change.high - measure.change.value for measure in shown
            ],
            "arrayminus": [
                0.0 if measure.change.low is None else measure.change.value - measure.change.low for measure in shown
            ],
            "thickness": 1.5,
            "width": 4,
        },
        mode="markers",
        name="repair",
        marker={"color": repair.color, "size": 10},
        customdata=[[measure.cells[name] for name in ("before", "after", "change")] for measure in shown],
        hovertemplate="%{customdata[0]} before, %{customdata[1]} after: %{customdata[2]}<extra></extra>",
    )
    figure.add_vline(0, line={"color": faint(scheme), "width": 1})
    figure.add_vline(-tolerated, line={"color": faint(scheme), "width": 1, "dash": "dot"})
    figure.update_xaxes(title="change of the score", tickformat=".2f", nticks=5, tickangle=0)
    figure.update_yaxes(type="category", categoryorder="array", categoryarray=names)
    apply_layout(figure, scheme, height=120 + ROW * len(shown), variants=3)
    labels = [
        (change.value if change.high is None else change.high, name, number(change.value, f"+{measure.spec}"))
        for name, measure in zip(names, shown, strict=True)
        for change in [measure.change]
    ]
    if len(labels) <= MOST_LABELED:
        label_ends(figure, labels)
    return figure
