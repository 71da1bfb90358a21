"""A store of human judgments."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from blindspot.studies.judgments.store import Judgments


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Of the store: where a cache in ``tmp_path`` has it."""
    return tmp_path / "results.duckdb"


@pytest.fixture
def store(path: Path) -> Iterator[Judgments]:
    judgments = Judgments.at(path)
    yield judgments
    judgments.database.close()
