"""Passages of texts, cut between the tokens of a model's own tokenizer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from blindspot.datasets.kinds.base import Dataset
from blindspot.datasets.kinds.retrieval import RetrievalDataset
from blindspot.encoders.base import Encoder
from blindspot.encoders.catalog import passages_of
from blindspot.encoders.references import Passages
from blindspot.encoders.roles import RoleEncoder
from blindspot.encoders.transformer.reading import tokens_unread, whole_tokenizer
from blindspot.errors import InputError

TEXTS_AT_ONCE = 1_024
LISTED = 20  # documents that lose most


def in_passages(dataset: Dataset, reference: str, encoder: Encoder) -> Dataset:
    """The dataset as the model of a reference reads it: with documents in passages if the reference asks for them.

    Raises:
        InputError: the reference asks for passages, and the dataset has no documents.
    """
    passages = passages_of(reference)
    if passages is None:
        return dataset
    if not isinstance(dataset, RetrievalDataset):
        raise without_documents(reference, f"'{dataset.id}'")
    return dataset.in_passages(TokenCutter(passages, reference, encoder))


def without_documents(reference: str, what: str) -> InputError:
    """The error for passages that were asked for where there is nothing to cut."""
    return InputError(
        f"'{reference}' reads documents in passages, and {what} has no documents",
        expected="retrieval",
        remedy="leave out passages",
    )


@dataclass(frozen=True)
class TokenCutter:
    """Windows of ``passages.window`` tokens, each beginning ``window - overlap`` tokens after the one before.

    The last window is the first that reaches the end of the text; it can be shorter. A word at an edge can be cut in
    two: the overlap contains all of it.
    """

    passages: Passages
    reference: str
    encoder: object = field(compare=False, repr=False)

    @property
    def digest(self) -> str:
        return f"passages {self.passages}, 1"

    def spans(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        """See ``blindspot.datasets.kinds.passages.Cutter``."""
        out = []
        for start in range(0, len(texts), TEXTS_AT_ONCE):
            some = list(texts[start : start + TEXTS_AT_ONCE])
            encoded = self._tokenizer.encode_batch(some, add_special_tokens=False)
            out += [
                [
                    (encoding.offsets[first][0], encoding.offsets[end - 1][1])
                    for first, end in windows(len(encoding.ids), self.passages)
                ]
                or [(0, len(text))]
                for encoding, text in zip(encoded, some, strict=True)
            ]
        return out

    @cached_property
    def _tokenizer(self) -> Any:
        tokenizer = whole_tokenizer(self.encoder)
        if tokenizer is None:
            raise InputError(
                f"'{self.reference}' has no tokenizer.json to cut documents with",
                expected="a model with a fast tokenizer",
            )
        return tokenizer


def truncated(encoder: Encoder, dataset: RetrievalDataset) -> dict[str, Any]:
    """Facts for a manifest: how many documents and queries an encoder truncates, and the ids of the documents that lose
    most tokens, most first. A document in passages counts if a passage is truncated. Empty if that is not known.
    """
    prompts = (encoder.query, encoder.document) if isinstance(encoder, RoleEncoder) else (encoder.identity.prompt,) * 2
    most, cut = encoder.identity.max_length, dataset.cut
    tokenizer = whole_tokenizer(encoder.base if isinstance(encoder, RoleEncoder) else encoder)
    if tokenizer is None or not most:
        return {}
    queries = tokens_unread(tokenizer, dataset.query_texts, most, prompts[0])
    read = [cut.texts[i] for i in cut.passages.tolist()] if cut else dataset.document_texts
    documents = tokens_unread(tokenizer, read, most, prompts[1])
    if cut:
        documents = np.add.reduceat(documents, cut.starts[:-1])
    worst = np.argsort(-documents, kind="stable")[: min(LISTED, int(np.count_nonzero(documents)))]
    return {
        "truncated_documents": int(np.count_nonzero(documents)),
        "truncated_queries": int(np.count_nonzero(queries)),
        "most_truncated": {dataset.document_ids[i]: int(documents[i]) for i in worst.tolist()},
    }


def windows(tokens: int, passages: Passages) -> list[tuple[int, int]]:
    """First token and last + 1 of each passage of a text of so many tokens."""
    step = passages.window - passages.overlap
    firsts = range(0, max(tokens - passages.overlap, min(tokens, 1)), step)
    return [(first, min(first + passages.window, tokens)) for first in firsts]
