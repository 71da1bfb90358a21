"""Geometry: whether matches are near and everything else is spread out (Wang and Isola 2020; Wang 2022, appendix C.2)

The squared distance of two unit vectors is ``2 - 2 cos``. The cosine of a zero vector with anything is 0 by convention,
so its squared distance is 2, as for orthogonal vectors. Scores whose cost grows with the square of the items are
computed on a sample, so that they are cheap enough for every cell of a grid.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.kinds.pairs import PairSet
from blindspot.diagnostic import (
    ANY,
    SIGNED,
    Column,
    Cost,
    Diagnostic,
    DiagnosticResult,
    GridRole,
    Overview,
    Reading,
    Score,
)
from blindspot.errors import BlindspotError
from blindspot.numerics.neighbors.hubness import skewness
from blindspot.numerics.neighbors.occurrences import k_occurrence
from blindspot.numerics.similarity import Similarity, mean_cosine, row_norms, similarity_of_pairs, unit_rows
from blindspot.types import CancelToken, Float32, Float64, Int32, Int64, Progress

if TYPE_CHECKING:
    from blindspot.numerics.statistics.compare import ItemScores
    from blindspot.runs.findings import Material
    from blindspot.runs.findings.evidence import Evidence
    from blindspot.store.records import RunRecord
    from blindspot.store.repository import Repository

MOST = 5_000  # items of the sample
NEIGHBORS = 10
SEED = 2_020
STEPS = 5
ROWS_AT_ONCE = 512  # of the products of all pairs: 20 MB of float64 with 5,000 others


def squared_distances(matrix: Float32 | Float64, left: Int32 | Int64, right: Int32 | Int64) -> Float64:
    """``||x - y||^2`` of the unit vectors of rows ``left[i]`` and ``right[i]`` of ``[n, d]``, ``[m] float64``, >= 0."""
    return np.asarray(np.maximum(2.0 - 2.0 * similarity_of_pairs(matrix, left, right, Similarity.COS), 0.0))


def uniformity(matrix: Float32 | Float64, rows: Int64) -> float:
    """``log E exp(-2 ||x - y||^2)`` over all pairs of two different ``rows [q]``; NaN for fewer than two."""
    n = len(rows)
    if n < 2:
        return float("nan")
    units = unit_rows(matrix, rows)
    total = 0.0
    for start in range(0, n, ROWS_AT_ONCE):
        block = units[start : start + ROWS_AT_ONCE]
        # Each pair once: the block with what comes after it, and within the block.
        total += float(np.exp(4.0 * (block @ units[start + len(block) :].T) - 4.0).sum())
        within = np.exp(4.0 * (block @ block.T) - 4.0)
        total += float(np.triu(within, 1).sum())
    return float(np.log(total / (n * (n - 1) / 2)))


def anisotropy(matrix: Float32 | Float64) -> float:
    """Mean cosine of all pairs of two different rows of ``[n, d]``, exactly; NaN for fewer than two rows.

    It follows from the squared length of the mean direction, less each row's product with itself: 1, or 0 if zero.
    """
    n = len(matrix)
    if n < 2:
        return float("nan")
    rows = np.arange(n, dtype=np.int64)
    with_direction = int(np.count_nonzero(matrix.any(axis=1)))
    return (mean_cosine(matrix, rows, rows) * n * n - with_direction) / (n * (n - 1))


def sample(n: int, most: int, seed: int) -> Int64:
    """All of n rows, or ``most`` of them drawn without replacement; ascending, ``[min(n, most)] int64``."""
    if n <= most:
        return np.arange(n, dtype=np.int64)
    return np.sort(np.random.default_rng(seed).choice(n, most, replace=False)).astype(np.int64)


def hubness(matrix: Float32, rows: Int64, k: int, metric: Similarity) -> float:
    """Skewness of the k-occurrence among some rows of ``[n, d]``, which are both queries and candidates.

    NaN where k is not below the number of rows, or all occur equally often. With cosine, zero vectors are left out.
    """
    among = np.asarray(matrix[rows], dtype=np.float32)
    if metric is Similarity.COS:
        among = among[among.any(axis=1)]
    if k >= len(among):
        return float("nan")
    return skewness(k_occurrence(among, np.arange(len(among), dtype=np.int64), k, metric))


def compute(
    embeddings: Float32 | Float64,
    dataset: PairSet,
    params: Mapping[str, str],  # noqa: ARG001 - it has none
    progress: Progress,
    cancel: CancelToken,
) -> DiagnosticResult:
    """Alignment, uniformity, anisotropy and hubness of a sample; see ``Diagnostic.compute``. Row i is pair i.

    A score that is not defined is left out (uniformity of one item, hubness of no more items than neighbors).

    Raises:
        BlindspotError: embeddings that are not finite, or all zero.
    """
    vectors = np.asarray(embeddings, dtype=np.float32)
    norms = row_norms(vectors)
    if not np.isfinite(norms).all() or not norms.any():
        raise BlindspotError(
            f"the embeddings of '{dataset.id}' contain NaN or infinite values, or are all zero",
            expected="finite numbers",
            remedy="use another encoder or transform",
        )
    cancel.check()
    progress("measuring the space", 0, STEPS)
    distances = squared_distances(vectors, dataset.queries, dataset.matches)
    rows = sample(len(vectors), MOST, SEED)
    progress("measuring the space", 1, STEPS)
    scores = {"align": float(distances.mean()), "anisotropy": anisotropy(vectors)}
    cancel.check()
    progress("measuring the space", 2, STEPS)
    scores["uniform"] = uniformity(vectors, rows)
    for done, metric in enumerate(Similarity, 3):
        cancel.check()
        progress("measuring the space", done, STEPS)
        scores[f"hubness_{metric}_sample"] = hubness(vectors, rows, NEIGHBORS, metric)
    progress("measuring the space", STEPS, STEPS)
    metrics = {name: value for name, value in scores.items() if not np.isnan(value)}
    metrics |= {
        "sampled_items": float(len(rows)),
        "zero_vectors": float(np.count_nonzero(norms == 0)),
        "pairs": float(len(dataset.queries)),
        "background": float(len(dataset.items)),
    }
    return DiagnosticResult(
        metrics=metrics,
        items=pa.table({"squared_distance": distances}, schema=ENTRY.schema),
        coverage={
            "pairs": len(dataset.queries),
            "pairs_covered": len(dataset.queries),
            "items": len(dataset.items),
            "items_covered": len(dataset.items),
        },
        seeds={"sample of items": SEED},
    )


class Geometry(Diagnostic):
    """The diagnostic Geometry."""

    id = "geometry"
    version = 1
    title = "Geometry"
    question = "Are matches close together, and is everything else spread out?"
    how = rf"""
All but the hubness by `l2` is of unit vectors: $\lVert x-y\rVert^2 = 2 - 2\cos(x, y)$.

- **Alignment** is $E\,\lVert x-y\rVert^2$ over the positive pairs: 0 where matches have the same direction. Lower is
  better.
- **Uniformity** is $\log E\,e^{{-2\lVert x-y\rVert^2}}$ over all pairs of two different items of a sample of {MOST:,}
  (all items, where there are no more). It is 0 where all have one direction; lower is more evenly spread.
- **Anisotropy** is the mean cosine of two different items, exactly, over all of them.
- **Hubness of the sample** is the skewness of the {NEIGHBORS}-occurrence: how often an item is among the
  {NEIGHBORS} nearest of another one of the sample. It grows with the number of items: compare it over the same
  dataset only, and not with the hubness on the page *Frequency*, which asks every item.
- The sample is the same for every model. A zero vector has no direction: its cosine with anything
  is 0, and by cosine it is nobody's neighbor.
"""
    how_to_read = """
- **Alignment** low and **uniformity** low together are good: matches near, everything else spread out. Either alone is
  easy to reach.
- **Anisotropy** near 1 means that all texts look alike; centering or whitening may help. Try it on *Lab*.
- High **hubness** means that a few texts are near everything and crowd out right answers.
"""
    limits = """
- These numbers describe the space; better numbers need not mean better answers. No test says which model is better.
- They depend on the dataset's texts: compare models on one dataset only.
"""
    citation = (
        "Wang and Isola 2020, Understanding Contrastive Representation Learning through Alignment and Uniformity "
        "on the Hypersphere, section 4; Wang, Kuo and Li 2022, Just Rank, appendix C.2; Radovanović, Nanopoulos and "
        "Ivanović 2010, Hubs in Space"
    )
    dataset_kind = DatasetKind.PAIR_SET
    parameters = ()
    columns = (Column("squared_distance", pa.float64(), "squared distance of the pair's unit vectors"),)
    metrics = (
        Score("align", "alignment: mean squared distance of matches", False, range=(0.0, 4.0)),
        Score("uniform", "uniformity: log of the mean Gaussian potential of two items", False, range=(-8.0, 0.0)),
        Score("anisotropy", "mean cosine of two different items", None, range=SIGNED),
        *(
            Score(
                f"hubness_{m}_sample",
                f"skewness of the {NEIGHBORS}-occurrence by {m} within a sample of at most {MOST:,} items",
                None,
                range=ANY,
            )
            for m in Similarity
        ),
        Score("sampled_items", "items of the sample", None, is_count=True),
        Score("zero_vectors", "items whose vector is zero", None, is_count=True),
        Score("pairs", "positive pairs", None, is_count=True),
        Score("background", "items in all", None, is_count=True),
    )
    headline = "align"
    overview = Overview(
        "Alignment: mean squared distance of matches (lower is better)",
        {
            "align": "alignment",
            "uniform": "uniformity",
            "anisotropy": "anisotropy",
            "hubness_cos_sample": "hubness of the sample",
        },
        "See whether it goes with how they do on tasks",
        page="evidence",
    )
    # Anisotropy and hubness have no better direction as scores, but the papers that remove them want less.
    readings = (
        Reading("align", "alignment", -1),
        Reading("uniform", "uniformity", -1),
        Reading("anisotropy", "anisotropy", -1),
        Reading("hubness_cos_sample", "hubness", -1),
    )
    grid = GridRole.DESCRIPTION
    cost = Cost(  # every pair of items of a sample
        units=lambda work: float(min(work.texts, MOST)) ** 2 * work.dimension,
        units_of_run=lambda run: run.metrics.get("sampled_items", 0.0) ** 2 * run.dimension,
        seconds_per_unit={"": 2e-10},
    )
    compute = staticmethod(compute)

    def item_scores(self, runs: Sequence[RunRecord], repository: Repository) -> Sequence[Mapping[str, ItemScores]]:
        from blindspot.diagnostics.geometry.item_scores import item_scores

        return item_scores(runs, repository)

    def evidence(self, material: Material) -> Iterable[Evidence]:
        from blindspot.diagnostics.geometry.evidence import evidence

        return evidence(material)


ENTRY = Geometry()
