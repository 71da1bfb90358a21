"""Words with their counts in a corpus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from blindspot.datasets.kinds.base import DatasetKind, WordDataset
from blindspot.types import Bool, Float64, Int32, Int64


@dataclass(frozen=True, eq=False)
class Vocabulary(WordDataset):
    """Words with their numbers of occurrences in a corpus (Schnabel 2015, section 5); ``items`` are the words.

    Attributes:
        counts: ``[n] float64``, occurrences in ``corpus_size`` words, above 0; need not be whole.
        corpus_size: in words.
        queries: ``[q] int32``, index into ``items`` of its words that are in WordSim-353; the paper examines their
            neighbors.
    """

    counts: Float64
    corpus_size: float
    queries: Int32

    kind = DatasetKind.VOCABULARY
    headings = ("number", "word", "count", "per million words")
    by_rows = False  # results are by threshold, not by word

    @property
    def content_parts(self) -> list[str]:
        return self._parts([self.counts, self.queries], repr(float(self.corpus_size)))

    def _reduced(self, items: tuple[str, ...], covered: Bool, rows: Int64, numbers: Int32) -> Vocabulary:
        """The corpus stays the whole one."""
        queries = numbers[self.queries[covered[self.queries]]]
        return replace(self, items=items, counts=self.counts[rows], queries=queries)

    def rows(self, start: int, stop: int) -> Sequence[tuple[int, str, float, float]]:
        """Number, word, count and occurrences per million words."""
        return [
            (n, self.items[n], float(self.counts[n]), float(self.counts[n] / self.corpus_size * 1e6))
            for n in range(start, min(stop, len(self.items)))
        ]

    @classmethod
    def size(cls, rows: int, subsets: int, texts: int) -> str:  # noqa: ARG003 - its texts are its words
        return f"{rows:,} words with their counts"
