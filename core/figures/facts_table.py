"""Names and values below each other as an HTML table: values wrap, and are escaped."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from core.figures.theme import Scheme, faint, ink


def facts_table(facts: Mapping[str, str], scheme: Scheme, label: str) -> str:
    """HTML of the table; ``label`` names it for screen readers. A value that starts with https:// becomes a link."""
    quiet = faint(scheme)
    line = "#D5DBE3" if scheme is Scheme.LIGHT else "#364150"
    cell = f"padding:5px 8px 5px 0;border-bottom:1px solid {line};vertical-align:top;text-align:left;"
    link = "#0072B2" if scheme is Scheme.LIGHT else "#56B4E9"
    rows = "".join(
        f'<tr><th scope="row" style="{cell}color:{quiet};font-weight:400;width:8.5rem">{escape(name)}</th>'
        f'<td style="{cell}overflow-wrap:anywhere;white-space:pre-wrap">{_value(value, link)}</td></tr>'
        for name, value in facts.items()
    )
    return (
        f'<table aria-label="{escape(label)}" style="width:100%;border-collapse:collapse;font-size:0.88rem;'
        f'color:{ink(scheme)}"><tbody>{rows}</tbody></table>'
    )


def _value(value: str, colour: str) -> str:
    shown = escape(value)
    if not value.startswith("https://"):
        return shown
    return f'<a href="{shown}" target="_blank" rel="noopener" style="color:{colour}">{shown}</a>'
