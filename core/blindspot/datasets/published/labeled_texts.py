"""Files of labeled texts: the transfer tasks of SentEval and SciCite, as the EvalRank toolkit has them, and BANKING77.

A reader raises ``DataCorrupt`` with the number of a line that has another form.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from blindspot.datasets.kinds.labeled_texts import TEST, TRAIN, UNSPLIT, LabeledTexts
from blindspot.datasets.published.text_lines import filled, lines, parsed, text_of
from blindspot.errors import DataCorrupt

SST5_CLASSES = ("very negative", "negative", "neutral", "positive", "very positive")
MRPC_CLASSES = ("no paraphrase", "paraphrase")
SICK_CLASSES = ("contradiction", "neutral", "entailment")


@dataclass(frozen=True)
class Example:
    """A text, or two (``second`` is None if there is one), its class and the number of its split."""

    label: str
    first: str
    second: str | None = None
    split: int = UNSPLIT


def labeled_texts(dataset_id: str, classes: Sequence[str], examples: Sequence[Example]) -> LabeledTexts:
    """Examples as a dataset; items in order of appearance.

    Args:
        classes: in the order in which they are shown.

    Raises:
        DataCorrupt: an example of another class.
    """
    if strange := sorted({e.label for e in examples}.difference(classes)):
        raise DataCorrupt(f"'{dataset_id}' has examples of class '{strange[0]}'", expected=", ".join(classes))
    number: dict[str, int] = {}
    for example in examples:
        number.setdefault(example.first, len(number))
        if example.second is not None:
            number.setdefault(example.second, len(number))
    class_number = {name: i for i, name in enumerate(classes)}
    return LabeledTexts(
        dataset_id,
        tuple(number),
        tuple(classes),
        np.array([number[e.first] for e in examples], dtype=np.int32),
        np.array([number[e.second] for e in examples if e.second is not None], dtype=np.int32),
        np.array([class_number[e.label] for e in examples], dtype=np.int32),
        np.array([e.split for e in examples], dtype=np.int8),
    )


def one_per_line(path: Path, label: str) -> list[Example]:
    """A text per line, all of one class (MR, CR, SUBJ, MPQA)."""
    return [Example(label, line.strip()) for _, line in _lines(path)]


def trec(path: Path, split: int) -> list[Example]:
    """``CLASS:fine question`` per line, in Latin-1; the coarse class counts."""

    def parse(line: str) -> Example:
        label, question = line.strip().split(" ", 1)
        coarse, _ = label.split(":", 1)
        return Example(coarse, filled(question), split=split)

    return parsed(path, _lines(path, "latin-1"), parse, "CLASS:fine, a space, a text", "no class and question")


def sst2(path: Path, split: int) -> list[Example]:
    """``text TAB 0 or 1`` per line."""

    def parse(line: str) -> Example:
        text, label = line.rsplit("\t", 1)
        return Example({"0": "negative", "1": "positive"}[label.strip()], filled(text), split=split)

    return parsed(path, _lines(path), parse, "a text, a tab, and 0 or 1", "no text and class")


def sst5(path: Path, split: int) -> list[Example]:
    """``0 to 4, a space, text`` per line."""
    classes = dict(zip("01234", SST5_CLASSES, strict=True))

    def parse(line: str) -> Example:
        label, text = line.strip().split(" ", 1)
        return Example(classes[label], filled(text), split=split)

    return parsed(path, _lines(path), parse, "0 to 4, a space, a text", "no class and text")


def mrpc(path: Path, split: int) -> list[Example]:
    """A header, then ``0 or 1, id, id, text, text`` with tabs between."""

    def parse(line: str) -> Example:
        label, _, _, first, second = map(filled, line.split("\t"))
        return Example(dict(zip("01", MRPC_CLASSES, strict=True))[label], first, second, split)

    return parsed(path, _lines(path, "utf-8-sig")[1:], parse, "a line of MRPC, five cells", "no class and two texts")


def sick(path: Path, split: int) -> list[Example]:
    """A part of SICK, with a header, separated by tabs: the two sentences and the judgment of entailment."""

    def parse(line: str) -> Example:
        _, first, second, _, label, *_ = line.split("\t")
        label = label.strip().lower()
        return Example(SICK_CLASSES[SICK_CLASSES.index(label)], filled(first), filled(second), split)

    return parsed(path, _lines(path)[1:], parse, "a line of SICK", "no two sentences and judgment")


def scicite(path: Path, split: int) -> list[Example]:
    """A JSON object per line, with ``text`` and ``label``."""

    def parse(line: str) -> Example:
        row = json.loads(line)
        if not (isinstance(row["text"], str) and isinstance(row["label"], str)):
            raise TypeError("no texts")
        return Example(filled(row["label"]), filled(row["text"]), split=split)

    return parsed(path, _lines(path), parse, "a JSON object with both", "no text and label")


def intents(categories: Path, train: Path, test: Path) -> tuple[tuple[str, ...], list[Example]]:
    """BANKING77: a JSON list of the classes, and CSV files with the columns ``text`` and ``category``.

    Line ends and doubled spaces within a text become one space.

    Raises:
        DataCorrupt: no such list; another header; a row of another form, with the number of its last line.
    """
    try:
        classes = json.loads(text_of(categories))
    except ValueError as error:
        raise DataCorrupt(f"{categories} is no JSON: {error}", expected="a list of classes") from error
    if not isinstance(classes, list) or not all(isinstance(name, str) and name for name in classes):
        raise DataCorrupt(f"{categories} is no list of classes", expected="a JSON list of names")
    examples = []
    for path, split in ((train, TRAIN), (test, TEST)):
        rows = csv.reader(io.StringIO(text_of(path)), strict=True)
        try:
            first, second = next(rows)
            named = {first: 0, second: 1}
            columns = named["text"], named["category"]
            for row in rows:
                text, category = (row[column] for column in columns)
                examples.append(Example(filled(category), filled(" ".join(text.split())), split=split))
        except (ValueError, LookupError, StopIteration, csv.Error) as error:
            raise DataCorrupt(
                f"{path}, line {rows.line_num}: no text and class", expected="the columns text and category"
            ) from error
    return tuple(classes), examples


def _lines(path: Path, encoding: str = "utf-8") -> list[tuple[int, str]]:
    return [(number, line) for number, line in lines(path, encoding) if line.strip()]
