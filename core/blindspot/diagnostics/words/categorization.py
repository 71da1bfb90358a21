"""Categorization: how pure clusters of words are with respect to people's classes.

Schnabel 2015, section 3.1, after Baroni, Dinu and Kruszewski 2014.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.kinds.relations import Categories
from blindspot.diagnostic import Column, Cost, Diagnostic, DiagnosticResult, Overview, Reading, Score
from blindspot.diagnostics.words.analogy import PAGE, unit_rows
from blindspot.errors import BlindspotError
from blindspot.types import Bool, CancelToken, Float32, Float64, Int32, Int64, Progress

if TYPE_CHECKING:
    import pandas as pd

    from blindspot.numerics.statistics.compare import ItemScores
    from blindspot.runs.findings import Material
    from blindspot.runs.findings.evidence import Evidence
    from blindspot.store.records import RunRecord
    from blindspot.store.repository import Repository

SEEDS = tuple(range(10))  # of k-means, one start each
SHUFFLES = 100
SHUFFLE_SEED = 0


@dataclass(frozen=True, eq=False)
class Clustering:
    """The k-means solution with the lowest inertia.

    Attributes:
        clusters: ``[n] int32``, the cluster of each word.
        named: ``[k] int64``, the class that most of each cluster's words have, the first of several.
        purities, inertias: of all solutions, by seed.
        chance: mean purity with shuffled classes.
    """

    clusters: Int32
    named: Int64
    purity: float
    purities: tuple[float, ...]
    inertias: tuple[float, ...]
    chance: float


def categorise(embeddings: Float32 | Float64, membership: Bool, progress: Progress, cancel: CancelToken) -> Clustering:
    """Cluster unit vectors by k-means into as many clusters as there are classes.

    Args:
        embeddings: ``[n, d]``, n at least the number of classes.
        membership: ``[n, k] bool``, whether a word is in a class.
    """
    from sklearn.cluster import KMeans

    units = unit_rows(embeddings)
    k = membership.shape[1]
    partitions: list[Int32] = []
    inertias: list[float] = []
    for done, seed in enumerate(SEEDS):
        cancel.check()
        progress("clustering", done, len(SEEDS))
        fitted = KMeans(n_clusters=k, n_init=1, random_state=seed).fit(units)
        partitions.append(fitted.labels_.astype(np.int32))
        inertias.append(float(fitted.inertia_))
    progress("clustering", len(SEEDS), len(SEEDS))
    best = partitions[int(np.argmin(inertias))]
    rng = np.random.default_rng(SHUFFLE_SEED)
    return Clustering(
        best,
        counts(best, membership).argmax(axis=1),
        purity(best, membership),
        tuple(purity(clusters, membership) for clusters in partitions),
        tuple(inertias),
        float(np.mean([purity(best, membership[rng.permutation(len(best))]) for _ in range(SHUFFLES)])),
    )


def counts(clusters: Int32, membership: Bool) -> Int64:
    """The number of words by cluster and class, ``[k, k]``."""
    out = np.zeros((membership.shape[1], membership.shape[1]), dtype=np.int64)
    np.add.at(out, clusters, membership)
    return out


def purity(clusters: Int32, membership: Bool) -> float:
    """The sum over clusters of the largest number of words of one class, divided by the number of words.

    A word of several classes counts once; it is right if its cluster's class is one of them.
    """
    return float(counts(clusters, membership).max(axis=1).sum() / len(clusters))


def placed(rows: pd.DataFrame) -> pd.DataFrame:
    """A run's rows joined to one per word, by its number: ``word``, ``classes`` in words, the first ``class``,
    ``cluster``, ``cluster_class``, and whether the latter is one of the classes (``right``)."""
    rows = rows.assign(right=rows["class"] == rows["cluster_class"])
    return rows.groupby("item_no", sort=True).agg(
        word=("word", "first"),
        classes=("class", ", ".join),
        **{"class": ("class", "first")},
        cluster=("cluster", "first"),
        cluster_class=("cluster_class", "first"),
        right=("right", "max"),
    )


def order_clusters(table: Int64) -> Int64:
    """Clusters of ``counts`` in the order of their largest class, so that a good clustering is a diagonal."""
    named, size = table.argmax(axis=1), table.max(axis=1)
    return np.lexsort((-size, named))


def shares(table: Int64) -> Float64:
    """The share of each class's words in each cluster, ``[k, classes]``."""
    totals = table.sum(axis=0)
    return np.asarray(np.divide(table, totals, out=np.zeros(table.shape), where=totals > 0))


def compute(
    embeddings: Float32 | Float64,
    dataset: Categories,
    params: Mapping[str, str],  # noqa: ARG001 - it has none
    progress: Progress,
    cancel: CancelToken,
) -> DiagnosticResult:
    """Purity of k-means; see ``base.Compute``. Row i is word i.

    Raises:
        BlindspotError: embeddings that are not finite, or fewer different vectors than classes.
    """
    if not np.isfinite(embeddings).all():
        raise BlindspotError("some embeddings contain NaN or infinite values", expected="finite numbers")
    n, k = len(dataset.items), len(dataset.classes)
    distinct = len(np.unique(embeddings, axis=0)) if n >= k else n
    if k < 2 or distinct < k:
        raise BlindspotError(
            f"'{dataset.id}' has {distinct:,} different vectors of {n:,} words in {k} classes that are covered",
            expected="two or more classes, and at least as many different vectors as classes",
            remedy="use an encoder that knows more of the words",
        )
    clusters = categorise(embeddings, dataset.membership, progress, cancel)
    return DiagnosticResult(
        metrics={
            "purity": clusters.purity,
            "purity_mean": float(np.mean(clusters.purities)),
            "purity_low": min(clusters.purities),
            "purity_high": max(clusters.purities),
            "chance": clusters.chance,
            "words": float(n),
            "classes": float(k),
        },
        items=pa.table(
            {
                "cluster": clusters.clusters,
                "cluster_class": [dataset.classes[i] for i in clusters.named[clusters.clusters]],
            },
            schema=ENTRY.schema,
        ),
        coverage={"items": n, "items_covered": n},
        seeds={"first of the starts of k-means": SEEDS[0], "shuffled classes": SHUFFLE_SEED},
    )


class Categorization(Diagnostic):
    """The diagnostic Categorization."""

    id = "categorization"
    version = 1
    title = "Categorization"
    question = "Does clustering recover categories of words, such as illnesses and tools?"
    how = rf"""
The distinct words of a dataset are clustered by k-means on vectors of length 1, into as many clusters as there are
classes. The **purity** is the share of words that belong to the most frequent class of their cluster:

$$\text{{purity}} = \frac{{1}}{{N}} \sum_k \max_c |\text{{cluster}}_k \cap \text{{class}}_c|$$

- k-means (scikit-learn's, k-means++ starts) is started {len(SEEDS)} times, with the seeds {SEEDS[0]} to {SEEDS[-1]};
  the solution with the lowest inertia counts, whatever its purity. The mean and the range over all starts are
  reported too.
- Every distinct word counts once. One that is in several classes (Battig's *orange*) is right if its cluster's class is
  one of them.
- **Chance** is the mean purity of {SHUFFLES} shuffles of the words' classes with the same clusters. It is above 0:
  small clusters are purer by accident. Purities of datasets with different numbers of words and classes are not
  comparable.
- Words without a vector and classes without words are left out. Compare models on the words that all of them cover.
- Published purities come from another program (Baroni et al. 2014 used CLUTO); k-means is usual now.
"""
    how_to_read = """
- **Purity** is the share of words that are in the majority category of their cluster. 1 is perfect; what a random
  clustering reaches depends on the number and sizes of the categories.
- Look at the categories that are mixed up, and at the words in the wrong cluster.
"""
    limits = """
- k-means finds round clusters of similar size; categories need not be round.
- The datasets have a few hundred concrete nouns: nothing is said of other words.
"""
    citation = (
        "Baroni, Dinu and Kruszewski 2014, Don't count, predict!; Schnabel, Labutov, Mimno and Joachims 2015, "
        "section 3.1"
    )
    dataset_kind = DatasetKind.CATEGORIES
    parameters = ()
    columns = (
        Column("cluster", pa.int32(), "number of the word's cluster"),
        Column("cluster_class", pa.string(), "the class that most of the cluster's words are of"),
    )
    metrics = (
        Score("purity", "share of words of their cluster's class, lowest inertia", True),
        Score("purity_mean", "mean of it over the starts", True),
        Score("purity_low", "lowest over the starts", True),
        Score("purity_high", "highest over the starts", True),
        Score("chance", "the same with shuffled classes", None),
        Score("words", "words that were clustered", None, is_count=True),
        Score("classes", "classes, and clusters", None, is_count=True),
    )
    headline = "purity"
    overview = Overview(
        "Purity of clusters of words (higher is better)",
        {"purity": "purity", "purity_mean": "mean over starts", "chance": "chance"},
        "See which kinds they mix up",
        counted=("words", "words"),
    )
    page = PAGE
    readings = (Reading("purity", "categories"),)
    cost = Cost(
        units=lambda work: 100.0 * work.pairs * work.dimension,  # most of it does not grow with them
        units_of_run=lambda _run: 0.0,
        seconds_per_unit={"": 2e-10},
    )
    two_in_address = {"view": "categories"}
    won = ("words", "has the word among its kind")
    item_in_address = {"view": "categories"}
    compute = staticmethod(compute)

    def item_scores(self, runs: Sequence[RunRecord], repository: Repository) -> Sequence[Mapping[str, ItemScores]]:
        from blindspot.diagnostics.words.item_scores import scores_of_categories

        return scores_of_categories(runs, repository)

    def evidence(self, material: Material) -> Iterable[Evidence]:
        from blindspot.diagnostics.words.evidence import of_categories

        return of_categories(material)


ENTRY = Categorization()
