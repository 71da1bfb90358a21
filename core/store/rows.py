"""Datasets and scores as rows of the store's tables."""

from __future__ import annotations

from collections.abc import Mapping

import duckdb
import numpy as np
import pyarrow as pa

from core.datasets.kinds.base import Dataset
from core.datasets.kinds.labelled_texts import SPLITS, UNSPLIT, LabelledTexts
from core.datasets.kinds.minimal_pairs import MinimalPairSet
from core.datasets.kinds.pairs import PairSet
from core.datasets.kinds.relations import Analogies, Categories
from core.datasets.kinds.scored_pairs import ScoredPairs
from core.datasets.kinds.vocabulary import Vocabulary


def metric_rows(run_seq: int, metrics: Mapping[str, float]) -> pa.Table:
    """A run's scores for the table ``metric``."""
    return pa.table(
        {
            "run_seq": pa.array([run_seq] * len(metrics), pa.int32()),
            "name": list(metrics),
            "value": pa.array(list(metrics.values()), pa.float64()),
        }
    )


def store_dataset(cursor: duckdb.DuckDBPyConnection, dataset: Dataset) -> None:
    """Store a dataset unless it is there: texts, and the pairs that are made of them, stand once per content."""
    digest = dataset.content_digest
    if cursor.execute("SELECT 1 FROM dataset WHERE dataset_digest = ?", [digest]).fetchall():
        return
    rows = cursor.execute(
        "INSERT INTO dataset (dataset, dataset_digest, kind) VALUES (?, ?, ?) RETURNING dataset_seq",
        [dataset.id, digest, dataset.kind],
    ).fetchall()
    seq = np.int32(rows[0][0])
    n = len(dataset.items)
    texts = pa.table(
        {
            "dataset_seq": np.full(n, seq, dtype=np.int32),
            "text_no": np.arange(n, dtype=np.int32),
            "text": pa.array(dataset.items, pa.string()),
        }
    )
    cursor.from_arrow(texts).insert_into("dataset_text")
    if isinstance(dataset, PairSet):
        cursor.from_arrow(_pairs(dataset, seq)).insert_into("dataset_pair")
    elif isinstance(dataset, MinimalPairSet):
        for subset in dataset.subsets:
            cursor.from_arrow(_minimal_pairs(dataset, subset, seq)).insert_into("dataset_minimal_pair")
    elif isinstance(dataset, ScoredPairs):
        cursor.from_arrow(_scored_pairs(dataset, seq)).insert_into("dataset_scored_pair")
    elif isinstance(dataset, Analogies):
        cursor.from_arrow(_questions(dataset, seq)).insert_into("dataset_analogy")
    elif isinstance(dataset, Categories):
        cursor.from_arrow(_members(dataset, seq)).insert_into("dataset_category")
    elif isinstance(dataset, LabelledTexts):
        cursor.from_arrow(_examples(dataset, seq)).insert_into("dataset_labelled_text")
    elif not isinstance(dataset, Vocabulary):  # of which rows speak by their thresholds, not word by word
        raise TypeError(f"the store has no table for a {dataset.kind}")


def _pairs(dataset: PairSet, seq: np.int32) -> pa.Table:
    m = len(dataset.queries)
    return pa.table(
        {
            "dataset_seq": np.full(m, seq, dtype=np.int32),
            "item_no": np.arange(m, dtype=np.int32),
            "query_no": dataset.queries,
            "mate_no": dataset.mates,
        }
    )


def _scored_pairs(dataset: ScoredPairs, seq: np.int32) -> pa.Table:
    m = len(dataset.scores)
    return pa.table(
        {
            "dataset_seq": np.full(m, seq, dtype=np.int32),
            "item_no": np.arange(m, dtype=np.int32),
            "set_name": pa.array([dataset.sets[number] for number in dataset.set_numbers], pa.string()),
            "first_no": dataset.firsts,
            "second_no": dataset.seconds,
            "gold": dataset.scores,
        }
    )


def _minimal_pairs(dataset: MinimalPairSet, subset: str, seq: np.int32) -> pa.Table:
    n = len(dataset.originals)
    return pa.table(
        {
            "dataset_seq": np.full(n, seq, dtype=np.int32),
            "item_no": np.arange(n, dtype=np.int32),
            "subset": pa.array([subset] * n, pa.string()),
            "original_no": dataset.originals,
            "rewrite_no": dataset.rewrites[subset],
        }
    )


def _questions(dataset: Analogies, seq: np.int32) -> pa.Table:
    m = len(dataset.answers)
    return pa.table(
        {
            "dataset_seq": np.full(m, seq, dtype=np.int32),
            "item_no": np.arange(m, dtype=np.int32),
            "section": pa.array([dataset.sections[number] for number in dataset.section_numbers], pa.string()),
            **{name: dataset.questions[:, place] for place, name in enumerate(("a_no", "b_no", "c_no"))},
            "d_no": dataset.answers,
        }
    )


def _members(dataset: Categories, seq: np.int32) -> pa.Table:
    return pa.table(
        {
            "dataset_seq": np.full(len(dataset.members), seq, dtype=np.int32),
            "item_no": dataset.members,
            "class": pa.array([dataset.classes[number] for number in dataset.class_numbers], pa.string()),
        }
    )


def _examples(dataset: LabelledTexts, seq: np.int32) -> pa.Table:
    m = len(dataset.labels)
    return pa.table(
        {
            "dataset_seq": np.full(m, seq, dtype=np.int32),
            "item_no": np.arange(m, dtype=np.int32),
            "split": pa.array(["" if s == UNSPLIT else SPLITS[s] for s in dataset.splits.tolist()], pa.string()),
            "first_no": dataset.firsts,
            "second_no": pa.array(dataset.seconds) if dataset.has_pairs else pa.nulls(m, pa.int32()),
            "label": pa.array([dataset.classes[number] for number in dataset.labels], pa.string()),
        }
    )
