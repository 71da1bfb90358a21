"""Exported repairs: MiniLM's own cosines with the map applied, as sentence-transformers computes them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from blindspot.encoders.catalog import resolve_encoder
from blindspot.errors import BlindspotError, InputError
from blindspot.settings import Settings
from blindspot.studies.repair import export
from blindspot.transforms.repairs import Repair, RepairOfAll, RepairOfQueries
from blindspot.types import CancelToken, Float32

TEXTS = ("A cat sleeps on the mat.", "No cat sleeps on the mat.", "Rates rose.", "rates ROSE, they said; " * 30)


def drawn(kind: type[Repair]) -> Repair:
    rng = np.random.default_rng(0)
    change = 0.3 * rng.standard_normal((384, 16)) @ rng.standard_normal((16, 384)) / 16
    return kind((np.eye(384) + change).astype(np.float32), "m", "d")


def cosines(queries: Float32, documents: Float32) -> np.ndarray:
    a, b = (one.astype(np.float64) / np.linalg.norm(one, axis=1, keepdims=True) for one in (queries, documents))
    return np.asarray(a @ b.T)


def loaded(folder: Path) -> Float32:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    return np.asarray(model.encode(list(TEXTS)), dtype=np.float32)


@pytest.mark.heavy
@pytest.mark.parametrize("kind", [RepairOfAll, RepairOfQueries])
def test_the_folder_gives_the_same_cosines(kind: type[Repair], settings: Settings, tmp_path: Path) -> None:
    encoder, repair = resolve_encoder("minilm", settings), drawn(kind)
    folders = export.write(repair, encoder, tmp_path / "repaired")
    own = encoder.encode(TEXTS, CancelToken())
    mapped = RepairOfAll(repair.matrix, "m", "d").apply(own)
    if kind is RepairOfAll:
        (found,) = map(loaded, folders)
        np.testing.assert_allclose(cosines(found, found), cosines(mapped, mapped), atol=1e-6)
        assert np.abs(cosines(mapped, mapped) - cosines(own, own)).max() > 0.01
        np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)
    else:
        assert [folder.name for folder in folders] == [export.QUERIES, export.DOCUMENTS]
        queries, documents = map(loaded, folders)
        np.testing.assert_allclose(cosines(queries, documents), cosines(mapped, own), atol=1e-6)


@pytest.mark.heavy
def test_a_folder_that_would_give_others_is_refused(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(BlindspotError, match="other cosines"):
        export.write(drawn(RepairOfAll), resolve_encoder("minilm-cls", settings), tmp_path / "cls")
    taken = tmp_path / "taken"
    taken.mkdir()
    (taken / "file").touch()
    with pytest.raises(InputError, match="is there already"):
        export.write(drawn(RepairOfAll), resolve_encoder("minilm", settings), taken)
    with pytest.raises(InputError, match="no model that sentence-transformers loads"):
        export.check_model(resolve_encoder("random-projection", settings))
