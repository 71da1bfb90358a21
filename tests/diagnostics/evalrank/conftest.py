"""Worlds that EvalRank's tests share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from blindspot.settings import Settings
from blindspot.store.repository import Repository
from tests.support.small_world import SMALL_PAIRS, GramEncoder
from tests.support.world import World


@pytest.fixture(scope="module")
def demo(demo_cache: Path, shared_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """The session's embeddings, with a store of the module's own."""
    made = World(shared_settings, pytest.MonkeyPatch())
    made.repository = Repository.at(tmp_path_factory.mktemp("demo") / "results.duckdb")
    yield made
    made.repository.database.close()


@pytest.fixture
def small(world: World) -> World:
    """The small pairs and the encoder *trigrams*, in the catalogs."""
    return world.add(SMALL_PAIRS, GramEncoder())
