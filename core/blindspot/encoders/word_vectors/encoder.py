"""Word vectors of a file (``vectors:PATH``): a text is the mean of its words' vectors."""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from blindspot.encoders.base import EncoderIdentity, EncoderInfo, info_of_file, versions_here
from blindspot.encoders.references import MEAN_OF_WORDS, POWERS, FileReference, Pooling, Readout
from blindspot.encoders.source_files import lines_once, revision_of
from blindspot.encoders.tokens import Role, Token, TokenParts, mean_of
from blindspot.encoders.word_vectors.files import peek, read
from blindspot.encoders.word_vectors.keyed import files_of
from blindspot.encoders.word_vectors.words import VectorHead, WordTable
from blindspot.errors import InputError
from blindspot.texts import caseless
from blindspot.types import CancelToken, Float32, Float64, Int64

TEXTS_PER_BATCH = 1024
SHOWN_WORDS = 3
LONGEST_SHOWN = 20
PUNCTUATION = f"{string.punctuation}“”‘’«»…¿¡。，、！？"


@dataclass(frozen=True, eq=False)
class VectorFile:
    """A file of word vectors: its head is read at once, the rest when first needed."""

    path: Path
    head: VectorHead

    @classmethod
    def at(cls, path: Path) -> VectorFile:
        """Raises ``InputError`` if this is not a file of word vectors."""
        return cls(path, peek(path))

    @cached_property
    def revision(self) -> str:
        """Prefix of the sha256 of the file, or of both, when first asked for."""
        return revision_of(files_of(self.path))

    @property
    def words(self) -> int:
        """Number of entries, duplicates included, from the header or else from counting lines."""
        return lines_once(self.path) if self.head.promised is None else self.head.promised

    @cached_property
    def table(self) -> WordTable:
        revision = self.revision
        table = read(self.path, self.head)
        if revision_of(files_of(self.path)) != revision:  # embeddings are stored under it
            raise InputError(f"{self.path} changed before it was read to its end", remedy="run it again")
        return table


@dataclass(frozen=True)
class _Lookup:
    """Row by exact word, and by case-folded word if that gives another row.

    ``rows`` are the rows that can be found, ``[V] int64``; None for all.
    """

    exact: Mapping[str, int]
    folded: Mapping[str, int]
    rows: Int64 | None


@dataclass
class _Missing:
    """Words without a vector, in texts that get a vector from their other words, since the encoder was loaded.

    Attributes:
        words: number of all words of these texts.
        unknown: how often each word without a vector occurs.
        with_signs: those of these words that have a vector without the punctuation around them.
    """

    words: int = 0
    unknown: Counter[str] = field(default_factory=Counter)
    with_signs: dict[str, None] = field(default_factory=dict)

    def clear(self) -> None:
        self.words = 0
        self.unknown.clear()
        self.with_signs.clear()


@dataclass(frozen=True, eq=False)
class WordVectors:
    """An encoder that looks words up in a file.

    A word is looked up exactly, then in any case and Unicode form (the file's first such entry). So is a whole text,
    even of several words ("New York"). A text that is not an entry is split on whitespace; its vector is the float64
    mean over the words that were found, repeated words counting each time. If none was found, its row is NaN.

    With ``lowercased``, as in the published EvalRank toolkit: vocabulary (first entry wins) and texts are lower-cased,
    and means are taken in float32. ``readout`` can have other poolings than the mean, joined if there are several
    (Rücklé et al. 2018, arXiv 1803.01400, section 3).
    """

    file: VectorFile
    lowercased: bool = False
    readout: Readout = MEAN_OF_WORDS
    device = "cpu"
    _missing: _Missing = field(default_factory=_Missing, compare=False, repr=False)

    @classmethod
    def at(cls, path: Path, *, lowercased: bool = False, readout: Readout = MEAN_OF_WORDS) -> WordVectors:
        """Raises ``InputError`` if this is not a file of word vectors."""
        return cls(VectorFile.at(path), lowercased, readout)

    @property
    def identity(self) -> EncoderIdentity:
        pooled = self.readout.written if self._is_pooled else "mean"
        return EncoderIdentity(
            reference=str(FileReference("vectors", self.file.path, readout=self.readout)),
            revision=self.file.revision,
            pooling=f"float32 {pooled} of word vectors, lower-cased"
            if self.lowercased
            else f"{pooled} of word vectors in any form, an entry of several words as a whole",
            libraries=versions_here("numpy", "gensim"),
        )

    @cached_property
    def info(self) -> EncoderInfo:
        parameters = self.file.words * self.file.head.dimension
        kind = f"word vectors, {self.file.head.format}"
        info = info_of_file(self.file.path, kind, self.file.head.dimension, parameters, parameters)
        return replace(info, dimension=info.dimension * len(self.readout.poolings))

    @property
    def _is_pooled(self) -> bool:
        """Whether the pooling is other than the mean alone."""
        return self.readout != MEAN_OF_WORDS

    @property
    def duplicates(self) -> int:
        return self.file.table.duplicates

    def as_toolkit(self) -> WordVectors:
        return replace(self, lowercased=True)

    def vocabulary(self) -> Float32:
        matrix, rows = self.file.table.matrix, self._lookup.rows
        if rows is None and not self._is_pooled:
            return matrix
        kept = matrix if rows is None else matrix[rows]
        if self._is_pooled:
            kept = np.concatenate(
                [_pooled(kept[:, None], pooling) for pooling in self.readout.poolings], 1, dtype=np.float32
            )
        kept.flags.writeable = False
        return kept

    @property
    def notes(self) -> Sequence[str]:
        """A sentence on how many words of the texts encoded since loading have no vector."""
        missing, unknown = self._missing, sum(self._missing.unknown.values())
        if not unknown:
            return ()
        shown = [*missing.with_signs] or [word for word, _ in missing.unknown.most_common(SHOWN_WORDS)]
        why = "; with the punctuation apart from them they had one" if missing.with_signs else ""
        listed = ", ".join(f"'{word[:LONGEST_SHOWN]}'" for word in shown[:SHOWN_WORDS])
        return (
            f"{self.file.path.name} has no vector for {unknown:,} of {missing.words:,} words of the texts and leaves "
            f"them out, such as {listed}{why}.",
        )

    def load(self) -> None:
        self._lookup  # noqa: B018 - cached
        self._missing.clear()

    def encode(self, texts: Sequence[str], cancel: CancelToken) -> Float32:
        lookup, matrix = self._lookup, self.file.table.matrix
        out = np.full((len(texts), matrix.shape[1] * len(self.readout.poolings)), np.nan, dtype=np.float32)
        for number, text in enumerate(texts):
            if number % TEXTS_PER_BATCH == 0:
                cancel.check()
            words = self._words(lookup, text)
            rows = [row for word in words if (row := self._row(lookup, word)) is not None]
            if 0 < len(rows) < len(words):
                self._count_missing(lookup, words)
            elif rows:
                self._missing.words += len(words)
            if self._is_pooled and rows:
                out[number] = np.concatenate([_pooled(matrix[rows], pooling) for pooling in self.readout.poolings])
            elif len(rows) == 1:
                out[number] = matrix[rows[0]]
            elif rows:
                out[number] = matrix[rows].mean(axis=0, dtype=np.float32 if self.lowercased else np.float64)
        return out

    def _count_missing(self, lookup: _Lookup, words: Sequence[str]) -> None:
        self._missing.words += len(words)
        for word in words:
            if self._row(lookup, word) is not None:
                continue
            self._missing.unknown[word] += 1
            bare = word.strip(PUNCTUATION)
            if bare and bare != word and self._row(lookup, bare) is not None:
                self._missing.with_signs[word] = None

    def token_parts(self, text: str) -> TokenParts | None:
        """See ``TokenVectors``: words without a vector get zeros; None if no word has one, or for another pooling."""
        if self._is_pooled:
            return None
        lookup, matrix = self._lookup, self.file.table.matrix
        words = self._words(lookup, text)
        rows = [self._row(lookup, word) for word in words]
        is_known = np.array([row is not None for row in rows], dtype=np.bool_)
        if not is_known.any():
            return None
        tokens = [
            Token(word, Role.UNKNOWN if row is None else Role.WORD) for word, row in zip(words, rows, strict=True)
        ]
        return mean_of(tokens, matrix[[row or 0 for row in rows]], is_known)

    def _words(self, lookup: _Lookup, text: str) -> list[str]:
        """What to look up for a text: all of it if that is an entry, else its words."""
        if self.lowercased:
            return text.lower().split()
        words = text.split()
        whole = " ".join(words)
        return [whole] if len(words) > 1 and self._row(lookup, whole) is not None else words

    def _row(self, lookup: _Lookup, word: str) -> int | None:
        row = lookup.exact.get(word)
        if row is not None or self.lowercased:
            return row
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
        return _Lookup(index, {word: row for word, row in first.items() if index.get(word) != row}, None)


def _pooled(vectors: Float32, pooling: Pooling) -> Float64:
    """``[..., d]`` of ``vectors [..., k, d]``; means are float64. The root of a negative number is negative."""
    if pooling in (Pooling.MAX, Pooling.MIN):
        return np.asarray(vectors.max(axis=-2) if pooling is Pooling.MAX else vectors.min(axis=-2), dtype=np.float64)
    power = POWERS.get(pooling, 1)
    mean = (vectors.astype(np.float64) ** power).mean(axis=-2)
    return np.asarray(np.sign(mean) * np.abs(mean) ** (1 / power))
