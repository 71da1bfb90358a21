"""Transforms: how chains are written, what centering does, that inputs are left as they are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from core.errors import InputError
from core.transforms import STEPS, Center, TransformChain
from core.types import Float32

embeddings = arrays(
    np.float32,
    array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=8),
    elements=st.floats(-1_000, 1_000, width=32),
)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("none", "none"),
        ("center", "center"),
        (" center ", "center"),
        ("none+center", "center"),
        ("center+none", "center"),
        ("none+none", "none"),
        ("center+center", "center+center"),
    ],
)
def test_equal_chains_have_one_name(text: str, canonical: str) -> None:
    assert str(TransformChain.parse(text)) == canonical


@given(st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=5))
def test_a_chain_can_be_read_back_from_its_name(steps: list[str]) -> None:
    chain = TransformChain.parse("+".join(steps))
    assert TransformChain.parse(str(chain)) == chain


def test_every_step_that_is_listed_can_be_fitted() -> None:
    corpus = np.random.default_rng(0).standard_normal((20, 6)).astype(np.float32)
    for name, step in STEPS.items():
        assert step.name == name
        assert step.description.endswith(".")
        out = TransformChain.parse(name).fit(corpus).apply(corpus)
        assert out.dtype == np.float32
        assert out.ndim == 2
        assert len(out) == 20


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("centre", "unknown transform 'centre'; expected one of center, none; did you mean 'center'?"),
        ("", "unknown transform ''; expected one of center, none"),
        ("center+", "unknown transform ''; expected one of center, none"),
        ("none++center", "unknown transform ''; expected one of center, none"),
        ("Center", "unknown transform 'Center'; expected one of center, none; did you mean 'center'?"),
    ],
)
def test_an_unknown_step_is_refused_with_the_nearest(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        TransformChain.parse(text)
    # Steps that come later extend the list of the known; what is said about this value stays.
    assert str(caught.value).startswith(message.partition(";")[0])
    assert ("did you mean 'center'?" in str(caught.value)) == ("did you mean" in message)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("text", ["center:2", "none:", "center:"])
def test_a_step_without_argument_refuses_one(text: str) -> None:
    with pytest.raises(InputError, match="argument"):
        TransformChain.parse(text)


def test_centering_by_hand() -> None:
    corpus = np.array([[1, 10], [3, 20], [8, 30]], dtype=np.float32)
    fitted = TransformChain.parse("center").fit(corpus)
    np.testing.assert_array_equal(fitted.apply(corpus), [[-3, -10], [-1, 0], [4, 10]])
    other = np.array([[0, 0]], dtype=np.float32)
    np.testing.assert_array_equal(fitted.apply(other), [[-4, -20]], "the corpus's mean, not its own")


@given(embeddings)
def test_centred_columns_have_mean_zero(matrix: Float32) -> None:
    before = matrix.copy()
    centred = TransformChain.parse("center").fit(matrix).apply(matrix)
    assert centred.dtype == np.float32
    assert np.abs(centred.mean(axis=0, dtype=np.float64)).max() < 1e-4
    np.testing.assert_array_equal(matrix, before)


def test_the_mean_is_accumulated_in_float64() -> None:
    """A float32 running sum of a million values of 0.1 is off by 1e-3 and more."""
    corpus = np.full((1_000_000, 1), 0.1, dtype=np.float32)
    assert Center.fit(corpus).mean[0] == pytest.approx(float(np.float32(0.1)), abs=1e-12)


@given(embeddings)
def test_none_gives_the_very_same_array(matrix: Float32) -> None:
    assert TransformChain.parse("none").fit(matrix).apply(matrix) is matrix


def test_each_step_is_fitted_on_what_the_steps_before_it_make() -> None:
    """A second centering finds a mean of zero."""
    corpus = np.random.default_rng(0).standard_normal((20, 4)).astype(np.float32) + 5
    first, second = TransformChain.parse("center+center").fit(corpus).steps
    assert isinstance(first, Center)
    assert isinstance(second, Center)
    assert first.mean.min() > 4
    assert np.abs(second.mean).max() < 1e-6


def test_a_read_only_memory_map_is_fine(tmp_path: Path) -> None:
    corpus = np.arange(12, dtype=np.float32).reshape(4, 3)
    np.save(tmp_path / "corpus.npy", corpus)
    mapped = np.load(tmp_path / "corpus.npy", mmap_mode="r")
    np.testing.assert_array_equal(
        TransformChain.parse("center").fit(mapped).apply(mapped), corpus - corpus.mean(axis=0)
    )
