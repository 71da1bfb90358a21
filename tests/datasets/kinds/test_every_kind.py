"""The contract of every kind of dataset, on a small one of each."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from blindspot.datasets.kinds import KINDS
from blindspot.datasets.kinds.base import Dataset, DatasetKind
from blindspot.datasets.kinds.chunked import UNKNOWN, ChunkedSentences
from blindspot.datasets.kinds.labeled_texts import TEST, TRAIN
from blindspot.datasets.kinds.probing import ProbingTask
from blindspot.datasets.kinds.vocabulary import Vocabulary
from blindspot.datasets.published.chunked import chunked_sentences
from blindspot.datasets.published.labeled_texts import Example, labeled_texts
from blindspot.datasets.published.minimal_pairs import minimal_pair_set
from blindspot.datasets.published.pairs import pair_set
from blindspot.datasets.published.retrieval import Document, Judgment, Query, retrieval_dataset
from blindspot.datasets.published.scored_pairs import scored_pairs
from blindspot.datasets.published.word_relations import (
    Event,
    Group,
    Question,
    analogies,
    categories,
    events,
    outliers,
)
from blindspot.store.repository import Repository, store_dataset
from tests.support.tables import each

SAMPLES: tuple[Dataset, ...] = (
    pair_set("pairs", [("a", "b"), ("b", "c"), ("a", "b")], ["d"]),
    minimal_pair_set("minimal", ["a", "d"], {"typo": ["b", "e"], "negation": ["c", "d"]}),
    scored_pairs("scored", {"one": [("a", "b", 1.0), ("a", "c", 2.0)], "two": [("c", "d", 0.5)]}),
    Vocabulary("words", ("a", "b", "c"), np.array([5.0, 3.0, 2.0]), 10.0, np.array([1, 2], dtype=np.int32)),
    analogies("analogies", [Question("s", "", "a", "b", "c", "d"), Question("t", "", "c", "d", "e", "f")], ["g"]),
    categories("categories", [("k", "a"), ("l", "a"), ("l", "b")]),
    events("events", [Event("a", "b", "c", "d"), Event("e", "f", "d", "a")]),
    outliers("outliers", [Group("g", ("a", "b", "c"), ("d",)), Group("h", ("d", "e"), ("a", "f"))]),
    chunked_sentences("chunked", [(TRAIN, [[("a", "B-NP"), ("b", "O")]]), (TEST, [[("c", "B-VP")]])]),
    retrieval_dataset(
        "retrieval",
        [Query("1", "a"), Query("2", "d")],
        [Document("x", "", "b"), Document("y", "", "c"), Document("z", "", "a")],
        [Judgment(1, 1, 2), Judgment(0, 0, 1), Judgment(1, 0, 0)],
    ),
    labeled_texts("labeled", ("p", "q"), [Example("p", "a"), Example("q", "b"), Example("q", "a")]),
    ProbingTask.of(labeled_texts("probing", ("p", "q"), [Example("p", "a"), Example("q", "b")]), "tree_depth"),
)
every_kind = each("dataset", SAMPLES, ids=lambda d: d.kind.name)


def test_the_table_and_the_samples_have_every_kind() -> None:
    assert set(KINDS) == set(DatasetKind) == {sample.kind for sample in SAMPLES}
    assert all(KINDS[sample.kind] is type(sample) for sample in SAMPLES)
    own = [kind for kind in KINDS.values() if kind.stored_as and kind.__base__ not in KINDS.values()]
    assert len(own) == len({kind.stored_as for kind in own}), "only a kind made from another shares its table"


@every_kind
def test_rows_have_a_cell_per_heading(dataset: Dataset) -> None:
    rows = dataset.rows(0, 1_000)
    assert rows
    assert {len(row) for row in rows} == {len(dataset.headings)}
    assert list(dataset.rows(0, 1)) + list(dataset.rows(1, 1_000)) == list(rows)
    first = dataset.first_rows(1_000)
    assert {len(cells) for cells in first.cells} == {len(first.headings)}


@every_kind
def test_parts(dataset: Dataset) -> None:
    n = len(dataset.items)
    everything = np.ones(n, dtype=np.bool_)
    covered = np.array([item != "b" for item in dataset.items])
    if not dataset.has_parts:
        with pytest.raises(TypeError, match="has no parts"):
            dataset.part(covered)
        return
    whole, part = dataset.part(everything), dataset.part(covered)
    assert (whole.dataset, whole.digest) == (dataset, "")
    assert type(part.dataset) is type(dataset)
    assert part.dataset.items == tuple(dataset.items[i] for i in part.items)
    assert set(part.dataset.items) == {*dataset.items} - {"b"}
    assert part.digest
    if isinstance(dataset, ChunkedSentences):
        assert len(part.rows) == len(whole.rows), "sentences stay whole"
        assert UNKNOWN in part.dataset.words
    else:
        assert len(part.rows) < len(whole.rows), "a row with b is left out"
    counts = dataset.coverage(covered)
    assert (counts["items"], counts["items_covered"]) == (n, n - 1)
    if dataset.counted:
        assert counts[dataset.counted] == len(whole.rows)
        assert counts[f"{dataset.counted}_covered"] == len(part.rows)


@pytest.mark.parametrize("dataset", SAMPLES, ids=lambda d: d.kind.name)
def test_it_is_stored_once_with_its_rows(dataset: Dataset, repository: Repository) -> None:
    with repository.database.transaction() as cursor:
        for _ in range(2):
            store_dataset(cursor, dataset)
        texts = cursor.execute("SELECT text FROM dataset_text ORDER BY text_no").fetchall()
        stored = cursor.execute(f"SELECT * FROM dataset_{dataset.stored_as}").fetchall() if dataset.stored_as else []
    assert tuple(text for (text,) in texts) == dataset.items
    assert stored == [(stored[0][0], *row.values()) for row in pa.table(dataset.stored_rows()).to_pylist()]


def test_what_is_said_of_related_items() -> None:
    said = {dataset.id: dataset.related(0) for dataset in SAMPLES}
    assert said.pop("pairs") == {1: "match"}
    assert said.pop("minimal") == {1: "typo", 2: "negation"}
    assert said.pop("retrieval") == {2: "relevant"}
    assert not any(said.values())


def test_kinds_of_words_may_hold_phrases() -> None:
    assert categories("c", [("k", "ice cream"), ("k", "apple pie")]).of_words
    assert not pair_set("p", [("ice cream", "apple pie")], []).of_words
