"""The published scores are those of the tables: counts, ranges, and rows copied from the paper once more."""

from __future__ import annotations

from collections import Counter

import pytest

from blindspot.datasets.catalog import DATASETS
from blindspot.diagnostics.evalrank import published as reference
from blindspot.numerics.similarity import Similarity
from tests.support.tables import each

# Percent, as the tables print them: (source, model, post-processing, similarity) and the three scores.
COPIED = [
    ("table 5a", "GloVe", "none", "cos", (13.15, 4.66, 15.72)),
    ("table 5a", "word2vec", "none", "cos", (12.88, 4.57, 14.35)),
    ("table 5a", "fastText", "none", "cos", (17.22, 5.77, 19.99)),
    ("table 5a", "Dict2vec", "none", "cos", (12.71, 4.03, 13.04)),
    ("table 5b", "GloVe", "not stated", "cos", (61.00, 44.94, 74.66)),
    ("table 5b", "InferSentv1", "none", "cos", (60.72, 41.92, 77.21)),
    ("table 5b", "InferSentv2", "none", "cos", (63.89, 45.59, 80.47)),
    ("table 5b", "BERT-first-last-avg", "none", "cos", (68.01, 51.70, 81.91)),
    ("table 5b", "BERT-whitening", "whitening", "cos", (66.58, 46.54, 84.22)),
    ("table 5b", "SBERT", "not stated", "cos", (64.12, 47.07, 79.05)),
    ("table 5b", "SimCSE", "none", "cos", (69.50, 52.34, 84.43)),
    ("the toolkit's page for words, cos", "toy_emb", "none", "cos", (3.18, 1.18, 3.54)),
    ("the toolkit's page for words, l2", "Dict2vec", "none", "l2", (5.40, 1.60, 7.04)),
    ("the toolkit's page for words, cos+post-processing", "fastText", "abtt", "cos", (17.42, 6.18, 19.53)),
    ("the toolkit's page for words, l2+post-processing", "word2vec", "abtt", "l2", (9.07, 2.81, 12.21)),
]


@each(("source", "model", "post_processing", "metric", "percent"), COPIED)
def test_rows_are_those_of_the_tables(
    source: str, model: str, post_processing: str, metric: str, percent: tuple[float, ...]
) -> None:
    (row,) = (
        row
        for row in reference.evalrank_scores()
        if row.source.endswith(source) and (row.model, row.post_processing) == (model, post_processing)
    )
    assert row.metric == metric
    assert [100 * row.scores[name] for name in ("mrr", "hits@1", "hits@3")] == pytest.approx(percent)


def test_every_table_is_whole() -> None:
    rows = reference.evalrank_scores()
    assert Counter(row.source.rpartition(", ")[2] for row in rows) == {
        "table 5a": 4,
        "table 5b": 7,
        "cos": 1,  # the rest of it is table 5a
        "l2": 5,
        "cos+post-processing": 5,
        "l2+post-processing": 5,
    }
    assert Counter(row.kind for row in rows) == {"word": 20, "sentence": 7}
    assert {row.post_processing for row in rows} == {"none", "abtt", "whitening", "not stated"}
    assert len({(row.source, row.model) for row in rows}) == len(rows)


def test_scores_are_fractions_in_their_order() -> None:
    for row in reference.evalrank_scores():
        mrr, first, third = (row.scores[name] for name in reference.SCORES)
        assert 0 < first < mrr < 1, row
        assert first < third < 1, row
        assert all(round(score, 4) == score for score in row.scores.values()), "two digits of a percentage"


def test_only_the_paper_s_datasets_have_published_scores() -> None:
    assert set(reference.KINDS) <= set(DATASETS)
    assert {row.kind for row in reference.published_for("evalrank-sent")} == {"sentence"}
    assert {row.metric for row in reference.published_for("evalrank-word")} == set(Similarity)
    for dataset in DATASETS.keys() - reference.KINDS.keys():
        assert reference.published_for(dataset) == ()


@each(
    ("transform", "published"),
    [
        ("none", "none"),
        ("center", "none"),
        ("center+normalize", "none"),
        ("abtt:3", "abtt"),
        ("center+abtt:2", "abtt"),
        ("whiten", "whitening"),
        ("whiten:128+normalize", "whitening"),
        ("truncate:128", "truncate:128"),
        ("truncate:128+whiten", "truncate:128+whiten"),
    ],
)
def test_transforms_in_the_words_of_the_tables(transform: str, published: str) -> None:
    assert reference.post_processing_of(transform) == published
