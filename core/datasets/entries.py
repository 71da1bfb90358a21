"""What an entry of the catalog of datasets declares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from core.datasets.kinds.base import Dataset, DatasetKind
from core.datasets.own.columns import OwnFile

EVALRANK_REPOSITORY = "BinWang28/EvalRank-Embedding-Evaluation"
EVALRANK_REVISION = "c6422dbf8a357b206234ab81639b24bd3428914f"


@dataclass(frozen=True)
class SourceFile:
    """A file of a public source, pinned by its checksum.

    ``source`` names the folder in the cache and in a mirror, ``path`` is the path inside the source,
    ``url`` is where it comes from without a mirror; ``size`` is in bytes. Where checksum and size could not be learnt
    when the entry was written, they are "" and 0: then ``fetch`` records the checksum of the first file that its
    loader accepts, and holds later ones against that.
    """

    source: str
    path: str
    url: str
    size: int
    sha256: str

    @property
    def is_pinned(self) -> bool:
        return bool(self.sha256)


@dataclass(frozen=True)
class DatasetEntry:
    """A named dataset.

    Attributes:
        files: what is downloaded; empty for built-in data.
        load: makes the dataset from the paths of ``files``, in their order (for built-in data: from none).
        unit: what one item is, for labels ("sentence", "word").
        size: counts, for pickers and ``data list`` (the loader's tests check them).
        own: the user's file that it is made of and how that was read, for ``file:`` references.
        pairs, texts: the counts as numbers, for estimates (of a user's minimal pairs: its originals); 0 where they are
            not known before it is loaded.
        is_split: of labelled texts, whether they have a split of their own, for estimates; else folds are made.
        sources: id of the scored pairs in ``SOURCES`` that its pairs were taken from; "" where there are none.
        core_texts: how many of its texts, the first ones, belong to those; the rest are frequent words, added so that
            mates have more to compete with. 0 where nothing was added.
    """

    id: str
    title: str
    description: str
    kind: DatasetKind
    unit: str
    size: str
    licence: str
    citation: str
    url: str
    revision: str
    files: tuple[SourceFile, ...]
    load: Callable[[str, tuple[Path, ...]], Dataset]
    own: OwnFile | None = None
    pairs: int = 0
    texts: int = 0
    is_split: bool = False
    sources: str = ""
    core_texts: int = 0


def github_file(source: str, repository: str, revision: str, path: str, size: int, sha256: str) -> SourceFile:
    """A file of a GitHub repository as it was at a commit."""
    return SourceFile(source, path, f"https://raw.githubusercontent.com/{repository}/{revision}/{path}", size, sha256)


def evalrank_file(path: str, size: int, sha256: str) -> SourceFile:
    """A file of the EvalRank toolkit's repository."""
    return github_file("evalrank", EVALRANK_REPOSITORY, EVALRANK_REVISION, path, size, sha256)
