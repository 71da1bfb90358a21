"""Token vectors: a text's vector as a sum over its words, for encoders with such vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, runtime_checkable

import numpy as np

from blindspot.types import Bool, Float32, Float64


class Role(StrEnum):
    """Role of a token in the encoder."""

    WORD = "word"
    ADDED = "added by the tokenizer"
    PROMPT = "prompt"
    UNKNOWN = "no vector"
    CUT = "cut off"


@dataclass(frozen=True)
class Token:
    """A word or punctuation mark as in the text, or a token added by the tokenizer (``[CLS]``)."""

    text: str
    role: Role = Role.WORD


@dataclass(frozen=True, eq=False)
class TokenParts:
    """A text's vector, ``parts.sum(axis=0)``, by its tokens.

    Attributes:
        tokens: ``n`` tokens in the text's order; the pieces of a word are one.
        parts: ``[n, d] float64``: each token's vector by its weight; of unknown words and of what is cut off, zeros.
        shares: ``[n] float64``, adding up to 1: what each token gets of a constant that is added to the vector.
    """

    tokens: tuple[Token, ...]
    parts: Float64
    shares: Float64


@runtime_checkable
class TokenVectors(Protocol):
    """An encoder whose vectors are sums over tokens, such as the mean of word vectors."""

    def token_parts(self, text: str) -> TokenParts | None:
        """The tokens of a text; None where its vector is no such sum (another pooling), or it has no vector.

        Raises what ``Encoder.encode`` does.
        """
        ...


def mean_of(tokens: Sequence[Token], vectors: Float32 | Float64, counted: Bool) -> TokenParts:
    """Parts of the mean of those rows of ``vectors [n, d]`` that are ``counted [n]``; of nothing, the zero vector."""
    shares = counted / counted.sum() if counted.any() else np.full(len(tokens), 1 / max(len(tokens), 1))
    parts = np.where(counted[:, None], vectors, 0.0).astype(np.float64) * shares[:, None]
    return TokenParts(tuple(tokens), parts, shares)


def merged(found: TokenParts, groups: Sequence[int], tokens: Sequence[Token]) -> TokenParts:
    """The parts with row i added to token ``groups[i]`` of ``tokens``."""
    parts = np.zeros((len(tokens), found.parts.shape[1]))
    shares = np.zeros(len(tokens))
    np.add.at(parts, list(groups), found.parts)
    np.add.at(shares, list(groups), found.shares)
    return TokenParts(tuple(tokens), parts, shares)


def without_idle(parts: TokenParts) -> TokenParts:
    """Without tokens that the tokenizer adds and the encoder leaves out, if any others remain."""
    kept = [i for i, token in enumerate(parts.tokens) if token.role is not Role.ADDED or parts.shares[i]]
    if not kept:
        return parts
    return TokenParts(tuple(parts.tokens[i] for i in kept), parts.parts[kept], parts.shares[kept])
