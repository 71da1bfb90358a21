"""Datasets of relations between words: analogies, categories, groups with outliers, and events (Schnabel 2015, 3.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from blindspot.datasets.kinds.base import DatasetKind, WordDataset, names
from blindspot.types import Bool, Int32, Int64


@dataclass(frozen=True, eq=False)
class Analogies(WordDataset):
    """Questions of the form "a is to b as c is to what?" (Mikolov et al. 2013), in named sections.

    ``items`` are the candidates: the words of the questions, then others that an answer has to beat.

    Attributes:
        sections: their names.
        groups: for each section, the larger group that it belongs to, ``semantic`` or ``syntactic``; "" for none.
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
    lacks = (
        "no question of '{id}' is left: none has vectors of all its four words from {whose}",
        "an encoder that knows the words of the questions",
    )
    counted = "questions"
    stored_as = "analogy"
    item_columns = ("questions", "answers")
    row_columns = ("section_numbers",)

    @property
    def content_parts(self) -> list[str]:
        return self._parts([self.section_numbers, self.questions, self.answers], *self.sections, *self.groups)

    def _reduced(self, items: tuple[str, ...], covered: Bool, rows: Int64, numbers: Int32) -> Analogies:
        own_words = int(np.count_nonzero(covered[: self.own_words]))
        return replace(super()._reduced(items, covered, rows, numbers), own_words=own_words)

    def rows(self, start: int, stop: int) -> Sequence[tuple[str, ...]]:
        """The three words of a question and the right one."""
        four = np.column_stack([self.questions, self.answers])[start:stop]
        return [tuple(self.items[i] for i in row) for row in four]

    def stored_rows(self) -> dict[str, Any]:
        return {
            "item_no": np.arange(len(self.answers), dtype=np.int32),
            "section": names(self.sections, self.section_numbers),
            **{name: self.questions[:, column] for column, name in enumerate(("a_no", "b_no", "c_no"))},
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

    def _reduced(self, items: tuple[str, ...], covered: Bool, rows: Int64, numbers: Int32) -> Categories:  # noqa: ARG002
        """Classes without any of the words are left out."""
        kept = covered[self.members]
        left, class_numbers = np.unique(self.class_numbers[kept], return_inverse=True)
        classes = tuple(self.classes[i] for i in left)
        return Categories(self.id, items, classes, numbers[self.members[kept]], class_numbers.astype(np.int32))

    def rows(self, start: int, stop: int) -> Sequence[tuple[str, str]]:
        """A word and one of its classes."""
        members = zip(self.members[start:stop], self.class_numbers[start:stop], strict=True)
        return [(self.items[word], self.classes[number]) for word, number in members]

    def stored_rows(self) -> dict[str, Any]:
        return {"item_no": self.members, "class": names(self.classes, self.class_numbers)}


@dataclass(frozen=True, eq=False)
class Outliers(WordDataset):
    """Groups of words that belong together, each with words that do not (Camacho-Collados and Navigli 2016).

    A case is a group with one of its outliers.

    Attributes:
        groups: their names.
        group_numbers: ``[m] int32``, index into ``groups`` of each case's group.
        members: ``[m, k] int32``, index into ``items`` of the words of its group; padded with -1.
        outliers: ``[m] int32``, index into ``items`` of the word that does not belong; never a word of the group.
    """

    groups: tuple[str, ...]
    group_numbers: Int32
    members: Int32
    outliers: Int32

    kind = DatasetKind.OUTLIERS
    headings = ("group", "outlier", "words")
    lacks = (
        "no case of '{id}' is left: in none do the outlier and the group's words all have vectors from {whose}",
        "an encoder that knows the words of the groups",
    )
    counted = "cases"
    stored_as = "outlier"
    item_columns = ("outliers",)
    row_columns = ("group_numbers", "members")

    @property
    def content_parts(self) -> list[str]:
        return self._parts([self.group_numbers, self.members, self.outliers], *self.groups)

    def _complete(self, covered: Bool) -> Bool:
        whole = (covered[self.members] | (self.members < 0)).all(axis=1)
        return np.asarray(super()._complete(covered) & whole)

    def _reduced(self, items: tuple[str, ...], covered: Bool, rows: Int64, numbers: Int32) -> Outliers:
        kept = super()._reduced(items, covered, rows, numbers)
        return replace(kept, members=np.where(kept.members < 0, np.int32(-1), numbers[kept.members]))

    def words_of(self, case: int) -> list[str]:
        """The words of a case's group."""
        return [self.items[i] for i in self.members[case].tolist() if i >= 0]

    def rows(self, start: int, stop: int) -> Sequence[tuple[str, str, str]]:
        """Group, outlier, and the words of the group."""
        return [
            (self.groups[self.group_numbers[m]], self.items[self.outliers[m]], "; ".join(self.words_of(m)))
            for m in range(start, min(stop, len(self.outliers)))
        ]

    def stored_rows(self) -> dict[str, Any]:
        """A row per case and word; place 0 is the outlier's."""
        words = np.column_stack([self.outliers, self.members])
        case, column = np.nonzero(words >= 0)
        return {
            "item_no": case.astype(np.int32),
            "group_name": names(self.groups, self.group_numbers[case]),
            "place": column.astype(np.int32),
            "word_no": words[case, column],
        }


@dataclass(frozen=True, eq=False)
class Events(WordDataset):
    """Who does something to what: an agent and a verb with a typical and an atypical patient (thematic fit).

    Attributes:
        agents, verbs, typical, atypical: ``[m] int32``, index into ``items``; the two patients of an event differ.
    """

    agents: Int32
    verbs: Int32
    typical: Int32
    atypical: Int32

    kind = DatasetKind.EVENTS
    headings = ("agent", "verb", "typical patient", "atypical patient")
    lacks = (
        "no event of '{id}' is left: none has vectors of its verb, agent and both patients from {whose}",
        "an encoder that knows the words of the events",
    )
    counted = "events"
    stored_as = "event"
    item_columns = ("agents", "verbs", "typical", "atypical")

    @property
    def content_parts(self) -> list[str]:
        return self._parts([self.agents, self.verbs, self.typical, self.atypical])

    def rows(self, start: int, stop: int) -> Sequence[tuple[str, ...]]:
        """Agent, verb and the two patients."""
        four = np.column_stack([getattr(self, name) for name in self.item_columns])[start:stop]
        return [tuple(self.items[i] for i in row) for row in four.tolist()]

    def stored_rows(self) -> dict[str, Any]:
        return {
            "item_no": np.arange(len(self.verbs), dtype=np.int32),
            "agent_no": self.agents,
            "verb_no": self.verbs,
            "typical_no": self.typical,
            "atypical_no": self.atypical,
        }
