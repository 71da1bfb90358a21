"""Every dataset that has a name. To add one: a loader if its format is new, and an entry here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from core.datasets import loaders
from core.errors import unknown
from core.settings import ASSETS
from core.types import DatasetKind, PairSet


@dataclass(frozen=True)
class SourceFile:
    """A file of a public source, pinned by its checksum.

    ``source`` names the folder in the cache and in a mirror, ``path`` is the path inside the source,
    ``url`` is where it comes from without a mirror; ``size`` is in bytes.
    """

    source: str
    path: str
    url: str
    size: int
    sha256: str


@dataclass(frozen=True)
class DatasetEntry:
    """A named dataset.

    Attributes:
        files: what is downloaded; empty for built-in data.
        load: makes the dataset from the paths of ``files``, in their order (for built-in data: from none).
        unit: what one item is, for labels ("sentence", "word").
        size: counts, for pickers and ``data list`` (the loader's tests check them).
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
    load: Callable[[str, tuple[Path, ...]], PairSet]


_EVALRANK_REPOSITORY = "BinWang28/EvalRank-Embedding-Evaluation"
_EVALRANK_REVISION = "c6422dbf8a357b206234ab81639b24bd3428914f"


def _evalrank_file(path: str, size: int, sha256: str) -> SourceFile:
    url = f"https://raw.githubusercontent.com/{_EVALRANK_REPOSITORY}/{_EVALRANK_REVISION}/{path}"
    return SourceFile("evalrank", path, url, size, sha256)


DATASETS = {
    entry.id: entry
    for entry in (
        DatasetEntry(
            id="demo-pairs",
            title="Demo pairs",
            description="200 original sentences and their synonym rewrites, both ways, "
            "among all 1,400 sentences of the built-in demo; needs no download.",
            kind=DatasetKind.PAIR_SET,
            unit="sentence",
            size="400 pairs, 1,400 sentences",
            licence="Apache-2.0",
            citation="Blindspot's own sentences, after the rules of Chiang et al. 2023 (HEROS), section 2.2",
            url="",
            revision="1",
            files=(),
            load=lambda dataset_id, _: loaders.demo_pairs(dataset_id, ASSETS / "demo" / "minimal_pairs.tsv"),
        ),
        DatasetEntry(
            id="evalrank-sent",
            title="EvalRank sentences",
            description="The most similar quarter of STS-Benchmark and STR, both ways, "
            "among all the sentences of both.",
            kind=DatasetKind.PAIR_SET,
            unit="sentence",
            size="6,989 pairs, 24,957 sentences",
            licence="BSD-3-Clause (repository); sentences from STS-Benchmark and STR",
            citation="Wang, Kuo and Li 2022, Just Rank: Rethinking Evaluation with Word and Sentence Similarities, 4.3",
            url=f"https://github.com/{_EVALRANK_REPOSITORY}",
            revision=_EVALRANK_REVISION,
            files=(
                _evalrank_file(
                    "data/sent_evalrank/pos_pair.txt",
                    884_824,
                    "a12bd6f408a9259e9674d591067665985d31abba7b2e561ffb345e90f00c16a2",
                ),
                _evalrank_file(
                    "data/sent_evalrank/background_sent.txt",
                    1_627_520,
                    "711466d3a0b35a80ded70f1ae78f2b083677264cc6273e573d190706e4e5c445",
                ),
            ),
            load=lambda dataset_id, paths: loaders.evalrank(dataset_id, pairs=paths[0], background=paths[1:]),
        ),
    )
}


def find(dataset_id: str) -> DatasetEntry:
    """The entry of a dataset id.

    Raises:
        InputError: no such dataset; the nearest id is suggested.
    """
    if dataset_id not in DATASETS:
        raise unknown("dataset", dataset_id, DATASETS)
    return DATASETS[dataset_id]
