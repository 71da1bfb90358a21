"""Texts made of a retrieval set's passages: the answering sentence moved to other places, and first sentences alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from itertools import accumulate, pairwise
from math import log

import numpy as np

from blindspot.datasets.kinds.passages import body_of
from blindspot.datasets.kinds.retrieval import RELEVANT, RetrievalDataset
from blindspot.datasets.perturbations import english
from blindspot.encoders.base import Encoder, JoinedEncoder
from blindspot.encoders.rankings.bm25 import terms
from blindspot.encoders.roles import RoleEncoder, by_role
from blindspot.encoders.transformer.reading import tokens_unread, whole_tokenizer
from blindspot.errors import InputError
from blindspot.types import Int64, digest_of_strings

VERSION = "1"  # of the texts
PLACES = ("first", "middle", "last")  # of the answering sentence
LENGTHS = (1, 2, 4, 8)  # first sentences
FEWEST = 2  # sentences of a passage
FEWEST_WITH_MIDDLE = 3
MOST = 500  # passages
SEED = 2_412
NONE = -1  # in place of a row


@dataclass(frozen=True, eq=False)
class Arrangement:
    """Passages, each with a query that it answers, and the texts that are made of them.

    Attributes:
        texts: that are made, distinct.
        queries, documents: ``[r]``, numbers of each passage's query and document; no document is there twice.
        answers: ``[r]``, place of the sentence that answers, from 0.
        sentences: ``[r]``, their number.
        moved: ``[r, 3]``, index into ``texts`` of the passage with that sentence in each of ``PLACES``; ``NONE`` for
            the middle of two.
        starts: ``[r, 4]``, index into ``texts`` of its first sentences, as many as ``LENGTHS`` says; ``NONE`` where it
            has fewer.
        words: ``[r, 4]``, their number of words.
        short: queries whose relevant documents have one sentence each, or are another query's passage.
        unmatched: queries that share no word with a sentence of their passage.
    """

    texts: tuple[str, ...]
    queries: Int64
    documents: Int64
    answers: Int64
    sentences: Int64
    moved: Int64
    starts: Int64
    words: Int64
    short: int
    unmatched: int

    @classmethod
    def of(cls, dataset: RetrievalDataset) -> Arrangement:
        """One query a passage, at most ``MOST``, drawn where there are more."""
        passages, short = _passages(dataset)
        if len(passages) > MOST:
            drawn = np.random.default_rng(SEED).choice(len(passages), MOST, replace=False)
            passages = [passages[i] for i in sorted(drawn.tolist())]
        places = _answers(
            [dataset.query_texts[passage.query] for passage in passages], [passage.sentences for passage in passages]
        )
        number: dict[str, int] = {}
        kept = [(passage, position) for passage, position in zip(passages, places, strict=True) if position is not None]
        moved, starts, words = [], [], []
        for passage, answer in kept:
            texts = [passage.titled(arranged(passage.sentences, answer, where)) for where in PLACES]
            moved.append([NONE if text is None else number.setdefault(text, len(number)) for text in texts])
            first = [passage.sentences[:n] if len(passage.sentences) >= n else () for n in LENGTHS]
            starts.append([number.setdefault(" ".join(some), len(number)) if some else NONE for some in first])
            words.append([len(" ".join(some).split()) for some in first])

        def whole(rows: Sequence[object], columns: int = 0) -> Int64:
            made = np.array(rows, dtype=np.int64)
            return made.reshape(-1, columns) if columns else made

        return cls(
            tuple(number),
            whole([passage.query for passage, _ in kept]),
            whole([passage.document for passage, _ in kept]),
            whole([answer for _, answer in kept]),
            whole([len(passage.sentences) for passage, _ in kept]),
            whole(moved, len(PLACES)),
            whole(starts, len(LENGTHS)),
            whole(words, len(LENGTHS)),
            short,
            len(passages) - len(kept),
        )


@dataclass(frozen=True)
class _Passage:
    query: int
    document: int
    title: str
    sentences: tuple[str, ...]

    def titled(self, sentences: Sequence[str] | None) -> str | None:
        return None if sentences is None else " ".join([*([self.title] if self.title else []), *sentences])


def split(text: str) -> tuple[str, ...]:
    """The sentences of a text; where it has no capital letters, they need none."""
    any_case = text == text.lower()
    return tuple(s for start, end in english.sentences(text, any_case=any_case) if (s := text[start:end].strip()))


def arranged(sentences: Sequence[str], answer: int, where: str) -> list[str] | None:
    """The sentences with one of them in another place, the others in their order; None for the middle of two."""
    others = [sentence for i, sentence in enumerate(sentences) if i != answer]
    if where == "middle" and len(sentences) < FEWEST_WITH_MIDDLE:
        return None
    at = {"first": 0, "middle": len(others) // 2, "last": len(others)}[where]
    return [*others[:at], sentences[answer], *others[at:]]


def _passages(dataset: RetrievalDataset) -> tuple[list[_Passage], int]:
    """Each query's best relevant document with several sentences that no earlier query has taken; and how many queries
    with relevant documents are left without."""
    taken: set[int] = set()
    out: list[_Passage] = []
    short = 0
    sentences_of: dict[int, tuple[str, ...]] = {}
    for query in range(len(dataset.queries)):
        judged, grades = dataset.judgments_of(query)
        best = np.argsort(-grades, kind="stable")
        relevant = judged[best][grades[best] >= RELEVANT].tolist()
        if not relevant:
            continue
        for document in relevant:
            item, title = int(dataset.documents[document]), dataset.titles[document]
            if item in taken:
                continue
            if item not in sentences_of:
                sentences_of[item] = split(body_of(dataset.items[item], title))
            if len(sentences_of[item]) >= FEWEST:
                taken.add(item)
                out.append(_Passage(query, document, title, sentences_of[item]))
                break
        else:
            short += 1
    return out, short


def _answers(queries: Sequence[str], passages: Sequence[Sequence[str]]) -> list[int | None]:
    """Place of the sentence in each passage that shares most with its query: the highest sum of log(1 + n / df) over
    common words, which are in df of the n passages. The first of equals; None without a common word."""
    ends = [0, *accumulate(map(len, passages))]
    every = (
        [set(words) for words in terms([sentence for passage in passages for sentence in passage])] if passages else []
    )
    of_passage = [every[a:b] for a, b in pairwise(ends)]
    n, df = len(passages), Counter(word for of in of_passage for word in set().union(*of))
    out: list[int | None] = []
    for asked, sentences in zip(terms(queries) if queries else [], of_passage, strict=True):
        shared = [sum(log(1 + n / df[word]) for word in sorted(sentence & set(asked))) for sentence in sentences]
        out.append(int(np.argmax(shared)) if max(shared) > 0 else None)
    return out


NOTHING_TO_MOVE = (
    f"no query that shares a word with a relevant document of {FEWEST} sentences or more: there is no sentence to move"
)


@dataclass(frozen=True, eq=False)
class ArrangedDataset(RetrievalDataset):
    """A retrieval set whose ``encoded`` texts are its items and then the texts that are made of its passages."""

    encoder: Encoder | None = field(default=None, kw_only=True)

    has_parts = False

    @classmethod
    def of(cls, dataset: RetrievalDataset, encoder: Encoder) -> ArrangedDataset:
        arranged_dataset = cls(
            **{field.name: getattr(dataset, field.name) for field in fields(dataset)}, encoder=encoder
        )
        vars(arranged_dataset).update(texts_digest=dataset.texts_digest, content_digest=dataset.content_digest)
        return arranged_dataset

    @property
    def whole(self) -> RetrievalDataset:
        return RetrievalDataset(**{field.name: getattr(self, field.name) for field in fields(RetrievalDataset)})

    @cached_property
    def arrangement(self) -> Arrangement:
        """Its passages; raises ``InputError`` if no query has one of several sentences."""
        arrangement = Arrangement.of(self)
        if not len(arrangement.queries):
            raise InputError(
                f"'{self.id}' has {NOTHING_TO_MOVE}",
                expected="documents of several sentences, judged relevant to queries in the same language",
            )
        return arrangement

    @cached_property
    def _row_of(self) -> Mapping[str, int]:
        return {text: row for row, text in enumerate(dict.fromkeys([*self.items, *self.arrangement.texts]))}

    @cached_property
    def encoded(self) -> tuple[str, ...]:
        return tuple(self._row_of)

    @cached_property
    def encoded_digest(self) -> str:
        """Digest of the encoded texts, known without making them."""
        return digest_of_strings([self.content_digest, *self.titles, "arranged", VERSION])

    @cached_property
    def unread(self) -> Int64 | None:
        """How many tokens at the end of each passage the model does not read, ``[r]``: the most over all orders of its
        sentences; None where that is not known."""
        if self.encoder is None:
            return None
        parts = self.encoder.encoders if isinstance(self.encoder, JoinedEncoder) else (self.encoder,)
        lost = [self._unread_by(encoder) for encoder in parts]
        counts = [count for count in lost if count is not None]
        return np.max(counts, axis=0) if len(counts) == len(lost) else None

    def _unread_by(self, encoder: Encoder) -> Int64 | None:
        if encoder.info.served_by:
            return None
        arrangement, most = self.arrangement, encoder.identity.max_length
        if not most:
            return np.zeros(len(arrangement.moved), dtype=np.int64)
        tokenizer = whole_tokenizer(encoder)
        if tokenizer is None:
            return None
        with_roles = by_role(encoder, self.asked)
        prompt = with_roles.document if isinstance(with_roles, RoleEncoder) else encoder.identity.prompt
        of_texts = tokens_unread(tokenizer, arrangement.texts, most, prompt)
        lost: Int64 = np.where(arrangement.moved == NONE, 0, of_texts[arrangement.moved]).max(axis=1)
        return lost

    def rows_of(self, texts: Int64) -> Int64:
        """Rows among ``encoded`` of the arrangement's texts; ``NONE`` stays."""
        rows = np.array([self._row_of[text] for text in self.arrangement.texts], dtype=np.int64)
        return np.asarray(np.where(texts == NONE, NONE, rows[texts]), dtype=np.int64)

    def excluded(self) -> list[Int64]:
        """For each passage the documents that it is not ranked among, ascending: itself, others that answer its query,
        and any with the same text as one of these or as the query."""
        arrangement = self.arrangement
        order = np.argsort(self.documents, kind="stable")
        items = self.documents[order]
        out = []
        for query, document in zip(arrangement.queries.tolist(), arrangement.documents.tolist(), strict=True):
            judged, grades = self.judgments_of(query)
            same = {*self.documents[judged[grades >= RELEVANT]].tolist(), self.documents[document], self.queries[query]}
            some = np.array(sorted(same), dtype=items.dtype)
            ends = zip(np.searchsorted(items, some, "left"), np.searchsorted(items, some, "right"), strict=True)
            out.append(np.sort(np.concatenate([order[start:end] for start, end in ends])))
        return out
