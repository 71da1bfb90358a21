"""Datasets of the catalog read as they were before own files were read with more care: ids, contents and scores.

The digests and scores were taken at commit a9bd3de9. A changed one breaks users: raise the version of the diagnostic.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import blindspot as bs
from blindspot.datasets import fetch
from blindspot.datasets.catalog import DATASETS, SOURCES
from blindspot.settings import Settings
from tests.support.tables import each

EVERY = {**DATASETS, **SOURCES}
UNPINNED = {"heros"}  # could not be downloaded when the digests were taken
MODEL = "random-projection"


def digests() -> dict[str, str]:
    """Beginning of the digest by dataset."""
    with (Path(__file__).parent / "digests.tsv").open(encoding="utf-8", newline="") as file:
        return {row["id"]: row["digest"] for row in csv.DictReader(file, delimiter="\t")}


def test_every_dataset_has_the_id_that_it_had() -> None:
    assert sorted(EVERY.keys() - UNPINNED) == sorted(digests())


def changed(settings: Settings, *, downloads: bool) -> list[str]:
    known = digests()
    return [
        name
        for name, entry in EVERY.items()
        if name in known
        and bool(entry.files) is downloads
        and not fetch.load(entry, settings).content_digest.startswith(known[name])
    ]


def test_contents_of_built_in_sets_stay(settings: Settings) -> None:
    assert changed(settings, downloads=False) == []


@pytest.mark.realdata
def test_contents_of_downloads_stay(shared_settings: Settings) -> None:
    assert changed(shared_settings, downloads=True) == []


SCORES = [
    ("evalrank", "demo-pairs", {}, {"mrr": 0.418375, "mrr_filtered": 0.418375, "hits@1": 0.115}),
    ("evalrank", "demo-pairs", {"candidates": "matches"}, {"mrr": 0.98395, "hits@1": 0.9825}),
    ("heros", "demo-minimal", {}, {"cos_avg": 0.2899, "synonym": 0.93422}),
    ("similarity", "demo-scored", {}, {"pearson": -0.095578, "spearman": -0.098779}),
    ("retrieval", "demo-retrieval", {}, {"ndcg@10": 0.369545, "mrr": 0.322944, "recall@100": 1.0}),
]
SCORES_OF_DOWNLOADS = [
    ("evalrank", "evalrank-sent", {}, {"mrr": 0.350957, "mrr_filtered": 0.360002, "hits@1": 0.29482}),
    ("similarity", "stsb-dev", {}, {"pearson": 0.310734, "spearman": 0.303937}),
    ("retrieval", "cranfield", {}, {"ndcg@10": 0.031578, "mrr": 0.097464, "recall@100": 0.176643}),
    ("retrieval", "limit-small", {}, {"ndcg@10": 0.317696, "mrr": 0.331241}),
]


def check_scores(diagnostic: str, dataset: str, params: dict[str, str], scores: dict[str, float]) -> None:
    found = bs.run(diagnostic, MODEL, dataset, **params).metrics
    assert {name: found[name] for name in scores} == pytest.approx(scores, abs=2e-6)


@each("diagnostic, dataset, params, scores", SCORES)
def test_scores_of_built_in_sets_stay(
    diagnostic: str, dataset: str, params: dict[str, str], scores: dict[str, float]
) -> None:
    check_scores(diagnostic, dataset, params, scores)


@pytest.mark.realdata
@each("diagnostic, dataset, params, scores", SCORES_OF_DOWNLOADS)
def test_scores_of_downloads_stay(
    diagnostic: str,
    dataset: str,
    params: dict[str, str],
    scores: dict[str, float],
) -> None:
    check_scores(diagnostic, dataset, params, scores)
