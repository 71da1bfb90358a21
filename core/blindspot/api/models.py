"""Models as a program has them: a reference, a SentenceTransformer, a function, or vectors."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import uuid4

import numpy as np

from blindspot.encoders.base import ROLE_NAMES, EncoderInfo, RolePrompts
from blindspot.encoders.in_process import (
    Encode,
    FunctionEncoder,
    RoleFunctionEncoder,
    as_float32,
    matrix_of,
    reference_of,
    register,
)
from blindspot.encoders.named import encoder_named
from blindspot.encoders.objects import is_library_object, object_encoder
from blindspot.errors import InputError
from blindspot.types import Float32
from blindspot.variants import Variant

EXPECTED = (
    "a reference such as minilm, the path of a model, a SentenceTransformer, a function from a list of texts to an "
    "array or an object with such a method (encode, transform), or an array with a row for each of texts_of(data)"
)
METHODS = ("encode", "transform")
NO_TRANSFORM = "none"
_PROBE = "probe"


def variant_of(model: Any, name: str, texts: Callable[[], Sequence[str]]) -> Variant:
    """The variant of a model: named if it is text, such as ``minilm~center``, else registered for this process.

    Args:
        name: for a model that is no reference; "" for a name that follows from the model.
        texts: the distinct texts of the data, one for each row of an array.

    Raises:
        InputError: it is none of ``EXPECTED``, or an array of another shape.
    """
    if isinstance(model, str | os.PathLike):
        return Variant.parse(encoder_named(os.fspath(model)))
    if is_library_object(model):
        title = name or type(model).__name__
        return Variant(register(object_encoder(model, reference_of(title), title)), NO_TRANSFORM)
    for method in METHODS:  # also of sklearn's transformers
        if not isinstance(model, type) and callable(getattr(model, method, None)) and not hasattr(model, "__array__"):
            title = name or type(model).__name__
            return Variant(register(_of_function(getattr(model, method), title, _by_task(model))), NO_TRANSFORM)
    if isinstance(model, type):
        raise InputError(f"{model.__name__} is a class", expected=f"an object of it: {model.__name__}(...)")
    if _has_tokens_alone(model):
        raise InputError(
            f"a {type(model).__name__} of transformers takes tokens and has a vector per token",
            expected=EXPECTED,
            remedy="save it with its tokenizer and name the folder (dir:PATH), or give it the pooling that it was "
            "trained with as a SentenceTransformer",
        )
    if callable(model):
        return Variant(register(_of_function(model, name)), NO_TRANSFORM)
    if isinstance(model, list | tuple) or any(
        hasattr(model, attribute) for attribute in ("__array__", "detach", "toarray")
    ):
        return Variant(register(_of_array(model, name, texts())), NO_TRANSFORM)
    raise InputError(f"the type {type(model).__name__} is no model", expected=EXPECTED)


def _has_tokens_alone(model: Any) -> bool:
    """Whether this is a model of the library transformers, which is called with tokens."""
    package = sys.modules.get("transformers")
    kind = getattr(package, "PreTrainedModel", None) if package else None
    return isinstance(kind, type) and isinstance(model, kind)


def _by_task(model: Any) -> dict[str, Callable[[list[str]], Any]]:
    """A model's own functions for queries and documents; empty unless it has both."""
    functions = {task: getattr(model, f"encode_{task}", None) for task in ROLE_NAMES}
    return (
        {task: function for task, function in functions.items() if callable(function)}
        if all(map(callable, functions.values()))
        else {}
    )


def _of_function(
    function: Callable[[list[str]], Any], name: str, by_task: Mapping[str, Callable[[list[str]], Any]] | None = None
) -> FunctionEncoder:
    """An encoder of a function. Stored embeddings are never reused, since nothing tells what a function computes.

    Args:
        by_task: functions for queries and for documents, if these have their own.
    """
    title = name or getattr(function, "__name__", "function").replace("<lambda>", "function")

    def encodes_by(encode_texts: Callable[[list[str]], Any]) -> Encode:
        return lambda texts: matrix_of(encode_texts(list(texts)), len(texts), title)

    encode, reference, revision = encodes_by(function), reference_of(title), uuid4().hex
    info = _info(title, int(encode([_PROBE]).shape[1]), 0)
    if not by_task:
        return FunctionEncoder(reference, revision, info, encode)
    info = replace(info, role_prompts=RolePrompts("", ""))
    tasks = {task: encodes_by(encode_texts) for task, encode_texts in by_task.items()}
    return RoleFunctionEncoder(reference, revision, info, encode, by_task=tasks)


def _of_array(vectors: Any, name: str, texts: Sequence[str]) -> FunctionEncoder:
    try:
        matrix = np.ascontiguousarray(as_float32(vectors))
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
