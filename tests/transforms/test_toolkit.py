"""Vectors as the toolkit prepares them: words over their file, sentences over the background."""

from __future__ import annotations

import numpy as np
import pytest

from blindspot.numerics.similarity import Similarity
from blindspot.transforms.chain import TransformChain
from blindspot.transforms.toolkit import UNKNOWN_SENTENCE, prepare

NONE, CENTER = TransformChain.parse("none"), TransformChain.parse("center")
NAN = [np.nan, np.nan]
FILE = np.float32([[1, 0], [0, 1], [4, 5], [3, -2]])  # mean (2, 1)


def test_words_are_centred_over_the_file_and_unknown_ones_get_its_mean() -> None:
    rows = np.float32([[1, 0], NAN, [4, 5]])
    covered = np.array([True, False, True])
    got, fitted = prepare(rows, covered, ["a", "b", "c"], FILE, NONE, Similarity.L2)
    np.testing.assert_allclose(got, [[-1, -1], [0, 0], [2, 4]])
    assert got.dtype == np.float32
    assert fitted.n == len(FILE)


def test_for_cosine_the_mean_is_taken_after_normalising() -> None:
    rows = np.float32([[1, 0], NAN])
    got, _ = prepare(rows, np.array([True, False]), ["a", "b"], FILE, NONE, Similarity.COS)
    centred = FILE - [2, 1]
    unit = centred / np.linalg.norm(centred, axis=1, keepdims=True)
    np.testing.assert_allclose(got, [unit[0], unit.mean(axis=0)], rtol=1e-6)


def test_centering_is_part_of_the_protocol_and_happens_once() -> None:
    rows = np.float32([[1, 2], [3, 4], [8, 0]])
    covered = np.ones(3, dtype=bool)
    plain, _ = prepare(rows, covered, ["a b", "c", "d"], None, NONE, Similarity.L2)
    centred, fitted = prepare(rows, covered, ["a b", "c", "d"], None, CENTER, Similarity.L2)
    np.testing.assert_array_equal(plain, centred)
    np.testing.assert_allclose(plain, rows - rows.mean(axis=0), rtol=1e-6)
    assert len(fitted.steps) == 1
    assert plain.dtype == np.float32


def test_the_mean_is_summed_in_float32_row_by_row() -> None:
    """In float64 it is another one here, and so were the ranks of a third of the pairs of ``evalrank-word``."""
    rows = (np.random.default_rng(3).standard_normal((3_000, 4)) + 7).astype(np.float32)
    total = np.zeros(4, dtype=np.float32)
    for row in rows:
        total += row
    expected = rows - total / np.float32(len(rows))
    assert (expected != rows - rows.mean(axis=0, dtype=np.float64).astype(np.float32)).any()
    texts = [f"{i} x" for i in range(len(rows))]
    covered = np.ones(len(rows), dtype=bool)
    for matrix in (rows, np.asfortranarray(rows)):
        of_sentences, _ = prepare(matrix, covered, texts, None, NONE, Similarity.L2)
        np.testing.assert_array_equal(of_sentences, expected)
    of_words, fitted = prepare(rows[:9], covered[:9], list("abcdefghi"), rows, NONE, Similarity.L2)
    np.testing.assert_array_equal(of_words, expected[:9])
    assert fitted.record()["steps"][0]["mean_length"] == pytest.approx(14, abs=0.1)


def test_in_float64_nothing_is_rounded_to_float32() -> None:
    rows = np.random.default_rng(4).standard_normal((50, 3)).astype(np.float32)
    rows[7] = np.nan
    covered = np.arange(50) != 7
    texts = [f"{i} x" for i in range(50)]
    filled = np.where(covered[:, None], rows.astype(np.float64), UNKNOWN_SENTENCE)
    expected = filled - filled.mean(axis=0)
    got, _ = prepare(rows, covered, texts, FILE, NONE, Similarity.L2)
    np.testing.assert_array_equal(got, expected)
    removed, fitted = prepare(rows, covered, texts, FILE, TransformChain.parse("abtt:1"), Similarity.L2)
    assert (removed.dtype, len(fitted.steps)) == (np.float64, 2)
    direction = np.linalg.svd(expected, full_matrices=False)[2][0]
    np.testing.assert_allclose(removed, expected - np.outer(expected @ direction, direction), atol=1e-6)


def test_sentences_of_unknown_words_become_a_constant_and_double_the_precision() -> None:
    rows = np.float32([[1, 2], NAN, [3, 4]])
    got, fitted = prepare(rows, np.array([True, False, True]), ["a b", "? ?", "c"], FILE, NONE, Similarity.L2)
    filled = np.array([[1, 2], [UNKNOWN_SENTENCE] * 2, [3, 4]])
    np.testing.assert_allclose(got, filled - filled.mean(axis=0), rtol=1e-6, atol=1e-8)
    assert got.dtype == np.float64
    assert fitted.n == 3


def test_a_zero_row_stays_zero() -> None:
    got, _ = prepare(np.float32([[1, 1], [1, 1]]), np.ones(2, dtype=bool), ["a b", "c"], None, NONE, Similarity.COS)
    np.testing.assert_array_equal(got, np.zeros((2, 2)))
