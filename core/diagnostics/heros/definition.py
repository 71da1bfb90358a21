"""HEROS: which kinds of small change does an encoder take for a change of meaning?

Chiang 2023, section 3 and appendix D; DESIGN 4.2. Cosines are computed in float64; a zero vector's cosine with
anything is 0. The ordering rates and the intervals are not the paper's.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from core import diagnostic as base
from core.datasets.kinds.base import DatasetKind
from core.datasets.kinds.minimal_pairs import MinimalPairSet
from core.diagnostics.heros.meaning import Meaning, meaning_of
from core.errors import BlindspotError
from core.numerics.ranking.problem import TAU
from core.numerics.similarity import Metric, mean_cosine, similarity_of_pairs, unit_rows
from core.numerics.statistics.intervals import (
    RESAMPLES,
    Interval,
    percentile_interval,
    resample_counts,
    wilson_interval,
)
from core.types import CancelToken, Float32, Float64, Progress

NORMALISED = (-math.inf, 1.0)
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
PARAPHRASE = "paraphrase"  # the subset that is right among the others, where a dataset has it
ACCURACY = "accuracy"
MIN_ROOM = 1e-9  # of cos_avg below 1: with less, what is divided by is rounding
SEED = 2023  # of the bootstrap
OPTIONS_SEED = 2022  # of the order in which options are laid out
WEIGHTS_AT_ONCE = 1 << 20  # of the bootstrap: 8 MB of float64


def baseline(embeddings: Float32 | Float64, dataset: MinimalPairSet) -> float:
    """``cos_avg``: mean cosine between the first n/2 originals and the rest, over all pairs (appendix D).

    Of an odd number of originals the second half has one more: none is left out.
    """
    half = len(dataset.originals) // 2
    return mean_cosine(embeddings, dataset.originals[:half], dataset.originals[half:])


def ordering_outcomes(first: Float64, second: Float64) -> Float64:
    """Per original ``[n]``: 1 where its ``first`` rewrite has the higher cosine, 0 where ``second`` has, 0.5 where
    they are within TAU. The mean is the ordering rate."""
    difference = first - second
    return np.where(np.abs(difference) <= TAU, 0.5, difference > 0)


def picks(options: Float64, right: int, seed: int = OPTIONS_SEED) -> Float64:
    """Per original ``[n]``: 1 where the right option has the highest cosine, 0 where another has; where several are
    within TAU of the highest, one of them is drawn, and the right one's chance is what counts.

    The options of every original are laid out in a random order first: that they always stand in one order in the
    file must not tell anything, and this shows that it does not.

    Args:
        options: ``[n, k]``, cosine of each original and each of its rewrites.
        right: the column of the right one.
    """
    order = np.random.default_rng(seed).permuted(np.broadcast_to(np.arange(options.shape[1]), options.shape), axis=1)
    laid_out = np.take_along_axis(options, order, axis=1)
    highest = laid_out >= laid_out.max(axis=1, keepdims=True) - TAU
    hit = (highest & (order == right)).any(axis=1)
    return np.asarray(hit / highest.sum(axis=1))


@dataclass(frozen=True, eq=False)
class Resampled:
    """What came out of a bootstrap's resamples: ``cos_avg [B]``, and per subset ``mean_cosine [B, subsets]``."""

    cos_avg: Float64
    mean_cosine: Float64

    def similarity_intervals(self) -> list[Interval] | None:
        """Per subset the 95% interval of its mean normalised similarity.

        None where a resample's originals all have the same direction, so that it cannot be normalised.
        """
        room = 1.0 - self.cos_avg
        if not (room > MIN_ROOM).all():
            return None
        similarities = (self.mean_cosine - self.cos_avg[:, np.newaxis]) / room[:, np.newaxis]
        return [percentile_interval(column) for column in similarities.T]


def bootstrap(
    embeddings: Float32 | Float64,
    dataset: MinimalPairSet,
    cosines: Float64,
    progress: Progress,
    cancel: CancelToken,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Resampled:
    """Draw originals with replacement, each with all its rewrites, and compute ``cos_avg`` and the means anew.

    They are drawn within each of the two halves that ``cos_avg`` compares, as many as it has. Drawn from all, one
    sentence could come to stand in both: its cosine with itself, 1, would raise ``cos_avg`` in nearly every resample.

    Args:
        cosines: ``[n, subsets]``, cosine of each original and its rewrites.
    """
    half = len(dataset.originals) // 2
    halves = slice(None, half), slice(half, None)
    units = [unit_rows(embeddings, dataset.originals[part]) for part in halves]
    generators = np.random.default_rng(seed).spawn(2)
    at_once = max(1, WEIGHTS_AT_ONCE // len(units[1]))
    cos_avg, means = np.empty(resamples), np.empty((resamples, cosines.shape[1]))
    for start in range(0, resamples, at_once):
        cancel.check()
        progress("resampling", start, resamples)
        now = slice(start, min(start + at_once, resamples))
        first, second = (
            resample_counts(len(unit), now.stop - start, rng) for unit, rng in zip(units, generators, strict=True)
        )
        sums = (first @ units[0], second @ units[1])
        cos_avg[now] = np.einsum("bd,bd->b", *sums) / (len(units[0]) * len(units[1]))
        means[now] = (first @ cosines[halves[0]] + second @ cosines[halves[1]]) / len(cosines)
    progress("resampling", resamples, resamples)
    return Resampled(cos_avg, means)


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
    resampled = bootstrap(embeddings, dataset, np.stack(list(cosines.values()), axis=1), progress, cancel)

    metrics = {subset: float(similarity.mean()) for subset, similarity in similarities.items()}
    metrics |= {f"{subset}_sd": float(similarity.std(ddof=1)) for subset, similarity in similarities.items()}
    if intervals := resampled.similarity_intervals():
        for subset, interval in zip(subsets, intervals, strict=True):
            metrics |= _ends(subset, interval)
    metrics |= {"cos_avg": cos_avg} | _ends("cos_avg", percentile_interval(resampled.cos_avg))
    metrics["originals"] = float(n)
    for first, second in ORDERINGS:
        if first in cosines and second in cosines:
            rate = float(ordering_outcomes(cosines[first], cosines[second]).mean())
            metrics |= {f"{first}>{second}": rate} | _ends(f"{first}>{second}", wilson_interval(rate, n))
    seeds = {"bootstrap": SEED}
    if PARAPHRASE in cosines and len(cosines) > 1:
        options = np.stack(list(cosines.values()), axis=1)
        accuracy = float(picks(options, subsets.index(PARAPHRASE)).mean())
        metrics |= {ACCURACY: accuracy} | _ends(ACCURACY, wilson_interval(accuracy, n))
        metrics[f"{ACCURACY}_chance"] = 1.0 / len(subsets)
        seeds["options"] = OPTIONS_SEED
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
        seeds=seeds,
    )


def _ends(name: str, interval: Interval) -> dict[str, float]:
    return {f"{name}_low": interval.low, f"{name}_high": interval.high}


def _by_original(columns: Iterable[Float64]) -> Float64:
    """``[subsets, n]`` to one value after another: all of the first original, all of the second, ..."""
    return np.stack(list(columns), axis=1).ravel()


def _metrics() -> Sequence[base.Metric]:
    out = [base.Metric(s, f"mean normalised similarity, {what}", None, range=NORMALISED) for s, what in SUBSETS.items()]
    out += [
        base.Metric(f"{s}_sd", f"standard deviation of it, {what}", None, range=base.NOT_NEGATIVE)
        for s, what in SUBSETS.items()
    ]
    for subset, what in SUBSETS.items():
        out += _declared_ends(subset, f"mean normalised similarity, {what}", None, NORMALISED)
    cos_avg = "mean cosine between the two halves of the originals"
    out += [base.Metric("cos_avg", cos_avg, None, range=base.SIGNED)]
    out += _declared_ends("cos_avg", cos_avg, None, base.SIGNED)
    for first, second in ORDERINGS:
        # A typo keeps the meaning, and so does a synonym: which of them should be nearer, nobody says.
        better = None if (first, second) == ("synonym", "typo") else True
        name, what = f"{first}>{second}", f"share of originals with {first} more similar than {second}"
        out.append(base.Metric(name, f"{what}, ties counting half", better))
        out += _declared_ends(name, what, better)
    what = "share of originals whose paraphrase is more similar than every other rewrite"
    out.append(base.Metric(ACCURACY, f"{what}, those that share the first place sharing the point", True))
    out += _declared_ends(ACCURACY, what, True)
    out.append(base.Metric(f"{ACCURACY}_chance", "what guessing gets: one in as many as there are rewrites", None))
    return (*out, base.Metric("originals", "originals, each with a rewrite per subset", None, is_count=True))


def _declared_ends(
    name: str, what: str, better: bool | None, ends_in: tuple[float, float] = base.SHARE
) -> list[base.Metric]:
    ends = {"low": "lower", "high": "upper"}
    return [
        base.Metric(f"{name}_{e}", f"{what}: {end} end of the 95% interval", better, range=ends_in)
        for e, end in ends.items()
    ]


def readings_among(names: Sequence[str]) -> list[base.Reading]:
    """The subsets, as similarity to the original, and the orderings of them.

    Of a subset's similarity it is declared that it only describes. Here more counts as better of what keeps the meaning
    and less of what changes it; of subsets whose names do not tell, more.
    """
    subsets = [name for name in names if f"{name}_sd" in names]
    orderings = [name for name in names if ">" in name and not name.endswith(("_low", "_high"))]
    return [
        *(base.Reading(n, f"HEROS {n}", -1 if meaning_of(n) is Meaning.CHANGED else 1) for n in subsets),
        *(base.Reading(name, f"HEROS {name.replace('>', ' > ')}") for name in orderings),
        *(base.Reading(name, "HEROS paraphrases found") for name in names if name == ACCURACY),
    ]


ENTRY = base.DiagnosticEntry(
    id="heros",
    version=2,
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
- Their 95% **intervals**, and that of $\cos_{avg}$, are a bootstrap's, from the 2.5th to the 97.5th percentile of 2,000
  resamples: each draws the same number of originals with replacement, every one with all its rewrites, and computes
  everything anew, $\cos_{avg}$ included. Originals are drawn within each of the two halves: drawn from all, one
  sentence could stand in both, and its cosine with itself would raise $\cos_{avg}$. The seed stands in the run's
  manifest. The intervals are not in the paper.
- **Ordering rates** are the share of originals for which a rewrite of one kind is more similar than that of another,
  for example `synonym>antonym`; two cosines within $10^{-6}$ count half. Beside them stands a 95% Wilson interval.
  They are not in the paper. A table of other subsets than these has all its pairs of subsets laid beside each other;
  the matrix has all of them in any case.
- The **headline** looks at every subset that changes the meaning (antonym, negations, random word, opposites) beside
  every one that keeps it (synonym, typo, paraphrase), and names the two whose changed meaning is nearer most often.
  A typo stands in only where no other subset keeps the meaning. Variants are said to differ where McNemar's p, times
  the number of such pairs of subsets and of pairs of variants, is below 0.05.
- **Accuracy** is there where one of the subsets is called `paraphrase`: the share of originals whose paraphrase is
  more similar than every other rewrite, with a 95% Wilson interval. Rewrites within $10^{-6}$ of the most similar one
  share the point. Options are put in a random order first, so that their place in the file tells nothing. Chance is
  one in as many as there are rewrites. In SemAntoNeg (Vahtola, Creutz and Tiedemann 2022) the others are the two
  sentences that say the opposite.
- **Two variants** are compared on the same originals by McNemar's exact test. Originals on which one of them puts the
  two rewrites in this order and the other does not are *discordant*; a tie lies between yes and no. If the two
  variants were equally good, each would win about half of the discordant ones: p is the probability of a split at
  least as uneven (two-sided binomial test). As several orderings are tested at once, p is corrected after Holm.
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
    headline_instead=ACCURACY,
    overview=base.Overview(
        "Sentences whose synonym is nearer than the antonym (higher is better)",
        {
            "synonym>antonym": "synonym > antonym",
            "synonym>negation_main": "> negated clause",
            "synonym>negation_antonym": "> negated word",
            "synonym>random_mlm": "> random word",
        },
        "See which rewrites they take for the same",
        counted=("originals", "original sentences with their rewrites"),
    ),
    page=base.Page("heros", "HEROS", ":material/difference:"),
    readings_among=readings_among,
    grid=base.GridRole.TASK,
    compare="core.diagnostics.heros.comparison.compare",
    cost=base.Cost(
        units=lambda work: 100.0 * work.pairs * work.dimension,  # most of it does not grow with them
        units_of_run=lambda run: 100.0 * run.coverage.get("pairs", 0) * run.dimension,
        seconds_per_unit={"": 2e-10},
    ),
    compute=compute,
)
