"""Readers of binary word vectors: word2vec's format and fastText's models."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np

from blindspot.encoders.word_vectors.words import Collector, VectorFormat, VectorHead, check_promise
from blindspot.errors import InputError
from blindspot.types import Float32

FASTTEXT_MAGIC = (793_712_314).to_bytes(4, "little")
BLOCK = 2**22
ROWS_AT_ONCE = 4096
LONGEST_WORD = 2**16
_FLOAT = np.dtype("<f4")
# fasttext.cc: magic, version; args.cc: dim, ws, epoch, minCount, neg, wordNgrams, loss, model, bucket, minn, maxn,
# lrUpdateRate, t; dictionary.cc: size, nwords, nlabels, ntokens, pruneidx_size.
_FASTTEXT_HEADER = struct.Struct("<2i12id3i2q")
_SUPERVISED = 3
END_OF_SENTENCE = "</s>"


class _CutShort(Exception):
    """The file ends too early."""


class _Bytes:
    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._buffer = b""
        self._at = 0

    def until(self, mark: bytes) -> bytes:
        """The bytes before the next ``mark``, which is skipped."""
        while (end := self._buffer.find(mark, self._at)) < 0:
            if len(self._buffer) - self._at > LONGEST_WORD:
                raise _CutShort
            self._more()
        content = self._buffer[self._at : end]
        self._at = end + 1
        return content

    def exactly(self, size: int) -> bytes:
        while len(self._buffer) - self._at < size:
            self._more()
        content = self._buffer[self._at : self._at + size]
        self._at += size
        return content

    def in_blocks(self, size: int, unit: int) -> Iterator[bytes]:
        """The next ``size`` bytes, in blocks that are multiples of ``unit``."""
        step = max(BLOCK // unit, 1) * unit
        while size:
            yield self.exactly(min(step, size))
            size -= min(step, size)

    def rest(self) -> bytes:
        """Up to ``BLOCK`` of the remaining bytes."""
        return self._buffer[self._at :] + self._file.read(BLOCK)

    def _more(self) -> None:
        if not (data := self._file.read(BLOCK)):
            raise _CutShort
        self._buffer, self._at = self._buffer[self._at :] + data, 0


def read_word2vec(path: Path, head: VectorHead, file: IO[bytes], collector: Collector) -> None:
    """Raises ``InputError`` if there are fewer or more words than the header promises."""
    data = _Bytes(file)
    data.until(b"\n")
    promised, size = head.promised or 0, head.dimension * _FLOAT.itemsize
    for start in range(0, promised, ROWS_AT_ONCE):
        words: list[bytes] = []
        rows: list[bytes] = []
        for number in range(start, min(start + ROWS_AT_ONCE, promised)):
            try:
                words.append(data.until(b" ").lstrip(b"\n"))  # some writers end a row with a line feed
                rows.append(data.exactly(size))
            except _CutShort as error:
                raise InputError(
                    f"{path} breaks off, or is damaged, at word {number + 1:,} of {promised:,}",
                    expected=f"the {promised:,} words that its header promises",
                    remedy="copy or download it again",
                ) from error
        vectors = np.frombuffer(b"".join(rows), dtype=_FLOAT).reshape(len(rows), head.dimension)
        collector.add(words, vectors, lambda row, start=start: f"word {start + row + 1:,}")  # type: ignore[misc]
    if data.rest().strip():
        raise InputError(
            f"{path} goes on after the {promised:,} words that its header promises",
            remedy="correct the header, or copy or download the file again",
        )


def peek_fasttext(path: Path, head: bytes) -> VectorHead:
    """Raises ``InputError`` if the header is incomplete, or belongs to a classifier or a quantized model."""
    if len(head) < _FASTTEXT_HEADER.size:
        raise InputError(f"{path} is cut short amid its header", remedy="copy or download it again")
    fields = _FASTTEXT_HEADER.unpack_from(head)
    dimension, kind, words, labels, pruned = fields[2], fields[9], fields[16], fields[17], fields[19]
    if kind == _SUPERVISED or labels > 0:
        raise InputError(f"{path} is a fastText classifier", expected="a fastText model of words (skipgram or cbow)")
    if pruned > 0:
        raise InputError(f"{path} is a quantised fastText model", expected="a fastText .bin or .vec")
    check_promise(path, max(words, 0), dimension, max(words, 0) * (4 * dimension + 10))
    return VectorHead(VectorFormat.FASTTEXT_BINARY, dimension, words)


def read_fasttext(path: Path, head: VectorHead, file: IO[bytes], collector: Collector) -> None:
    """Read the vocabulary of a fastText model.

    fastText could build a vector for any other word from its character n-grams, but then "out of vocabulary" would mean
    something else for a .bin than for every other file.

    A word's vector is the mean of its own and its n-grams' (Bojanowski et al. 2017), as in fastText's .vec; gensim
    hashes the n-grams. gensim's reader hangs on incomplete files, needs memory for three matrices, and gives
    ``</s>`` n-grams that fastText does not.

    Raises:
        InputError: the file is incomplete or damaged.
    """
    try:
        _read_fasttext(path, head, _Bytes(file), collector)
    except _CutShort as error:
        raise InputError(
            f"{path} breaks off, or is damaged, after {len(collector.index):,} of {head.promised or 0:,} words",
            expected="a whole fastText model",
            remedy="copy or download it again",
        ) from error


def _read_fasttext(path: Path, head: VectorHead, data: _Bytes, collector: Collector) -> None:
    from gensim.models.fasttext import ft_ngram_hashes

    fields = _FASTTEXT_HEADER.unpack(data.exactly(_FASTTEXT_HEADER.size))
    buckets, shortest, longest = fields[10], fields[11], fields[12]
    words = []
    for _ in range(head.promised or 0):
        words.append(data.until(b"\0"))
        data.exactly(9)  # its count and its type
    row_size = head.dimension * _FLOAT.itemsize
    rows, columns = _matrix_shape(path, data)
    if (rows, columns) != (len(words) + buckets, head.dimension) or min(buckets, shortest, longest) < 0:
        raise InputError(
            f"{path} is damaged: its matrix is {rows:,} x {columns:,}",
            expected=f"{len(words) + buckets:,} x {head.dimension:,}",
            remedy="copy or download it again",
        )
    matrix = _matrix(data, len(words), row_size)
    ngrams = _matrix(data, buckets, row_size)
    _pass_output(path, data)
    for start in range(0, len(words), ROWS_AT_ONCE):
        part = words[start : start + ROWS_AT_ONCE]
        vectors = matrix[start : start + ROWS_AT_ONCE]
        for row, word in enumerate(part):
            text = word.decode("utf-8", "backslashreplace")
            if buckets and text != END_OF_SENTENCE and (hashes := ft_ngram_hashes(text, shortest, longest, buckets)):
                vectors[row] = (vectors[row] + ngrams[hashes].sum(axis=0)) / (len(hashes) + 1)
        collector.add(part, vectors, lambda row, start=start: f"word {start + row + 1:,}")  # type: ignore[misc]


def _matrix_shape(path: Path, data: _Bytes) -> tuple[int, int]:
    if data.exactly(1) != b"\0":
        raise InputError(f"{path} is a quantised fastText model", expected="a fastText .bin or .vec")
    rows, columns = struct.unpack("<2q", data.exactly(16))
    return rows, columns


def _matrix(data: _Bytes, rows: int, row_size: int) -> Float32:
    """The next ``rows`` vectors; memory grows as they come, since a header may claim anything."""
    out: Float32 = np.empty((0, row_size // _FLOAT.itemsize), dtype=np.float32)
    for block in data.in_blocks(rows * row_size, row_size):
        got = len(out)
        vectors = np.frombuffer(block, dtype=_FLOAT).reshape(-1, out.shape[1])
        out.resize((got + len(vectors), out.shape[1]), refcheck=False)
        out[got:] = vectors
    return out


def _pass_output(path: Path, data: _Bytes) -> None:
    """Skip the output matrix, to notice a file that ends within it."""
    rows, columns = _matrix_shape(path, data)
    if rows < 0 or columns < 0:
        raise _CutShort
    for _ in data.in_blocks(rows * columns * _FLOAT.itemsize, _FLOAT.itemsize):
        pass
