"""Formulas in a report: the little TeX of the diagnostics' methods as HTML, since the file has no library for it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from html import escape

_PART = re.compile(r"\\[A-Za-z]+|\\.|[A-Za-z]|\d+(?:\.\d+)?|\s+|.", re.DOTALL)
_SIGNS = {
    **{"alpha": "α", "lambda": "λ", "rho": "ρ", "tau": "τ", "sum": "∑", "propto": "∝", "mid": "|", "cap": "∩"},
    **{"lVert": "‖", "rVert": "‖", "cdot": "·", "le": "≤", "Big": "", ",": "\u2009", "#": "#", "{": "{", "}": "}"},
}
_FUNCTIONS = ("cos", "exp", "log", "max")
_APPLIED = re.compile(rf"({'|'.join(_FUNCTIONS)})(?=<i>|∑)")  # to something without parentheses
_SPACED = frozenset("=≤∝+-∩")  # with room on both sides
_RAISED = {"^": "sup", "_": "sub"}


def as_html(tex: str) -> str:
    """A formula as HTML; raises ``ValueError`` at a command that is not known here."""
    row = re.sub(" +", " ", _row(iter(_PART.findall(tex.strip())), "")).replace("( ", "(")
    applied = _APPLIED.sub(r"\1 ", row)
    return f'<span class="formula">{applied.strip()}</span>'


def _row(parts: Iterator[str], end: str) -> str:
    """Everything up to ``end``."""
    pieces: list[str] = []
    for part in parts:
        if part == end:
            break
        if tag := _RAISED.get(part):
            pieces.append(f"<{tag}>{_argument(parts).replace(' ', '')}</{tag}>")
        elif not part.isspace():
            pieces.append(_one(part, parts))
    return "".join(pieces)


def _argument(parts: Iterator[str]) -> str:
    return _one(next(part for part in parts if not part.isspace()), parts)


def _one(part: str, parts: Iterator[str]) -> str:
    """A part, with those of the following parts that belong to it."""
    if part == "{":
        return _row(parts, "}")
    if part.startswith("\\"):
        return _command(part.removeprefix("\\"), parts)
    if part.isalpha():
        return f"<i>{part}</i>"
    return escape(f" {part} ".replace("-", "−") if part in _SPACED else part)


def _command(name: str, parts: Iterator[str]) -> str:
    if name == "text":
        next(parts)  # the brace
        return escape("".join(iter(partial(next, parts), "}")))
    if name == "frac":
        return f"({_argument(parts)}) / ({_argument(parts)})"
    if name == "tfrac":  # of two digits
        return f"{'/'.join(next(parts))} "
    if name in _FUNCTIONS:
        return f" {name}"
    if name not in _SIGNS:
        raise ValueError(f"no sign for \\{name} in a formula")
    sign = _SIGNS[name]
    return f" {sign} " if sign in _SPACED else escape(sign)
