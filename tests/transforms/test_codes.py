"""Codes of a byte or a bit: those of sentence-transformers to the last bit, on random and on real vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sentence_transformers.util.quantization import _dequantize_embeddings, quantize_embeddings

from blindspot.datasets import fetch
from blindspot.datasets.catalog import find_dataset
from blindspot.diagnostic import find_diagnostic
from blindspot.errors import BlindspotError, InputError
from blindspot.runs.inputs import roles
from blindspot.runs.spaces import open_spaces
from blindspot.settings import Settings
from blindspot.transforms.chain import STEPS, TransformChain
from blindspot.transforms.codes import Bits, Bytes
from blindspot.types import Float32
from blindspot.variants import Variant
from tests.support.tables import each

Precision = Literal["int8", "binary"]
PRECISIONS: tuple[Precision, ...] = ("int8", "binary")


def draw(seed: int, n: int, d: int, scale: float = 1.0) -> Float32:
    generator = np.random.default_rng(seed)
    return (generator.standard_normal((n, d)) * scale + generator.standard_normal(d)).astype(np.float32)


def codes_of(corpus: Float32, chain: str, texts: Float32) -> np.ndarray:
    """Codes that the last step of a chain stores, fitted on a corpus."""
    fitted = TransformChain.parse(chain).fit(corpus)
    for step in fitted.steps[:-1]:
        texts = step.apply(texts)
    last = fitted.steps[-1]
    assert isinstance(last, Bytes | Bits)
    return last.codes(texts)


def assert_same_codes(corpus: Float32, texts: Float32) -> None:
    for precision in PRECISIONS:
        expected = quantize_embeddings(texts, precision, calibration_embeddings=corpus)
        found = codes_of(corpus, precision, texts)
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape), precision
        np.testing.assert_array_equal(found, expected, err_msg=precision)


@given(
    st.integers(0, 10_000),
    st.integers(2, 40),
    st.integers(1, 20),
    st.sampled_from([1e-6, 0.05, 1.0, 1e4]),
    st.booleans(),
)
def test_the_codes_are_those_of_sentence_transformers(seed: int, n: int, d: int, scale: float, held_out: bool) -> None:
    corpus = draw(seed, n, d, scale)
    corpus[:, 0] = corpus[0, 0]  # constant
    assert_same_codes(corpus, draw(seed + 1, 30, d, 2 * scale) if held_out else corpus)


@pytest.mark.heavy
def test_the_codes_of_a_real_model_are_those_of_sentence_transformers(
    demo_cache: Path, shared_settings: Settings
) -> None:
    dataset = fetch.load(find_dataset("demo-pairs"), shared_settings)
    vectors = np.asarray(open_spaces([Variant("minilm", "none")], dataset, shared_settings)[0].vectors)
    assert vectors.shape[1] == 384
    assert_same_codes(vectors, vectors)
    assert_same_codes(vectors[: len(vectors) // 2], vectors)
    for before in ("truncate:100", "pca:16", "center"):
        made = TransformChain.parse(before).fit(vectors).apply(vectors)
        for precision in PRECISIONS:
            expected = quantize_embeddings(made, precision)
            np.testing.assert_array_equal(codes_of(vectors, f"{before}+{precision}", vectors), expected)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_what_is_compared_are_the_codes(precision: Precision) -> None:
    """Bytes as numbers; bits as signs, so that cosines and dot products count equal bits."""
    vectors = draw(3, 20, 11)
    made = TransformChain.parse(precision).fit(vectors).apply(vectors).astype(np.float64)
    stored = quantize_embeddings(vectors, precision)
    assert isinstance(stored, np.ndarray)
    if "int8" in precision:
        np.testing.assert_array_equal(made, stored)
        return
    unsigned = (stored.astype(np.int16) + 128).astype(np.uint8)
    for i in range(20):
        for j in range(20):
            different = bin(int.from_bytes((unsigned[i] ^ unsigned[j]).tobytes(), "big")).count("1")
            assert made[i] @ made[j] == 11 - 2 * different


@each("seed", range(5))
def test_documents_in_bytes_are_decoded_as_sentence_transformers_does(seed: int) -> None:
    corpus, d = draw(seed, 50, 7), 7
    corpus[:, 2] = 0.25
    codes = quantize_embeddings(corpus, "int8")
    assert isinstance(codes, np.ndarray)
    expected = _dequantize_embeddings(codes, "int8", np.stack([corpus.min(axis=0), corpus.max(axis=0)]))
    fitted = TransformChain.parse("int8-docs").fit(corpus)
    np.testing.assert_array_equal(fitted.apply(corpus), expected.astype(np.float32))
    widths = (corpus.max(axis=0) - corpus.min(axis=0)) / 255
    assert (corpus - fitted.apply(corpus) <= widths + 1e-5).all()
    np.testing.assert_array_equal(fitted.apply_to_queries(corpus), corpus)
    both = TransformChain.parse("int8-decoded").fit(corpus)
    np.testing.assert_array_equal(both.apply(corpus), fitted.apply(corpus))
    np.testing.assert_array_equal(both.apply_to_queries(corpus), fitted.apply(corpus))
    signs = TransformChain.parse("binary-docs").fit(corpus)
    np.testing.assert_array_equal(signs.apply(corpus), np.where(corpus > 0, 1, -1))
    centred = TransformChain.parse("center+binary-docs+truncate:3").fit(corpus)
    mean = corpus.astype(np.float64).mean(axis=0)
    np.testing.assert_allclose(centred.apply_to_queries(corpus), (corpus - mean)[:, :3], atol=1e-6)
    np.testing.assert_array_equal(centred.apply(corpus), np.where(corpus - mean.astype(np.float32) > 0, 1, -1)[:, :3])
    assert centred.d_out == 3 < d


@each("chain", ["int8", "int8-decoded", "int8-docs"])
def test_ranges_need_numbers_and_two_items(chain: str) -> None:
    with pytest.raises(InputError, match="there are 1"):
        TransformChain.parse(chain).fit(draw(0, 1, 4))
    corpus = draw(0, 5, 4)
    corpus[2, 1] = np.nan
    with pytest.raises(BlindspotError, match="NaN or infinite"):
        TransformChain.parse(chain).fit(corpus)


@each("chain", ["int8", "int8-decoded", "int8-docs", "binary", "binary-docs"])
def test_what_is_no_number_stays_none(chain: str) -> None:
    corpus = draw(0, 5, 4)
    texts = corpus.copy()
    texts[1, 2] = np.nan
    made = TransformChain.parse(chain).fit(corpus).apply(texts)
    assert np.isnan(made[1, 2])
    assert np.isfinite(np.delete(made.ravel(), 6)).all()


def test_values_outside_of_the_range_have_its_ends() -> None:
    corpus = np.array([[0.0], [255.0]], dtype=np.float32)
    texts = np.array([[-9.0], [0.0], [0.99], [1.0], [254.99], [255.0], [999.0]], dtype=np.float32)
    assert codes_of(corpus, "int8", texts)[:, 0].tolist() == [-128, -128, -128, -127, 126, 127, 127]


@each(
    ("chain", "dimension", "expected"),
    [
        ("none", 384, 1536),
        ("int8", 384, 384),
        ("truncate:128+int8", 128, 128),
        ("binary", 384, 48),
        ("binary", 100, 13),
        ("binary-docs", 384, 48),
        ("int8+center", 384, 1536),
    ],
)
def test_bytes_of_a_vector(chain: str, dimension: int, expected: int) -> None:
    assert TransformChain.parse(chain).bytes_of(dimension) == expected


# --- in runs


def test_diagnostics_without_queries_refuse_one_sided_codes() -> None:
    one_sided = [name for name, step in STEPS.items() if step.is_one_sided]
    assert one_sided
    for name in one_sided:
        chain = TransformChain.parse(f"{name}:0123456789ab" if STEPS[name].is_kept else f"truncate:4+{name}")
        for diagnostic in ("similarity", "geometry", "transfer", "frequency"):
            with pytest.raises(InputError, match="treats queries otherwise"):
                roles.check_sides(find_diagnostic(diagnostic), {}, chain)
        for diagnostic in ("evalrank", "heros", "retrieval"):
            roles.check_sides(find_diagnostic(diagnostic), {"protocol": "definition"}, chain)
        with pytest.raises(InputError, match="protocol"):
            roles.check_sides(find_diagnostic("evalrank"), {"protocol": "toolkit"}, chain)
