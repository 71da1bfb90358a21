"""Artifacts on disk: found again, by later versions too; damaged ones are reported or made again."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from blindspot.diagnostics.frequency import hubness
from blindspot.diagnostics.similarity import learned
from blindspot.errors import Cancelled, DataCorrupt
from blindspot.files.artifacts import Artifacts, path_of
from blindspot.space.maps import maps
from blindspot.transforms import trained_flows
from blindspot.types import CancelToken, Float64, digest_of_strings


def _of_arrays(stored: Mapping[str, Any]) -> Float64:
    return np.asarray(stored["values"])


def kept(remembered: int = 0) -> Artifacts[Float64]:
    return Artifacts(lambda values: {"values": values}, _of_arrays, remembered)


VALUES = np.linspace(0, 1, 5)


def test_what_is_kept_is_found_again(tmp_path: Path) -> None:
    path = tmp_path / "new" / "one.npz"
    assert kept().find(path) is None
    assert kept().read(path) is None
    kept().keep(path, VALUES)
    np.testing.assert_array_equal(kept().find(path), VALUES)
    assert [file.name for file in path.parent.iterdir()] == ["one.npz"]


def test_reading_marks_it_as_used_unless_it_is_only_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "one.npz"
    kept().keep(path, VALUES)
    os.utime(path, (1.0, 2.0))
    kept().find(path, mark=False)
    assert path.stat().st_mtime == 2.0
    changed = path.stat().st_mtime_ns
    kept().find(path)
    assert path.stat().st_atime > 1e9
    assert path.stat().st_mtime_ns == changed


def test_the_last_ones_stay_in_memory_until_their_files_change(tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.npz" for number in range(3)]
    artifacts = kept(remembered=2)
    for path in paths:
        artifacts.keep(path, VALUES)
    found = [artifacts.find(path) for path in paths]
    assert artifacts.find(paths[2]) is found[2]
    assert artifacts.find(paths[1]) is found[1]
    assert artifacts.find(paths[0]) is not found[0]
    artifacts.keep(paths[1], VALUES + 1)
    np.testing.assert_array_equal(artifacts.find(paths[1]), VALUES + 1)
    paths[1].unlink()
    assert artifacts.find(paths[1]) is None


def test_a_damaged_file_is_said_or_is_as_good_as_none(tmp_path: Path) -> None:
    """Wherever it is cut, and whichever byte is another: it is read as it was, or not at all."""
    path = tmp_path / "one.npz"
    kept().keep(path, VALUES)
    whole = path.read_bytes()
    cut = [whole[:length] for length in range(0, len(whole), 7)]
    turned = [whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :] for place in range(len(whole))]
    damaged = 0
    for content in [*cut, *turned, b"nonsense"]:
        path.write_bytes(content)
        found = kept().find(path)
        if found is not None:
            np.testing.assert_array_equal(found, VALUES)
            continue
        damaged += 1
        with pytest.raises(DataCorrupt, match="delete this file"):
            kept().read(path)
    assert damaged > len(cut)


def test_it_is_made_once_by_whoever_comes_first(tmp_path: Path) -> None:
    path, made = tmp_path / "one.npz", []
    started, go_on = threading.Event(), threading.Event()

    def make() -> Float64:
        made.append(1)
        started.set()
        assert go_on.wait(60)
        return VALUES

    found: list[Float64] = []
    threads = [
        threading.Thread(target=lambda: found.append(kept().make_once(path, make, CancelToken()))) for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    assert started.wait(60)
    go_on.set()
    for thread in threads:
        thread.join(60)
    assert len(made) == 1
    assert len(found) == 2
    assert [file.name for file in tmp_path.iterdir()] == ["one.npz"]


def test_who_waits_can_be_cancelled_and_nothing_is_kept(tmp_path: Path) -> None:
    path, cancel = tmp_path / "one.npz", CancelToken()
    cancel.cancel()

    def make() -> Float64:
        cancel.check()
        return VALUES

    with pytest.raises(Cancelled):
        kept().make_once(path, make, cancel)
    assert list(tmp_path.iterdir()) == []


def test_what_is_damaged_is_made_again_only_where_that_is_wanted(tmp_path: Path) -> None:
    path = tmp_path / "one.npz"
    path.write_bytes(b"damaged")
    with pytest.raises(DataCorrupt):
        kept().make_once(path, lambda: VALUES, CancelToken(), mend=False)
    np.testing.assert_array_equal(kept().make_once(path, lambda: VALUES, CancelToken()), VALUES)
    np.testing.assert_array_equal(kept().read(path), VALUES)


# --- files of the last version


def test_names_are_those_of_the_last_version(tmp_path: Path) -> None:
    assert path_of(tmp_path, 3, "a", "b") == tmp_path / f"{digest_of_strings(['3', 'a', 'b'])[:32]}.npz"


def test_lists_of_neighbors_of_the_last_version_are_read(tmp_path: Path) -> None:
    nearest, similarity = np.array([[1], [0]], dtype=np.int32), np.ones((2, 1), dtype=np.float32)
    path = tmp_path / "lists.npz"
    np.savez(path, places=np.arange(2), total=np.int64(3), nearest=nearest, similarity=similarity)
    found = hubness._KEPT.read(path)
    assert found is not None
    assert found.total == 3
    np.testing.assert_array_equal(found.nearest, nearest)


def test_a_learned_similarity_of_the_last_version_is_read(tmp_path: Path) -> None:
    path, numbers = tmp_path / "learned.npz", np.arange(2)
    predicted = np.arange(6.0).reshape(3, 2)
    np.savez(
        path,
        pairs=np.array([5, 3, 2]),
        gold=np.zeros(2),
        firsts=numbers,
        seconds=numbers,
        predicted=predicted,
        calibrated=np.ones(2),
        penalty=np.float64(0.5),
        epochs=np.int64(7),
    )
    found = learned._KEPT.read(path)
    assert found is not None
    assert (list(found.pairs.values()), found.penalty, found.epochs) == ([5, 3, 2], 0.5, 7)
    np.testing.assert_array_equal(np.stack([found.predicted[model] for model in learned.MODELS]), predicted)


def test_a_map_of_the_last_version_is_read(tmp_path: Path) -> None:
    path = tmp_path / "map.npz"
    facts = '{"quality": null, "explained": [0.5, 0.25], "seconds": 2.0, "request": {"variant": "minilm"}}'
    np.savez(path, rows=np.arange(2), coordinates=np.zeros((2, 2)), facts=facts)
    found = maps._KEPT.read(path)
    assert found is not None
    assert (found.made.explained, found.made.seconds, found.request["variant"]) == ((0.5, 0.25), 2.0, "minilm")
    np.savez(path, rows=np.arange(3), coordinates=np.zeros((2, 2)), facts=facts)
    assert maps._KEPT.find(path) is None


def test_a_flow_of_the_last_version_is_read(tmp_path: Path) -> None:
    arrays = {name: np.arange(2.0) for name in ("mean", "scale", "steps", "train", "held_out", "weight:a.b")}
    np.savez(tmp_path / "flow.npz", **arrays)  # type: ignore[arg-type]  # no array is named as its other parameter
    found = trained_flows.StoredFlows(tmp_path).read("flow")
    assert found is not None
    assert list(found.weights) == ["a.b"]
