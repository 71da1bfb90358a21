"""Encoders of the HEROS tests, which take no time."""

from __future__ import annotations

import pytest

from tests.support.small_world import GramEncoder, register_encoder


@pytest.fixture
def encoders(monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """``trigrams`` and ``bigrams``, in the catalog."""
    for name, size in (("trigrams", 3), ("bigrams", 2)):
        register_encoder(monkeypatch, GramEncoder(name, size))
    return "trigrams", "bigrams"
