"""Labeled texts in the store: their rows, and tested examples read back with label, split and texts."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from blindspot.datasets.kinds.labeled_texts import DEV, TEST, TRAIN, LabeledTexts
from blindspot.datasets.published.labeled_texts import Example, labeled_texts
from blindspot.diagnostic import DiagnosticResult, find_diagnostic
from blindspot.store.records import RunPlan
from blindspot.store.repository import Repository
from blindspot.variants import Variant

ENTRY = find_diagnostic("transfer")
CLASSES = ("p", "q")
SINGLE = labeled_texts("single", CLASSES, [Example("pq"[i % 2], text) for i, text in enumerate("abca")])
PAIRS = labeled_texts(
    "pairs",
    CLASSES,
    [
        Example("p", "a", "b", TRAIN),
        Example("q", "b", "c", DEV),
        Example("q", "é *x*", "a", TEST),
        Example("p", "c", "c", TEST),
    ],
)


def store(repository: Repository, run_id: str, data: LabeledTexts, tested: list[int], encoder: str = "minilm") -> None:
    """A finished run that tested these examples and said q of all."""
    plan = RunPlan(
        run_id=run_id,
        diagnostic=ENTRY.id,
        diagnostic_version=ENTRY.version,
        variant=Variant(encoder, "none"),
        dataset=data.id,
        dataset_digest=data.content_digest,
        params={"classifier": "logreg", "seed": "1"},
        embedding_digest="e" * 32,
    )
    n = len(tested)
    columns = {"predicted": ["q"] * n, "probability": np.linspace(0.5, 1.0, n)}
    others = [f for f in ENTRY.schema if f.name not in columns]
    items = pa.table(columns | {f.name: pa.array(range(n), f.type) for f in others}, schema=ENTRY.schema)
    seq = repository.begin(plan)
    result = DiagnosticResult({"accuracy": 0.5}, items, {"examples": 4}, np.array(tested))
    repository.finish(seq, ENTRY, data, result, {"compute": 1.0}, {})


def test_examples_of_pairs_come_back_with_their_texts(repository: Repository) -> None:
    store(repository, "aaaa", PAIRS, [2, 3])
    rows = repository.items(ENTRY, ["aaaa"], texts=True)
    shown = rows[["run_id", "item_no", "predicted", "probability", "label", "split", "first", "second"]]
    assert shown.values.tolist() == [
        ["aaaa", 2, "q", 0.5, "q", "test", "é *x*", "a"],
        ["aaaa", 3, "q", 1.0, "p", "test", "c", "c"],
    ]
    assert rows[["first_no", "second_no"]].values.tolist() == [[3, 0], [2, 2]]


def test_single_texts_have_no_second_and_no_split(repository: Repository) -> None:
    store(repository, "aaaa", SINGLE, [0, 1, 2, 3])
    store(repository, "bbbb", SINGLE, [1, 3], "lsa")
    store(repository, "cccc", PAIRS, [2])
    rows = repository.items(ENTRY, ["bbbb", "aaaa"], texts=True)
    assert list(zip(rows["item_no"], rows["run_id"], rows["first"], rows["label"], strict=True)) == [
        (0, "aaaa", "a", "p"),
        (1, "aaaa", "b", "q"),
        (1, "bbbb", "b", "q"),
        (2, "aaaa", "c", "p"),
        (3, "aaaa", "a", "q"),
        (3, "bbbb", "a", "q"),
    ]
    assert set(rows["split"]) == {""}
    assert rows["second"].isna().all()
    assert rows["second_no"].isna().all()


@pytest.mark.parametrize("data", [SINGLE, PAIRS], ids=lambda data: data.id)
def test_a_dataset_stands_once_with_every_example(repository: Repository, data: LabeledTexts) -> None:
    for number, run_id in enumerate(("aaaa", "bbbb")):
        store(repository, run_id, data, [0, 3], ("minilm", "lsa")[number])
    with repository.database.cursor() as cursor:
        rows = cursor.execute(
            "SELECT item_no, split, first_no, second_no, label FROM dataset_labeled_text ORDER BY item_no"
        ).fetchall()
    seconds = data.seconds.tolist() if data.has_pairs else [None] * 4
    splits = ["train", "dev", "test", "test"] if data.is_split else [""] * 4
    labels = [CLASSES[n] for n in data.labels]
    assert rows == list(zip(range(4), splits, data.firsts.tolist(), seconds, labels, strict=True))
