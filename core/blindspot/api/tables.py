"""Tables of results in notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from blindspot.numerics.statistics.written import score_written


def as_html_table(title: str, rows: Sequence[Sequence[object]], columns: Sequence[str] = ()) -> str:
    """A table for notebooks; texts are text, numbers are written as scores, None is a dash."""
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "".join("<tr>" + "".join(f"<td>{_cell(value)}</td>" for value in row) + "</tr>" for row in rows)
    heading = f"<thead><tr>{head}</tr></thead>" if columns else ""
    return f"<table><caption>{escape(title)}</caption>{heading}<tbody>{body}</tbody></table>"


def _cell(value: object) -> str:
    if value is None:
        return "–"
    return score_written(value) if isinstance(value, float) else escape(str(value))
