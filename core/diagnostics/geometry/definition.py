"""Geometry: are mates near and everything else spread out? (Wang and Isola 2020; Wang 2022, appendix C.2; DESIGN 4.5)

Made to be computed for every cell of a grid: what grows with the square of the items is computed on a sample.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from core import diagnostic as base
from core.datasets.kinds.base import DatasetKind
from core.datasets.kinds.pairs import PairSet
from core.diagnostics.geometry import measures as geometry
from core.errors import BlindspotError
from core.numerics.similarity import Metric, row_norms
from core.types import CancelToken, Float32, Float64, Progress

MOST = 5_000  # items whose pairs are all looked at
NEIGHBOURS = 10
SEED = 2_020
STEPS = 5


def compute(
    embeddings: Float32 | Float64,
    dataset: PairSet,
    params: Mapping[str, str],  # noqa: ARG001 - it has none
    progress: Progress,
    cancel: CancelToken,
) -> base.DiagnosticResult:
    """Alignment, uniformity, anisotropy and hubness of a sample; see ``base.Compute``. Row i is pair i.

    A score that is not defined (uniformity of one item, hubness of as few items as there are neighbours) is left out.

    Raises:
        BlindspotError: embeddings that are not finite, or all zero.
    """
    vectors = np.asarray(embeddings, dtype=np.float32)
    norms = row_norms(vectors)
    if not np.isfinite(norms).all() or not norms.any():
        raise BlindspotError(
            f"the embeddings of '{dataset.id}' hold NaN or infinite values, or are all zero",
            expected="finite numbers",
            remedy="use another encoder or transform",
        )
    cancel.check()
    progress("measuring the space", 0, STEPS)
    distances = geometry.squared_distances(vectors, dataset.queries, dataset.mates)
    rows = geometry.sample(len(vectors), MOST, SEED)
    progress("measuring the space", 1, STEPS)
    found = {"align": float(distances.mean()), "anisotropy": geometry.anisotropy(vectors)}
    cancel.check()
    progress("measuring the space", 2, STEPS)
    found["uniform"] = geometry.uniformity(vectors, rows)
    for done, metric in enumerate(Metric, 3):
        cancel.check()
        progress("measuring the space", done, STEPS)
        found[f"hubness_{metric}_sample"] = geometry.hubness(vectors, rows, NEIGHBOURS, metric)
    progress("measuring the space", STEPS, STEPS)
    metrics = {name: value for name, value in found.items() if not np.isnan(value)}
    metrics |= {
        "sampled_items": float(len(rows)),
        "zero_vectors": float(np.count_nonzero(norms == 0)),
        "pairs": float(len(dataset.queries)),
        "background": float(len(dataset.items)),
    }
    return base.DiagnosticResult(
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


ENTRY = base.DiagnosticEntry(
    id="geometry",
    version=1,
    title="Geometry",
    question="Are mates near each other, and everything else spread out?",
    how=rf"""
All but the hubness by `l2` is of unit vectors: $\lVert x-y\rVert^2 = 2 - 2\cos(x, y)$.

- **Alignment** is $E\,\lVert x-y\rVert^2$ over the positive pairs: 0 where mates have the same direction. Lower is
  better.
- **Uniformity** is $\log E\,e^{{-2\lVert x-y\rVert^2}}$ over all pairs of two different items of a sample of {MOST:,}
  (all items, where there are no more). It is 0 where all have one direction; lower is more evenly spread.
- **Anisotropy** is the mean cosine of two different items, exactly, over all of them.
- **Hubness of the sample** is the skewness of the {NEIGHBOURS}-occurrence: how often an item of the same sample stands
  among the {NEIGHBOURS} nearest of another one of it. It grows with the number of items: compare it over the same
  dataset only, and not with the hubness on the page *Frequency*, which asks every item.
- The sample is the same for every encoder and transform. A zero vector has no direction: its cosine with anything
  is 0, and by cosine it is nobody's neighbour.
""",
    citation="Wang and Isola 2020, Understanding Contrastive Representation Learning through Alignment and Uniformity "
    "on the Hypersphere, section 4; Wang, Kuo and Li 2022, Just Rank, appendix C.2; Radovanović, Nanopoulos and "
    "Ivanović 2010, Hubs in Space",
    dataset_kind=DatasetKind.PAIR_SET,
    parameters=(),
    columns=(base.Column("squared_distance", pa.float64(), "squared distance of the pair's unit vectors"),),
    metrics=(
        base.Metric("align", "alignment: mean squared distance of mates", False, range=(0.0, 4.0)),
        base.Metric("uniform", "uniformity: log of the mean Gaussian potential of two items", False, range=(-8.0, 0.0)),
        base.Metric("anisotropy", "mean cosine of two different items", None, range=base.SIGNED),
        *(
            base.Metric(
                f"hubness_{m}_sample",
                f"skewness of the {NEIGHBOURS}-occurrence by {m} within a sample of at most {MOST:,} items",
                None,
                range=base.ANY,
            )
            for m in Metric
        ),
        base.Metric("sampled_items", "items of the sample", None, is_count=True),
        base.Metric("zero_vectors", "items whose vector is zero", None, is_count=True),
        base.Metric("pairs", "positive pairs", None, is_count=True),
        base.Metric("background", "items in all", None, is_count=True),
    ),
    headline="align",
    overview=base.Overview(
        "Alignment: mean squared distance of mates (lower is better)",
        {
            "align": "alignment",
            "uniform": "uniformity",
            "anisotropy": "anisotropy",
            "hubness_cos_sample": "hubness of the sample",
        },
        "See whether it goes with how they do on tasks",
        page="evidence",
    ),
    # It declares of anisotropy and hubness that they only describe. To the papers that remove them less is better.
    readings=(
        base.Reading("align", "alignment", -1),
        base.Reading("uniform", "uniformity", -1),
        base.Reading("anisotropy", "anisotropy", -1),
        base.Reading("hubness_cos_sample", "hubness", -1),
    ),
    grid=base.GridRole.DESCRIPTION,
    cost=base.Cost(  # every pair of items of a sample
        units=lambda work: float(min(work.texts, MOST)) ** 2 * work.dimension,
        units_of_run=lambda run: run.metrics.get("sampled_items", 0.0) ** 2 * run.dimension,
        seconds_per_unit={"": 2e-10},
    ),
    compute=compute,
)
