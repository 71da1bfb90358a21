"""Labelled texts in a user's file: which columns are text, label and split, and what is in them.

A name can mean several things, so: ``class``, ``category`` and the like are classes whatever they hold. ``label`` is
a class where it holds words, and beside one text where it holds whole numbers; whole numbers beside two texts are
scores of pairs, unless the file has a split. What differs from row to row beside two texts is no class. Where a column
is called ``score`` beside two texts, or two columns ``query`` and ``mate``, it is scored or positive pairs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from core.datasets.kinds.base import DatasetKind
from core.datasets.kinds.labelled_texts import (
    DEV,
    SPLITS,
    TEST,
    TRAIN,
    UNSPLIT,
    LabelledCounts,
    LabelledTexts,
    same_examples,
)
from core.datasets.own import guess as own_guess
from core.datasets.own import pairs as own_pairs
from core.datasets.own import scored_pairs as own_scored
from core.datasets.own import vocabulary as own_vocabulary
from core.datasets.own.classes import SPLIT_NAMES, class_names, is_split_column, split_numbers
from core.datasets.own.columns import (
    FIRST,
    LABEL,
    LONGEST_SHOWN,
    SECOND,
    SPLIT,
    TEXT,
    ColumnReading,
    OwnFile,
    UnclearColumns,
    readings,
    require,
    texts_of,
)
from core.datasets.published.labelled_texts import Example, labelled_texts
from core.errors import InputError
from core.files.tables import ColumnKind, FileTable
from core.texts import column_key

MIN_ROWS = 20  # two classes of ten, one for every fold
TOO_MANY_CLASSES = 100  # rather ids or scores: few examples each, and a table of confusions that nobody can read
CLASSES_SHOWN = 10  # in a line
MIN_TEXTS = 3  # of a class, without a split: the diagnostic learns from one, chooses by one and tests one
MIN_EXAMPLES = 2  # of a class, with one

# Names by letters and digits only; the first that a file has wins.
TEXT_NAMES = (
    *("text", "sentence", "content", "review", "question", "document", "comment", "tweet", "utterance", "phrase"),
    *("body", "title", "string", "word"),
)
PAIR_NAMES = (
    *(names for names in own_pairs.KNOWN_NAMES if names[0] not in {"query", "anchor"}),
    *(("premise", "hypothesis"), ("question", "sentence"), ("question", "answer"), ("claim", "evidence")),
)
POSITIVE_NAMES = tuple(names for names in own_pairs.KNOWN_NAMES if names not in PAIR_NAMES)
LABEL_NAMES = (
    *("labeltext", "labelname", "label", "class", "classname", "category", "intent", "topic", "sentiment"),
    *("labels", "goldlabel", "target"),
)
WEAK_NAMES = {"label", "labels", "goldlabel", "target"}  # also names of scores, and of other texts


@dataclass(frozen=True)
class LabelledColumns:
    """Names of the columns that are to be read; ``second`` and ``split`` are None where there is none."""

    first: str
    label: str
    second: str | None = None
    split: str | None = None


@dataclass(frozen=True)
class Guess:
    """Numbers of the columns that the header tells; None where it tells none."""

    first: int | None
    second: int | None
    label: int | None
    split: int | None
    by_name: bool


@dataclass(frozen=True)
class OwnLabelledTexts(OwnFile):
    """A file of labelled texts.

    Attributes:
        examples: in the file's order; texts are kept to the letter, those that repeat too.
    """

    examples: tuple[Example, ...]

    kind = DatasetKind.LABELLED_TEXTS

    @property
    def rows(self) -> int:
        return len(self.examples)

    @property
    def distinct_texts(self) -> int:
        return self.counts.texts

    @property
    def has_pairs(self) -> bool:
        """Whether an example is two texts."""
        return self.examples[0].second is not None

    @cached_property
    def classes(self) -> tuple[str, ...]:
        """Their names: numbers by size, others by the alphabet."""
        names = {example.label for example in self.examples}
        if all(name.removeprefix("-").isdecimal() for name in names):
            return tuple(sorted(names, key=lambda name: (int(name), name)))
        return tuple(sorted(names, key=lambda name: (name.casefold(), name)))

    @cached_property
    def counts(self) -> LabelledCounts:
        return self.dataset(self.path.name).counts

    @property
    def description(self) -> str:
        what = "Pairs of texts" if self.has_pairs else "Texts"
        split = "Their own split." if self.counts.is_split else "They have no split of their own: folds."
        return f"{what} of your own, of {len(self.classes)} classes. {split}"

    def as_manifest(self) -> dict[str, Any]:
        return {
            "columns": {use: column.name for use, column in self.used.items()},
            "why": {use: column.why for use, column in self.used.items()},
            "format": self.format.value,
            "separator": self.separator,
            "rows": self.rows,
            "classes": {c.name: c.examples for c in self.counts.classes},
            "repeated": self.counts.repeated,
            "contradictory": self.counts.contradictory,
            "test_in_training": self.counts.leaked,
        }

    @property
    def summary(self) -> str:
        columns = ", ".join(f"{use} is column '{column.name}' ({column.why})" for use, column in self.used.items())
        counts = self.counts
        classes = [f"{_short(c.name)} {c.examples:,}" for c in counts.classes[:CLASSES_SHOWN]]
        if (more := len(counts.classes) - CLASSES_SHOWN) > 0:
            classes.append(f"and {more} more")
        holds = (
            f"{counts.examples:,} examples of {len(counts.classes)} classes ({', '.join(classes)}), "
            f"{counts.texts:,} texts"
        )
        return f"{self.path.name}: labelled texts: {columns}; {'; '.join([holds, *counts.caution])}"

    def dataset(self, dataset_id: str) -> LabelledTexts:
        return labelled_texts(dataset_id, self.classes, self.examples)


def is_told(table: FileTable) -> bool:
    """Whether a file's header (and for names of several meanings, what the columns hold) says labelled texts."""
    found = guess(table)
    if found.first is None or found.label is None or own_vocabulary.is_told(table):
        return False
    if found.second is None:
        return True
    keys = [column_key(name) for name in table.names]
    is_scored = any(keys.count(name) == 1 for name in own_scored.SCORE_NAMES)
    is_positive = (keys[found.first], keys[found.second]) in POSITIVE_NAMES
    number = table.kinds[found.label] is ColumnKind.NUMBER and keys[found.label] in WEAK_NAMES
    repeats = len({str(cell) for cell in table.cells[found.label]}) < len(table.cells[found.label])
    return repeats and not (is_scored or is_positive or (number and found.split is None))


def guess(table: FileTable) -> Guess:
    """What the header tells of the columns, told or not."""
    keys = [column_key(name) for name in table.names]
    split = next((keys.index(n) for n in SPLIT_NAMES if keys.count(n) == 1 and is_split_column(table, n, keys)), None)
    pair = _pair(keys)
    taken = {split, *(pair or ())}
    label = next((n for n in _named(keys, LABEL_NAMES) if n not in taken and _may_be_classes(table, n, keys)), None)
    if pair:
        return Guess(*pair, label, split, by_name=True)
    text = next((n for n in _named(keys, TEXT_NAMES) if n != label), None)
    if text is not None:
        return Guess(text, None, label, split, by_name=True)
    texts, _ = own_guess.text_columns(table, {label, split})
    return Guess(texts[0] if len(texts) == 1 else None, None, label, split, by_name=False)


def _named(keys: Sequence[str], names: Sequence[str]) -> list[int]:
    return [keys.index(name) for name in names if keys.count(name) == 1]


def _pair(keys: Sequence[str]) -> tuple[int, int] | None:
    for first, second in (*POSITIVE_NAMES, *PAIR_NAMES):
        if keys.count(first) == keys.count(second) == 1:
            return keys.index(first), keys.index(second)
    return None


def _may_be_classes(table: FileTable, number: int, keys: Sequence[str]) -> bool:
    """Whether a column of such a name may hold classes."""
    if keys[number] not in WEAK_NAMES:
        return True
    if table.kinds[number] is ColumnKind.NUMBER:
        return all(_is_whole(cell) for cell in table.cells[number])
    return keys[number] != "target" or len(set(table.cells[number])) < TOO_MANY_CLASSES  # else a target text


def _is_whole(cell: object) -> bool:
    """A whole number, or nothing where one is missing."""
    try:
        return cell is None or cell == "" or float(str(cell)) % 1 == 0 or str(cell).casefold() == "nan"
    except ValueError:
        return isinstance(cell, bool)


def read_columns(path: Path, table: FileTable, asked: LabelledColumns | None) -> tuple[ColumnReading, ...]:
    """How every column is read.

    Args:
        asked: the names of the columns, where they are known; told by the header if left out.

    Raises:
        InputError: no such columns, one of them twice, or names that say nothing.
    """
    if asked is not None:
        uses = {FIRST if asked.second is not None else TEXT: asked.first, SECOND: asked.second}
        return readings(table, _asked(path, table, {**uses, LABEL: asked.label, SPLIT: asked.split}))
    found = guess(table)
    if found.first is None or found.label is None:
        raise UnclearColumns(
            f"{path} has no text and label: {', '.join(repr(name[:LONGEST_SHOWN]) for name in table.names)}",
            expected="a column text (or text1 and text2) and a column label (or class, category)",
            remedy="if it has them, name them with --text-column and --label-column",
        )
    why = "by its name" if found.by_name else "the only other text column"
    numbers = {FIRST if found.second is not None else TEXT: found.first, SECOND: found.second, LABEL: found.label}
    whys = {TEXT: why, FIRST: why, SECOND: why, LABEL: "by its name", SPLIT: "by its name"}
    uses_of = {n: (use, whys[use]) for use, n in (numbers | {SPLIT: found.split}).items() if n is not None}
    return readings(table, uses_of)


def _asked(path: Path, table: FileTable, asked: Mapping[str, str | None]) -> dict[int, tuple[str, str]]:
    names = [name for name in asked.values() if name is not None]
    require(path, table, names)
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        uses = " and ".join(use for use, name in asked.items() if name == twice[0])
        raise InputError(f"column '{twice[0]}' cannot be both {uses}", expected="a column for each")
    return {table.names.index(name): (use, "as asked") for use, name in asked.items() if name is not None}


def read_examples(path: Path, table: FileTable, columns: Sequence[ColumnReading]) -> tuple[Example, ...]:
    """The examples in the columns that are read as such.

    Raises:
        InputError: a row without text, label or split, which is named; or too few rows, one class, too many, one that
            has too few examples or none to train on; or a split without training or test part.
    """
    number = {reading.use: i for i, reading in enumerate(columns)}
    firsts = texts_of(path, table, number[TEXT if TEXT in number else FIRST])
    seconds: Sequence[str | None] = texts_of(path, table, number[SECOND]) if SECOND in number else [None] * len(firsts)
    labels = class_names(path, table, number[LABEL])
    splits = split_numbers(path, table, number[SPLIT]) if SPLIT in number else [UNSPLIT] * len(firsts)
    examples = tuple(Example(*row) for row in zip(labels, firsts, seconds, splits, strict=True))
    _check_classes(path, table.names[number[LABEL]], labels)
    if SPLIT in number:
        _check_split(path, table.names[number[SPLIT]], examples)
    else:
        _check_members(path, examples)
    return examples


def _check_classes(path: Path, column: str, labels: Sequence[str]) -> None:
    if len(labels) < MIN_ROWS:
        raise InputError(
            f"{path} has {len(labels)} labelled text{'s' * (len(labels) > 1)}",
            expected=f"at least {MIN_ROWS}: a classifier is trained on some and tested on others",
            remedy="add rows",
        )
    found = set(labels)
    place = f"{path}, column '{column}'"
    if len(found) == 1:
        raise InputError(
            f"{place}: the class is '{_short(labels[0])}' in all {len(labels):,} rows",
            expected="at least two classes",
            remedy="add examples of another class, or choose another column",
        )
    if len(found) >= TOO_MANY_CLASSES:
        raise InputError(
            f"{place}: {len(found):,} classes in {len(labels):,} rows",
            expected=f"fewer than {TOO_MANY_CLASSES} classes, each with examples to learn from",
            remedy="merge rare ones, or choose the column of the classes if this one holds ids, scores or texts",
        )


def _check_split(path: Path, column: str, examples: Sequence[Example]) -> None:
    """Both parts are there, and no class is without training or a single example."""
    parts = Counter(example.split for example in examples)
    if lacking := [SPLITS[part] for part in (TRAIN, TEST) if not parts[part]]:
        held = ", ".join(f"{SPLITS[part]} {count:,}" for part, count in sorted(parts.items()))
        raise InputError(
            f"{path}, column '{column}': no example is in {' or '.join(lacking)} ({held})",
            expected="a train and a test part",
            remedy="mark some, or leave the column out: then folds are made",
        )
    learnt = _different_texts([example for example in examples if example.split == TRAIN])
    every = Counter(example.label for example in examples)
    if unknown := sorted(name for name in every if not learnt[name]):
        tested = sum(e.label == unknown[0] and e.split == TEST for e in examples)
        raise InputError(
            f"{path}: class '{_short(unknown[0])}' has {tested:,} test examples and none in training"
            f"{_others(len(unknown))}",
            expected="training examples of every class",
            remedy="move some to train, or remove the class",
        )
    if parts[DEV]:
        _refuse_rare(path, every, MIN_EXAMPLES, "example", " of every class")
    else:  # one to learn from, one to choose by
        whose = " in training of every class, or a dev part"
        _refuse_rare(path, learnt, MIN_EXAMPLES, "different text", whose, " in training")


def _check_members(path: Path, examples: Sequence[Example]) -> None:
    """In folds equal texts stay together, so a class needs different ones."""
    why = " of every class: one to learn from, one to choose by and one to test"
    _refuse_rare(path, _different_texts(examples), MIN_TEXTS, "different text", why)


def _different_texts(examples: Sequence[Example]) -> Counter[str]:
    """How many texts (or pairs of them) each class has, equal ones counted once."""
    same = same_examples([e.first for e in examples], [e.second or "" for e in examples])
    different = {(e.label, number) for e, number in zip(examples, same.tolist(), strict=True)}
    return Counter(label for label, _ in different)


def _refuse_rare(path: Path, members: Counter[str], least: int, what: str, whose: str, where: str = "") -> None:
    rare = sorted(name for name, count in members.items() if count < least)
    if rare:
        count = members[rare[0]]
        raise InputError(
            f"{path}: class '{_short(rare[0])}' has {count} {what}{'s' * (count > 1)}{where}{_others(len(rare))}",
            expected=f"at least {least} {what}s{whose}",
            remedy="add some, merge the class with another, or remove it",
        )


def _others(count: int) -> str:
    return f" (and {count - 1} other classes)" if count > 2 else " (and another class)" if count == 2 else ""


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_SHOWN else f"{name[:LONGEST_SHOWN]}..."
