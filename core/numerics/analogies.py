"""Analogies: "a is to b as c is to d", answered by the candidate that scores highest, in float64.

3CosAdd (Mikolov, Yih and Zweig 2013) takes the candidate nearest to ``b - a + c`` of unit vectors, 3CosMul (Levy and
Goldberg 2014) multiplies instead of adding, so that no one of the three similarities outweighs the others. Both need
nothing but the cosines of the question's words with every candidate, which are computed once per word.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from core.numerics.rank_problem import TAU
from core.types import CancelToken, Float32, Float64, Int32, Int64, Progress

EPSILON = 1e-3  # keeps 3CosMul from dividing by zero; Levy and Goldberg's value
CANDIDATES_PER_TILE = 2_048
QUESTIONS_PER_TILE = 128  # a tile of scores then stays in the processor's cache


class Rule(StrEnum):
    """How a candidate is scored."""

    ADD = "3cosadd"
    MUL = "3cosmul"


@dataclass(frozen=True, eq=False)
class Answers:
    """What was answered to m questions.

    Attributes:
        greater: ``[m] int64``, candidates that score higher than the right word.
        ties: ``[m] int64``, candidates that score the same, within tau; the right word is not counted.
        predicted: ``[m] int64``, the candidate with the highest score; of equal ones that with the lowest number.
        score, best: ``[m] float64``, the right word's score and the highest.
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
    """Score every candidate for every question; a question's own three words are no candidates.

    Args:
        embeddings: ``[n, d]``, one row per candidate; a zero vector has cosine 0 with everything.
        questions: ``[m, 3]``, rows of a, b and c.
        answers: ``[m]``, row of the right word, none of the three.
        tau: scores no further apart are tied.

    Raises:
        Cancelled: between two tiles.
    """
    units = unit_rows(embeddings)
    asked, places = np.unique(questions, return_inverse=True)
    places = places.reshape(questions.shape)
    of_asked = units[asked]
    m, n = len(answers), len(units)
    right = units[answers]
    with_a, with_b, with_c = (np.einsum("md,md->m", units[questions[:, i]], right) for i in range(3))
    own = _scores(with_a, with_b, with_c, rule)
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
            _leave_out(scores, answers[rows, None], first, last, own[rows])
            top = scores.argmax(axis=1)
            highest = np.take_along_axis(scores, top[:, None], axis=1)[:, 0]
            better = highest > best[rows]
            best[rows] = np.where(better, highest, best[rows])
            predicted[rows] = np.where(better, first + top, predicted[rows])
            limit = own[rows, None]
            above = np.count_nonzero(scores > limit + tau, axis=1)
            greater[rows] += above
            ties[rows] += np.count_nonzero(scores >= limit - tau, axis=1) - above
    progress("answering", n, n)
    return Answers(greater, ties - 1, predicted, own, best)  # the right word is tied with itself


def unit_rows(embeddings: Float32 | Float64) -> Float64:
    """Rows of length 1 in float64, ``[n, d]``; a zero row stays zero."""
    rows = np.asarray(embeddings, dtype=np.float64)
    norms = np.sqrt(np.einsum("nd,nd->n", rows, rows))
    return np.asarray(rows * np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)[:, None])


def _scores(a: Float64, b: Float64, c: Float64, rule: Rule) -> Float64:
    """Scores from the cosines of the candidates with a, b and c."""
    if rule is Rule.ADD:
        return np.asarray(b - a + c)
    return np.asarray((b + 1.0) * (c + 1.0) / 4.0 / ((a + 1.0) / 2.0 + EPSILON))


def _leave_out(scores: Float64, items: Int32, first: int, last: int, value: Float64 | None = None) -> None:
    """Set the scores of items ``[q, k]`` that lie in this tile of candidates: to ``value [q]``, else to -inf."""
    row, column = np.nonzero((items >= first) & (items < last))
    scores[row, items[row, column] - first] = -np.inf if value is None else value[row]
