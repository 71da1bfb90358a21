"""Labeled texts, the data of transfer tasks (Wang 2022, section 5.1; Conneau and Kiela 2018, SentEval)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from blindspot.datasets.kinds.base import Dataset, DatasetKind, Rows, names
from blindspot.datasets.kinds.own_columns import MOST_VALUES, OwnColumn
from blindspot.numerics.statistics.written import percent
from blindspot.texts import same_text
from blindspot.types import Bool, Int8, Int32, Int64

TRAIN, DEV, TEST = 0, 1, 2
UNSPLIT = -1  # for examples of a task that prescribes no split
SPLITS = ("train", "dev", "test")


def same_examples(firsts: Iterable[str], seconds: Iterable[str] | None = None) -> Int64:
    """A number per example, ``[m] int64``, in order of appearance: examples that say the same share it.

    Examples say the same if their texts are the same by ``same_text``. The order of two texts does not matter, since
    the features |u - v| and u * v do not depend on it.
    """
    columns = [[same_text(text) for text in column] for column in (firsts, seconds) if column is not None]
    number: dict[tuple[str, ...], int] = {}
    rows = (tuple(sorted(row)) for row in zip(*columns, strict=True))
    return np.array([number.setdefault(row, len(number)) for row in rows], dtype=np.int64)


@dataclass(frozen=True)
class LabeledRow:
    """An example: ``second`` is "" if it is a single text, ``split`` is "" if none is prescribed; ``elsewhere`` says
    where else the same text is ("in training", "elsewhere", or "")."""

    number: int
    label: str
    split: str
    first: str
    second: str
    elsewhere: str


@dataclass(frozen=True, eq=False)
class LabeledTexts(Dataset):
    """Examples of classes: each has one text or two.

    Attributes:
        classes: their names.
        firsts: ``[m] int32``, index into ``items`` of each example's text.
        seconds: ``[m] int32``, index of its second text; ``[0]`` if examples are single texts.
        labels: ``[m] int32``, index into ``classes``.
        splits: ``[m] int8``, ``TRAIN``, ``DEV`` or ``TEST``; ``UNSPLIT`` for all if the task prescribes no split.
    """

    classes: tuple[str, ...]
    firsts: Int32
    seconds: Int32
    labels: Int32
    splits: Int8

    kind = DatasetKind.LABELED_TEXTS
    headings = tuple(column.name for column in fields(LabeledRow))
    lacks = (
        "no example of '{id}' is left: none has a vector for its text from {whose}",
        "an encoder that knows the dataset's texts",
    )
    counted = "examples"
    stored_as = "labeled_text"
    item_columns = ("firsts", "seconds")
    row_columns = ("labels", "splits")

    @property
    def groupings(self) -> tuple[OwnColumn, ...]:
        if len(self.classes) > MOST_VALUES:
            return self.own_columns
        return (OwnColumn("label", self.classes, self.labels.astype(np.uint8)), *self.own_columns)

    @property
    def has_pairs(self) -> bool:
        """Whether an example is two texts."""
        return len(self.seconds) > 0

    @property
    def is_split(self) -> bool:
        """Whether the task says what is trained and what is tested on."""
        return bool(len(self.splits)) and int(self.splits[0]) != UNSPLIT

    @property
    def content_parts(self) -> list[str]:
        return self._parts([self.firsts, self.seconds, self.labels, self.splits], *self.classes)

    @cached_property
    def same(self) -> Int64:
        """A number per example, ``[m] int64``: examples that say the same (``same_examples``) share it."""
        firsts, seconds = ([self.items[i] for i in column.tolist()] for column in (self.firsts, self.seconds))
        return same_examples(firsts, seconds if self.has_pairs else None)

    @cached_property
    def texts(self) -> tuple[Int64, Int64]:
        """Numbers of each example's texts, ``[m] int64`` twice, as in ``same_texts``; the same twice for single
        texts."""
        first = self.same_texts[self.firsts]
        return first, self.same_texts[self.seconds] if self.has_pairs else first

    @cached_property
    def overlaps(self) -> Bool:
        """Whether each tested example also occurs elsewhere, ``[m] bool``: with a prescribed split, in the training
        part (so never True outside of the test part); otherwise anywhere else in the dataset."""
        if self.is_split:
            return np.asarray((self.splits == TEST) & np.isin(self.same, self.same[self.splits == TRAIN]))
        return np.asarray(np.bincount(self.same)[self.same] > 1)

    @cached_property
    def counts(self) -> LabeledCounts:
        """Counts of the dataset; takes a moment for 100,000 texts."""
        return LabeledCounts.of(self)

    def numbers(self, label: str = "", overlapping: bool = False) -> Int64:
        """Numbers of the examples to page through, ``[k] int64``.

        Args:
            label: only those of a class; "" for all.
            overlapping: only those that ``overlaps``.
        """
        kept = self.overlaps.copy() if overlapping else np.ones(len(self.labels), dtype=np.bool_)
        if label:
            kept &= self.labels == self.classes.index(label)
        return np.flatnonzero(kept)

    def examples(self, numbers: Iterable[int]) -> list[LabeledRow]:
        """The examples of these numbers."""
        where = "in training" if self.is_split else "elsewhere"
        return [
            LabeledRow(
                n,
                self.classes[self.labels[n]],
                "" if self.splits[n] == UNSPLIT else SPLITS[self.splits[n]],
                self.items[self.firsts[n]],
                self.items[self.seconds[n]] if self.has_pairs else "",
                where if self.overlaps[n] else "",
            )
            for n in (int(number) for number in numbers)
        ]

    def rows(self, start: int, stop: int) -> Sequence[tuple[object, ...]]:
        return [astuple(row) for row in self.examples(range(start, min(stop, len(self.labels))))]

    def first_rows(self, n: int) -> Rows:
        """As for any dataset, but without columns that are empty in these rows."""
        rows = self.rows(0, n)
        shown = [i for i in range(len(self.headings)) if any(row[i] != "" for row in rows)]
        return Rows(tuple(self.headings[i] for i in shown), tuple(tuple(row[i] for i in shown) for row in rows))

    def stored_rows(self) -> dict[str, Any]:
        m = len(self.labels)
        return {
            "item_no": np.arange(m, dtype=np.int32),
            "split": pa.array(["" if s == UNSPLIT else SPLITS[s] for s in self.splits.tolist()], pa.string()),
            "first_no": self.firsts,
            "second_no": pa.array(self.seconds) if self.has_pairs else pa.nulls(m, pa.int32()),
            "label": names(self.classes, self.labels),
        }

    @classmethod
    def size(cls, rows: int, subsets: int, texts: int) -> str:  # noqa: ARG003 - of minimal pairs
        return f"{rows:,} labeled examples, {texts:,} texts"


@dataclass(frozen=True)
class ClassCount:
    """A class and how many examples it has: in total, and in each part of a prescribed split (else 0)."""

    name: str
    examples: int
    train: int
    dev: int
    test: int


@dataclass(frozen=True)
class LabeledCounts:
    """Counts of a set of labeled texts; ``same_examples`` says which examples are the same.

    Attributes:
        examples: examples, repeated ones included.
        classes: in the dataset's order.
        texts: distinct items, character by character.
        repeated: examples that the dataset has more than once, each copy counted.
        contradictory: texts (or pairs of texts) with more than one label.
        tested: examples of a prescribed test part; 0 without one.
        leaked: tested examples that the training part has too.
    """

    examples: int
    classes: tuple[ClassCount, ...]
    texts: int
    repeated: int
    contradictory: int
    tested: int
    leaked: int

    @classmethod
    def of(cls, dataset: LabeledTexts) -> LabeledCounts:
        """Count; takes a moment for 100,000 texts."""
        labels, same, splits = dataset.labels, dataset.same, dataset.splits
        k = len(dataset.classes)
        parts = [np.bincount(labels[splits == part], minlength=k).tolist() for part in (TRAIN, DEV, TEST)]
        every = np.bincount(labels, minlength=k).tolist()
        pairs = np.unique(np.stack([same, labels.astype(np.int64)]), axis=1)
        return cls(
            examples=len(labels),
            classes=tuple(ClassCount(*row) for row in zip(dataset.classes, every, *parts, strict=True)),
            texts=len(dataset.items),
            repeated=int((np.bincount(same)[same] > 1).sum()),
            contradictory=int((np.bincount(pairs[0]) > 1).sum()),
            tested=int((splits == TEST).sum()),
            leaked=int(dataset.overlaps.sum()) if dataset.is_split else 0,
        )

    @property
    def is_split(self) -> bool:
        """Whether a split is prescribed."""
        return self.tested > 0

    @property
    def majority(self) -> ClassCount:
        """The class with the most examples to train on; the first one at a tie."""
        return max(self.classes, key=lambda c: c.train if self.is_split else c.examples)

    @property
    def baseline(self) -> float:
        """Share of the majority class in the test part (without a prescribed split, in all examples)."""
        most = self.majority
        return most.test / self.tested if self.is_split else most.examples / self.examples

    @property
    def by_class(self) -> list[dict[str, str | int | float]]:
        """A record per class: its examples, those in each part of the split that is not empty, its share of all."""
        parts = [part for part in ("train", "dev", "test") if any(getattr(c, part) for c in self.classes)]
        return [
            {
                "class": c.name,
                "examples": c.examples,
                **{part: getattr(c, part) for part in parts},
                "share": c.examples / self.examples,
            }
            for c in self.classes
        ]

    @property
    def caution(self) -> tuple[str, ...]:
        """Phrases on what inflates scores or makes a perfect one impossible."""
        out = []
        if self.leaked:
            share = self.leaked / self.tested
            out.append(f"test examples also in training: {self.leaked:,} of {self.tested:,} ({percent(share, 1)})")
        if self.repeated:
            share = self.repeated / self.examples
            out.append(f"repeated examples: {self.repeated:,} ({percent(share, 1)})")
        if self.contradictory:
            out.append(f"texts with more than one label: {self.contradictory:,}")
        return tuple(out)
