"""Encoders of runs in a row: weights are loaded once, and never those of a file that has changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from blindspot.encoders import in_a_row
from blindspot.encoders.catalog import resolve_encoder
from blindspot.encoders.in_a_row import EncodersInARow
from blindspot.encoders.transformer.encoder import SentenceTransformerEncoder
from blindspot.settings import Settings


def _vectors(path: Path, first: str) -> str:
    path.write_text(f"{first} 1 0 0\ndog 0 1 0\n")
    return f"vectors:{path}"


def test_a_model_is_the_same_object_until_another_needs_its_memory(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (_vectors(tmp_path / f"{name}.txt", name) for name in ("cat", "cow"))
    encoders = EncodersInARow(settings)
    kept = encoders.get(first)
    assert encoders.get(second) is not kept
    assert encoders.get(first) is kept
    monkeypatch.setattr(in_a_row, "KEPT_BYTES", kept.info.memory_bytes)
    again = encoders.get(second)
    assert encoders.get(second) is again
    assert encoders.get(first) is not kept


def test_a_file_that_has_changed_is_another_model(settings: Settings, tmp_path: Path) -> None:
    encoders, path = EncodersInARow(settings), tmp_path / "vectors.txt"
    old = encoders.get(_vectors(path, "cat"))
    new = encoders.get(_vectors(path, "cow"))
    assert new is not old
    assert new.identity != old.identity


def test_what_has_no_weights_is_not_kept(settings: Settings) -> None:
    encoders = EncodersInARow(settings)
    assert encoders.get("lsa") is not encoders.get("lsa")  # it is fitted on the texts of each dataset


def test_a_transformer_shares_its_weights_with_what_is_made_of_it(settings: Settings) -> None:
    encoder = resolve_encoder("minilm", settings)
    assert isinstance(encoder, SentenceTransformerEncoder)
    made = [encoder.on("cpu"), encoder.prompted("query: "), encoder.for_work(1)]
    made[0].load()
    sibling = encoder.sibling(encoder.family[1].identity)
    assert sibling
    assert all(one._model is made[0]._model for one in [encoder, sibling, *made])
