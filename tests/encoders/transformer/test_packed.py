"""Packed layers give what torch's own give, and stay out wherever they would not."""

from __future__ import annotations

import copy
import platform
import threading
from dataclasses import replace

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertModel

from blindspot.datasets import fetch
from blindspot.datasets.catalog import find_dataset
from blindspot.encoders.catalog import resolve_encoder
from blindspot.encoders.transformer import encoder, packed, side_by_side
from blindspot.encoders.transformer.encoder import SentenceTransformerEncoder
from blindspot.numerics.threads import in_threads
from blindspot.settings import Settings
from blindspot.types import CancelToken
from tests.support.odd_texts import ODD_TEXTS
from tests.support.onednn import needs_onednn

LINEAR = 2 * 6 + 1  # four of attention and two after it per layer, and the pooler


def bert(activation: str = "gelu") -> BertModel:
    torch.manual_seed(3)
    config = BertConfig(
        vocab_size=50,
        hidden_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=192,
        hidden_act=activation,
    )
    return BertModel(config).eval()


def states(model: torch.nn.Module, texts: int = 5, width: int = 9) -> np.ndarray:
    ids = torch.arange(texts * width).reshape(texts, width) % 50
    mask = (torch.arange(width) < torch.arange(width, width - texts, -1)[:, None]).long()
    with torch.inference_mode():
        found = model(input_ids=ids, attention_mask=mask).last_hidden_state.numpy()
    return np.asarray(found)[mask.bool().numpy()]


@needs_onednn
@pytest.mark.parametrize("activation", ["gelu", "gelu_new", "relu"])
def test_packed_layers_give_the_same(activation: str) -> None:
    model = bert(activation)
    parameters = sum(p.numel() for p in model.parameters())
    expected = {width: states(model, width, width) for width in (2, 9, 17)}
    double = states(copy.deepcopy(model).double(), 9, 9)
    assert packed.pack(model) == LINEAR
    for width, by_torch in expected.items():
        np.testing.assert_allclose(states(model, width, width), by_torch, rtol=0, atol=2e-6)
    np.testing.assert_allclose(states(model, 9, 9), double, rtol=0, atol=2e-6)
    assert sum(p.numel() for p in model.parameters()) == parameters
    assert isinstance(model.encoder.layer[0].intermediate.intermediate_act_fn, torch.nn.Identity) == (
        activation == "gelu"
    )


@needs_onednn
def test_a_model_that_is_not_the_same_packed_stays_as_published(monkeypatch: pytest.MonkeyPatch) -> None:
    model, expected = bert(), states(bert())
    was = dict(model.named_modules())
    monkeypatch.setattr(packed, "is_same", lambda *_: False)
    assert packed.pack(model) == 0
    assert dict(model.named_modules()) == was
    assert np.array_equal(states(model), expected)


@needs_onednn
def test_a_model_that_cannot_be_packed_stays_as_published(monkeypatch: pytest.MonkeyPatch) -> None:
    model, left = bert(), [4]
    whole = packed._packed

    def fails_at_the_fifth(linear: torch.nn.Linear, after: str) -> torch.nn.Module:
        left[0] -= 1
        if left[0] < 0:
            raise RuntimeError("no such operation")
        return whole(linear, after)

    monkeypatch.setattr(packed, "_packed", fails_at_the_fifth)
    assert packed.pack(model) == 0
    assert np.array_equal(states(model), states(bert()))


def test_other_precisions_and_processors_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert packed.pack(bert().to(torch.bfloat16)) == 0
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    assert packed.pack(bert()) == 0


@pytest.mark.heavy
@needs_onednn
def test_the_other_texts_of_a_batch_change_no_digit(shared_settings: Settings) -> None:
    """So it does not matter in which dataset a text was encoded first."""
    model = replace(resolve_encoder("minilm", shared_settings), others=())
    assert isinstance(model, SentenceTransformerEncoder)
    assert model.encodes_alone
    texts = [*fetch.load(find_dataset("demo-pairs"), shared_settings).items[:20], *ODD_TEXTS[:5]]
    prepared = model.prepare(texts, CancelToken())
    if not packed.is_packed(model._model[0].auto_model):
        pytest.skip("not packed here")
    together = prepared.encode(np.arange(len(texts)), CancelToken()).vectors[0]
    apart = np.vstack([prepared.encode(np.array([row]), CancelToken()).vectors[0] for row in range(len(texts))])
    np.testing.assert_array_equal(together, apart)


@pytest.mark.heavy
@needs_onednn
@pytest.mark.parametrize("joins", [True, False])
def test_threads_that_take_a_batch_each_change_at_most_the_last_digit(
    shared_settings: Settings, monkeypatch: pytest.MonkeyPatch, joins: bool
) -> None:
    model = resolve_encoder("minilm", shared_settings)
    assert isinstance(model, SentenceTransformerEncoder)
    texts = [*fetch.load(find_dataset("demo-pairs"), shared_settings).items[:16], *ODD_TEXTS[:5]]
    prepared, taken = model.prepare(texts, CancelToken()), []
    if not packed.is_packed(model._model[0].auto_model) or not side_by_side.is_possible():
        pytest.skip("not packed here")
    prepared.forward.can_join &= joins

    def spied(batches: list[np.ndarray], work: object, threads: int, within: object) -> None:
        taken.append(threads)
        in_threads(batches, work, threads, within)

    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        monkeypatch.setattr(encoder, "BATCHES_PER_THREAD", len(texts))
        monkeypatch.setattr(encoder, "JOINED_PER_THREAD", 10_000)
        in_turn = prepared.encode_all(CancelToken())
        monkeypatch.setattr(encoder, "in_threads", spied)
        monkeypatch.setattr(encoder, "BATCHES_PER_THREAD", 1)
        monkeypatch.setattr(encoder, "JOINED_PER_THREAD", 1)
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            for one, other in zip(prepared.encode_all(CancelToken()).vectors, in_turn.vectors, strict=True):
                # Some processors round the product of a single row otherwise, in the seventh digit.
                np.testing.assert_allclose(one, other, rtol=0, atol=1e-6)
            assert torch.get_num_threads() == threads, "the caller's setting stays"
    finally:
        torch.set_num_threads(before)
    assert taken == [1, 2, 3]
    assert len(in_turn.vectors) > 1


@needs_onednn
def test_one_thread_leaves_the_numbers_of_other_threads() -> None:
    if not side_by_side.is_possible():
        pytest.skip("this torch has no MKL of its own")
    before, of_others = torch.get_num_threads(), []
    try:
        torch.set_num_threads(2)
        with side_by_side.one_thread():
            assert torch.get_num_threads() == 1
            other = threading.Thread(target=lambda: of_others.append(torch.get_num_threads()))
            other.start()
            other.join()
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
    assert of_others == [2]
