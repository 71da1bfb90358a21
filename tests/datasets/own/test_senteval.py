"""SentEval's files of probing tasks, on made-up sentences whose length is the class; what is wrong with bad ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from blindspot.datasets.kinds.labelled_texts import DEV, TEST, TRAIN, LabelledTexts
from blindspot.datasets.own.files import parse
from blindspot.errors import InputError

SPLITS = {"tr": TRAIN, "va": DEV, "te": TEST}
LINES = [
    f'{split}\t{length}\t{" ".join([f"w{i}{split}", *["very"] * length])} "so" .'
    for split in SPLITS
    for length in (1, 2, 3)
    for i in range(6)
]


def read(lines: list[str]) -> LabelledTexts:
    found = parse(Path("sentence_length.tsv"), "\n".join(lines).encode())
    data = found.dataset("x")
    assert isinstance(data, LabelledTexts)
    return data


def test_every_line_is_an_example_the_first_too() -> None:
    data = read(LINES)
    assert len(data.labels) == len(LINES) == 54
    assert data.classes == ("1", "2", "3")
    assert data.splits.tolist() == [SPLITS[line[:2]] for line in LINES]
    for text, label in zip(data.items, data.labels.tolist(), strict=True):
        assert text.split().count("very") == int(data.classes[label])
        assert '"so"' in text


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([line for line in LINES if line[:2] != "te"], "test"),
        ([line for line in LINES if line[:2] != "tr"], "train"),
        ([line.replace("\t2\t", "\t1\t").replace("\t3\t", "\t1\t") for line in LINES], "the class is '1'"),
        ([*LINES, "xx\t1\tw"], "line 55.*'xx'"),
        ([*LINES, "te\t1"], "line 55"),
        ([*LINES, "te\t1\ta\tb"], "line 55"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(lines: list[str], told: str) -> None:
    with pytest.raises(InputError, match=told):
        read(lines)
