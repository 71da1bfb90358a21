"""Outlier detection: which word does not belong to the others? An intruder test without people.

Camacho-Collados and Navigli 2016, *Find the word that does not belong*, section 3.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.kinds.relations import Outliers
from blindspot.diagnostic import Column, Cost, Diagnostic, DiagnosticResult, Overview, Reading, Score
from blindspot.diagnostics.words.analogy import PAGE, unit_rows
from blindspot.errors import BlindspotError
from blindspot.numerics.ranking.problem import TAU
from blindspot.numerics.ranking.ranks import expected_hit
from blindspot.types import CancelToken, Float32, Float64, Int32, Int64, Progress

if TYPE_CHECKING:
    from blindspot.numerics.statistics.compare import ItemScores
    from blindspot.runs.findings import Material
    from blindspot.runs.findings.evidence import Evidence
    from blindspot.store.records import RunRecord
    from blindspot.store.repository import Repository

CASES_PER_CHECK = 256


@dataclass(frozen=True, eq=False)
class Found:
    """The words that stand out in m cases, ``[m]`` each.

    Attributes:
        lower: words of the group that are less similar to the rest than the outlier is.
        ties: words of the group that are as similar within tau.
        picked: row of the word that is least similar to the rest, the outlier if it is among several.
        similarity, lowest: mean cosine of the outlier and of the picked word with the rest.
        words: number of words of the group.
    """

    lower: Int64
    ties: Int64
    picked: Int64
    similarity: Float64
    lowest: Float64
    words: Int64

    @property
    def right(self) -> Float64:
        """The chance that the outlier is picked, if ties are broken at random."""
        return expected_hit(self.lower, self.ties, 1)

    @property
    def position(self) -> Float64:
        """Position of the outlier by compactness, from 0 to 1: at 1 it is the word that fits least."""
        return np.asarray(1.0 - (self.lower + self.ties / 2) / self.words)


def detect(
    embeddings: Float32 | Float64,
    members: Int32,
    outliers: Int32,
    progress: Progress,
    cancel: CancelToken,
    tau: float = TAU,
) -> Found:
    """Sort each case's words by their mean cosine with its other words.

    The paper sorts by the compactness of the words that are left without a word, the mean cosine of all their pairs.
    Both orders are the same: the pairs that are left are all pairs except the word's own.

    Args:
        embeddings: ``[n, d]``; a zero vector has cosine 0 with everything.
        members: ``[m, k]``, rows of the words that belong together; -1 after the last.
        outliers: ``[m]``, row of the word that does not belong.
        tau: mean cosines no further apart are tied.
    """
    units = unit_rows(embeddings)
    m = len(outliers)
    numbers = {name: np.zeros(m, dtype=np.int64) for name in ("lower", "ties", "picked", "words")}
    similarity, lowest = np.zeros(m), np.zeros(m)
    for case in range(m):
        if case % CASES_PER_CHECK == 0:
            cancel.check()
            progress("comparing", case, m)
        rows = np.concatenate([outliers[case : case + 1], members[case][members[case] >= 0]])
        cosines = units[rows] @ units[rows].T
        mean = (cosines.sum(axis=1) - np.diag(cosines)) / (len(rows) - 1)
        first = int(mean.argmin()) if mean.min() < mean[0] - tau else 0
        lower = np.count_nonzero(mean[1:] < mean[0] - tau)
        ties = np.count_nonzero(mean[1:] <= mean[0] + tau) - lower
        for name, value in zip(numbers, (lower, ties, rows[first], len(rows) - 1), strict=True):
            numbers[name][case] = value
        similarity[case], lowest[case] = mean[0], mean[first]
    progress("comparing", m, m)
    return Found(similarity=similarity, lowest=lowest, **numbers)


def compute(
    embeddings: Float32 | Float64,
    dataset: Outliers,
    params: Mapping[str, str],  # noqa: ARG001 - it has none
    progress: Progress,
    cancel: CancelToken,
) -> DiagnosticResult:
    """Accuracy and outlier position over all cases; see ``base.Compute``. Row i is case i.

    Raises:
        BlindspotError: the embeddings are not all finite.
    """
    if not np.isfinite(embeddings).all():
        raise BlindspotError("some embeddings contain NaN or infinite values", expected="finite numbers")
    detected = detect(embeddings, dataset.members, dataset.outliers, progress, cancel)
    m = len(detected.right)
    return DiagnosticResult(
        metrics={
            "accuracy": float(detected.right.mean()),
            "opp": float(detected.position.mean()),
            "chance": float((1.0 / (detected.words + 1)).mean()),
            "cases": float(m),
            "groups": float(len(np.unique(dataset.group_numbers))),
            "tied_cases": float(np.count_nonzero(detected.ties)),
        },
        items=pa.table(
            {
                "hit": detected.right,
                "opp": detected.position,
                "picked": pa.array([dataset.items[i] for i in detected.picked], pa.string()),
                "similarity": detected.similarity,
                "lowest": detected.lowest,
            },
            schema=ENTRY.schema,
        ),
        coverage={
            "cases": m,
            "cases_covered": m,
            "items": len(dataset.items),
            "items_covered": len(dataset.items),
        },
    )


class OutlierDetection(Diagnostic):
    """The diagnostic Outlier detection."""

    id = "outliers"
    version = 1
    title = "Outlier detection"
    question = "Does the model see which word does not belong to the others, such as Munich among planets?"
    how = r"""
A **case** is a group of words that belong together and one more word, the outlier. For each of these $n + 1$ words the
mean cosine with the other $n$ is computed; the model finds the outlier if it has the lowest.

- **Accuracy** is the share of cases in which the outlier is found.
- **Outlier position** (OPP) is the mean of $OP / n$, where $OP$ is the outlier's place if the words are sorted by the
  mean cosine of all pairs that are left without them (the *compactness*): $n$ if it is found, 0 if all others stand
  out more. Guessing reaches 0.5.
- Mean cosines within $10^{-6}$ are tied: both scores are *expected* values under random tie order.
- A case needs vectors of all its words. Others are left out and counted (*coverage*): if a word of the group itself
  has none, all its cases are left out. Compare models on the words that all of them cover.
- Names of several words are read with spaces in place of underscores. A model of word vectors takes the mean of the
  words that it has, so that it covers a name as soon as it has one of its words.
- Cases of one group, of groups that share words, and of one outlier are not independent: intervals are dyadic-robust
  where most cases are connected by shared words.
"""
    how_to_read = """
- It is an intruder test without raters. *People* shows it beside people's precision where there are votes.
- The accuracy counts only whether the outlier stands out most, the outlier position also how nearly.
- Look at what the model picks instead: often a word with a second meaning, or a rare one.
"""
    limits = """
- Groups of 8-8-8 are few (8), and outliers of two of them are the same: the interval is wide. WikiSem500 was made from
  Wikidata and not checked by people word by word; names that few models know are frequent in it.
- Vectors of rare words stand out for being rare, not for their meaning.
"""
    citation = (
        "Camacho-Collados and Navigli 2016, Find the word that does not belong: A Framework for an Intrinsic "
        "Evaluation of Word Vector Representations, section 3; Blair, Merhav and Barry 2017 (WikiSem500)"
    )
    dataset_kind = DatasetKind.OUTLIERS
    parameters = ()
    columns = (
        Column("hit", pa.float64(), "1 if the outlier is found, 0 if not, a share if it is tied"),
        Column("opp", pa.float64(), "position of the outlier by compactness, from 0 to 1 (found)"),
        Column("picked", pa.string(), "the word with the lowest mean cosine"),
        Column("similarity", pa.float64(), "mean cosine of the outlier with the group's words"),
        Column("lowest", pa.float64(), "mean cosine of the picked word with the other words"),
    )
    metrics = (
        Score("accuracy", "share of cases in which the outlier is found", True),
        Score("opp", "mean position of the outlier by compactness", True),
        Score("chance", "accuracy of guessing", None),
        Score("cases", "groups with one outlier each", None, is_count=True),
        Score("groups", "different groups of words", None, is_count=True),
        Score("tied_cases", "cases in which the outlier is tied with another word", None, is_count=True),
    )
    headline = "accuracy"
    overview = Overview(
        "Outliers found (higher is better)",
        {"accuracy": "accuracy", "opp": "outlier position", "chance": "chance"},
        "See which words they pick instead",
        counted=("cases", "cases"),
    )
    page = PAGE
    readings = (Reading("accuracy", "outliers"),)
    cost = Cost(
        units=lambda work: float(work.pairs) * 81 * work.dimension,  # nine words with each other
        units_of_run=lambda run: run.metrics.get("cases", 0.0) * 81 * run.dimension,
        seconds_per_unit={"": 1e-9},
    )
    two_in_address = {"view": "outliers", "outliers_of": "{dataset}"}
    won = ("outliers", "is right")
    item_in_address = {"view": "outliers", "outliers_of": "{dataset}", "outliers_by": "{a}"}
    compute = staticmethod(compute)

    def item_scores(self, runs: Sequence[RunRecord], repository: Repository) -> Sequence[Mapping[str, ItemScores]]:
        from blindspot.diagnostics.words.item_scores import scores_of_cases

        return scores_of_cases(runs, repository)

    def evidence(self, material: Material) -> Iterable[Evidence]:
        from blindspot.diagnostics.words.evidence_of_cases import of_cases

        return of_cases(material)


ENTRY = OutlierDetection()
