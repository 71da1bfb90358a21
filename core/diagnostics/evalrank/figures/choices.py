"""What each choice of counting does to a score, as an HTML table: sentences wrap, and are escaped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from core.figures.theme import Scheme, faint, ink

NAMES = ("choice", "MRR", "Δ", "Hits@1", "Δ", "pairs")


@dataclass(frozen=True)
class ChoiceRow:
    """A choice and the score by it; differences are from the row that ``is_shown``, None in that row."""

    about: str
    way: str
    meaning: str
    mrr: float
    mrr_difference: float | None
    hits_at_1: float
    hits_difference: float | None
    pairs: int
    is_shown: bool = False


def choices_table(rows: Sequence[ChoiceRow], scheme: Scheme, label: str) -> str:
    """HTML of the table; ``label`` names it for screen readers. Narrow screens scroll it sideways."""
    quiet = faint(scheme)
    line = "#D5DBE3" if scheme is Scheme.LIGHT else "#364150"
    tint = "#E8F1F8" if scheme is Scheme.LIGHT else "#1B3347"
    cell = f"padding:6px 8px;border-bottom:1px solid {line};vertical-align:top;text-align:"
    number = f"{cell}right;white-space:nowrap;font-variant-numeric:tabular-nums"
    body = []
    for row in rows:
        style = f' style="background:{tint}"' if row.is_shown else ""
        values = (
            f"{row.mrr:.4f}",
            difference(row.mrr_difference),
            f"{row.hits_at_1:.4f}",
            difference(row.hits_difference),
            f"{row.pairs:,}",
        )
        body.append(
            f'<tr{style}><td style="{cell}left"><b>{escape(row.about)}</b>: {escape(row.way)}<br>'
            f'<span style="color:{quiet}">{escape(row.meaning)}</span></td>'
            + "".join(f'<td style="{number}">{value}</td>' for value in values)
            + "</tr>"
        )
    head = "".join(
        f'<th scope="col" style="{cell}{"left" if i == 0 else "right"};color:{quiet};font-weight:400">{name}</th>'
        for i, name in enumerate(NAMES)
    )
    return (
        f'<div style="overflow-x:auto"><table aria-label="{escape(label)}" style="width:100%;min-width:560px;'
        f'border-collapse:collapse;font-size:0.88rem;color:{ink(scheme)}"><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table></div>"
    )


def difference(value: float | None) -> str:
    """With its sign, unless it rounds to nothing; "" where there is none."""
    if value is None:
        return ""
    return f"{value:+.4f}" if round(value, 4) else "0.0000"
