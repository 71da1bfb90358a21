"""Diagnostic HEROS: small changes of a sentence that a model does and does not treat as changes of meaning.

Chiang 2023, section 3 and appendix D. Cosines are computed in float64; a zero vector's cosine with anything is 0. The
ordering rates and the intervals are not in the paper.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.kinds.minimal_pairs import MinimalPairSet, subset_in_words
from blindspot.diagnostic import (
    NOT_NEGATIVE,
    SHARE,
    SIGNED,
    Column,
    Cost,
    Diagnostic,
    DiagnosticResult,
    GridRole,
    Overview,
    Page,
    Picker,
    Reading,
    Roles,
    Score,
)
from blindspot.diagnostics.heros.dependence import of_dataset
from blindspot.diagnostics.heros.intervals import intervals
from blindspot.errors import BlindspotError
from blindspot.numerics.ranking.problem import TAU
from blindspot.numerics.similarity import Similarity, mean_cosine, similarity_of_pairs
from blindspot.numerics.statistics.intervals import Interval
from blindspot.numerics.statistics.pairs import Dependence, sure_share
from blindspot.types import CancelToken, Float32, Float64, Progress

if TYPE_CHECKING:
    from blindspot.numerics.statistics.compare import ItemScores
    from blindspot.runs.findings import Material
    from blindspot.runs.findings.evidence import Evidence
    from blindspot.runs.training_data.examples import Triplet
    from blindspot.settings import Settings
    from blindspot.store.records import RunRecord
    from blindspot.store.repository import Repository

NORMALISED = (-math.inf, 1.0)
# In the order of display, with the change to the original.
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
# The subset that is right among the others, where a dataset has one of these subsets.
RIGHT = ("paraphrase", "entailed", "kept_meaning", "typical_patient")
ACCURACY = "accuracy"
MIN_ROOM = 1e-9  # between cos_avg and 1: with less, the divisor is rounding
OPTIONS_SEED = 2022  # decides the order of options


class Meaning(StrEnum):
    """What a rewrite does to the meaning of its original."""

    KEPT = "kept"
    CHANGED = "changed"
    UNKNOWN = "unknown"  # the subset's name does not tell


# The one place that says which subsets keep the meaning; * is any ending.
MEANINGS = {
    Meaning.KEPT: ("synonym*", "typo", "paraphrase*", "entailed", "entailment", "positive", "kept_*"),
    Meaning.CHANGED: (
        "antonym*",
        "negat*",  # negated, negation_main, negative
        "hard_negative*",
        "contradict*",
        "random_mlm",
        "opposite*",
        "foil",
        "role_swap*",
        "not_entailed",
        "changed_*",
    ),
}


def meaning_of(subset: str) -> Meaning:
    """Whether a subset's rewrites keep the meaning, as far as its name tells."""
    name = subset.casefold()
    for meaning, patterns in MEANINGS.items():
        if any(fnmatchcase(name, pattern) for pattern in patterns):
            return meaning
    return Meaning.UNKNOWN


def right_of(subsets: Sequence[str]) -> str:
    """The subset that is right among the others; "" where there is no such subset."""
    return next((name for name in RIGHT if name in subsets and len(subsets) > 1), "")


def baseline(embeddings: Float32 | Float64, dataset: MinimalPairSet) -> float:
    """``cos_avg``: mean cosine between the first n/2 originals and the rest, over all pairs (appendix D).

    By role, the first half are queries and the rest documents, as an original and its rewrites are. With an odd number
    of originals the second half has one more, so that all originals count.
    """
    half = len(dataset.originals) // 2
    asking = dataset.rows_as_queries(dataset.originals, len(embeddings))
    return mean_cosine(embeddings, asking[:half], dataset.originals[half:])


def ordering_outcomes(first: Float64, second: Float64) -> Float64:
    """Per original ``[n]``: 1 where its ``first`` rewrite has the higher cosine, 0 where ``second`` has, 0.5 where
    they are within TAU. The mean is the ordering rate."""
    difference = first - second
    return np.where(np.abs(difference) <= TAU, 0.5, difference > 0)


def picks(options: Float64, right: int, seed: int = OPTIONS_SEED) -> Float64:
    """Per original ``[n]``: 1 where the right option has the highest cosine, 0 where another has; options within TAU of
    the highest share the point.

    Options are put in a random order first, so that their order in the file cannot matter.

    Args:
        options: ``[n, k]``, cosine of each original and each of its rewrites.
        right: the column of the right option.
    """
    order = np.random.default_rng(seed).permuted(np.broadcast_to(np.arange(options.shape[1]), options.shape), axis=1)
    shuffled = np.take_along_axis(options, order, axis=1)
    highest = shuffled >= shuffled.max(axis=1, keepdims=True) - TAU
    hit = (highest & (order == right)).any(axis=1)
    return np.asarray(hit / highest.sum(axis=1))


def compute(
    embeddings: Float32 | Float64,
    dataset: MinimalPairSet,
    params: Mapping[str, str],  # noqa: ARG001 - it has none
    progress: Progress,
    cancel: CancelToken,
) -> DiagnosticResult:
    """Similarity of every original with its rewrites.

    Raises:
        BlindspotError: all originals have the same direction, so that nothing can be normalized.
    """
    n, subsets = len(dataset.originals), dataset.subsets
    cos_avg = baseline(embeddings, dataset)
    if not 1.0 - cos_avg > MIN_ROOM:
        raise BlindspotError(
            f"all {n:,} originals of '{dataset.id}' have the same embedding (cos_avg is {cos_avg:.9f})",
            expected="an encoder that tells sentences apart",
        )
    cosines: dict[str, Float64] = {}
    asking = dataset.rows_as_queries(dataset.originals, len(embeddings))
    for done, (subset, rewrites) in enumerate(dataset.rewrites.items()):
        cancel.check()
        progress("comparing", done, len(subsets))
        cosines[subset] = similarity_of_pairs(embeddings, asking, rewrites, Similarity.COS)
    similarities = {subset: (cosine - cos_avg) / (1.0 - cos_avg) for subset, cosine in cosines.items()}
    progress("comparing", len(subsets), len(subsets))
    cancel.check()
    dependence = of_dataset(dataset)
    sure = intervals(embeddings, dataset, np.stack(list(cosines.values()), axis=1), dependence)

    metrics = {subset: float(similarity.mean()) for subset, similarity in similarities.items()}
    metrics |= {f"{subset}_sd": float(similarity.std(ddof=1)) for subset, similarity in similarities.items()}
    metrics["cos_avg"] = cos_avg
    if sure is not None:
        for name, interval in (*zip(subsets, sure.similarities, strict=True), ("cos_avg", sure.cos_avg)):
            metrics |= _ends(name, interval)
    metrics["originals"] = float(n)
    for first, second in ORDERINGS:
        if first in cosines and second in cosines:
            metrics |= _share(f"{first}>{second}", ordering_outcomes(cosines[first], cosines[second]), dependence)
    seeds = {}
    if right := right_of(subsets):
        options = np.stack(list(cosines.values()), axis=1)
        metrics |= _share(ACCURACY, picks(options, subsets.index(right)), dependence)
        metrics[f"{ACCURACY}_chance"] = 1.0 / len(subsets)
        seeds["options"] = OPTIONS_SEED
    items, pairs = len(dataset.items), n * len(subsets)
    return DiagnosticResult(
        metrics=metrics,
        items=pa.table(
            {
                "subset": list(subsets) * n,
                "cosine": _by_original(cosines.values()),
                "similarity": _by_original(similarities.values()),
            },
            schema=ENTRY.schema,
        ),
        coverage={"pairs": pairs, "pairs_covered": pairs, "items": items, "items_covered": items},
        item_numbers=np.repeat(np.arange(n, dtype=np.int32), len(subsets)),
        seeds=seeds,
    )


def _share(name: str, outcomes: Float64, dependence: Dependence) -> dict[str, float]:
    share = sure_share(outcomes, dependence)
    return {name: share.value} | _ends(name, share.interval)


def _ends(name: str, interval: Interval) -> dict[str, float]:
    return {f"{name}_low": interval.low, f"{name}_high": interval.high}


def _by_original(columns: Iterable[Float64]) -> Float64:
    """``[subsets, n]`` to one value after another: all of the first original, all of the second, ..."""
    return np.stack(list(columns), axis=1).ravel()


def _metrics() -> Sequence[Score]:
    means = {subset: f"mean normalized similarity, {what}" for subset, what in SUBSETS.items()}
    out = [Score(subset, what, None, range=NORMALISED) for subset, what in means.items()]
    for subset, what in SUBSETS.items():
        out.append(Score(f"{subset}_sd", f"standard deviation of it, {what}", None, range=NOT_NEGATIVE))
    for subset, what in means.items():
        out += _declared_ends(subset, what, None, NORMALISED)
    cos_avg = "mean cosine between the two halves of the originals"
    out += [Score("cos_avg", cos_avg, None, range=SIGNED)]
    out += _declared_ends("cos_avg", cos_avg, None, SIGNED)
    for first, second in ORDERINGS:
        # A typo keeps the meaning, and so does a synonym: neither has to be nearer than the other.
        better = None if (first, second) == ("synonym", "typo") else True
        name = f"{first}>{second}"
        what = f"share of originals with {subset_in_words(first)} more similar than {subset_in_words(second)}"
        out.append(Score(name, f"{what}, ties counting half", better))
        out += _declared_ends(name, what, better)
    what = "share of originals whose paraphrase (or entailed rewrite) is more similar than every other rewrite"
    out.append(Score(ACCURACY, f"{what}; ties for the first place share the point", True))
    out += _declared_ends(ACCURACY, what, True)
    out.append(Score(f"{ACCURACY}_chance", "chance: one over the number of rewrites", None))
    return (*out, Score("originals", "originals, each with a rewrite per subset", None, is_count=True))


def _declared_ends(name: str, what: str, better: bool | None, ends_in: tuple[float, float] = SHARE) -> list[Score]:
    ends = {"low": "lower", "high": "upper"}
    return [
        Score(f"{name}_{e}", f"{what}: {end} end of the 95% interval", better, range=ends_in, is_end=True)
        for e, end in ends.items()
    ]


def readings_among(metrics: Sequence[str]) -> list[Reading]:
    """The subsets' similarities, their orderings, and the accuracy.

    The diagnostic declares a subset's similarity as descriptive. Here more is better unless it changes the meaning.
    """
    subsets = [name for name in metrics if f"{name}_sd" in metrics]
    orderings = [name for name in metrics if ">" in name and not name.endswith(("_low", "_high"))]
    return [
        *(Reading(n, f"HEROS {subset_in_words(n)}", -1 if meaning_of(n) is Meaning.CHANGED else 1) for n in subsets),
        *(Reading(name, f"HEROS {' over '.join(map(subset_in_words, name.split('>')))}") for name in orderings),
        *(Reading(name, "HEROS paraphrases found") for name in metrics if name == ACCURACY),
    ]


class Heros(Diagnostic):
    """The diagnostic HEROS."""

    id = "heros"
    version = 5
    title = "HEROS"
    question = "Does the model notice small changes to a sentence: a synonym, an antonym, a negation, a typo?"
    how = r"""
Every *original* sentence has one *rewrite* per subset that differs from it in at most one content word: the two are a
*minimal pair*. Their cosine is normalized, so that 1 is the same direction and 0 the mean of unrelated sentences:

$$\cos_{norm} = \frac{\cos - \cos_{avg}}{1 - \cos_{avg}}$$

- $\cos_{avg}$ is the mean cosine between the first and the second half of the originals, over all pairs; if their
  number is odd, the second half has one more.
- Each subset has the mean and the sample standard deviation of the normalized similarity. The order of the subsets
  matters, not their values.
- 95% **intervals** of these means and of $\cos_{avg}$ are over originals: the variance comes from how much each
  original moves the mean, $\cos_{avg}$ included, with Student's t; for similarities on the scale of
  $\log(1 - \cos_{norm})$. Fewer than eight originals have no interval. The intervals are not in the paper.
- **Originals that share a text**, directly or through others, as where one is another one's rewrite, are not
  independent: they are one group. Variances are then over groups, Wilson's intervals are for the number of independent
  observations that the groups are worth, and tests turn whole groups.
- **Ordering rates** are the share of originals for which one kind of rewrite is more similar than another, for example
  `synonym>antonym`, with a 95% Wilson interval; cosines within $10^{-6}$ count half. They are not in the paper. A
  dataset with other subsets has a rate for each pair of its subsets; the matrix always has all pairs.
- The **headline** compares every subset that changes the meaning (antonym, negations, random word, opposites, foil,
  role swap, not entailed) with every one that keeps it (synonym, typo, paraphrase, entailed), and names the pair that
  is most often in the wrong order. Typos count only if no other subset keeps the meaning. A difference between models
  is significant if McNemar's p, times the number of pairs of subsets and of pairs of models, is below 0.05.
- **Accuracy** is computed if a subset is called `paraphrase` or `entailed`: the share of originals for which this
  rewrite is more similar than every other, with a 95% Wilson interval. Rewrites within $10^{-6}$ of the most similar
  one share the point. Chance is one over the number of rewrites. In SemAntoNeg (Vahtola, Creutz and Tiedemann 2022) the
  others are the two sentences that say the opposite.
- **Two models** are compared on the same originals by McNemar's exact test: of the originals that only one of the two
  puts in this order (a tie is half a yes), each would win about half if they were equally good; p is the two-sided
  binomial probability of a split at least as uneven, Holm-corrected for the number of orderings. Where originals share
  texts, the signs of whole groups are flipped instead, and made stricter where differences are skewed.
- Everything is computed in float64. The cosine of a zero vector is 0.
- Post-processing is fitted on all sentences, originals and rewrites.
- An encoder must have a vector for every sentence.
"""
    how_to_read = """
- Look at the order of the kinds of rewrite, not at the values: paraphrases and synonyms should be nearer to the
  original than antonyms and negations.
- An **ordering rate** below 50% means that the wrong rewrite is usually nearer. Open *sentences* to see which.
- The normalized similarity of a subset shows how far the model moves a sentence when one word changes; models
  spread their cosines differently, so compare orders between models first.
"""
    limits = """
- Whether an antonym should be far away depends on the task: topic search may want it near.
- The sentences are short and differ in one word. Long texts, other edits and other languages are not tested.
- The paper has no intervals or ordering rates; these are ours.
"""
    citation = (
        "Chiang, Chuang, Glass and Lee 2023, Revealing the Blind Spot of Sentence Encoder Evaluation by HEROS, "
        "section 3 and appendix D"
    )
    dataset_kind = DatasetKind.MINIMAL_PAIR_SET
    parameters = ()
    columns = (
        Column("subset", pa.string(), "what was done to the original"),
        Column("cosine", pa.float64(), "cosine of original and rewrite"),
        Column("similarity", pa.float64(), "the same, normalized by cos_avg"),
    )
    metrics = tuple(_metrics())
    headline = "synonym>antonym"
    headline_instead = ACCURACY
    overview = Overview(
        "Sentences whose synonym is nearer than the antonym (higher is better)",
        {
            "synonym>antonym": "synonym > antonym",
            "synonym>negation_main": "> negated clause",
            "synonym>negation_antonym": "> negated word",
            "synonym>random_mlm": "> random word",
            ACCURACY: "right rewrite first",  # of datasets that have no synonym
        },
        "See which rewrites they take for the same",
        counted=("originals", "original sentences with their rewrites"),
    )
    page = Page(
        "heros",
        "HEROS",
        ":material/difference:",
        (Picker.DATASET, Picker.MODELS, Picker.POSTPROCESSED, Picker.BASELINE),
    )
    readings_among = staticmethod(readings_among)
    grid = GridRole.TASK
    roles = Roles("originals", "rewrites and, for the mean of unrelated sentences, the second half of the originals")
    won = ("sentences", "has the right rewrite nearer")
    item_in_address = {"view": "sentences", "item": "{number}", "a": "{a}", "b": "{b}"}
    is_gate = True
    two_in_address = {"view": "orderings", "a": "{a}", "b": "{b}"}
    cost = Cost(
        units=lambda work: 100.0 * work.pairs * work.dimension,  # most of it does not grow with them
        units_of_run=lambda run: 100.0 * run.coverage.get("pairs", 0) * run.dimension,
        seconds_per_unit={"": 2e-10},
    )
    compute = staticmethod(compute)

    def triplets(
        self, run: RunRecord, settings: Settings, repository: Repository, *, most: int, margin: float
    ) -> Iterable[Triplet]:
        from blindspot.diagnostics.heros.training import triplets

        return triplets(run, settings, repository, most=most, margin=margin)

    def evidence(self, material: Material) -> Iterable[Evidence]:
        from blindspot.diagnostics.heros.evidence import evidence

        return evidence(material)

    def item_scores(self, runs: Sequence[RunRecord], repository: Repository) -> Sequence[Mapping[str, ItemScores]]:
        from blindspot.diagnostics.heros.item_scores import item_scores

        return item_scores(runs, repository)


ENTRY = Heros()
