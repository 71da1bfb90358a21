"""A store in which A and B have three diagnostics in common, and C one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from blindspot.settings import Settings
from blindspot.variants import Variant
from tests.support.small_world import GramEncoder
from tests.support.world import World

A, B, C = (Variant(name, "none") for name in ("trigrams", "bigrams", "unigrams"))
COMPUTED = ("evalrank", "demo-pairs"), ("heros", "demo-minimal"), ("geometry", "demo-pairs")


@pytest.fixture(scope="module")
def filled(module_world: World) -> World:
    grams = [GramEncoder(variant.encoder, size) for variant, size in ((A, 3), (B, 2), (C, 1))]
    grams[1].info = replace(grams[1].info, dimension=160)
    module_world.add(*grams)
    for diagnostic, dataset in COMPUTED:
        for variant in (A, B):
            module_world.run(diagnostic, str(variant), dataset)
    module_world.run("evalrank", str(C), "demo-pairs")
    module_world.run("evalrank", str(A), "demo-pairs", metric="l2")
    return module_world


@pytest.fixture
def settings(filled: World) -> Settings:
    """Commands of a test find that store."""
    return filled.settings
