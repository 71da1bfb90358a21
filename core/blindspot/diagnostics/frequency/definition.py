"""Frequency: how much of an encoder's space is about how often a word is used.

Schnabel 2015, section 6, figures 3 and 4. The computation is in ``classes`` and ``corpus_ranks``, which the page also
applies to datasets that are not vocabularies.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.kinds.vocabulary import Vocabulary
from blindspot.diagnostic import (
    ANY,
    NOT_NEGATIVE,
    SIGNED,
    Column,
    Cost,
    Diagnostic,
    DiagnosticResult,
    Overview,
    Page,
    Picker,
    Score,
)
from blindspot.diagnostics.frequency import classes, norms
from blindspot.diagnostics.frequency import corpus_ranks as neighbors
from blindspot.diagnostics.frequency.classes import Accuracy
from blindspot.errors import BlindspotError
from blindspot.numerics.neighbors.exact import ExactIndex
from blindspot.numerics.neighbors.hubness import occurrences
from blindspot.numerics.similarity import Similarity, row_norms
from blindspot.numerics.statistics.association import spearman
from blindspot.types import CancelToken, Float32, Float64, Progress

if TYPE_CHECKING:
    from blindspot.runs.findings import Material
    from blindspot.runs.findings.evidence import Evidence

HUB_K = 10
HUB_WORDS = 5_000  # a second or two in 384 dimensions
HUB_SEED = 2_010


def compute(
    embeddings: Float32 | Float64,
    dataset: Vocabulary,
    params: Mapping[str, str],  # noqa: ARG001 - it has none
    progress: Progress,
    cancel: CancelToken,
) -> DiagnosticResult:
    """Accuracy at every threshold, a row each, and the power law of the neighbors' ranks.

    Raises:
        BlindspotError: all words have the same direction, or there are too few of them.
    """
    if classes.all_alike(embeddings):
        raise BlindspotError(
            f"all {len(dataset.items):,} words of '{dataset.id}' have the same direction, or none",
            expected="an encoder that tells words apart",
        )
    design = classes.design(dataset.counts, with_paper=True)
    accuracies = classes.classify(embeddings, dataset.counts, design, progress, cancel)
    mean, control = classes.mean_of(accuracies)
    metrics = {"accuracy": mean, "accuracy_max": max(a.mean for a in accuracies), "control": control}
    for accuracy in accuracies:
        name = f"accuracy@{accuracy.threshold.name}"
        metrics |= {name: accuracy.mean, f"{name}_sd": accuracy.sd}
    metrics |= {"words": float(len(dataset.items)), "words_per_class": float(design.per_class)}
    metrics |= _power_law(embeddings, dataset, progress)
    metrics |= _lengths(embeddings, dataset) | _hubs(embeddings, dataset, progress)
    return DiagnosticResult(
        metrics=metrics,
        items=rows_of(accuracies, design.per_class),
        coverage={"items": len(dataset.items), "items_covered": len(dataset.items)},
        seeds={
            "classes, folds and shuffles": classes.SEED,
            "null and drawn query words": neighbors.SEED,
            "words whose hubs are counted": HUB_SEED,
        },
    )


def _power_law(embeddings: Float32 | Float64, dataset: Vocabulary, progress: Progress) -> dict[str, float]:
    """Exponent and R2 of the neighbors' mean corpus ranks; empty if there are too few words for a curve."""
    n = len(dataset.items)
    if not len(neighbors.places(n)):
        return {}
    progress("looking up neighbors", 0, 1)
    ranks = neighbors.corpus_ranks(dataset.counts)
    queries = neighbors.queries_among(dataset.queries, n)
    index = ExactIndex(embeddings.astype("float32", copy=False), Similarity.COS)
    fit = neighbors.fit_power_law(neighbors.neighbor_curve(index, ranks, queries.rows))
    null = neighbors.fit_power_law(neighbors.null_curve(ranks, queries.rows))
    progress("looking up neighbors", 1, 1)
    sure = fit.exponent.interval if fit.exponent else None
    ends = {"neighbor_exponent_low": sure.low, "neighbor_exponent_high": sure.high} if sure else {}
    return {
        "neighbor_exponent": fit.b,
        **ends,
        "neighbor_r2": fit.r2,
        "neighbor_r2_null": null.r2,
        "query_words": float(len(queries.rows)),
    }


def _lengths(embeddings: Float32 | Float64, dataset: Vocabulary) -> dict[str, float]:
    """Rank correlation of vector length and count; empty where all lengths are the same."""
    correlation = norms.correlation(embeddings, dataset.counts)
    return (
        {} if np.isnan(correlation.value) else {"length_rho": correlation.value, "length_words": float(correlation.n)}
    )


def _hubs(embeddings: Float32 | Float64, dataset: Vocabulary, progress: Progress) -> dict[str, float]:
    """Rank correlation of k-occurrence and count among at most ``HUB_WORDS`` words; empty for too few words."""
    usable = np.flatnonzero((row_norms(embeddings) > 0) & ~np.isnan(dataset.counts))
    rows = np.sort(np.random.default_rng(HUB_SEED).permutation(usable)[:HUB_WORDS])
    n = len(rows)
    if n <= HUB_K:
        return {}
    progress("counting hubs", 0, 1)
    nearest = ExactIndex(embeddings[rows].astype("float32", copy=False), Similarity.COS).of_rows(np.arange(n), HUB_K)
    correlation = spearman(dataset.counts[rows], occurrences(nearest.rows, HUB_K, n).astype(np.float64))
    progress("counting hubs", 1, 1)
    return {} if np.isnan(correlation.value) else {"hub_rho": correlation.value, "hub_words": float(n)}


def rows_of(accuracies: Sequence[Accuracy], per_class: int) -> pa.Table:
    """A row per threshold, in the declared columns."""
    rows = [(*astuple(a.threshold), a.mean, a.sd, a.control, a.control_sd, per_class) for a in accuracies]
    return pa.table(list(zip(*rows, strict=True)), schema=ENTRY.schema)


def _metrics() -> Sequence[Score]:
    thresholds = {f"p{p}": f"the {p}th percentile of the counts" for p in classes.PERCENTILES}
    thresholds |= {str(count): f"{count:,} occurrences" for count in classes.PAPER_COUNTS}
    out = [
        Score("accuracy", "mean accuracy over the thresholds; 0.5 is chance", None),
        Score("control", "the same with shuffled labels", None),
        Score("accuracy_max", "accuracy at the threshold where it is highest", None),
        Score("neighbor_exponent", "b of: mean corpus rank of the k-th neighbor = a k^b", None, range=ANY),
        Score("neighbor_exponent_low", "lower end of b's 95% interval", None, range=ANY, is_end=True),
        Score("neighbor_exponent_high", "upper end of b's 95% interval", None, range=ANY, is_end=True),
        Score("neighbor_r2", "R2 of that fit; below 0.8 it is no power law", None),
        Score("neighbor_r2_null", "the same with random words for neighbors", None),
    ]
    for name, what in thresholds.items():
        out.append(Score(f"accuracy@{name}", f"accuracy with frequent words from {what} on", None))
        out.append(
            Score(
                f"accuracy@{name}_sd",
                f"standard deviation of it over the draws, from {what} on",
                None,
                range=NOT_NEGATIVE,
            )
        )
    out += [
        Score("length_rho", "rank correlation of vector length and frequency", None, range=SIGNED),
        Score(
            "hub_rho",
            f"rank correlation of frequency and {HUB_K}-occurrence: how many words have a word among their "
            f"{HUB_K} nearest",
            None,
            range=SIGNED,
        ),
        Score("words", "words with a vector", None, is_count=True),
        Score("words_per_class", "words of each class at every threshold", None, is_count=True),
        Score("query_words", "words whose neighbors are in the curve", None, is_count=True),
        Score("length_words", "words whose lengths are correlated", None, is_count=True),
        Score("hub_words", "words whose neighbors are counted for hubs", None, is_count=True),
    ]
    return out


class Frequency(Diagnostic):
    """The diagnostic Frequency."""

    id = "frequency"
    version = 3
    title = "Frequency"
    question = "How much of the space is about how often a word is used, rather than what it means?"
    how = rf"""
**Frequent or rare?** At every threshold a logistic regression learns from length-normalized vectors which words occur
at least so often, and is tested on words that it has not seen.

- Thresholds are the {classes.PERCENTILES[0]}th to {classes.PERCENTILES[-1]}th percentile of the vocabulary's counts,
  and of the paper's 100 to 50,000 those at which both classes have at least {classes.PAPER_CLASS} words.
- At every threshold, and for every encoder, both classes have the same number of words: as many as the smallest class
  of all has, at most {classes.MOST}. So 0.5 is chance.
- These words are drawn {classes.DRAWS} times, the same ones for every encoder. The accuracy of a draw is the mean over
  five folds with equally many of each class; shown are its mean and standard deviation over the draws. A single draw
  strays by the standard deviation, the mean by about a third of it. The regression has scikit-learn's default
  strength, C = 1.
- The **control** is the same with shuffled labels: accuracy clearly above it is information about frequency.
- A zero vector has no direction and stays zero. A word without a vector is left out; compare models on the words
  that all of them have.

**Do lengths and hubs follow frequency?** Spearman's ρ of a word's frequency with the length of its vector (where
lengths differ), and with its {HUB_K}-occurrence: how many of at most {HUB_WORDS:,} words, drawn with a seed, have it
among their {HUB_K} nearest by cosine.

**How frequent are neighbors?** For every word of WordSim-353 that the vocabulary has (of fewer than
{neighbors.FEW_QUERIES}, for {neighbors.DRAWN_QUERIES} words drawn with a seed), its nearest neighbors by cosine
among all the words, up to the 1,000th but at most 1% of the words. The corpus rank of a word is its place by count, 1
for the most frequent; words of one count share their mean rank. The mean rank of the k-th neighbor over the query
words is fitted by

$$\text{{mean corpus rank}} = a\,k^b$$

by least squares on the logarithms, over {neighbors.POINTS} places spaced evenly on the logarithm of k. With
R² below {neighbors.POWER_LAW} it is called no power law. b well above 0 means that frequent words are nearer than
rare ones whatever the query. Intervals are 95% t intervals over the query words; that of b comes from how far each
word moves it. The null has random other words in place of neighbors. The paper goes up to the 1,000th of 103,647 words,
just under 1%, and finds b = 0.17 for the C&W embeddings (section 6, figure 4).
"""
    how_to_read = """
- Accuracy of 0.5 is chance. Above the control with shuffled labels, the vectors reveal how frequent a word is.
- Then look at the neighbors of frequent and rare words, and at the ranks by frequency band: does it do harm?
"""
    limits = """
- That frequency can be read does not mean that it does harm. Check whether rare words have worse neighbors.
- Counts come from one corpus. Words that it does not have are left out.
"""
    citation = (
        "Schnabel, Labutov, Mimno and Joachims 2015, Evaluation methods for unsupervised word embeddings, "
        "section 6, figures 3 and 4"
    )
    dataset_kind = DatasetKind.VOCABULARY
    parameters = ()
    columns = (
        Column("threshold", pa.string(), "p5 to p95: a percentile of the counts; a number: so many occurrences"),
        Column("count", pa.float64(), "words from so many occurrences on are frequent"),
        Column("rare_share", pa.float64(), "share of the words that are rare"),
        Column("accuracy", pa.float64(), "share of held-out words whose class is found, mean over the draws of words"),
        Column("accuracy_sd", pa.float64(), "its standard deviation over the draws of words"),
        Column("control", pa.float64(), "mean accuracy with shuffled labels"),
        Column("control_sd", pa.float64(), "its standard deviation over the draws of words"),
        Column("words_per_class", pa.int64(), "words of each class"),
    )
    metrics = tuple(_metrics())
    headline = "accuracy"
    overview = Overview(
        "Accuracy of a frequent-or-rare classifier (0.5 is chance)",
        {
            "accuracy": "accuracy",
            "accuracy_max": "highest accuracy",
            "control": "shuffled labels",
            "neighbor_exponent": "neighbors' exponent",
            "neighbor_r2": "R² of its fit",
        },
        "See it by threshold",
        counted=("words", "words"),
    )
    page = Page(
        "frequency",
        "Frequency",
        ":material/bar_chart:",
        tuple(p for p in Picker if p is not Picker.BASELINE),
        "Space",
    )
    cost = Cost(  # regressions on equally many words, however many there are: 3 s for 384 dimensions
        units=lambda work: 4e7 * work.dimension,
        units_of_run=lambda run: 4e7 * run.dimension,
        seconds_per_unit={"": 2e-10},
    )
    compute = staticmethod(compute)

    def evidence(self, material: Material) -> Iterable[Evidence]:
        from blindspot.diagnostics.frequency.evidence import evidence

        return evidence(material)


ENTRY = Frequency()
