"""Entries of the catalog of datasets, and the public files that they come from."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from blindspot.datasets.kinds.base import Dataset, DatasetKind
from blindspot.datasets.user_data.columns import OwnSource

EVALRANK_REPOSITORY = "BinWang28/EvalRank-Embedding-Evaluation"
EVALRANK_REVISION = "c6422dbf8a357b206234ab81639b24bd3428914f"
COUNTER_FITTING_REPOSITORY = "nmrksic/counter-fitting"
COUNTER_FITTING_REVISION = "8cf3cf4db1074f2f80ecf728e6af68347c3b3d02"
_REGISTRY = Path(__file__).parent / "published" / "files.tsv"


@dataclass(frozen=True)
class SourceFile:
    """A file of a public source, pinned by its checksum.

    Attributes:
        source: its folder in the cache and in a mirror; ``path`` is below that.
        url: where it comes from without a mirror.
        size: bytes; 0 if unknown when the entry was written.
        sha256: "" if unknown: then ``fetch`` records the checksum of the first file that the loader accepts, and
            checks later ones against it.
        about: approximate bytes if ``size`` is unknown, for estimates of a download; never checked.
    """

    source: str
    path: str
    url: str
    size: int
    sha256: str
    about: int = 0

    @property
    def download(self) -> int:
        """Bytes to download, estimated if the size is unknown."""
        return self.size or self.about

    @property
    def is_pinned(self) -> bool:
        return bool(self.sha256)


@dataclass(frozen=True)
class DatasetEntry:
    """A named dataset.

    Attributes:
        unit: what one item is, for labels ("sentence", "word").
        size: counts, for pickers and ``data list`` (the loader's tests check them).
        load: makes the dataset from its id and the paths of ``files``, in their order (no paths for built-in data).
        files: the downloads; empty for built-in data.
        own: for ``file:`` and ``dir:`` references, the user's file or folder and how it was read.
        pairs, texts: the counts as numbers, for estimates (pairs: originals of a user's minimal pairs); 0 if unknown
            before loading.
        is_split: whether labeled texts have a split of their own, for estimates; otherwise there are folds.
        classes: number of classes of a probing task, for estimates.
        sources: id of the scored pairs in ``SOURCES`` that its pairs were taken from, or "".
        core_texts: number of its first texts that belong to the sources; the rest are frequent words, added so that
            matches have more competitors. 0 if none were added.
        rewrites: id of the minimal pairs with its texts, which tell how each text changes another's meaning, or "".
        limits: what its scores do not say, shown wherever they are.
    """

    id: str
    title: str
    description: str
    kind: DatasetKind
    unit: str
    size: str
    licence: str
    citation: str
    load: Callable[[str, tuple[Path, ...]], Dataset]
    url: str = ""
    revision: str = "1"
    files: tuple[SourceFile, ...] = ()
    own: OwnSource | None = None
    pairs: int = 0
    texts: int = 0
    is_split: bool = False
    classes: int = 0
    sources: str = ""
    core_texts: int = 0
    rewrites: str = ""
    limits: str = ""

    @property
    def about(self) -> str:
        """What it is, and what its scores do not say."""
        return f"{self.description} {self.limits}".rstrip()


@dataclass(frozen=True)
class Family:
    """Datasets of one source, too many for a list: pickers and tables show the family instead.

    Attributes:
        size: counts, for people.
        members: by id.
        naming: how the members are named.
    """

    id: str
    title: str
    description: str
    size: str
    members: Mapping[str, DatasetEntry]
    naming: str

    @property
    def example(self) -> str:
        """Id of a member."""
        return next(iter(self.members))

    @property
    def licence(self) -> str:
        return self.members[self.example].licence

    @property
    def citation(self) -> str:
        return self.members[self.example].citation


@cache
def _registered() -> Mapping[tuple[str, str], tuple[int, str]]:
    """Size and sha256 of files, by source and path."""
    with _REGISTRY.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t")
        return {(row["source"], row["path"]): (int(row["size"]), row["sha256"]) for row in rows}


def github_file(source: str, repository: str, revision: str, path: str) -> SourceFile:
    """A file of a GitHub repository as it was at a commit; size and checksum are in ``published/files.tsv``."""
    url = f"https://raw.githubusercontent.com/{repository}/{revision}/{path}"
    return SourceFile(source, path, url, *_registered()[source, path])


def evalrank_file(path: str) -> SourceFile:
    """A file of the EvalRank toolkit's repository."""
    return github_file("evalrank", EVALRANK_REPOSITORY, EVALRANK_REVISION, path)


def lexicon_file(name: str) -> SourceFile:
    """A word list of the counter-fitting repository; size and checksum are in ``published/files.tsv``."""
    source, folder = "counter_fitting_lexicons", f"{COUNTER_FITTING_REPOSITORY}/{COUNTER_FITTING_REVISION}"
    url = f"https://raw.githubusercontent.com/{folder}/linguistic_constraints/{name}"
    return SourceFile(source, name, url, *_registered()[source, name])
