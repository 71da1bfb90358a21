"""The embedding cache: keys, refusals, and at most one chunk lost when a process dies."""

from __future__ import annotations

import hashlib
import itertools
import os
import shutil
import signal
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blindspot.encoders.base import EncoderIdentity, EncoderInfo, Encodings, PreparedTexts, Sibling
from blindspot.encoders.cache import Embedded, EmbeddingCache
from blindspot.errors import BlindspotError, Cancelled, DataCorrupt
from blindspot.files.writing import exclusive
from blindspot.types import CancelToken, Float32, Int64, digest_of_strings, no_progress

DIMENSION = 8
CHUNK = 8
TEXTS = tuple(f"text {'x' * (i * 7 % 11)} {i}" for i in range(44))  # six chunks, the last one not full
IDENTITY = EncoderIdentity(reference="hash", revision="1", pooling="none", libraries=("numpy==1",))
INFO = EncoderInfo("Hash", DIMENSION, 0, 0, "", "", "")
SPAWN = get_context("spawn")


def vector_of(text: str) -> Float32:
    """The encoding: the first bytes of the text's sha256."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return np.frombuffer(digest[:DIMENSION], dtype=np.uint8).astype(np.float32)


def matrix_of(texts: Sequence[str]) -> Float32:
    return np.array([vector_of(text) for text in texts], dtype=np.float32).reshape(len(texts), DIMENSION)


@dataclass
class HashEncoder:
    """A real encoder, small and exact, that logs every text; its process is killed once ``dies_at`` are in the log."""

    log: Path
    seconds_per_text: float = 0.0
    dies_at: int = -1
    identity: EncoderIdentity = IDENTITY
    info: EncoderInfo = INFO
    device: str = "cpu"

    def load(self) -> None:
        """There is nothing to load."""

    def encode(self, texts: Sequence[str], cancel: CancelToken) -> Float32:
        with self.log.open("a", encoding="utf-8") as log:
            for text in texts:
                cancel.check()
                if self.dies_at == len(self.encoded()):
                    os.kill(os.getpid(), signal.SIGKILL)
                time.sleep(self.seconds_per_text)
                log.write(f"{text}\n")
                log.flush()
        return matrix_of(texts)

    def encoded(self) -> list[str]:
        """The texts that were encoded so far, in order."""
        return self.log.read_text("utf-8").splitlines() if self.log.exists() else []


@dataclass
class OddEncoder(HashEncoder):
    """Gives whatever ``spoil`` makes of the right vectors."""

    spoil: Callable[[Float32], Any] = np.asarray

    def encode(self, texts: Sequence[str], cancel: CancelToken) -> Float32:
        return self.spoil(super().encode(texts, cancel))


@pytest.fixture
def cache(tmp_path: Path) -> EmbeddingCache:
    return EmbeddingCache(tmp_path / "embeddings", texts_per_chunk=CHUNK)


@pytest.fixture
def encoder(tmp_path: Path) -> HashEncoder:
    return HashEncoder(tmp_path / "encoded.log")


def ask(
    cache: EmbeddingCache,
    encoder: HashEncoder,
    texts: Sequence[str] = TEXTS,
    progress: Any = no_progress,
    cancel: CancelToken | None = None,
) -> Embedded:
    return cache.encode(encoder, texts, digest_of_strings(texts), progress, cancel or CancelToken())


def assert_right(embedded: Embedded, texts: Sequence[str] = TEXTS) -> None:
    assert embedded.matrix.dtype == np.float32
    np.testing.assert_array_equal(embedded.matrix, matrix_of(texts))


def names_in(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


def run_and_die(target: Callable[..., None], *args: Any) -> None:
    """Run something in a child process, which is killed."""
    child = SPAWN.Process(target=target, args=args)
    child.start()
    child.join(60)
    assert child.exitcode == -signal.SIGKILL


# --- what is stored


def test_embeddings_are_encoded_once(cache: EmbeddingCache, encoder: HashEncoder) -> None:
    first = ask(cache, encoder)
    assert_right(first)
    assert first.encoded_now == len(TEXTS)
    second = ask(cache, encoder)
    assert_right(second)
    assert second.encoded_now == 0
    assert Counter(encoder.encoded()) == Counter(TEXTS)
    assert second.facts == first.facts
    assert names_in(cache.folder) == [f"{first.facts.digest}.json", f"{first.facts.digest}.npy"]


def test_the_matrix_stays_on_disk_and_its_facts_tell_what_it_cost(cache: EmbeddingCache, tmp_path: Path) -> None:
    for _ in range(2):
        embedded = ask(cache, HashEncoder(tmp_path / "log", seconds_per_text=0.001))
        assert isinstance(embedded.matrix, np.memmap)
        with pytest.raises(ValueError, match="read-only"):
            embedded.matrix[0, 0] = 1.0
    facts = embedded.facts
    assert facts.digest == IDENTITY.embedding_digest(digest_of_strings(TEXTS))
    assert (facts.encoder, facts.revision, facts.device) == ("hash", "1", "cpu")
    assert (facts.dimension, facts.texts) == (DIMENSION, len(TEXTS))
    assert facts.seconds >= len(TEXTS) * 0.001
    assert (facts.truncated, facts.truncated_share) == (None, None), "without a family nobody knows"


def test_what_is_not_stored_is_none(cache: EmbeddingCache) -> None:
    assert cache.read("0" * 32) is None
    assert not cache.folder.exists()


def test_the_longest_texts_come_first(cache: EmbeddingCache, encoder: HashEncoder) -> None:
    ask(cache, encoder)
    lengths = [len(text) for text in encoder.encoded()]
    assert lengths == sorted(lengths, reverse=True)


@settings(max_examples=20, deadline=None)
@given(texts=st.lists(st.text(max_size=12), max_size=20), chunk=st.integers(1, 25))
def test_every_row_belongs_to_its_text(texts: list[str], chunk: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        encoder = HashEncoder(Path(os.devnull))
        embedded = ask(EmbeddingCache(Path(folder) / "cache", chunk), encoder, texts)
        assert_right(embedded, texts)
        assert embedded.encoded_now == len(texts)


def test_progress_goes_from_nothing_to_everything(cache: EmbeddingCache, encoder: HashEncoder) -> None:
    told: list[tuple[str, int, int, float | None]] = []
    ask(cache, encoder, progress=lambda *at: told.append(at))
    assert told.pop(0) == ("loading the encoder", 0, 1, 0.0)
    assert [(stage, total) for stage, _, total, _ in told] == [("encoding", len(TEXTS))] * 7
    assert [done for _, done, _, _ in told] == [0, 8, 16, 24, 32, 40, 44]
    fractions = [fraction or 0.0 for *_, fraction in told]
    assert (fractions[0], fractions[-1]) == (0.0, 1.0)
    assert all(a < b for a, b in itertools.pairwise(fractions))
    assert fractions[1] > CHUNK / len(TEXTS), "long texts come first and are more work"


# --- the key


def test_every_part_of_the_identity_changes_the_key() -> None:
    digest = IDENTITY.embedding_digest("texts")
    changed: dict[str, object] = {"max_length": 1, "libraries": ("numpy==2",)}
    for field in fields(EncoderIdentity):
        other = replace(IDENTITY, **{field.name: changed.get(field.name, "something else")})
        assert other.embedding_digest("texts") != digest, field.name
    assert replace(IDENTITY, libraries=()).embedding_digest("texts") != digest
    assert IDENTITY.embedding_digest("other texts") != digest
    assert IDENTITY.embedding_digest("texts") == digest
    one, other = replace(IDENTITY, pooling="a", prompt=""), replace(IDENTITY, pooling="", prompt="a")
    assert one.embedding_digest("texts") != other.embedding_digest("texts"), "a value counts in its own field only"


@pytest.mark.parametrize("other", [("b", "a", "c"), ("a", "b"), ("a", "bc", ""), ("ab", "", "c"), ("a", "b", "c ")])
def test_texts_count_with_their_order_and_boundaries(
    cache: EmbeddingCache, encoder: HashEncoder, other: tuple[str, ...]
) -> None:
    ask(cache, encoder, ("a", "b", "c"))
    embedded = ask(cache, encoder, other)
    assert_right(embedded, other)
    assert embedded.encoded_now == len(other)


# --- what is refused


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_is_refused(cache: EmbeddingCache, tmp_path: Path, value: float) -> None:
    worst = max(TEXTS, key=len)

    def spoil(vectors: Float32) -> Float32:
        vectors[(vectors == vector_of(worst)).all(axis=1), 3] = value
        return vectors

    with pytest.raises(BlindspotError) as caught:
        ask(cache, OddEncoder(tmp_path / "log", spoil=spoil))
    assert "encoder 'hash' gave NaN or infinite values for 1 text(s)" in str(caught.value)
    assert repr(worst) in str(caught.value)
    assert cache.read(IDENTITY.embedding_digest(digest_of_strings(TEXTS))) is None
    assert names_in(cache.folder) == []


@pytest.mark.parametrize(
    "spoil",
    [lambda v: v[:-1], lambda v: v[:, :-1], lambda v: np.hstack([v, v]), lambda v: v.ravel(), lambda v: v[:, :1]],
    ids=["a row less", "a column less", "twice as wide", "flat", "one column"],
)
def test_another_shape_is_refused(cache: EmbeddingCache, tmp_path: Path, spoil: Callable[[Float32], Float32]) -> None:
    with pytest.raises(BlindspotError) as caught:
        ask(cache, OddEncoder(tmp_path / "log", spoil=spoil))
    assert "encoder 'hash' gave an array of shape" in str(caught.value)
    assert caught.value.expected == f"({CHUNK}, {DIMENSION})"
    assert names_in(cache.folder) == []


def test_float64_is_stored_as_float32(cache: EmbeddingCache, tmp_path: Path) -> None:
    assert_right(ask(cache, OddEncoder(tmp_path / "log", spoil=lambda v: v.astype(np.float64))))


@pytest.mark.parametrize("keep", [0.0, 0.02, 0.5])
@pytest.mark.parametrize("suffix", [".npy", ".json"])
def test_damaged_files_are_named_with_the_remedy(
    cache: EmbeddingCache, encoder: HashEncoder, suffix: str, keep: float
) -> None:
    digest = ask(cache, encoder).facts.digest
    path = cache.folder / f"{digest}{suffix}"
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * keep)])
    for read in (lambda: cache.read(digest), lambda: ask(cache, encoder)):
        with pytest.raises(DataCorrupt) as caught:
            read()
        assert "\n" not in str(caught.value)
        assert str(cache.folder / f"{digest}.npy") in str(caught.value)
        assert "delete this file" in caught.value.remedy
    (cache.folder / f"{digest}.npy").unlink()
    assert_right(ask(cache, encoder))
    assert_right(ask(cache, encoder))


# --- cancelled, killed, resumed


def cancel_after(texts: int, encoder: HashEncoder, cache: EmbeddingCache) -> None:
    """Ask for the embeddings and cancel once so many texts are encoded, in the middle of a chunk or not."""
    cancel = CancelToken()

    class Cancelling(HashEncoder):
        def encode(self, texts_: Sequence[str], cancel: CancelToken) -> Float32:
            for start in range(len(texts_)):
                if len(self.encoded()) == texts:
                    cancel.cancel()
                super().encode(texts_[start : start + 1], cancel)
            return matrix_of(texts_)

    with pytest.raises(Cancelled):
        ask(cache, Cancelling(encoder.log), cancel=cancel)


@pytest.mark.parametrize("moment", [0, 3, 8, 20, 43])
def test_what_was_finished_before_a_cancel_is_not_encoded_again(
    cache: EmbeddingCache, encoder: HashEncoder, moment: int
) -> None:
    cancel_after(moment, encoder, cache)
    assert cache.read(IDENTITY.embedding_digest(digest_of_strings(TEXTS))) is None
    embedded = ask(cache, encoder)
    assert_right(embedded)
    assert embedded.encoded_now == len(TEXTS) - moment // CHUNK * CHUNK
    assert len(encoder.encoded()) == len(TEXTS) + moment % CHUNK
    assert len(names_in(cache.folder)) == 2


@pytest.mark.parametrize("chunk", [1, 5, 7, 16, 100])
def test_another_chunk_size_on_resuming(cache: EmbeddingCache, encoder: HashEncoder, chunk: int) -> None:
    cancel_after(20, encoder, cache)
    embedded = ask(EmbeddingCache(cache.folder, chunk), encoder)
    assert_right(embedded)
    assert len(names_in(cache.folder)) == 2


def encode_in_child(folder: Path, encoder: HashEncoder, dies_at_the_end: bool, barrier: Any = None) -> None:
    """What a child process does."""

    def progress(stage: str, done: int, total: int, fraction: float | None = None) -> None:
        if dies_at_the_end and done == total:
            os.kill(os.getpid(), signal.SIGKILL)

    if barrier:
        barrier.wait(30)
    assert_right(ask(EmbeddingCache(folder, CHUNK), encoder, progress=progress))


@pytest.mark.parametrize("moment", [0, 13, 24])
def test_a_process_killed_while_encoding_costs_at_most_a_chunk(
    cache: EmbeddingCache, encoder: HashEncoder, moment: int
) -> None:
    run_and_die(encode_in_child, cache.folder, replace(encoder, dies_at=moment), False)
    assert len(encoder.encoded()) == moment
    embedded = ask(cache, encoder)
    assert_right(embedded)
    assert embedded.encoded_now == len(TEXTS) - moment // CHUNK * CHUNK
    assert len(encoder.encoded()) - len(TEXTS) <= CHUNK
    assert names_in(cache.folder) == [f"{embedded.facts.digest}.json", f"{embedded.facts.digest}.npy"]


def test_a_process_killed_from_outside_while_encoding(cache: EmbeddingCache, encoder: HashEncoder) -> None:
    slow = replace(encoder, seconds_per_text=0.05)
    child = SPAWN.Process(target=encode_in_child, args=(cache.folder, slow, False))
    child.start()
    while len(encoder.encoded()) < CHUNK + 2 and child.is_alive():
        threading.Event().wait(0.005)
    child.kill()
    child.join(60)
    assert child.exitcode == -signal.SIGKILL
    embedded = ask(cache, encoder)
    assert_right(embedded)
    assert CHUNK <= len(TEXTS) - embedded.encoded_now < len(TEXTS)
    assert 0 <= len(encoder.encoded()) - len(TEXTS) <= CHUNK


def test_a_process_killed_after_the_last_chunk_loses_nothing(cache: EmbeddingCache, encoder: HashEncoder) -> None:
    run_and_die(encode_in_child, cache.folder, encoder, True)
    embedded = ask(cache, encoder)
    assert_right(embedded)
    assert embedded.encoded_now == 0
    assert Counter(encoder.encoded()) == Counter(TEXTS)


# --- several at once


@pytest.mark.heavy
def test_processes_that_ask_for_the_same_embeddings_encode_once(cache: EmbeddingCache, encoder: HashEncoder) -> None:
    barrier = SPAWN.Barrier(2)
    slow = replace(encoder, seconds_per_text=0.01)
    children = [SPAWN.Process(target=encode_in_child, args=(cache.folder, slow, False, barrier)) for _ in range(2)]
    for child in children:
        child.start()
    for child in children:
        child.join(60)
    assert [child.exitcode for child in children] == [0, 0]
    assert Counter(encoder.encoded()) == Counter(TEXTS)
    assert len(names_in(cache.folder)) == 2


def test_threads_that_ask_for_the_same_embeddings_encode_once(cache: EmbeddingCache, encoder: HashEncoder) -> None:
    slow = replace(encoder, seconds_per_text=0.002)
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: ask(cache, slow), range(4)))
    for embedded in answers:
        assert_right(embedded)
    assert sorted(embedded.encoded_now for embedded in answers) == [0, 0, 0, len(TEXTS)]
    assert Counter(encoder.encoded()) == Counter(TEXTS)


def test_whoever_waits_can_cancel(cache: EmbeddingCache, encoder: HashEncoder) -> None:
    slow = replace(encoder, seconds_per_text=0.02)
    stop, give_up = CancelToken(), CancelToken()
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(ask, cache, slow, cancel=stop)
        while not encoder.encoded():
            threading.Event().wait(0.005)
        second = pool.submit(ask, cache, slow, cancel=give_up)
        give_up.cancel()
        with pytest.raises(Cancelled):
            second.result(timeout=20)
        assert not first.done()
        stop.cancel()
        with pytest.raises(Cancelled):
            first.result(timeout=20)


# --- families


@dataclass
class FamilyEncoder(HashEncoder):
    """Two encoders of one pass: the hash, and its negative in half the columns. ``turn`` says which one is asked."""

    turn: int = 0

    @property
    def family(self) -> tuple[Sibling, ...]:
        both = (
            Sibling(IDENTITY, INFO),
            Sibling(replace(IDENTITY, reference="half"), replace(INFO, dimension=DIMENSION // 2)),
        )
        return both if self.turn == 0 else both[::-1]

    def encode_family(self, texts: Sequence[str], cancel: CancelToken) -> Encodings:
        vectors = self.encode(texts, cancel)
        both = (vectors, -vectors[:, : DIMENSION // 2])
        return Encodings(both if self.turn == 0 else both[::-1], sum("xxxxx" in text for text in texts))


def family_of(log: Path, turn: int, **more: Any) -> FamilyEncoder:
    encoder = FamilyEncoder(log, turn=turn, **more)
    encoder.identity, encoder.info = encoder.family[0].identity, encoder.family[0].info
    return encoder


def assert_both_right(cache: EmbeddingCache, log: Path) -> None:
    for turn in (0, 1):
        found = ask(cache, family_of(log, turn))
        assert found.encoded_now == 0
        expected = matrix_of(TEXTS) if turn == 0 else -matrix_of(TEXTS)[:, : DIMENSION // 2]
        np.testing.assert_array_equal(found.matrix, expected)
        assert found.facts.encoder == ("hash" if turn == 0 else "half")
        assert found.facts.truncated == sum("xxxxx" in text for text in TEXTS)
        assert found.facts.truncated_share == found.facts.truncated / len(TEXTS)


@pytest.mark.parametrize("turn", [0, 1])
def test_asking_one_stores_its_sibling(cache: EmbeddingCache, tmp_path: Path, turn: int) -> None:
    log = tmp_path / "log"
    assert ask(cache, family_of(log, turn)).encoded_now == len(TEXTS)
    assert_both_right(cache, log)
    assert Counter(FamilyEncoder(log).encoded()) == Counter(TEXTS)
    assert len(names_in(cache.folder)) == 4


def test_what_was_stored_alone_stays_when_its_sibling_is_asked(cache: EmbeddingCache, encoder: HashEncoder) -> None:
    path = cache.folder / f"{ask(cache, encoder).facts.digest}.npy"
    before = path.stat().st_mtime_ns
    assert ask(cache, family_of(encoder.log, 1)).encoded_now == len(TEXTS)
    assert path.stat().st_mtime_ns == before


def encode_family_in_child(folder: Path, encoder: FamilyEncoder) -> None:
    ask(EmbeddingCache(folder, CHUNK), encoder)


@pytest.mark.parametrize("moment", [0, 13, 24])
def test_a_sibling_takes_over_from_a_killed_process(cache: EmbeddingCache, tmp_path: Path, moment: int) -> None:
    log = tmp_path / "log"
    run_and_die(encode_family_in_child, cache.folder, family_of(log, 0, dies_at=moment))
    assert ask(cache, family_of(log, 1)).encoded_now == len(TEXTS) - moment // CHUNK * CHUNK
    assert_both_right(cache, log)
    assert len(names_in(cache.folder)) == 4


def test_siblings_that_are_asked_at_once_are_encoded_once(cache: EmbeddingCache, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda i: ask(cache, family_of(log, i % 2, seconds_per_text=0.002)), range(4)))
    assert sorted(a.encoded_now for a in answers) == [0, 0, 0, len(TEXTS)]
    assert Counter(FamilyEncoder(log).encoded()) == Counter(TEXTS)
    assert_both_right(cache, log)


def test_a_damaged_sibling_is_told_when_it_is_asked_and_mended(cache: EmbeddingCache, tmp_path: Path) -> None:
    log = tmp_path / "log"
    ask(cache, family_of(log, 0))
    half = cache.folder / f"{family_of(log, 1).identity.embedding_digest(digest_of_strings(TEXTS))}.npy"
    half.write_bytes(half.read_bytes()[:100])
    assert_right(ask(cache, family_of(log, 0)))
    with pytest.raises(DataCorrupt, match="delete this file"):
        ask(cache, family_of(log, 1))
    half.unlink()
    assert ask(cache, family_of(log, 1)).encoded_now == len(TEXTS)
    assert_both_right(cache, log)


def test_every_sibling_is_checked(cache: EmbeddingCache, tmp_path: Path) -> None:
    class Broken(FamilyEncoder):
        def encode_family(self, texts: Sequence[str], cancel: CancelToken) -> Encodings:
            one, other = super().encode_family(texts, cancel).vectors
            other[0, 0] = np.nan
            return Encodings((one, other), 0)

    with pytest.raises(BlindspotError, match="encoder 'half' gave NaN"):
        ask(cache, Broken(tmp_path / "log"))
    assert names_in(cache.folder) == []


# --- an encoder that looks at all texts first


@dataclass
class PreparingFamily(FamilyEncoder):
    """Takes its texts in alphabetical order, and counts how often it looked at them."""

    looked: int = 0

    def prepare(self, texts: Sequence[str], cancel: CancelToken) -> PreparedTexts:
        cancel.check()
        self.looked += 1
        return Alphabetical(self, texts)


@dataclass
class Alphabetical:
    encoder: PreparingFamily
    texts: Sequence[str]

    @property
    def order(self) -> Int64:
        return np.array(sorted(range(len(self.texts)), key=lambda row: self.texts[row]))

    @property
    def work(self) -> Int64:
        return np.ones(len(self.texts), dtype=np.int64)

    def encode(self, rows: Int64, cancel: CancelToken) -> Encodings:
        return self.encoder.encode_family([self.texts[row] for row in rows], cancel)


def test_an_encoders_own_order_is_kept_also_on_resuming(cache: EmbeddingCache, tmp_path: Path) -> None:
    log, stop = tmp_path / "log", CancelToken()

    def stop_after_two_chunks(_stage: str, done: int, _total: int, _fraction: float | None = None) -> None:
        if done == 2 * CHUNK:
            stop.cancel()

    with pytest.raises(Cancelled):
        ask(cache, PreparingFamily(log), progress=stop_after_two_chunks, cancel=stop)
    assert FamilyEncoder(log).encoded() == sorted(TEXTS)[: 2 * CHUNK]
    told: list[tuple[str, int, float | None]] = []
    encoder = PreparingFamily(log)
    found = ask(cache, encoder, progress=lambda stage, done, _, fraction=None: told.append((stage, done, fraction)))
    assert (found.encoded_now, encoder.looked) == (len(TEXTS) - 2 * CHUNK, 1)
    assert FamilyEncoder(log).encoded() == sorted(TEXTS)
    assert told[:2] == [
        ("loading the encoder", 0, 0.0),
        ("encoding", 2 * CHUNK, pytest.approx(2 * CHUNK / len(TEXTS))),
    ]
    assert_both_right(cache, log)
    again = PreparingFamily(log)
    assert ask(cache, again).encoded_now == again.looked == 0


# --- texts in several lists


@dataclass
class AloneEncoder(HashEncoder):
    encodes_alone: bool = True


@dataclass
class AloneFamily(FamilyEncoder):
    encodes_alone: bool = True

    def encode_family(self, texts: Sequence[str], cancel: CancelToken) -> Encodings:
        return replace(super().encode_family(texts, cancel), truncated=0)


OVERLAPPING = (*TEXTS[30:], "new", *TEXTS[:5], "new", "another")  # 19 known texts, and one of two new ones twice


@pytest.fixture
def alone(tmp_path: Path) -> AloneEncoder:
    return AloneEncoder(tmp_path / "alone.log")


def test_a_text_of_two_lists_is_encoded_once(cache: EmbeddingCache, alone: AloneEncoder) -> None:
    ask(cache, alone)
    found = ask(cache, alone, OVERLAPPING)
    assert_right(found, OVERLAPPING)
    assert (found.encoded_now, found.copied_now) == (3, 19)
    assert Counter(alone.encoded()) == Counter([*TEXTS, "new", "new", "another"])
    assert ask(cache, alone, OVERLAPPING).facts == found.facts
    whole = ask(cache, alone, OVERLAPPING[::-1])
    assert_right(whole, OVERLAPPING[::-1])
    assert (whole.encoded_now, whole.copied_now) == (0, len(OVERLAPPING))


def test_what_copied_texts_cost_is_their_share(cache: EmbeddingCache, alone: AloneEncoder) -> None:
    first = ask(cache, replace(alone, seconds_per_text=0.005)).facts
    found = ask(cache, alone, TEXTS[:11]).facts
    assert found.texts == 11
    assert first.seconds * 11 / 44 < found.seconds < first.seconds * 11 / 44 + 5


def test_an_encoder_that_does_not_say_so_copies_nothing(cache: EmbeddingCache, encoder: HashEncoder) -> None:
    ask(cache, encoder)
    assert ask(cache, encoder, OVERLAPPING).encoded_now == len(OVERLAPPING)


def test_another_encoders_vectors_are_not_copied(cache: EmbeddingCache, alone: AloneEncoder) -> None:
    ask(cache, alone)
    for change in ({"revision": "2"}, {"prompt": "query: "}, {"max_length": 9}, {"libraries": ()}):
        other = replace(alone, identity=replace(IDENTITY, **change))
        assert ask(cache, other, OVERLAPPING).copied_now == 0
    on_gpu = replace(alone, device="cuda:0")
    assert ask(cache, on_gpu, OVERLAPPING).copied_now == 0


@pytest.mark.parametrize("suffix", [".npy", ".json"])
def test_deleted_or_damaged_embeddings_are_not_copied_from(
    cache: EmbeddingCache, alone: AloneEncoder, suffix: str
) -> None:
    digest = ask(cache, alone).facts.digest
    (cache.folder / f"{digest}{suffix}").write_bytes(b"{}"[:1])
    found = ask(cache, alone, OVERLAPPING)
    assert (found.encoded_now, found.copied_now) == (len(OVERLAPPING), 0)
    assert_right(found, OVERLAPPING)
    cache.delete(digest)
    cache.delete(found.facts.digest)
    again = ask(cache, alone, OVERLAPPING[:7])
    assert again.copied_now == 0
    assert_right(again, OVERLAPPING[:7])


def test_rows_of_a_damaged_matrix_are_encoded_again(cache: EmbeddingCache, alone: AloneEncoder) -> None:
    path = cache.folder / f"{ask(cache, alone).facts.digest}.npy"
    matrix = matrix_of(TEXTS)
    matrix[31] = np.nan
    np.save(path, matrix)
    found = ask(cache, alone, OVERLAPPING)
    assert_right(found, OVERLAPPING)
    assert found.copied_now == 18


@pytest.mark.parametrize("content", [b"", b"no array", b"\x93NUMPY"])
def test_a_damaged_list_is_made_anew(cache: EmbeddingCache, alone: AloneEncoder, content: bytes) -> None:
    ask(cache, alone)
    (listed,) = cache.known.folder.glob("*.npy")
    listed.write_bytes(content)
    assert ask(cache, alone, OVERLAPPING).copied_now == 0
    assert not listed.exists()
    ask(cache, alone)
    assert ask(cache, alone, TEXTS[:9]).copied_now == 9


def test_truncated_texts_are_never_copied(cache: EmbeddingCache, tmp_path: Path) -> None:
    """Of truncated texts only the number is known, not which ones they are."""
    encoder = AloneFamily(tmp_path / "log")
    ask(cache, encoder)
    facts = next(cache.folder.glob("*.json"))
    assert ask(cache, encoder, TEXTS[:9]).copied_now == 9
    for path in cache.folder.glob("*.json"):
        path.write_text(path.read_text("utf-8").replace('"truncated": 0', '"truncated": 1'), "utf-8")
    assert '"truncated": 1' in facts.read_text("utf-8")
    assert ask(cache, encoder, TEXTS[:8]).copied_now == 0


def test_siblings_are_copied_together(cache: EmbeddingCache, tmp_path: Path) -> None:
    log = tmp_path / "log"
    first, second = AloneFamily(log), AloneFamily(log, turn=1)
    second.identity, second.info = second.family[0].identity, second.family[0].info
    ask(cache, AloneEncoder(log))  # one of them alone
    assert ask(cache, first, OVERLAPPING).copied_now == 0
    assert ask(cache, first, OVERLAPPING[4:]).copied_now == len(OVERLAPPING) - 4
    found = ask(cache, second, OVERLAPPING[4:])
    assert found.encoded_now == 0
    np.testing.assert_array_equal(found.matrix, -matrix_of(OVERLAPPING[4:])[:, : DIMENSION // 2])


def test_chunks_of_texts_beside_copied_ones_survive_a_crash(cache: EmbeddingCache, alone: AloneEncoder) -> None:
    ask(cache, alone, TEXTS[:20])
    stop = CancelToken()

    def stop_after_two_chunks(_stage: str, done: int, _total: int, _fraction: float | None = None) -> None:
        if done == 2 * CHUNK:
            stop.cancel()

    with pytest.raises(Cancelled):
        ask(cache, alone, progress=stop_after_two_chunks, cancel=stop)
    found = ask(cache, alone)
    assert_right(found)
    assert (found.copied_now, found.encoded_now) == (20, len(TEXTS) - 20 - 2 * CHUNK)
    assert Counter(alone.encoded()) == Counter(TEXTS)


def encode_in_turn(folder: Path, alone: AloneEncoder, lists: Sequence[Sequence[str]]) -> None:
    for texts in lists:
        assert_right(ask(EmbeddingCache(folder, CHUNK), alone, texts), texts)


@pytest.mark.heavy
def test_processes_that_share_texts_agree(cache: EmbeddingCache, alone: AloneEncoder) -> None:
    lists = [TEXTS, OVERLAPPING, TEXTS[5:15], OVERLAPPING[3:]]
    children = [
        SPAWN.Process(target=encode_in_turn, args=(cache.folder, replace(alone, seconds_per_text=0.001), order))
        for order in (lists, lists[::-1])
    ]
    for child in children:
        child.start()
    for child in children:
        child.join(60)
    assert [child.exitcode for child in children] == [0, 0]


@given(
    lists=st.lists(st.lists(st.sampled_from(TEXTS[:12]), max_size=15), min_size=1, max_size=4), chunk=st.integers(1, 9)
)
@settings(deadline=None, max_examples=40)
def test_any_lists_after_each_other_are_right(lists: list[list[str]], chunk: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        cache = EmbeddingCache(Path(folder) / "embeddings", chunk)
        alone, seen = AloneEncoder(Path(folder) / "log"), set()
        for texts in lists:
            before = len(alone.encoded())
            assert_right(ask(cache, alone, texts), texts)
            assert set(alone.encoded()[before:]).isdisjoint(seen)
            seen |= set(texts)


# --- what is there, and its removal


def test_the_inventory_tells_encoders_and_bytes(cache: EmbeddingCache, encoder: HashEncoder, tmp_path: Path) -> None:
    assert cache.inventory().embeddings == ()
    other = HashEncoder(tmp_path / "other.log", identity=replace(IDENTITY, reference="another"))
    mine, theirs = ask(cache, encoder), ask(cache, other)
    found = cache.inventory()
    assert [stored.facts for stored in found.embeddings] == [theirs.facts, mine.facts]
    sizes = [path.stat().st_size for path in cache.folder.glob(f"{mine.facts.digest}.*")]
    assert len(sizes) == 2
    assert found.embeddings[1].size == sum(sizes)
    assert found.damaged == ()


def test_unreadable_facts_are_told_and_those_without_a_matrix_left_out(
    cache: EmbeddingCache, encoder: HashEncoder
) -> None:
    digest = ask(cache, encoder).facts.digest
    (cache.folder / "half.json").write_text((cache.folder / f"{digest}.json").read_text("utf-8"), "utf-8")
    for name, content in (("bad.json", b"\xff{"), ("other.json", b'{"digest": "x"}'), ("list.json", b"[1]")):
        (cache.folder / name).write_bytes(content)
    found = cache.inventory()
    assert [stored.facts.digest for stored in found.embeddings] == [digest]
    assert {path.name for path in found.damaged} == {"bad.json", "other.json", "list.json"}


def test_what_facts_say_never_leads_out_of_the_folder(
    cache: EmbeddingCache, encoder: HashEncoder, tmp_path: Path
) -> None:
    digest = ask(cache, encoder).facts.digest
    for suffix in (".json", ".npy"):
        (tmp_path / f"precious{suffix}").write_text("x", "utf-8")
    facts = cache.folder / f"{digest}.json"
    facts.write_text(facts.read_text("utf-8").replace(digest, "../precious"), "utf-8")
    for stored in cache.inventory().embeddings:
        cache.delete(stored.facts.digest)
    assert names_in(cache.folder) == []
    assert (tmp_path / "precious.npy").exists()
    assert (tmp_path / "precious.json").exists()


def test_deleted_embeddings_are_encoded_again_and_others_stay(cache: EmbeddingCache, tmp_path: Path) -> None:
    first, second = (HashEncoder(tmp_path / name, identity=replace(IDENTITY, reference=name)) for name in ("a", "b"))
    digest, kept = ask(cache, first).facts.digest, ask(cache, second).facts.digest
    cache.delete(digest)
    cache.delete(digest)  # none there is as good
    assert names_in(cache.folder) == [f"{kept}.json", f"{kept}.npy"]
    assert_right(ask(cache, first))


def test_chunks_that_a_killed_writer_left_beside_whole_embeddings_go(
    cache: EmbeddingCache, encoder: HashEncoder, tmp_path: Path
) -> None:
    cancel_after(CHUNK + 1, encoder, cache)
    (parts,) = cache.folder.glob("*.parts")
    kept = shutil.copytree(parts, tmp_path / "kept")
    ask(cache, encoder)
    assert not parts.exists()
    shutil.move(kept, parts)  # killed after the embeddings were there, before the chunks were removed
    assert_right(ask(cache, encoder))
    assert not parts.exists()


def test_chunks_of_an_interrupted_encoding_are_deleted_by_any_of_its_digests(
    cache: EmbeddingCache, encoder: HashEncoder
) -> None:
    cancel_after(CHUNK + 1, encoder, cache)
    (parts,) = cache.folder.glob("*.parts")
    cache.delete_unfinished({"0" * 32})
    assert parts.exists()
    lock = parts.with_suffix(".lock")
    with exclusive(lock, CancelToken()):  # somebody goes on with it
        cache.delete_unfinished({parts.stem})
    assert parts.exists()
    lock.touch()  # left by a process that was killed
    cache.delete_unfinished({"0" * 32, parts.stem})
    assert names_in(cache.folder) == []
