"""A store of human judgements."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from blindspot.studies.judgement.store import Judgements


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Of the store: where a cache in ``tmp_path`` has it."""
    return tmp_path / "results.duckdb"


@pytest.fixture
def store(path: Path) -> Iterator[Judgements]:
    judgements = Judgements.at(path)
    yield judgements
    judgements.database.close()
