"""Text of users in places that Streamlit reads as markdown."""

from __future__ import annotations

import re

MARKUP = re.compile(r"([\\`*_\[\]<>$~])")


def as_text(text: str) -> str:
    """Markdown that shows ``text`` as it is: no emphasis, images, formulas or colours, no links but addresses.

    A bare address would become a link with the backslashes in it; a broken ``://`` is put together only afterwards.
    """
    return MARKUP.sub(r"\\\1", text).replace("://", r":\//")
