"""Text of users in places that Streamlit reads as markdown."""

from __future__ import annotations

import re

MARKUP = re.compile(r"([\\`*_\[\]<>$~])")


def as_text(text: str) -> str:
    """Markdown that shows ``text`` as it is: no emphasis, links, images, formulas or colours."""
    return MARKUP.sub(r"\\\1", text)
