"""Headers of public datasets and tools, with texts of our own: as what each is read, by which diagnostic."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from blindspot.datasets.catalog import dataset_for, find_dataset
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.own.columns import NO_ROLE, OwnFile
from blindspot.datasets.own.files import UnclearKind
from blindspot.errors import InputError

PAIRS, SCORED, RETRIEVAL, LABELLED = (
    DatasetKind.PAIR_SET,
    DatasetKind.SCORED_PAIRS,
    DatasetKind.RETRIEVAL,
    DatasetKind.LABELLED_TEXTS,
)
ROWS = 24
T1 = [f"the {i}. gardener plants a row of beans" for i in range(ROWS)]
T2 = [f"beans are set into bed {i} by somebody" for i in range(ROWS)]
T3 = [f"the ferry of {i} o'clock is late again" for i in range(ROWS)]
BINARY = [i % 2 for i in range(ROWS)]
THREE = [("entailment", "neutral", "contradiction")[i % 3] for i in range(ROWS)]
SCORES = [i % 11 / 2 for i in range(ROWS)]
IDS = [f"{i * 7 + 3}" for i in range(ROWS)]
LISTS = [[text, f"{text}, too"] for text in T2]
OTHERS = [[text] for text in T3]

# Per header: its columns, and as what it is read for which of the wanted kinds; None: it is asked or refused.
CASES: dict[str, tuple[dict[str, list[object]], dict[DatasetKind, tuple[str, ...] | None]]] = {
    "QQP": (
        {"id": IDS, "qid1": IDS, "qid2": IDS[::-1], "question1": T1, "question2": T2, "is_duplicate": BINARY},
        {PAIRS: ("question1", "question2", "is_duplicate"), SCORED: ("question1", "question2", "is_duplicate")},
    ),
    "MRPC": (
        {"Quality": BINARY, "#1 ID": IDS, "#2 ID": IDS[::-1], "#1 String": T1, "#2 String": T2},
        {PAIRS: ("#1 String", "#2 String", "Quality"), SCORED: ("#1 String", "#2 String", "Quality")},
    ),
    "PAWS": (
        {"id": IDS, "sentence1": T1, "sentence2": T2, "label": BINARY},
        {PAIRS: ("sentence1", "sentence2", "label"), SCORED: ("sentence1", "sentence2", "label")},
    ),
    "SNLI": (
        {"premise": T1, "hypothesis": T2, "label": THREE},
        {LABELLED: ("premise", "hypothesis", "label")},
    ),
    "STS-B": (
        {"split": ["dev"] * ROWS, "genre": ["news"] * ROWS, "sentence1": T1, "sentence2": T2, "score": SCORES},
        {SCORED: ("sentence1", "sentence2", "score")},
    ),
    "MS MARCO triples": (
        {"query": T1, "positive": T2, "negative": T3},
        {RETRIEVAL: ("query", "positive", "negative")},
    ),
    "NQ pairs": ({"query": T1, "answer": T2}, {PAIRS: ("query", "answer")}),
    "graded passages": (
        {"query": T1, "passage": T2, "relevance": [i % 4 for i in range(ROWS)]},
        {RETRIEVAL: ("query", "passage", "relevance")},
    ),
    "FlagEmbedding": (
        {"query": T1, "pos": LISTS, "neg": OTHERS, "pos_scores": [[1, 0.5]] * ROWS},
        {RETRIEVAL: ("query", "pos", "neg")},
    ),
    "sentence-transformers n-tuples": (
        {"anchor": T1, "positive": T2, "negative_1": T3, "negative_2": T3[::-1]},
        {RETRIEVAL: ("anchor", "positive", "negative_1", "negative_2")},
    ),
    "sentence-transformers labels": (
        {"text1": T1, "text2": T2, "label": BINARY},
        {PAIRS: ("text1", "text2", "label"), SCORED: ("text1", "text2", "label")},
    ),
    "Ragas": (
        {"user_input": T1, "reference_contexts": LISTS, "reference": T3, "synthesizer_name": ["x"] * ROWS},
        {RETRIEVAL: ("user_input", "reference_contexts")},
    ),
    "promptfoo": ({"question": T1, "__expected": T2}, {PAIRS: ("question", "__expected")}),
    "LangSmith": ({"input_question": T1, "output_answer": T2, "id": IDS}, {PAIRS: ("input_question", "output_answer")}),
    "Excel with numbers of rows": (
        {"": [str(i) for i in range(ROWS)], "Question": T1, "Answer": T2},
        {PAIRS: ("Question", "Answer")},
    ),
    "Excel without a name": ({"": T3, "Question": T1, "Answer": T2}, {PAIRS: None}),
}
AMBIGUOUS = {"QQP", "MRPC", "PAWS", "sentence-transformers labels"}


def written(folder: Path, name: str) -> Path:
    columns, _ = CASES[name]
    rows = [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
    if any(isinstance(cell, list) for cell in rows[0].values()):
        path = folder / f"{name}.jsonl"
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
        return path
    path = folder / f"{name}.csv"
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        out = csv.writer(file)
        out.writerow(columns)
        out.writerows(row.values() for row in rows)
    return path


def test_each_header_is_read_as_it_is_meant(tmp_path: Path) -> None:
    wrong = {}
    for name, (_, readings) in CASES.items():
        path = written(tmp_path, name)
        for kind, columns in readings.items():
            try:
                entry = find_dataset(dataset_for(f"file:{path}", kind))
            except InputError as error:
                if columns is not None:
                    wrong[name, kind] = str(error)
                continue
            own = entry.own
            used = tuple(c.name for c in own.columns if c.use not in NO_ROLE) if isinstance(own, OwnFile) else ()
            if columns is None or entry.kind is not kind or sorted(used) != sorted(columns):
                wrong[name, kind] = f"{entry.kind}: {used}"
    assert not wrong


def test_those_that_could_mean_two_things_are_asked_about(tmp_path: Path) -> None:
    asked = set()
    for name in CASES:
        try:
            find_dataset(f"file:{written(tmp_path, name)}")
        except UnclearKind:
            asked.add(name)
        except InputError:
            assert CASES[name][1] == {PAIRS: None}, name
    assert asked == AMBIGUOUS
