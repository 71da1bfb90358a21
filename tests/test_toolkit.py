"""How the toolkit prepares vectors: words over their file, sentences over the background."""

from __future__ import annotations

import numpy as np

from core.numerics.similarity import Metric
from core.toolkit import UNKNOWN_SENTENCE, prepare
from core.transforms import TransformChain

NONE, CENTER = TransformChain.parse("none"), TransformChain.parse("center")
NAN = [np.nan, np.nan]
FILE = np.float32([[1, 0], [0, 1], [4, 5], [3, -2]])  # mean (2, 1)


def test_words_are_centred_over_the_file_and_unknown_ones_get_its_mean() -> None:
    rows = np.float32([[1, 0], NAN, [4, 5]])
    covered = np.array([True, False, True])
    got, fitted = prepare(rows, covered, ["a", "b", "c"], FILE, NONE, Metric.L2)
    np.testing.assert_allclose(got, [[-1, -1], [0, 0], [2, 4]])
    assert got.dtype == np.float32
    assert fitted.n == len(FILE)


def test_for_cosine_the_mean_is_taken_after_normalising() -> None:
    rows = np.float32([[1, 0], NAN])
    got, _ = prepare(rows, np.array([True, False]), ["a", "b"], FILE, NONE, Metric.COS)
    centred = FILE - [2, 1]
    unit = centred / np.linalg.norm(centred, axis=1, keepdims=True)
    np.testing.assert_allclose(got, [unit[0], unit.mean(axis=0)], rtol=1e-6)


def test_centering_is_part_of_the_protocol_and_happens_once() -> None:
    rows = np.float32([[1, 2], [3, 4], [8, 0]])
    covered = np.ones(3, dtype=bool)
    plain, _ = prepare(rows, covered, ["a b", "c", "d"], None, NONE, Metric.L2)
    centred, fitted = prepare(rows, covered, ["a b", "c", "d"], None, CENTER, Metric.L2)
    np.testing.assert_array_equal(plain, centred)
    np.testing.assert_allclose(plain, rows - rows.mean(axis=0), rtol=1e-6)
    assert len(fitted.steps) == 1
    assert plain.dtype == np.float32


def test_sentences_of_unknown_words_become_a_constant_and_double_the_precision() -> None:
    rows = np.float32([[1, 2], NAN, [3, 4]])
    got, fitted = prepare(rows, np.array([True, False, True]), ["a b", "? ?", "c"], FILE, NONE, Metric.L2)
    filled = np.array([[1, 2], [UNKNOWN_SENTENCE] * 2, [3, 4]])
    np.testing.assert_allclose(got, filled - filled.mean(axis=0), rtol=1e-6, atol=1e-8)
    assert got.dtype == np.float64
    assert fitted.n == 3


def test_a_zero_row_stays_zero() -> None:
    got, _ = prepare(np.float32([[1, 1], [1, 1]]), np.ones(2, dtype=bool), ["a b", "c"], None, NONE, Metric.COS)
    np.testing.assert_array_equal(got, np.zeros((2, 2)))
