"""Embeddings in parts: what many workers encode is what one process does, whatever is killed, damaged or missing."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from blindspot.encoders.cache import EmbeddingCache
from blindspot.encoders.catalog import resolve_encoder
from blindspot.errors import BlindspotError, Cancelled, InputError
from blindspot.runs.packs import arrays
from blindspot.runs.packs.arrays import Parts
from blindspot.runs.packs.folders import folder_at
from blindspot.settings import Settings
from blindspot.types import CancelToken, digest_of_strings, no_progress
from tests.conftest import make_settings
from tests.support.commands import Command
from tests.support.small_world import GramEncoder

TEXTS = tuple(f"text {'x' * (i * 7 % 11)} {i % 970}" for i in range(1_003))  # some of them twice
WORKERS = 7


@pytest.fixture
def parts(settings: Settings, tmp_path: Path) -> Parts:
    """Fifty-one parts, the last of them smaller."""
    encoder = resolve_encoder("random-projection-64", settings)
    return Parts(folder_at(str(tmp_path / "parts")), encoder, TEXTS, digest_of_strings(TEXTS), 20)


def cache_of(settings: Settings) -> EmbeddingCache:
    return EmbeddingCache(settings.embeddings)


def test_parts_of_many_workers_are_the_embeddings_of_one_process(
    parts: Parts, settings: Settings, tmp_path: Path
) -> None:
    """Bit by bit, and so the same file."""
    new = [arrays.encode(parts, number, WORKERS) for number in range(1, WORKERS + 1)]
    assert sum(new) == len(parts.starts) == 51
    assert max(new) - min(new) <= 1
    found = arrays.put_together(parts, cache_of(settings))
    alone = cache_of(make_settings(tmp_path / "alone"))
    whole = alone.encode(parts.encoder, TEXTS, parts.texts_digest, no_progress, CancelToken())
    name = f"{parts.digest}.npy"
    assert (settings.embeddings / name).read_bytes() == (alone.folder / name).read_bytes()
    assert replace(found.facts, seconds=0.0) == replace(whole.facts, seconds=0.0)
    again = cache_of(settings).encode(parts.encoder, TEXTS, parts.texts_digest, no_progress, CancelToken())
    assert again.encoded_now == 0
    some = cache_of(settings).encode(parts.encoder, TEXTS[100:120], "others", no_progress, CancelToken())
    assert (some.encoded_now, some.copied_now) == (0, 20), "the list of its texts is known"


def test_a_worker_that_was_stopped_goes_on_where_it_was(parts: Parts) -> None:
    cancel = CancelToken()

    def stop(stage: str, done: int, total: int, fraction: float | None = None) -> None:
        if done >= 60:
            cancel.cancel()

    with pytest.raises(Cancelled):
        arrays.encode(parts, 1, 1, stop, cancel)
    left = parts.missing()
    assert left == [*parts.starts[3:]]
    assert arrays.encode(parts, 1, 1) == len(left)
    assert arrays.encode(parts, 1, 1) == 0
    assert parts.missing() == []


def test_what_is_missing_or_damaged_is_one_line_and_nothing_is_stored(parts: Parts, settings: Settings) -> None:
    arrays.encode(parts, 1, 2)
    with pytest.raises(InputError, match=r"25 of 51 parts .* from 20"):
        arrays.put_together(parts, cache_of(settings))
    arrays.encode(parts, 2, 2)
    folder = Path(parts.folder.address)
    array, facts = (folder / f"{parts.name(40)}{end}" for end in (".npy", ".json"))
    before, said = array.read_bytes(), facts.read_bytes()
    other = np.zeros((20, 3), dtype=np.float32)
    damages = [
        lambda: array.write_bytes(before[:-1] + bytes([before[-1] ^ 1])),
        lambda: array.write_bytes(before[:100]),
        lambda: array.write_bytes(before + b"more than it may be" * 100),
        array.unlink,
        lambda: np.save(array, other),
        lambda: facts.write_text("[]", "utf-8"),
        lambda: facts.write_text(json.dumps({"sha256": 1}), "utf-8"),
    ]
    for damage in damages:
        damage()
        with pytest.raises(InputError) as caught:
            arrays.put_together(parts, cache_of(settings))
        assert "\n" not in str(caught.value)
        assert parts.name(40) in str(caught.value)
        assert not list(settings.embeddings.glob("*.npy*"))
        assert not list(settings.embeddings.glob(".*"))
        array.write_bytes(before)
        facts.write_bytes(said)
    assert len(arrays.put_together(parts, cache_of(settings)).matrix) == len(TEXTS)


def test_a_model_whose_vectors_depend_on_other_texts_is_refused(parts: Parts, settings: Settings) -> None:
    fitted = replace(parts, encoder=resolve_encoder("lsa", settings))
    with pytest.raises(InputError, match="lsa"):
        arrays.encode(fitted, 1, 1)


def test_values_that_are_not_finite_are_never_written(parts: Parts) -> None:
    class Broken(GramEncoder):
        encodes_alone = True

        def encode(self, texts, cancel):  # type: ignore[no-untyped-def]
            found = np.array(super().encode(texts, cancel))
            found[0, 0] = np.inf
            return found

    with pytest.raises(BlindspotError, match="infinite"):
        arrays.encode(replace(parts, encoder=Broken("broken", 3)), 1, 1)
    assert parts.folder.names("arrays") == []


def test_the_command_encodes_parts_and_puts_them_together(
    blindspot: Command, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrays, "ROWS", 100)
    given = "encode --encoder random-projection-64 --dataset demo-pairs".split()
    folder = str(tmp_path / "parts")
    said = [blindspot.json(*given, "--shard", f"{i}/3", "--out", folder) for i in (1, 2, 3)]
    assert [one["encoded"] for one in said] == [5, 5, 4]
    assert blindspot.json(*given, "--shard", "2/3", "--out", folder)["encoded"] == 0
    assert blindspot.json(*given, "--from", folder)["texts"] == 1_400
    assert blindspot.json(*given)["encoded"] == 0
    run = "run evalrank --encoder random-projection-64 --dataset demo-pairs".split()
    here = blindspot.json(*run)
    monkeypatch.setenv("BLINDSPOT_CACHE", str(tmp_path / "alone"))
    assert blindspot.json(*given)["encoded"] == 1_400
    assert blindspot.json(*run)["runs"][0]["metrics"] == here["runs"][0]["metrics"]


@pytest.mark.parametrize("more", [("--shard", "1/2"), ("--out", "x"), ("--shard", "1/2", "--out", "x", "--from", "y")])
def test_options_that_do_not_fit_are_one_line(more: tuple[str, ...], blindspot: Command) -> None:
    blindspot.error("encode", "--encoder", "lsa", "--dataset", "demo-pairs", *more, code=2)
