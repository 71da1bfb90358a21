"""Contributions of words to the cosine of two texts.

If both texts' vectors are sums over their words, ``x = sum_i x_i`` and ``y = sum_j y_j``, and so are the transform's
results, the cosine is exactly the sum of ``x_i . y_j / (|x| |y|)`` over all pairs of words. For any other encoder or
transform, words are left out one at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from blindspot.encoders.base import Encoder, VocabularyEncoder
from blindspot.encoders.tokens import Token, TokenParts, TokenVectors
from blindspot.errors import BlindspotError
from blindspot.transforms.chain import FittedChain
from blindspot.types import CancelToken, Float32, Float64

MOST_LEFT_OUT = 40  # parts of a text; for each, the text is encoded without it
TINY = 1e-9  # a smaller length counts as zero
ANOTHER_VECTOR = 0.01  # difference as a share of its length; float16 and batches cause far smaller ones


class CannotExplain(BlindspotError):
    """The similarity cannot be split by words; the message is for readers."""


class Way(StrEnum):
    """Method of finding contributions."""

    SUM = "sum"
    LEAVING_OUT = "leaving out"


@dataclass(frozen=True, eq=False)
class Contributions:
    """What the words of two texts contribute to their cosine.

    Attributes:
        words: ``n`` of the first text, ``m`` of the second.
        cells: ``[n, m] float64``. By sum: they add up to the cosine. By leaving out: the cosine's losses without
            either word alone, added up, minus its loss without both: above 0 for words that match each other.
        of_words: ``[n]`` and ``[m] float64``, per word. By sum: the sum of its row or column of ``cells``. By leaving
            out: by how much the cosine falls without it.
        cosine: in float64, of the vectors that runs use; 0 if one of them is zero.
    """

    way: Way
    words: tuple[tuple[Token, ...], tuple[Token, ...]]
    cells: Float64
    of_words: tuple[Float64, Float64]
    cosine: float


def contributions(
    texts: tuple[str, str],
    stored: tuple[Float32 | None, Float32 | None],
    encoder: Encoder,
    chain: FittedChain,
    cancel: CancelToken,
) -> Contributions:
    """Contributions of two texts' words to their cosine under an encoder and a transform.

    Args:
        stored: the texts' vectors ``[d] float32`` before the transform, if there are any: vectors from another batch
            can differ in the last digits, and the difference is then spread evenly over the words.
        encoder: loaded, and fitted if necessary.

    Raises:
        Cancelled: while words are left out.
        CannotExplain: the encoder only knows whole texts, has no vector for one, or gives other vectors than stored.
    """
    if encoder.info.is_partial and not isinstance(encoder, VocabularyEncoder | TokenVectors):
        raise CannotExplain("These vectors were computed elsewhere, for whole texts: they say nothing about words.")
    if chain.chain.is_one_sided:
        raise CannotExplain("Queries and documents are transformed in different ways, so words cannot be weighed yet.")
    vectors = tuple(_vector(text, vector, encoder, cancel) for text, vector in zip(texts, stored, strict=True))
    if isinstance(encoder, TokenVectors):
        token_parts = [encoder.token_parts(text) for text in texts]
        parts = [
            None if token_parts is None else _transformed(token_parts, vector, chain)
            for token_parts, vector in zip(token_parts, vectors, strict=True)
        ]
        if parts[0] is not None and parts[1] is not None:
            return _by_sum(*parts[0], *parts[1])
    return _by_leaving_out(texts, np.stack(vectors), encoder, chain, cancel)


def _vector(text: str, stored: Float32 | None, encoder: Encoder, cancel: CancelToken) -> Float32:
    vector = encoder.encode([text], cancel)[0] if stored is None else np.asarray(stored)
    if np.isnan(vector).any():
        raise CannotExplain("There is no vector for one of the texts: none of its words is known.")
    return vector


def _transformed(token_parts: TokenParts, vector: Float32, chain: FittedChain) -> tuple[TokenParts, Float64] | None:
    """The parts of the transformed vector, and the vector; None if the transform does not preserve sums."""
    embedding = vector.astype(np.float64)
    gap = embedding - token_parts.parts.sum(axis=0)
    if np.linalg.norm(gap) > ANOTHER_VECTOR * max(float(np.linalg.norm(embedding)), TINY):
        raise CannotExplain(
            "The model gives this text another vector today than when the run was computed: run it again first."
        )
    parts = chain.of_parts(token_parts.parts + np.outer(token_parts.shares, gap), token_parts.shares)
    if parts is None:
        return None
    made = chain.apply(vector[None, :])[0].astype(np.float64)  # rounded to float32, as runs have it
    rounding = made - parts.sum(axis=0)
    return TokenParts(token_parts.tokens, parts + np.outer(token_parts.shares, rounding), token_parts.shares), made


def _by_sum(first: TokenParts, x: Float64, second: TokenParts, y: Float64) -> Contributions:
    lengths = float(np.linalg.norm(x) * np.linalg.norm(y))
    cells = first.parts @ second.parts.T / lengths if lengths else np.zeros((len(first.tokens), len(second.tokens)))
    of_words = cells.sum(axis=1), cells.sum(axis=0)
    return Contributions(Way.SUM, (first.tokens, second.tokens), cells, of_words, float(cells.sum()))


def _by_leaving_out(
    texts: tuple[str, str], vectors: Float32, encoder: Encoder, chain: FittedChain, cancel: CancelToken
) -> Contributions:
    x, y = _unit(chain.apply(vectors))
    cosine = float(x @ y)
    units = [parts_of(text) for text in texts]
    left = []
    for of_text in units:
        rows = []
        for position in range(len(of_text)):
            cancel.check()
            rows.append(encoder.encode([without(of_text, position)], cancel)[0])
        left.append(_unit(chain.apply(np.array(rows, dtype=np.float32).reshape(len(rows), vectors.shape[1]))))
    alone = cosine - left[0] @ y, cosine - left[1] @ x
    both = cosine - left[0] @ left[1].T
    words = tuple(tuple(Token(unit) for unit in of_text) for of_text in units)
    return Contributions(
        Way.LEAVING_OUT, (words[0], words[1]), alone[0][:, None] + alone[1][None, :] - both, alone, cosine
    )


def parts_of(text: str) -> list[str]:
    """The words of a text, split at spaces; if there are more than ``MOST_LEFT_OUT``, runs of equally many words."""
    words = text.split()
    size = -(-len(words) // MOST_LEFT_OUT) or 1
    return [" ".join(words[start : start + size]) for start in range(0, len(words), size)]


def without(parts: Sequence[str], left_out: int) -> str:
    """A text without one of its parts, with single spaces."""
    return " ".join(part for index, part in enumerate(parts) if index != left_out)


def _unit(vectors: Float32) -> Float64:
    """Rows scaled to length one, in float64; a zero row and a row of NaN (no vector) stay as they are."""
    rows = vectors.astype(np.float64)
    norms = np.sqrt(np.einsum("nd,nd->n", rows, rows))[:, None]
    return np.asarray(np.divide(rows, norms, out=np.zeros_like(rows), where=norms != 0))
