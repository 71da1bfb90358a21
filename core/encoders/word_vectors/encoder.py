"""Word vectors of a file (``vectors:PATH``): a text is the mean of its words' vectors (DESIGN 4.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from core.encoders.base import EncoderIdentity, EncoderInfo, library_versions
from core.encoders.source_files import lines_once, sha256_once
from core.encoders.word_vectors.files import peek, read
from core.encoders.word_vectors.words import VectorHead, WordTable
from core.errors import InputError
from core.texts import caseless
from core.types import CancelToken, Float32, Int64

TEXTS_PER_BATCH = 1024


@dataclass(frozen=True, eq=False)
class VectorFile:
    """A file of word vectors: looked at when it is named, read when its vectors are first needed."""

    path: Path
    head: VectorHead

    @classmethod
    def at(cls, path: Path) -> VectorFile:
        """Raises ``InputError`` where this is no file of word vectors."""
        return cls(path, peek(path))

    @cached_property
    def revision(self) -> str:
        """The first digits of the file's sha256 when it was first asked for."""
        return sha256_once(self.path)[:16]

    @property
    def words(self) -> int:
        """How many entries the file has, duplicates among them: by its header, else by its lines."""
        return lines_once(self.path) if self.head.promised is None else self.head.promised

    @cached_property
    def table(self) -> WordTable:
        """Words and vectors."""
        revision = self.revision
        table = read(self.path, self.head)
        if sha256_once(self.path)[:16] != revision:  # embeddings are stored under it
            raise InputError(f"{self.path} changed before it was read to its end", remedy="run it again")
        return table


@dataclass(frozen=True)
class _Lookup:
    """Where words are found: ``exact`` by their spelling, ``folded`` by their case-folded one where that differs.

    ``rows`` are the entries that can be found, ``[V] int64``, rows of the file's matrix; None where all can.
    """

    exact: Mapping[str, int]
    folded: Mapping[str, int]
    rows: Int64 | None


@dataclass(frozen=True, eq=False)
class WordVectors:
    """An encoder that looks words up in a file.

    A word is looked up exactly, then in whatever case and Unicode form (the first such entry of the file). A text is
    split on whitespace and is the mean of the vectors of the words that are found, a word that repeats counting again.
    A text of which no word is found has no vector: a row of NaN. Means are taken in float64.

    Args:
        file: the file.
        lowercased: as the published EvalRank toolkit does it: the vocabulary is lower-cased, the first entry of the
            file winning, texts are lower-cased before they are looked up, and means are taken in float32.
    """

    file: VectorFile
    lowercased: bool = False

    @classmethod
    def at(cls, path: Path, *, lowercased: bool = False) -> WordVectors:
        """The encoder of a file. Raises ``InputError`` where it is none of word vectors."""
        return cls(VectorFile.at(path), lowercased)

    @property
    def identity(self) -> EncoderIdentity:
        return EncoderIdentity(
            reference=f"vectors:{self.file.path}",
            revision=self.file.revision,
            pooling="float32 mean of word vectors, lower-cased"
            if self.lowercased
            else "mean of word vectors in any form",
            prompt="",
            max_length=0,
            libraries=library_versions("numpy", "gensim"),
        )

    @cached_property
    def info(self) -> EncoderInfo:
        """Facts; ``parameters`` counts all entries of the file, which is not loaded for it."""
        parameters = self.file.words * self.file.head.dimension
        return EncoderInfo(
            title=f"{self.file.path.name} (word vectors, {self.file.head.format})",
            dimension=self.file.head.dimension,
            parameters=parameters,
            memory_bytes=4 * parameters,
            licence="not known here: see where the file comes from",
            citation=f"the source of {self.file.path.name}",
            url=self.file.path.as_uri(),
            is_partial=True,
        )

    @property
    def device(self) -> str:
        return "cpu"

    @property
    def duplicates(self) -> int:
        """How many entries of the file were left out since the same word stands before; loads the file."""
        return self.file.table.duplicates

    def as_toolkit(self) -> WordVectors:
        """See ``VocabularyEncoder.as_toolkit``; shares the loaded file."""
        return replace(self, lowercased=True)

    def vocabulary(self) -> Float32:
        """See ``VocabularyEncoder.vocabulary``."""
        matrix, rows = self.file.table.matrix, self._lookup.rows
        if rows is None:
            return matrix
        kept = matrix[rows]
        kept.flags.writeable = False
        return kept

    def load(self) -> None:
        """See ``Encoder.load``."""
        self._lookup  # noqa: B018 - cached

    def encode(self, texts: Sequence[str], cancel: CancelToken) -> Float32:
        """See ``Encoder.encode``; a text of which no word is in the file has a row of NaN."""
        lookup, matrix = self._lookup, self.file.table.matrix
        out = np.full((len(texts), matrix.shape[1]), np.nan, dtype=np.float32)
        for number, text in enumerate(texts):
            if number % TEXTS_PER_BATCH == 0:
                cancel.check()
            words = (text.lower() if self.lowercased else text).split()
            rows = [row for word in words if (row := self._row(lookup, word)) is not None]
            if len(rows) == 1:
                out[number] = matrix[rows[0]]
            elif rows:
                out[number] = matrix[rows].mean(axis=0, dtype=np.float32 if self.lowercased else np.float64)
        return out

    def _row(self, lookup: _Lookup, word: str) -> int | None:
        found = lookup.exact.get(word)
        if found is not None or self.lowercased:
            return found
        folded = caseless(word)
        return lookup.folded.get(folded, lookup.exact.get(folded))

    @cached_property
    def _lookup(self) -> _Lookup:
        index = self.file.table.index
        if self.lowercased:
            lowered: dict[str, int] = {}
            for word, row in index.items():
                lowered.setdefault(word.lower(), row)
            all_kept = len(lowered) == len(index)
            rows = None if all_kept else np.fromiter(lowered.values(), dtype=np.int64, count=len(lowered))
            return _Lookup(lowered, {}, rows)
        first: dict[str, int] = {}
        for word, row in index.items():
            first.setdefault(caseless(word), row)
        # Those whose first entry is spelled like that anyhow need not be kept twice.
        return _Lookup(index, {word: row for word, row in first.items() if index.get(word) != row}, None)
