"""Checks of the cache: writable, damaged, half or left over; checking changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from filelock import FileLock

from blindspot.doctor import disk
from blindspot.doctor.findings import State
from blindspot.encoders.cache import EmbeddingCache, EmbeddingFacts
from blindspot.errors import Cancelled
from blindspot.settings import Settings
from blindspot.types import CancelToken, digest_of_strings, no_progress
from tests.conftest import make_settings
from tests.support.findings import check, of_state, problems
from tests.support.small_world import GramEncoder

TEXTS = tuple(f"text number {i}" for i in range(10))


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
    check(found, State.OK, "made when it is first needed")
    for look in (disk.usage, disk.embeddings, disk.unfinished):
        assert list(look(settings)) == []
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
        check(found, State.PROBLEM, f"{cache} cannot be used: ", why, remedy="BLINDSPOT_CACHE")


def test_a_part_of_the_cache_that_cannot_be_written(settings: Settings) -> None:
    settings.cache.mkdir()
    settings.embeddings.write_text("", "utf-8")
    settings.data.mkdir()
    (settings.cache / "numba").symlink_to("/proc")
    folder, kernels = problems(disk.writable(settings))
    assert (folder.name, kernels.name) == ("embeddings", "compiled kernels")
    no_folder = f"{settings.embeddings} cannot be used: it is no folder"
    check(folder, State.PROBLEM, no_folder, remedy="BLINDSPOT_CACHE")
    check(kernels, State.PROBLEM, "cannot write there", remedy="BLINDSPOT_CACHE")


def test_kernels_that_cannot_be_kept(settings: Settings) -> None:
    (found,) = disk.kernels(settings, {"NUMBA_CACHE_DIR": "/proc/kernels"})
    what = "/proc/kernels cannot be used: cannot write there: "
    check(found, State.PROBLEM, what, remedy="unset NUMBA_CACHE_DIR")


def test_a_disk_that_is_nearly_full(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "LEAST_FREE", 1 << 62)
    (found,) = disk.free_space(settings)
    check(found, State.PROBLEM, str(settings.cache), remedy="free some")


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


@pytest.mark.parametrize(
    ("suffix", "spoil", "says"),
    [
        (".json", lambda path: path.write_text("{", "utf-8"), "no facts of embeddings can be read from it"),
        (".json", lambda path: path.write_text(path.read_text("utf-8")[:-1] + ', "unheard_of": 1}'), "no facts"),
        (".npy", lambda path: path.write_bytes(path.read_bytes()[:-5]), "damaged"),
        (".npy", lambda path: np.save(path, np.zeros((7, 96), dtype=np.float32)), "it is 7 x 96; expected 10 x 96"),
    ],
    ids=["no facts", "facts of a newer version", "a matrix cut short", "a matrix of other texts"],
)
def test_damaged_embeddings(settings: Settings, suffix: str, spoil: Callable[[Path], object], says: str) -> None:
    path = settings.embeddings / f"{encode(settings).digest}{suffix}"
    spoil(path)
    *damaged, count = disk.embeddings(settings)
    (found,) = damaged
    check(found, State.PROBLEM, str(path), says, remedy="delete this file")
    assert count.what == "0 sets whole"


def test_halves_are_worth_a_note(settings: Settings) -> None:
    facts = encode(settings)
    (settings.embeddings / f"{facts.digest}.npy").rename(settings.embeddings / "other.npy")
    (note,) = of_state(State.NOTE, disk.embeddings(settings))
    check(note, State.NOTE, "2 files without the other half", remedy="delete them")


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
    check(found, State.NOTE, "broke off: 1 chunk, ", str(parts), remedy="run the same again")
    encoder = GramEncoder()
    encode(settings, encoder)
    assert encoder.encoded == 6, "the chunk was used"
    assert list(disk.unfinished(settings)) == []


def test_an_encoding_that_is_under_way_is_no_leftover(settings: Settings) -> None:
    lock = stop_after_one_chunk(settings).with_suffix(".lock")
    with FileLock(lock):
        (found,) = disk.unfinished(settings)
        check(found, State.OK, "under way now: 1 chunk, ")
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
    check(found, State.NOTE, "3 unfinished files, 3.0 KiB: ", str(files[0]), remedy="delete them")
    assert "within" not in found.what
