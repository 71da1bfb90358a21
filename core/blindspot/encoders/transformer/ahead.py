"""Texts for a GPU, tokenized in sections: the next section while the GPU encodes the one before.

On a GPU, tokenizing takes as long as encoding (docs/design/benchmarks.md); on a CPU, both would share its cores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property

import numpy as np

from blindspot.encoders.base import Encodings, PreparedTexts
from blindspot.types import CancelToken, Float32, Int64

SECTION = 4_096  # texts: as many as the cache writes into a file on a GPU

Tokenize = Callable[[Sequence[str], CancelToken], PreparedTexts]


class TokenizedAhead:
    """``PreparedTexts`` that tokenizes texts when they are needed, and one section ahead.

    Copies of a text in one section go through the model once.

    Args:
        tokenize: tokenizes a section's texts; called in another thread, one section at a time.
        section: texts in a section.
    """

    def __init__(self, texts: Sequence[str], tokenize: Tokenize, section: int) -> None:
        self._texts = texts
        self._tokenize = tokenize
        self._section = section
        self._sections: dict[int, Future[PreparedTexts]] = {}  # the last one that was needed, and the next
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="tokenize")

    @cached_property
    def work(self) -> Int64:
        """In characters, since tokens are not known before they are needed."""
        return np.array([len(text) for text in self._texts], dtype=np.int64)

    @cached_property
    def order(self) -> Int64:
        """Longest first, so that running out of memory shows early."""
        return np.argsort(-self.work, kind="stable").astype(np.int64)

    @cached_property
    def _place(self) -> Int64:
        """``[n]``: where each row is in the order."""
        row_of = np.empty_like(self.order)
        row_of[self.order] = np.arange(len(row_of))
        return row_of

    def encode_all(self, cancel: CancelToken) -> Encodings:
        return self.encode(np.arange(len(self._texts)), cancel)

    def encode(self, rows: Int64, cancel: CancelToken) -> Encodings:
        places = self._place[rows]
        vectors: list[Float32] = []
        truncated = 0
        for number in np.unique(places // self._section).tolist():
            here = places // self._section == number
            encodings = self._tokenized(number, cancel).encode(places[here] % self._section, cancel)
            if not vectors:
                vectors = [np.empty((len(rows), m.shape[1]), dtype=m.dtype) for m in encodings.vectors]
            for matrix, part in zip(vectors, encodings.vectors, strict=True):
                matrix[here] = part
            truncated += encodings.truncated
        return Encodings(tuple(vectors), truncated)

    def _tokenized(self, number: int, cancel: CancelToken) -> PreparedTexts:
        """A section, once it is tokenized; the next one is tokenized meanwhile or afterwards."""
        wanted = [n for n in (number, number + 1) if n * self._section < len(self._texts)]
        self._sections = {
            n: self._sections.get(n) or self._thread.submit(self._tokenize, self._texts_of(n), cancel) for n in wanted
        }
        return self._sections[number].result()

    def _texts_of(self, number: int) -> list[str]:
        rows = self.order[number * self._section : (number + 1) * self._section]
        return [self._texts[row] for row in rows.tolist()]
