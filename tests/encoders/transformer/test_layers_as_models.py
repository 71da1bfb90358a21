"""Any layer of a transformer as a model: against the hidden states that transformers gives, pooled by definition."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from blindspot.encoders.cache import EmbeddingCache
from blindspot.encoders.catalog import canonical_encoder, resolve_encoder
from blindspot.encoders.transformer.encoder import SentenceTransformerEncoder
from blindspot.errors import InputError
from blindspot.settings import Settings
from blindspot.types import CancelToken, Float32, Float64, digest_of_strings, no_progress
from tests.support.tables import each
from tests.support.tiny_models import plain, saved

TEXTS = ("A dog runs.", "The cat did not sleep on the sofa, but under it.", "rain")


def encoder_of(reference: str, settings: Settings) -> SentenceTransformerEncoder:
    encoder = resolve_encoder(reference, settings)
    assert isinstance(encoder, SentenceTransformerEncoder)
    return encoder


def vectors_of(reference: str, settings: Settings) -> Float32:
    return encoder_of(reference, settings).encode(TEXTS, CancelToken())


def states_of(folder: Path) -> list[list[Float64]]:
    """Per text and layer ``[t, d]``: plain transformers in float64, one text at a time."""
    from transformers import AutoModel, AutoTokenizer

    model = AutoModel.from_pretrained(folder, dtype=torch.float64, local_files_only=True).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    found = []
    for text in TEXTS:
        ids = tokenizer(text, return_tensors="pt")["input_ids"]
        with torch.no_grad():
            states = model(input_ids=ids, output_hidden_states=True).hidden_states
        found.append([state[0].numpy() for state in states])
    return found


def pooled(states: list[list[Float64]], *layers: int, pool: Callable[[Float64], Float64]) -> Float64:
    return np.array([pool(np.mean([of_text[layer] for layer in layers], axis=0)) for of_text in states])


def mean(rows: Float64) -> Float64:
    return np.asarray(rows.mean(axis=0))


def unit_mean(rows: Float64) -> Float64:
    return np.asarray(mean(rows) / np.linalg.norm(mean(rows)))


@pytest.mark.heavy
def test_layers_of_minilm_are_the_hidden_states_pooled_as_the_model_pools(settings: Settings) -> None:
    minilm = encoder_of("minilm", settings)
    states = states_of(minilm.folder)
    first = encoder_of("minilm?layer=0", settings)
    together = first.encode_family(TEXTS, CancelToken())
    assert [s.identity.reference for s in first.family] == [f"minilm?layer={layer}" for layer in range(7)]
    for layer, vectors in enumerate(together.vectors):
        np.testing.assert_allclose(vectors, pooled(states, layer, pool=unit_mean), atol=1e-6)
    np.testing.assert_allclose(together.vectors[6], minilm.encode(TEXTS, CancelToken()), atol=1e-7)
    cases: dict[str, Float64] = {
        "minilm?layer=mean(5,2)": pooled(states, 2, 5, pool=unit_mean),
        "minilm-cls?layer=3": pooled(states, 3, pool=lambda rows: rows[0]),
        "minilm-last-avg?layer=3": pooled(states, 3, pool=mean),
    }
    for reference, expected in cases.items():
        np.testing.assert_allclose(vectors_of(reference, settings), expected, atol=1e-6, err_msg=reference)


def power_mean(rows: Float64, p: int) -> Float64:
    """By a loop, number by number, in float64."""
    out = []
    for column in rows.T.tolist():
        found = sum(value**p for value in column) / len(column)
        out.append(abs(found) ** (1 / p) * (-1 if found < 0 else 1))
    return np.array(out)


POOLS: dict[str, Callable[[Float64], Float64]] = {
    "cls": lambda rows: rows[0],
    "mean": mean,
    "max": lambda rows: np.array([max(column) for column in rows.T.tolist()]),
    "min": lambda rows: np.array([min(column) for column in rows.T.tolist()]),
    "p2": lambda rows: power_mean(rows, 2),
    "p3": lambda rows: power_mean(rows, 3),
}


@pytest.mark.heavy
def test_joined_poolings_are_what_their_definitions_say(settings: Settings, tmp_path: Path) -> None:
    assert power_mean(np.array([[3.0, -1.0], [4.0, -3.0]]), 2).tolist() == pytest.approx([12.5**0.5, 5**0.5])
    assert power_mean(np.array([[-1.0], [-3.0]]), 3).tolist() == pytest.approx([-(14 ** (1 / 3))])
    folder = plain(tmp_path / "bert")
    states = states_of(folder)
    for layer in (None, 1):
        expected = {name: pooled(states, -1 if layer is None else layer, pool=pool) for name, pool in POOLS.items()}
        at = "" if layer is None else f"layer={layer}&"
        for names in ("max", "p3", "mean+max+min", "min+p2+p3+cls"):
            found = vectors_of(f"dir:{folder}?{at}pooling={names}", settings)
            by_hand = np.concatenate([expected[name] for name in names.split("+")], axis=1)
            np.testing.assert_allclose(found, by_hand, atol=1e-5, err_msg=names)
    encoder = encoder_of(f"dir:{folder}?pooling=mean+max+min", settings)
    assert (encoder.info.dimension, len(encoder.family)) == (
        3 * encoder_of(f"dir:{folder}", settings).info.dimension,
        1,
    )
    assert encoder.token_parts("rain") is None


def test_references_of_joined_poolings(settings: Settings) -> None:
    assert canonical_encoder("minilm?pooling=last-avg+max") == "minilm?pooling=mean+max"
    joined = encoder_of("minilm?pooling=mean+max+min&layer=3", settings)
    assert (joined.info.dimension, joined.identity.reference) == (3 * 384, "minilm?layer=3&pooling=mean+max+min")
    assert {s.info.dimension for s in joined.family} == {3 * 384}
    assert {s.identity.reference for s in joined.family} == {
        f"minilm?layer={layer}&pooling=mean+max+min" for layer in range(7)
    }
    cls = encoder_of("minilm-cls", settings)
    assert [s.identity.reference for s in cls.family][:2] == ["minilm-cls", "minilm"]
    for wrong, said in (("mean+mean", "twice"), ("mean+static", "joins the pooling static"), ("mean+most", "unknown")):
        with pytest.raises(InputError, match=said):
            canonical_encoder(f"minilm?pooling={wrong}")


@pytest.mark.heavy
def test_later_modules_and_prompts_are_the_models_own(settings: Settings, tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Dense, Normalize, Pooling

    folder = saved(tmp_path / "model", lambda w: Pooling(w, "mean"), lambda w: Dense(w, 16), Normalize())
    model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    rows = []
    for text in TEXTS:
        features = model.tokenizer(f"query: {text}", return_tensors="pt")
        with torch.no_grad():
            states = model[0].auto_model(**features, output_hidden_states=True).hidden_states[1]
            found = {"attention_mask": features["attention_mask"], "token_embeddings": states}
            for module in list(model)[1:]:
                found = module(found)
        rows.append(found["sentence_embedding"][0].numpy())
    reference = f"dir:{folder}?layer=1&prompt=query%3A%20"
    np.testing.assert_allclose(vectors_of(reference, settings), np.array(rows), atol=1e-6)
    assert encoder_of(reference, settings).info.dimension == 16


def test_one_pass_stores_every_layer_under_its_own_name(settings: Settings, tmp_path: Path) -> None:
    folder, digest = plain(tmp_path / "bert"), digest_of_strings(TEXTS)
    cache = EmbeddingCache(tmp_path / "embeddings")
    now = [
        cache.encode(encoder_of(f"dir:{folder}?layer={n}", settings), TEXTS, digest, no_progress, CancelToken())
        for n in (1, 0, 2)
    ]
    assert [found.encoded_now for found in now] == [len(TEXTS), 0, 0]
    assert [found.facts.encoder for found in now] == [f"dir:{folder}?layer={n}" for n in (1, 0, 2)]
    # A mean of layers comes alone, and the model itself is stored as ever.
    for reference in (f"dir:{folder}?layer=mean(0,1)", f"dir:{folder}"):
        assert len(encoder_of(reference, settings).family) == 1


def test_ids_of_what_was_there_do_not_move(settings: Settings) -> None:
    assert canonical_encoder("minilm?layer=mean(5,2)") == "minilm?layer=mean(2,5)"
    assert [s.identity.reference for s in encoder_of("minilm", settings).family][1:] == [
        "minilm-cls",
        "minilm-last-avg",
        "minilm-first-last-avg",
        "minilm-static",
    ]
    layered, last = encoder_of("minilm?layer=4", settings), encoder_of("minilm-last-avg", settings)
    assert layered.identity.pooling == "layer 4: mean, L2-normalised"
    assert last.identity.pooling == "mean over tokens of the last layer"
    assert layered.info.title == "all-MiniLM-L6-v2, layer 4"


@each(
    "reference, said",
    {
        "beyond the depth of the bundled model": ("minilm?layer=7", "layer 7, and the model has 6"),
        "beyond that of a folder": ("dir:FOLDER?layer=mean(1,3)", "layer 3, and the model has 2"),
        "no number": ("minilm?layer=top", "0 is the embeddings' output"),
        "twice the same": ("minilm?layer=mean(2,2)", "mean(2,5)"),
        "a pooling of layers of its own": ("minilm-static?layer=2", "parameter of 'minilm-static'"),
        "and of a folder": ("dir:FOLDER?pooling=static&layer=1", "names its layers itself"),
        "word vectors": ("vectors:FOLDER/words.vec?layer=1", "has parameters"),
        "no transformer": ("lsa?layer=1", "takes no parameters"),
        "a back end": ("dir:FOLDER?layer=1&backend=onnx", "gives the last layer alone"),
    }.values(),
)
def test_what_has_no_such_layer_says_so(reference: str, said: str, settings: Settings, tmp_path: Path) -> None:
    folder = plain(tmp_path / "bert") if "dir:" in reference else tmp_path
    with pytest.raises(InputError) as caught:
        resolve_encoder(reference.replace("FOLDER", str(folder)), settings)
    assert said in str(caught.value)
