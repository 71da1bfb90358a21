"""Table of what each choice of counting does to a score."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from blindspot.diagnostics.evalrank.trust import Choice
from blindspot.figures.html_tables import Column, Html, html_table, quiet
from blindspot.figures.theme import Scheme
from blindspot.numerics.statistics.written import CHANGE, SCORE, number


def choices_table(choices: Sequence[Choice], scheme: Scheme, label: str) -> str:
    """HTML of the table, with differences from the choice that ``is_shown``; ``label`` is for screen readers."""
    base = next(choice.score for choice in choices if choice.is_shown)
    cells = [
        (
            Html(f"<b>{escape(choice.about)}</b>: {escape(choice.way)}<br>{quiet(choice.meaning, scheme)}"),
            f"{number(choice.score.mrr, SCORE)}",
            "" if choice.is_shown else difference(choice.score.mrr - base.mrr),
            f"{number(choice.score.hits_at_1, SCORE)}",
            "" if choice.is_shown else difference(choice.score.hits_at_1 - base.hits_at_1),
            f"{choice.score.pairs:,}",
        )
        for choice in choices
    ]
    columns = (Column("choice", style=""), *map(Column.numbers, ("MRR", "Δ", "Hits@1", "Δ", "pairs")))
    shown = [i for i, choice in enumerate(choices) if choice.is_shown]
    return html_table(columns, cells, scheme, label, tinted=shown, min_width=560)


def difference(value: float) -> str:
    """A difference with its sign, unless it rounds to nothing."""
    return number(value, CHANGE)
