"""Contributions of words to a cosine: exact sums, and leaving words out against brute force.

The reference is the float64 cosine of the vectors that runs use (float32 after every step). Parts are computed in
float64 from token vectors of a forward pass of their own, so before rounding is spread they may differ from it in the
seventh digit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blindspot.datasets import fetch
from blindspot.datasets.catalog import find_dataset
from blindspot.encoders import resident
from blindspot.encoders.base import Encoder, EncoderIdentity, EncoderInfo
from blindspot.encoders.catalog import resolve_encoder
from blindspot.encoders.table.encoder import Table
from blindspot.encoders.tokens import Role, Token, TokenParts, TokenVectors, mean_of
from blindspot.settings import Settings
from blindspot.transforms.chain import FittedChain, TransformChain
from blindspot.transforms.contributions import (
    MOST_LEFT_OUT,
    CannotExplain,
    Way,
    contributions,
    parts_of,
    without,
)
from blindspot.types import CancelToken, Float32, digest_of_strings

EXACT = 1e-6
CORPUS = 60  # sentences to fit on
PAIRS = (
    ("The cat did not sleep on the sofa.", "The cat slept on the sofa, but it isn't there now!"),
    ("rain", "It rains a lot in unbelievably wet places 🌧️"),
    ("", "Rain."),
    ("word " * 200, "A word about words. " * 60),  # the second is cut off
)
CHAINS = (
    "none",
    "center",
    "abtt:2",
    "pcr:1",
    "zscore",
    "whiten:16",
    "pca:16",
    "truncate:64",
    "center+normalize+abtt:1",
)


def cosine(x: Float32, y: Float32) -> float:
    a, b = x.astype(np.float64).tolist(), y.astype(np.float64).tolist()
    dot = sum(p * q for p, q in zip(a, b, strict=True))
    lengths = (sum(p * p for p in a) * sum(q * q for q in b)) ** 0.5
    return dot / lengths if lengths else 0.0


@pytest.fixture(scope="module")
def encoders(shared_settings: Settings) -> dict[str, tuple[Encoder, Float32]]:
    """Loaded encoders, and their vectors of the sentences and then of all texts of pairs, encoded in one batch."""
    demo = fetch.load(find_dataset("demo-pairs"), shared_settings).items
    texts = [*demo[:CORPUS], *(text for pair in PAIRS for text in pair)]
    out = {}
    for reference in ("minilm", "minilm-static", "minilm-first-last-avg", "lsa", "minilm-cls"):
        with resident.loaded(resolve_encoder(reference, shared_settings), digest_of_strings(texts), texts) as encoder:
            out[reference] = encoder, encoder.encode(texts, CancelToken())
    return out


@pytest.mark.heavy
@pytest.mark.parametrize("chain", CHAINS)
@pytest.mark.parametrize("reference", ["minilm", "minilm-static", "minilm-first-last-avg", "lsa"])
def test_contributions_add_up_to_the_stored_cosine(
    encoders: dict[str, tuple[Encoder, Float32]], reference: str, chain: str
) -> None:
    encoder, vectors = encoders[reference]
    fitted = TransformChain.parse(chain).fit(vectors)
    made = fitted.apply(vectors)
    is_quick = chain not in {"none", "whiten:16"}  # then without the long texts and without encoding again
    for number, pair in enumerate(PAIRS[:3] if is_quick else PAIRS):
        first, second = (CORPUS + 2 * number + side for side in range(2))
        own = vectors[first], vectors[second]
        for stored in (own,) if is_quick else (own, (None, None)):
            found = contributions(pair, stored, encoder, fitted, CancelToken())
            expected = cosine(made[first], made[second])
            if found.way is Way.LEAVING_OUT:
                assert reference == "lsa", "only the empty text has no words"
                assert not pair[0]
                continue
            rounding = EXACT if stored[0] is not None else 2e-5  # encoded in another batch; whitening magnifies it
            assert found.cosine == pytest.approx(expected, abs=rounding)
            total = sum(value for row in found.cells.tolist() for value in row)
            assert total == pytest.approx(expected, abs=rounding)
            for of_words in found.of_words:
                assert sum(of_words.tolist()) == pytest.approx(expected, abs=rounding)


@pytest.mark.parametrize("reference", ["minilm", "minilm-static", "minilm-first-last-avg"])
def test_without_spreading_rounding_the_sum_is_as_exact(
    encoders: dict[str, tuple[Encoder, Float32]], reference: str
) -> None:
    """The decomposition itself, before what batches round differently is spread over the words."""
    encoder, vectors = encoders[reference]
    assert isinstance(encoder, TokenVectors)
    of_texts = [encoder.token_parts(text) for text in PAIRS[0]]
    for chain in ("none", "center", "abtt:2", "zscore", "truncate:64"):
        fitted = TransformChain.parse(chain).fit(vectors)
        made = fitted.apply(vectors)
        parts = []
        for found in of_texts:
            assert found is not None
            of_text = fitted.of_parts(found.parts, found.shares)
            assert of_text is not None
            parts.append(of_text)
        x, y = parts
        total = (x @ y.T).sum() / np.linalg.norm(x.sum(axis=0)) / np.linalg.norm(y.sum(axis=0))
        assert total == pytest.approx(cosine(made[CORPUS], made[CORPUS + 1]), abs=EXACT), chain


def test_what_is_cut_off_contributes_nothing(encoders: dict[str, tuple[Encoder, Float32]]) -> None:
    encoder, vectors = encoders["minilm"]
    found = contributions(PAIRS[3], (None, None), encoder, TransformChain(()).fit(vectors), CancelToken())
    cut = [word.role is Role.CUT for word in found.words[1]]
    assert sum(cut) == 1 + 9 * 4  # of 60 sentences of five pieces, 254 pieces are read
    assert not found.of_words[1][cut].any()


@pytest.mark.heavy
def test_leaving_out_against_brute_force(encoders: dict[str, tuple[Encoder, Float32]]) -> None:
    encoder, vectors = encoders["minilm-cls"]
    fitted = TransformChain.parse("center").fit(vectors)
    pair = ("The cat did not sleep.", "A cat slept")
    found = contributions(pair, (None, None), encoder, fitted, CancelToken())
    assert found.way is Way.LEAVING_OUT
    assert [word.text for word in found.words[0]] == ["The", "cat", "did", "not", "sleep."]

    def s(first: str, second: str) -> float:
        x, y = (fitted.apply(encoder.encode([text], CancelToken()))[0] for text in (first, second))
        return cosine(x, y)

    whole = s(*pair)
    assert found.cosine == pytest.approx(whole, abs=EXACT)
    shorter = [[" ".join([*words[:i], *words[i + 1 :]]) for i in range(len(words))] for words in map(str.split, pair)]
    for i, first in enumerate(shorter[0]):
        assert found.of_words[0][i] == pytest.approx(whole - s(first, pair[1]), abs=EXACT)
        for j, second in enumerate(shorter[1]):
            assert found.of_words[1][j] == pytest.approx(whole - s(pair[0], second), abs=EXACT)
            expected = whole - s(first, pair[1]) - s(pair[0], second) + s(first, second)
            assert found.cells[i, j] == pytest.approx(expected, abs=4 * EXACT)


def test_another_stored_vector_is_told(encoders: dict[str, tuple[Encoder, Float32]]) -> None:
    encoder, vectors = encoders["minilm"]
    with pytest.raises(CannotExplain, match="another vector"):
        contributions(PAIRS[0], (vectors[0], vectors[1]), encoder, TransformChain(()).fit(vectors), CancelToken())


# --- encoders made up for it


class Bent:
    """A step that is not linear."""

    d_out = 3

    @property
    def facts(self) -> dict[str, float]:
        return {}

    def apply(self, embeddings: Float32) -> Float32:
        return np.tanh(embeddings)


@dataclass(frozen=True)
class MeanEncoder:
    """Vectors by word; a text is their mean. Without any word, zeros."""

    words: dict[str, tuple[float, ...]]
    d: int = 3
    device = "cpu"

    @property
    def identity(self) -> EncoderIdentity:
        return EncoderIdentity(reference="mean", revision="1", pooling="mean", libraries=())

    @property
    def info(self) -> EncoderInfo:
        return EncoderInfo("Mean", self.d, 0, 0, "", "", "")

    def load(self) -> None:
        """There is nothing to load."""

    def token_parts(self, text: str) -> TokenParts | None:
        words = text.split()
        rows = np.array([self.words[word] for word in words], dtype=np.float64).reshape(len(words), self.d)
        return mean_of([Token(word) for word in words], rows, np.ones(len(words), dtype=bool))

    def encode(self, texts: Sequence[str], cancel: CancelToken) -> Float32:
        out = np.zeros((len(texts), self.d), dtype=np.float32)
        for row, text in enumerate(texts):
            if text.split():
                out[row] = np.mean([self.words[word] for word in text.split()], axis=0)
        return out


numbers = st.floats(-1, 1, width=16)
vectors_3 = st.tuples(numbers, numbers, numbers)
sentences = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=6).map(" ".join)


@given(
    st.lists(vectors_3, min_size=6, max_size=6),
    sentences,
    sentences,
    st.sampled_from(["none", "center", "zscore", "normalize", "truncate:2", "random-project:5", "center+normalize"]),
)
def test_of_any_linear_encoder_the_sum_is_exact(
    vectors: list[tuple[float, ...]], first: str, second: str, chain: str
) -> None:
    encoder = MeanEncoder(dict(zip("abcdef", vectors, strict=True)))
    fitted = TransformChain.parse(chain).fit(np.array(vectors, dtype=np.float32))
    found = contributions((first, second), (None, None), encoder, fitted, CancelToken())
    assert found.way is Way.SUM
    x, y = fitted.apply(encoder.encode([first, second], CancelToken()))
    expected = cosine(x, y)
    assert found.cells.shape == (len(first.split()), len(second.split()))
    assert found.cosine == pytest.approx(expected, abs=EXACT)
    assert found.cells.sum() == pytest.approx(expected, abs=EXACT)


def test_a_case_by_hand() -> None:
    """x = (u + v)/2 with u = (2, 0, 0), v = (0, 2, 0); y = u: the cosine 1/sqrt(2) is all of u's."""
    encoder = MeanEncoder({"u": (2, 0, 0), "v": (0, 2, 0)})
    found = contributions(("u v", "u"), (None, None), encoder, none(), CancelToken())
    np.testing.assert_allclose(found.cells, [[0.5**0.5], [0]], atol=1e-7)


def none() -> FittedChain:
    return TransformChain(()).fit(np.zeros((1, 3), dtype=np.float32))


def test_a_transform_that_bends_leaves_words_out() -> None:
    encoder = MeanEncoder({"u": (2, 0, 0), "v": (0, 2, 0), "w": (1, 1, 1)})
    chain = FittedChain(TransformChain(()), 1, 3, (Bent(),))
    found = contributions(("u v", "w"), (None, None), encoder, chain, CancelToken())
    assert found.way is Way.LEAVING_OUT
    assert found.cosine == pytest.approx(cosine(*np.tanh(encoder.encode(["u v", "w"], CancelToken()))), abs=1e-6)
    assert found.cells.shape == (2, 1)
    # Of two words each, against the cosines of all texts that are left.
    found = contributions(("u v", "w u"), (None, None), encoder, chain, CancelToken())
    between = np.array(
        [
            [cosine(*np.tanh(encoder.encode([first, second], CancelToken()))) for second in ("w u", "u", "w")]
            for first in ("u v", "v", "u")
        ]
    )
    whole, of_first, of_second = between[0, 0], between[1:, 0], between[0, 1:]
    np.testing.assert_allclose(found.of_words, [whole - of_first, whole - of_second], atol=1e-6)
    expected = whole - of_first[:, None] - of_second[None, :] + between[1:, 1:]
    np.testing.assert_allclose(found.cells, expected, atol=1e-6)


def test_a_zero_vector_is_similar_to_nothing() -> None:
    encoder = MeanEncoder({"u": (2, 0, 0), "v": (-2, 0, 0)})
    found = contributions(("u v", "u"), (None, None), encoder, none(), CancelToken())
    assert found.cosine == 0
    assert not found.cells.any()


def test_whole_texts_cannot_be_explained(tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "table.csv"
    path.write_text('text,embedding\na dog,"[1, 0, 0]"\n', "utf-8")
    with pytest.raises(CannotExplain, match="whole texts"):
        contributions(("a dog", "a dog"), (None, None), Table.at(path), none(), CancelToken())


def test_long_texts_are_left_out_in_runs_of_words() -> None:
    words = [f"w{i}" for i in range(2 * MOST_LEFT_OUT + 1)]
    parts = parts_of(" ".join(words))
    assert len(parts) <= MOST_LEFT_OUT
    assert " ".join(parts).split() == words
    assert parts[0] == "w0 w1 w2"
    assert without(["a", "b c", "d"], 1) == "a d"
    assert parts_of("") == []
