"""Rankings of other search engines, from a file: TREC's run, or MTEB's predictions.

Scores mean what they mean in ``trec_eval``: a document that the file does not have for a query is not retrieved and
adds nothing, a query that the file lacks scores 0, and a query that only the file has is ignored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from blindspot.datasets.kinds.retrieval import RetrievalDataset
from blindspot.datasets.user_data import rankings
from blindspot.datasets.user_data.rankings import Rankings
from blindspot.encoders.base import EncoderIdentity, EncoderInfo
from blindspot.encoders.rankings.base import Way, WithoutModels, info_of
from blindspot.encoders.references import FileReference
from blindspot.encoders.source_files import sha256_once
from blindspot.errors import InputError
from blindspot.types import Float64, Int64


class RunFile(WithoutModels):
    """The ranking in a file, known by its content."""

    def __init__(self, path: Path, *, are_distances: bool = False) -> None:
        """Raises ``InputError`` if there is no such file, or it is empty."""
        self.path = path
        self.are_distances = are_distances
        self._sha256 = sha256_once(path)

    @property
    def identity(self) -> EncoderIdentity:
        return EncoderIdentity(
            reference=str(FileReference("run", self.path, self.are_distances)),
            revision=self._sha256,
            pooling="the distances in a file" if self.are_distances else "the scores in a file",
            libraries=(),
        )

    @property
    def info(self) -> EncoderInfo:
        title = f"{self.path.name} (run of a search engine)"
        return info_of(title, f"the source of {self.path.name}", self.path.as_uri(), "unknown: see its source")

    def digest(self, texts_digest: str) -> str:
        return self.identity.embedding_digest(texts_digest)

    def read(self, dataset: RetrievalDataset) -> Rankings:
        """The file's scores for a dataset's queries; the last one is kept in memory.

        Raises:
            InputError: as in ``rankings.read``; or the file has changed in the meantime.
        """
        ranking = _read(_Key(self.path, self._sha256, self.are_distances, dataset.content_digest, dataset))
        if sha256_once(self.path) != self._sha256:
            raise InputError(f"{self.path} was changed while it was read", remedy="run it again")
        return ranking

    def scores(self, dataset: RetrievalDataset, queries: Int64, way: Way) -> Iterator[Float64]:
        """See ``Ranking``; in trec_eval's order in single precision, as trec_eval keeps them."""
        ranking = self.read(dataset)
        starts = np.searchsorted(ranking.queries, np.arange(len(dataset.queries) + 1))
        values = ranking.scores.astype(np.float32).astype(np.float64) if way.in_order else ranking.scores
        for i, query in enumerate(queries.tolist()):
            way.cancel.check()
            way.progress("ranking", i, len(queries))
            line = np.full((1, len(dataset.documents)), -np.inf)
            rows = slice(int(starts[query]), int(starts[query + 1]))
            line[0, ranking.documents[rows]] = values[rows]
            yield line

    def facts(self, dataset: RetrievalDataset) -> Mapping[str, Any]:
        ranking = self.read(dataset)
        facts = {"name": ranking.name, "rows": len(ranking.scores), "ignored": ranking.ignored}
        return facts | {
            name: count for name, count in (("contradicted", ranking.contradicted), ("tied", ranking.tied)) if count
        }


@dataclass(frozen=True)
class _Key:
    """A file and a dataset, compared by their contents."""

    path: Path
    sha256: str
    are_distances: bool
    content_digest: str
    dataset: RetrievalDataset = field(compare=False)


@lru_cache(maxsize=1)
def _read(key: _Key) -> Rankings:
    return rankings.read(key.path, key.dataset, are_distances=key.are_distances)
