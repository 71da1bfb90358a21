"""The items around a mate as an HTML table: texts wrap, and words that the query does not have stand out.

Every text is escaped: users' texts are shown as text, never as HTML.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from core.figures.theme import Scheme, faint, ink
from core.texts import near_duplicate_key


@dataclass(frozen=True)
class TableRow:
    """One item: its rank, a mark that says where it stands, a note, whether it is the mate, and why it may be there."""

    rank: int
    mark: str
    similarity: float
    text: str
    note: str
    is_mate: bool
    why: str = ""


def ranking_table(query: str, rows: Sequence[TableRow], scheme: Scheme, label: str) -> str:
    """HTML of the table; ``label`` names it for screen readers."""
    known = {near_duplicate_key(word) for word in query.split()}
    quiet = faint(scheme)
    line = "#D5DBE3" if scheme is Scheme.LIGHT else "#364150"
    tint = "#E8F1F8" if scheme is Scheme.LIGHT else "#1B3347"
    cell = f"padding:5px 8px;border-bottom:1px solid {line};vertical-align:top;text-align:"
    body = []
    for row in rows:
        style = f' style="background:{tint}"' if row.is_mate else ""
        note = f' <span style="color:{quiet}">({escape(row.note)})</span>' if row.note else ""
        why = f'<div style="color:{quiet};font-size:0.8rem">{escape(row.why)}</div>' if row.why else ""
        body.append(
            f"<tr{style}>"
            f'<td style="{cell}right;white-space:nowrap">{row.rank:,} {escape(row.mark)}</td>'
            f'<td style="{cell}right">{row.similarity:.4f}</td>'
            f'<td style="{cell}left;overflow-wrap:anywhere">{_marked(row.text, known)}{note}{why}</td>'
            "</tr>"
        )
    head = "".join(
        f'<th scope="col" style="{cell}{align};color:{quiet};font-weight:400">{name}</th>'
        for name, align in (("rank", "right"), ("similarity", "right"), ("text", "left"))
    )
    return (
        f'<table aria-label="{escape(label)}" style="width:100%;border-collapse:collapse;font-size:0.88rem;'
        f'color:{ink(scheme)}"><thead><tr>{head}</tr></thead><tbody>{"".join(body)}</tbody></table>'
    )


def _marked(text: str, known: set[str]) -> str:
    """``text`` escaped, its words that are not in ``known`` in bold type and underlined.

    Where most words are new there is nothing to point out: it is another text altogether.
    """
    words = text.split(" ")
    is_new = [bool(near_duplicate_key(word)) and near_duplicate_key(word) not in known for word in words]
    if 2 * sum(is_new) > len(words):
        return escape(text)
    return " ".join(
        f"<b><u>{escape(word)}</u></b>" if new else escape(word) for word, new in zip(words, is_new, strict=True)
    )


# Names and values below each other as an HTML table: values wrap, and are escaped.


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


# Neighbours at chosen ranks, a column per encoder, as an HTML table: texts wrap, and are escaped.

COLUMN_WIDTH = 150  # pixels at least; a narrow screen scrolls sideways


def ranks_table(columns: Mapping[str, Sequence[str]], ranks: Sequence[int], scheme: Scheme, label: str) -> str:
    """HTML of the table; ``label`` names it for screen readers.

    Args:
        columns: per encoder a text for each of ``ranks``.
    """
    quiet = faint(scheme)
    line = "#D5DBE3" if scheme is Scheme.LIGHT else "#364150"
    cell = f"padding:6px 10px 6px 0;border-bottom:1px solid {line};vertical-align:top;text-align:left;"
    head = "".join(
        f'<th scope="col" style="{cell}color:{quiet};font-weight:400">{escape(name)}</th>'
        for name in ("rank", *columns)
    )
    body = "".join(
        f'<tr><th scope="row" style="{cell}font-weight:400">{rank}</th>'
        + "".join(f'<td style="{cell}overflow-wrap:anywhere">{escape(texts[i])}</td>' for texts in columns.values())
        + "</tr>"
        for i, rank in enumerate(ranks)
    )
    width = 60 + COLUMN_WIDTH * len(columns)
    return (
        f'<div style="overflow-x:auto"><table aria-label="{escape(label)}" style="width:100%;min-width:{width}px;'
        f'table-layout:fixed;border-collapse:collapse;font-size:0.88rem;color:{ink(scheme)}"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )
