"""A user's own file (``file:PATH``): pairs (positive, minimal or scored), words with counts or labelled texts, as its
header tells."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from core.datasets.kinds.base import DatasetKind
from core.datasets.own import columns as own_columns
from core.datasets.own import labelled_texts as own_labelled
from core.datasets.own import minimal_pairs as own_minimal
from core.datasets.own import pairs as own_pairs
from core.datasets.own import reference as own_reference
from core.datasets.own import scored_pairs as own_scored
from core.datasets.own import vocabulary as own_vocabulary
from core.datasets.own.columns import ColumnReading, OwnFile
from core.datasets.own.labelled_texts import LabelledColumns, OwnLabelledTexts
from core.datasets.own.minimal_pairs import OwnMinimalPairs
from core.datasets.own.pairs import OwnPairs
from core.datasets.own.reference import PREFIX, NamedColumns, OwnReference, is_own, path_of
from core.datasets.own.scored_pairs import OwnScoredPairs
from core.datasets.own.vocabulary import OwnVocabulary
from core.datasets.published import minimal_pairs
from core.files import tables as own_files
from core.files.tables import FileFormat, FileTable

__all__ = ["PREFIX", "OwnTable", "find", "is_own", "parse", "path_of", "read", "tabulate"]


@dataclass(frozen=True)
class OwnTable:
    """A file whose columns are known and whose texts are not yet."""

    path: Path
    format: FileFormat
    sha256: str
    table: FileTable

    @property
    def names(self) -> tuple[str, ...]:
        return self.table.names

    @property
    def separator(self) -> str:
        """Between the cells of a .csv or .tsv; "" elsewhere."""
        return self.table.separator

    @cached_property
    def kind(self) -> DatasetKind:
        """What the header says that it holds; minimal pairs where it could be any, labelled texts as ``own_labelled``
        says, scored pairs where there is a score beside two texts, words with counts only where its names do not say
        pairs. Looked up once: it may have to look into the cells."""
        if own_minimal.is_told(self.table):
            return DatasetKind.MINIMAL_PAIR_SET
        if own_labelled.is_told(self.table):
            return DatasetKind.LABELLED_TEXTS
        if own_scored.is_told(self.table):
            return DatasetKind.SCORED_PAIRS
        is_vocabulary = own_vocabulary.is_told(self.table) and own_pairs.known_columns(self.table) is None
        return DatasetKind.VOCABULARY if is_vocabulary else DatasetKind.PAIR_SET

    @property
    def minimal_columns(self) -> dict[str, int]:
        """Per role of minimal pairs the number of the column whose name alone says that it is it."""
        return own_minimal.named_columns(self.table)

    def readings(self, columns: tuple[str, str] | None = None) -> tuple[ColumnReading, ...]:
        """How every column is read as positive pairs; see ``own_pairs.read_columns``."""
        return own_pairs.read_columns(self.path, self.table, columns)

    def pairs(self, columns: tuple[str, str] | None = None) -> OwnPairs:
        """The pairs in two columns.

        Args:
            columns: the names of the query's and the mate's column, where they are known; guessed if left out.

        Raises:
            InputError: what is wrong with the columns or with a row, which is named.
        """
        readings = self.readings(columns)
        pairs = own_pairs.read_pairs(self.path, self.table, readings)
        return OwnPairs(self.path, self.format, self.separator, self.sha256, readings, pairs)

    def vocabulary_readings(self, columns: tuple[str, str] | None = None) -> tuple[ColumnReading, ...]:
        """How every column is read as words with counts; see ``own_vocabulary.read_columns``."""
        return own_vocabulary.read_columns(self.path, self.table, columns)

    def vocabulary(self, columns: tuple[str, str] | None = None) -> OwnVocabulary:
        """The words and counts in two columns.

        Args:
            columns: the names of the word's and the count's column, where they are known; by their names if left out.

        Raises:
            InputError: what is wrong with the columns or with a row, which is named.
        """
        readings = self.vocabulary_readings(columns)
        words, counts = own_vocabulary.read_words(self.path, self.table, readings)
        return OwnVocabulary(self.path, self.format, self.separator, self.sha256, readings, tuple(words), tuple(counts))

    def scored_readings(self, columns: tuple[str, str, str] | None = None) -> tuple[ColumnReading, ...]:
        """How every column is read as scored pairs; see ``own_scored.read_columns``."""
        return own_scored.read_columns(self.path, self.table, columns)

    def scored_pairs(self, columns: tuple[str, str, str] | None = None) -> OwnScoredPairs:
        """The scored pairs in three columns.

        Args:
            columns: the names of the two texts' and the score's column, where they are known; guessed if left out.

        Raises:
            InputError: what is wrong with the columns or with a row, which is named.
        """
        readings = self.scored_readings(columns)
        pairs = own_scored.read_pairs(self.path, self.table, readings)
        return OwnScoredPairs(self.path, self.format, self.separator, self.sha256, readings, pairs)

    def labelled_readings(self, columns: LabelledColumns | None = None) -> tuple[ColumnReading, ...]:
        """How every column is read as labelled texts; see ``own_labelled.read_columns``."""
        return own_labelled.read_columns(self.path, self.table, columns)

    def labelled_texts(self, columns: LabelledColumns | None = None) -> OwnLabelledTexts:
        """The labelled texts in some columns.

        Args:
            columns: where they are known; told by the header if left out.

        Raises:
            InputError: what is wrong with the columns, with a row, which is named, or with the classes or the split.
        """
        readings = self.labelled_readings(columns)
        examples = own_labelled.read_examples(self.path, self.table, readings)
        return OwnLabelledTexts(self.path, self.format, self.separator, self.sha256, readings, examples)

    def minimal_readings(self, columns: Mapping[str, int] | None = None) -> tuple[ColumnReading, ...]:
        """How every column is read as minimal pairs; see ``own_minimal.read_columns``."""
        return own_minimal.read_columns(self.path, self.table, columns) if columns else self._minimal_guess

    @cached_property
    def _minimal_guess(self) -> tuple[ColumnReading, ...]:
        """Made once: it may have to look into the sentences."""
        return own_minimal.read_columns(self.path, self.table, None)

    def minimal_pairs(self, columns: Mapping[str, int] | None = None) -> OwnMinimalPairs:
        """The minimal pairs in the columns of an original and its rewrites.

        Args:
            columns: per role (``original`` and subsets) the number of its column, where they are known; guessed if
                left out.

        Raises:
            InputError: what is wrong with the columns or with a row, which is named.
        """
        readings = self.minimal_readings(columns)
        texts = own_minimal.read_texts(self.path, self.table, readings)
        originals = texts.pop(minimal_pairs.ORIGINAL)
        known = own_pairs.known_columns(self.table)
        could_be = () if known is None else tuple(self.names[number] for number in known)
        facts = (self.path, self.format, self.separator, self.sha256, readings)
        return OwnMinimalPairs(*facts, originals, texts, could_be)

    def contents(self, columns: NamedColumns | None = None) -> OwnFile:
        """What the file holds.

        Args:
            columns: as somebody named them; by the header if left out.

        Raises:
            InputError: as ``pairs``, ``minimal_pairs``, ``scored_pairs``, ``vocabulary`` or ``labelled_texts``.
        """
        if columns is not None:
            return self._named(columns)
        if self.kind is DatasetKind.LABELLED_TEXTS:
            return self.labelled_texts()
        if self.kind is DatasetKind.SCORED_PAIRS:
            return self.scored_pairs()
        if self.kind is DatasetKind.VOCABULARY:
            return self.vocabulary()
        return self.minimal_pairs() if self.kind is DatasetKind.MINIMAL_PAIR_SET else self.pairs()

    def _named(self, columns: NamedColumns) -> OwnFile:
        own_columns.require(self.path, self.table, [name for _, name in columns.named])
        match columns.kind, [name for _, name in columns.named]:
            case DatasetKind.PAIR_SET, [query, mate]:
                return self.pairs((query, mate))
            case DatasetKind.SCORED_PAIRS, [text1, text2, score]:
                return self.scored_pairs((text1, text2, score))
            case DatasetKind.VOCABULARY, [word, count]:
                return self.vocabulary((word, count))
            case DatasetKind.MINIMAL_PAIR_SET, [original, *rewrites]:
                return self.minimal_pairs(own_minimal.roles(self.path, self.table, original, rewrites))
            case DatasetKind.LABELLED_TEXTS, [text, *_]:
                label = columns.of_role(own_reference.LABEL) or ""
                second, split = columns.of_role(own_reference.TEXT2), columns.of_role(own_reference.SPLIT)
                return self.labelled_texts(LabelledColumns(text, label, second, split))
        raise TypeError(f"no {columns.kind} has the columns {columns}")


def read(path: Path, columns: NamedColumns | None = None) -> OwnFile:
    """What a file holds, and how its columns were read.

    Args:
        path: absolute; see ``tabulate``.
        columns: as in ``OwnTable.contents``.

    Raises:
        InputError: what is wrong with the file, in one line.
    """
    return tabulate(path, own_files.read_bytes(path)).contents(columns)


def parse(path: Path, data: bytes) -> OwnFile:
    """What a file's bytes hold: ``tabulate``, then ``OwnTable.contents``."""
    return tabulate(path, data).contents()


def tabulate(path: Path, data: bytes, header: bool = True) -> OwnTable:
    """The columns in a file's bytes.

    Args:
        path, data, header: as in ``own_files.tabulate``.

    Raises:
        InputError: what is wrong with the file, in one line.
    """
    table = own_files.tabulate(path, data, header)
    return OwnTable(path, own_files.format_of(path), hashlib.sha256(data).hexdigest(), table)


def find(reference: str) -> OwnFile:
    """What a ``file:`` reference names; read once for as long as the file stays as it is.

    Raises:
        InputError: as ``OwnReference.parse`` and ``read``.
    """
    found = OwnReference.parse(reference)
    try:
        stat = found.path.stat()
    except (OSError, ValueError):
        return read(found.path)  # says what is wrong
    return _read_once(found, (stat.st_ino, stat.st_size, stat.st_mtime_ns))


@lru_cache(maxsize=2)
def _read_once(reference: OwnReference, _state: tuple[int, int, int]) -> OwnFile:
    return read(reference.path, reference.columns)
