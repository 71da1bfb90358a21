"""Prompts by role: a model that declares prompts for queries and for documents gets them, each before its texts.

The names are those that sentence-transformers' ``encode_query`` and ``encode_document`` look for; the first that the
model has a prompt of counts.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np

from core.encoders.base import Encoder, EncoderFamily, EncoderIdentity, EncoderInfo, Encodings, Sibling
from core.types import CancelToken, Float32

QUERY_NAMES = ("query",)
DOCUMENT_NAMES = ("document", "passage", "corpus")


@runtime_checkable
class PromptedEncoder(Protocol):
    """An encoder that can put another prompt before its texts."""

    def prompted(self, prompt: str) -> Encoder:
        """The encoder with a prompt, on the same weights if these are loaded."""
        ...


def by_role(encoder: Encoder, queries: Collection[str]) -> Encoder:
    """The encoder with its own prompts before ``queries`` and before all other texts, which are documents.

    It stays as it is without queries, without declared prompts for them, or if its reference decides the prompt.
    """
    declared = dict(encoder.info.unused_prompts)
    query, document = _first(declared, QUERY_NAMES), _first(declared, DOCUMENT_NAMES)
    if not queries or not (query or document) or encoder.identity.prompt or not isinstance(encoder, PromptedEncoder):
        return encoder
    return RoleEncoder(encoder, query, document, frozenset(queries))


def _first(declared: Mapping[str, str], names: Sequence[str]) -> str:
    return next((declared[name] for name in names if name in declared), "")


@dataclass(frozen=True, eq=False)
class RoleEncoder:
    """An encoder with one prompt before queries and another before documents.

    Attributes:
        base: without a prompt; a ``PromptedEncoder``.
        query, document: prompts; "" for none.
        queries: texts that are queries. One that is a document, too, is encoded as a query.
    """

    base: Encoder
    query: str
    document: str
    queries: frozenset[str]

    @property
    def identity(self) -> EncoderIdentity:
        """The prompt is that of documents; the pooling names that of queries."""
        own = self.base.identity
        return replace(own, prompt=self.document, pooling=f"{own.pooling}; prompt of queries: {self.query!r}")

    @property
    def info(self) -> EncoderInfo:
        used = {*QUERY_NAMES, *DOCUMENT_NAMES}
        left = tuple((name, text) for name, text in self.base.info.unused_prompts if name not in used)
        return replace(self.base.info, unused_prompts=left)

    @property
    def family(self) -> tuple[Sibling, ...]:
        """This encoder alone."""
        return (Sibling(self.identity, self.info),)

    @property
    def device(self) -> str:
        return self.base.device

    def load(self) -> None:
        self.base.load()

    def encode(self, texts: Sequence[str], cancel: CancelToken) -> Float32:
        return self.encode_family(texts, cancel).vectors[0]

    def encode_family(self, texts: Sequence[str], cancel: CancelToken) -> Encodings:
        """Vectors of the texts, each with the prompt of its role; raises what ``Encoder.encode`` does."""
        out = np.empty((len(texts), self.info.dimension), dtype=np.float32)
        is_query = np.array([text in self.queries for text in texts], dtype=np.bool_)
        truncated = 0
        for encoder, here in zip(self._by_role, (is_query, ~is_query), strict=True):
            rows = np.flatnonzero(here)
            if not len(rows):
                continue
            some = [texts[row] for row in rows.tolist()]
            if isinstance(encoder, EncoderFamily):
                found = encoder.encode_family(some, cancel)
                out[rows], truncated = found.vectors[0], truncated + found.truncated
            else:
                out[rows] = encoder.encode(some, cancel)
        return Encodings((out,), truncated)

    @cached_property
    def _by_role(self) -> tuple[Encoder, Encoder]:
        """For queries and for documents, on the same weights."""
        self.base.load()
        if not isinstance(self.base, PromptedEncoder):
            raise TypeError(f"{self.base.identity.reference} takes no other prompt")
        return self.base.prompted(self.query), self.base.prompted(self.document)
