"""Batches of tokens against loops over lists, and the real tokenizer."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blindspot.encoders.catalog import resolve_encoder
from blindspot.encoders.transformer import batches as token_batches
from blindspot.encoders.transformer.batches import Tokens, batches_by_tokens, batches_to_join, tokenize
from blindspot.encoders.transformer.encoder import SentenceTransformerEncoder
from blindspot.errors import Cancelled
from blindspot.settings import Settings
from blindspot.types import CancelToken

PAD = 7
# Per text its tokens, and of each whether it was added; few values, so that some texts are the same.
TEXTS = st.lists(st.lists(st.tuples(st.integers(0, 2), st.booleans()), max_size=4), min_size=1, max_size=12)
Text = list[tuple[int, bool]]


def tokens_of(texts: list[Text], *, added_too: bool = True) -> Tokens:
    flat = [token for text in texts for token in text]
    return Tokens(
        ids=np.array([number for number, _ in flat], dtype=np.int32),
        starts=np.cumsum([0, *map(len, texts)]),
        added=np.array([added for _, added in flat], dtype=bool) if added_too else None,
        truncated=np.zeros(len(texts), dtype=bool),
        pad=PAD,
    )


@given(texts=TEXTS, data=st.data())
def test_a_batch_is_padded_to_its_longest_text(texts: list[Text], data: st.DataObject) -> None:
    tokens = tokens_of(texts)
    rows = data.draw(st.lists(st.sampled_from(range(len(texts))), min_size=1, max_size=6))
    ids, mask = tokens.padded(np.array(rows))
    pieces = tokens.pieces(np.array(rows))
    width = max(len(texts[row]) for row in rows)
    assert ids.shape == mask.shape == pieces.shape == (len(rows), width)
    assert tokens.joined(np.array(rows)).tolist() == [number for row in rows for number, _ in texts[row]]
    for i, row in enumerate(rows):
        rest = width - len(texts[row])
        assert ids[i].tolist() == [number for number, _ in texts[row]] + [PAD] * rest
        assert mask[i].tolist() == [1] * len(texts[row]) + [0] * rest
        assert pieces[i].tolist() == [int(not added) for _, added in texts[row]] + [0] * rest


@given(texts=TEXTS, added_too=st.booleans())
def test_the_longest_come_first_and_texts_of_the_same_tokens_stand_together(texts: list[Text], added_too: bool) -> None:
    tokens = tokens_of(texts, added_too=added_too)
    same = texts if added_too else [[(number, False) for number, _ in text] for text in texts]
    assert tokens.copies.tolist() == [same.index(text) for text in same]
    assert sorted(tokens.order.tolist()) == list(range(len(texts)))
    assert tokens.lengths[tokens.order].tolist() == sorted(map(len, texts), reverse=True)
    runs = [row for row, _ in itertools.groupby(tokens.copies[tokens.order])]
    assert len(runs) == len(set(runs))


def test_pieces_are_not_guessed() -> None:
    with pytest.raises(TypeError, match="without telling what was added"):
        tokens_of([[(1, True)]], added_too=False).pieces(np.array([0]))


@pytest.mark.heavy
@pytest.mark.parametrize("at_once", [2, 100])
def test_texts_are_tokenised_as_the_tokenizer_does_it(
    shared_settings: Settings, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    encoder = resolve_encoder("minilm", shared_settings)
    assert isinstance(encoder, SentenceTransformerEncoder)
    tokenizer = encoder._model.tokenizer
    texts = ["", "rain and snow", "Rain and snow", "rain", "rain and snow and hail", "[SEP]", "unbelievable"]
    monkeypatch.setattr(token_batches, "TEXTS_AT_ONCE", at_once)
    found = tokenize(tokenizer, texts, 5, CancelToken(), added_too=True)
    for row, text in enumerate(texts):
        theirs = tokenizer(text, truncation=True, max_length=5, return_special_tokens_mask=True)
        place = slice(*found.starts[row : row + 2])
        assert found.ids[place].tolist() == theirs["input_ids"]
        assert found.added is not None
        assert found.added[place].tolist() == [bool(added) for added in theirs["special_tokens_mask"]]
        assert found.truncated[row] == (len(tokenizer(text)["input_ids"]) > 5)
    assert found.truncated.sum() == 1
    assert found.copies.tolist() == [0, 1, 1, 3, 1, 5, 6]  # cut off, two are the same
    assert found.pad == tokenizer.pad_token_id


def test_a_cancel_is_seen_before_anything_is_tokenised() -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        tokenize(None, ["a"], 5, cancel)


# --- batches


@given(
    lengths=st.lists(st.integers(1, 300), max_size=80).map(lambda n: np.array(n, dtype=np.int64)),
    budget=st.integers(1, 2_000),
)
def test_batches_hold_every_row_once_within_the_budget(lengths: np.ndarray, budget: int) -> None:
    batches = batches_by_tokens(lengths, budget)
    assert sorted(row for batch in batches for row in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * lengths[batch].max() <= budget
    for batch, following in itertools.pairwise(batches):
        first = lengths[following[0]]
        fits = (len(batch) + 1) * first <= budget
        is_of_one_length = lengths[batch].min() == lengths[batch].max() < first and lengths[batch].sum() >= budget / 4
        assert not fits or is_of_one_length, "the next text would have fitted"
        assert lengths[batch].max() <= lengths[following].min()


@given(
    lengths=st.lists(st.integers(1, 300), max_size=80).map(lambda n: np.array(n, dtype=np.int64)),
    budget=st.integers(1, 2_000),
    threads=st.integers(1, 4),
)
def test_batches_of_joined_texts_keep_all_threads_busy(lengths: np.ndarray, budget: int, threads: int) -> None:
    batches = batches_to_join(lengths, budget, threads)
    assert sorted(row for batch in batches for row in batch) == list(range(len(lengths)))
    joined = lengths[np.concatenate([np.empty(0, dtype=np.int64), *batches])]
    assert (np.diff(joined) >= 0).all(), "texts of one length next to each other"
    sizes = [int(lengths[batch].sum()) for batch in batches]
    longest = int(lengths.max(initial=0))
    assert all(0 < size < budget + longest for size in sizes)
    assert len(batches) <= -(-int(lengths.sum()) // (budget * threads)) * threads
    if sum(sizes) > threads * longest and batches:
        share = sum(sizes) / (-(-sum(sizes) // (budget * threads)) * threads)
        assert all(size < share + longest for size in sizes)
