"""Every dataset of the catalog: what it declares, and that its data are what the declaration says."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

import pytest

from core.datasets import fetch
from core.datasets.catalog import DATASETS, DatasetEntry, find
from core.datasets.kinds.labelled_texts import LabelledTexts
from core.datasets.kinds.minimal_pairs import MinimalPairSet
from core.datasets.kinds.relations import Analogies, Categories
from core.datasets.kinds.scored_pairs import ScoredPairs
from core.datasets.kinds.vocabulary import Vocabulary
from core.errors import DataCorrupt, InputError
from core.settings import Settings

UNPINNED = {"heros"}  # whose checksum could not be looked up: recorded on first use, see test_fetch.py
ENTRIES = pytest.mark.parametrize("entry", DATASETS.values(), ids=DATASETS)


@ENTRIES
def test_an_entry_says_what_people_need_to_know(entry: DatasetEntry) -> None:
    assert DATASETS[entry.id] is entry
    for told in (entry.title, entry.description, entry.unit, entry.size, entry.licence, entry.citation, entry.revision):
        assert told.strip()
    assert entry.description.endswith(".")


@ENTRIES
def test_files_are_pinned(entry: DatasetEntry) -> None:
    for file in entry.files:
        if entry.id in UNPINNED:
            assert (file.sha256, file.size, file.is_pinned) == ("", 0, False)
        else:
            assert re.fullmatch("[0-9a-f]{64}", file.sha256)
            assert file.size > 0
        assert file.url.startswith("https://")
        assert entry.revision in file.url, "a file that may change under its URL cannot be verified"
        for part in (file.source, file.path):
            assert not PurePosixPath(part).is_absolute()
            assert ".." not in PurePosixPath(part).parts
    paths = [(file.source, file.path) for file in entry.files]
    assert len(set(paths)) == len(paths)


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param(e, id=e.id, marks=[pytest.mark.realdata] if e.files else [])
        for e in DATASETS.values()
        if e.id not in UNPINNED
    ],
)
def test_a_dataset_has_the_size_that_its_entry_names(entry: DatasetEntry, shared_settings: Settings) -> None:
    dataset = fetch.load(entry, shared_settings)
    assert dataset.id == entry.id
    assert dataset.kind is entry.kind
    assert len(set(dataset.items)) == len(dataset.items)
    assert all(text.strip() for text in dataset.items)
    if isinstance(dataset, ScoredPairs):
        sets = f" in {len(dataset.sets)} sets" if len(dataset.sets) > 1 else ""
        assert entry.size == f"{len(dataset.scores):,} scored pairs{sets}"
        assert (entry.pairs, entry.texts) == (len(dataset.scores), len(dataset.items))
        return
    if isinstance(dataset, LabelledTexts):
        assert entry.size == f"{len(dataset.labels):,} examples of {len(dataset.classes)} classes"
        assert (entry.pairs, entry.texts) == (len(dataset.labels), len(dataset.items))
        assert entry.is_split is dataset.is_split
        assert ("split of its own" in entry.description, "Its own split" in entry.description) == (
            not dataset.is_split,
            dataset.is_split,
        )
        return
    if isinstance(dataset, Analogies | Categories):
        return  # test_word_relations.py has their counts
    if isinstance(dataset, MinimalPairSet):
        n, subsets = len(dataset.originals), len(dataset.subsets)
        assert entry.size == f"{n:,} originals with {subsets} rewrites each, {len(dataset.items):,} {entry.unit}s"
        return
    if isinstance(dataset, Vocabulary):
        assert entry.size == f"{len(dataset.items):,} words with their counts"
        assert entry.texts == len(dataset.items) == len(dataset.counts)
        assert (dataset.counts > 0).all()
        assert dataset.counts.sum() <= dataset.corpus_size
        return
    assert entry.size == f"{len(dataset.queries):,} pairs, {len(dataset.items):,} {entry.unit}s"
    assert len(dataset.mates) == len(dataset.queries)
    for numbers in (dataset.queries, dataset.mates):
        assert 0 <= numbers.min() <= numbers.max() < len(dataset.items)
    assert len(set(zip(dataset.queries.tolist(), dataset.mates.tolist(), strict=True))) == len(dataset.queries)


@pytest.mark.parametrize("entry", [pytest.param(e, id=e.id) for e in DATASETS.values() if not e.files])
def test_a_built_in_dataset_is_the_same_every_time(entry: DatasetEntry, settings: Settings) -> None:
    first, second = fetch.load(entry, settings), fetch.load(entry, settings)
    assert first.content_digest == second.content_digest
    assert first.items == second.items


def test_an_unknown_dataset_suggests_the_nearest() -> None:
    with pytest.raises(InputError, match="unknown dataset 'evalrank-snt'") as caught:
        find("evalrank-snt")
    assert caught.value.remedy == "did you mean 'evalrank-sent'?"
    assert caught.value.exit_code == 2
    assert "demo-pairs" in caught.value.expected


def test_nothing_is_suggested_for_what_is_near_to_nothing() -> None:
    with pytest.raises(InputError) as caught:
        find("qqqqqqqqqqqqqqqqqqqqqqqq")
    assert caught.value.remedy == ""


@pytest.mark.realdata
def test_a_truncated_real_file_is_refused(shared_settings: Settings, settings: Settings) -> None:
    entry = find("evalrank-sent")
    fetch.load(entry, shared_settings)
    for file in entry.files:
        original = fetch.local_path(file, shared_settings).read_bytes()
        target = fetch.local_path(file, settings)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(original)
    target.write_bytes(original[: len(original) // 2])
    with pytest.raises(DataCorrupt) as caught:
        fetch.load(entry, settings)
    assert str(caught.value) == (
        f"{target} is corrupt: {len(original) // 2:,} bytes instead of {len(original):,}; "
        "download it again with: python -m core data fetch evalrank-sent"
    )
