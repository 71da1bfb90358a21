"""Texts that are tokenized ahead, in sections: as all at once, and ahead indeed."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest

from blindspot.encoders.base import Encodings, LongestFirst, PreparedTexts
from blindspot.encoders.catalog import resolve_encoder
from blindspot.encoders.transformer.ahead import TokenizedAhead
from blindspot.encoders.transformer.encoder import SentenceTransformerEncoder
from blindspot.errors import BlindspotError
from blindspot.settings import Settings
from blindspot.types import CancelToken, Float32
from tests.support.tables import each

TEXTS = [f"a text of {'many ' * (number % 7)}words, number {number % 23}" for number in range(50)]


class Lengths:
    """An encoder whose vector of a text is its length and its first letter."""

    def encode(self, texts: Sequence[str], _cancel: CancelToken) -> Float32:
        return np.array([[len(text), ord(text[0])] for text in texts], dtype=np.float32).reshape(-1, 2)


def prepared(texts: Sequence[str], _cancel: CancelToken) -> PreparedTexts:
    return LongestFirst(Lengths(), texts)


@each(("rows", "section"), [(range(50), 50), (range(50), 7), ((3, 49, 0, 3, 17), 7), (range(49, -1, -1), 1)])
def test_any_rows_are_encoded_as_all_at_once(rows: Sequence[int], section: int) -> None:
    texts = [f"{'x' * (number * 7 % 50)}" or "y" for number in range(50)]
    ahead = TokenizedAhead(texts, prepared, section)
    expected = Lengths().encode([texts[row] for row in rows], CancelToken())
    found = ahead.encode(np.array(rows, dtype=np.int64), CancelToken())
    assert (found.vectors[0] == expected).all()
    assert [len(texts[row]) for row in ahead.order] == sorted(map(len, texts), reverse=True)


def test_the_next_section_is_tokenized_while_one_is_encoded() -> None:
    """The first one is not done before the second one is tokenized: without that this would not end."""
    second = threading.Event()
    tokenized: list[int] = []

    class Waiting(LongestFirst):
        def encode(self, rows: Any, cancel: CancelToken) -> Encodings:
            assert second.wait(30), "nothing was tokenized meanwhile"
            return super().encode(rows, cancel)

    def tokenize(texts: Sequence[str], _cancel: CancelToken) -> PreparedTexts:
        tokenized.append(len(texts))
        if len(tokenized) > 1:
            second.set()
        return Waiting(Lengths(), texts)

    ahead = TokenizedAhead(TEXTS, tokenize, section=20)
    for start in range(0, 50, 10):  # half a section at a time
        ahead.encode(ahead.order[start : start + 10], CancelToken())
    assert tokenized == [20, 20, 10], "each section once"


def test_a_section_that_fails_says_so_when_it_is_needed() -> None:
    def tokenize(texts: Sequence[str], cancel: CancelToken) -> PreparedTexts:
        if len(texts) < 20:
            raise BlindspotError("no such token")
        return prepared(texts, cancel)

    ahead = TokenizedAhead(TEXTS, tokenize, section=20)
    for start in (0, 20):
        ahead.encode(ahead.order[start : start + 20], CancelToken())
    with pytest.raises(BlindspotError, match="no such token"):
        ahead.encode(ahead.order[40:], CancelToken())


def test_minilm_gives_the_vectors_of_all_at_once(settings: Settings) -> None:
    texts = [*TEXTS, "words " * 300]  # more than it reads
    encoder = resolve_encoder("minilm", settings)
    assert isinstance(encoder, SentenceTransformerEncoder)
    model = encoder._model
    outputs = (encoder._output, *encoder.others)
    ahead = TokenizedAhead(texts, partial(encoder._tokenized, model, outputs), section=20)
    whole, rows = encoder.prepare(texts, CancelToken()), np.arange(len(texts))
    vectors, expected = ahead.encode(rows, CancelToken()), whole.encode(rows, CancelToken())
    assert vectors.truncated == expected.truncated == 1
    assert np.abs(vectors.vectors[0] - expected.vectors[0]).max() < 1e-6
