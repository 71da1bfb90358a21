"""Users' texts in places that Streamlit reads as Markdown."""

from __future__ import annotations

import re

MARKUP = re.compile(r"([\\`*_\[\]<>$~])")
_COLORS = "red|orange|yellow|green|blue|violet|purple|pink|brown|gray|grey|rainbow|primary"
_SIGN = re.compile(
    r":(?=(?:[+-]1|(?:material/)?[a-z][a-z0-9_-]*):)"  # :+1:, :smile:, :material/home:
    rf"|:(?=(?:shimmer|small|color|help|badge|(?:{_COLORS})(?:-background|-badge)?)(?![A-Za-z0-9_-]))"  # :red, :red[x]
    r"|-(?=-|>)|<(?=-)|[<>~](?==)"  # -> and the like, which become arrows, dashes and signs
)
_LINK = re.compile(r"(?<=:)(?=//)|(?<=www)(?=\.)|(?<=[\w.+-])(?=@)", re.IGNORECASE)  # where a bare one is broken
_BLOCK = re.compile(r"^(?=[#>+|=-]|\d+[.)])")  # begins a heading, a list, a quotation or a table
_LONGEST = 80  # characters of a value of an address
_JOINER = "\N{WORD JOINER}"  # invisible; backslashes do not help, since Streamlit inserts signs after reading them


def as_text(text: str) -> str:
    """Markdown that shows ``text`` as it is: no emphasis, images, formulas, colors, icons or arrows; addresses link.

    ``://`` is escaped in the middle: otherwise a bare address would become a link with the backslashes in it.
    """
    return MARKUP.sub(r"\\\1", _SIGN.sub(rf"\g<0>{_JOINER}", text)).replace("://", r":\//")


def from_address(value: str) -> str:
    """Markdown for a value that came with the page's address, which anybody may have written: one line, shortened, and
    nothing in it is a link, a heading or a list."""
    line = " ".join(value[: 2 * _LONGEST].split())[:_LONGEST]
    return as_text(_LINK.sub(_JOINER, _BLOCK.sub(_JOINER, line)))
