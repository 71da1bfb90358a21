"""Models as a program has them: a reference, a SentenceTransformer, a function, or vectors."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any
from uuid import uuid4

import numpy as np

from blindspot.encoders.base import EncoderInfo
from blindspot.encoders.in_process import FunctionEncoder, as_array, matrix_of, reference_of, register
from blindspot.encoders.objects import is_library_object, object_encoder
from blindspot.errors import InputError
from blindspot.types import Float32, Variant

EXPECTED = (
    "a reference such as minilm or dir:PATH, a SentenceTransformer, a function from a list of texts to an array or an "
    "object with such a method (encode, transform), or an array with a row for each of texts_of(data)"
)
METHODS = ("encode", "transform")
NO_TRANSFORM = "none"
_PROBE = "probe"


def variant_of(model: Any, name: str, texts: Callable[[], Sequence[str]]) -> Variant:
    """The variant of a model: named if it is text, such as ``minilm~center``, else registered for this process.

    Args:
        name: for a model that is no reference; "" for one that follows from it.
        texts: the distinct texts of the data, which the rows of an array are of.

    Raises:
        InputError: it is none of ``EXPECTED``, or an array of another shape.
    """
    if isinstance(model, str):
        return Variant.parse(model)
    if is_library_object(model):
        title = name or type(model).__name__
        return Variant(register(object_encoder(model, reference_of(title), title)), NO_TRANSFORM)
    for method in METHODS:  # also of sklearn's transformers
        if not isinstance(model, type) and callable(getattr(model, method, None)) and not hasattr(model, "__array__"):
            title = name or type(model).__name__
            return Variant(register(_of_function(getattr(model, method), title)), NO_TRANSFORM)
    if callable(model):
        return Variant(register(_of_function(model, name)), NO_TRANSFORM)
    if isinstance(model, list | tuple) or any(hasattr(model, one) for one in ("__array__", "detach", "toarray")):
        return Variant(register(_of_array(model, name, texts())), NO_TRANSFORM)
    raise InputError(f"the type {type(model).__name__} is no model", expected=EXPECTED)


def _of_function(function: Callable[[list[str]], Any], name: str) -> FunctionEncoder:
    """Nothing tells what a function computes: no stored embeddings of an earlier one are reused."""
    title = name or getattr(function, "__name__", "function").replace("<lambda>", "function")

    def encode(texts: Sequence[str]) -> Float32:
        return matrix_of(function(list(texts)), len(texts), title)

    dimension = int(encode([_PROBE]).shape[1])
    return FunctionEncoder(reference_of(title), uuid4().hex, _info(title, dimension, 0), encode)


def _of_array(vectors: Any, name: str, texts: Sequence[str]) -> FunctionEncoder:
    try:
        matrix = np.ascontiguousarray(as_array(vectors), dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise InputError(f"the vectors are no matrix: {error}", expected=EXPECTED) from error
    if matrix.ndim != 2 or len(matrix) != len(texts) or not matrix.shape[-1]:
        raise InputError(
            f"the vectors have the shape {matrix.shape}, and the data has {len(texts):,} distinct texts",
            expected=f"({len(texts)}, dimension), a row for each of texts_of(data) in its order",
        )
    row = {text: number for number, text in enumerate(texts)}
    digest = hashlib.sha256(matrix.tobytes()).hexdigest()[:32]

    def encode(wanted: Sequence[str]) -> Float32:
        if unknown := next((text for text in wanted if text not in row), None):
            raise InputError(
                f"the vectors have no row for '{unknown}'", expected="data with the texts that they were made of"
            )
        return np.asarray(matrix[[row[text] for text in wanted]])

    title = name or "vectors"
    return FunctionEncoder(reference_of(title), digest, _info(title, matrix.shape[1], 0), encode)


def _info(title: str, dimension: int, parameters: int) -> EncoderInfo:
    return EncoderInfo(
        title=title,
        dimension=dimension,
        parameters=parameters,
        memory_bytes=4 * parameters,
        licence="the program's own",
        citation="a model of a Python program",
        url="",
    )
