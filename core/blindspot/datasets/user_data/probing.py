"""A probing task in a user's file: SentEval's own format, or a table with the name of the task in a column.

SentEval (Conneau et al. 2018) ships ten files, ``sentence_length.txt`` and so on: each line has the part of the split
(``tr``, ``va`` or ``te``), the class and the sentence, with tabs between and no header. The file's name is the task.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.kinds.probing import ProbingTask, probe_of
from blindspot.datasets.user_data.columns import LABEL, SPLIT, TASK, TEXT, Picker, Role, texts_of
from blindspot.datasets.user_data.labeled_texts import OwnLabeledTexts
from blindspot.datasets.user_data.names import SPLIT_NAMES
from blindspot.errors import InputError
from blindspot.files.tables import ColumnKind, FileTable
from blindspot.texts import column_key

MOST_CLASSES = 2_000  # word content has 1,000
_LINE = re.compile(rb"(?:\xef\xbb\xbf)?(?:tr|va|te)\t[^\t\n]*\t[^\t\n]*(?:\n|$)")


@dataclass(frozen=True)
class OwnProbingTask(OwnLabeledTexts):
    """A file of one probing task.

    Attributes:
        task: its name.
    """

    task: str

    kind = DatasetKind.PROBING
    title = "probing tasks"
    form = "a probing task (SentEval's .txt, or probing task, split, label and text)"
    about = (
        "a sentence, its class, and its part of the split (train, dev or test), in SentEval's format: no header, "
        "`tr`, `va` or `te`, the class, the sentence, with tabs between. Up to 2,000 classes. For the page"
        " *Classification*, *Probing*."
    )
    matched_by = f"in SentEval's format, or where one is called `{TASK}` beside split, label and text"
    counted = "labeled sentences"
    roles = (
        Role("text", TEXT, "the sentence"),
        Role("label", LABEL, "the class"),
        Role("split", SPLIT, "train, dev or test"),
        Role("task", TASK, "the name of the task, the same in every row"),
    )
    forms = (("text", "label", "split", "task"),)
    optional = ()
    pickers = (
        (Picker(TASK, "The name of the task, the same in every row."), Picker(SPLIT, "Train, dev or test.")),
        (Picker(LABEL, "The class of each sentence."), Picker(TEXT)),
    )
    choose = "Choose the columns of the task's name, of the split, of the classes and of the sentences, each once."
    too_many_classes = MOST_CLASSES + 1

    @classmethod
    def matches_header(cls, table: FileTable) -> bool:
        return {TASK, SPLIT, LABEL, TEXT} == _by_name(table).keys()

    @classmethod
    def by_header(cls, table: FileTable) -> dict[int, tuple[str, str]]:
        by_name = _by_name(table)
        if lacking := [name for name in (TASK, SPLIT, LABEL, TEXT) if name not in by_name]:
            raise InputError(
                f"{table.path} has no {' and no '.join(lacking)}: {table.shown_names}",
                expected=f"columns {TASK}, split, label and text, or a .txt in SentEval's format",
            )
        return {number: (use, "by its name") for use, number in by_name.items()}

    @classmethod
    def preselected(cls, table: FileTable) -> dict[str, int]:
        return _by_name(table)

    @classmethod
    def cells(cls, table: FileTable, numbers: Mapping[str, int]) -> tuple[Any, ...]:
        tasks = texts_of(table, numbers[TASK])
        if (other := next((row for row, name in enumerate(tasks) if name != tasks[0]), None)) is not None:
            raise InputError(
                f"{table.where(other, numbers[TASK])}: '{tasks[other][:40]}' after '{tasks[0][:40]}'",
                expected="one task in a file",
                remedy="make a file of each",
            )
        return (*super().cells(table, numbers), tasks[0])

    @property
    def description(self) -> str:
        probe = probe_of(self.task)
        asked = f"{probe.title}: {probe.question}" if probe else "A probing task of your own."
        return f"{asked} {len(self.classes):,} classes, its own split."

    def as_manifest(self) -> dict[str, Any]:
        return super().as_manifest() | {"task": self.task}

    def kept_rows(self) -> Iterator[Mapping[str, str | float]]:
        for row in super().kept_rows():
            yield {TASK: self.task, **row}

    def dataset(self, dataset_id: str) -> ProbingTask:
        return ProbingTask.of(super().dataset(dataset_id), self.task)


def _by_name(table: FileTable) -> dict[str, int]:
    """The number of the column per use, as far as the header tells."""
    keys = [column_key(name) for name in table.names]
    names = {
        TASK: (column_key(TASK),),
        SPLIT: SPLIT_NAMES,
        LABEL: ("label", "class"),
        TEXT: ("text", "sentence"),
    }
    by_use = {use: [keys.index(key) for key in some if keys.count(key) == 1] for use, some in names.items()}
    return {use: numbers[0] for use, numbers in by_use.items() if len(numbers) == 1}


# --- SentEval's format


def is_senteval(data: bytes) -> bool:
    """Whether a file begins like SentEval's files: ``tr TAB class TAB sentence``."""
    return bool(_LINE.match(data))


def of_senteval(table: FileTable) -> FileTable:
    """A file without a header as columns with names, with a column for the task from the file's name."""
    return replace(
        table,
        names=("split", "label", "text", TASK),
        kinds=(*table.kinds, ColumnKind.TEXT),
        cells=(*table.cells, (table.path.stem,) * len(table.places)),
    )
