"""Training curve of a flow."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from blindspot.figures.theme import Scheme, apply_layout, ink
from blindspot.numerics.statistics.written import each_written

HEIGHT = 280


def likelihood(
    steps: Sequence[float], train: Sequence[float], held_out: Sequence[float], kept: float, scheme: Scheme
) -> go.Figure:
    """Log-likelihood per dimension by training steps, of training and held-out texts; ``kept`` is the chosen step."""
    figure = go.Figure()
    for name, values, dash, symbol in (
        ("training texts", train, "dot", "circle"),
        ("held-out tenth", held_out, "solid", "square"),
    ):
        figure.add_scatter(
            x=list(steps),
            y=list(values),
            name=name,
            mode="lines+markers",
            line={"color": ink(scheme), "dash": dash, "width": 2},
            marker={"symbol": symbol, "size": 5},
            text=each_written(values),
            hovertemplate=f"after %{{x:,}} steps: %{{text}}<extra>{name}</extra>",
        )
    figure.add_vline(x=kept, line={"color": ink(scheme), "width": 1, "dash": "dash"})
    figure.add_annotation(
        x=kept, yref="paper", y=0.0, text="kept", showarrow=False, xanchor="left", yanchor="bottom", xshift=4
    )
    figure.update_xaxes(title="training steps")
    figure.update_yaxes(title="log-likelihood per dimension, nats")
    return apply_layout(figure, scheme, height=HEIGHT)
