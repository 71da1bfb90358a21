"""Categorization: are the clusters of words the classes that people put them in? (Schnabel 2015, section 3.1)"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from core.diagnostics import base
from core.errors import BlindspotError
from core.numerics.purity import SEEDS, SHUFFLE_SEED, SHUFFLES, categorise
from core.relations import Categories
from core.types import CancelToken, DatasetKind, Float32, Float64, Progress


def compute(
    embeddings: Float32 | Float64,
    dataset: Categories,
    params: Mapping[str, str],  # noqa: ARG001 - it has none
    progress: Progress,
    cancel: CancelToken,
) -> base.DiagnosticResult:
    """Purity of k-means; see ``base.Compute``. Row i is word i.

    Raises:
        BlindspotError: the embeddings are not all finite, or fewer words differ than there are classes.
    """
    if not np.isfinite(embeddings).all():
        raise BlindspotError("some embeddings hold NaN or infinite values", expected="finite numbers")
    n, k = len(dataset.items), len(dataset.classes)
    distinct = len(np.unique(embeddings, axis=0)) if n >= k else n
    if k < 2 or distinct < k:
        raise BlindspotError(
            f"'{dataset.id}' has {distinct:,} different vectors of {n:,} words in {k} classes that are covered",
            expected="two or more classes, and at least as many different vectors as classes",
            remedy="use an encoder that knows more of the words",
        )
    found = categorise(embeddings, dataset.membership, progress, cancel)
    return base.DiagnosticResult(
        metrics={
            "purity": found.purity,
            "purity_mean": float(np.mean(found.purities)),
            "purity_low": min(found.purities),
            "purity_high": max(found.purities),
            "chance": found.chance,
            "words": float(n),
            "classes": float(k),
        },
        items=pa.table(
            {
                "cluster": found.clusters,
                "cluster_class": [dataset.classes[i] for i in found.named[found.clusters]],
            },
            schema=ENTRY.schema,
        ),
        coverage={"items": n, "items_covered": n},
        seeds={"first of the starts of k-means": SEEDS[0], "shuffled classes": SHUFFLE_SEED},
    )


ENTRY = base.DiagnosticEntry(
    id="categorization",
    version=1,
    title="Categorization",
    question="Do words of one kind stand together: illnesses with illnesses, tools with tools?",
    how=rf"""
The distinct words of a dataset are clustered by k-means on vectors of length 1, into as many clusters as there are
classes. The **purity** is the share of words that are of the class which most words of their cluster are of:

$$\text{{purity}} = \frac{{1}}{{N}} \sum_k \max_c |\text{{cluster}}_k \cap \text{{class}}_c|$$

- k-means (scikit-learn's, k-means++ starts) is started {len(SEEDS)} times, with the seeds {SEEDS[0]} to {SEEDS[-1]};
  the solution with the lowest inertia counts, whatever its purity. The mean and the range over all starts stand
  beside it.
- Every distinct word counts once. One that is in several classes (Battig's *orange*) is right if its cluster's class is
  one of them.
- **Chance** is the mean purity of {SHUFFLES} shuffles of the words' classes, the clusters staying what they are. It is
  above 0: the fewer words in a cluster, the purer it is by accident. Purities of datasets with other numbers of words
  and classes do not compare.
- Words without a vector are left out, and so is a class that has no word left. Compare encoders on the words that all
  of them have.
- Published purities are of another clustering program (Baroni et al. 2014 took CLUTO); k-means is what is usual now.
""",
    citation="Baroni, Dinu and Kruszewski 2014, Don't count, predict!; Schnabel, Labutov, Mimno and Joachims 2015, "
    "section 3.1",
    dataset_kind=DatasetKind.CATEGORIES,
    parameters=(),
    columns=(
        base.Column("cluster", pa.int32(), "number of the word's cluster"),
        base.Column("cluster_class", pa.string(), "the class that most of the cluster's words are of"),
    ),
    metrics=(
        base.Metric("purity", "share of words of their cluster's class, lowest inertia", True),
        base.Metric("purity_mean", "mean of it over the starts", True),
        base.Metric("purity_low", "lowest over the starts", True),
        base.Metric("purity_high", "highest over the starts", True),
        base.Metric("chance", "the same with shuffled classes", None),
        base.Metric("words", "words that were clustered", None, is_count=True),
        base.Metric("classes", "classes, and clusters", None, is_count=True),
    ),
    headline="purity",
    figures="core.figures.words",
    compute=compute,
)
