"""Deleting a user's dataset with all that was computed on it, and nothing of any other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from blindspot.cli import main
from blindspot.datasets import uploads
from blindspot.datasets.user_data import files as own
from blindspot.diagnostic import find_diagnostic
from blindspot.encoders.cache import EmbeddingCache
from blindspot.errors import BlindspotError, InputError
from blindspot.settings import Mode, Settings
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.workspace import own_datasets
from tests.support.small_world import GramEncoder
from tests.support.world import World

SECRET = "the patient of room seven sleeps"
PAIRS = (("a dog runs", "the dog is running"), (SECRET, "the sleeper of room seven"), ("rain", "it rains"))
ENTRY = find_diagnostic("evalrank")


@pytest.fixture
def repository(world: World, environment: Settings) -> Repository:
    return world.add(GramEncoder()).repository


def file_of(folder: Path, name: str, pairs: tuple[tuple[str, str], ...] = PAIRS) -> str:
    path = folder / name
    path.write_text("\n".join(["query,match", *(",".join(pair) for pair in pairs)]), "utf-8")
    return f"file:{path}"


def rows(repository: Repository, *runs: RunRecord) -> pd.DataFrame:
    return repository.items(ENTRY, [run.run_id for run in runs], texts=True)


def on_disk(settings: Settings) -> set[str]:
    return {one.facts.digest for one in EmbeddingCache(settings.embeddings).inventory().embeddings}


def in_store(settings: Settings, repository: Repository, text: str) -> bool:
    """Whether a text stands anywhere in the files of the store."""
    repository.database.close()
    return any(text.encode() in file.read_bytes() for file in settings.cache.glob("results.duckdb*"))


def test_all_of_a_dataset_goes_and_nothing_of_another(
    settings: Settings, repository: Repository, world: World, tmp_path: Path
) -> None:
    mine = file_of(tmp_path, "mine.csv")
    other = world.run("evalrank", "trigrams", file_of(tmp_path, "other.csv", (*PAIRS[::2], ("snow", "it snows"))))
    before = rows(repository, other)
    for transform in ("none", "center"):
        world.run("evalrank", f"trigrams~{transform}", mine)
    file_of(tmp_path, "mine.csv", (*PAIRS, ("wind", "it blows")))  # the file was changed, and run again
    world.run("evalrank", "trigrams", mine)
    assert in_store(settings, repository, SECRET)
    found = own_datasets.kept(mine, settings, repository)
    assert (len(found.stored.runs), found.stored.rows, found.stored.texts) == (3, 3 + 3 + 4, 6 + 8)
    assert len(found.embeddings) == 2, "of the file as it was, and as it is"
    assert found.size == sum(
        one.size
        for one in EmbeddingCache(settings.embeddings).inventory().embeddings
        if one.facts.digest in found.embeddings
    )
    assert own_datasets.purge(mine, settings, repository) == found
    assert [stored.run_id for stored in repository.runs()] == [other.run_id]
    assert on_disk(settings) == {other.plan.embedding_digest}
    assert not in_store(settings, repository, SECRET)
    pd.testing.assert_frame_equal(rows(repository, other), before)
    assert repository.run(other.run_id).metrics == other.metrics
    assert own.path_of(mine).is_file(), "the file is the user's"
    assert own_datasets.kept(mine, settings, repository).is_nothing
    world.run("evalrank", "trigrams", mine)
    assert len(repository.runs()) == 2, "it can be run anew"


def test_what_another_name_has_too_stays_under_that_name(
    settings: Settings, repository: Repository, world: World, tmp_path: Path
) -> None:
    mine, copy = file_of(tmp_path, "mine.csv"), file_of(tmp_path, "copy.csv")
    first = world.run("evalrank", "trigrams", mine)
    assert world.run("evalrank", "trigrams", copy).run_id == first.run_id, "one content, one run"
    found = own_datasets.purge(mine, settings, repository)
    assert (found.stored.runs, found.stored.shared_with, found.embeddings) == ((), (copy,), ())
    (kept,) = repository.runs(dataset=copy)
    assert (kept.run_id, kept.plan.dataset) == (first.run_id, copy)
    assert list(rows(repository, kept)["query"]) == [query for query, _ in PAIRS]
    assert own_datasets.kept(mine, settings, repository).is_nothing
    assert len(own_datasets.purge(copy, settings, repository).stored.runs) == 1
    assert repository.runs() == []
    assert not in_store(settings, repository, SECRET)


def test_embeddings_of_texts_that_another_dataset_has_stay(
    settings: Settings, repository: Repository, world: World, tmp_path: Path
) -> None:
    """The same texts in the same order with another pair beside: other runs on the same embeddings."""
    mine = world.run("evalrank", "trigrams", file_of(tmp_path, "mine.csv"))
    more = world.run("evalrank", "trigrams", file_of(tmp_path, "more.csv", (*PAIRS, PAIRS[0])))
    assert mine.plan.embedding_digest == more.plan.embedding_digest
    assert mine.run_id != more.run_id
    found = own_datasets.purge(mine.plan.dataset, settings, repository)
    assert (len(found.stored.runs), found.embeddings) == (1, ())
    assert on_disk(settings) == {more.plan.embedding_digest}
    assert len(rows(repository, more)) == 4


def test_an_upload_goes_with_what_was_computed_on_it(
    settings: Settings, repository: Repository, world: World, tmp_path: Path
) -> None:
    path = own.path_of(file_of(tmp_path, "mine.csv"))
    upload = uploads.add(own.read(path), path.read_bytes(), settings)
    world.run("evalrank", "trigrams", upload.reference)
    own_datasets.purge(upload.reference, settings, repository)
    assert uploads.found(settings) == ()
    assert repository.runs() == []


def test_what_is_refused(settings: Settings, repository: Repository, world: World, tmp_path: Path) -> None:
    mine = file_of(tmp_path, "mine.csv")
    record = world.run("evalrank", "trigrams", mine)
    with pytest.raises(InputError, match="demo"):
        own_datasets.purge(mine, replace(settings, mode=Mode.DEMO), repository)
    with pytest.raises(InputError, match="catalog"):
        own_datasets.purge("demo-pairs", settings, repository)
    repository.begin(replace(record.plan, run_id="another"))
    with pytest.raises(BlindspotError, match="in use"):
        own_datasets.purge(mine, settings, repository)
    assert len(repository.runs()) == 2


def test_the_command_asks_first(
    settings: Settings, repository: Repository, world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = file_of(tmp_path, "mine.csv")
    assert main(["data", "remove", mine, "--purge", "--yes"]) == 2, "nothing is kept of it"
    world.run("evalrank", "trigrams", mine)
    assert main(["data", "remove", mine, "--yes"]) == 2, "no upload"
    assert main(["data", "remove", "demo-pairs", "--purge", "--yes"]) == 2
    assert main(["data", "remove", mine, "--purge"]) == 2, "nobody is there to ask"
    assert "--yes" in capsys.readouterr().err
    assert len(repository.runs()) == 1
    assert main(["data", "remove", mine, "--purge", "--yes"]) == 0
    assert "1 run, 3 rows of results, 6 stored texts, 1 set of embeddings" in capsys.readouterr().out
    assert repository.runs() == []
    path = own.path_of(mine)
    upload = uploads.add(own.read(path), path.read_bytes(), settings)
    world.run("evalrank", "trigrams", upload.reference)
    assert main(["data", "remove", upload.reference, "--yes"]) == 0
    assert uploads.found(settings) == ()
    assert len(repository.runs()) == 1, "without --purge runs stay, as on the page"
