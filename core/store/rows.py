"""Datasets and scores as rows of the store's tables."""

from __future__ import annotations

from collections.abc import Mapping

import duckdb
import numpy as np
import pyarrow as pa

from core.datasets.kinds.base import Dataset


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
    if dataset.stored_as:
        rows = pa.table(dataset.stored_rows())
        seqs = pa.array(np.full(rows.num_rows, seq, dtype=np.int32))
        cursor.from_arrow(rows.add_column(0, "dataset_seq", seqs)).insert_into(f"dataset_{dataset.stored_as}")
