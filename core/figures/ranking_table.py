"""The items around a mate as an HTML table: texts wrap, and words that the query does not have stand out.

Every text is escaped: users' texts are shown as text, never as HTML.
"""

from __future__ import annotations

from collections.abc import Sequence
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
