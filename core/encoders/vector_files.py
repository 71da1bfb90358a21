"""Files of word vectors: which format one is in, told by its content, and the words and vectors that it holds."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import numpy as np

from core.encoders.source_files import GZIP, kind_of_other, opened
from core.errors import BlindspotError, InputError
from core.types import Float32

FORMATS = "GloVe or word2vec text, word2vec binary, fastText .vec or .bin, each also as .gz"
FASTTEXT_MAGIC = (793_712_314).to_bytes(4, "little")
HEAD = 2**20  # bytes that are looked at; the longest text row that is read
LARGEST_DIMENSION = 20_000
SAMPLE_LINES = 200
_BAD_BYTES = re.compile(rb"[\x00-\x08\x0e-\x1b]")  # not in text


class VectorFormat(StrEnum):
    """How the file is laid out, for people."""

    PLAIN_TEXT = "text without a header (GloVe)"
    HEADED_TEXT = "text with a header (word2vec, fastText .vec)"
    WORD2VEC_BINARY = "word2vec binary"
    FASTTEXT_BINARY = "fastText .bin"


@dataclass(frozen=True)
class VectorHead:
    """What the beginning of a file tells.

    Attributes:
        promised: how many words the file says that it has; None where it does not say.
    """

    format: VectorFormat
    dimension: int
    promised: int | None


@dataclass(frozen=True, eq=False)
class WordTable:
    """The words of a file.

    Attributes:
        index: each word's row, in the order of the file.
        matrix: ``[V, d] float32``, finite, read-only.
        duplicates: entries that were left out since the same word stands in the file before.
        undecodable: words that are not UTF-8; each bad byte of theirs is read as U+FFFD.
    """

    index: Mapping[str, int]
    matrix: Float32
    duplicates: int
    undecodable: int


def peek(path: Path) -> VectorHead:
    """Tell format and dimension by the first MiB.

    Raises:
        InputError: there is no such file, or it is none of word vectors.
    """
    with opened(path) as file:
        head = file.read(HEAD)
    if not head.strip():
        raise InputError(f"{path} holds nothing", expected=FORMATS)
    if head.startswith(FASTTEXT_MAGIC):
        from core.encoders.vector_binary import peek_fasttext

        return peek_fasttext(path, head)
    if other := kind_of_other(head):
        raise InputError(f"{path} is {other}", expected=f"word vectors: {FORMATS}")
    first, _, rest = head.removeprefix(b"\xef\xbb\xbf").partition(b"\n")
    if header := re.fullmatch(rb"\s*([0-9]{1,18})[ \t]+([0-9]{1,18})\s*", first):
        return _with_header(path, int(header[1]), int(header[2]), rest)
    return _without_header(path, head)


def read(path: Path, head: VectorHead) -> WordTable:
    """All words and vectors of a file; its memory is that of the matrix, the words, and a few blocks.

    Says in one logged line how many entries were left out since their word stands in the file before.

    Raises:
        InputError: what is wrong with the file, with the line or the word.
        BlindspotError: there is too little memory.
    """
    from core.encoders.vector_binary import read_fasttext, read_word2vec
    from core.encoders.vector_text import read_text

    readers = {VectorFormat.WORD2VEC_BINARY: read_word2vec, VectorFormat.FASTTEXT_BINARY: read_fasttext}
    collector = Collector(path, head.dimension)
    try:
        with opened(path) as file:
            readers.get(head.format, read_text)(path, head, file, collector)
    except MemoryError as error:
        raise BlindspotError(
            f"{path} does not fit in memory at word {len(collector.index):,}", remedy="use a file with fewer words"
        ) from error
    table = collector.table()
    log = logging.getLogger(__name__)
    if table.duplicates:
        log.warning("%s: %d duplicate words; the first entry of each is kept", path, table.duplicates)
    if table.undecodable:
        log.warning("%s: %d words are not UTF-8; their bad bytes are read as U+FFFD", path, table.undecodable)
    return table


class Collector:
    """Takes words with their vectors block by block, checks them and keeps the first of each word."""

    def __init__(self, path: Path, dimension: int) -> None:
        self.path = path
        self.index: dict[str, int] = {}
        self.duplicates = 0
        self.undecodable = 0
        self._matrix: Float32 = np.empty((0, dimension), dtype=np.float32)

    def add(self, words: Sequence[bytes], rows: Float32, place: Callable[[int], str]) -> None:
        """Take ``words`` and their ``rows [k, d] float32``; ``place(i)`` says where row i stands in the file.

        Raises:
            InputError: a value is NaN or infinite.
        """
        texts = self._decoded(words)
        finite = np.isfinite(rows).all(axis=1)
        if not finite.all():
            bad = int(finite.argmin())
            value = "NaN" if np.isnan(rows[bad]).any() else "an infinite value"
            raise InputError(
                f"{self.path}, {place(bad)}: the vector of {texts[bad][:60]!r} holds {value}",
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
        # In place: the system moves the pages of a large array instead of copying them, so that there is never a second
        self._matrix.resize((start, self._matrix.shape[1]), refcheck=False)
        self._matrix[before:] = rows if kept.all() else rows[kept]

    def table(self) -> WordTable:
        """What was taken."""
        if not self.index:
            raise InputError(f"{self.path} holds no word", expected=FORMATS)
        self._matrix.flags.writeable = False
        return WordTable(self.index, self._matrix, self.duplicates, self.undecodable)

    def _decoded(self, words: Sequence[bytes]) -> list[str]:
        try:
            return b"\n".join(words).decode("utf-8").split("\n") if words else []
        except UnicodeDecodeError:
            out = []
            for word in words:
                try:
                    out.append(word.decode("utf-8"))
                except UnicodeDecodeError:  # word2vec cuts words off after so many bytes, amid a character
                    self.undecodable += 1
                    out.append(word.decode("utf-8", "replace"))
            return out


def check_promise(path: Path, promised: int, dimension: int, smallest: int) -> None:
    """Refuse a header that promises more than the file can hold, before any memory is taken for it.

    Args:
        smallest: the least number of bytes that the promised words take, unpacked.

    Raises:
        InputError: no words, no or too many dimensions, or too small a file.
    """
    if not promised or not 0 < dimension <= LARGEST_DIMENSION:
        raise InputError(
            f"the header of {path} says {promised:,} words of {dimension:,} numbers",
            expected=f"at least one word, and 1 to {LARGEST_DIMENSION:,} numbers",
        )
    with path.open("rb") as raw:
        packed = raw.read(len(GZIP)) == GZIP
    size = path.stat().st_size
    if not packed and size < smallest:
        raise InputError(
            f"{path} has {size:,} bytes, but its header promises {promised:,} words of {dimension:,} numbers",
            expected=f"at least {smallest:,} bytes",
            remedy="it is cut short: copy or download it again",
        )


def numbers_at_end(line: bytes) -> int:
    """How many fields at the end of a line are numbers."""
    count = 0
    for field in reversed(line.split()):
        if not is_number(field):
            break
        count += 1
    return count


def is_number(field: bytes) -> bool:
    """Whether a field is written as a number; NaN and infinity are."""
    try:
        float(field)
    except ValueError:
        return False
    return b"_" not in field


def _with_header(path: Path, promised: int, dimension: int, rest: bytes) -> VectorHead:
    if 0 < dimension <= LARGEST_DIMENSION:
        line = rest.lstrip(b"\n").partition(b"\n")[0]
        is_text = numbers_at_end(line) >= dimension or not (_BAD_BYTES.search(rest[:4096]) or not _is_utf8(rest[:4096]))
    else:
        is_text = True  # refused below
    smallest = promised * (2 * dimension + 1 if is_text else 4 * dimension + 1)
    check_promise(path, promised, dimension, smallest)
    return VectorHead(VectorFormat.HEADED_TEXT if is_text else VectorFormat.WORD2VEC_BINARY, dimension, promised)


def _without_header(path: Path, head: bytes) -> VectorHead:
    if b"\0" in head:
        raise InputError(f"{path} is a binary file of no known kind", expected=f"word vectors: {FORMATS}")
    lines = head.split(b"\n")
    if len(head) == HEAD and len(lines) > 1:
        lines.pop()  # it may be cut off
    lines = [line for line in lines[:SAMPLE_LINES] if line.strip()]
    counts = Counter(len(line.split()) - (0 if line[:1].isspace() else 1) for line in lines)
    # Most words are one field; where rows differ, most are right, and of equally many the first.
    dimension = counts.most_common(1)[0][0]
    if not any(0 < dimension <= numbers_at_end(line) for line in lines):
        shown = lines[0][:60].decode("utf-8", "replace")
        raise InputError(
            f"{path} holds no word vectors: its first line is {shown!r}",
            expected=f"a word and its numbers in every line ({FORMATS})",
        )
    if dimension > LARGEST_DIMENSION:
        raise InputError(f"{path} has {dimension:,} numbers a line", expected=f"at most {LARGEST_DIMENSION:,}")
    return VectorHead(VectorFormat.PLAIN_TEXT, dimension, None)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start > len(data) - 4  # a character cut off at the end of the sample
    return True
