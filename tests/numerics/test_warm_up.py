"""Kernels compiled ahead: those that rankings and searches call, for the types that they have."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from blindspot.errors import BlindspotError
from blindspot.numerics import warm_up
from blindspot.numerics.neighbors import exact
from blindspot.numerics.ranking import judged, pruning, tiles
from blindspot.numerics.ranking import ranks as ranking
from blindspot.numerics.similarity import Similarity
from blindspot.types import CancelToken, Float32, no_progress
from tests.support.commands import python

RANKED = """
import sys
from pathlib import Path
import numpy as np
from blindspot.settings import Settings
from blindspot.server.routes import ready_kernels
ready_kernels(Settings.from_environment())
loaded = [name for name in ("numba", "streamlit", "torch") if name in sys.modules]
from blindspot.numerics import flag_kernels, kernels
from blindspot.numerics.ranking.ranks import rank_pairs
from blindspot.numerics.similarity import Similarity
from blindspot.types import CancelToken, no_progress
def known():
    return {name: len(one.signatures) for name, one in every.items() if hasattr(one, "signatures")}
every = vars(kernels) | vars(flag_kernels)
before = known()
queries = np.arange(9, dtype=np.int32)
matrix = np.random.default_rng(0).standard_normal((20, 48)).astype(np.float32)
rank_pairs(matrix, queries, queries + np.int32(9), Similarity.L2, no_progress, CancelToken())
misses = sum(sum(one.stats.cache_misses.values()) for one in every.values() if hasattr(one, "signatures"))
print(loaded, known() == before, before["count_above_and_tied"], misses)
"""


def compiled() -> dict[str, set[object]]:
    from blindspot.numerics import flag_kernels, kernels

    every = vars(kernels) | vars(flag_kernels)
    public = {name: one for name, one in every.items() if hasattr(one, "signatures") and name[0] != "_"}
    return {name: set(one.signatures) for name, one in public.items()}


@pytest.fixture
def everything_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pruning, "FEWEST_PRODUCTS", 0)
    monkeypatch.setattr(tiles, "FEWEST_CODED", 0)
    monkeypatch.setattr(exact, "COMPILED_FROM", 0)
    monkeypatch.setattr(exact, "CODED_FROM", 0)
    monkeypatch.setattr(exact, "codes_pay", lambda *_: True)


@pytest.mark.heavy
@pytest.mark.usefixtures("everything_pays")
@pytest.mark.parametrize("has_codes", [False, True])
def test_what_rankings_and_searches_call_is_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, has_codes: bool
) -> None:
    """By whole products, first coordinates and codes, of arrays and of files mapped into memory."""
    warm_up.warm_up()
    before = compiled()
    assert all(before.values()), "every kernel"
    monkeypatch.setattr(ranking.coarse, "pays", lambda: has_codes)
    random = np.random.default_rng(1)
    matrix = (random.standard_normal((600, 30)) @ random.standard_normal((30, 192))).astype(np.float32)
    np.save(tmp_path / "matrix.npy", matrix)
    mapped: Float32 = np.load(tmp_path / "matrix.npy", mmap_mode="r")
    queries, matches = np.arange(200, dtype=np.int32), np.arange(200, 400, dtype=np.int32)
    asked = judged.Judged(np.arange(51), np.arange(50))
    for one in (matrix, mapped):
        for metric in Similarity:
            for ranked in (None, 500):
                ranking.rank_pairs(one, queries, matches, metric, no_progress, CancelToken(), candidates=ranked)
            index = exact.ExactIndex(one, metric)
            index.of_rows(np.arange(90), 5)
            index.of_vectors(random.standard_normal((40, 192)).astype(np.float32), 5)
            judged.search(one, asked, metric, no_progress, CancelToken(), k=5)
    assert compiled() == before


@pytest.mark.process
def test_a_server_finds_and_loads_compiled_kernels(tmp_path: Path) -> None:
    """Nothing is compiled by its own process, whether they were in the cache before or not."""
    warm_up.warm_up()  # in the cache of the tests
    folder = tmp_path / "numba"
    shutil.copytree(os.environ["NUMBA_CACHE_DIR"], folder)
    for mark in folder.glob("compiled-*"):
        mark.unlink()
    for _ in range(2):
        done = python("-c", RANKED, env=os.environ | {"NUMBA_CACHE_DIR": str(folder)})
        assert done.stdout.split("\n")[0] == "['numba'] True 2 0", done.stderr
        assert len(list(folder.glob("compiled-*"))) == 1


@pytest.mark.process
def test_another_process_that_fails_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "numba"))
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(BlindspotError, match="could not be compiled"):
        warm_up.compile_elsewhere()
