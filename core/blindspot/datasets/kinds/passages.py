"""Documents cut into passages, to be encoded one by one: a document is as similar to a query as its best passage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Protocol

import numpy as np

from blindspot.types import Int32

Span = tuple[int, int]


class Cutter(Protocol):
    """Cuts texts where a model's tokens begin and end."""

    @property
    def digest(self) -> str:
        """What decides the cuts, besides the model."""
        ...

    def spans(self, texts: Sequence[str]) -> list[list[Span]]:
        """Passages of each text, first and last character + 1; at least one, the whole text if it is short."""
        ...


@dataclass(frozen=True, eq=False)
class Cut:
    """Texts to encode instead of a retrieval dataset's items: whole queries, and passages of documents.

    Attributes:
        texts: distinct, with the queries' texts first.
        queries: ``[q] int32``, index into ``texts`` of each query.
        starts: ``[d + 1] int32``: the passages of document ``i`` are those from ``starts[i]`` to before
            ``starts[i + 1]``; every document has one.
        passages: ``[p] int32``, index into ``texts`` of each passage.
        spans: ``[p, 2] int32``, each passage's characters in the document's text, title included; the title is put
            before every passage, but only the first passage's span includes it.
    """

    texts: tuple[str, ...]
    queries: Int32
    starts: Int32
    passages: Int32
    spans: Int32

    @classmethod
    def of(cls, queries: Sequence[str], documents: Sequence[str], titles: Sequence[str], cutter: Cutter) -> Cut:
        """Cut documents, given by their texts, titles included."""
        bodies = [body_of(text, title) for text, title in zip(documents, titles, strict=True)]
        cut = [
            list(_passages(text, len(text) - len(body), spans))
            for text, body, spans in zip(documents, bodies, cutter.spans(bodies), strict=True)
        ]
        passages = [passage for text in cut for passage, _ in text]
        number = {text: i for i, text in enumerate(dict.fromkeys([*queries, *passages]))}
        return cls(
            tuple(number),
            np.array([number[text] for text in queries], dtype=np.int32),
            np.array([0, *accumulate(map(len, cut))], dtype=np.int32),
            np.array([number[text] for text in passages], dtype=np.int32),
            np.array([span for text in cut for _, span in text], dtype=np.int32).reshape(-1, 2),
        )


def body_of(text: str, title: str) -> str:
    return text.removeprefix(title).lstrip() if title else text


def _passages(text: str, start: int, spans: Sequence[Span]) -> Iterator[tuple[str, Span]]:
    """Text and span of each passage; ``spans`` refer to the body, which begins at ``start``.

    A document of one passage keeps its text, so that it has the same vector as uncut.
    """
    if len(spans) == 1:
        yield text, (0, len(text))
        return
    for number, (first, end) in enumerate(spans):
        yield text[:start] + text[start + first : start + end], (start + first if number else 0, start + end)
