"""The cache: that it can be written, what is damaged, half or left behind; and that looking changes nothing."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from filelock import FileLock

from core.doctor import disk
from core.doctor.findings import Finding, State
from core.encoders.cache import EmbeddingCache, EmbeddingFacts
from core.errors import Cancelled
from core.settings import Settings
from core.types import CancelToken, digest_of_strings, no_progress
from tests.conftest import make_settings
from tests.support.small_world import GramEncoder

TEXTS = tuple(f"text number {i}" for i in range(10))


def problems(findings: Iterable[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.state is State.PROBLEM]


def tree(folder: Path) -> dict[str, tuple[int, int]]:
    """Every file below a folder with its size and the time of its last change."""
    stats = {str(path.relative_to(folder)): path.lstat() for path in folder.rglob("*") if not path.is_dir()}
    return {name: (stat.st_size, stat.st_mtime_ns) for name, stat in stats.items()}


def encode(settings: Settings, encoder: GramEncoder | None = None, cancel: CancelToken | None = None) -> EmbeddingFacts:
    cache = EmbeddingCache(settings.embeddings, texts_per_chunk=4)
    digest = digest_of_strings(TEXTS)
    return cache.encode(encoder or GramEncoder(), TEXTS, digest, no_progress, cancel or CancelToken()).facts


# --- whether it can be written


def test_a_healthy_cache_is_left_as_it_is(settings: Settings) -> None:
    encode(settings)
    before = tree(settings.cache)
    found = [
        *disk.writable(settings),
        *disk.kernels(settings, {}),
        *disk.free_space(settings),
        *disk.usage(settings),
        *disk.embeddings(settings),
        *disk.unfinished(settings),
    ]
    assert {finding.state for finding in found} == {State.OK}
    assert {"folder", "NUMBA_CACHE_DIR", "free space", "size", "embeddings"} == {finding.name for finding in found}
    assert tree(settings.cache) == before


def test_a_cache_that_is_not_there_is_not_made(settings: Settings) -> None:
    (found,) = disk.writable(settings)
    assert found.state is State.OK
    assert "made when it is first needed" in found.what
    for check in (disk.usage, disk.embeddings, disk.unfinished):
        assert list(check(settings)) == []
    assert problems([*disk.kernels(settings, {}), *disk.free_space(settings)]) == []
    assert not settings.cache.exists()


def test_a_cache_that_cannot_be_one(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("", "utf-8")
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "nowhere")
    for cache, why in (
        (file, "is no folder"),
        (file / "below", "is no folder"),
        (Path("/dev/full"), "is no folder"),
        (link, "leads nowhere"),
        (Path("/proc"), "cannot write there: "),
        (Path("/proc/below"), "cannot write there: "),
    ):
        (found,) = disk.writable(make_settings(cache))
        assert found.state is State.PROBLEM, cache
        assert found.what.startswith(f"{cache} cannot be used: ")
        assert why in found.what
        assert "BLINDSPOT_CACHE" in found.remedy


def test_a_part_of_the_cache_that_cannot_be_written(settings: Settings) -> None:
    settings.cache.mkdir()
    settings.embeddings.write_text("", "utf-8")
    settings.data.mkdir()
    (settings.cache / "numba").symlink_to("/proc")
    folder, kernels = problems(disk.writable(settings))
    assert (folder.name, folder.what) == ("embeddings", f"{settings.embeddings} cannot be used: it is no folder")
    assert kernels.name == "compiled kernels"
    assert "cannot write there" in kernels.what
    assert all("BLINDSPOT_CACHE" in found.remedy for found in (folder, kernels))


def test_kernels_that_cannot_be_kept(settings: Settings) -> None:
    (found,) = disk.kernels(settings, {"NUMBA_CACHE_DIR": "/proc/kernels"})
    assert found.state is State.PROBLEM
    assert found.what.startswith("/proc/kernels cannot be used: cannot write there: ")
    assert found.remedy.startswith("unset NUMBA_CACHE_DIR")


def test_a_disk_that_is_nearly_full(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "LEAST_FREE", 1 << 62)
    (found,) = disk.free_space(settings)
    assert found.state is State.PROBLEM
    assert str(settings.cache) in found.what
    assert "free some" in found.remedy


def test_what_takes_how_much(settings: Settings) -> None:
    for path, count in (
        (settings.embeddings / "a.npy", 3 << 20),
        (settings.data / "evalrank" / "b.txt", 2 << 10),
        (settings.cache / "results.duckdb", 5 << 10),
        (settings.cache / "results.duckdb.wal", 1 << 10),
        (settings.cache / "README.md", 100),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes(count))
    (settings.data / "link").symlink_to(settings.embeddings)
    (found,) = disk.usage(settings)
    assert found.what.startswith("3.0 MiB: embeddings 3.0 MiB, data 2.")
    assert "results 6.0 KiB, other 100 bytes" in found.what
    assert "hub" not in found.what


# --- embeddings


def test_facts_that_cannot_be_read(settings: Settings) -> None:
    facts = encode(settings)
    path = settings.embeddings / f"{facts.digest}.json"
    path.write_text("{", "utf-8")
    found, count = disk.embeddings(settings)
    assert found.state is State.PROBLEM
    assert str(path) in found.what
    assert "delete this file" in found.remedy
    assert count.what == "0 sets whole"


def test_a_matrix_that_is_cut_short(settings: Settings) -> None:
    facts = encode(settings)
    path = settings.embeddings / f"{facts.digest}.npy"
    path.write_bytes(path.read_bytes()[:-5])
    (found,) = problems(disk.embeddings(settings))
    assert str(path) in found.what
    assert "damaged" in found.what
    assert "delete" in found.remedy


def test_a_matrix_of_other_texts(settings: Settings) -> None:
    facts = encode(settings)
    path = settings.embeddings / f"{facts.digest}.npy"
    np.save(path, np.zeros((7, 96), dtype=np.float32))
    (found,) = problems(disk.embeddings(settings))
    assert found.what == f"{path} is damaged: it is 7 x 96; expected 10 x 96"
    assert "delete" in found.remedy


def test_halves_are_worth_a_note(settings: Settings) -> None:
    facts = encode(settings)
    (settings.embeddings / f"{facts.digest}.npy").rename(settings.embeddings / "other.npy")
    note = next(finding for finding in disk.embeddings(settings) if finding.state is State.NOTE)
    assert note.what.startswith("2 files without the other half")
    assert "delete them" in note.remedy


# --- what was left behind


def stop_after_one_chunk(settings: Settings) -> Path:
    """The folder of what an encoding that was cancelled has left."""
    cancel = CancelToken()
    encoder = GramEncoder()

    def before(token: CancelToken) -> None:
        if encoder.encoded:
            cancel.cancel()
            token.check()

    encoder.before = before
    with pytest.raises(Cancelled):
        encode(settings, encoder, cancel)
    return next(settings.embeddings.glob("*.parts"))


def test_an_encoding_that_broke_off_can_go_on(settings: Settings) -> None:
    parts = stop_after_one_chunk(settings)
    (found,) = disk.unfinished(settings)
    assert found.state is State.NOTE
    assert found.what.startswith("broke off: 1 chunk, ")
    assert str(parts) in found.what
    assert "run the same again" in found.remedy
    encoder = GramEncoder()
    encode(settings, encoder)
    assert encoder.encoded == 6, "the chunk was used"
    assert list(disk.unfinished(settings)) == []


def test_an_encoding_that_is_under_way_is_no_leftover(settings: Settings) -> None:
    lock = stop_after_one_chunk(settings).with_suffix(".lock")
    with FileLock(lock):
        (found,) = disk.unfinished(settings)
        assert found.state is State.OK
        assert found.what.startswith("under way now: 1 chunk, ")
    (found,) = disk.unfinished(settings)  # a lock file that a killed process left
    assert found.state is State.NOTE
    assert lock.exists()


def test_what_a_crash_left(settings: Settings) -> None:
    facts = encode(settings)
    files = [
        settings.embeddings / f".{facts.digest}.npy.0123abcd.tmp",
        settings.cache / "hub" / "models--a--b" / "blobs" / "0123.incomplete",
        settings.uploads / ".0123456789ab.0123abcd.tmp" / "original" / ".within.tmp",
    ]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(bytes(1024))
    (found,) = disk.unfinished(settings)
    assert found.state is State.NOTE
    assert found.what.startswith("3 unfinished files, 3.0 KiB: ")
    assert str(files[0]) in found.what
    assert "within" not in found.what
    assert "delete them" in found.remedy


def test_facts_of_a_newer_version_are_damage(settings: Settings) -> None:
    facts = encode(settings)
    path = settings.embeddings / f"{facts.digest}.json"
    path.write_text(json.dumps(asdict(facts) | {"unheard_of": 1}), "utf-8")
    assert len(problems(disk.embeddings(settings))) == 1
