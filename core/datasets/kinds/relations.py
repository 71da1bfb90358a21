"""Datasets of relations between words: analogies, and categories (Schnabel 2015, section 3.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from blindspot.datasets.kinds.base import DatasetKind, WordDataset, names
from blindspot.errors import InputError
from blindspot.types import Bool, Int32, Int64


@dataclass(frozen=True, eq=False)
class Analogies(WordDataset):
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
    headings = ("a", "b", "c", "right")
    counted = "questions"
    stored_as = "analogy"
    item_columns = ("questions", "answers")
    row_columns = ("section_numbers",)

    @property
    def content_parts(self) -> list[str]:
        return self._parts([self.section_numbers, self.questions, self.answers], *self.sections, *self.groups)

    def _reduced(self, items: tuple[str, ...], support: Bool, rows: Int64, numbers: Int32) -> Analogies:
        own_words = int(np.count_nonzero(support[: self.own_words]))
        return replace(super()._reduced(items, support, rows, numbers), own_words=own_words)

    def nothing_left(self, covered: int, whose: str) -> InputError:  # noqa: ARG002
        return InputError(
            f"no question of '{self.id}' is left: none has vectors of all its four words from {whose}",
            expected="an encoder that knows the words of the questions",
        )

    def rows(self, start: int, stop: int) -> Sequence[tuple[str, ...]]:
        """The three words of a question and the right one."""
        four = np.column_stack([self.questions, self.answers])[start:stop]
        return [tuple(self.items[i] for i in row) for row in four]

    def stored_rows(self) -> dict[str, Any]:
        return {
            "item_no": np.arange(len(self.answers), dtype=np.int32),
            "section": names(self.sections, self.section_numbers),
            **{name: self.questions[:, place] for place, name in enumerate(("a_no", "b_no", "c_no"))},
            "d_no": self.answers,
        }


@dataclass(frozen=True, eq=False)
class Categories(WordDataset):
    """Words with their human-assigned classes; ``items`` are the distinct words.

    Attributes:
        classes: their names.
        members: ``[r] int32``, index into ``items`` of the word of each row; a word in several classes has a row for
            each of them.
        class_numbers: ``[r] int32``, index into ``classes`` of each row's class. Rows are distinct.
    """

    classes: tuple[str, ...]
    members: Int32
    class_numbers: Int32

    kind = DatasetKind.CATEGORIES
    headings = ("word", "class")
    stored_as = "category"

    @property
    def content_parts(self) -> list[str]:
        return self._parts([self.members, self.class_numbers], *self.classes)

    @cached_property
    def membership(self) -> Bool:
        """Whether a word is in a class, ``[n, classes] bool``."""
        out = np.zeros((len(self.items), len(self.classes)), dtype=np.bool_)
        out[self.members, self.class_numbers] = True
        return out

    def _reduced(self, items: tuple[str, ...], support: Bool, rows: Int64, numbers: Int32) -> Categories:  # noqa: ARG002
        """A class that has none of the words is left out."""
        kept = support[self.members]
        left, class_numbers = np.unique(self.class_numbers[kept], return_inverse=True)
        classes = tuple(self.classes[i] for i in left)
        return Categories(self.id, items, classes, numbers[self.members[kept]], class_numbers.astype(np.int32))

    def rows(self, start: int, stop: int) -> Sequence[tuple[str, str]]:
        """A word and one of its classes."""
        members = zip(self.members[start:stop], self.class_numbers[start:stop], strict=True)
        return [(self.items[word], self.classes[number]) for word, number in members]

    def stored_rows(self) -> dict[str, Any]:
        return {"item_no": self.members, "class": names(self.classes, self.class_numbers)}
