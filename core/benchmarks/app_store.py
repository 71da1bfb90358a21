"""A filled store for the benchmarks of the app: ten variants under every diagnostic, of built-in texts only.

It is in a temporary folder, made once per process and deleted with it; the user's own cache is never read.
"""

from __future__ import annotations

import atexit
import csv
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from blindspot.datasets import fetch, packaged
from blindspot.datasets.catalog import DATASETS, OWN_PREFIX, DatasetRef
from blindspot.datasets.kinds.vocabulary import Vocabulary
from blindspot.datasets.published import pairs as loaders
from blindspot.diagnostic import all_diagnostics, find_diagnostic
from blindspot.encoders.catalog import ENCODERS
from blindspot.errors import BlindspotError
from blindspot.runs import pipeline, requesting, sweeps
from blindspot.runs.requests import RunRequest
from blindspot.runs.sweeps import Sweep
from blindspot.settings import Mode, Settings
from blindspot.store.repository import Repository
from blindspot.types import Progress, no_progress

WORDS = 2_000  # of wordfreq's most frequent: all 20,000 would take the ten variants minutes
SCORED_WORDS = "wordsim353.tsv"


@dataclass(frozen=True)
class FilledStore:
    """A cache folder with finished runs.

    Attributes:
        vocabulary: reference of its words with counts, on which ``frequency`` was run.
        scored: reference of its scored pairs, on which ``similarity`` was run.
    """

    cache: Path
    vocabulary: str
    scored: str


def settings_of(cache_folder: Path) -> Settings:
    """Settings for making the filled store and for its server: no mirror, the CPU."""
    return Settings(cache=cache_folder, mirror="", device="cpu", mode=Mode.LOCAL)


def temporary_folder() -> Path:
    """A new folder that is deleted with this process."""
    folder = Path(tempfile.mkdtemp(prefix="blindspot-bench-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


_FILLED: list[FilledStore] = []


def filled(progress: Progress = no_progress) -> FilledStore:
    """The filled store, made on the first call; raises ``BlindspotError`` if a run failed."""
    if not _FILLED:
        _FILLED.append(fill(temporary_folder(), progress))
    return _FILLED[0]


def fill(
    folder: Path,
    progress: Progress = no_progress,
    encoder_ids: Sequence[str] = (*ENCODERS, "random-projection-64", "random-projection-1024"),
    diagnostic_ids: Sequence[str] = tuple(all_diagnostics()),
) -> FilledStore:
    """Fill a store below a folder: encoders, the first of them centered too, under diagnostics.

    With these nine encoders there are ten variants.
    """
    settings = settings_of(folder / "cache")
    vocabulary, scored = _files(folder, settings)
    requests = _requests(settings, vocabulary, scored, encoder_ids, diagnostic_ids)
    repository = Repository.at(settings.store)
    for i, request in enumerate(requests):
        progress("filling a store for the app", i, len(requests))
        pipeline.run(request, settings, repository)
    repository.database.close()
    return FilledStore(settings.cache, vocabulary, scored)


def _requests(
    settings: Settings, vocabulary: str, scored: str, encoder_ids: Sequence[str], diagnostic_ids: Sequence[str]
) -> list[RunRequest]:
    """Every diagnostic on a dataset of its kind that needs no network; each encoder, and the first one centered."""
    entries = [find_diagnostic(i) for i in diagnostic_ids]
    of_kind = {DatasetRef(reference).entry().kind: reference for reference in (vocabulary, scored)}
    for dataset in DATASETS.values():
        if not dataset.files:  # installed with the requirements
            of_kind.setdefault(dataset.kind, dataset.id)
    if lacking := [entry.id for entry in entries if entry.dataset_kind not in of_kind]:
        raise BlindspotError(f"there is no built-in dataset for {', '.join(lacking)}, so its page cannot be measured")
    there = dict.fromkeys(of_kind[entry.dataset_kind] for entry in entries)
    sweep = Sweep(tuple(encoder_ids), ("none",), tuple(there), tuple(diagnostic_ids))
    plain = list(sweeps.expand(sweep, settings).requests)
    first = [request for request in plain if request.variant.encoder == encoder_ids[0]]
    return plain + [requesting.with_transform(request, "center") for request in first]


def _files(folder: Path, settings: Settings) -> tuple[str, str]:
    """Words with counts and scored pairs as files of a user, made from installed packages."""
    words = fetch.load(DATASETS["vocab-wordfreq"], settings)
    if not isinstance(words, Vocabulary):
        raise TypeError("vocab-wordfreq is of another kind")
    counts = zip(words.items[:WORDS], words.counts[:WORDS].tolist(), strict=True)
    rows = loaders.scored_words(SCORED_WORDS, packaged.text_of("gensim", "test", "test_data", SCORED_WORDS))
    return (
        _written(folder / "words.csv", ("word", "count"), counts),
        _written(folder / "scored.csv", ("word1", "word2", "score"), rows),
    )


def _written(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Write a CSV file; returns its reference."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return DatasetRef.parse(f"{OWN_PREFIX}{path}")
