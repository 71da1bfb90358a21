"""Precomputed embeddings of a file (``table:PATH``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from core.encoders.base import EncoderIdentity, EncoderInfo, library_versions
from core.encoders.source_files import lines_once, sha256_once
from core.encoders.table.files import EmbeddingTable, TableHead, files_of, peek, read
from core.errors import InputError
from core.types import CancelToken, Float32, digest_of_strings


@dataclass(frozen=True, eq=False)
class Table:
    """An encoder that finds texts in a file, exactly as they stand there; any other has a row of NaN."""

    path: Path
    head: TableHead

    @classmethod
    def at(cls, path: Path) -> Table:
        """The encoder of a file, looked at but not read.

        Raises:
            InputError: there is no such file, or it is no table of embeddings.
        """
        return cls(path, peek(path))

    @property
    def identity(self) -> EncoderIdentity:
        return EncoderIdentity(
            reference=f"table:{self.path}",
            revision=self.revision,
            pooling="precomputed",
            prompt="",
            max_length=0,
            libraries=library_versions("numpy", "pyarrow"),
        )

    @cached_property
    def revision(self) -> str:
        """The first digits of the checksum of the file, or of both, when it was first asked for."""
        return _checksum(self.path)

    @cached_property
    def info(self) -> EncoderInfo:
        """Facts. A table holds what a model gave, not the model: it has no parameters.

        Its rows are counted as lines where the file does not say how many there are.
        """
        rows = lines_once(self.path) if self.head.rows is None else self.head.rows
        return EncoderInfo(
            title=f"{self.path.name} (precomputed)",
            dimension=self.head.dimension,
            parameters=0,
            memory_bytes=4 * rows * self.head.dimension,
            licence="not known here: see where the file comes from",
            citation=f"the source of {self.path.name}",
            url=self.path.as_uri(),
            is_partial=True,
        )

    @property
    def device(self) -> str:
        return "cpu"

    @property
    def duplicates(self) -> int:
        """How many rows were left out since the same text stands before; reads the file."""
        return self._table.duplicates

    def load(self) -> None:
        """See ``Encoder.load``."""
        self._table  # noqa: B018 - cached

    def encode(self, texts: Sequence[str], cancel: CancelToken) -> Float32:
        """See ``Encoder.encode``; a text that is not in the file has a row of NaN."""
        cancel.check()
        table = self._table
        out = np.full((len(texts), table.matrix.shape[1]), np.nan, dtype=np.float32)
        found = [(row, table.index[text]) for row, text in enumerate(texts) if text in table.index]
        if found:
            rows, entries = zip(*found, strict=True)
            out[list(rows)] = table.matrix[list(entries)]
        return out

    @cached_property
    def _table(self) -> EmbeddingTable:
        revision = self.revision
        table = read(self.path)
        if _checksum(self.path) != revision:  # embeddings are stored under it
            raise InputError(f"{self.path} changed before it was read to its end", remedy="run it again")
        return table


def _checksum(path: Path) -> str:
    checksums = [sha256_once(file) for file in files_of(path)]
    return (checksums[0] if len(checksums) == 1 else digest_of_strings(checksums))[:16]
