"""Lookup of texts in word vectors against a slow loop, identity, references, and real files."""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path
from unicodedata import normalize

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from blindspot.encoders import source_files
from blindspot.encoders.base import Encoder, VocabularyEncoder
from blindspot.encoders.cache import EmbeddingCache
from blindspot.encoders.catalog import canonical_encoder, resolve_encoder
from blindspot.encoders.word_vectors import words as vector_words
from blindspot.encoders.word_vectors.encoder import WordVectors
from blindspot.errors import Cancelled, InputError
from blindspot.names import name_of_model
from blindspot.settings import Settings
from blindspot.types import CancelToken, Float32, digest_of_strings, no_progress
from tests.support.tables import each

FILE = """Paris 1 0
the 2 0
THE 3 0
PARIS 4 0
paris 5 0
cat 6 1
Zürich 7 1
STRASSE 8 1
cat 9 9
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "my vectors.txt"
    path.write_text(FILE, "utf-8")
    return path


def encoded(encoder: Encoder, *texts: str) -> list[list[float]]:
    return [[float(v) for v in row] for row in encoder.encode(texts, CancelToken())]


NOTHING = [pytest.approx(float("nan"), nan_ok=True)] * 2


@each(
    ("text", "vector"),
    [
        ("Paris", [1, 0]),
        ("paris", [5, 0]),  # exactly, before the first that is spelled alike
        ("pARIS", [1, 0]),  # the first such entry
        ("The", [2, 0]),
        ("ZÜRICH", [7, 1]),
        ("straße", [8, 1]),
        ("cat", [6, 1]),  # the first of the duplicates
        ("  cat\t", [6, 1]),
        ("the cat", [4, 0.5]),
        ("the the cat", [pytest.approx(10 / 3), pytest.approx(1 / 3)]),
        ("the\u3000unknown\ncat", [4, 0.5]),
        ("unknown", NOTHING),
        ("", NOTHING),
        ("   ", NOTHING),
    ],
)
def test_a_text_is_the_mean_of_the_words_that_are_found(path: Path, text: str, vector: list[float]) -> None:
    assert encoded(WordVectors.at(path), text) == [vector]


@pytest.mark.parametrize(
    ("text", "vector"),
    [
        ("Paris", [1, 0]),
        ("paris", [1, 0]),
        ("PARIS", [1, 0]),
        ("THE CAT", [4, 0.5]),
        ("zürich", [7, 1]),
        ("straße", NOTHING),
    ],
)
def test_the_toolkit_lowers_the_vocabulary_and_the_texts(path: Path, text: str, vector: list[float]) -> None:
    assert encoded(WordVectors.at(path).as_toolkit(), text) == [vector]
    assert encoded(WordVectors.at(path, lowercased=True), text) == [vector]


def test_the_vocabulary_is_what_can_be_looked_up_in_the_files_order(path: Path) -> None:
    encoder = WordVectors.at(path)
    assert isinstance(encoder, VocabularyEncoder)
    matrix, lowered = encoder.vocabulary(), encoder.as_toolkit().vocabulary()
    assert matrix.dtype == lowered.dtype == np.float32
    assert matrix[:, 0].tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    assert lowered[:, 0].tolist() == [1, 2, 6, 7, 8]
    assert encoder.duplicates == 1
    assert not matrix.flags.writeable
    assert not lowered.flags.writeable


def test_both_variants_share_what_was_read(path: Path) -> None:
    encoder = WordVectors.at(path)
    encoder.load()
    toolkit = encoder.as_toolkit()
    path.unlink()
    assert encoded(toolkit, "CAT") == [[6, 1]]


# --- against a slow loop


def test_an_entry_of_several_words_is_found_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "v.txt"
    path.write_text("3 2\nNew York 1 2\nnew 3 4\ncity 5 6\n", "utf-8")
    found = encoded(WordVectors.at(path), "New York", " new  york ", "New city", "New York city")
    assert found == [[1, 2], [1, 2], [4, 5], [4, 5]]
    parts = WordVectors.at(path).token_parts("New York")
    assert parts is not None
    assert [token.text for token in parts.tokens] == ["New York"]


def decomposed(word: str) -> str:
    """Equal for words that differ in case or Unicode form (the Unicode standard's D145)."""
    return normalize("NFD", normalize("NFD", word).casefold())


def slow_vectors(entries: list[tuple[str, list[float]]], texts: list[str], lowercased: bool) -> np.ndarray:
    """The definition, in float64, one word after the other."""
    out = []
    for text in texts:
        found = []
        for word in (text.lower() if lowercased else text).split():
            spelled = [v for w, v in entries if (w.lower() if lowercased else w) == word]
            folded = [] if lowercased else [v for w, v in entries if decomposed(w) == decomposed(word)]
            found += (spelled or folded)[:1]
        sums = [sum(column) / len(found) for column in zip(*found, strict=True)]
        out.append(sums or [float("nan")] * len(entries[0][1]))
    return np.array(out, dtype=np.float64)


LETTERS = "aAsSßİ\u00e1\u0301"
A_WORD = st.text(LETTERS, min_size=1, max_size=2)
VALUES = st.floats(-8, 8, width=32)


@settings(max_examples=150, deadline=None)
@given(
    entries=st.lists(st.tuples(A_WORD, st.lists(VALUES, min_size=3, max_size=3)), min_size=1, max_size=12),
    texts=st.lists(st.lists(A_WORD, max_size=5).map("\u2003 ".join), min_size=1, max_size=8),
    lowercased=st.booleans(),
)
def test_lookup_and_mean_are_those_of_a_slow_loop(
    entries: list[tuple[str, list[float]]], texts: list[str], lowercased: bool
) -> None:
    first: dict[str, tuple[float, ...]] = {}
    for word, vector in entries:
        first.setdefault(word.lower() if lowercased else word, tuple(vector))
    assume(len(first) < 5 or len(set(first.values())) > 1)  # five equal vectors are refused
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "v.txt"
        lines = [" ".join([word, *(repr(v) for v in vector)]) for word, vector in entries]
        path.write_text(f"{len(lines)} 3\n" + "\n".join(lines), "utf-8")
        vectors = WordVectors.at(path, lowercased=lowercased).encode(texts, CancelToken())
    expected = slow_vectors(entries, texts, lowercased)
    np.testing.assert_allclose(vectors, expected.astype(np.float32), rtol=1e-6, atol=1e-7)
    assert vectors.dtype == np.float32


def test_means_are_taken_in_float64(tmp_path: Path) -> None:
    path = tmp_path / "v.txt"
    path.write_text("large 1e8\nsmall 1\nminus -1e8\n", "utf-8")
    assert encoded(WordVectors.at(path), "large small minus") == [[float(np.float32(1 / 3))]]


# --- what it is known by


def test_the_identity_is_that_of_the_file_and_the_way_of_looking_up(path: Path) -> None:
    encoder = WordVectors.at(path)
    identity = encoder.identity
    assert identity.reference == f"vectors:{path}"
    assert identity.revision == source_files.sha256_of(path)[:16]
    assert identity.pooling.startswith("mean of word vectors in any form")
    assert encoder.as_toolkit().identity == replace(identity, pooling="float32 mean of word vectors, lower-cased")
    assert {library.partition("==")[0] for library in identity.libraries} == {"numpy", "gensim"}
    info = encoder.info
    assert (info.dimension, info.parameters, info.memory_bytes, info.is_partial) == (2, 18, 72, True)
    assert info.title == "my vectors.txt (word vectors, text without a header (GloVe))"
    path.write_text(FILE + "dog 1 1\n", "utf-8")
    assert WordVectors.at(path).identity.revision != identity.revision


def test_the_file_is_neither_parsed_nor_hashed_twice_for_a_page(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    resolve_encoder(f"vectors:{path}", Settings.from_environment({})).identity  # noqa: B018
    hashed = []
    monkeypatch.setattr(source_files, "sha256_of", hashed.append)
    monkeypatch.setattr(vector_words.Collector, "add", lambda *_: pytest.fail("parsed"))
    encoder = resolve_encoder(f"vectors:{path}", Settings.from_environment({}))
    assert encoder.info.dimension == 2
    assert encoder.identity.revision
    assert hashed == []


def test_vectors_are_those_that_the_identity_names(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that changes after it was looked at, or while it is read, is refused."""
    table = vector_words.Collector.table

    def change(self: vector_words.Collector) -> vector_words.WordTable:
        path.write_text(FILE + "dog 1 1\n", "utf-8")
        return table(self)

    encoder = WordVectors.at(path)
    assert encoder.identity.revision
    with monkeypatch.context() as patch:
        patch.setattr(vector_words.Collector, "table", change)
        with pytest.raises(InputError, match="changed before it was read to its end"):
            WordVectors.at(path).load()
    with pytest.raises(InputError, match="changed before it was read to its end"):
        encoder.load()
    assert encoded(WordVectors.at(path), "dog") == [[1, 1]]


def test_a_cancelled_token_stops_it(path: Path) -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        WordVectors.at(path).encode(["the"], cancel)


def test_the_cache_keeps_what_has_no_vector(path: Path, tmp_path: Path) -> None:
    cache, texts = EmbeddingCache(tmp_path / "embeddings", 2), ("the", "unknown", "cat the", "")
    for count in (4, 0):
        embedded = cache.encode(WordVectors.at(path), texts, digest_of_strings(texts), no_progress, CancelToken())
        assert embedded.covered.tolist() == [True, False, True, False]
        assert embedded.encoded_now == count
    np.testing.assert_array_equal(embedded.matrix, WordVectors.at(path).encode(texts, CancelToken()))


# --- references and the command line


@pytest.mark.parametrize("scheme", ["vectors", "table"])
def test_a_reference_has_one_spelling(scheme: str, tmp_path: Path) -> None:
    assert canonical_encoder(f"{scheme}:x.csv") == f"{scheme}:{Path.cwd() / 'x.csv'}"
    assert canonical_encoder(f"{scheme}:/a//b/../x.csv?") == f"{scheme}:/a/x.csv"
    assert canonical_encoder(f"{scheme}:~/x.csv") == f"{scheme}:{Path.home() / 'x.csv'}"
    asked = tmp_path / "what?dim=3.csv"
    asked.touch()
    assert canonical_encoder(f"{scheme}:{asked}") == f"{scheme}:{asked}"


@each("scheme", ["vectors", "table"])
@each(
    ("target", "said"),
    [
        ("", "names no file"),
        ("?dim=3", "names no file"),
        ("/x.csv?dim=3", "; write {scheme}:/x.csv"),
        ("~nobody-of-this-name/x", "names no file"),
    ],
)
def test_a_reference_that_means_nothing_is_refused(scheme: str, target: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        canonical_encoder(f"{scheme}:{target}")
    assert said.format(scheme=scheme) in str(caught.value)


# --- other poolings than the mean


def test_poolings_are_power_means_in_each_dimension_by_hand(tmp_path: Path, settings: Settings) -> None:
    path = tmp_path / "words.txt"
    path.write_text("a 1 -8\nb 3 0\nc 2 2\n", "utf-8")
    reference = f"vectors:{path}?pooling=mean+max+min+p2+p3"
    encoder = resolve_encoder(reference, settings)
    assert (encoder.info.dimension, encoder.identity.reference) == (10, reference)
    (found,) = encoder.encode(["a B nothing a"], CancelToken())  # a, b, a
    third = 1 / 3
    expected = [5 * third, -16 * third, 3, 0, 1, -8, (11 * third) ** 0.5, (128 * third) ** 0.5]
    expected += [(29 * third) ** third, -((1024 * third) ** third)]
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert np.isnan(encoder.encode(["nothing"], CancelToken())).all()
    assert isinstance(encoder, WordVectors)
    assert encoder.token_parts("a b") is None, "a maximum is no sum over words"
    words = encoder.encode(["a", "b", "c"], CancelToken())
    np.testing.assert_allclose(words[0], [1, -8, 1, -8, 1, -8, 1, 8, 1, -8], rtol=1e-6)
    np.testing.assert_array_equal(encoder.vocabulary(), words)


def test_a_pooling_is_another_model_and_the_mean_is_the_file(tmp_path: Path, settings: Settings) -> None:
    path = tmp_path / "words.txt"
    path.write_text(FILE, "utf-8")
    assert canonical_encoder(f"vectors:{path}?pooling=mean") == f"vectors:{path}"
    one, other = (resolve_encoder(f"vectors:{path}{more}", settings) for more in ("", "?pooling=max"))
    assert one.identity.revision == other.identity.revision
    assert one.identity.embedding_digest("") != other.identity.embedding_digest("")
    assert name_of_model(f"vectors:{path}?pooling=mean+max") == "words (pooling mean+max)"
    joined = resolve_encoder(f"cat:vectors:{path}+vectors:{path}?pooling=max", settings)
    assert np.isnan(joined.encode(["nothing"], CancelToken())).all()
    for wrong in ("cls", "published", "mean+mean", "mean+cls", "no", ""):
        with pytest.raises(InputError):
            canonical_encoder(f"vectors:{path}?pooling={wrong}")


# --- real files


@pytest.fixture(scope="module")
def mirror(shared_settings: Settings) -> Path:
    if "://" in shared_settings.mirror:
        pytest.skip("the mirror is no folder")
    return Path(shared_settings.mirror)


def coverage(encoder: Encoder, shared_settings: Settings) -> tuple[int, int, int]:
    """Items, items with a vector, and pairs of which both have one, of the EvalRank words."""
    from blindspot.datasets import fetch
    from blindspot.datasets.catalog import find_dataset

    words = fetch.load(find_dataset("evalrank-word"), shared_settings)
    vectors = encoder.encode(words.items, CancelToken())
    covered = ~np.isnan(vectors[:, 0])
    assert np.isfinite(vectors[covered]).all()
    assert np.isnan(vectors[~covered]).all()
    return len(words.items), int(covered.sum()), int((covered[words.queries] & covered[words.matches]).sum())


@pytest.mark.realdata
def test_the_toolkits_own_vectors_cover_what_they_must(mirror: Path, shared_settings: Settings) -> None:
    encoder = WordVectors.at(mirror / "evalrank/src/models/word_emb/toy_emb.txt")
    assert coverage(encoder, shared_settings) == (22_207, 4_658, 1_370)
    assert encoder.vocabulary().shape == (5_000, 50)


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("name", "shape", "first", "headed"),
    [
        ("word2vec_googlenews_300d_8k.txt", (8_000, 300), "in", True),
        ("glove_twitter_25d_12k.txt", (11_925, 25), "the", False),
    ],
)
def test_a_file_with_a_header_and_one_without_load_alike(
    mirror: Path, tmp_path: Path, name: str, shape: tuple[int, int], first: str, headed: bool
) -> None:
    """Each as it is, and with its header taken away or one put before it: the same words and numbers."""
    path = mirror / "word_vectors" / name
    if not path.is_file():
        pytest.skip(f"{path} is not here")
    whole = path.read_bytes()
    other = tmp_path / "other.txt"
    other.write_bytes(whole.partition(b"\n")[2] if headed else b"%d %d\n" % shape + whole)
    ours: list[Float32] = []
    for file in (path, other):
        encoder = WordVectors.at(file)
        assert encoder.vocabulary().shape == shape
        assert encoder.info.parameters == shape[0] * shape[1]
        assert next(iter(encoder.file.table.index)) == first
        ours.append(encoder.vocabulary())
    np.testing.assert_array_equal(*ours)

    from gensim.models import KeyedVectors

    theirs = KeyedVectors.load_word2vec_format(str(path), no_header=not headed, limit=500)
    np.testing.assert_array_equal(theirs.vectors, ours[0][:500])
    assert json.dumps(theirs.index_to_key) == json.dumps(list(encoder.file.table.index)[:500])


def test_words_that_are_left_out_are_counted_and_kept_with_the_vectors(path: Path, tmp_path: Path) -> None:
    encoder = WordVectors.at(path)
    cache = EmbeddingCache(tmp_path / "cache")
    texts = ("the cat, the dog", "the cat", "cat", "dog", "ox")

    def note_of(*texts: str) -> str:
        return cache.encode(encoder, texts, digest_of_strings(texts), no_progress, CancelToken()).facts.device_note

    for _ in range(2):  # computed, and stored
        note = note_of(*texts)
        assert "no vector for 2 of 7 words" in note
        assert "'cat,'" in note
        assert "punctuation" in note
    assert not note_of("the cat", "ox"), "both were stored"
    assert "such as 'ox'." in note_of("the ox")
    assert not note_of("the the", "Paris the"), "of these texts alone"
