"""HEROS: which kinds of small change does an encoder take for a change of meaning?

Chiang 2023, section 3 and appendix D; DESIGN 4.2. Cosines are computed in float64; a zero vector's cosine with
anything is 0. The ordering rates are not the paper's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa

from core.diagnostics import base
from core.errors import BlindspotError
from core.numerics.ranking import TAU
from core.numerics.similarity import Metric, mean_cosine, similarity_of_pairs
from core.numerics.stats import wilson_interval
from core.types import CancelToken, DatasetKind, Float32, Float64, MinimalPairSet, Progress

# In the order in which they are shown, and what was done to the original.
SUBSETS = {
    "synonym": "a word replaced by its synonym",
    "antonym": "the same word replaced by its antonym",
    "negation_main": "the main clause negated",
    "negation_antonym": "the same word negated",
    "random_mlm": "the same word replaced by another that fits",
    "typo": "the same word with a typo",
}
ORDERINGS = (
    ("synonym", "antonym"),
    ("synonym", "negation_main"),
    ("synonym", "negation_antonym"),
    ("synonym", "random_mlm"),
    ("typo", "random_mlm"),
    ("synonym", "typo"),
)
MIN_ROOM = 1e-9  # of cos_avg below 1: with less, what is divided by is rounding


def baseline(embeddings: Float32 | Float64, dataset: MinimalPairSet) -> float:
    """``cos_avg``: mean cosine between the first n/2 originals and the rest, over all pairs (appendix D).

    Of an odd number of originals the second half has one more: none is left out.
    """
    half = len(dataset.originals) // 2
    return mean_cosine(embeddings, dataset.originals[:half], dataset.originals[half:])


def ordering_rate(first: Float64, second: Float64) -> float:
    """Share of originals whose ``first`` rewrite is more similar than ``second``; ties within TAU count half."""
    difference = first - second
    ties = np.abs(difference) <= TAU
    return float(np.mean(np.where(ties, 0.5, difference > 0)))


def compute(
    embeddings: Float32 | Float64,
    dataset: MinimalPairSet,
    params: Mapping[str, str],  # noqa: ARG001 - it has none
    progress: Progress,
    cancel: CancelToken,
) -> base.DiagnosticResult:
    """Similarity of every original with its rewrites; see the module's docstring and ``base.Compute``.

    Raises:
        BlindspotError: all originals have the same direction, so that nothing can be normalised.
    """
    n, subsets = len(dataset.originals), dataset.subsets
    cos_avg = baseline(embeddings, dataset)
    if not 1.0 - cos_avg > MIN_ROOM:
        raise BlindspotError(
            f"all {n:,} originals of '{dataset.id}' have the same embedding (cos_avg is {cos_avg:.9f})",
            expected="an encoder that tells sentences apart",
        )
    cosines: dict[str, Float64] = {}
    for done, (subset, rewrites) in enumerate(dataset.rewrites.items()):
        cancel.check()
        progress("comparing", done, len(subsets))
        cosines[subset] = similarity_of_pairs(embeddings, dataset.originals, rewrites, Metric.COS)
    similarities = {subset: (cosine - cos_avg) / (1.0 - cos_avg) for subset, cosine in cosines.items()}
    progress("comparing", len(subsets), len(subsets))

    metrics = {subset: float(similarity.mean()) for subset, similarity in similarities.items()}
    metrics |= {f"{subset}_sd": float(similarity.std(ddof=1)) for subset, similarity in similarities.items()}
    metrics |= {"cos_avg": cos_avg, "originals": float(n)}
    for first, second in ORDERINGS:
        if first in cosines and second in cosines:
            metrics |= _rate(first, second, ordering_rate(cosines[first], cosines[second]), n)
    items = len(dataset.items)
    return base.DiagnosticResult(
        metrics=metrics,
        items=pa.table(
            {
                "subset": list(subsets) * n,
                "cosine": _by_original(cosines.values()),
                "similarity": _by_original(similarities.values()),
            },
            schema=ENTRY.schema,
        ),
        coverage={
            "pairs": n * len(subsets),
            "pairs_covered": n * len(subsets),
            "items": items,
            "items_covered": items,
        },
        item_numbers=np.repeat(np.arange(n, dtype=np.int32), len(subsets)),
    )


def _rate(first: str, second: str, rate: float, n: int) -> dict[str, float]:
    name, interval = f"{first}>{second}", wilson_interval(rate, n)
    return {name: rate, f"{name}_low": interval.low, f"{name}_high": interval.high}


def _by_original(columns: Iterable[Float64]) -> Float64:
    """``[subsets, n]`` to one value after another: all of the first original, all of the second, ..."""
    return np.stack(list(columns), axis=1).ravel()


def _metrics() -> Sequence[base.Metric]:
    out = [base.Metric(s, f"mean normalised similarity, {what}", None) for s, what in SUBSETS.items()]
    out += [base.Metric(f"{s}_sd", f"standard deviation of it, {what}", None) for s, what in SUBSETS.items()]
    out.append(base.Metric("cos_avg", "mean cosine between the two halves of the originals", None))
    for first, second in ORDERINGS:
        # A typo keeps the meaning, and so does a synonym: which of them should be nearer, nobody says.
        better = None if (first, second) == ("synonym", "typo") else True
        name, what = f"{first}>{second}", f"share of originals with {first} more similar than {second}"
        out.append(base.Metric(name, f"{what}, ties counting half", better))
        out.append(base.Metric(f"{name}_low", f"{what}: lower end of the 95% interval", better))
        out.append(base.Metric(f"{name}_high", f"{what}: upper end of the 95% interval", better))
    return (*out, base.Metric("originals", "originals, each with a rewrite per subset", None, is_count=True))


ENTRY = base.DiagnosticEntry(
    id="heros",
    version=1,
    title="HEROS",
    question="Which small changes to a sentence does the encoder notice: a synonym, an antonym, a negation, a typo?",
    how=r"""
Every *original* sentence has one *rewrite* per subset that differs from it in at most one content word: the two are a
*minimal pair*. Their cosine is laid on a scale on which 1 is the same direction and 0 what two unrelated sentences
have:

$$\cos_{norm} = \frac{\cos - \cos_{avg}}{1 - \cos_{avg}}$$

- $\cos_{avg}$ is the mean cosine between the first half of the originals and the second, over all pairs; of an odd
  number the second half has one more.
- Per subset there are the mean and the (sample) standard deviation of the normalised similarity. No value is right in
  itself: what matters is how subsets stand to each other.
- **Ordering rates** are the share of originals for which a rewrite of one kind is more similar than that of another,
  for example `synonym>antonym`; two cosines within $10^{-6}$ count half. Beside them stands a 95% Wilson interval.
  They are not in the paper.
- All is computed in float64. A zero vector has no direction: its cosine with anything is 0.
- A transform is fitted on all the sentences, originals and rewrites.
- An encoder must have a vector for every sentence.
""",
    citation="Chiang, Chuang, Glass and Lee 2023, Revealing the Blind Spot of Sentence Encoder Evaluation by HEROS, "
    "section 3 and appendix D",
    dataset_kind=DatasetKind.MINIMAL_PAIR_SET,
    parameters=(),
    columns=(
        base.Column("subset", pa.string(), "what was done to the original"),
        base.Column("cosine", pa.float64(), "cosine of original and rewrite"),
        base.Column("similarity", pa.float64(), "the same, normalised by cos_avg"),
    ),
    metrics=tuple(_metrics()),
    headline="synonym>antonym",
    figures="core.figures.heros",
    compute=compute,
)
