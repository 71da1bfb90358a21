"""Chunking: F1 of the phrases that a CRF finds by the vectors of words (Schnabel 2015, section 5, table 4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.kinds.chunked import ChunkedSentences
from blindspot.datasets.kinds.labeled_texts import TEST, TRAIN
from blindspot.diagnostic import Column, Cost, Diagnostic, DiagnosticResult, Overview, Reading, Score
from blindspot.diagnostics.words.analogy import PAGE, unit_rows
from blindspot.diagnostics.words.chunking import crf
from blindspot.diagnostics.words.chunking.scoring import FOUND, GIVEN, RIGHT, Counts, dependence_of, f1
from blindspot.errors import BlindspotError, InputError
from blindspot.types import CancelToken, Float32, Float64, Int64, Progress

if TYPE_CHECKING:
    from blindspot.numerics.statistics.compare import ItemScores
    from blindspot.runs.findings import Material
    from blindspot.runs.findings.evidence import Evidence
    from blindspot.store.records import RunRecord
    from blindspot.store.repository import Repository

WINDOW = (-2, -1, 0, 1, 2)  # Turian, Ratinov and Bengio 2010, table 1
STRENGTHS = (1.0, 0.1, 0.01)  # of the penalty, per 1,000 sentences that are trained on
DEV = 1_000  # sentences of the training part, or a tenth of it; Turian, Ratinov and Bengio 2010, section 6
TRIED_ON = 2_000  # sentences with which strengths are tried
SEED = 1  # of the sentences that choose
NP = "NP"


def compute(
    embeddings: Float32 | Float64,
    dataset: ChunkedSentences,
    params: Mapping[str, str],  # noqa: ARG001 - it has none
    progress: Progress,
    cancel: CancelToken,
) -> DiagnosticResult:
    """Train on the training part and tag the test part; see ``base.Compute``. A row per tested sentence.

    Raises:
        InputError: too few sentences.
        BlindspotError: the embeddings are not all finite.
    """
    from threadpoolctl import threadpool_limits

    if not np.isfinite(embeddings).all():
        raise BlindspotError("some embeddings contain NaN or infinite values", expected="finite numbers")
    with threadpool_limits(1, user_api="blas"):  # the same bits on any number of cores
        learned = _learn(_Chunking.of(embeddings, dataset), progress, cancel)
    tested = np.flatnonzero(dataset.splits == TEST)
    names = np.array(dataset.tag_names, dtype=object)
    starts = np.concatenate([[0], np.cumsum(np.diff(dataset.starts)[tested])])
    predicted = [names[learned.tags[a:b]].tolist() for a, b in pairwise(starts)]
    given = [dataset.tags_of(int(i)) for i in tested]
    counts = Counts.of(given, predicted)
    sums = counts.sentences
    right, phrases_found, wanted = (float(sums[:, i].sum()) for i in (RIGHT, FOUND, GIVEN))
    estimate = counts.estimate(dependence_of(" ".join(dataset.tokens(int(i))) for i in tested))
    known_words = _known(dataset, tested)
    metrics = {"f1": estimate.value}
    if estimate.interval is not None:
        metrics |= {"f1_low": estimate.interval.low, "f1_high": estimate.interval.high}
    of_kinds = dict(zip(counts.kinds, f1(counts.of_kinds).tolist(), strict=True))
    metrics |= {f"f1@{kind}": value for kind, value in of_kinds.items() if not np.isnan(value)}
    metrics |= {
        "precision": right / phrases_found if phrases_found else 0.0,
        "recall": right / wanted,
        "tag_accuracy": float(
            np.mean([a == b for x, y in zip(given, predicted, strict=True) for a, b in zip(x, y, strict=True)])
        ),
        "known_tokens": float(known_words.mean()),
        "sentences": float(len(tested)),
        "trained": float(np.count_nonzero(dataset.splits == TRAIN)),
        "phrases": wanted,
        "tokens": float(len(known_words)),
        "unconverged": float(learned.unconverged),
    }
    return DiagnosticResult(
        metrics=metrics,
        items=pa.table(
            {
                "predicted": [" ".join(tags) for tags in predicted],
                "phrases_right": sums[:, RIGHT],
                "phrases_found": sums[:, FOUND],
                "phrases_given": sums[:, GIVEN],
                "unknown_words": _unknown_words(dataset, tested),
            },
            schema=ENTRY.schema,
        ),
        coverage=dataset.coverage(np.ones(len(dataset.items), dtype=np.bool_)),
        item_numbers=tested,
        seeds={"sentences that choose the penalty": SEED},
        chosen={"penalty per 1,000 sentences": learned.strength},
    )


def _known(dataset: ChunkedSentences, tested: Int64) -> Int64:
    """Whether each token of the test part has a vector."""
    return np.concatenate([dataset.words[dataset.starts[i] : dataset.starts[i + 1]] >= 0 for i in tested.tolist()])


def _unknown_words(dataset: ChunkedSentences, tested: Int64) -> list[str]:
    """For each tested sentence, the numbers of its tokens without a vector."""
    return [
        " ".join(map(str, np.flatnonzero(dataset.words[dataset.starts[i] : dataset.starts[i + 1]] < 0).tolist()))
        for i in tested.tolist()
    ]


# --- training


@dataclass(frozen=True, eq=False)
class _Chunking:
    """The input of a CRF: the rows of the words, and sentences to train on and to test."""

    table: Float64
    train: crf.Sentences
    test: crf.Sentences
    tag_names: tuple[str, ...]

    @classmethod
    def of(cls, embeddings: Float32 | Float64, dataset: ChunkedSentences) -> _Chunking:
        rows, d = embeddings.shape
        table = np.zeros((rows + 2, d + 2))
        table[:rows, :d] = unit_rows(embeddings)
        table[rows, d] = 1.0  # a word without a vector
        table[rows + 1, d + 1] = 1.0  # outside the sentence
        words = np.where(dataset.words >= 0, dataset.words, np.int32(rows)).astype(np.int32)
        every = crf.Sentences(words, dataset.tags, dataset.starts)
        train, test = (np.flatnonzero(dataset.splits == part) for part in (TRAIN, TEST))
        if len(train) < 2 or not len(test):
            raise InputError(
                f"'{dataset.id}' has {len(train):,} sentences to train on and {len(test):,} to test",
                expected="at least two to train on and one to test",
            )
        return cls(table, every.some(train), every.some(test), dataset.tag_names)

    def problem(self, sentences: crf.Sentences) -> crf.Problem:
        return crf.Problem(sentences, self.table, WINDOW, len(self.tag_names))


@dataclass(frozen=True, eq=False)
class _Learned:
    tags: Int64  # of the test part, as numbers
    strength: float
    unconverged: int


def _learn(task: _Chunking, progress: Progress, cancel: CancelToken) -> _Learned:
    """Choose the penalty on dev, train on the whole training part with it, and tag the test part."""
    order = np.random.default_rng(SEED).permutation(len(task.train))
    n = min(DEV, max(1, len(order) // 10))
    dev, fit = (task.problem(task.train.some(np.sort(part))) for part in (order[:n], order[n:][:TRIED_ON]))
    stages, steps = len(STRENGTHS) + 1, crf.MOST_STEPS

    def report(stage: int) -> None:
        progress("training", stage, stages)

    def within(stage: int, done: int) -> None:
        progress("training", stage, stages, (stage + done / steps) / stages)

    weights, best = None, (-1.0, STRENGTHS[0], crf.Weights.zero(len(WINDOW), task.table.shape[1], len(task.tag_names)))
    unconverged = 0
    for stage, strength in enumerate(STRENGTHS):
        report(stage)
        fitted = crf.fit(
            fit,
            _penalty(strength, fit),
            cancel,
            weights,
            lambda done, stage=stage: within(stage, done),  # type: ignore[misc]
        )
        weights = fitted.weights
        unconverged += not fitted.converged
        if (score := _f1(dev, weights, task.tag_names)) > best[0]:  # ties: the stronger penalty
            best = (score, strength, weights)
    every = task.problem(task.train)
    report(stages - 1)
    last = crf.fit(every, _penalty(best[1], every), cancel, best[2], lambda done: within(stages - 1, done))
    unconverged += not last.converged
    report(stages)
    return _Learned(task.problem(task.test).best(last.weights).astype(np.int64), best[1], unconverged)


def _penalty(strength: float, problem: crf.Problem) -> float:
    return strength * len(problem.sentences) / 1_000


def _f1(problem: crf.Problem, weights: crf.Weights, tag_names: tuple[str, ...]) -> float:
    names = np.array(tag_names, dtype=object)
    predicted, starts = problem.best(weights), problem.sentences.starts
    both = [[names[tags[a:b]].tolist() for a, b in pairwise(starts)] for tags in (problem.sentences.tags, predicted)]
    value = float(f1(Counts.of(*both).sentences.sum(axis=0)))
    return 0.0 if np.isnan(value) else value  # no phrase is given and none is found


# --- the declaration


def _trained_numbers(words: int, sentences: int, dimension: int) -> float:
    return float(words) * dimension + 10.0 * sentences


class Chunking(Diagnostic):
    """The diagnostic Chunking."""

    id = "chunking"
    version = 2
    title = "Chunking"
    question = "Do the vectors of words tell where noun phrases and other phrases begin and end?"
    how = rf"""
Every word of a sentence gets a tag: begin of a phrase (B-NP), inside of one (I-NP), or outside of all (O). A
linear-chain **conditional random field** learns them from the training part and tags the test part; all that it sees of
a word is its vector.

$$p(y \mid x) \propto \exp \sum_t \Big( \sum_{{o={WINDOW[0]}}}^{{{WINDOW[-1]}}} W_o^{{y_t}} \cdot v(x_{{t+o}}) +
T_{{y_{{t-1}} y_t}} \Big)$$

- **Features**: the vectors of the word and of two words on either side (the window of Turian, Ratinov and Bengio 2010),
  of length 1 as in Schnabel et al. A word without a vector has a vector of its own, the same for all such words; so has
  the place before and after a sentence. How many tokens have a vector is stated (*known tokens*).
- **Training** minimizes the negative log-likelihood plus $\lambda/2$ times the sum of squared weights, by L-BFGS in
  float64 (at most {crf.MOST_STEPS} steps, or until a step lowers it by less than {crf.GAIN:g} of its value). $\lambda$
  is {", ".join(f"{strength:g}" for strength in STRENGTHS)} per 1,000 sentences, whichever has the highest F1 on
  {DEV:,} sentences of the training part (a tenth, where it has fewer than {10 * DEV:,}) when trained on at most
  {TRIED_ON:,} others. The last model is trained on the whole training part.
- **F1** is over phrases, by the rules of CoNLL-2000 (conlleval): a phrase is found if its first word, its last word and
  its kind are right; an I that continues no phrase of its kind begins one.
- **Intervals** are bootstraps of sentences; those that say the same are one. Two models are compared by approximate
  randomization over sentences, as in the paper (Yeh 2000).

**What differs from the paper.** Schnabel et al. give words, parts of speech and their combinations to the CRF too, so
that it reaches F1 93.78 on CoNLL-2000 without any vectors, and vectors add at most 0.34. Here vectors are all it has:
scores are lower, and differences between models larger.
"""
    how_to_read = """
- Look at noun phrases first (`f1@NP`): they are half of all phrases. Phrases of rare kinds say little.
- Compare models on the words that all of them have; few known tokens lower any score.
- The sentences show what is wrong: a phrase cut short, two joined, or one of another kind.
"""
    limits = """
- Chunking asks for syntax: parts of speech are most of it. A model for meaning may do worse, and rightly so.
- A linear model reads what is linearly readable. Vectors with more dimensions have more to read.
- English newspaper text of 1989, in CoNLL-2000.
"""
    citation = (
        "Schnabel, Labutov, Mimno and Joachims 2015, section 5; Turian, Ratinov and Bengio 2010, Word "
        "representations; Tjong Kim Sang and Buchholz 2000, Introduction to the CoNLL-2000 Shared Task: Chunking; "
        "Yeh 2000, More accurate tests for the statistical significance of result differences"
    )
    dataset_kind = DatasetKind.CHUNKED
    parameters = ()
    columns = (
        Column("predicted", pa.string(), "the predicted tags, with a space between"),
        Column("phrases_right", pa.int64(), "phrases that were found right"),
        Column("phrases_found", pa.int64(), "phrases that were found, right or wrong"),
        Column("phrases_given", pa.int64(), "phrases that there are"),
        Column("unknown_words", pa.string(), "places of the words without a vector, from 0, with a space between"),
    )
    metrics = (
        Score("f1", "F1 of phrases", True),
        Score("f1_low", "lower end of its 95% interval", True, is_end=True),
        Score("f1_high", "upper end of its 95% interval", True, is_end=True),
        Score("precision", "share of the phrases found that are right", True),
        Score("recall", "share of the phrases that are found right", True),
        Score("tag_accuracy", "share of tokens with the right tag", True),
        Score("known_tokens", "share of tested tokens whose word has a vector", None),
        Score("sentences", "tested sentences", None, is_count=True),
        Score("trained", "sentences of the training part", None, is_count=True),
        Score("phrases", "phrases in the tested sentences", None, is_count=True),
        Score("tokens", "tokens in the tested sentences", None, is_count=True),
        Score("unconverged", "fits that were stopped before they converged", None, is_count=True),
    )
    headline = "f1"
    overview = Overview(
        "F1 of phrases found by vectors of words (higher is better)",
        {"f1": "F1", "precision": "precision", "recall": "recall", "known_tokens": "known tokens"},
        "See which phrases they miss",
        counted=("sentences", "tested sentences"),
    )
    page = PAGE
    families = (Score("f1@", "F1 of one kind of phrases", True),)
    readings = (Reading("f1", "chunking"),)
    cost = Cost(
        units=lambda work: _trained_numbers(work.texts, work.pairs, work.dimension),
        units_of_run=lambda run: (
            _trained_numbers(run.work.texts, run.work.pairs, run.dimension) if run.work is not None else 0.0
        ),
        seconds_per_unit={"": 1e-5},
    )
    two_in_address = {"view": "chunks", "chunks_of": "{dataset}", "chunks_by": "{a}"}
    won = ("sentences", "finds phrases with the higher F1")
    item_in_address = {"view": "chunks", "chunks_of": "{dataset}", "chunks_by": "{a}"}
    compute = staticmethod(compute)

    def item_scores(self, runs: Sequence[RunRecord], repository: Repository) -> Sequence[Mapping[str, ItemScores]]:
        from blindspot.diagnostics.words.chunking.item_scores import item_scores

        return item_scores(runs, repository)

    def evidence(self, material: Material) -> Iterable[Evidence]:
        from blindspot.diagnostics.words.chunking.evidence import evidence

        return evidence(material)


ENTRY = Chunking()
