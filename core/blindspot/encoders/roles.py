"""Prompts by role: a model with prompts for queries and for documents gets each before the texts of its role.

A reference gives them, or the model declares them as ``query`` and ``document``; sentence-transformers'
``encode_query`` and ``encode_document`` use these. They would use a prompt named ``passage`` or ``corpus`` only if
there were no ``document``; but every model has one, empty unless the model sets it. So such a prompt is not applied.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np

from blindspot.encoders.base import (
    DOCUMENT_NAME,
    QUERY_NAME,
    ROLE_NAMES,
    Encoder,
    EncoderFamily,
    EncoderIdentity,
    EncoderInfo,
    Encodings,
    JoinedEncoder,
    LongestFirst,
    PreparedTexts,
    PreparingEncoder,
    RolePrompts,
    Sibling,
    SizedEncoder,
    notes_of,
    ran_on,
)
from blindspot.types import CancelToken, Float32, Int64


class DescribedModel(Protocol):
    """An encoder or a ranking."""

    @property
    def info(self) -> EncoderInfo: ...


_OF_QUERIES = "; prompt of queries: "


@runtime_checkable
class PromptedEncoder(Protocol):
    """An encoder that can put another prompt before its texts."""

    def prompted(self, prompt: str, task: str = "") -> Encoder:
        """The encoder with a prompt, on the same weights if these are loaded.

        ``task`` is ``query`` or ``document`` for texts with a role, for models that encode roles in different ways.
        """
        ...


def role_prompts(
    declared: Mapping[str, str],
    prompt: str | None,
    query: str | None,
    document: str | None,
    *,
    default: str = "",
    tells_roles: bool = False,
) -> RolePrompts | None:
    """The prompts for queries and for documents; None if all texts are encoded alike.

    What a reference gives counts first. A role that it leaves out gets the reference's prompt for every text, else what
    the model declares for the role, else none: never the model's default prompt, as in sentence-transformers.

    Args:
        declared: the model's prompts by name.
        prompt: the reference's prompt for every text; None if it gives none.
        query, document: the reference's prompt for a role; None if it gives none.
        default: the prompt that the model declares for texts without a role.
        tells_roles: whether the model encodes roles in different ways, prompts aside.
    """
    own_query, own_document = declared.get(QUERY_NAME, ""), declared.get(DOCUMENT_NAME, "")
    if prompt is not None:
        own_query = own_document = default = prompt
    if query is None and document is None:
        is_alike = own_query == own_document == default and not tells_roles
        return None if is_alike else RolePrompts(own_query, own_document)
    return RolePrompts(
        own_query if query is None else query, own_document if document is None else document, given=True
    )


def without_roles(prompts: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """The (name, text) of prompts that are not for a role."""
    return tuple((name, text) for name, text in prompts if name not in ROLE_NAMES)


def by_role(encoder: Encoder, queries: Collection[str]) -> Encoder:
    """The encoder with its prompts by role: one before ``queries``, one before all other texts, which are documents.

    It stays as it is without queries or without such prompts.
    """
    if isinstance(encoder, JoinedEncoder):
        return encoder.with_each(lambda reference: by_role(reference, queries))
    prompts = encoder.info.role_prompts
    if not queries or prompts is None or not isinstance(encoder, PromptedEncoder):
        return encoder
    return RoleEncoder(encoder, prompts.query, prompts.document, frozenset(queries))


def encoded_by(encoder: object) -> str:
    """The library that encodes instead of Blindspot; "" for none."""
    return str(getattr(_base(encoder), "encoded_by", ""))


def assumed_of(encoder: DescribedModel) -> tuple[str, ...]:
    """``EncoderInfo.assumed``, and what was found when the model was loaded."""
    return (*encoder.info.assumed, *getattr(_base(encoder), "measured", ()))


def _base(encoder: object) -> object:
    return encoder.base if isinstance(encoder, RoleEncoder) else encoder


def info_with_roles(encoder: Encoder) -> EncoderInfo:
    """The encoder's facts where some texts are queries."""
    return by_role(encoder, ("a query",)).info


def without_prompt(pooling: str) -> str:
    """The pooling of an encoder, from the pooling in its identity with roles."""
    return pooling.partition(_OF_QUERIES)[0]


@dataclass(frozen=True, eq=False)
class RoleEncoder:
    """An encoder with one prompt before queries and another before documents.

    Attributes:
        base: a ``PromptedEncoder``; its own prompt is not applied.
        query, document: prompts; "" for none.
        queries: texts that are queries. One that is a document, too, is encoded as a query.
        documents: number of documents, which come first in each call; all later texts are queries, whatever they say.
            None if ``queries`` decides.
    """

    base: Encoder
    query: str
    document: str
    queries: frozenset[str] = frozenset()
    documents: int | None = None

    @property
    def prompts(self) -> dict[str, str]:
        """Prompts by role, for the manifest."""
        return {"query": self.query, "document": self.document}

    @property
    def identity(self) -> EncoderIdentity:
        """The prompt is the one for documents; the pooling names the one for queries."""
        identity = self.base.identity
        return replace(identity, prompt=self.document, pooling=f"{identity.pooling}{_OF_QUERIES}{self.query!r}")

    @property
    def info(self) -> EncoderInfo:
        return replace(self.base.info, unused_prompts=without_roles(self.base.info.unused_prompts))

    @property
    def family(self) -> tuple[Sibling, ...]:
        """This encoder alone."""
        return (Sibling(self.identity, self.info),)

    @property
    def counts_truncated(self) -> bool:
        """Whether the base counts texts that it truncates; a server does not say."""
        return bool(getattr(self.base, "counts_truncated", isinstance(self.base, EncoderFamily)))

    @property
    def device(self) -> str:
        return self.base.device

    @property
    def ran_on(self) -> str:
        """The device of both roles: their encoders share it."""
        return next((device for encoder in self._by_role if " and " in (device := ran_on(encoder))), self.device)

    @property
    def notes(self) -> Sequence[str]:
        """See ``SizedEncoder``."""
        return notes_of(self.base)

    def for_work(self, characters: int) -> RoleEncoder:
        """See ``SizedEncoder``."""
        if not isinstance(self.base, SizedEncoder):
            return self
        return replace(self, base=self.base.for_work(characters))

    def load(self) -> None:
        self.base.load()

    def encode(self, texts: Sequence[str], cancel: CancelToken) -> Float32:
        return self.encode_family(texts, cancel).vectors[0]

    def encode_family(self, texts: Sequence[str], cancel: CancelToken) -> Encodings:
        """Vectors of the texts, each with the prompt of its role; raises what ``Encoder.encode`` does."""
        return self.prepare(texts, cancel).encode(np.arange(len(texts)), cancel)

    def prepare(self, texts: Sequence[str], cancel: CancelToken) -> PreparedTexts:
        """See ``PreparingEncoder``; documents come first, since they are longer."""
        if self.documents is None:
            is_query = np.array([text in self.queries for text in texts], dtype=np.bool_)
        else:
            is_query = np.arange(len(texts)) >= self.documents
        parts = []
        for encoder, here in zip(self._by_role, (is_query, ~is_query), strict=True):
            rows = np.flatnonzero(here).astype(np.int64)
            some = [texts[row] for row in rows.tolist()]
            prepared: PreparedTexts = LongestFirst(encoder, some)
            if isinstance(encoder, PreparingEncoder):
                prepared = encoder.prepare(some, cancel)
            parts.append((rows, prepared))
        queries, documents = parts
        return _PreparedByRole((documents, queries), self.info.dimension)

    @cached_property
    def _by_role(self) -> tuple[Encoder, Encoder]:
        """The encoders for queries and for documents, on the same weights."""
        self.base.load()
        if not isinstance(self.base, PromptedEncoder):
            raise TypeError(f"{self.base.identity.reference} takes no other prompt")
        return self.base.prompted(self.query, "query"), self.base.prompted(self.document, "document")


@dataclass(frozen=True, eq=False)
class _PreparedByRole:
    """``PreparedTexts`` of two roles: for each, the rows ``[k] int64`` of its texts, and the prepared texts."""

    parts: tuple[tuple[Int64, PreparedTexts], ...]
    dimension: int

    @property
    def order(self) -> Int64:
        return np.concatenate([rows[prepared.order] for rows, prepared in self.parts])

    @cached_property
    def work(self) -> Int64:
        out = np.empty(sum(len(rows) for rows, _ in self.parts), dtype=np.int64)
        for rows, prepared in self.parts:
            out[rows] = prepared.work
        return out

    def encode(self, rows: Int64, cancel: CancelToken) -> Encodings:
        out = np.empty((len(rows), self.dimension), dtype=np.float32)
        truncated = 0
        for rows_of_role, prepared in self.parts:
            here = np.isin(rows, rows_of_role)
            if here.any():
                batch = prepared.encode(np.searchsorted(rows_of_role, rows[here]), cancel)
                out[here], truncated = batch.vectors[0], truncated + batch.truncated
        return Encodings((out,), truncated)
