"""HTML tables: texts wrap, and every text is escaped, so that users' texts are never read as HTML."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal

from blindspot.figures.theme import Scheme, faint, ink
from blindspot.numerics.statistics.written import SCORE, number
from blindspot.texts import Change, Segment, near_duplicate_key

LINE = {Scheme.LIGHT: "#D5DBE3", Scheme.DARK: "#364150"}
_TINT = {Scheme.LIGHT: "#E8F1F8", Scheme.DARK: "#1B3347"}
_MARK = {Scheme.LIGHT: "#FFE9A8", Scheme.DARK: "#5A4711"}
_CHANGE = {  # told apart by more than color: bold and underlined, or struck through
    Scheme.LIGHT: {Change.ADDED: "#0B5A8A", Change.REMOVED: "#8A4B00"},
    Scheme.DARK: {Change.ADDED: "#8CCBF5", Change.REMOVED: "#F0B46A"},
}
_LINK = {Scheme.LIGHT: "#0072B2", Scheme.DARK: "#56B4E9"}
_WRAPS = "overflow-wrap:anywhere"


class Html(str):
    """HTML that is shown as it is; a plain ``str`` is escaped."""

    __slots__ = ()


@dataclass(frozen=True)
class Column:
    """A column of an HTML table; ``style`` is further CSS of its cells, ``names_rows`` makes them row headers."""

    name: str
    align: Literal["left", "right"] = "left"
    style: str = _WRAPS
    names_rows: bool = False

    @classmethod
    def numbers(cls, name: str) -> Column:
        return cls(name, "right", "white-space:nowrap;font-variant-numeric:tabular-nums")


def html_table(
    columns: Sequence[Column],
    rows: Sequence[Sequence[str]],
    scheme: Scheme,
    label: str,
    *,
    tinted: Collection[int] = (),
    has_head: bool = True,
    min_width: int = 0,
    has_equal_columns: bool = False,
) -> str:
    """A table of texts and ``Html``, as HTML.

    Args:
        label: names the table for screen readers.
        tinted: numbers of the highlighted rows.
        min_width: in pixels; narrower screens scroll sideways.
    """
    cell = f"padding:5px 8px;border-bottom:1px solid {LINE[scheme]};vertical-align:top"
    head_style = f"color:{faint(scheme)};font-weight:400"
    head = "".join(
        f'<th scope="col" style="{cell};text-align:{column.align};{head_style}">{_html(column.name)}</th>'
        for column in columns
    )
    body = []
    for row_number, row in enumerate(rows):
        cells = "".join(
            f'<th scope="row" style="{cell};text-align:{column.align};{head_style};{column.style}">{_html(value)}</th>'
            if column.names_rows
            else f'<td style="{cell};text-align:{column.align};{column.style}">{_html(value)}</td>'
            for column, value in zip(columns, row, strict=True)
        )
        tint = f' style="background:{_TINT[scheme]}"' if row_number in tinted else ""
        body.append(f"<tr{tint}>{cells}</tr>")
    layout = "table-layout:fixed;" if has_equal_columns else ""
    return (
        f'<div style="overflow-x:auto"><table aria-label="{escape(label)}" style="width:100%;min-width:{min_width}px;'
        f'{layout}border-collapse:collapse;font-size:0.88rem;color:{ink(scheme)}">'
        f"{f'<thead><tr>{head}</tr></thead>' if has_head else ''}<tbody>{''.join(body)}</tbody></table></div>"
    )


def _html(text: str) -> str:
    return text if isinstance(text, Html) else escape(text)


def quiet(text: str, scheme: Scheme, style: str = "") -> Html:
    """``text`` in the theme's faint color."""
    return Html(f'<span style="color:{faint(scheme)};{style}">{_html(text)}</span>')


@dataclass(frozen=True)
class TableRow:
    """A text ranked near a match: its rank, a symbol, a note, whether it is the match, and why it may be there."""

    rank: int
    mark: str
    similarity: float
    text: str
    note: str
    is_match: bool
    why: str = ""


def ranking_table(query: str, rows: Sequence[TableRow], scheme: Scheme, label: str) -> str:
    """The texts ranked around a match; words that the query lacks are highlighted."""
    keys = {near_duplicate_key(word) for word in query.split()}
    cells = []
    for row in rows:
        note = f" {quiet(f'({row.note})', scheme)}" if row.note else ""
        why = quiet(row.why, scheme, "display:block;font-size:0.8rem") if row.why else ""
        text = Html(f"{_marked(row.text, keys)}{note}{why}")
        cells.append((f"{row.rank:,} {row.mark}", number(row.similarity, SCORE), text))
    columns = (Column.numbers("rank"), Column.numbers("similarity"), Column("text"))
    return html_table(columns, cells, scheme, label, tinted=[i for i, row in enumerate(rows) if row.is_match])


def _marked(text: str, keys: set[str]) -> str:
    """``text`` escaped, with the words that are not in ``keys`` in bold type and underlined.

    If most words are new, none is marked: it is another text altogether.
    """
    words = text.split(" ")
    if is_long(text):
        return folded(text)
    is_new = [bool(near_duplicate_key(word)) and near_duplicate_key(word) not in keys for word in words]
    if 2 * sum(is_new) > len(words):
        return escape(text)
    return " ".join(
        f"<b><u>{escape(word)}</u></b>" if new else escape(word) for word, new in zip(words, is_new, strict=True)
    )


def highlighted(text: str, parts: Iterable[tuple[int, int]], scheme: Scheme | None) -> Html:
    """``text`` escaped, with its ``parts`` (start, end) on another background and underlined: not by color alone.

    Args:
        scheme: None where a style sheet says how ``mark`` looks.
    """
    style = f' style="background:{_MARK[scheme]};color:inherit;text-decoration:underline"' if scheme else ""
    out, position = [], 0
    for start, end in sorted(parts):
        first, last = max(start, position), min(end, len(text))
        if first < last:
            out += [escape(text[position:first]), f"<mark{style}>{escape(text[first:last])}</mark>"]
            position = last
    return Html("".join([*out, escape(text[position:])]))


def marked(segments: Sequence[Segment], scheme: Scheme) -> Html:
    """A text with its changed words marked."""
    return Html("".join(_with_change(segment, scheme) for segment in segments))


def _with_change(segment: Segment, scheme: Scheme) -> str:
    """A segment, escaped; an added word in bold and underlined, a removed one struck through, but not its spaces."""
    word = segment.text.strip()
    if segment.change is Change.KEPT or not word:
        return escape(segment.text)
    before, after = segment.text.split(word, 1)
    color = _CHANGE[scheme][segment.change]
    if segment.change is Change.ADDED:
        style = f"color:{color};font-weight:700;text-decoration:underline"
        return f'{before}<ins style="{style}">{escape(word)}</ins>{after}'
    # A removed word does not run into its replacement.
    style = f"color:{color};text-decoration:line-through;margin-right:0.25em"
    return f'{before}<del style="{style}">{escape(word)}</del>{after}'


LONG = 60  # words from which on a text is folded
SHOWN = 40  # words of a folded text


def is_long(text: str) -> bool:
    """Whether a text is too long to be shown whole among others."""
    return len(text.split()) > LONG


def folded(text: str) -> Html:
    """A text as HTML; a long one has its first words, and the others behind "more"."""
    if not is_long(text):
        return Html(escape(text))
    words = text.split()
    return Html(
        f'{escape(" ".join(words[:SHOWN]))} … <details style="display:inline"><summary style="display:inline;'
        f'cursor:pointer;text-decoration:underline">more ({len(words) - SHOWN:,} words)</summary> '
        f"{escape(' '.join(words[SHOWN:]))}</details>"
    )


def passage_marked(title: str, text: str, start: int, end: int) -> Html:
    """A document as HTML with one passage of its text quoted, and the rest of the text behind "around it"."""
    head = f"<b>{escape(title)}</b><br>" if title else ""
    before, after = ("… " if start else "", " …" if end < len(text) else "")
    around = f"{escape(text[:start])}<b>[…]</b>{escape(text[end:])}"
    return Html(
        f'{head}“{before}<mark style="background:none;color:inherit">{folded(text[start:end])}</mark>{after}” '
        '<details style="display:inline"><summary style="display:inline;cursor:pointer;'
        f'text-decoration:underline">around it</summary> {around}</details>'
    )


def facts_table(facts: Mapping[str, str], scheme: Scheme, label: str) -> str:
    """Names and values below each other. A value that starts with https:// becomes a link."""
    columns = (Column("", style="width:8.5rem", names_rows=True), Column("", style=f"{_WRAPS};white-space:pre-wrap"))
    rows = [(name, _linked(value, scheme)) for name, value in facts.items()]
    return html_table(columns, rows, scheme, label, has_head=False)


def _linked(value: str, scheme: Scheme) -> str:
    if not value.startswith("https://"):
        return value
    shown = escape(value)
    return Html(f'<a href="{shown}" target="_blank" rel="noopener" style="color:{_LINK[scheme]}">{shown}</a>')


def ranks_table(columns: Mapping[str, Sequence[str]], ranks: Sequence[int], scheme: Scheme, label: str) -> str:
    """Neighbors at chosen ranks: a column for each encoder, with a text for each of ``ranks``."""
    rows = [(str(rank), *(folded(texts[i]) for texts in columns.values())) for i, rank in enumerate(ranks)]
    heads = (Column("rank", names_rows=True), *map(Column, columns))
    return html_table(heads, rows, scheme, label, min_width=60 + 150 * len(columns), has_equal_columns=True)
