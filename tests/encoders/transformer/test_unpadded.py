"""Texts joined end to end give what each gives alone, and models for which they would not are padded as before."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
import torch
import transformers
from hypothesis import given
from hypothesis import strategies as st
from transformers import PretrainedConfig, PreTrainedModel

from blindspot.datasets import fetch
from blindspot.datasets.catalog import find_dataset
from blindspot.encoders.catalog import resolve_encoder
from blindspot.encoders.transformer import packed, unpadded
from blindspot.encoders.transformer.encoder import SentenceTransformerEncoder
from blindspot.settings import Settings
from blindspot.types import CancelToken
from tests.support.odd_texts import ODD_TEXTS
from tests.support.onednn import needs_onednn

SIZES = {
    "vocab_size": 60,
    "hidden_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 192,
    "max_position_embeddings": 90,
    "pad_token_id": 1,
}
WINDOW = 8  # tokens
MODELS = {
    "Bert": {},
    "Roberta": {},
    "XLMRoberta": {},
    "Electra": {"embedding_size": 128},
    "MPNet": {},
    "ModernBert": {"local_attention": WINDOW, "global_attn_every_n_layers": 2},
    "Qwen3": {"num_key_value_heads": 2, "head_dim": 32},
    "Mistral": {"num_key_value_heads": 2, "sliding_window": WINDOW},
}
NEVER_JOINED = {"MPNet"}  # its attention has biases of positions, and is not in transformers' register


def tiny(kind: str) -> PreTrainedModel:
    torch.manual_seed(5)
    config: PretrainedConfig = getattr(transformers, f"{kind}Config")(**SIZES | MODELS[kind])
    model = getattr(transformers, f"{kind}Model")(config).eval()
    assert isinstance(model, PreTrainedModel)
    return model


def alone(model: PreTrainedModel, ids: np.ndarray) -> np.ndarray:
    row = torch.from_numpy(ids[np.newaxis])
    with torch.inference_mode():
        found = model(input_ids=row, attention_mask=torch.ones_like(row), return_dict=True).last_hidden_state
    return np.asarray(found[0].numpy())


@given(lengths=st.lists(st.integers(1, 4), max_size=12))
def test_runs_are_neighbors_of_one_length(lengths: list[int]) -> None:
    found = unpadded.runs_of(np.array(lengths, dtype=np.int64))
    expected, start = [], 0
    for length, group in itertools.groupby(lengths):
        expected.append((start, texts := len(list(group)), length))
        start += texts * length
    assert found == expected
    assert [place for run in found for place in range(100)[run.tokens]] == list(range(sum(lengths)))


@given(texts=st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=5), min_size=1), padding=st.integers(0, 3))
def test_positions_are_those_of_each_text_alone(texts: list[list[int]], padding: int) -> None:
    ids, lengths = np.concatenate(texts), np.array([len(text) for text in texts])
    found = unpadded.positions_of(ids, lengths, None).tolist()
    assert found == [place for text in texts for place in range(len(text))]
    of_roberta = transformers.models.roberta.modeling_roberta.RobertaEmbeddings.create_position_ids_from_input_ids
    by_roberta = [of_roberta(torch.tensor([text]), padding)[0].tolist() for text in texts]
    assert unpadded.positions_of(ids, lengths, padding).tolist() == [place for text in by_roberta for place in text]


@pytest.mark.heavy
@needs_onednn
@pytest.mark.parametrize("kind", MODELS)
def test_joined_texts_give_what_each_gives_alone(kind: str) -> None:
    model = tiny(kind)
    lengths = np.array([1, 4, 4, 4, WINDOW, 30, 30, 41, 4], dtype=np.int64)
    ids = np.random.default_rng(0).integers(2, SIZES["vocab_size"], lengths.sum())
    ids[[7, 8, 30]] = SIZES["pad_token_id"]  # a text can contain the padding token
    parts = np.split(ids, np.cumsum(lengths)[:-1])
    by_torch = [alone(model, part) for part in parts]
    assert packed.pack(model) > 0
    assert unpadded.enable(model) == unpadded.is_enabled(model) == (kind not in NEVER_JOINED)
    for part, before in zip(parts, by_torch, strict=True):
        np.testing.assert_allclose(alone(model, part), before, rtol=0, atol=1e-5)
    if unpadded.is_enabled(model):
        with torch.inference_mode():
            found = unpadded.joined(model, ids, lengths).last_hidden_state[0].numpy()
        np.testing.assert_allclose(found, np.vstack(by_torch), rtol=0, atol=1e-5)
        apart = np.vstack([alone(model, part) for part in parts])
        # Equal on most processors; some choose another product by the number of rows, which rounds otherwise.
        np.testing.assert_allclose(found[1:], apart[1:], rtol=0, atol=3e-6)


@needs_onednn
@pytest.mark.parametrize("reason", ["other numbers", "too few positions", "another attention"])
def test_a_model_that_cannot_stays_as_published(monkeypatch: pytest.MonkeyPatch, reason: str) -> None:
    monkeypatch.setitem(SIZES, "max_position_embeddings", max(unpadded.PROBE) - (reason == "too few positions"))
    model = tiny("Bert")
    if reason == "another attention":
        model.set_attn_implementation("eager")
    packed.pack(model)
    if reason == "other numbers":
        monkeypatch.setattr(unpadded, "is_same", lambda *_: False)
    attention = model.config._attn_implementation
    assert not unpadded.enable(model)
    assert not unpadded.is_enabled(model)
    assert model.config._attn_implementation == attention


@pytest.mark.heavy
@needs_onednn
@pytest.mark.parametrize("prompt", ["", "about rain: "])
@pytest.mark.parametrize("counts_prompt", [True, False])
def test_every_pooling_is_the_one_of_padded_texts(shared_settings: Settings, prompt: str, counts_prompt: bool) -> None:
    model = resolve_encoder("minilm", shared_settings)
    assert isinstance(model, SentenceTransformerEncoder)
    texts = [*fetch.load(find_dataset("demo-pairs"), shared_settings).items[:60], *ODD_TEXTS[:5]]
    found = replace(model, prompt=prompt)
    vars(found)["_model"] = model._model
    pooling = model._model[1]
    before = pooling.include_prompt
    try:
        pooling.include_prompt = counts_prompt
        prepared = found.prepare(texts, CancelToken())
        assert prepared.forward.can_join
        together = prepared.encode_all(CancelToken()).vectors
        prepared.forward.can_join = False
        padded = prepared.encode_all(CancelToken()).vectors
    finally:
        pooling.include_prompt = before
    assert len(together) > 3
    for one, other in zip(together, padded, strict=True):
        np.testing.assert_array_equal(one, other)
