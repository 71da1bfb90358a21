"""Eviction: the order of files, and none that is in use."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from blindspot.encoders.cache import EmbeddingCache
from blindspot.errors import InputError
from blindspot.files.in_use import holding, last_used, use
from blindspot.files.writing import bytes_of
from blindspot.runs import pipeline, requesting
from blindspot.runs.cache_limit import evictable, keep_to_limit
from blindspot.runs.log import path_of
from blindspot.settings import ROOT, Settings
from blindspot.store.repository import Repository
from blindspot.types import CancelToken, digest_of_strings, no_progress
from tests.support.small_world import GramEncoder
from tests.support.tables import each

HOLD = """
import sys
from pathlib import Path
from blindspot.files.in_use import holding, use
with holding():
    print(use(Path(sys.argv[1])), flush=True)
    sys.stdin.read()
"""


def limited(settings: Settings, count: int) -> Settings:
    return replace(settings, cache_limit=count)


def aged(path: Path, size: int, hours: float) -> Path:
    """A file that was made and last used so long ago."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bytes(size))
    then = time.time() - 3600 * hours
    os.utime(path, (then, then))
    return path


def embeddings(settings: Settings, name: str, size: int, hours: float) -> Path:
    aged(settings.embeddings / f"{name}.json", 10, hours)
    return aged(settings.embeddings / f"{name}.npy", size, hours)


@each(("value", "count"), [("", None), ("20GB", 20 * 10**9), ("1.5 GiB", 3 << 29), ("1mb", 10**6), ("2TB", 2 * 10**12)])
def test_a_limit_is_a_number_with_a_unit(value: str, count: int | None) -> None:
    assert Settings.from_environment({"BLINDSPOT_CACHE_LIMIT": value}).cache_limit == count


@each("value", ["20", "GB", "-1GB", "0GB", "1KB", "1e9GB", "nanGB", "20 GB please", "٣GB"])
def test_what_is_no_limit_is_refused(value: str) -> None:
    with pytest.raises(InputError, match=r"BLINDSPOT_CACHE_LIMIT is .*such as 20GB"):
        Settings.from_environment({"BLINDSPOT_CACHE_LIMIT": value})


def test_what_was_not_used_for_longest_goes_first_and_users_files_never(settings: Settings) -> None:
    oldest = aged(settings.maps / "a.npz", 1000, 9)
    pair = embeddings(settings, "b", 1000, 8)
    used = aged(settings.hubs / "c.npz", 1000, 7)
    rest = [
        aged(settings.flows / "d.npz", 1000, 6),
        aged(settings.learned / "e.npz", 1000, 5),
        aged(settings.store, 1000, 100),
        aged(settings.uploads / "mine" / "pairs.csv", 1000, 100),
        aged(settings.data / "not-of-the-catalog" / "file", 1000, 100),
        aged(settings.cache / "hub" / "model.safetensors", 1000, 100),
    ]
    assert use(used)
    assert keep_to_limit(settings) == ()  # there is none
    whole = bytes_of(settings.cache)
    assert keep_to_limit(limited(settings, whole)) == ()
    gone = keep_to_limit(limited(settings, whole - 1001))
    assert [each.path for each in gone] == [oldest, pair]
    assert not pair.with_suffix(".json").exists()
    assert keep_to_limit(limited(settings, 0)) != ()
    assert sorted(path for path in settings.cache.rglob("*") if path.is_file()) == sorted([used, *rest[2:]])
    assert keep_to_limit(limited(settings, 0), grace=0.0)[0].path == used  # it was used a moment ago, so it had stayed


def test_use_is_remembered_and_when_it_was_made_stays(settings: Settings) -> None:
    path = aged(settings.maps / "a.npz", 10, 5)
    made = path.stat().st_mtime_ns
    assert time.time() - last_used(path) > 3600
    assert use(path)
    assert time.time() - last_used(path) < 60
    assert path.stat().st_mtime_ns == made
    assert not use(path.with_name("none.npz"))


@pytest.mark.process
def test_what_another_process_holds_stays_until_it_ends(settings: Settings) -> None:
    held, other = embeddings(settings, "held", 1000, 9), embeddings(settings, "other", 1000, 8)
    command = [sys.executable, "-c", HOLD, str(held)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "True\n"
        assert [each.path for each in keep_to_limit(limited(settings, 0), grace=0.0)] == [other]
        holder.kill()
        holder.wait()
        assert [each.path for each in keep_to_limit(limited(settings, 0), grace=0.0)] == [held]


def test_a_job_keeps_what_it_read_and_a_reader_its_map(settings: Settings) -> None:
    """A page's matrix stays readable after it was removed; a job's is not removed."""
    texts = tuple(f"text number {i}" for i in range(10))
    cache, digest = EmbeddingCache(settings.embeddings), digest_of_strings(texts)
    made = cache.encode(GramEncoder(), texts, digest, no_progress, CancelToken())
    none = limited(settings, 0)
    with holding():
        with holding():
            assert cache.read(made.facts.digest) is not None
        assert keep_to_limit(none, grace=0.0) == ()
    read = cache.read(made.facts.digest)
    assert read is not None
    before = np.array(read.matrix)
    assert len(keep_to_limit(none, grace=0.0)) == 1
    assert cache.read(made.facts.digest) is None
    assert np.array_equal(read.matrix, before)
    assert cache.encode(GramEncoder(), texts, digest, no_progress, CancelToken()).encoded_now == len(texts)


def test_a_run_makes_room_and_what_went_is_computed_again(settings: Settings, repository: Repository) -> None:
    old = aged(settings.maps / "old.npz", 100_000, 9)
    settings = limited(settings, 1000)
    request = requesting.request("evalrank", "random-projection-64", "none", "demo-pairs", {}, settings)
    first = pipeline.run(request, settings, repository)
    assert not old.exists()
    its_own = {each.kind for each in evictable(settings)}
    assert its_own == {"embeddings", "list of texts"}, "used a moment ago"
    assert len(keep_to_limit(settings, grace=0.0)) == 2
    again = pipeline.run(request, settings, repository, again=True)
    assert again.record.metrics == first.record.metrics
    assert again.changed == {}
    lines = [json.loads(line) for line in path_of(settings).read_text("utf-8").splitlines()]
    assert [(line["kind"], line["outcome"]) for line in lines] == [
        ("run", "computed"),
        ("evict", "removed"),
        ("run", "computed"),
    ]
    assert lines[1]["freed_bytes"] == 100_000
    assert lines[1]["variant"] == "1 map"
