"""Figures of the study of languages: a sorted dot plot of all languages, and what is nearest in a pool."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import plotly.graph_objects as go

from blindspot.datasets.published.tatoeba import BOTH
from blindspot.datasets.published.tatoeba.languages import name_of
from blindspot.figures.dots import MOST_LABELED, label_ends
from blindspot.figures.theme import Scheme, apply_layout, faint, ink, looks
from blindspot.numerics.statistics.written import SCORE, ci, number, percent, with_ci
from blindspot.studies.languages.pooled import Bias, Nearest
from blindspot.studies.languages.scores import DIRECTIONS, FROM, Group, Score
from blindspot.texts import counted

ROW = 17  # pixels of a language
LABELED_ROW = 32  # of one whose marks have their numbers beside them
MEASURES = {"accuracy": "Accuracy (Hits@1)", "mrr": "MRR"}
# As narrow as a phone's figure: into, from.
SHORT = {way: name.partition(" ")[0] for way, name in DIRECTIONS.items()}
SPECS = {"accuracy": ".1%", "mrr": SCORE}
_PATTERNS = {Nearest.TRANSLATION: "", Nearest.OWN: "/", Nearest.ENGLISH: ".", Nearest.OTHER: "x"}
_SAID = {
    Nearest.TRANSLATION: "translation",
    Nearest.OWN: "own language, other meaning",
    Nearest.ENGLISH: "English, other meaning",
    Nearest.OTHER: "third language, other meaning",
}


def language_dots(groups: Sequence[Group], scores: Sequence[Score], measure: str, scheme: Scheme) -> go.Figure:
    """Scores with their 95% intervals, a row per language in the order of the groups, both directions in a row.

    Args:
        groups: a group with the name "" gets no heading. A few languages have their numbers beside the marks.
        measure: key of ``MEASURES``.
    """
    rows: list[tuple[str, str]] = []  # what is in each row, and its label
    for group in groups:
        if group.name:
            rows.append(("", f"<b>{escape(group.name)}</b>"))
        rows += [(language.code, escape(language.name)) for language in group.languages]
    row_of = {code: i for i, (code, _) in enumerate(rows) if code}
    figure, spec = go.Figure(), SPECS[measure]
    labels: list[tuple[float, float, str]] = []
    styles = dict(zip(BOTH, looks(len(BOTH), scheme), strict=True))
    for way, style in styles.items():
        of_direction = [score for score in scores if score.direction == way and score.language.code in row_of]
        estimates = [score.of(measure) for score in of_direction]
        shift = -0.2 if way == FROM else 0.2
        places = [row_of[score.language.code] + shift for score in of_direction]
        written = [number(estimate.value, spec) for estimate in estimates]
        ends = [estimate.interval.high if estimate.interval else estimate.value for estimate in estimates]
        labels += zip(ends, places, written, strict=True)
        figure.add_scatter(
            x=[estimate.value for estimate in estimates],
            y=places,
            error_x={
                "type": "data",
                "symmetric": False,
                "array": [
                    estimate.interval.high - estimate.value if estimate.interval else 0.0 for estimate in estimates
                ],
                "arrayminus": [
                    estimate.value - estimate.interval.low if estimate.interval else 0.0 for estimate in estimates
                ],
                "thickness": 1.2,
                "width": 2,
                "color": style.color,
            },
            mode="markers",
            name=DIRECTIONS[way],
            marker={"color": style.color, "symbol": style.symbol, "size": 8},
            cliponaxis=False,  # half of a mark at 0
            text=written,
            customdata=[_about(score) for score in of_direction],
            hovertemplate="%{customdata[0]}: %{text} %{customdata[1]}<br>%{customdata[2]}"
            "<extra>%{fullData.name}</extra>",
        )
    headings = [(i, group) for i, group in zip(_heading_rows(rows), groups, strict=False) if group.name]
    for i, group in headings:
        figure.add_annotation(
            x=0.0,
            xref="paper",
            y=i,
            text=f"mean {', '.join(f'{number(value, spec)} {SHORT[way]}' for way, value in group.means.items())}",
            showarrow=False,
            xanchor="left",
            font={"color": faint(scheme), "size": 11},
        )
    is_labeled = len(labels) <= MOST_LABELED
    height = 90 + (LABELED_ROW if is_labeled else ROW) * len(rows)
    figure.update_yaxes(
        tickvals=list(range(len(rows))),
        ticktext=[label for _, label in rows],
        range=[len(rows) - 0.4, -0.6],
        showgrid=False,
    )
    figure.update_xaxes(title=MEASURES[measure], side="top", rangemode="tozero")
    if spec.endswith("%"):
        figure.update_xaxes(tickformat=".0%")
    apply_layout(figure, scheme, height=height)
    if is_labeled:
        label_ends(figure, labels)
    figure.update_layout(legend_y=1 + 48 / max(height - 90, 1), margin_t=84)
    return figure


def _heading_rows(rows: Sequence[tuple[str, str]]) -> list[int]:
    return [i for i, (code, _) in enumerate(rows) if not code]


def _about(score: Score) -> list[str]:
    language = score.language
    pairs = f"{score.pairs:,} pairs" if score.covered == score.pairs else f"{score.covered:,} of {score.pairs:,} pairs"
    return [
        f"{language.name} ({language.code})",
        f"accuracy {with_ci(score.accuracy, SPECS['accuracy'])}",
        f"{language.kin} · {language.script} · {pairs}",
    ]


def nearest_bars(biases: Sequence[Bias], scheme: Scheme) -> go.Figure:
    """What the nearest sentence of a pool is, a bar per language of the queries; colors with patterns."""
    styles = dict(zip(Nearest, looks(len(Nearest), scheme), strict=True))
    shown = sorted(biases, key=lambda bias: bias.shares[Nearest.OWN])
    names = [escape(name_of(bias.language)) for bias in shown]
    figure = go.Figure()
    for kind, style in styles.items():
        figure.add_bar(
            x=[bias.shares[kind] for bias in shown],
            y=names,
            orientation="h",
            name=_SAID[kind],
            marker={
                "color": style.color,
                "pattern": {
                    "shape": _PATTERNS[kind],
                    "fillmode": "overlay",
                    "fgcolor": ink(scheme),
                    "fgopacity": 0.5,
                    "size": 6,
                    "solidity": 0.2,
                },
            },
            customdata=[
                f"{percent(bias.shares[kind], 1)} of {counted(bias.queries, 'query', 'queries')}<br>own language"
                f"{ci(bias.own_share(), '.1%')}"
                for bias in shown
            ],
            hovertemplate="%{y}: %{customdata}<extra>%{fullData.name}</extra>",
        )
    figure.update_xaxes(title="share of the queries", tickformat=".0%", range=[0, 1])
    figure.update_yaxes(type="category")
    figure.update_layout(barmode="stack", bargap=0.25, legend_traceorder="normal")
    apply_layout(figure, scheme, height=120 + 24 * len(shown))
    return figure.update_layout(margin_r=28)  # of half a label: 100%
