"""Similarity: the correlation of a model's similarities with people's (Wang 2022, section 2; Eger 2019, section 3).

The literature uses one name for three scores of a dataset of several sets: over all pairs at once, per set, and the
mean over sets weighted by their pairs. All are reported, under different names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.kinds.scored_pairs import ScoredPairs
from blindspot.diagnostic import (
    SIGNED,
    Column,
    Cost,
    Diagnostic,
    DiagnosticResult,
    GridRole,
    Overview,
    Page,
    Parameter,
    Preparation,
    Reading,
    Score,
)
from blindspot.errors import BlindspotError
from blindspot.numerics.similarity import Similarity, similarity_of_pairs
from blindspot.numerics.statistics.correlations import DECIMALS, correlations
from blindspot.transforms import toolkit
from blindspot.transforms.toolkit import DEFINITION, TOOLKIT
from blindspot.types import CancelToken, Float32, Float64, Progress

if TYPE_CHECKING:
    from blindspot.numerics.statistics.compare import ItemScores
    from blindspot.runs.findings import Material
    from blindspot.runs.findings.evidence import Evidence
    from blindspot.store.records import RunRecord
    from blindspot.store.repository import Repository

NAMES = {"pearson": "Pearson's r", "spearman": "Spearman's ρ", "kendall": "Kendall's τ-b"}
MEAN = "_weighted_mean"


def compute(
    embeddings: Float32 | Float64,
    dataset: ScoredPairs,
    params: Mapping[str, str],
    progress: Progress,
    cancel: CancelToken,
) -> DiagnosticResult:
    """Correlations of all pairs, of every set and their weighted mean; see ``base.Compute``. Row i is pair i.

    Raises:
        BlindspotError: no correlation is defined, since all similarities or all scores are equal.
    """
    cancel.check()
    progress("correlating", 0, 1)
    predicted = _predicted(embeddings, dataset, Similarity(params["metric"]), as_toolkit=params["protocol"] == TOOLKIT)
    overall = correlations(predicted, dataset.scores)
    if np.isnan(overall.pearson):
        what = "one pair only" if len(predicted) < 2 else "the same similarity or the same score for all pairs"
        raise BlindspotError(
            f"'{dataset.id}' has {what}: no correlation is defined",
            expected="a model that tells pairs apart, on pairs with different scores",
        )
    metrics = {name: value for name, value in asdict(overall).items() if name in NAMES}
    metrics["n"] = float(overall.n)
    if len(dataset.sets) > 1:
        metrics |= by_set(predicted, dataset)
    progress("correlating", 1, 1)
    return DiagnosticResult(
        metrics=metrics,
        items=pa.table({"similarity": predicted}, schema=ENTRY.schema),
        coverage={
            "pairs": len(predicted),
            "pairs_covered": len(predicted),
            "items": len(dataset.items),
            "items_covered": len(dataset.items),
        },
    )


def _predicted(embeddings: Float32 | Float64, dataset: ScoredPairs, metric: Similarity, *, as_toolkit: bool) -> Float64:
    """Similarity of every pair, ``[m] float64``.

    They are rounded to six decimals, so that floating-point errors do not break ties. The toolkit does not round; its
    cosine is the product of rows that it has normalized, which is smaller for the short vector of unknown words.
    """
    if not as_toolkit:
        return np.round(similarity_of_pairs(embeddings, dataset.firsts, dataset.seconds, metric), DECIMALS)
    if metric is Similarity.L2:
        return similarity_of_pairs(embeddings, dataset.firsts, dataset.seconds, metric)
    first, second = (embeddings[places].astype(np.float64) for places in (dataset.firsts, dataset.seconds))
    return np.asarray(np.einsum("nd,nd->n", first, second))


def by_set(predicted: Float64, dataset: ScoredPairs) -> dict[str, float]:
    """Scores ``spearman@SET``, and ``spearman_weighted_mean`` over the sets, weighted by their pairs.

    If a correlation is undefined in one set, so is the mean: a mean over the other sets would not be comparable.
    """
    inside = {name: dataset.set_numbers == number for number, name in enumerate(dataset.sets)}
    by_name = {name: correlations(predicted[here], dataset.scores[here]) for name, here in inside.items() if here.any()}
    out: dict[str, float] = {}
    pairs = np.array([c.n for c in by_name.values()])
    for kind in NAMES:
        values = np.array([getattr(c, kind) for c in by_name.values()])
        if not np.isnan(values).any():
            out[f"{kind}{MEAN}"] = float(np.average(values, weights=pairs))
        out |= {f"{kind}@{name}": float(v) for name, v in zip(by_name, values, strict=True) if not np.isnan(v)}
    return out


class SimilarityOfPairs(Diagnostic):
    """The diagnostic Similarity."""

    id = "similarity"
    version = 2
    title = "Similarity"
    question = "Do similarities agree with people's scores?"
    how = r"""
The similarity of every pair, cosine or $1/(1+\lVert x-y\rVert)$ for `l2`, is correlated with the score that people gave
it.

- **Pearson's** $r$ measures a linear relation, **Spearman's** $\rho$ the order only, **Kendall's** $\tau_b$ the share
  of pairs of pairs in the same order. They can rank models differently (Eger et al. 2019, section 3).
- In a dataset of several sets, **all pairs** is one correlation over all of them; **weighted mean** averages the
  correlations of the sets, weighted by their pairs. Papers use one name for both; most report
  all pairs for transformers.
- Similarities are rounded to six decimals first, so values that differ only by rounding are tied.
- Pairs with a text that a model has no vector for are left out (*coverage*). Compare models on pairs that all cover.

The `toolkit` protocol treats word vectors as the published EvalRank toolkit does: lower-cased, centered over the whole
file, the mean vector for unknown words. Only these scores are comparable with the toolkit's.
"""
    how_to_read = """
- Higher means that the model orders pairs as people do. 0 means no relation.
- Read Spearman's correlation first; Pearson's is lower where the relation is bent, which is no fault for
  ranking.
- Then look at the pairs on which the model and people disagree most, and at the bands of scores: a high
  correlation over all pairs can hide that similar pairs are in random order.
"""
    limits = """
- People agree with each other only so far; a correlation of 1 is not to be expected.
- Similarity tests predict downstream performance poorly (Faruqui et al. 2016): do not choose a model by them
  alone.
- Scores over all pairs and weighted means over sets differ; check which one a paper reports.
"""
    citation = (
        "Wang, Kuo and Li 2022, Just Rank, section 2; Eger, Rücklé and Gurevych 2019, Pitfalls in the Evaluation "
        "of Sentence Embeddings, section 3"
    )
    dataset_kind = DatasetKind.SCORED_PAIRS
    parameters = (
        Parameter(
            "metric", tuple(Similarity), Similarity.COS, "similarity: cosine, or 1/(1 + distance)", is_of_use=True
        ),
        Parameter(
            "protocol",
            (DEFINITION, TOOLKIT),
            DEFINITION,
            "unknown words: their pairs are left out, or as in the published toolkit",
        ),
    )
    columns = (Column("similarity", pa.float64(), "similarity of the two texts"),)
    metrics = (
        *(
            Score(name, f"{what} of similarity and score, over all pairs", True, range=SIGNED)
            for name, what in NAMES.items()
        ),
        *(
            Score(f"{name}{MEAN}", f"mean of {what} over the sets, weighted by their pairs", True, range=SIGNED)
            for name, what in NAMES.items()
        ),
        Score("n", "pairs correlated", None, is_count=True),
    )
    headline = "spearman"
    overview = Overview(
        "Spearman's ρ with people's scores, all pairs (higher is better)",
        {
            "spearman": "Spearman",
            "spearman_weighted_mean": "Spearman, weighted mean",
            "pearson": "Pearson",
            "kendall": "Kendall",
        },
        "See where they disagree with people",
        counted=("n", "pairs with people's scores"),
    )
    page = Page("similarity", "Similarity", ":material/compare_arrows:")
    readings = (Reading("spearman", "similarity"),)
    grid = GridRole.TASK
    families = tuple(Score(f"{n}@", f"{what} within one set", True, range=SIGNED) for n, what in NAMES.items())
    ignores_order = True
    preparations = {TOOLKIT: Preparation(toolkit.look_up, toolkit.prepare)}
    cost = Cost(
        units=lambda work: 100.0 * work.pairs * work.dimension,  # most of it does not grow with them
        units_of_run=lambda run: 100.0 * run.coverage.get("pairs", 0) * run.dimension,
        seconds_per_unit={"": 2e-10, DEFINITION: 2e-10, TOOLKIT: 1e-9},
        way="protocol",
    )
    won = ("pairs", "agrees with people, and the other is off by more than a fifth of the scale,")
    item_in_address = {"view": "pairs", "item": "{number}", "a": "{a}", "b": "{b}"}
    is_gate = True
    two_in_address = {"view": "pairs", "a": "{a}", "b": "{b}"}
    compute = staticmethod(compute)

    def item_scores(self, runs: Sequence[RunRecord], repository: Repository) -> Sequence[Mapping[str, ItemScores]]:
        from blindspot.diagnostics.similarity.item_scores import item_scores

        return item_scores(runs, repository)

    def evidence(self, material: Material) -> Iterable[Evidence]:
        from blindspot.diagnostics.similarity.evidence import evidence

        return evidence(material)

    def doubts(self, runs: Sequence[RunRecord], repository: Repository) -> Sequence[str]:
        from blindspot.diagnostics.similarity.view import doubts

        return doubts(runs, repository)


ENTRY = SimilarityOfPairs()
