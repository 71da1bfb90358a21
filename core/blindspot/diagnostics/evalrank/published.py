"""Published EvalRank scores, always marked as published and never mixed with measured ones.

``assets/reference/evalrank.csv`` has tables 5a and 5b of Wang, Kuo and Li 2022 (source ``paper``; with cosine, section
4.2), and the tables for words on the toolkit's page ``benchmarking/word_evalrank.md`` (source ``toolkit``;
post-processing of words is ABTT, appendix A). That page repeats table 5a under a heading without post-processing.
``not stated`` marks what neither source says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from blindspot.files.reference import reference_rows
from blindspot.numerics.similarity import Similarity

SCORES = ("mrr", "hits@1", "hits@3")  # what was published
KINDS = {"evalrank-sent": "sentence", "evalrank-word": "word"}  # the datasets of the published scores
SOURCES = {"paper": "Wang, Kuo and Li 2022, table {table}", "toolkit": "the toolkit's page for words, {table}"}


@dataclass(frozen=True)
class PublishedScore:
    """A row of a published table: ``scores`` are fractions by the names of ``SCORES``.

    ``kind`` is ``word`` or ``sentence``; ``post_processing``, on top of what the toolkit always does, is ``none``,
    ``abtt``, ``whitening`` or ``not stated``; ``note`` says which vectors were scored, and what is doubtful.
    """

    source: str
    kind: str
    model: str
    post_processing: str
    metric: Similarity
    scores: Mapping[str, float]
    note: str


@lru_cache(maxsize=1)
def evalrank_scores() -> tuple[PublishedScore, ...]:
    """All published EvalRank scores, in the order of their tables."""
    return tuple(
        PublishedScore(
            source=SOURCES[row["source"]].format(table=row["table"]),
            kind=row["kind"],
            model=row["model"],
            post_processing=row["post_processing"],
            metric=Similarity(row["metric"]),
            scores={name: float(row[name]) for name in SCORES},
            note=row["note"],
        )
        for row in reference_rows("evalrank.csv")
    )


def published_for(dataset: str) -> tuple[PublishedScore, ...]:
    """The published scores that a dataset's runs under the toolkit protocol compare with; none for most datasets."""
    kind = KINDS.get(dataset)
    return tuple(score for score in evalrank_scores() if score.kind == kind)


def post_processing_of(transform: str) -> str:
    """A transform chain in the words of the published tables.

    Centering and normalizing are ``none``: the toolkit always does both. The number of components does not matter.
    """
    names = {"abtt": "abtt", "whiten": "whitening"}
    steps = [step.partition(":")[0] for step in transform.split("+")]
    left = [step for step in steps if step not in {"none", "center", "normalize"}]
    if not left:
        return "none"
    return names.get(left[0], transform) if len(left) == 1 else transform
