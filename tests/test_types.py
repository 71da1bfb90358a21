"""The nouns: digests that tell data apart, cancelling, timing."""

from __future__ import annotations

import hashlib
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blindspot.datasets.kinds.pairs import PairSet
from blindspot.datasets.published.pairs import pair_set
from blindspot.errors import Cancelled
from blindspot.types import CancelToken, Stopwatch, digest_of_strings, no_progress


def test_digest_is_that_of_length_prefixed_utf8() -> None:
    """Written out, since stored results are found by it."""
    data = (2).to_bytes(8, "little") + "é".encode() + (0).to_bytes(8, "little")
    assert digest_of_strings(["é", ""]) == hashlib.sha256(data).hexdigest()


@given(st.lists(st.text(alphabet="ab\x00\x01é", max_size=4)), st.lists(st.text(alphabet="ab\x00\x01é", max_size=4)))
def test_only_equal_lists_have_equal_digests(left: list[str], right: list[str]) -> None:
    assert (digest_of_strings(left) == digest_of_strings(right)) == (left == right)


def test_lone_surrogates_can_be_digested() -> None:
    """A text of broken UTF-16 is bad data, and no reason to crash."""
    assert digest_of_strings(["\ud800"]) != digest_of_strings(["\ud801"])


def test_digests_of_a_pair_set() -> None:
    pairs = [("a", "b"), ("b", "c")]
    dataset = pair_set("one", pairs, ["d"])
    assert dataset.content_digest == pair_set("another id", pairs, ["d"]).content_digest
    reordered_pairs = pair_set("one", [("a", "b"), ("a", "c")], ["d"])
    assert reordered_pairs.texts_digest == dataset.texts_digest, "the embeddings can be used again"
    assert reordered_pairs.content_digest != dataset.content_digest
    more = pair_set("one", pairs, ["d", "e"])
    assert more.texts_digest != dataset.texts_digest
    assert more.content_digest != dataset.content_digest


def test_queries_and_matches_are_not_the_same_thing() -> None:
    forth, back = np.array([0], dtype=np.int32), np.array([1], dtype=np.int32)
    assert PairSet("x", ("a", "b"), forth, back).content_digest != PairSet("x", ("a", "b"), back, forth).content_digest


def test_a_token_raises_only_once_it_is_set() -> None:
    token = CancelToken()
    token.check()
    assert not token.cancelled
    token.cancel()
    token.cancel()
    assert token.cancelled
    for _ in range(2):
        with pytest.raises(Cancelled):
            token.check()


def test_a_token_can_be_set_from_another_thread() -> None:
    token = CancelToken()
    thread = threading.Thread(target=token.cancel)
    thread.start()
    thread.join()
    with pytest.raises(Cancelled):
        token.check()


def test_a_stopwatch_adds_up_stages_even_those_that_fail() -> None:
    watch = Stopwatch({"encode": 1_000.0})
    with pytest.raises(ValueError, match="broken"), watch.measure("encode"):
        raise ValueError("broken")
    with watch.measure("rank"):
        pass
    assert list(watch.seconds) == ["encode", "rank"]
    assert watch.seconds["encode"] > 1_000
    assert watch.seconds["rank"] > 0


def test_no_progress_takes_what_progress_takes() -> None:
    no_progress("encoding", 1, 2)
    no_progress("encoding", 1, 2, 0.5)
