"""Words and vectors of a file, collected and checked for readers of any format."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from itertools import takewhile
from pathlib import Path

import numpy as np

from blindspot.encoders.source_files import LONGEST_MAGIC, is_packed
from blindspot.errors import InputError
from blindspot.types import Float32

FORMATS = (
    "GloVe or word2vec text, word2vec binary, fastText .vec or .bin, gensim's .kv, each also as .gz, .bz2, .xz or .zip"
)
HEAD = 2**20  # bytes read to detect the format; also the longest text row
LARGEST_DIMENSION = 20_000


class VectorFormat(StrEnum):
    PLAIN_TEXT = "text without a header (GloVe)"
    HEADED_TEXT = "text with a header (word2vec, fastText .vec)"
    WORD2VEC_BINARY = "word2vec binary"
    FASTTEXT_BINARY = "fastText .bin"
    GENSIM = "gensim KeyedVectors"


@dataclass(frozen=True)
class VectorHead:
    """Facts from the beginning of a file; ``promised`` is its number of words, None if it gives none."""

    format: VectorFormat
    dimension: int
    promised: int | None


@dataclass(frozen=True, eq=False)
class WordTable:
    """The words of a file.

    Attributes:
        index: each word's row, in file order.
        matrix: ``[V, d] float32``, finite, read-only.
        duplicates: later entries of the same word, left out.
        undecodable: words that are not UTF-8; their bad bytes become U+FFFD.
    """

    index: Mapping[str, int]
    matrix: Float32
    duplicates: int
    undecodable: int


class Collector:
    """Takes words and vectors block by block, checks them and keeps the first entry of each word."""

    def __init__(self, path: Path, dimension: int) -> None:
        self.path = path
        self.index: dict[str, int] = {}
        self.duplicates = 0
        self.undecodable = 0
        self._matrix: Float32 = np.empty((0, dimension), dtype=np.float32)

    def add(self, words: Sequence[bytes], rows: Float32, where_is: Callable[[int], str]) -> None:
        """Take words and ``rows [k, d] float32``; ``place(i)`` names row i's place in the file.

        Raises:
            InputError: a value is NaN or infinite.
        """
        texts = self._decoded(words)
        finite = np.isfinite(rows).all(axis=1)
        if not finite.all():
            bad = int(finite.argmin())
            value = "NaN" if np.isnan(rows[bad]).any() else "an infinite value"
            raise InputError(
                f"{self.path}, {where_is(bad)}: the vector of {texts[bad][:60]!r} contains {value}",
                expected="finite numbers",
                remedy="remove the word or train the vectors again",
            )
        before = start = len(self.index)
        kept = np.ones(len(texts), dtype=np.bool_)
        for number, word in enumerate(texts):
            if word in self.index:
                kept[number] = False
            else:
                self.index[word] = start
                start += 1
        self.duplicates += len(texts) - (start - before)
        # In place: the system moves the pages of a large array, so there is never a second copy
        self._matrix.resize((start, self._matrix.shape[1]), refcheck=False)
        self._matrix[before:] = rows if kept.all() else rows[kept]

    def table(self) -> WordTable:
        if not self.index:
            raise InputError(f"{self.path} has no word", expected=FORMATS)
        self._matrix.flags.writeable = False
        return WordTable(self.index, self._matrix, self.duplicates, self.undecodable)

    def _decoded(self, words: Sequence[bytes]) -> list[str]:
        with suppress(UnicodeDecodeError):
            texts = b"\n".join(words).decode("utf-8").split("\n")
            if len(texts) == len(words):  # in a binary file a word may contain a line feed
                return texts
        out = []
        for word in words:
            try:
                out.append(word.decode("utf-8"))
            except UnicodeDecodeError:  # word2vec truncates words to a number of bytes
                self.undecodable += 1
                out.append(word.decode("utf-8", "replace"))
        return out


def check_promise(path: Path, promised: int, dimension: int, smallest: int) -> None:
    """Refuse a header that promises more than the file can hold, before allocating memory for it.

    ``smallest`` is the least number of unpacked bytes that the promised words take.

    Raises:
        InputError: no words, a dimension out of range, or too small a file.
    """
    if not promised or not 0 < dimension <= LARGEST_DIMENSION:
        raise InputError(
            f"the header of {path} says {promised:,} words of {dimension:,} numbers",
            expected=f"at least one word, and 1 to {LARGEST_DIMENSION:,} numbers",
        )
    with path.open("rb") as raw:
        packed = is_packed(raw.read(LONGEST_MAGIC))
    size = path.stat().st_size
    if not packed and size < smallest:
        raise InputError(
            f"{path} has {size:,} bytes, but its header promises {promised:,} words of {dimension:,} numbers",
            expected=f"at least {smallest:,} bytes",
            remedy="it is cut short: copy or download it again",
        )


def numbers_at_end(line: bytes) -> int:
    """How many fields at the end of a line are numbers."""
    return sum(1 for _ in takewhile(is_number, reversed(line.split())))


def is_number(field: bytes) -> bool:
    """Whether a field is a number, NaN and infinity included."""
    try:
        float(field)
    except ValueError:
        return False
    return b"_" not in field
