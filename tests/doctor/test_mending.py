"""Repairs with consent: leftovers of crashes go, files in use stay."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from filelock import FileLock

from blindspot.datasets import fetch
from blindspot.datasets.catalog import find_dataset
from blindspot.doctor.mending import Mend, mends
from blindspot.encoders.cache import EmbeddingCache, EmbeddingFacts
from blindspot.files.in_use import holding, use
from blindspot.runs import pipeline, requesting
from blindspot.settings import Settings
from blindspot.store.records import RunState
from blindspot.store.repository import Repository
from blindspot.types import CancelToken, digest_of_strings, no_progress
from tests.support.commands import Command
from tests.support.small_world import GramEncoder
from tests.support.store_samples import ENTRY, MANIFEST, TIMINGS, pair_set, plan, result, store_run

TEXTS = tuple(f"text number {i}" for i in range(10))


def aged(path: Path, content: bytes = b"x" * 100) -> Path:
    """A file that nobody has written to for a day."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    then = time.time() - 86_400
    os.utime(path, (then, then))
    return path


def encoded(settings: Settings, encoder: GramEncoder | None = None) -> EmbeddingFacts:
    cache = EmbeddingCache(settings.embeddings)
    facts = cache.encode(encoder or GramEncoder(), TEXTS, digest_of_strings(TEXTS), no_progress, CancelToken()).facts
    for end in ("npy", "json"):
        os.utime(settings.embeddings / f"{facts.digest}.{end}", (0, 0))
    return facts


def names(settings: Settings, repository: Repository) -> list[tuple[str, str]]:
    return [(mend.area, mend.name) for mend in mends(settings, repository)]


def the_one(settings: Settings, repository: Repository) -> Mend:
    (found,) = mends(settings, repository)
    return found


def killed_run(repository: Repository, run_id: str = "killed") -> None:
    """A run that a process began that is dead by now."""
    repository.begin(plan(run_id, pair_set()))
    with repository.database.transaction() as cursor:
        cursor.execute("UPDATE run SET process_id = 0 WHERE run_id = ?", [run_id])


def test_a_healthy_cache_has_nothing_to_mend(settings: Settings, repository: Repository) -> None:
    assert names(settings, repository) == []
    assert not settings.cache.exists()
    request = requesting.request("evalrank", "random-projection-64", "none", "demo-pairs", {}, settings)
    pipeline.run(request, settings, repository)
    for path in settings.embeddings.iterdir():
        os.utime(path, (0, 0))
    assert names(settings, repository) == []


def test_an_interrupted_run_is_forgotten_or_gone_on_with(settings: Settings, repository: Repository) -> None:
    store_run(repository, "done", pair_set())
    repository.begin(plan("alive", pair_set()))  # by this process
    killed_run(repository)
    found = the_one(settings, repository)
    assert (found.area, found.name) == ("store", "run killed")
    assert found.advice.startswith("to go on with it: blindspot run evalrank --encoder minilm")
    assert found.do() == "forgotten"
    assert {run.run_id: run.state for run in repository.runs()} == {"done": RunState.DONE, "alive": RunState.RUNNING}


def test_a_run_that_was_taken_over_meanwhile_stays(settings: Settings, repository: Repository) -> None:
    killed_run(repository)
    found = the_one(settings, repository)
    run_seq = repository.begin(plan("killed", pair_set()))  # somebody asked for it again
    assert found.do() == "left: it goes on, or was done meanwhile"
    repository.finish(run_seq, ENTRY, pair_set(), result(pair_set()), TIMINGS, MANIFEST)
    assert found.do() == "left: it goes on, or was done meanwhile"
    assert [run.state for run in repository.runs()] == [RunState.DONE]


def test_embeddings_that_nothing_speaks_of(settings: Settings, repository: Repository) -> None:
    orphan = encoded(settings)
    assert names(settings, repository) == []  # without a store nobody knows
    run = replace(plan("run", pair_set()), embedding_digest=encoded(settings, GramEncoder(size=2)).digest)
    run_seq = repository.begin(run)
    repository.finish(run_seq, ENTRY, pair_set(), result(pair_set()), TIMINGS, MANIFEST)
    found = the_one(settings, repository)
    assert found.what.startswith("1 set that nothing in the store speaks of, ")
    with holding():
        assert use(settings.embeddings / f"{orphan.digest}.npy")
        assert "in use" in found.do()
        assert EmbeddingCache(settings.embeddings).read(orphan.digest) is not None
    encoded(settings)
    assert "left" not in found.do()
    stored = EmbeddingCache(settings.embeddings).inventory().embeddings
    assert [each.facts.digest for each in stored] == [run.embedding_digest]


def test_entries_without_files_and_files_without_the_other_half(settings: Settings, repository: Repository) -> None:
    facts = encoded(settings)
    repository.remember_embedding(facts, GramEncoder().info)
    assert names(settings, repository) == []
    (settings.embeddings / f"{facts.digest}.npy").unlink()
    half, entry = mends(settings, repository)
    assert (half.name, entry.name) == ("embeddings", "embeddings")
    assert entry.what.startswith("1 entry of embeddings that are not on disk")
    assert half.do().endswith("freed")
    assert entry.do() == "1 forgotten"
    assert repository.embeddings() == []
    assert names(settings, repository) == []


def test_what_is_damaged_goes_and_is_computed_again(settings: Settings, repository: Repository) -> None:
    facts = encoded(settings)
    matrix = settings.embeddings / f"{facts.digest}.npy"
    matrix.write_bytes(b"no array")
    cut = aged(settings.maps / "map.npz")
    whole = settings.flows / "flow.npz"
    whole.parent.mkdir()
    np.savez(whole, weights=np.arange(3))
    found = list(mends(settings, repository))
    assert [mend.what for mend in found] == [f"{matrix} is damaged", f"{cut} is damaged"]
    for mend in found:
        mend.do()
    assert list(mends(settings, repository)) == []
    assert [path.exists() for path in (matrix, matrix.with_suffix(".json"), cut, whole)] == [False, False, False, True]


def test_an_encoding_that_goes_on_is_left(settings: Settings, repository: Repository) -> None:
    chunk = aged(settings.embeddings / "abc.parts" / "000000000.npz")
    lock = FileLock(settings.embeddings / "abc.lock")
    with lock:
        assert names(settings, repository) == []
    found = next(mends(settings, repository))
    assert found.name == "encoding"
    with lock:
        assert found.do() == "left: it goes on"
    assert chunk.exists()
    assert found.do() == "deleted, 100 bytes freed"
    assert not chunk.parent.exists()


@pytest.mark.process
def test_leftovers_that_somebody_writes_are_left(settings: Settings, repository: Repository) -> None:
    fresh = settings.embeddings / ".b.npy.12345678.tmp"
    old = aged(settings.embeddings / ".a.npy.12345678.tmp")
    fresh.write_bytes(b"being written")
    opened = aged(settings.data / "source" / "model.incomplete")
    keep_open = "import sys; f = open(sys.argv[1], 'ab'); print('open', flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", keep_open, str(opened)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        found = the_one(settings, repository)
        assert found.what == f"1 unfinished file, 100 bytes: {old}"
        assert found.do() == "100 bytes freed"
        assert fresh.exists()
        assert opened.exists()
        process.kill()
    assert the_one(settings, repository).do() == "100 bytes freed"
    assert not opened.exists()


def test_locks_that_nobody_holds(settings: Settings, repository: Repository) -> None:
    stale, held = aged(settings.embeddings / "stale.lock", b""), settings.embeddings / "held.lock"
    with FileLock(held):
        found = the_one(settings, repository)
        assert found.what == f"1 lock that no process holds, such as {stale}"
        assert found.do() == "1 lock deleted"
        assert held.exists()
    assert not stale.exists()


@pytest.fixture
def corrupt(settings: Settings) -> Path:
    """A download of the catalog's whose bytes are others."""
    file = find_dataset("evalrank-sent").files[0]
    return aged(fetch.local_path(file, settings))


def test_a_corrupt_download_is_set_aside_where_it_cannot_be_had_again(
    settings: Settings, repository: Repository, corrupt: Path, tmp_path: Path
) -> None:
    settings = replace(settings, mirror=str(tmp_path))  # which is empty
    found = the_one(settings, repository)
    assert (found.area, found.name) == ("datasets", "evalrank-sent")
    said = found.do()
    assert "now it could not be: the mirror has no " in said
    assert not corrupt.exists()
    assert corrupt.with_name(f"{corrupt.name}.damaged").read_bytes() == b"x" * 100
    (aside,) = mends(settings, repository, quiet=0.0)
    assert aside.name == "leftovers"


@pytest.mark.realdata
def test_a_corrupt_download_is_downloaded_again(
    settings: Settings, repository: Repository, corrupt: Path, shared_settings: Settings
) -> None:
    settings = replace(settings, mirror=shared_settings.mirror)
    assert the_one(settings, repository).do().startswith("downloaded again; the damaged one is ")
    entry = find_dataset("evalrank-sent")
    assert fetch.file_state(entry.files[0], settings).state is fetch.DataState.DOWNLOADED
    assert corrupt.with_name(f"{corrupt.name}.damaged").exists()


# --- the command


def answering(monkeypatch: pytest.MonkeyPatch, answers: str) -> None:
    """A person at a terminal who types these letters."""
    given = iter(answers)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda _question: next(given))


def test_each_thing_is_asked_for(
    blindspot: Command, settings: Settings, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed_run(repository)
    stale = aged(settings.embeddings / "stale.lock", b"")
    repository.database.close()
    answering(monkeypatch, "ny")
    out = blindspot.out("doctor", "--mend")
    assert out.index("store, run killed: interrupted") < out.index("    not repaired") < out.index("1 lock deleted")
    assert not stale.exists()
    assert len(repository.runs()) == 1
    repository.database.close()
    assert "    forgotten" in blindspot.out("doctor", "--mend", "--yes")
    assert repository.runs() == []
    repository.database.close()
    assert blindspot.out("doctor", "--mend", "--yes").startswith("Nothing to repair.")


def test_without_a_terminal_it_asks_for_yes(blindspot: Command) -> None:
    assert "add --yes" in blindspot.error("doctor", "--mend")
    assert blindspot("doctor", "--yes").code == 2
    assert blindspot("doctor", "--ready", "--mend").code == 2
