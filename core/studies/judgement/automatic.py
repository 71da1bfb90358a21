"""The automatic rater: it answers every item by the similarities of a chosen reference variant.

Intruder test: the option that is on average least similar to the others (leave-one-out); comparative task: the
candidate most similar to the query. Options within 1e-6 of the best one share the vote. Its scores stand beside
people's and never enter them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.numerics.ranking.problem import TAU
from core.numerics.similarity import Metric, unit_rows
from core.runs.spaces import Space
from core.studies.judgement import scoring
from core.studies.judgement.scoring import Scores
from core.studies.judgement.tallies import NO_VOTE, Tally
from core.studies.judgement.types import NOT_ASKED, ItemSet, Task
from core.types import Float32, Float64, Variant


@dataclass(frozen=True, eq=False)
class Automatic:
    """The answers of the automatic rater.

    Attributes:
        reference: whose similarities it goes by.
        is_judged: whether the reference is one of the set's variants: then it judges its own neighbours.
        shares: ``[n, most options]``, how its vote is shared; a row of zeros where it cannot answer.
        unanswered: items with a text that the reference has no vector for.
    """

    reference: Variant
    is_judged: bool
    shares: Float64
    unanswered: int
    scores: Scores


def answer(items: ItemSet, space: Space) -> Automatic:
    """Its answers to all items of a set, and the scores that follow; intervals are over queries.

    Similarity is the set's own, by its manifest: cosine, unless it says otherwise.
    """
    number = {text: place for place, text in enumerate(space.dataset.items)}
    metric = Metric(items.manifest.get("metric", Metric.COS))
    most = max((len(item.options) for item in items.items), default=0)
    shares = np.zeros((len(items.items), most))
    for row, item in enumerate(items.items):
        texts = item.options if items.task is Task.INTRUDER else (item.query.text, *item.options)
        places = [space.place_of(number[text]) if text in number else None for text in texts]
        known = [place for place in places if place is not None]
        if len(known) == len(texts) > 0:
            similarity = similarities(space.vectors[known], metric)
            shares[row, : len(item.options)] = vote_of(similarity, items.task)
    answered = np.asarray(shares.any(axis=1), dtype=np.bool_)
    chosen = np.where(answered[:, np.newaxis], 0, NO_VOTE).astype(np.int64)
    tally = Tally(items.task, items.variants, items.items, ("",), chosen)
    votes, hits = [], []
    for own in tally.own.T:
        asked = (own != NOT_ASKED) & answered
        votes.append(asked[:, np.newaxis].astype(np.float64))
        hits.append(np.where(asked, shares[np.arange(len(own)), np.maximum(own, 0)], 0.0)[:, np.newaxis])
    return Automatic(
        space.variant,
        space.variant in items.variants,
        shares,
        int((~answered).sum()),
        scoring.scores_of(tally, hits, votes),
    )


def similarities(vectors: Float32 | Float64, metric: Metric) -> Float64:
    """Similarities of a few vectors ``[m, d]`` with each other, ``[m, m] float64``."""
    rows = np.asarray(vectors, dtype=np.float64)
    if metric is Metric.L2:
        return np.asarray(1 / (1 + np.linalg.norm(rows[:, np.newaxis] - rows[np.newaxis], axis=2)))
    unit = unit_rows(rows, np.arange(len(rows)))
    return np.asarray(unit @ unit.T)


def vote_of(similarity: Float64, task: Task) -> Float64:
    """How a vote is shared, ``[options]``, given ``similarity [m, m]``: of the options, after the query if any."""
    if task is Task.INTRUDER:
        others = similarity.sum(axis=1) - np.diag(similarity)
        outlying = -others / max(len(similarity) - 1, 1)
    else:
        outlying = similarity[0, 1:]
    best = np.asarray(outlying >= outlying.max() - TAU, dtype=np.float64)
    return np.asarray(best / best.sum())
