"""Labelled texts: what a transfer task is made of (Wang 2022, section 5.1; Conneau and Kiela 2018, SentEval)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from core.datasets.kinds.base import Dataset, DatasetKind, Part
from core.texts import same_text
from core.types import Bool, Int8, Int32, Int64, digest_of_strings

TRAIN, DEV, TEST = 0, 1, 2
UNSPLIT = -1  # of examples of a task that prescribes no split
SPLITS = ("train", "dev", "test")


def same_examples(firsts: Iterable[str], seconds: Iterable[str] | None = None) -> Int64:
    """A number per example, ``[m] int64``, in order of appearance: examples that say the same share it.

    These are examples whose texts are the same by ``same_text``. Of two texts it does not matter which comes first: the
    features |u - v| and u * v do not tell either.
    """
    columns = [[same_text(text) for text in column] for column in (firsts, seconds) if column is not None]
    number: dict[tuple[str, ...], int] = {}
    rows = (tuple(sorted(row)) for row in zip(*columns, strict=True))
    return np.array([number.setdefault(row, len(number)) for row in rows], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class LabelledTexts(Dataset):
    """Examples of classes: a text each, or two.

    Attributes:
        classes: their names.
        firsts: ``[m] int32``, index into ``items`` of each example's text.
        seconds: ``[m] int32``, of its second text; ``[0]`` where examples are single texts.
        labels: ``[m] int32``, index into ``classes``.
        splits: ``[m] int8``, ``TRAIN``, ``DEV`` or ``TEST``; ``UNSPLIT`` for all of a task that prescribes no split.
    """

    classes: tuple[str, ...]
    firsts: Int32
    seconds: Int32
    labels: Int32
    splits: Int8

    kind = DatasetKind.LABELLED_TEXTS

    @property
    def has_pairs(self) -> bool:
        """Whether an example is two texts."""
        return len(self.seconds) > 0

    @property
    def is_split(self) -> bool:
        """Whether the task says what is trained and what is tested on."""
        return bool(len(self.splits)) and int(self.splits[0]) != UNSPLIT

    @cached_property
    def content_digest(self) -> str:
        """Digest of the texts, their order, the classes, and the examples with their labels and splits."""
        columns = (self.firsts, self.seconds, self.labels, self.splits)
        examples = hashlib.sha256(b"".join(np.ascontiguousarray(c).tobytes() for c in columns)).hexdigest()
        return digest_of_strings([self.kind, self.texts_digest, *self.classes, examples])

    @cached_property
    def same(self) -> Int64:
        """A number per example, ``[m] int64``: examples that say the same (``same_examples``) share it."""
        firsts, seconds = ([self.items[i] for i in column.tolist()] for column in (self.firsts, self.seconds))
        return same_examples(firsts, seconds if self.has_pairs else None)

    @cached_property
    def texts(self) -> tuple[Int64, Int64]:
        """Numbers of each example's texts, ``[m] int64`` twice: texts that are the same (``same_text``) share one; of
        single texts both are that text's."""
        of_items = same_examples(self.items)
        first = of_items[self.firsts]
        return first, of_items[self.seconds] if self.has_pairs else first

    @cached_property
    def overlaps(self) -> Bool:
        """Whether an example that is tested stands elsewhere too, ``[m] bool``: in the training part where there is a
        prescribed split (so never True outside of the test part), else anywhere else in the dataset."""
        if self.is_split:
            return np.asarray((self.splits == TEST) & np.isin(self.same, self.same[self.splits == TRAIN]))
        return np.asarray(np.bincount(self.same)[self.same] > 1)


@dataclass(frozen=True, eq=False)
class CoveredExamples(Part):
    """The part of labelled texts whose texts all have a vector.

    Attributes:
        examples: ``[k] int64``, the numbers that its examples have in the whole.
    """

    dataset: LabelledTexts
    examples: Int64

    @classmethod
    def of(cls, whole: LabelledTexts, support: Bool) -> CoveredExamples:
        """Leave out the items outside of ``support``, ``[n] bool``, and the examples that touch them."""
        items = np.flatnonzero(support)
        kept = support[whole.firsts] & (support[whole.seconds] if whole.has_pairs else True)
        examples = np.flatnonzero(kept)
        if len(items) == len(whole.items):
            return cls(whole, items, support, examples)
        numbers = np.cumsum(support, dtype=np.int32) - np.int32(1)
        part = LabelledTexts(
            whole.id,
            tuple(whole.items[i] for i in items),
            whole.classes,
            numbers[whole.firsts[examples]],
            numbers[whole.seconds[examples]] if whole.has_pairs else whole.seconds,
            whole.labels[examples],
            whole.splits[examples],
        )
        return cls(part, items, support, examples)
