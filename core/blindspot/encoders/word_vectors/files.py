"""Files of word vectors: their format, detected by content, and their words."""

from __future__ import annotations

import logging
import re
from collections import Counter
from pathlib import Path

import numpy as np

from blindspot.encoders import packed_bits
from blindspot.encoders.source_files import kind_of_other, opened
from blindspot.encoders.word_vectors.binary import FASTTEXT_MAGIC, peek_fasttext, read_fasttext, read_word2vec
from blindspot.encoders.word_vectors.keyed import is_keyed, peek_keyed, read_keyed
from blindspot.encoders.word_vectors.text import read_text
from blindspot.encoders.word_vectors.words import (
    FORMATS,
    HEAD,
    LARGEST_DIMENSION,
    Collector,
    VectorFormat,
    VectorHead,
    WordTable,
    check_promise,
    numbers_at_end,
)
from blindspot.errors import BlindspotError, InputError

SAMPLE_LINES = 200
_BAD_BYTES = re.compile(rb"[\x00-\x08\x0e-\x1b]")  # not in text


def peek(path: Path) -> VectorHead:
    """Format and dimension, from the first MiB; raises ``InputError`` if there is no file, or no word vectors in it."""
    with opened(path) as file:
        head = file.read(HEAD)
    if not head.strip():
        raise InputError(f"{path} is empty", expected=FORMATS)
    if head.startswith(FASTTEXT_MAGIC):
        return peek_fasttext(path, head)
    if is_keyed(head):
        return peek_keyed(path)
    if other := kind_of_other(head):
        remedy = "save a gensim model's vectors alone: model.wv.save('NAME.kv')" if "pickle" in other else ""
        raise InputError(f"{path} is {other}", expected=f"word vectors: {FORMATS}", remedy=remedy)
    first, _, rest = head.removeprefix(b"\xef\xbb\xbf").partition(b"\n")
    if header := re.fullmatch(rb"\s*([0-9]{1,18})[ \t]+([0-9]{1,18})\s*", first):
        return _with_header(path, int(header[1]), int(header[2]), rest)
    return _without_header(path, head)


def read(path: Path, head: VectorHead) -> WordTable:
    """All words and vectors; needs memory for the matrix, the words and a few blocks. Logs the number of duplicates.

    Raises:
        InputError: the file is wrong; the message names the line or the word.
        BlindspotError: too little memory.
    """
    readers = {
        VectorFormat.WORD2VEC_BINARY: read_word2vec,
        VectorFormat.FASTTEXT_BINARY: read_fasttext,
        VectorFormat.GENSIM: read_keyed,
    }
    collector = Collector(path, head.dimension)
    try:
        with opened(path) as file:
            readers.get(head.format, read_text)(path, head, file, collector)
    except MemoryError as error:
        raise BlindspotError(
            f"{path} does not fit in memory at word {len(collector.index):,}", remedy="use a file with fewer words"
        ) from error
    table = collector.table()
    _check_values(path, head, table)
    log = logging.getLogger(__name__)
    if table.duplicates:
        log.warning("%s: %d duplicate words; the first entry of each is kept", path, table.duplicates)
    if table.undecodable:
        log.warning("%s: %d words are not UTF-8; their bad bytes are read as U+FFFD", path, table.undecodable)
    return table


LEAST_ROWS = 5  # to tell
MOST_UNDECODABLE = 0.5  # of the words of a binary file


def _check_values(path: Path, head: VectorHead, table: WordTable) -> None:
    """Refuse numbers that cannot be vectors: packed bits, equal rows, a column of counts, numbers of another type."""
    matrix = table.matrix
    if what := packed_bits.bytes_in_words(matrix):
        raise InputError(f"{path} has {what}", expected=packed_bits.EXPECTED, remedy=packed_bits.REMEDY)
    some = matrix[:: max(1, len(matrix) // SAMPLE_LINES)]
    if len(matrix) >= LEAST_ROWS and not (some != some[0]).any() and not (matrix != matrix[0]).any():
        what = "0" if not matrix.any() else "equal"
        raise InputError(f"{path}: all {len(matrix):,} vectors are {what}", expected="a vector of each word's own")
    words = len(matrix) + table.duplicates
    if head.format is VectorFormat.WORD2VEC_BINARY and table.undecodable > MOST_UNDECODABLE * words:
        raise InputError(
            f"{path}: {table.undecodable:,} of {words:,} words are no text",
            expected="words and numbers of 32 bits, the lowest byte first",
            remedy="write it again as text",
        )
    if head.format is not VectorFormat.PLAIN_TEXT or len(some) < LEAST_ROWS or head.dimension < 2:
        return
    for column, rest, where in ((some[:, 0], some[:, 1:], "first"), (some[:, -1], some[:, :-1], "last")):
        are_whole = [bool((part == np.floor(part)).all()) for part in (column, rest)]
        if are_whole == [True, False] and column.min() >= 0 and column.max() > 1:
            raise InputError(
                f"{path}: the {where} number of every line is whole ({column[0]:g}, {column[1]:g}, ...), unlike the "
                "others: it seems to be a count",
                expected="a word and its vector in every line",
                remedy="remove the counts, or begin the file with a line of the number of words and of dimensions",
            )


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
        lines.pop()  # it may be incomplete
    lines = [line for line in lines[:SAMPLE_LINES] if line.strip()]
    counts = Counter(len(line.split()) - (0 if line[:1].isspace() else 1) for line in lines)
    # Most words are one field; if rows differ, the majority is right.
    dimension = counts.most_common(1)[0][0]
    if not any(0 < dimension <= numbers_at_end(line) for line in lines):
        shown = lines[0][:60].decode("utf-8", "replace")
        raise InputError(
            f"{path} has no word vectors: its first line is {shown!r}",
            expected=f"a word and its numbers in every line ({FORMATS})",
        )
    if dimension > LARGEST_DIMENSION:
        raise InputError(f"{path} has {dimension:,} numbers a line", expected=f"at most {LARGEST_DIMENSION:,}")
    return VectorHead(VectorFormat.PLAIN_TEXT, dimension, None)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start > len(data) - 4  # the sample ends within a character
    return True
