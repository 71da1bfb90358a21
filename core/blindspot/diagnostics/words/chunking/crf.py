"""A linear-chain conditional random field (Lafferty, McCallum and Pereira 2001) on vectors of words in a window.

The score of tags $y$ for the words $x$ of a sentence is $\\sum_t w_{y_t} \\cdot f_t(x) + T_{y_{t-1} y_t}$, where $f_t$
joins the rows of the words around place t. Training minimizes the negative log-likelihood of all sentences plus
$\\lambda / 2$ times the sum of squares of all weights, by L-BFGS in float64: a convex problem with one minimum.

A word has the same row wherever it is, so its product with a tag's weights is computed once per word and side of the
window, not once per token: that makes 300 dimensions affordable without a library that does it token by token.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from blindspot.types import CancelToken, Float64, Int32, Int64

MOST_STEPS = 200  # of L-BFGS
LEAST_SLOPE = 1e-8
NOTHING = 1e-12  # second moments below it, relative to the largest, are rounding
GAIN = 1e-5  # share of the loss by which a step must lower it
LEAST_MOMENT = 1e-3  # added to second moments of features of rows of length 1


@dataclass(frozen=True, eq=False)
class Sentences:
    """Sentences as rows of a table of words.

    Attributes:
        words: ``[t] int32``, every token's row in the table of words.
        tags: ``[t] int32``.
        starts: ``[s + 1] int64``: sentence i has the tokens ``starts[i]`` to before ``starts[i + 1]``, at least one.
    """

    words: Int32
    tags: Int32
    starts: Int64

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> Int64:
        return np.diff(self.starts)

    def some(self, numbers: Int64) -> Sentences:
        """The sentences with these numbers, in this order."""
        at = _places(self.starts[numbers], self.lengths[numbers])
        starts = np.concatenate([[0], np.cumsum(self.lengths[numbers])])
        return Sentences(self.words[at], self.tags[at], starts.astype(np.int64))

    def beside(self, offset: int, outside: int) -> Int32:
        """The word ``offset`` places after each token, ``[t]``; ``outside`` beyond its sentence."""
        number = np.repeat(np.arange(len(self)), self.lengths)
        position = np.arange(len(self.words)) + offset
        inside = (position >= self.starts[number]) & (position < self.starts[number + 1])
        return np.where(inside, self.words[np.where(inside, position, 0)], np.int32(outside))


def _places(starts: Int64, lengths: Int64) -> Int64:
    """The numbers from each start on, as many as its length, one after another."""
    ends = np.cumsum(lengths)
    return np.repeat(starts - ends + lengths, lengths) + np.arange(ends[-1] if len(ends) else 0)


@dataclass(frozen=True, eq=False)
class Weights:
    """``window [k, f, c]``: by place of the window, feature and tag; ``transitions [c, c]``: from a tag to the next."""

    window: Float64
    transitions: Float64

    @property
    def flat(self) -> Float64:
        return np.concatenate([self.window.ravel(), self.transitions.ravel()])

    def like(self, flat: Float64) -> Weights:
        size = self.window.size
        return Weights(flat[:size].reshape(self.window.shape), flat[size:].reshape(self.transitions.shape))

    @classmethod
    def zero(cls, places: int, features: int, tags: int) -> Weights:
        return cls(np.zeros((places, features, tags)), np.zeros((tags, tags)))


@dataclass(frozen=True, eq=False)
class Problem:
    """Sentences whose tags are to be learned or found.

    Attributes:
        table: ``[v, f]``, the rows of the words; the last row stands for what is outside a sentence.
        offsets: places of the window, 0 for the word itself.
    """

    sentences: Sentences
    table: Float64
    offsets: tuple[int, ...]
    tags: int

    @cached_property
    def beside(self) -> tuple[Int32, ...]:
        """The rows of the words at each place of the window, ``[t]``, in the order of ``order``."""
        outside = len(self.table) - 1
        return tuple(self.sentences.beside(offset, outside)[self.order] for offset in self.offsets)

    @cached_property
    def longest_first(self) -> Int64:
        """Numbers of the sentences."""
        return np.argsort(-self.sentences.lengths, kind="stable")

    @cached_property
    def widths(self) -> Int64:
        """How many sentences have a first token, a second, and so on."""
        lengths = self.sentences.lengths
        return np.array([np.count_nonzero(lengths > t) for t in range(int(lengths.max()))], dtype=np.int64)

    @cached_property
    def order(self) -> Int64:
        """Numbers of the tokens, ``[t]``: all first ones, longest sentence first, then all second ones, and so on.

        So the tokens at one place and the ones before them are two slices, and a step in all sentences is one product.
        """
        starts = self.sentences.starts[self.longest_first]
        return np.concatenate([starts[:width] + t for t, width in enumerate(self.widths.tolist())])

    @cached_property
    def slices(self) -> Sequence[slice]:
        ends = np.cumsum(self.widths)
        return [slice(int(end - width), int(end)) for end, width in zip(ends, self.widths, strict=True)]

    @cached_property
    def _gathers(self) -> Sequence[object]:
        """For each place of the window, a sparse ``[v, t]`` with a 1 in the row of each token's word."""
        from scipy.sparse import csr_array

        t = len(self.order)
        return [csr_array((np.ones(t), (words, np.arange(t))), shape=(len(self.table), t)) for words in self.beside]

    @cached_property
    def _told(self) -> tuple[Float64, Float64]:
        """The given tags: one-hot ``[t, c]``, and counts of each tag followed by each tag ``[c, c]``."""
        tags = self.sentences.tags[self.order]
        hot = np.zeros((len(tags), self.tags))
        hot[np.arange(len(tags)), tags] = 1.0
        after = np.zeros((self.tags, self.tags))
        for before, here in self._steps():
            np.add.at(after, (tags[before], tags[here]), 1.0)
        return hot, after

    def _steps(self) -> Sequence[tuple[slice, slice]]:
        """For every place but the first, the tokens before it and at it, in the sentences that reach it."""
        return [
            (slice(before.start, before.start + here.stop - here.start), here)
            for before, here in zip(self.slices, self.slices[1:], strict=False)
        ]

    def scores(self, weights: Weights) -> Float64:
        """Scores of the tags of every token in the order of ``order``, without transitions, ``[t, c]``."""
        out = np.zeros((len(self.order), self.tags))
        for words, weight in zip(self.beside, weights.window, strict=True):
            out += (self.table @ weight)[words]
        return out

    def loss(self, weights: Weights) -> tuple[float, Weights]:
        """The negative log-likelihood of the given tags, and its gradient.

        Forward and backward sums are scaled to 1 at every token, so that they neither vanish nor overflow.
        """
        hot, after = self._told
        scores = self.scores(weights)
        highest = scores.max(axis=1, keepdims=True)
        local = np.exp(scores - highest)
        top = weights.transitions.max()
        step = np.exp(weights.transitions - top)
        forward = np.empty_like(local)
        scale = np.empty(len(local))
        first = self.slices[0]
        _scaled(local[first], forward[first], scale[first])
        for before, here in self._steps():
            _scaled((forward[before] @ step) * local[here], forward[here], scale[here])
        backward = np.ones_like(local)
        between = np.zeros_like(step)
        for before, here in reversed(self._steps()):
            ahead = backward[here] * local[here] / scale[here, np.newaxis]
            between += forward[before].T @ ahead
            backward[before] = ahead @ step.T
        marginals = forward * backward
        steps = len(local) - len(self.sentences)
        log_z = float(np.log(scale).sum() + highest.sum() + steps * top)
        told = float((scores * hot).sum() + (weights.transitions * after).sum())
        excess = marginals - hot
        window = np.stack([self.table.T @ (gather @ excess) for gather in self._gathers])
        return log_z - told, Weights(window, between * step - after)

    def best(self, weights: Weights) -> Int32:
        """The tags with the highest score (Viterbi), ``[t]`` in the order of the sentences' tokens.

        Ties go to the tag with the lowest number, from the end of the sentence on.
        """
        best = self.scores(weights)
        back = np.zeros(best.shape, dtype=np.int32)
        for before, here in self._steps():
            paths = best[before][:, :, np.newaxis] + weights.transitions
            back[here] = paths.argmax(axis=1)
            best[here] += paths.max(axis=1)
        out = best.argmax(axis=1).astype(np.int32)  # right for last tokens; the others follow from the one after
        for before, here in reversed(self._steps()):
            out[before] = np.take_along_axis(back[here], out[here][:, np.newaxis], axis=1)[:, 0]
        tags = np.empty(len(out), dtype=np.int32)
        tags[self.order] = out
        return tags


def _scaled(sums: Float64, out: Float64, scale: Float64) -> None:
    scale[:] = sums.sum(axis=1)
    np.divide(sums, scale[:, np.newaxis], out=out)


@dataclass(frozen=True, eq=False)
class Fit:
    weights: Weights
    steps: int
    converged: bool


def fit(
    problem: Problem,
    strength: float,
    cancel: CancelToken,
    start: Weights | None = None,
    report: Callable[[int], None] | None = None,
    most_steps: int = MOST_STEPS,
) -> Fit:
    """Minimize the loss plus ``strength / 2`` times the sum of the squared weights.

    Args:
        start: weights to begin with, else 0; the minimum is the same.
        report: receives the number of finished steps.
    """
    from scipy.optimize import minimize

    basis, scale = _coordinates(problem)
    turned = replace(problem, table=problem.table @ basis)
    begin = Weights.zero(len(problem.offsets), basis.shape[1], problem.tags)
    if start is not None:
        begin = Weights((basis.T @ start.window) * scale, start.transitions)

    def weights_of(flat: Float64) -> Weights:
        weights = begin.like(flat)
        return Weights(weights.window / scale, weights.transitions)

    def penalized(flat: Float64) -> tuple[float, Float64]:
        cancel.check()
        weights = weights_of(flat)
        loss, gradient = turned.loss(weights)
        vector = weights.flat
        slope = begin.like(gradient.flat + strength * vector)
        return loss + strength / 2 * float(vector @ vector), Weights(slope.window / scale, slope.transitions).flat

    done = 0

    def count(_: Float64) -> None:
        nonlocal done
        done += 1
        if report:
            report(done)

    solution = minimize(  # type: ignore[call-overload]
        penalized,
        begin.flat,
        jac=True,
        method="L-BFGS-B",
        callback=count,
        options={"maxiter": most_steps, "maxfun": 2 * most_steps, "ftol": GAIN, "gtol": LEAST_SLOPE},
    )
    last = weights_of(solution.x)
    return Fit(Weights(basis @ last.window, last.transitions), int(solution.nit), bool(solution.success))


def _coordinates(problem: Problem) -> tuple[Float64, Float64]:
    """Directions of the features ``[f, k]``, orthogonal, and scales of the weights along them ``[k, 1]``.

    The minimum stays where it is: a rotation does not change the sum of squares, and directions in which no word of the
    sentences has a component are left out, since their weights are 0 there. But L-BFGS gets near it in fewer steps:
    features of word vectors are correlated, and a few directions carry most of their length. The fourth root of the
    second moments does better than the square root, which puts the many directions that hardly matter on a par.
    """
    counts = np.bincount(problem.sentences.words, minlength=len(problem.table))
    counts[-1] += len(problem.sentences)  # what is outside the sentences
    values, vectors = np.linalg.eigh((problem.table.T * counts) @ problem.table / counts.sum())
    kept = values > NOTHING * values[-1]
    return vectors[:, kept], ((values[kept] + LEAST_MOMENT) ** 0.25)[:, np.newaxis]
