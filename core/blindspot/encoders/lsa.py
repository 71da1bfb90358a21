"""Latent semantic analysis, fitted on the texts that it encodes."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from blindspot.encoders.base import EncoderIdentity, EncoderInfo, library_versions
from blindspot.encoders.tokens import Token, TokenParts
from blindspot.errors import BlindspotError
from blindspot.numerics.principal import signs
from blindspot.numerics.threads import undisturbed_blas
from blindspot.types import CancelToken, Float32, Float64

MOST_FEATURES = 50_000  # of each of the two kinds, the most frequent ones
SEED = 20
ITERATIONS = 3
OVERSAMPLING = 10
ROUNDING = 1e-2  # of an axis's largest entry; the number of threads changes entries by less than 1e-3 of it
SMALLEST = 1e-5  # singular value relative to the largest; smaller ones are float32 rounding
ROWS_PER_BLOCK = 8192
ALONE = 50_000  # texts or features: up to so many, one BLAS thread is faster than two that wait for each other
TEXTS_PER_BATCH = 2048


@dataclass
class _Fitted:
    """The vectorizers, and ``axes [f, k] float32`` with k <= d."""

    vectorizers: list[Any]
    axes: Float32

    def features(self, texts: Sequence[str]) -> Any:
        """``[n, f]``, sparse: TF-IDF of each kind with rows of length one."""
        from scipy.sparse import hstack

        return hstack([vectorizer.transform(texts) for vectorizer in self.vectorizers], format="csr")

    def counts(self, words: Sequence[str], columns: Sequence[int]) -> Float64:
        """``[w, k] float64``: how often each word of a text has each of the features numbered ``columns``.

        A pair of words counts half for each.
        """
        of_words, of_characters = self.vectorizers
        column_of = {column: k for k, column in enumerate(columns)}
        out = np.zeros((len(words), len(columns)))

        def count(word: int, feature: int | None, times: float) -> None:
            if feature in column_of:
                out[word, column_of[feature]] += times

        lowered = [word.lower() for word in words]
        grams, first = of_characters.build_analyzer(), len(of_words.vocabulary_)
        for i, word in enumerate(lowered):
            count(i, of_words.vocabulary_.get(word), 1.0)
            for gram in grams(word):
                column = of_characters.vocabulary_.get(gram)
                count(i, None if column is None else first + column, 1.0)
        for i, pair in enumerate(pairwise(lowered)):
            column = of_words.vocabulary_.get(" ".join(pair))
            count(i, column, 0.5)
            count(i + 1, column, 0.5)
        return out


@dataclass(eq=False)
class Lsa:
    """TF-IDF of words and of character n-grams, projected on the first singular vectors (Deerwester et al. 1990).

    Words and word pairs tell sentences apart; n-grams of 2 to 5 characters within words relate single words, which
    share none. Both are lower-cased, damped (1 + log tf), weighted by inverse document frequency and L2-normalized
    separately, so that they count equally; each keeps its 50,000 most frequent features.

    With fewer texts (or features) than dimensions the remaining dimensions are zero, which changes neither cosine nor
    distance. A text without any feature (only whitespace) is the zero vector.
    """

    reference: str
    info: EncoderInfo
    device = "cpu"
    _fitted: _Fitted | None = field(default=None, repr=False)

    @property
    def identity(self) -> EncoderIdentity:
        return EncoderIdentity(
            reference=self.reference,
            revision="2",
            pooling="TF-IDF of word 1-2-grams and character 2-5-grams, truncated SVD of the dataset's own items",
            libraries=library_versions("numpy", "scipy", "scikit-learn"),
        )

    def load(self) -> None:
        """No-op: ``fit`` learns everything."""

    def fit(self, texts: Sequence[str], cancel: CancelToken) -> None:
        """Raises ``BlindspotError`` if the texts have no characters."""
        from scipy.sparse import hstack
        from sklearn.feature_extraction.text import TfidfVectorizer
        from threadpoolctl import threadpool_limits

        if not any(text.strip() for text in texts):
            raise BlindspotError(f"lsa has nothing to learn from: {len(texts):,} texts without a character")
        common = {"sublinear_tf": True, "max_features": MOST_FEATURES, "dtype": np.float32}
        vectorizers = [
            TfidfVectorizer(analyzer="word", token_pattern=r"\S+", ngram_range=(1, 2), **common),  # noqa: S106
            TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), **common),
        ]
        blocks = []
        for vectorizer in vectorizers:
            cancel.check()
            blocks.append(vectorizer.fit_transform(texts))
        features = hstack(blocks, format="csr")
        cancel.check()
        is_small = max(features.shape) <= ALONE
        with undisturbed_blas(), threadpool_limits(1, user_api="blas") if is_small else nullcontext():
            axes = _singular_vectors(features, min(self.info.dimension, *features.shape), cancel)
        self._fitted = _Fitted(vectorizers, axes)

    def encode(self, texts: Sequence[str], cancel: CancelToken) -> Float32:
        """Raises ``BlindspotError`` if it was not fitted."""
        if self._fitted is None:
            raise BlindspotError(f"'{self.reference}' was not fitted", remedy="call fit with all texts before encode")
        out = np.zeros((len(texts), self.info.dimension), dtype=np.float32)
        for start in range(0, len(texts), TEXTS_PER_BATCH):
            cancel.check()
            part = texts[start : start + TEXTS_PER_BATCH]
            projected = self._fitted.features(part) @ self._fitted.axes
            out[start : start + len(part), : projected.shape[1]] = projected
        return out

    def token_parts(self, text: str) -> TokenParts | None:
        """See ``TokenVectors``: word by word; None for a text without a word.

        A feature counts for each word by how often it occurs there: each n-gram of characters is in one word, and a
        pair of words counts half for each.
        """
        if self._fitted is None:
            raise BlindspotError(f"'{self.reference}' was not fitted", remedy="call fit with all texts before encode")
        words = text.split()
        if not words:
            return None
        row = self._fitted.features([text])
        counts = self._fitted.counts(words, row.indices.tolist())
        parts = np.zeros((len(words), self.info.dimension))
        projected = (counts * (row.data / counts.sum(axis=0))) @ self._fitted.axes[row.indices].astype(np.float64)
        parts[:, : projected.shape[1]] = projected
        return TokenParts(tuple(Token(word) for word in words), parts, np.full(len(words), 1 / len(words)))


def _singular_vectors(features: Any, count: int, cancel: CancelToken) -> Float32:
    """The first right singular vectors of ``features [n, f]``: ``[f, k] float32``, k at most ``count``.

    Randomized subspace iteration (Halko et al. 2011, algorithms 4.4 and 5.1) as in scikit-learn's TruncatedSVD, but
    bases are orthonormalized by small products instead of QR or LU: 57 s instead of 161 and 158 for the 20,029 items of
    demo-words on two cores with a load of 11. TruncatedSVD's axes also differ in their last digits, and so would every
    stored score; it cannot be cancelled. Signs are fixed: otherwise they depend on rounding and the number of threads.
    """
    width = min(count + OVERSAMPLING, *features.shape)
    start = np.random.default_rng(SEED).standard_normal((features.shape[1], width), dtype=np.float32)
    basis = _orthonormal(features @ start)
    for _ in range(ITERATIONS):
        cancel.check()
        across = _orthonormal(features.T @ basis)
        cancel.check()
        basis = _orthonormal(features @ across)
    cancel.check()
    axes = _orthonormal(features.T @ basis)[:, :count]
    return np.ascontiguousarray(axes * signs(axes, ROUNDING).astype(np.float32))


def _orthonormal(columns: Float32) -> Float32:
    """The left singular vectors of ``columns [m, k]``, by falling singular value, without those of negligible values.

    They come from the eigenvectors of the small ``columns' columns``, summed in float64.
    """
    gram = np.zeros((columns.shape[1], columns.shape[1]))
    for start in range(0, len(columns), ROWS_PER_BLOCK):
        block = columns[start : start + ROWS_PER_BLOCK].astype(np.float64)
        gram += block.T @ block
    squares, directions = np.linalg.eigh(gram)
    kept = np.flatnonzero(squares > squares[-1] * SMALLEST**2)[::-1]
    basis: Float32 = columns @ (directions[:, kept] / np.sqrt(squares[kept])).astype(np.float32)
    return basis
