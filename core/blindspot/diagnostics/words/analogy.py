"""Analogy: "man is to king as woman is to what?", answered by sums or products of cosines (Schnabel 2015, section 3.1).

3CosAdd (Mikolov, Yih and Zweig 2013) takes the candidate nearest to ``b - a + c`` of unit vectors; 3CosMul (Levy and
Goldberg 2014) multiplies instead of adding, so that no single similarity outweighs the others. Both only need the
cosines of the question's words with every candidate, which are computed once per word, in float64.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.kinds.relations import Analogies
from blindspot.diagnostic import (
    Column,
    Cost,
    Diagnostic,
    DiagnosticResult,
    Overview,
    Page,
    Parameter,
    Picker,
    Reading,
    Score,
)
from blindspot.errors import BlindspotError
from blindspot.numerics.ranking.problem import TAU
from blindspot.numerics.ranking.ranks import expected_hit, expected_reciprocal_rank
from blindspot.types import CancelToken, Float32, Float64, Int32, Int64, Progress

if TYPE_CHECKING:
    from blindspot.numerics.statistics.compare import ItemScores
    from blindspot.runs.findings import Material
    from blindspot.runs.findings.evidence import Evidence
    from blindspot.store.records import RunRecord
    from blindspot.store.repository import Repository

EPSILON = 1e-3  # keeps 3CosMul from dividing by zero; Levy and Goldberg's value
CANDIDATES_PER_TILE = 2_048
QUESTIONS_PER_TILE = 128  # a tile of scores fits the processor's cache


class Rule(StrEnum):
    """How a candidate is scored."""

    ADD = "3cosadd"
    MUL = "3cosmul"


@dataclass(frozen=True, eq=False)
class Answers:
    """Answers to questions, ``[m]`` each.

    Attributes:
        greater: candidates that score higher than the right word.
        ties: other candidates that score the same within tau.
        predicted: the candidate with the highest score, the first of several.
        score, best: the right word's score, and the highest.
    """

    greater: Int64
    ties: Int64
    predicted: Int64
    score: Float64
    best: Float64


def answer(
    embeddings: Float32 | Float64,
    questions: Int32,
    answers: Int32,
    rule: Rule,
    progress: Progress,
    cancel: CancelToken,
    tau: float = TAU,
) -> Answers:
    """Score every candidate for every question; a question's own three words are not candidates.

    Args:
        embeddings: ``[n, d]``, one row per candidate; a zero vector has cosine 0 with everything.
        questions: ``[m, 3]``, rows of a, b and c.
        answers: ``[m]``, the row of the right word, which is not a, b or c.
        tau: scores no further apart are tied.
    """
    units = unit_rows(embeddings)
    asked, places = np.unique(questions, return_inverse=True)
    places = places.reshape(questions.shape)
    of_asked = units[asked]
    m, n = len(answers), len(units)
    right = units[answers]
    with_a, with_b, with_c = (np.einsum("md,md->m", units[questions[:, i]], right) for i in range(3))
    word_scores = _scores(with_a, with_b, with_c, rule)
    greater, ties = np.zeros(m, dtype=np.int64), np.zeros(m, dtype=np.int64)
    predicted, best = np.full(m, -1, dtype=np.int64), np.full(m, -np.inf)
    for first in range(0, n, CANDIDATES_PER_TILE):
        progress("answering", first, n)
        last = min(first + CANDIDATES_PER_TILE, n)
        cosines = of_asked @ units[first:last].T
        for start in range(0, m, QUESTIONS_PER_TILE):
            cancel.check()
            rows = slice(start, min(start + QUESTIONS_PER_TILE, m))
            a, b, c = (cosines[places[rows, i]] for i in range(3))
            scores = _scores(a, b, c, rule)
            _leave_out(scores, questions[rows], first, last)
            _leave_out(scores, answers[rows, None], first, last, word_scores[rows])
            top = scores.argmax(axis=1)
            highest = np.take_along_axis(scores, top[:, None], axis=1)[:, 0]
            better = highest > best[rows]
            best[rows] = np.where(better, highest, best[rows])
            predicted[rows] = np.where(better, first + top, predicted[rows])
            limit = word_scores[rows, None]
            above = np.count_nonzero(scores > limit + tau, axis=1)
            greater[rows] += above
            ties[rows] += np.count_nonzero(scores >= limit - tau, axis=1) - above
    progress("answering", n, n)
    return Answers(greater, ties - 1, predicted, word_scores, best)  # without the right word's tie with itself


def unit_rows(embeddings: Float32 | Float64) -> Float64:
    """Rows of length 1 in float64, ``[n, d]``; a zero row stays zero."""
    rows = np.asarray(embeddings, dtype=np.float64)
    norms = np.sqrt(np.einsum("nd,nd->n", rows, rows))
    return np.asarray(rows * np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)[:, None])


def _scores(a: Float64, b: Float64, c: Float64, rule: Rule) -> Float64:
    """Scores of candidates from their cosines with a, b and c."""
    if rule is Rule.ADD:
        return np.asarray(b - a + c)
    return np.asarray((b + 1.0) * (c + 1.0) / 4.0 / ((a + 1.0) / 2.0 + EPSILON))


def _leave_out(scores: Float64, items: Int32, first: int, last: int, value: Float64 | None = None) -> None:
    """Set the scores of the ``items [q, k]`` within this tile of candidates to ``value [q]``, or to -inf."""
    row, column = np.nonzero((items >= first) & (items < last))
    scores[row, items[row, column] - first] = -np.inf if value is None else value[row]


GROUPS = ("semantic", "syntactic")


def compute(
    embeddings: Float32 | Float64,
    dataset: Analogies,
    params: Mapping[str, str],
    progress: Progress,
    cancel: CancelToken,
) -> DiagnosticResult:
    """Accuracy over all questions, per group and per section; see ``base.Compute``. Row i is question i.

    Raises:
        BlindspotError: the embeddings are not all finite.
    """
    if not np.isfinite(embeddings).all():
        raise BlindspotError("some embeddings contain NaN or infinite values", expected="finite numbers")
    answers = answer(embeddings, dataset.questions, dataset.answers, Rule(params["rule"]), progress, cancel)
    right = expected_hit(answers.greater, answers.ties, 1)
    metrics = {"accuracy": float(right.mean())}
    groups = np.array(dataset.groups)[dataset.section_numbers]
    metrics |= {f"accuracy_{g}": float(right[groups == g].mean()) for g in GROUPS if (groups == g).any()}
    for number, section in enumerate(dataset.sections):
        here = dataset.section_numbers == number
        if here.any():
            metrics[f"accuracy@{section}"] = float(right[here].mean())
    metrics["mrr"] = float(expected_reciprocal_rank(answers.greater, answers.ties).mean())
    metrics |= {"questions": float(len(right)), "candidates": float(len(dataset.items))}
    metrics["tied_questions"] = float(np.count_nonzero(answers.ties))
    return DiagnosticResult(
        metrics=metrics,
        items=pa.table(
            {
                "greater": answers.greater,
                "ties": answers.ties,
                "predicted": pa.array([dataset.items[i] for i in answers.predicted], pa.string()),
                "score": answers.score,
                "best": answers.best,
            },
            schema=ENTRY.schema,
        ),
        coverage={
            "questions": len(right),
            "questions_covered": len(right),
            "items": len(dataset.items),
            "items_covered": len(dataset.items),
        },
    )


_PICKERS = (Picker.DATASET, Picker.MODELS, Picker.POSTPROCESSED, Picker.BASELINE)
PAGE = Page("words", "Words", ":material/spellcheck:", _PICKERS)  # of both diagnostics of words


class Analogy(Diagnostic):
    """The diagnostic Analogy."""

    id = "analogy"
    version = 2
    title = "Analogy"
    question = "How many analogies does the model solve, such as Athens is to Greece as Oslo is to Norway?"
    how = rf"""
The answer to *a is to b as c is to what?* is the candidate $d$ with the highest score; vectors are normalized to
length 1 first.

- **3CosAdd** (Mikolov, Yih and Zweig 2013): $\cos(d,b) - \cos(d,a) + \cos(d,c)$, highest for the
  candidate nearest to $b - a + c$.
- **3CosMul** (Levy and Goldberg 2014): $\cos'(d,b)\,\cos'(d,c) / (\cos'(d,a) + {EPSILON})$ with
  $\cos' = (\cos + 1)/2$.
- **Candidates** are the words of all questions and the 30,000 most frequent English words (as in word2vec's own test;
  5,000 for the built-in questions), so that sentence encoders can be tested too. Published scores use the whole
  vocabulary of a file, which is harder. Compare scores on the same candidates only. Frequent words that differ from a
  word of a question only in capitals are left out.
- The three words of the question are not candidates, as in all published scores: the answer would often be b or c.
- Scores within $10^{{-6}}$ are tied: accuracy and mean reciprocal rank are *expected* values under random tie order,
  as on the page EvalRank.
- Questions with a word without a vector are left out, and such words are not candidates (*coverage*). Compare models
  on the words that all of them cover.
- **Semantic** and **syntactic** accuracies are shares of all questions of the group, not means of sections. All
  questions of MSR are syntactic.
"""
    how_to_read = """
- Accuracy is the share of questions "a is to b as c is to ?" whose answer is the nearest word. Chance is near zero.
- Compare relations, not only the total: capitals and plurals are different skills.
"""
    limits = """
- The three given words are excluded; without that most models answer with one of them (Rogers et al. 2017).
- The vocabulary decides how hard a question is: compare models on the words that all of them have.
- Analogies say little about sentence encoders.
"""
    citation = (
        "Mikolov, Chen, Corrado and Dean 2013, Efficient Estimation of Word Representations in Vector Space; "
        "Levy and Goldberg 2014, Linguistic Regularities in Sparse and Explicit Word Representations; "
        "Schnabel, Labutov, Mimno and Joachims 2015, section 3.1"
    )
    dataset_kind = DatasetKind.ANALOGIES
    parameters = (
        Parameter(
            "rule",
            tuple(Rule),
            Rule.ADD,
            "how a candidate's three cosines make a score",
            f"how analogies are answered: {' or '.join(Rule)}",
        ),
    )
    columns = (
        Column("greater", pa.int64(), "candidates that score higher than the right word"),
        Column("ties", pa.int64(), "candidates that score the same"),
        Column("predicted", pa.string(), "the candidate with the highest score"),
        Column("score", pa.float64(), "the right word's score"),
        Column("best", pa.float64(), "the highest score"),
    )
    metrics = (
        Score("accuracy", "share of all questions that are answered right", True),
        *(Score(f"accuracy_{g}", f"share of the {g} questions that are answered right", True) for g in GROUPS),
        Score("mrr", "mean reciprocal rank of the right word, expected under random tie order", True),
        Score("questions", "questions that were asked", None, is_count=True),
        Score("candidates", "words to choose from, the question's three among them", None, is_count=True),
        Score("tied_questions", "questions whose right word is tied with another", None, is_count=True),
    )
    headline = "accuracy"
    overview = Overview(
        "Analogies answered right (higher is better)",
        {
            "accuracy": "accuracy",
            "accuracy_semantic": "semantic",
            "accuracy_syntactic": "syntactic",
            "mrr": "MRR of the right word",
        },
        "See which relations they know",
        counted=("questions", "questions"),
    )
    page = PAGE
    families = (Score("accuracy@", "share of one section's questions that are answered right", True),)
    ignores_order = True
    readings = (Reading("accuracy", "analogies"),)
    cost = Cost(
        units=lambda work: float(work.pairs) * work.texts * work.dimension,
        units_of_run=lambda run: run.metrics.get("pairs", 0.0) * run.metrics.get("background", 0.0) * run.dimension,
        seconds_per_unit={"": 2e-10},
    )
    two_in_address = {"view": "analogies", "analogies_of": "{dataset}"}
    won = ("questions", "has the right answer")
    item_in_address = {"view": "analogies", "analogies_of": "{dataset}"}
    compute = staticmethod(compute)

    def item_scores(self, runs: Sequence[RunRecord], repository: Repository) -> Sequence[Mapping[str, ItemScores]]:
        from blindspot.diagnostics.words.item_scores import scores_of_analogies

        return scores_of_analogies(runs, repository)

    def evidence(self, material: Material) -> Iterable[Evidence]:
        from blindspot.diagnostics.words.evidence import of_analogies

        return of_analogies(material)


ENTRY = Analogy()
