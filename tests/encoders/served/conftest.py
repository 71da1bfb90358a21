"""A healthy server, and waits that take no time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from blindspot.encoders.served import client, encoder
from tests.support.embedding_server import EmbeddingSite, embedding_server


@pytest.fixture
def site() -> Iterator[EmbeddingSite]:
    with embedding_server() as running:
        yield running


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits are short, no server was asked before, and no key is set."""
    monkeypatch.setattr(client, "FIRST_WAIT", 0.001)
    monkeypatch.setattr(client, "LONGEST_WAIT", 0.02)
    monkeypatch.setattr(client, "GRACE", 0.3)
    monkeypatch.setattr(encoder, "FRESH_SECONDS", 0.0)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
