"""Names of sessions: they stand in links, so they are plain."""

from __future__ import annotations

import re

from core.errors import InputError

LONGEST = 40
_PLAIN = re.compile(rf"[A-Za-z0-9_-]{{1,{LONGEST}}}")


def session_name(text: str) -> str:
    """A session's name as it is kept: without blanks around it.

    Raises:
        InputError: it is empty, longer than 40 characters, or has other characters than A to Z, digits, - and _.
    """
    name = text.strip()
    if _PLAIN.fullmatch(name):
        return name
    shown = name if len(name) <= LONGEST else f"{name[:20]}…"
    raise InputError(
        f"'{shown}' cannot be a session's name" if name else "the session has no name",
        expected=f"1 to {LONGEST} letters (A to Z), digits, - and _: it stands in the link",
        remedy="for example team-meeting",
    )
