"""A store of small runs: encoders and datasets of the tests, in the catalogs as long as the world lasts."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from blindspot.datasets.catalog import DatasetRef
from blindspot.datasets.kinds.base import Dataset
from blindspot.diagnostics.frequency import classes
from blindspot.runs import pipeline, requesting
from blindspot.runs.requests import EncodeRequest, RunRequest
from blindspot.settings import Settings
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.variants import Variant
from tests.conftest import make_settings
from tests.support.small_world import GramEncoder, register_dataset, register_encoder


class World:
    """Settings and their store. Encoders and datasets that are added are found in the catalogs."""

    def __init__(self, settings: Settings, patch: pytest.MonkeyPatch) -> None:
        self.settings = settings
        self.repository = Repository.at(settings.store)
        self.patch = patch

    @property
    def cache(self) -> Path:
        return self.settings.cache

    def add(self, *things: Dataset | GramEncoder) -> World:
        for thing in things:
            if isinstance(thing, GramEncoder):
                register_encoder(self.patch, thing)
            else:
                register_dataset(self.patch, thing)
        return self

    def request(self, diagnostic: str, variant: str, dataset: str, **params: str) -> RunRequest:
        """The request of a run; ``variant`` is an encoder, or ``trigrams~center``."""
        parsed = Variant.parse(variant)
        return requesting.request(diagnostic, parsed.encoder, parsed.transform, dataset, params, self.settings)

    def run(self, diagnostic: str, variant: str, dataset: str, **params: str) -> RunRecord:
        """The run, computed or found."""
        request = self.request(diagnostic, variant, dataset, **params)
        return pipeline.run(request, self.settings, self.repository).record

    def encode(self, encoder: str, dataset: str) -> None:
        pipeline.encode(EncodeRequest(encoder, DatasetRef(dataset)), self.settings, self.repository)


@contextmanager
def small_world(folder: Path) -> Iterator[World]:
    """An empty world with its cache in ``folder``."""
    with pytest.MonkeyPatch.context() as patch:
        made = World(make_settings(folder / "cache"), patch)
        yield made
        made.repository.database.close()


@pytest.fixture(scope="module")
def module_world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """An empty world for the tests of a module, which fills it in a fixture of its own.

    Where that module's ``settings`` are the world's, ``repository``, ``environment`` and ``blindspot`` use its store.
    """
    with small_world(tmp_path_factory.mktemp("world")) as made:
        yield made


@pytest.fixture
def world(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> World:
    """An empty world for one test, with its ``settings``."""
    return World(settings, monkeypatch)


@pytest.fixture
def demo_copy(demo_cache: Path, tmp_path: Path) -> Path:
    """A cache with the demo's runs that a test may change."""
    return shutil.copytree(demo_cache, tmp_path / "demo", ignore=shutil.ignore_patterns("numba"))


@pytest.fixture
def encoded(demo_cache: Path, environment: Settings) -> Settings:
    """Settings, also in the environment, whose cache has MiniLM's embeddings of the demo's texts and no runs."""
    shutil.copytree(demo_cache / "embeddings", environment.embeddings)
    return environment


@pytest.fixture(scope="module")
def few_thresholds() -> Iterator[None]:
    """Three of the diagnostic ``frequency`` instead of eleven: a classifier is trained a hundred times at each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(classes, "PERCENTILES", (20, 50, 80))
        yield
