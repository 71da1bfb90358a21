"""Published scores come out: all-MiniLM-L6-v2 on STS, and the toolkit's word vectors on WordSim-353.

Every task is encoded when its test runs (short texts: some twenty seconds of two cores); the other years and SICK have
the same loaders and were measured by hand.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from blindspot.runs import pipeline, requesting
from blindspot.settings import Settings
from blindspot.store.repository import Repository

pytestmark = pytest.mark.realdata


@pytest.mark.parametrize(
    ("dataset", "published"), [("stsb-test", 82.03), pytest.param("sts16", 78.99, marks=pytest.mark.slow)]
)
def test_public_scores_of_minilm(
    shared_settings: Settings, shared_repository: Repository, dataset: str, published: float
) -> None:
    """Spearman over all pairs, cosine."""
    request = requesting.request("similarity", "minilm", "none", dataset, {"metric": "cos"}, shared_settings)
    run = pipeline.run(request, shared_settings, shared_repository).record
    assert 100 * run.metrics["spearman"] == pytest.approx(published, abs=0.05)
    assert run.coverage["pairs_covered"] == run.coverage["pairs"]


def test_the_toolkits_word_vectors(shared_settings: Settings, shared_repository: Repository) -> None:
    path = Path(shared_settings.mirror) / "evalrank/src/models/word_emb/toy_emb.txt"
    params = {"metric": "cos", "protocol": "toolkit"}
    request = requesting.request("similarity", f"vectors:{path}", "none", "ws353", params, shared_settings)
    metrics = pipeline.run(request, shared_settings, shared_repository).record.metrics
    found = [round(100 * metrics[name], 2) for name in ("pearson", "spearman", "kendall")]
    assert found == [31.86, 22.20, 16.04]
