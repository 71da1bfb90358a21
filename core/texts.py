"""Comparing texts."""

from __future__ import annotations


def twin_key(text: str) -> str:
    """What makes two texts twins: casefolded, letters and digits only; "" for a text that has none."""
    return "".join(c for c in text.casefold() if c.isalnum())
