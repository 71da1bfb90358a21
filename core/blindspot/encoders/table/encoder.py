"""Precomputed embeddings of a file (``table:PATH``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from blindspot.encoders.base import EncoderIdentity, EncoderInfo, info_of_file, library_versions
from blindspot.encoders.source_files import lines_once, revision_of
from blindspot.encoders.table.files import EmbeddingTable, TableHead, files_of, peek, read
from blindspot.errors import InputError
from blindspot.types import CancelToken, Float32


@dataclass(frozen=True, eq=False)
class Table:
    """An encoder that looks texts up in a file by exact spelling; a missing text gets a row of NaN."""

    path: Path
    head: TableHead
    device = "cpu"

    @classmethod
    def at(cls, path: Path) -> Table:
        """Reads one row. Raises ``InputError`` if the file is missing or not a table of embeddings."""
        return cls(path, peek(path))

    @property
    def identity(self) -> EncoderIdentity:
        return EncoderIdentity(
            reference=f"table:{self.path}",
            revision=self.revision,
            pooling="precomputed",
            libraries=library_versions("numpy", "pyarrow"),
        )

    @cached_property
    def revision(self) -> str:
        """Prefix of the sha256 of the file, or of both files, computed when first needed."""
        return revision_of(files_of(self.path))

    @cached_property
    def info(self) -> EncoderInfo:
        """Rows are counted as lines if the file does not state their number."""
        rows = lines_once(self.path) if self.head.rows is None else self.head.rows
        return info_of_file(self.path, "precomputed", self.head.dimension, 0, rows * self.head.dimension)

    @property
    def duplicates(self) -> int:
        return self._table.duplicates

    def load(self) -> None:
        self._table  # noqa: B018 - cached

    def encode(self, texts: Sequence[str], cancel: CancelToken) -> Float32:
        cancel.check()
        table = self._table
        out = np.full((len(texts), table.matrix.shape[1]), np.nan, dtype=np.float32)
        rows_here = [(row, table.index[text]) for row, text in enumerate(texts) if text in table.index]
        if rows_here:
            rows, entries = zip(*rows_here, strict=True)
            out[list(rows)] = table.matrix[list(entries)]
        return out

    @cached_property
    def _table(self) -> EmbeddingTable:
        revision = self.revision
        table = read(self.path)
        if revision_of(files_of(self.path)) != revision:  # embeddings are stored under it
            raise InputError(f"{self.path} changed before it was read to its end", remedy="run it again")
        return table
