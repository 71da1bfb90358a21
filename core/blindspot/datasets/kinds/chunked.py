"""Chunked sentences: words with tags of phrases (Tjong Kim Sang and Buchholz 2000, CoNLL-2000)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from blindspot.datasets.kinds.base import DatasetKind, WordDataset
from blindspot.datasets.kinds.labeled_texts import SPLITS
from blindspot.types import Bool, Int8, Int32, Int64

UNKNOWN = -1  # for a token if its word has no vector


@dataclass(frozen=True, eq=False)
class ChunkedSentences(WordDataset):
    """Sentences with tagged words: begin of a phrase (``B-NP``), inside a phrase (``I-NP``), or outside (``O``).

    ``items`` are the distinct words. A sentence stays whole if a model lacks some of its words: ``words`` is then
    ``UNKNOWN`` there, and the diagnostic decides what to do.

    Attributes:
        tag_names: distinct tags.
        words: ``[t] int32``, index into ``items`` of each token's word.
        tags: ``[t] int32``, index into ``tag_names``.
        starts: ``[s + 1] int64``: sentence i has the tokens ``starts[i]`` to before ``starts[i + 1]``, at least one.
        splits: ``[s] int8``, ``TRAIN`` or ``TEST``.
    """

    tag_names: tuple[str, ...]
    words: Int32
    tags: Int32
    starts: Int64
    splits: Int8

    kind = DatasetKind.CHUNKED
    headings = ("sentence", "split", "phrases")
    lacks = (
        "no word of the sentences of '{id}' has a vector from {whose}",
        "an encoder that knows words of English text",
    )
    counted = "sentences"
    stored_as = "chunked_sentence"

    @property
    def content_parts(self) -> list[str]:
        return self._parts([self.words, self.tags, self.starts, self.splits.astype(np.int8)], *self.tag_names)

    def coverage(self, covered: Bool) -> dict[str, int]:
        """All sentences are kept; tokens and words count as covered if they have a vector."""
        sentences = len(self.splits)
        has_word = self.words >= 0
        tokens = int(np.count_nonzero(has_word & covered[np.where(has_word, self.words, 0)]))
        counts = {self.counted: sentences, f"{self.counted}_covered": sentences}
        words = {"items": len(covered), "items_covered": int(np.count_nonzero(covered))}
        return counts | {"tokens": len(self.words), "tokens_covered": tokens} | words

    def _complete(self, covered: Bool) -> Bool:
        """Every sentence is complete, unless no word at all has a vector."""
        return np.full(len(self.splits), bool(covered.any()))

    def _reduced(self, items: tuple[str, ...], covered: Bool, rows: Int64, numbers: Int32) -> ChunkedSentences:  # noqa: ARG002
        has_word = (self.words >= 0) & covered[np.where(self.words >= 0, self.words, 0)]
        words = np.where(has_word, numbers[np.where(has_word, self.words, 0)], np.int32(UNKNOWN))
        return replace(self, items=items, words=words.astype(np.int32))

    def tokens(self, sentence: int) -> list[str]:
        """The words of a sentence of the whole dataset."""
        return [self.items[i] for i in self.words[self.starts[sentence] : self.starts[sentence + 1]].tolist()]

    def tags_of(self, sentence: int) -> list[str]:
        return [self.tag_names[i] for i in self.tags[self.starts[sentence] : self.starts[sentence + 1]].tolist()]

    def rows(self, start: int, stop: int) -> Sequence[tuple[str, str, str]]:
        """A sentence, its split, and its words with its phrases in brackets."""
        return [
            (" ".join(self.tokens(i)), SPLITS[self.splits[i]], bracketed(self.tokens(i), self.tags_of(i)))
            for i in range(start, min(stop, len(self.splits)))
        ]

    def stored_rows(self) -> dict[str, Any]:
        every = range(len(self.splits))
        return {
            "item_no": np.arange(len(every), dtype=np.int32),
            "split": pa.array([SPLITS[split] for split in self.splits.tolist()], pa.string()),
            "sentence": pa.array([" ".join(self.tokens(i)) for i in every], pa.string()),
            "tags": pa.array([" ".join(self.tags_of(i)) for i in every], pa.string()),
        }

    @classmethod
    def size(cls, rows: int, subsets: int, texts: int) -> str:  # noqa: ARG003 - of minimal pairs
        return f"{rows:,} sentences, {texts:,} words"


def chunks_of(tags: Sequence[str]) -> list[tuple[int, int, str]]:
    """The phrases of a sentence in order: first word, last word + 1, and kind.

    As ``conlleval`` (Tjong Kim Sang 2004) finds them: a phrase begins at ``B``, and at an ``I`` that does not continue
    a phrase of its own kind; it ends before ``O``, a ``B``, or an ``I`` of another kind.
    """
    chunks: list[tuple[int, int, str]] = []
    start, kind = -1, ""
    for position, tag in enumerate([*tags, "O"]):
        mark, _, kind_of_tag = tag.partition("-")
        continues = mark == "I" and start >= 0 and kind_of_tag == kind
        if start >= 0 and not continues:
            chunks.append((start, position, kind))
            start = -1
        if mark != "O" and not continues:
            start, kind = position, kind_of_tag
    return chunks


def bracketed(words: Sequence[str], tags: Sequence[str]) -> str:
    """A sentence with its phrases in brackets: ``[NP He ] [VP reckons ] .``"""
    begins = {start: kind for start, _, kind in chunks_of(tags)}
    ends = {end for _, end, _ in chunks_of(tags)}
    out = []
    for position, word in enumerate(words):
        out.append(f"[{begins[position]} {word}" if position in begins else word)
        if position + 1 in ends:
            out.append("]")
    return " ".join(out)
