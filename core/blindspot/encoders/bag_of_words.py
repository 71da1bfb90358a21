"""Bag of words: a dimension per word, so that scores are what single words achieve (Schnabel 2015, section 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from blindspot.encoders.base import EncoderIdentity, EncoderInfo, library_versions
from blindspot.errors import BlindspotError
from blindspot.texts import words
from blindspot.types import CancelToken, Float32

TEXTS_PER_BATCH = 2048


@dataclass(eq=False)
class BagOfWords:
    """TF-IDF of the dataset's most frequent words, as many as there are dimensions.

    Words are those of ``texts.words``. A word's count in a text is damped (1 + log tf) and weighted by inverse document
    frequency, and the text's vector has length one. With fewer words than dimensions the remaining dimensions are zero.
    A text without a frequent word is the zero vector.
    """

    reference: str
    info: EncoderInfo
    device = "cpu"
    _vectorizer: Any = field(default=None, repr=False)

    @property
    def identity(self) -> EncoderIdentity:
        return EncoderIdentity(
            reference=self.reference,
            revision="1",
            pooling="TF-IDF of the dataset's most frequent words",
            libraries=library_versions("numpy", "scikit-learn"),
        )

    def load(self) -> None:
        """No-op: ``fit`` learns everything."""

    def fit(self, texts: Sequence[str], cancel: CancelToken) -> None:
        """Raises ``BlindspotError`` if the texts have no words."""
        from sklearn.feature_extraction.text import TfidfVectorizer

        def analyzer(text: str) -> tuple[str, ...]:
            cancel.check()
            return words(text)

        if not any(words(text) for text in texts):
            raise BlindspotError(f"{self.reference} has nothing to learn from: {len(texts):,} texts without a word")
        self._vectorizer = TfidfVectorizer(
            analyzer=analyzer, sublinear_tf=True, max_features=self.info.dimension, dtype=np.float32
        )
        self._vectorizer.fit(texts)

    def encode(self, texts: Sequence[str], cancel: CancelToken) -> Float32:
        """Raises ``BlindspotError`` if the encoder was not fitted."""
        if self._vectorizer is None:
            raise BlindspotError(f"'{self.reference}' was not fitted", remedy="call fit with all texts before encode")
        out = np.zeros((len(texts), self.info.dimension), dtype=np.float32)
        for start in range(0, len(texts), TEXTS_PER_BATCH):
            cancel.check()
            rows = self._vectorizer.transform(texts[start : start + TEXTS_PER_BATCH])
            out[start : start + rows.shape[0], : rows.shape[1]] = rows.toarray()
        return out
