"""Transfer on the real files, beside scikit-learn called by hand: what it learns, and what the files hold.

Random projections take no time to encode, and the classifiers do not care where features come from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from blindspot.encoders.catalog import resolve_encoder
from blindspot.runs import pipeline, requesting
from blindspot.settings import Settings
from blindspot.store.repository import Repository
from blindspot.types import CancelToken, Float32

pytestmark = pytest.mark.realdata
WITHIN = 0.015


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    with threadpool_limits(1):
        yield


def metrics_of(dataset: str, classifier: str, settings: Settings, shared_repository: Repository) -> dict[str, float]:
    params = {"classifier": classifier}
    request = requesting.request("transfer", "random-projection", "none", dataset, params, settings)
    return dict(pipeline.run(request, settings, shared_repository).record.metrics)


def folder(settings: Settings, name: str) -> Path:
    return Path(settings.mirror) / "evalrank/data/sent_classification" / name


def encoded(texts: list[str], settings: Settings) -> Float32:
    return resolve_encoder("random-projection", settings).encode(texts, CancelToken())


def lines(path: Path, encoding: str = "utf-8") -> list[str]:
    return [line.strip() for line in path.read_bytes().decode(encoding).split("\n") if line.strip()]


def test_customers_reviews_by_hand(shared_settings: Settings, shared_repository: Repository) -> None:
    """Ten folds of scikit-learn's own, its scaler and one C for all of them."""
    metrics = metrics_of("cr", "logreg-znorm", shared_settings, shared_repository)
    negative, positive = (lines(folder(shared_settings, f"CR/custrev.{sign}")) for sign in ("neg", "pos"))
    labels = [0] * len(negative) + [1] * len(positive)
    assert (metrics["tested"], metrics["folds"]) == (len(labels), 10)
    assert metrics["majority"] == pytest.approx(len(positive) / len(labels))
    again = Counter(" ".join(text.casefold().split()) for text in negative + positive)
    assert metrics["overlap"] == sum(count for count in again.values() if count > 1)

    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.05, max_iter=1_000))
    folds = StratifiedKFold(10, shuffle=True, random_state=7)
    by_hand = cross_val_score(model, encoded(negative + positive, shared_settings), labels, cv=folds).mean()
    assert metrics["accuracy"] == pytest.approx(by_hand, abs=WITHIN)
    assert metrics["accuracy"] > metrics["majority"] + 0.05


def test_questions_by_hand(shared_settings: Settings, shared_repository: Repository) -> None:
    """The files' own split, scikit-learn's own C, and vectors that nobody scaled."""
    metrics = metrics_of("trec", "logreg", shared_settings, shared_repository)
    parts = [lines(folder(shared_settings, f"TREC/{name}.label"), "latin-1") for name in ("train_5500", "TREC_10")]
    train, test = ([line.partition(" ")[2].strip() for line in part] for part in parts)
    learned, asked = ([line.partition(":")[0] for line in part] for part in parts)
    assert (metrics["trained"], metrics["tested"]) == (len(train), len(test))
    most_frequent = Counter(learned).most_common(1)[0][0]
    assert metrics["majority"] == pytest.approx(np.mean([label == most_frequent for label in asked]))
    assert metrics["overlap"] == 11

    model = LogisticRegression(C=1.0, max_iter=1_000).fit(encoded(train, shared_settings), learned)
    by_hand = model.score(encoded(test, shared_settings), asked)
    assert metrics["accuracy"] == pytest.approx(by_hand, abs=WITHIN)
    assert metrics["accuracy"] > metrics["majority"] + 0.3
