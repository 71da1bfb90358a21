"""Settings of a grid of sizes, the runs that they stand for, and what cannot be asked."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blindspot.datasets.catalog import DatasetRef
from blindspot.errors import InputError
from blindspot.studies.size.grid import FLOAT, PRECISIONS, By, chain_of, dimensions_of, entry_of, grid_of, settings_of
from blindspot.transforms.chain import TransformChain
from tests.conftest import make_settings
from tests.support.tables import each

BITS = {FLOAT: 32, **{name: 1 if "binary" in name else 8 for name in PRECISIONS[1:]}}


@given(
    st.integers(1, 2_000),
    st.lists(st.integers(1, 2_000), min_size=1, max_size=5),
    st.lists(st.sampled_from(PRECISIONS), min_size=1, max_size=4),
    st.sampled_from(By),
)
def test_a_setting_is_an_ordinary_transform_of_its_bytes(
    full: int, dimensions: list[int], precisions: list[str], by: By
) -> None:
    if min(dimensions) > full:
        with pytest.raises(InputError, match="fewer than all"):
            settings_of(full, dimensions, precisions, by)
        return
    found = settings_of(full, dimensions, precisions, by)
    assert (found[0].dimension, found[0].precision, found[0].chain) == (full, FLOAT, "none")
    pairs = [(one.dimension, one.precision) for one in found]
    assert set(pairs) == {(full, FLOAT)} | {(d, p) for d in dimensions if d <= full for p in precisions}
    assert len(pairs) == len(set(pairs)) == len({one.chain for one in found})
    for one in found:
        assert str(TransformChain.parse(one.chain)) == one.chain
        assert one.bytes_per_text == -(-one.dimension * BITS[one.precision] // 8)


@given(st.lists(st.sampled_from(PRECISIONS), min_size=1), st.lists(st.integers(1, 500), max_size=3))
def test_every_code_is_rescored_too(precisions: list[str], rescored: list[int]) -> None:
    found = settings_of(8, [8, 4], precisions, rescored=rescored)
    every = {(d, p, m) for d in (8, 4) for p in precisions for m in (0, *rescored) if p != FLOAT or not m}
    assert {(one.dimension, one.precision, one.rescored) for one in found} == {(8, FLOAT, 0)} | every
    for one in found:
        chain = TransformChain.parse(one.chain)
        assert (str(chain), chain.rescored) == (one.chain, one.rescored)
        assert one.bytes_per_text == -(-one.dimension * BITS[one.precision] // 8)
        assert one.bytes_besides == (4 * one.dimension if one.rescored else 0)


def test_nothing_above_the_model_is_offered() -> None:
    assert dimensions_of(384) == (384, 288, 256, 192, 128, 64, 32, 16)
    assert dimensions_of(96) == (96, 72, 64, 48, 32, 16)
    assert dimensions_of(1) == (1,)


def test_what_ranks_nothing_is_not_rescored(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="ranks nothing"):
        grid_of(
            "random-projection", DatasetRef("demo-scored"), [32], ["binary"], make_settings(tmp_path), rescored=[10]
        )
    with pytest.raises(InputError, match="0 texts to compare again"):
        settings_of(384, [8], ["int8"], rescored=[0])


def test_chains_by_hand() -> None:
    assert chain_of(128, "binary", 384, rescored=50) == "truncate:128+binary+rescore:50"
    assert chain_of(128, "int8", 384) == "truncate:128+int8"
    assert chain_of(384, "binary", 384) == "binary"
    assert chain_of(64, FLOAT, 384, By.PCA) == "pca:64"


@each(
    ("dimensions", "precisions", "said"),
    [
        ([], ["int8"], "there is no number of dimensions"),
        ([8], [], "there is no precision"),
        ([8], ["int4"], "unknown precision 'int4'"),
        ([0], ["int8"], "a setting of 0 dimensions"),
        ([900], ["int8"], "fewer than all of 900"),
        (list(range(1, 62)), ["int8"], "62 settings"),
    ],
)
def test_what_is_no_grid_is_refused_in_one_line(dimensions: list[int], precisions: list[str], said: str) -> None:
    with pytest.raises(InputError) as caught:
        settings_of(384, dimensions, precisions)
    assert said in caught.value.what
    assert "\n" not in str(caught.value)


def test_models_and_data_that_have_no_sizes_are_refused(tmp_path: Path) -> None:
    settings = make_settings(tmp_path)
    for encoder, data, said in (
        ("minilm~center", "demo-pairs", "has a transform"),
        ("bm25", "demo-pairs", "without vectors"),
        ("minilm", "essli-2008", "unknown dataset"),
        ("nothing", "demo-pairs", "nothing"),
    ):
        with pytest.raises(InputError) as caught:
            grid_of(encoder, DatasetRef(data), [32], ["int8"], settings)
        assert said in str(caught.value)
        assert "\n" not in str(caught.value)
    for diagnostic in ("geometry", "frequency"):
        with pytest.raises(InputError, match="not made of items"):
            entry_of(DatasetRef("demo-pairs"), diagnostic)
    assert entry_of(DatasetRef("demo-pairs")).id == "evalrank"
    assert entry_of(DatasetRef("demo-minimal")).id == "heros"
    grid = grid_of("minilm", DatasetRef("demo-pairs"), [384, 32], ["float32", "int8"], settings)
    assert [request.variant.transform for request in grid.requests] == [
        "none",
        "int8",
        "truncate:32",
        "truncate:32+int8",
    ]
    assert {request.variant.encoder for request in grid.requests} == {"minilm"}
