"""Text of users in places that Streamlit reads as markdown."""

from __future__ import annotations

import re

MARKUP = re.compile(r"([\\`*_\[\]<>$~])")
_ICON = re.compile(r":(?=(?:[+-]1|(?:material/)?[a-z][a-z0-9_-]*):)")  # :+1:, :smile:, :material/home:
_JOINER = "\N{WORD JOINER}"  # not seen; backslashes do not help, since icons are put in after they are read


def as_text(text: str) -> str:
    """Markdown that shows ``text`` as it is: no emphasis, images, formulas or colours, no links but addresses,
    no icons.

    A bare address would become a link with the backslashes in it; a broken ``://`` is put together only afterwards.
    """
    return MARKUP.sub(r"\\\1", _ICON.sub(f":{_JOINER}", text)).replace("://", r":\//")
