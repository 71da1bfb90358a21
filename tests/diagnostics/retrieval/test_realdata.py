"""Cranfield and LIMIT: whole runs equal trec_eval's scores of the same similarities."""

from __future__ import annotations

import numpy as np
import pytest

from blindspot.datasets import fetch
from blindspot.datasets.catalog import find_dataset
from blindspot.datasets.kinds.retrieval import RetrievalDataset
from blindspot.diagnostics.retrieval.definition import BM25, ENTRY
from blindspot.encoders.rankings import bm25
from blindspot.runs import pipeline, requesting
from blindspot.runs.embeddings import embedded_of
from blindspot.settings import Settings
from blindspot.store.repository import Repository
from blindspot.types import CancelToken, no_progress
from tests.support.retrieval_world import by_trec_eval

pytestmark = pytest.mark.realdata
ENCODER = "random-projection-64"


@pytest.mark.parametrize("name", ["cranfield", "limit-small"])
def test_scores_are_those_of_trec_eval(shared_settings: Settings, shared_repository: Repository, name: str) -> None:
    runs = {}
    for ties in ("expected", "trec_eval"):
        request = requesting.request(ENTRY.id, ENCODER, "none", name, {"ties": ties}, shared_settings)
        runs[ties] = pipeline.run(request, shared_settings, shared_repository).record
    data = fetch.load(find_dataset(name), shared_settings)
    assert isinstance(data, RetrievalDataset)
    matrix = embedded_of(runs["expected"], shared_settings).matrix.astype(np.float64)
    rows = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    exact = rows[data.queries] @ rows[data.documents].T
    expected = by_trec_eval(data, np.round(exact, 6))
    keywords = by_trec_eval(
        data, np.concatenate(list(bm25.scores(data, np.arange(len(data.queries)), no_progress, CancelToken())))
    )
    for score, of_queries in expected.items():
        mean = float(np.mean(list(of_queries.values())))
        assert runs["trec_eval"].metrics[score] == pytest.approx(mean, abs=1e-9), score
        assert runs["expected"].metrics[score] == pytest.approx(mean, abs=1e-3), score
        mean = float(np.mean(list(keywords[score].values())))
        assert runs["trec_eval"].metrics[f"{BM25}{score}"] == pytest.approx(mean, abs=1e-9), score
