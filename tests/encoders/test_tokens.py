"""Parts of a text's vector by its words, against what encoders give for the whole text."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from blindspot.encoders import resident
from blindspot.encoders.base import Encoder, FittedEncoder
from blindspot.encoders.catalog import resolve_encoder
from blindspot.encoders.tokens import Role, Token, TokenParts, TokenVectors, mean_of, merged
from blindspot.encoders.transformer.encoder import SentenceTransformerEncoder
from blindspot.encoders.word_vectors.encoder import WordVectors
from blindspot.settings import Settings
from blindspot.types import CancelToken, digest_of_strings
from tests.support.odd_texts import ODD_TEXTS

TEXTS = ("A dog runs.", "The cat did not sleep on the sofa, but under it.", "It isn't rain", *ODD_TEXTS)
POOLINGS = ("minilm", "minilm-last-avg", "minilm-first-last-avg", "minilm-static")


def ready(reference: str, settings: Settings) -> Encoder:
    with resident.loaded(resolve_encoder(reference, settings), digest_of_strings(TEXTS), TEXTS) as encoder:
        return encoder


def parts_of(encoder: Encoder, text: str) -> TokenParts:
    assert isinstance(encoder, TokenVectors)
    found = encoder.token_parts(text)
    assert found is not None
    return found


@pytest.mark.heavy
@pytest.mark.parametrize("reference", [*POOLINGS, "random-projection", "lsa"])
def test_parts_add_up_to_the_vector(reference: str, shared_settings: Settings) -> None:
    encoder = ready(reference, shared_settings)
    vectors = encoder.encode(TEXTS, CancelToken()).astype(np.float64)
    for text, vector in zip(TEXTS, vectors, strict=True):
        if reference == "lsa" and not text.strip():
            assert not vector.any()
            continue
        found = parts_of(encoder, text)
        assert found.parts.shape == (len(found.tokens), encoder.info.dimension)
        assert found.shares.sum() == pytest.approx(1)
        np.testing.assert_allclose(found.parts.sum(axis=0), vector, rtol=0, atol=3e-6, err_msg=repr(text[:40]))


def test_words_are_whole_and_marks_are_apart(shared_settings: Settings) -> None:
    found = parts_of(ready("minilm", shared_settings), "Unbelievably, it isn't 'rain'.")
    cls, *words, sep = found.tokens
    assert (cls, sep) == (Token("[CLS]", Role.ADDED), Token("[SEP]", Role.ADDED))
    assert [word.text for word in words] == ["Unbelievably", ",", "it", "isn't", "'", "rain", "'", "."]
    literal = parts_of(ready("minilm", shared_settings), "[CLS] [SEP]").tokens
    assert [token.role for token in literal] == [Role.ADDED, Role.WORD, Role.WORD, Role.ADDED]


@pytest.mark.parametrize("reference", POOLINGS)
def test_what_is_cut_off_counts_for_nothing(reference: str, shared_settings: Settings) -> None:
    found = parts_of(ready(reference, shared_settings), " ".join(["rain"] * 300))
    cut = [token.role is Role.CUT for token in found.tokens]
    assert sum(cut) == 300 - 254
    assert not found.parts[cut].any()
    assert not found.shares[cut].any()


@pytest.mark.heavy
def test_a_prompt_is_told_apart(shared_settings: Settings) -> None:
    from dataclasses import replace

    from blindspot.encoders.transformer.encoder import SentenceTransformerEncoder

    plain = resolve_encoder("minilm", shared_settings)
    assert isinstance(plain, SentenceTransformerEncoder)
    prompted = replace(plain, prompt="query: ")
    found = parts_of(prompted, "a dog")
    assert [(token.text, token.role) for token in found.tokens[1:-1]] == [
        ("query", Role.PROMPT),
        (":", Role.PROMPT),
        ("a", Role.WORD),
        ("dog", Role.WORD),
    ]
    np.testing.assert_allclose(found.parts.sum(axis=0), prompted.encode(["a dog"], CancelToken())[0], rtol=0, atol=1e-6)


def test_the_first_token_is_no_sum(shared_settings: Settings) -> None:
    encoder = ready("minilm-cls", shared_settings)
    assert isinstance(encoder, TokenVectors)
    assert encoder.token_parts("A dog runs.") is None


def test_poolings_share_weights(shared_settings: Settings) -> None:
    one, other = ready("minilm", shared_settings), ready("minilm-static", shared_settings)
    assert isinstance(one, SentenceTransformerEncoder)
    assert isinstance(other, SentenceTransformerEncoder)
    assert one._model is other._model
    assert other.identity == resolve_encoder("minilm-static", shared_settings).identity


def test_a_fitted_encoder_is_kept_by_its_texts(shared_settings: Settings) -> None:
    encoders = []
    for texts in (TEXTS, ("a dog", "a cat", "some rain")):
        lsa = resolve_encoder("lsa", shared_settings)
        assert isinstance(lsa, FittedEncoder)
        with resident.loaded(lsa, digest_of_strings(texts), texts) as encoder:
            encoders.append(encoder)
    assert encoders[0] is not encoders[1]
    assert ready("lsa", shared_settings) is encoders[0]


def test_a_pair_of_words_counts_half_for_either(shared_settings: Settings) -> None:
    """LSA: only the pair "red dog" is known of these two words, so both contribute alike."""
    from blindspot.encoders.lsa import _Fitted

    class Features:
        def __init__(self, **vocabulary: int) -> None:
            self.vocabulary_ = {name.replace("_", " "): number for name, number in vocabulary.items()}

        def build_analyzer(self):  # type: ignore[no-untyped-def]
            return lambda word: [word[:2], word[:2]]

    fitted = _Fitted([Features(red_dog=0, cat=1), Features(re=0, ca=1)], np.zeros((4, 2), dtype=np.float32))
    counts = fitted.counts(["Red", "dog", "cat"], [0, 1, 2, 3])
    np.testing.assert_array_equal(counts, [[0.5, 0, 2, 0], [0.5, 0, 0, 0], [0, 1, 0, 2]])


def test_words_without_a_vector_have_no_part(tmp_path: Path) -> None:
    path = tmp_path / "tiny.txt"
    path.write_text("dog 1 0\ncat 0 2\n", "utf-8")
    encoder = WordVectors.at(path)
    found = parts_of(encoder, "The dog, DOG cat")
    assert [(token.text, token.role) for token in found.tokens] == [
        ("The", Role.UNKNOWN),
        ("dog,", Role.UNKNOWN),
        ("DOG", Role.WORD),
        ("cat", Role.WORD),
    ]
    np.testing.assert_array_equal(found.parts, [[0, 0], [0, 0], [0.5, 0], [0, 1]])
    np.testing.assert_array_equal(found.parts.sum(axis=0), encoder.encode(["The dog, DOG cat"], CancelToken())[0])
    assert encoder.token_parts("nothing known") is None
    assert encoder.token_parts("") is None


def test_means_and_groups() -> None:
    tokens = [Token("a"), Token("b"), Token("c", Role.ADDED)]
    vectors = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    found = mean_of(tokens, vectors, np.array([True, True, False]))
    np.testing.assert_array_equal(found.parts, [[0.5, 1], [1.5, 2], [0, 0]])
    together = merged(found, [0, 0, 1], [Token("ab"), Token("c")])
    np.testing.assert_array_equal(together.parts, [[2, 3], [0, 0]])
    np.testing.assert_array_equal(together.shares, [1, 0])
    nothing = mean_of(tokens, vectors, np.zeros(3, dtype=bool))
    assert not nothing.parts.any()
    assert nothing.shares.sum() == pytest.approx(1)
