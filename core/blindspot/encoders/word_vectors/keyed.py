"""Reader of gensim's KeyedVectors (``.kv``), which are pickles: nothing that they name is imported or run.

The unpickler knows a few names, and replaces each by something inert: gensim's object becomes a holder of its
attributes, an array its shape and its bytes. Any other name is refused. Large matrices are beside the file
(``NAME.kv.vectors.npy``).
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

import numpy as np

from blindspot.encoders.source_files import array_of, opened, state_of
from blindspot.encoders.word_vectors.words import LARGEST_DIMENSION, Collector, VectorFormat, VectorHead
from blindspot.errors import InputError
from blindspot.types import Float32

PICKLES = tuple(bytes([0x80, protocol]) for protocol in range(2, 6))
MODULE = "gensim.models.keyedvectors"
ROWS_AT_ONCE = 2**16
_DAMAGED = (
    *(pickle.UnpicklingError, EOFError, ValueError, TypeError, AttributeError, IndexError, KeyError),
    *(OverflowError, RecursionError),
)
_EXPECTED = "KeyedVectors as gensim's save writes them"
_REMEDY = "in gensim: KeyedVectors.load(NAME).save_word2vec_format('vectors.txt')"


def is_keyed(head: bytes) -> bool:
    """Whether a file that begins with ``head`` is gensim's."""
    return head.startswith(PICKLES) and MODULE.encode() in head[:200]


def files_of(path: Path) -> tuple[Path, ...]:
    """The file, and the file of its matrix if that is beside it."""
    beside = path.with_name(f"{path.name}.vectors.npy")
    return (path, beside) if beside.is_file() else (path,)


def peek_keyed(path: Path) -> VectorHead:
    """Read the file without a matrix beside it; raises ``InputError`` if it has no word vectors."""
    return _head(path, state_of(path))


@lru_cache(maxsize=16)
def _head(path: Path, _state: tuple[int, ...]) -> VectorHead:
    with opened(path) as file:
        words, matrix = _words_and_matrix(path, file)
    return VectorHead(VectorFormat.GENSIM, matrix.shape[1], len(words))


def read_keyed(path: Path, _head: VectorHead, file: IO[bytes], collector: Collector) -> None:
    """Read all words into ``collector``; raises ``InputError`` for another kind of object, or a damaged one."""
    words, matrix = _words_and_matrix(path, file)
    for start in range(0, len(words), ROWS_AT_ONCE):
        some = [str(word).encode("utf-8", "surrogatepass") for word in words[start : start + ROWS_AT_ONCE]]
        rows = np.array(matrix[start : start + ROWS_AT_ONCE], dtype=np.float32)
        collector.add(some, rows, lambda row, start=start: f"word {start + row + 1}")  # type: ignore[misc]


def _words_and_matrix(path: Path, file: IO[bytes]) -> tuple[list[Any], Float32]:
    try:
        model = _Unpickler(file).load()
    except _Foreign as error:
        raise InputError(
            f"{path} is a pickle with {error}, which could run code when read", expected=_EXPECTED, remedy=_REMEDY
        ) from error
    except _DAMAGED as error:
        raise InputError(
            f"{path} is a damaged pickle, or cut short: {str(error)[:100]}",
            expected=_EXPECTED,
            remedy="copy or download it again",
        ) from error
    facts = getattr(model, "attributes", {}) if isinstance(model, _Object) else {}
    words = facts.get("index_to_key", facts.get("index2word"))
    matrix = facts.get("vectors", facts.get("syn0"))
    if matrix is None and (beside := files_of(path))[1:]:
        matrix = array_of(beside[1])
    elif isinstance(matrix, _Array):
        matrix = matrix.values(path)
    elif isinstance(words, list):
        raise InputError(
            f"{path} has no vectors", expected=f"them in the file, or beside it in {path.name}.vectors.npy"
        )
    if not isinstance(words, list) or matrix is None:
        raise InputError(f"{path} has no words and vectors", expected=_EXPECTED, remedy=_REMEDY)
    if matrix.ndim != 2 or not len(words) <= len(matrix) or not 0 < matrix.shape[1] <= LARGEST_DIMENSION:
        raise InputError(
            f"{path} has {len(words):,} words and vectors of the shape {matrix.shape}", expected="a vector per word"
        )
    return words, matrix


class _Foreign(Exception):
    """An unknown name in a pickle."""


class _Object:
    """An object that keeps only its attributes.

    Like each class here it has ``__setstate__``: without one, a pickle could set attributes of the class itself.
    """

    def __init__(self) -> None:
        self.attributes: Mapping[str, Any] = {}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.attributes = dict(state)


class _Dtype:
    """The type of an array's numbers, such as ``f4``, and their byte order."""

    def __init__(self, code: str, *_: object) -> None:
        self.code = str(code)
        self.order = "="

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.order = str(state[1])


class _Array:
    """An array as a pickle describes it; its numbers are read when they are asked for."""

    def __init__(self, *_: object) -> None:
        self.described: tuple[Any, ...] = ()

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _, shape, dtype, by_columns, content = state
        self.described = (shape, dtype, by_columns, content)

    def values(self, path: Path) -> Float32:
        """The array ``[n, d]`` of floats; raises ``InputError`` if it is of other things or damaged."""
        shape, dtype, by_columns, content = self.described
        code = dtype.code.lstrip("<>=|") if isinstance(dtype, _Dtype) else "objects"
        if code not in ("f2", "f4", "f8"):
            raise InputError(f"{path} has vectors of {code[:20]}", expected="floats of 16 to 64 bits")
        kind = np.dtype(f"{dtype.order if dtype.order in '<>=' else '='}{code}")
        if len(shape) != 2 or math.prod(shape) * kind.itemsize != len(content):
            raise InputError(
                f"{path} has {len(content):,} bytes of vectors of the shape {tuple(shape)}", remedy="save it again"
            )
        flat: Float32 = np.frombuffer(content, dtype=kind)
        return flat.reshape(shape, order="F" if by_columns else "C")


def _from_buffer(content: bytes, dtype: object, shape: tuple[int, ...], order: str) -> _Array:
    array = _Array()
    array.described = (shape, dtype, order == "F", content)
    return array


def _bytes_of(text: str, _encoding: str = "") -> bytes:
    """Bytes in pickles of older protocols."""
    return text.encode("latin-1")


_KNOWN: Mapping[tuple[str, str], Callable[..., Any]] = {
    (MODULE, "KeyedVectors"): _Object,
    (MODULE, "Word2VecKeyedVectors"): _Object,  # of gensim 3
    (MODULE, "Vocab"): _Object,
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _Dtype,
    ("_codecs", "encode"): _bytes_of,
    ("__builtin__", "frozenset"): frozenset,  # a list of what was left out, in older protocols
    ("__builtin__", "set"): set,
    **{(f"numpy.{core}.multiarray", "_reconstruct"): _Array for core in ("core", "_core")},
    **{(f"numpy.{core}.multiarray", "scalar"): _Array for core in ("core", "_core")},
    **{(f"numpy.{core}.numeric", "_frombuffer"): _from_buffer for core in ("core", "_core")},
}


class _Unpickler(pickle.Unpickler):
    """An unpickler that imports nothing: it may only call what is listed above."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _KNOWN:
            raise _Foreign(f"{module}.{name}"[:80])
        return _KNOWN[module, name]
