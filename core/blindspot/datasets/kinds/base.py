"""Base of all kinds of datasets, and the part of a dataset that an encoder covers."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, ClassVar, Self
from unicodedata import normalize

import numpy as np
import pyarrow as pa

from blindspot.datasets.kinds.own_columns import OwnColumn
from blindspot.errors import InputError
from blindspot.texts import are_words, listed, numbered
from blindspot.types import Bool, Int32, Int64, digest_of_strings

Numbers = np.ndarray[Any, np.dtype[np.number[Any]]]


class DatasetKind(StrEnum):
    """The kind of a dataset's rows."""

    PAIR_SET = "pair set"
    MINIMAL_PAIR_SET = "minimal-pair set"
    SCORED_PAIRS = "set of scored pairs"
    VOCABULARY = "vocabulary with frequencies"
    ANALOGIES = "set of analogies"
    CATEGORIES = "set of categories"
    OUTLIERS = "set of groups with outliers"
    EVENTS = "set of events"
    LABELED_TEXTS = "set of labelled texts"
    PROBING = "probing task"
    RETRIEVAL = "retrieval set"
    CHUNKED = "set of chunked sentences"

    @property
    def in_words(self) -> str:
        """The kind in words for people; its value is in digests and addresses, so its spelling stays."""
        return self.value.replace("labelled", "labeled")


def any_of(kinds: Iterable[DatasetKind]) -> str:
    """``a pair set, minimal-pair set or retrieval set``."""
    return f"a {listed(list(dict.fromkeys(kind.in_words for kind in kinds)), 'or')}"


def _one_form(text: str) -> str:
    return normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n"))


@dataclass(frozen=True)
class Rows:
    """Rows of a dataset for a table: headings, and a cell per heading in each row."""

    headings: tuple[str, ...]
    cells: tuple[tuple[object, ...], ...]


@dataclass(frozen=True, eq=False)
class Part:
    """The part of a dataset in which all items have a vector.

    Attributes:
        dataset: the part, of the same kind, with its items renumbered; the whole dataset if nothing is left out.
        items: ``[k] int64``, the numbers that its items have in the whole dataset.
        covered: ``[n] bool``, for each item of the whole dataset whether the part has it.
        rows: ``[r] int64``, the numbers that its rows (pairs, questions, examples, words) have in the whole dataset.
    """

    dataset: Any
    items: Int64
    covered: Bool
    rows: Int64

    @property
    def digest(self) -> str:
        """Digest of the included items; "" for all."""
        return "" if self.covered.all() else hashlib.sha256(np.packbits(self.covered).tobytes()).hexdigest()[:16]


@dataclass(frozen=True, eq=False)
class Dataset(ABC):
    """A dataset of any kind.

    A kind declares here everything that the rest of the project knows about it; ``KINDS`` lists all kinds.

    Attributes:
        id: dataset id.
        items: the ``n`` distinct texts; everything else refers to them by number.
        own_columns: further columns of its file, an entry per row; not part of the content, since no diagnostic reads
            them.

        lacks: what is wrong if no row is left, and what is expected (``nothing_left``).
        headings: of ``rows``.
        counted: name of its rows in the coverage of a run ("pairs"); "" if they are its items.
        stored_as: its rows are in the store's table ``dataset_<stored_as>``; "" if none are kept.
        has_parts: whether items without a vector can be left out.
        item_columns: names of its arrays of item numbers, with an entry per row or (if rows may lack it) empty.
        row_columns: names of its other arrays with an entry per row.
        by_rows: whether the rows of a run's results are of its own rows.
    """

    id: str
    items: tuple[str, ...]
    own_columns: tuple[OwnColumn, ...] = field(default=(), kw_only=True)

    kind: ClassVar[DatasetKind]
    lacks: ClassVar[tuple[str, str]] = (
        "none of the {items:,} words of '{id}' has a vector from {whose}",
        "an encoder that knows the words of this {}",
    )
    headings: ClassVar[tuple[str, ...]]
    counted: ClassVar[str] = ""
    stored_as: ClassVar[str] = ""
    has_parts: ClassVar[bool] = True
    item_columns: ClassVar[tuple[str, ...]] = ()
    row_columns: ClassVar[tuple[str, ...]] = ()
    by_rows: ClassVar[bool] = True

    @cached_property
    def texts_digest(self) -> str:
        """Digest of the texts and their order: datasets that share it share their embeddings."""
        return digest_of_strings(self.items)

    @cached_property
    def same_texts(self) -> Int64:
        """A number per item, ``[n]``: items that differ only in case or white space share it (``texts.numbered``)."""
        return numbered(self.items)[0]

    @property
    def whole(self) -> Dataset:
        """The dataset without cuts into passages."""
        return self

    @property
    def groupings(self) -> tuple[OwnColumn, ...]:
        """What groups its rows: its classes, if it has any, and its own columns."""
        return self.own_columns

    @property
    def encoded(self) -> tuple[str, ...]:
        """The texts that a model encodes: the items, unless they are cut."""
        return self.items

    @property
    def encoded_digest(self) -> str:
        """Digest of ``encoded``, or of what decides it."""
        return self.texts_digest

    @cached_property
    def of_words(self) -> bool:
        """Whether its items are words, where frequency matters, rather than sentences, where length does."""
        return are_words(self.items)

    @property
    @abstractmethod
    def content_parts(self) -> list[str]:
        """All that decides a diagnostic's numbers: the kind, the digest of the texts, then names and digests. Result
        packs have them too, so that a recipient of texts can check that they belong to a ``content_digest``."""

    @cached_property
    def content_digest(self) -> str:
        """Digest of all that decides a diagnostic's numbers."""
        return digest_of_strings(self.content_parts)

    @cached_property
    def form_digest(self) -> str:
        """As ``content_digest``, but the same for any line ends and any Unicode form of the texts: golden sets are
        recognized by it."""
        texts = digest_of_strings(_one_form(text) for text in self.items)
        return digest_of_strings([texts if part == self.texts_digest else part for part in self.form_parts])

    @property
    def form_parts(self) -> list[str]:
        """``content_parts`` without the name of the file."""
        return self.content_parts

    def rows_in_any_order(self) -> Iterable[Sequence[object]]:
        """The content without order and numbers: rows as texts, and texts that are in no row. Empty if this does not
        determine the scores."""
        return ()

    @cached_property
    def rows_digest(self) -> str:
        """As ``form_digest``, but the same for any order of rows; "" for kinds that have no ``rows_in_any_order``."""
        rows = sorted(digest_of_strings(_one_form(str(cell)) for cell in row) for row in self.rows_in_any_order())
        return digest_of_strings([self.kind, *rows]) if rows else ""

    def _parts(self, arrays: Iterable[Numbers], *names: str) -> list[str]:
        """The kind, the texts and their order, names, and arrays."""
        numbers = hashlib.sha256(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)).hexdigest()
        return [self.kind, self.texts_digest, *names, numbers]

    # --- coverage by an encoder

    def part(self, covered: Bool) -> Part:
        """Leave out the items outside of ``covered``, ``[n] bool``, and the rows that contain them."""
        items, rows = np.flatnonzero(covered), np.flatnonzero(self._complete(covered))
        if len(items) == len(self.items):
            return Part(self, items, covered, rows)
        numbers = np.cumsum(covered, dtype=np.int32) - np.int32(1)
        return Part(self._reduced(tuple(self.items[i] for i in items), covered, rows, numbers), items, covered, rows)

    def coverage(self, covered: Bool) -> dict[str, int]:
        """How many rows and items there are, and how many are inside ``covered``, ``[n] bool``."""
        rows = self._complete(covered)
        counts = {self.counted: len(rows), f"{self.counted}_covered": int(np.count_nonzero(rows))}
        items = {"items": len(covered), "items_covered": int(np.count_nonzero(covered))}
        return (counts if self.counted else {}) | items

    def nothing_left(self, covered: int, whose: str) -> InputError:
        """The error if no row is left: ``covered`` items have a vector from ``whose`` encoder."""
        what, expected = self.lacks
        facts = {"id": self.id, "covered": covered, "items": len(self.items), "whose": whose}
        return InputError(what.format_map(facts), expected=expected.format(self.kind.in_words))

    def _complete(self, covered: Bool) -> Bool:
        """Which rows have all their items inside ``covered``, ``[m] bool``."""
        columns = [getattr(self, name) for name in self.item_columns]
        if not columns:
            return covered
        complete = np.ones(len(columns[0]), dtype=np.bool_)
        for column in columns:
            if len(column):
                complete &= covered[column].reshape(len(column), -1).all(axis=1)
        return complete

    def _reduced(self, items: tuple[str, ...], covered: Bool, rows: Int64, numbers: Int32) -> Self:  # noqa: ARG002
        """Only these items and rows; ``numbers [n]`` has the new number of every item that stays."""
        if not self.has_parts:
            raise TypeError(f"a {self.kind} has no parts")
        columns = {name: getattr(self, name) for name in (*self.item_columns, *self.row_columns)}
        kept: dict[str, Any] = {name: column[rows] if len(column) else column for name, column in columns.items()}
        own_columns = tuple(column.part(rows) for column in self.own_columns)
        return replace(
            self,
            items=items,
            own_columns=own_columns,
            **kept | {name: numbers[kept[name]] for name in self.item_columns},
        )

    # --- its rows

    @abstractmethod
    def rows(self, start: int, stop: int) -> Sequence[tuple[object, ...]]:
        """The rows from ``start`` to before ``stop``, or fewer at the end: a cell per heading."""

    def first_rows(self, n: int) -> Rows:
        """The first ``n`` rows, or all if there are fewer."""
        return Rows(self.headings, tuple(self.rows(0, n)))

    def stored_rows(self) -> dict[str, Any]:
        """Its rows for the store: arrays by the names of the table's columns."""
        return {}

    def related(self, item: int) -> dict[int, str]:  # noqa: ARG002 - of kinds that say it
        """Relations of other items to this one, by their numbers: its matches, or an original's rewrites.

        Pairs of an item with itself are left out, since it is not its own neighbor.
        """
        return {}

    @property
    def asking(self) -> Int64:
        """``[q] int64``, ascending: numbers of the items that ask for others (queries, originals); empty in most kinds.

        Models with a prompt for queries put it before these items if a diagnostic's texts have roles.
        """
        return np.empty(0, dtype=np.int64)

    @property
    def candidates(self) -> Int64:
        """``[c] int64``, ascending: numbers of the items that can be found for a query; all in most kinds."""
        return np.arange(len(self.items), dtype=np.int64)

    @cached_property
    def asked(self) -> frozenset[str]:
        """The texts that ask."""
        return frozenset(self.items[number] for number in self.asking.tolist())

    def rows_as_queries(self, numbers: Int32, vectors: int) -> Int32:
        """Rows of items that ask, in a matrix of so many vectors: after the rows of all items if texts are encoded by
        role (``blindspot.runs.inputs.roles``), else the items' own rows."""
        if vectors == len(self.items):
            return numbers
        return (len(self.items) + np.searchsorted(self.asking, numbers)).astype(np.int32)

    @classmethod
    def size(cls, rows: int, subsets: int, texts: int) -> str:  # noqa: ARG003 - of minimal pairs
        """Counts for people.

        Args:
            rows: pairs, originals, words or examples.
            subsets: rewrites of each original; ignored for other kinds.
            texts: distinct texts.
        """
        return f"{rows:,} {cls.counted or 'words'}, {texts:,} texts"


class WordDataset(Dataset):
    """A kind whose items are words, even if some are phrases."""

    @cached_property
    def of_words(self) -> bool:
        return True


def names(all_names: Sequence[str], numbers: Int32) -> pa.Array:
    """A column of names by their numbers, ``[m] int32``, for the store."""
    return pa.array([all_names[number] for number in numbers.tolist()], pa.string())
