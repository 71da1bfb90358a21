"""SentEval's files of probing tasks, on made-up sentences whose length is the class; what is wrong with bad ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from blindspot.datasets import fetch, uploads
from blindspot.datasets.catalog import find_dataset
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.kinds.labeled_texts import DEV, TEST, TRAIN
from blindspot.datasets.kinds.probing import PROBES, ProbingTask, probe_of
from blindspot.datasets.user_data.files import parse, tabulate
from blindspot.errors import InputError
from blindspot.settings import Settings
from tests.support.tables import each

SPLITS = {"tr": TRAIN, "va": DEV, "te": TEST}
LINES = [
    f'{split}\t{length}\t{" ".join([f"w{i}{split}", *["very"] * length])} "so" .'
    for split in SPLITS
    for length in (1, 2, 3)
    for i in range(6)
]


def read(lines: list[str], name: str = "sentence_length.txt") -> ProbingTask:
    found = parse(Path(name), "\n".join(lines).encode())
    data = found.dataset("x")
    assert isinstance(data, ProbingTask)
    return data


@pytest.mark.parametrize("name", ["sentence_length.txt", "sentence_length.tsv"])
def test_every_line_is_an_example_the_first_too(name: str) -> None:
    data = read(LINES, name)
    assert data.task == "sentence_length"
    assert len(data.labels) == len(LINES) == 54
    assert data.classes == ("1", "2", "3")
    assert data.splits.tolist() == [SPLITS[line[:2]] for line in LINES]
    for text, label in zip(data.items, data.labels.tolist(), strict=True):
        assert text.split().count("very") == int(data.classes[label])
        assert '"so"' in text


def test_the_files_name_tells_which_of_the_ten_tasks_it_is() -> None:
    assert len(PROBES) == 10
    for name, probe in PROBES.items():
        assert probe_of(read(LINES, f"{name}.txt").task) is probe
        assert probe.question.endswith("?")
    assert probe_of("Sentence-Length") is PROBES["sentence_length"]
    assert probe_of(read(LINES, "mine.txt").task) is None


def test_a_thousand_classes_are_read_and_two_thousand_are_not() -> None:
    def lines(classes: int) -> list[str]:
        return [f"{split}\tword{k}\t{split} says word{k}" for split in SPLITS for k in range(classes)]

    assert len(read(lines(1_000), "word_content.txt").classes) == 1_000
    with pytest.raises(InputError, match="2,001 classes"):
        read(lines(2_001), "word_content.txt")


def test_a_file_in_the_catalog_and_as_an_upload(tmp_path: Path, settings: Settings) -> None:
    path = tmp_path / "sentence_length.txt"
    path.write_text("\n".join(LINES), "utf-8")
    entry = find_dataset(f"file:{path}")
    assert (entry.kind, entry.pairs, entry.classes, entry.is_split) == (DatasetKind.PROBING, 54, 3, True)
    table = tabulate(path, path.read_bytes())
    assert table.kind is DatasetKind.PROBING
    upload = uploads.add(table.contents(), path.read_bytes(), settings)
    kept, given = (fetch.load(find_dataset(one), settings) for one in (upload.reference, entry.id))
    assert isinstance(kept, ProbingTask)
    assert kept.task == "sentence_length"
    assert kept.content_digest == given.content_digest


def test_columns_with_a_header_stay_labeled_texts_unless_they_name_a_task() -> None:
    rows = [f"{split}\t{'ab'[i % 2]}\ttext {i}" for i, split in enumerate(["train"] * 20 + ["test"] * 10)]
    plain = tabulate(Path("x.tsv"), "\n".join(["split\tlabel\ttext", *rows]).encode())
    assert plain.kind is DatasetKind.LABELED_TEXTS
    named = "\n".join(["Probing task\tsplit\tlabel\ttext", *(f"tense\t{row}" for row in rows)])
    assert tabulate(Path("x.tsv"), named.encode()).kind is DatasetKind.PROBING
    with pytest.raises(InputError, match="line 3, column 'Probing task': 'depth' after 'tense'"):
        parse(Path("x.tsv"), named.replace("tense\ttrain\tb", "depth\ttrain\tb", 1).encode())


@each(
    ("lines", "told"),
    [
        ([line for line in LINES if line[:2] != "te"], "test"),
        ([line for line in LINES if line[:2] != "tr"], "train"),
        ([line.replace("\t2\t", "\t1\t").replace("\t3\t", "\t1\t") for line in LINES], "the class is '1'"),
        ([*LINES, "xx\t1\tw"], "line 55.*'xx'"),
        ([*LINES, "te\t1"], "line 55"),
        ([*LINES, "te\t1\ta\tb"], "line 55"),
        ([*LINES, "te\t\tw"], "line 55.*'label'.*nothing there"),
        ([*LINES, "te\t1\t"], "line 55.*'text'.*nothing there"),
        ([*LINES, "te\t9\tw"], "class '9' has"),
        (LINES[:1], "has 1 labeled"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(lines: list[str], told: str) -> None:
    with pytest.raises(InputError, match=told) as caught:
        read(lines)
    assert "\n" not in str(caught.value)
