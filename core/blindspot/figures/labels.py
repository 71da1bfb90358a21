"""Labels of axes and cells."""

from __future__ import annotations

import textwrap
from html import escape

LABEL_WIDTH = 14  # characters of a line of a label: a narrow screen has room for little more


def wrapped(name: str, width: int = LABEL_WIDTH) -> str:
    """A name as a label of several lines, escaped: a user's own name is never read as HTML."""
    return "<br>".join(escape(line, quote=False) for line in textwrap.wrap(name, width) or [name])
