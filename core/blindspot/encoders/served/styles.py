"""Bodies of requests and answers, per style of server."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import Any

import numpy as np

from blindspot.encoders import packed_bits
from blindspot.encoders.served.reference import INPUT_TYPES, ServedReference, Style
from blindspot.types import Float32


class WrongAnswer(Exception):
    """An answer that is not vectors; the text follows the server's name ("gives 3 vectors for 4 texts")."""


def body_of(reference: ServedReference, texts: Sequence[str], prompt: str, *, in_base64: bool) -> dict[str, Any]:
    """The JSON to post; ``prompt`` goes before every text, or is Cohere's input type."""
    params = reference.params
    body: dict[str, Any] = {"model": reference.model} if reference.model else {}
    if params.style is Style.COHERE:
        body |= {"texts": list(texts), "input_type": prompt or INPUT_TYPES[0], "embedding_types": ["float"]}
        if params.dimensions:
            body["output_dimension"] = params.dimensions
        return body | dict(params.body)
    prompted = [prompt + text for text in texts]
    if params.style is Style.TEI:  # it refuses long texts unless told to cut them off, as every encoder does
        body |= {"inputs": prompted, "truncate": True}
    else:
        body["input"] = prompted
    if params.style is Style.OPENAI:
        body["encoding_format"] = "base64" if in_base64 else "float"
    if params.dimensions:
        body["dimensions"] = params.dimensions
    return body | dict(params.body)


def vectors_of(style: Style, payload: Any, texts: int) -> Float32:
    """``[texts, d] float32`` in the order of the texts; raises ``WrongAnswer``, also for values that are not finite."""
    rows = _rows(style, payload)
    if len(rows) != texts:
        raise WrongAnswer(f"gives {len(rows)} vectors for {texts} texts")
    if style is Style.OPENAI:
        rows = _in_order(rows)
    vectors = _matrix(rows)
    if not np.isfinite(vectors).all():
        raise WrongAnswer("gives NaN or infinite values")
    return vectors


def _rows(style: Style, payload: Any) -> list[Any]:
    """The vectors as sent; in OpenAI's style the objects around them."""
    match style:
        case Style.OPENAI:
            rows = payload.get("data") if isinstance(payload, dict) else None
        case Style.TEI:
            rows = payload
        case Style.OLLAMA:
            rows = payload.get("embeddings") if isinstance(payload, dict) else None
        case Style.COHERE:
            rows = payload.get("embeddings") if isinstance(payload, dict) else None
            rows = rows.get("float") if isinstance(rows, dict) else rows
    if not isinstance(rows, list):
        raise WrongAnswer(f"answers in another form than style={style.value}")
    return rows


def _in_order(rows: Sequence[Any]) -> list[Any]:
    """Vectors ordered by ``index``; without any index, they are in the order of the texts."""
    if not all(isinstance(row, dict) and "embedding" in row for row in rows):
        raise WrongAnswer("answers in another form than style=openai")
    if not any("index" in row for row in rows):
        return [row["embedding"] for row in rows]
    by_index: dict[int, Any] = {}
    for row in rows:
        index = row.get("index")
        if type(index) is not int or not 0 <= index < len(rows):
            raise WrongAnswer(f"gives a vector with the index {str(index)[:20]} for {len(rows)} texts")
        if index in by_index:
            raise WrongAnswer(f"gives two vectors with the index {index}")
        by_index[index] = row["embedding"]
    return [by_index[index] for index in range(len(rows))]


def _matrix(rows: Sequence[Any]) -> Float32:
    vectors = [_from_base64(row) if isinstance(row, str) else row for row in rows]
    if not all(isinstance(v, np.ndarray) or (type(v) is list and set(map(type, v)) <= {float, int}) for v in vectors):
        raise WrongAnswer("gives something else than lists of numbers as vectors")
    lengths = sorted({len(vector) for vector in vectors})
    if len(lengths) > 1:
        raise WrongAnswer(f"gives vectors of different lengths ({lengths[0]} and {lengths[-1]})")
    if lengths[0] == 0:
        raise WrongAnswer("gives empty vectors")
    try:
        with np.errstate(over="ignore"):  # too large a number becomes infinite, which is refused
            matrix = np.array(vectors, dtype=np.float32)
    except OverflowError:  # an integer beyond any float
        return np.full((len(vectors), lengths[0]), np.inf, dtype=np.float32)
    if what := packed_bits.bytes_in_words(matrix):
        raise WrongAnswer(f"gives {what}; ask it for floats")
    return matrix


def _from_base64(text: str) -> Float32:
    """Little-endian float32, as OpenAI sends it."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise WrongAnswer("gives vectors that are no base64") from error
    if len(data) % 4:
        raise WrongAnswer(f"gives vectors of {len(data)} bytes, which is no list of float32")
    return np.frombuffer(data, dtype="<f4").astype(np.float32)
