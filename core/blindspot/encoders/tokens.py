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
        tokens: ``n`` tokens in the text's order; the pieces of a word are one token.
        parts: ``[n, d] float64``: each token's vector times its weight; zeros for unknown words and what is cut off.
        shares: ``[n] float64``, adding up to 1: each token's share of a constant that is added to the vector.
    """

    tokens: tuple[Token, ...]
    parts: Float64
    shares: Float64


@runtime_checkable
class TokenVectors(Protocol):
    """An encoder whose vectors are sums over tokens, such as the mean of word vectors."""

    def token_parts(self, text: str) -> TokenParts | None:
        """The tokens of a text; None if its vector is not such a sum (another pooling), or it has no vector.

        Raises what ``Encoder.encode`` does.
        """
        ...


def mean_of(tokens: Sequence[Token], vectors: Float32 | Float64, counted: Bool) -> TokenParts:
    """Parts of the mean of the rows of ``vectors [n, d]`` that are ``counted [n]``; zeros if none is counted."""
    shares = counted / counted.sum() if counted.any() else np.full(len(tokens), 1 / max(len(tokens), 1))
    parts = np.where(counted[:, None], vectors, 0.0).astype(np.float64) * shares[:, None]
    return TokenParts(tuple(tokens), parts, shares)


def merged(token_parts: TokenParts, groups: Sequence[int], tokens: Sequence[Token]) -> TokenParts:
    """The parts with row i added to token ``groups[i]`` of ``tokens``."""
    parts = np.zeros((len(tokens), token_parts.parts.shape[1]))
    shares = np.zeros(len(tokens))
    np.add.at(parts, list(groups), token_parts.parts)
    np.add.at(shares, list(groups), token_parts.shares)
    return TokenParts(tuple(tokens), parts, shares)


def without_idle(parts: TokenParts) -> TokenParts:
    """The parts without tokens that the tokenizer adds and the encoder leaves out, if any others remain."""
    kept = [i for i, token in enumerate(parts.tokens) if token.role is not Role.ADDED or parts.shares[i]]
    if not kept:
        return parts
    return TokenParts(tuple(parts.tokens[i] for i in kept), parts.parts[kept], parts.shares[kept])
