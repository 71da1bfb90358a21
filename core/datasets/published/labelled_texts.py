"""Files of labelled texts: the transfer tasks of SentEval, and SciCite, as the EvalRank toolkit has them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from core.datasets.kinds.labelled_texts import UNSPLIT, LabelledTexts
from core.errors import DataCorrupt

_MRPC_COLUMNS = 5
_SICK_FIRST, _SICK_SECOND, _SICK_LABEL = 1, 2, 4


@dataclass(frozen=True)
class Example:
    """A text, or two (``second`` is None where there is one), its class and the number of its split."""

    label: str
    first: str
    second: str | None = None
    split: int = UNSPLIT


def labelled_texts(dataset_id: str, classes: Sequence[str], examples: Sequence[Example]) -> LabelledTexts:
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
    place = {name: i for i, name in enumerate(classes)}
    return LabelledTexts(
        dataset_id,
        tuple(number),
        tuple(classes),
        np.array([number[e.first] for e in examples], dtype=np.int32),
        np.array([number[e.second] for e in examples if e.second is not None], dtype=np.int32),
        np.array([place[e.label] for e in examples], dtype=np.int32),
        np.array([e.split for e in examples], dtype=np.int8),
    )


def one_per_line(path: Path, label: str) -> list[Example]:
    """A text per line, all of one class (MR, CR, SUBJ, MPQA); blank lines are dropped."""
    return [Example(label, line) for _, line in _lines(path)]


def trec(path: Path, split: int) -> list[Example]:
    """``CLASS:fine question`` per line, in Latin-1; the coarse class counts.

    Raises:
        DataCorrupt: a line of another kind.
    """
    out = []
    for number, line in _lines(path, "latin-1"):
        label, space, question = line.partition(" ")
        coarse, colon, _ = label.partition(":")
        if not (space and colon and question.strip()):
            raise DataCorrupt(f"{path}, line {number}: no class and question", expected="CLASS:fine, a space, a text")
        out.append(Example(coarse, question.strip(), split=split))
    return out


def sst2(path: Path, split: int) -> list[Example]:
    """``text TAB 0 or 1`` per line.

    Raises:
        DataCorrupt: a line of another kind.
    """
    names = {"0": "negative", "1": "positive"}
    out = []
    for number, line in _lines(path):
        text, _, label = line.rpartition("\t")
        if label.strip() not in names or not text.strip():
            raise DataCorrupt(f"{path}, line {number}: no text and class", expected="a text, a tab, and 0 or 1")
        out.append(Example(names[label.strip()], text.strip(), split=split))
    return out


SST5_CLASSES = ("very negative", "negative", "neutral", "positive", "very positive")


def sst5(path: Path, split: int) -> list[Example]:
    """``0 to 4, a space, text`` per line.

    Raises:
        DataCorrupt: a line of another kind.
    """
    out = []
    for number, line in _lines(path):
        label, _, text = line.partition(" ")
        if label not in {"0", "1", "2", "3", "4"} or not text.strip():
            raise DataCorrupt(f"{path}, line {number}: no class and text", expected="0 to 4, a space, a text")
        out.append(Example(SST5_CLASSES[int(label)], text.strip(), split=split))
    return out


MRPC_CLASSES = ("no paraphrase", "paraphrase")


def mrpc(path: Path, split: int) -> list[Example]:
    """A header, then ``0 or 1, id, id, text, text`` with tabs between.

    Raises:
        DataCorrupt: a line of another kind.
    """
    out = []
    for number, line in _lines(path, "utf-8-sig")[1:]:
        cells = line.split("\t")
        if len(cells) != _MRPC_COLUMNS or cells[0] not in {"0", "1"} or not all(c.strip() for c in cells):
            raise DataCorrupt(f"{path}, line {number}: no class and two texts", expected="a line of MRPC, five cells")
        out.append(Example(MRPC_CLASSES[int(cells[0])], cells[3].strip(), cells[4].strip(), split))
    return out


SICK_CLASSES = ("contradiction", "neutral", "entailment")


def sick(path: Path, split: int) -> list[Example]:
    """A part of SICK, with tabs between: the two sentences and the judgment of entailment.

    Raises:
        DataCorrupt: a line of another kind.
    """
    out = []
    for number, line in _lines(path)[1:]:
        cells = line.split("\t")
        label = cells[_SICK_LABEL].strip().lower() if len(cells) > _SICK_LABEL else ""
        if label not in SICK_CLASSES or not (cells[_SICK_FIRST].strip() and cells[_SICK_SECOND].strip()):
            raise DataCorrupt(f"{path}, line {number}: no two sentences and judgment", expected="a line of SICK")
        out.append(Example(label, cells[_SICK_FIRST].strip(), cells[_SICK_SECOND].strip(), split))
    return out


def scicite(path: Path, split: int) -> list[Example]:
    """A JSON object per line, with ``text`` and ``label``.

    Raises:
        DataCorrupt: a line of another kind.
    """
    out = []
    for number, line in _lines(path):
        try:
            row = json.loads(line)
            text, label = row["text"], row["label"]
        except (ValueError, KeyError, TypeError) as error:
            raise DataCorrupt(
                f"{path}, line {number}: no text and label", expected="a JSON object with both"
            ) from error
        if not (isinstance(text, str) and text.strip() and isinstance(label, str) and label):
            raise DataCorrupt(f"{path}, line {number}: an empty text or label", expected="a text and a label")
        out.append(Example(label, text.strip(), split=split))
    return out


def _lines(path: Path, encoding: str = "utf-8") -> list[tuple[int, str]]:
    """Lines that hold something, stripped of white space around them but for tabs inside, and their numbers from 1."""
    try:
        text = path.read_bytes().decode(encoding)
    except UnicodeDecodeError as error:
        raise DataCorrupt(
            f"{path} is not {encoding} (byte {error.start})", expected=f"a text file in {encoding}"
        ) from error
    lines = text.replace("\r\n", "\n").split("\n")
    return [(number, line.strip()) for number, line in enumerate(lines, 1) if line.strip()]
