"""Published scores, as facts to lay beside measured ones: never mixed with them, always marked as published.

``assets/reference/evalrank.csv`` holds EvalRank scores of encoders as their authors published them: tables 5a and 5b
of Wang, Kuo and Li 2022 (source ``paper``; with cosine, says section 4.2), and the tables for words on the toolkit's
page ``benchmarking/word_evalrank.md`` (source ``toolkit``; post-processing of words is ABTT, says the paper's appendix
A). That page repeats table 5a under a heading without post-processing. What neither says is ``not stated``.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from core.numerics.similarity import Metric
from core.settings import ASSETS

EVALRANK = ASSETS / "reference" / "evalrank.csv"
SCORES = ("mrr", "hits@1", "hits@3")  # what was published
KINDS = {"evalrank-sent": "sentence", "evalrank-word": "word"}  # datasets that published scores are of
SOURCES = {
    "paper": "Wang, Kuo and Li 2022, table {table}",
    "toolkit": "the toolkit's page for words, {table}",
}


@dataclass(frozen=True)
class PublishedScore:
    """A row of a published table.

    Attributes:
        source: where it was published, in words.
        kind: ``word`` or ``sentence``.
        post_processing: ``none``, ``abtt``, ``whitening`` or ``not stated``, on top of what the toolkit always does.
        metric: the similarity.
        scores: fractions by the names of ``SCORES``.
        note: which vectors they are, and what is doubtful.
    """

    source: str
    kind: str
    model: str
    post_processing: str
    metric: Metric
    scores: Mapping[str, float]
    note: str


@lru_cache(maxsize=1)
def evalrank_scores() -> tuple[PublishedScore, ...]:
    """All published EvalRank scores, in the order of their tables."""
    with EVALRANK.open(encoding="utf-8", newline="") as file:
        return tuple(
            PublishedScore(
                source=SOURCES[row["source"]].format(table=row["table"]),
                kind=row["kind"],
                model=row["model"],
                post_processing=row["post_processing"],
                metric=Metric(row["metric"]),
                scores={name: float(row[name]) for name in SCORES},
                note=row["note"],
            )
            for row in csv.DictReader(file)
        )


def published_for(dataset: str) -> tuple[PublishedScore, ...]:
    """The published scores that a dataset's runs under the toolkit protocol can stand beside; none for most."""
    kind = KINDS.get(dataset)
    return tuple(score for score in evalrank_scores() if score.kind == kind)


def post_processing_of(transform: str) -> str:
    """A transform chain in the words of the published tables.

    The toolkit always centres (and, for cosine, normalises), so that those steps are none on top of it. Removing or
    keeping another number of components is still the same kind of post-processing.
    """
    names = {"abtt": "abtt", "whiten": "whitening"}
    steps = [step.partition(":")[0] for step in transform.split("+")]
    left = [step for step in steps if step not in {"none", "center", "normalize"}]
    if not left:
        return "none"
    return names.get(left[0], transform) if len(left) == 1 else transform
