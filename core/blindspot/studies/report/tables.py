"""Tables of a report, as Markdown, LaTeX and HTML; every text in them is escaped."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "–": "--",
    "−": "$-$",
    "·": r"\textperiodcentered{}",
    "≤": r"$\leq$",
    **{sign: f"\\{sign}" for sign in "&%$#_"},
}
_MARKDOWN = re.compile(r"([\\`*_\[\]<>|$~#])")


@dataclass(frozen=True)
class Table:
    """A table of texts; ``words`` are the leading columns that hold words, the others hold numbers.

    ``caption`` says what is shown and under which protocol.
    """

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str
    words: int = 1


def to_markdown(table: Table) -> str:
    """A pipe table with its caption below."""
    aligned = [":--" if column < table.words else "--:" for column in range(len(table.columns))]
    lines = [map(_cell, table.columns), aligned, *(map(_cell, row) for row in table.rows)]
    body = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"{body}\n\n{_cell(table.caption)}\n"


def _cell(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", " ".join(text.split()))


def to_latex(table: Table) -> str:
    """A ``table`` with the rules of booktabs, which its document loads."""
    columns = "".join("l" if column < table.words else "r" for column in range(len(table.columns)))
    lines = [
        r"\begin{table}",
        r"\centering",
        f"\\caption{{{latex_text(table.caption)}}}",
        f"\\label{{tab:{re.sub(r'[^a-z0-9]+', '-', table.name.lower()).strip('-')}}}",
        f"\\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        _line(table.columns),
        r"\midrule",
        *map(_line, table.rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _line(cells: Sequence[str]) -> str:
    return " & ".join(map(latex_text, cells)) + r" \\"


def latex_text(text: str) -> str:
    """A text that LaTeX prints as it is."""
    return "".join(_LATEX.get(c, c) for c in " ".join(text.split()))


def to_html(table: Table) -> str:
    def row(cells: Sequence[str], tag: str) -> str:
        made = (
            f"<{tag}{'' if column < table.words else ' class=number'}>{escape(cell)}</{tag}>"
            for column, cell in enumerate(cells)
        )
        return f"<tr>{''.join(made)}</tr>"

    body = "".join(row(cells, "td") for cells in table.rows)
    return (
        f'<div class="scroll"><table><caption>{escape(table.caption)}</caption>'
        f"<thead>{row(table.columns, 'th')}</thead><tbody>{body}</tbody></table></div>"
    )
