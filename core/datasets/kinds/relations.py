"""Datasets of relations between words: analogies, and categories (Schnabel 2015, section 3.1)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from core.datasets.kinds.base import Dataset, DatasetKind, Part
from core.types import Bool, Int32, Int64, digest_of_strings


@dataclass(frozen=True, eq=False)
class Analogies(Dataset):
    """Questions of the form "a is to b as c is to what?" (Mikolov et al. 2013), in named sections.

    ``items`` are the candidates: the words of the questions, then others that an answer has to beat.

    Attributes:
        sections: their names.
        groups: per section the larger group that it belongs to, ``semantic`` or ``syntactic``; "" for none.
        section_numbers: ``[m] int32``, index into ``sections`` of each question's section.
        questions: ``[m, 3] int32``, index into ``items`` of a, b and c.
        answers: ``[m] int32``, index into ``items`` of the right word; never one of the question's own.
        own_words: how many of the items, the first ones, are words of the questions.
    """

    sections: tuple[str, ...]
    groups: tuple[str, ...]
    section_numbers: Int32
    questions: Int32
    answers: Int32
    own_words: int

    kind = DatasetKind.ANALOGIES

    @cached_property
    def content_digest(self) -> str:
        """Digest of the candidates, their order, the sections and the questions with their answers."""
        columns = (self.section_numbers, self.questions, self.answers)
        questions = hashlib.sha256(b"".join(np.ascontiguousarray(c).tobytes() for c in columns)).hexdigest()
        return digest_of_strings([self.kind, self.texts_digest, *self.sections, *self.groups, questions])


@dataclass(frozen=True, eq=False)
class Categories(Dataset):
    """Words and the classes that people put them in; ``items`` are the distinct words.

    Attributes:
        classes: their names.
        members: ``[r] int32``, index into ``items`` of the word of each row; a word in several classes has a row for
            each of them.
        class_numbers: ``[r] int32``, index into ``classes`` of each row's class. No row stands twice.
    """

    classes: tuple[str, ...]
    members: Int32
    class_numbers: Int32

    kind = DatasetKind.CATEGORIES

    @cached_property
    def content_digest(self) -> str:
        """Digest of the words, their order, the classes and who is in them."""
        rows = hashlib.sha256(self.members.tobytes() + self.class_numbers.tobytes()).hexdigest()
        return digest_of_strings([self.kind, self.texts_digest, *self.classes, rows])

    @cached_property
    def membership(self) -> Bool:
        """Whether a word is in a class, ``[n, classes] bool``."""
        out = np.zeros((len(self.items), len(self.classes)), dtype=np.bool_)
        out[self.members, self.class_numbers] = True
        return out


@dataclass(frozen=True, eq=False)
class CoveredAnalogies(Part):
    """The part of a set of analogies whose words all have a vector.

    Attributes:
        questions: ``[k] int64``, the numbers that its questions have in the whole.
    """

    dataset: Analogies
    questions: Int64

    @classmethod
    def of(cls, whole: Analogies, support: Bool) -> CoveredAnalogies:
        """Leave out the candidates outside of ``support``, ``[n] bool``, and the questions that touch them."""
        items = np.flatnonzero(support)
        kept = np.flatnonzero(support[whole.questions].all(axis=1) & support[whole.answers])
        if len(items) == len(whole.items):
            return cls(whole, items, support, kept)
        numbers = np.cumsum(support, dtype=np.int32) - np.int32(1)
        part = Analogies(
            whole.id,
            tuple(whole.items[i] for i in items),
            whole.sections,
            whole.groups,
            whole.section_numbers[kept],
            numbers[whole.questions[kept]],
            numbers[whole.answers[kept]],
            int(np.count_nonzero(support[: whole.own_words])),
        )
        return cls(part, items, support, kept)


@dataclass(frozen=True, eq=False)
class CoveredCategories(Part):
    """The part of a set of categories whose words have a vector; a class that has none of them is left out."""

    dataset: Categories

    @classmethod
    def of(cls, whole: Categories, support: Bool) -> CoveredCategories:
        """Leave out the words outside of ``support``, ``[n] bool``."""
        items = np.flatnonzero(support)
        if len(items) == len(whole.items):
            return cls(whole, items, support)
        numbers = np.cumsum(support, dtype=np.int32) - np.int32(1)
        rows = support[whole.members]
        left, class_numbers = np.unique(whole.class_numbers[rows], return_inverse=True)
        part = Categories(
            whole.id,
            tuple(whole.items[i] for i in items),
            tuple(whole.classes[i] for i in left),
            numbers[whole.members[rows]],
            class_numbers.astype(np.int32),
        )
        return cls(part, items, support)
