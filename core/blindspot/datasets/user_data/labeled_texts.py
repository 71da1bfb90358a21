"""Labeled texts in a user's file.

Names are ambiguous, so there are rules: ``class``, ``category`` and the like are always classes. ``label`` is a class
if it has words, or whole numbers next to a single text; whole numbers next to two texts are scores of pairs, unless the
file has a split. Values that differ in every row next to two texts are not classes. A file with ``score`` and two texts
has scored pairs, a file with ``query`` and ``match`` has positive pairs.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from shlex import quote
from typing import Any, ClassVar

from blindspot.datasets.kinds.base import DatasetKind, Rows
from blindspot.datasets.kinds.labeled_texts import (
    DEV,
    SPLITS,
    TEST,
    TRAIN,
    UNSPLIT,
    LabeledCounts,
    LabeledTexts,
    same_examples,
)
from blindspot.datasets.kinds.own_columns import OwnColumn
from blindspot.datasets.published.labeled_texts import Example, labeled_texts
from blindspot.datasets.user_data.columns import (
    FIRST,
    LABEL,
    MISSING,
    NO_ROLE,
    SECOND,
    SPLIT,
    TEXT,
    ColumnReading,
    OwnFile,
    Picker,
    Role,
    UnclearColumns,
    first_named,
    shortened,
    texts_of,
)
from blindspot.datasets.user_data.guess import classes, text_columns
from blindspot.datasets.user_data.names import (
    LABEL_NAMES,
    PAIR_NAMES,
    POSITIVE_NAMES,
    SCORE_NAMES,
    SPLIT_NAMES,
    TEXT_NAMES,
    WEAK_LABEL_NAMES,
    WEAK_SPLIT_NAMES,
)
from blindspot.datasets.user_data.vocabulary import has_counts
from blindspot.errors import InputError
from blindspot.files.tables import ColumnKind, FileTable, Texts, is_unicode
from blindspot.texts import column_key, one_form, same_text

MIN_ROWS = 20  # two classes of ten examples, one for every fold
TOO_MANY_CLASSES = 100  # rather ids or scores: few examples each, and an unreadable table of confusions
CLASSES_SHOWN = 10  # in a line
SHOWN_VALUES = 4
MIN_TEXTS = 3  # of a class, without a split: one each to learn from, to choose by and to test on
MIN_EXAMPLES = 2  # of a class, with a split
LONGEST_CLASS = 200  # characters of a name

_SPLITS = {
    TRAIN: ("train", "training", "tr"),
    DEV: ("dev", "development", "validation", "valid", "val", "va"),
    TEST: ("test", "testing", "te"),
}
_SPLIT_OF = {word: split for split, words in _SPLITS.items() for word in words}


@dataclass(frozen=True)
class OwnLabeledTexts(OwnFile):
    """A file of labeled texts.

    Attributes:
        examples: in the file's order; texts are kept unchanged, repeated ones too.
    """

    examples: tuple[Example, ...]

    too_many_classes: ClassVar[int]

    kind = DatasetKind.LABELED_TEXTS
    title = "labeled texts"
    form = "labeled texts (text and label, or text1, text2 and label; perhaps split)"
    about = (
        "a text, or two, and the class that it belongs to; perhaps with a column `split` of train, dev and test. For "
        "the page *Classification*."
    )
    matched_by = (
        "where one is called `label`, `class` or `category` beside one of texts, or words of the kind beside two; a "
        "`label` of numbers beside two texts is taken for a score unless there is a `split`; of few whole numbers, you "
        "are asked"
    )
    counted = "labeled examples"
    roles: ClassVar[tuple[Role, ...]] = (
        Role("text", TEXT, "the text, where an example has one"),
        Role("text1", FIRST, "the first of two texts"),
        Role("text2", SECOND, "the second of them"),
        Role("label", LABEL, "the class"),
        Role("split", SPLIT, "train, dev or test, where the file says it"),
    )
    forms: ClassVar[tuple[tuple[str, ...], ...]] = (("text", "label"), ("text1", "text2", "label"))
    optional: ClassVar[tuple[str, ...]] = ("split",)
    pickers = (
        (Picker(TEXT), Picker(LABEL, "The class of each example.")),
        (
            Picker(SECOND, "Where an example is two texts, as in paraphrase or entailment.", optional=True),
            Picker(
                SPLIT,
                "What is trained and tested on: train, dev (or validation) and test. Without one, ten folds are made, "
                "equal texts together.",
                optional=True,
            ),
        ),
    )
    has_groups = True
    choose = "Choose the column of the texts and that of their labels, each column once."
    too_many_classes = TOO_MANY_CLASSES

    @classmethod
    def matches_header(cls, table: FileTable) -> bool:
        guess, keys = _guess(table), [column_key(name) for name in table.names]
        text, label = guess.get(TEXT), guess.get(LABEL)
        if has_counts(table):
            return False
        if text is None or label is None:
            return SECOND not in guess and bool(_maybe_classes(table))  # which of these is asked, see by_header
        if SECOND not in guess:
            return True
        is_scored = first_named(keys, SCORE_NAMES) is not None
        is_positive = (keys[text], keys[guess[SECOND]]) in POSITIVE_NAMES
        number = table.kinds[label] is ColumnKind.NUMBER and keys[label] in WEAK_LABEL_NAMES
        repeats = len({str(cell) for cell in table.cells[label]}) < len(table.cells[label])
        return repeats and not (is_scored or is_positive or (number and SPLIT not in guess))

    @classmethod
    def by_header(cls, table: FileTable) -> dict[int, tuple[str, str]]:
        guess = _guess(table)
        if TEXT not in guess or LABEL not in guess:
            _ask_for_class(table)
            raise UnclearColumns(
                f"{table.path} has no text and label: {table.shown_names}",
                expected="a column text (or text1 and text2) and a column label (or class, category)",
                remedy="if it has them, name them with --text-column and --label-column",
            )
        is_named = SECOND in guess or column_key(table.names[guess[TEXT]]) in TEXT_NAMES
        why = {TEXT: "by its name" if is_named else "the only other text column"}
        return {number: (_text_use(use, guess), why.get(use, "by its name")) for use, number in guess.items()}

    @classmethod
    def _read(
        cls, table: FileTable, asked: Mapping[str, int] | None = None
    ) -> tuple[tuple[ColumnReading, ...], tuple[OwnColumn, ...]]:
        return super()._read(table, asked and {_text_use(use, asked): number for use, number in asked.items()})

    @classmethod
    def preselected(cls, table: FileTable) -> dict[str, int]:
        guess = _guess(table)
        return guess | ({FIRST: guess[TEXT]} if TEXT in guess else {})

    @classmethod
    def cells(cls, table: FileTable, numbers: Mapping[str, int]) -> tuple[Any, ...]:
        firsts = texts_of(table, numbers[TEXT if TEXT in numbers else FIRST])
        seconds: Sequence[str | None] = texts_of(table, numbers[SECOND]) if SECOND in numbers else [None] * len(firsts)
        labels = _class_names(table, numbers[LABEL])
        splits = _split_numbers(table, numbers[SPLIT]) if SPLIT in numbers else [UNSPLIT] * len(firsts)
        examples = tuple(Example(*row) for row in zip(labels, firsts, seconds, splits, strict=True))
        _check_classes(table, numbers[LABEL], labels, cls.too_many_classes)
        if SPLIT in numbers:
            _check_split(table, numbers[SPLIT], examples)
        else:  # equal texts stay in one fold, so a class needs different ones
            why = " of every class: one to learn from, one to choose by and one to test"
            _refuse_rare(table, _different_texts(examples), MIN_TEXTS, "different text", why)
        return (examples,)

    @classmethod
    def assumed(cls, table: FileTable, columns: Sequence[ColumnReading]) -> tuple[str, ...]:
        label = next(number for number, column in enumerate(columns) if column.use == LABEL)
        doubts = _doubtful_classes(set(_class_names(table, label)))
        listed = (
            f"{what}: {', '.join(repr(shortened(name)) for name in names[:SHOWN_VALUES])}" for what, names in doubts
        )
        others = (
            f"the classes are those of column '{table.names[label]}', not of '{column.name[:40]}', which has others"
            for number, column in enumerate(columns)
            if column.use in NO_ROLE and column_key(column.name) in LABEL_NAMES and _differ(table, label, number)
        )
        return (*(f"classes of column '{table.names[label]}' that {doubt}" for doubt in listed), *others)

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

    @property
    def is_split(self) -> bool:
        return self.counts.is_split

    @cached_property
    def classes(self) -> tuple[str, ...]:
        """Names of the classes: numbers by size, others in alphabetical order."""
        names = {example.label for example in self.examples}
        if all(name.removeprefix("-").isdecimal() for name in names):
            return tuple(sorted(names, key=lambda name: (int(name), name)))
        return tuple(sorted(names, key=lambda name: (name.casefold(), name)))

    @property
    def number_of_classes(self) -> int:
        return len(self.classes)

    @cached_property
    def counts(self) -> LabeledCounts:
        return self.dataset(self.path.name).counts

    @property
    def description(self) -> str:
        what = "Pairs of texts" if self.has_pairs else "Texts"
        split = "Their own split." if self.is_split else "No train/test split: 10-fold cross-validation."
        return f"{what} of your own, of {len(self.classes)} classes. {split}"

    @property
    def summary(self) -> str:
        counts = self.counts
        classes = [f"{shortened(c.name)} {c.examples:,}" for c in counts.classes[:CLASSES_SHOWN]]
        if (more := len(counts.classes) - CLASSES_SHOWN) > 0:
            classes.append(f"and {more} more")
        holds = (
            f"{counts.examples:,} examples of {len(counts.classes):,} classes ({', '.join(classes)}), "
            f"{counts.texts:,} texts"
        )
        columns = self._columns_in_words(", ")
        return f"{self.path.name}: {self.title}: {columns}; {'; '.join([holds, *counts.caution])}"

    @property
    def notes(self) -> tuple[str, ...]:
        return f"{self.counts.examples:,} examples", f"{self.counts.texts:,} distinct texts"

    def as_manifest(self) -> dict[str, Any]:
        return super().as_manifest() | {
            "classes": {c.name: c.examples for c in self.counts.classes},
            "repeated": self.counts.repeated,
            "contradictory": self.counts.contradictory,
            "test_in_training": self.counts.leaked,
        }

    def first_rows(self, n: int) -> Rows:
        texts = (FIRST, SECOND) if self.has_pairs else (TEXT,)
        rows = tuple(
            (e.first, *([e.second] if self.has_pairs else []), e.label, *([SPLITS[e.split]] if self.is_split else []))
            for e in self.examples[:n]
        )
        return Rows((*texts, "class", *([SPLIT] if self.is_split else [])), rows)

    def kept_rows(self) -> Iterator[Mapping[str, str | float]]:
        for e in self.examples:
            cells = {"text": e.first} if e.second is None else {"text1": e.first, "text2": e.second}
            split = {"split": SPLITS[e.split]} if e.split != UNSPLIT else {}
            yield {**cells, "class": e.label, **split}  # not "label", which could be a score

    def dataset(self, dataset_id: str) -> LabeledTexts:
        return labeled_texts(dataset_id, self.classes, self.examples)


def _text_use(use: str, columns: Mapping[str, int]) -> str:
    return FIRST if use == TEXT and SECOND in columns else use


# --- which columns


def _guess(table: FileTable) -> dict[str, int]:
    """The number of the column per use, as the header says; the first of two texts is ``TEXT``."""
    keys = [column_key(name) for name in table.names]
    may_split = (name for name in SPLIT_NAMES if _may_be_splits(table, name, keys))
    split = first_named(keys, may_split)
    pair = _pair(keys)
    taken = {split, *(pair or ())}
    labels = (keys.index(name) for name in LABEL_NAMES if keys.count(name) == 1)
    label = next((n for n in labels if n not in taken and _may_be_classes(table, n, keys)), None)
    text, second = pair or (None, None)
    if not pair:
        texts = (keys.index(name) for name in TEXT_NAMES if keys.count(name) == 1)
        text = next((n for n in texts if n != label), None)
        if text is None:
            others, _ = text_columns(table, {label, split})
            text = others[0] if len(others) == 1 else None
    by_use = {TEXT: text, SECOND: second, LABEL: label, SPLIT: split}
    return {use: number for use, number in by_use.items() if number is not None}


def _maybe_classes(table: FileTable) -> tuple[int, ...]:
    """Numbers of the columns that may be the class of the only column of text, but for splits."""
    splits = splits_in(table)
    return tuple(number for number in classes(table) if table.names[number] not in splits)


def _ask_for_class(table: FileTable) -> None:
    """Ask which column is the class of the only text of a row, where some may be.

    Raises:
        UnclearColumns: some may be.
    """
    if not (maybe := _maybe_classes(table)):
        return
    (text,), _ = text_columns(table)
    names = [f"'{shortened(table.names[number])}'" for number in maybe[:SHOWN_VALUES]]
    raise UnclearColumns(
        f"{table.path}: '{shortened(table.names[text])}' is the only column of text, and {' or '.join(names)} may be "
        "its class",
        expected="a text and its class, or a pair of texts",
        remedy=f"name the two, for example: --text-column {quote(table.names[text])} "
        f"--label-column {quote(table.names[maybe[0]])}",
    )


def _pair(keys: Sequence[str]) -> tuple[int, int] | None:
    for first, second in (*POSITIVE_NAMES, *PAIR_NAMES):
        if keys.count(first) == keys.count(second) == 1:
            return keys.index(first), keys.index(second)
    return None


def _may_be_classes(table: FileTable, number: int, keys: Sequence[str]) -> bool:
    if keys[number] not in WEAK_LABEL_NAMES:
        return True
    if table.kinds[number] is ColumnKind.NUMBER:
        return all(_is_whole(cell) for cell in table.cells[number])
    return keys[number] != "target" or len(set(table.cells[number])) < TOO_MANY_CLASSES  # otherwise target texts


def _differ(table: FileTable, first: int, other: int) -> bool:
    """Whether two columns have different classes, and not the same by other names."""
    pairs = {(str(a), str(b)) for a, b in zip(table.cells[first], table.cells[other], strict=True)}
    return not len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})


def _is_whole(cell: object) -> bool:
    """Whether a cell is a whole number, or empty."""
    try:
        return cell is None or cell == "" or float(str(cell)) % 1 == 0 or str(cell).casefold() == "nan"
    except ValueError:
        return isinstance(cell, bool)


def _may_be_splits(table: FileTable, name: str, keys: Sequence[str]) -> bool:
    if name not in WEAK_SPLIT_NAMES or keys.count(name) != 1:
        return True
    return all(_split(cell) is not None for cell in table.cells[keys.index(name)])


# --- classes and splits


def splits_in(table: FileTable) -> dict[str, list[str]]:
    """The splits in the cells of columns with any name, by that name."""
    return {
        name: list(dict.fromkeys(str(cell).strip() for cell in cells))
        for name, cells in zip(table.names, table.cells, strict=True)
        if all(_split(cell) is not None for cell in cells)
    }


def _class_names(table: FileTable, column: int) -> list[str]:
    """The cells of a column as names of classes: texts are stripped, whole numbers have no decimal point, truth values
    are true and false."""
    is_number = table.kinds[column] is ColumnKind.NUMBER
    out = []
    for row, cell in enumerate(table.cells[column]):
        name = _class_name(cell, is_number)
        if isinstance(cell, Texts) and len(cell) > 1:
            raise InputError(
                f"{table.where(row, column)}: {len(cell)} classes, {shortened(str(cell))}",
                expected="one class of every text",
                remedy="keep one, or only the rows that have one",
            )
        if name is None:
            raise InputError(
                _not_a(table, row, column, "class"),
                expected="a class: a text or a number",
                remedy="fill it in or remove the row",
            )
        if len(name) > LONGEST_CLASS:
            raise InputError(
                f"{table.where(row, column)}: a class of {len(name):,} characters", expected=f"at most {LONGEST_CLASS}"
            )
        out.append(name)
    return out


def _doubtful_classes(classes: AbstractSet[str]) -> Iterator[tuple[str, list[str]]]:
    """Reasons why classes are doubtful, with these classes; they are used as written."""
    unlabeled = {"-1"} if {"-1", "0"} <= classes else set()  # as Hugging Face's data sets have it
    if missing := sorted(name for name in classes if name.casefold() in MISSING or name in unlabeled):
        yield "may stand for no class, taken as written", missing
    parts = {name: {part.strip() for part in re.split(r"[;,|/+&]", name)} for name in classes}
    if several := sorted(name for name, held in parts.items() if len(held) > 1 and held & classes):
        yield "seem to be several each, taken as one of their own", several
    written = Counter(map(same_text, classes))
    if alike := sorted((name for name in sorted(classes) if written[same_text(name)] > 1), key=str.casefold):
        yield "differ by capitals or spaces alone, taken as different", alike


def _class_name(cell: object, is_number: bool) -> str | None:
    if isinstance(cell, Texts) and len(cell) == 1:  # doccano's
        cell = cell[0]
    if isinstance(cell, bool):
        return str(cell).lower()
    if is_number:
        return _number_name(str(cell).strip())
    if isinstance(cell, str):
        name = one_form(cell.strip())
        return name if name and name.casefold() != "nan" and is_unicode(name) else None
    return _number_name(str(cell)) if isinstance(cell, int | float) else None


def _number_name(text: str) -> str | None:
    """``2`` for ``2.0``, as programs write the numbers of classes; other numbers stay as written."""
    if text.removeprefix("-").isdecimal():
        return text
    try:
        value = float(text)
    except ValueError:
        return None
    if not math.isfinite(value):
        return None
    return str(int(value)) if value.is_integer() else text


def _split_numbers(table: FileTable, column: int) -> list[int]:
    out = []
    for row, cell in enumerate(table.cells[column]):
        split = _split(cell)
        if split is None:
            raise InputError(
                _not_a(table, row, column, "split"),
                expected="train, dev (or validation) or test",
                remedy="correct it, or leave the column out: then folds are made",
            )
        out.append(split)
    return out


def _split(cell: object) -> int | None:
    return _SPLIT_OF.get(cell.strip().casefold()) if isinstance(cell, str) else None


def _not_a(table: FileTable, row: int, column: int, wanted: str) -> str:
    cell = table.cells[column][row]
    is_missing = cell is None or str(cell).strip().casefold() in {"", "nan"}
    problem = "nothing there" if is_missing else f"'{shortened(str(cell))}' is not a {wanted}"
    return f"{table.where(row, column)}: {problem}"


# --- enough of each


def _check_classes(table: FileTable, column: int, labels: Sequence[str], too_many: int) -> None:
    if len(labels) < MIN_ROWS:
        raise InputError(
            f"{table.path} has {len(labels)} labeled text{'s' * (len(labels) > 1)}",
            expected=f"at least {MIN_ROWS}: a classifier is trained on some and tested on others",
            remedy="add rows",
        )
    classes = set(labels)
    where = f"{table.path}, column '{table.names[column]}'"
    if len(classes) == 1:
        raise InputError(
            f"{where}: the class is '{shortened(labels[0])}' in all {len(labels):,} rows",
            expected="at least two classes",
            remedy="add examples of another class, or choose another column",
        )
    if len(classes) >= too_many:
        raise InputError(
            f"{where}: {len(classes):,} classes in {len(labels):,} rows",
            expected=f"fewer than {too_many:,} classes, each with examples to learn from",
            remedy="merge rare ones, or choose the column of the classes if this one has ids, scores or texts",
        )


def _check_split(table: FileTable, column: int, examples: Sequence[Example]) -> None:
    """Refuse splits with an empty part, or a class without training examples or with only one example."""
    parts = Counter(example.split for example in examples)
    if lacking := [SPLITS[part] for part in (TRAIN, TEST) if not parts[part]]:
        held = ", ".join(f"{SPLITS[part]} {count:,}" for part, count in sorted(parts.items()))
        raise InputError(
            f"{table.path}, column '{table.names[column]}': no example is in {' or '.join(lacking)} ({held})",
            expected="a train and a test part",
            remedy="mark some, or leave the column out: then folds are made",
        )
    learnt = _different_texts([example for example in examples if example.split == TRAIN])
    every = Counter(example.label for example in examples)
    if unknown := sorted(name for name in every if not learnt[name]):
        tested = sum(e.label == unknown[0] and e.split == TEST for e in examples)
        raise InputError(
            f"{table.path}: class '{shortened(unknown[0])}' has {tested:,} test examples and none in training"
            f"{_others(len(unknown))}",
            expected="training examples of every class",
            remedy="move some to train, or remove the class",
        )
    if parts[DEV]:
        _refuse_rare(table, every, MIN_EXAMPLES, "example", " of every class")
    else:  # one to learn from, one to choose by
        whose = " in training of every class, or a dev part"
        _refuse_rare(table, learnt, MIN_EXAMPLES, "different text", whose, " in training")


def _different_texts(examples: Sequence[Example]) -> Counter[str]:
    """Number of different texts (or pairs of texts) per class."""
    same = same_examples([e.first for e in examples], [e.second or "" for e in examples])
    different = {(e.label, number) for e, number in zip(examples, same.tolist(), strict=True)}
    return Counter(label for label, _ in different)


def _refuse_rare(table: FileTable, members: Counter[str], least: int, what: str, whose: str, where: str = "") -> None:
    rare = sorted(name for name, count in members.items() if count < least)
    if rare:
        count = members[rare[0]]
        plural = "s" * (count > 1)
        raise InputError(
            f"{table.path}: class '{shortened(rare[0])}' has {count} {what}{plural}{where}{_others(len(rare))}",
            expected=f"at least {least} {what}s{whose}",
            remedy="add some, merge the class with another, or remove it",
        )


def _others(count: int) -> str:
    return f" (and {count - 1} other classes)" if count > 2 else " (and another class)" if count == 2 else ""
