"""The automatic rater: it answers every item by the similarities of a chosen reference variant.

Intruder test: the option that is on average least similar to the others (leave-one-out); comparative task: the
candidate most similar to the query. Options within 1e-6 of the best one share the vote. Its scores are shown beside
people's and never counted with them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from blindspot.numerics.ranking.problem import TAU
from blindspot.numerics.similarity import Similarity, unit_rows
from blindspot.runs.spaces import Space
from blindspot.studies.judgments.scoring import Scores, scores_of
from blindspot.studies.judgments.tallies import NO_VOTE, Tally
from blindspot.studies.judgments.types import NOT_ASKED, ItemSet, Task
from blindspot.types import Float32, Float64
from blindspot.variants import Variant


@dataclass(frozen=True, eq=False)
class Automatic:
    """The answers of the automatic rater.

    Attributes:
        is_judged: whether the reference is one of the set's variants: then it judges its own neighbors.
        unanswered: how many items have a text without a vector.
    """

    reference: Variant
    is_judged: bool
    unanswered: int
    scores: Scores


def answer(items: ItemSet, space: Space) -> Automatic:
    """The rater's scores on all items of a set, by the similarity in the set's manifest; intervals are over queries."""
    number = {text: row for row, text in enumerate(space.dataset.items)}
    metric = Similarity(items.manifest.get("metric", Similarity.COS))
    most = max((len(item.options) for item in items.items), default=0)
    shares = np.zeros((len(items.items), most))
    for row, item in enumerate(items.items):
        texts = item.options if items.task is Task.INTRUDER else (item.query.text, *item.options)
        places = [space.place_of(number[text]) if text in number else None for text in texts]
        places_known = [row for row in places if row is not None]
        if len(places_known) == len(texts) > 0:
            similarity = similarities(space.vectors[places_known], metric)
            shares[row, : len(item.options)] = vote_of(similarity, items.task)
    answered = np.asarray(shares.any(axis=1), dtype=np.bool_)
    chosen = np.where(answered[:, np.newaxis], 0, NO_VOTE).astype(np.int64)
    tally = Tally(items.task, items.variants, items.items, ("",), chosen)
    votes, hits = [], []
    for options in tally.own.T:
        asked = (options != NOT_ASKED) & answered
        votes.append(asked[:, np.newaxis].astype(np.float64))
        hits.append(np.where(asked, shares[np.arange(len(options)), np.maximum(options, 0)], 0.0)[:, np.newaxis])
    unanswered = int((~answered).sum())
    return Automatic(space.variant, space.variant in items.variants, unanswered, scores_of(tally, hits, votes))


def similarities(vectors: Float32 | Float64, metric: Similarity) -> Float64:
    """Similarities of ``[m, d]`` vectors with each other, ``[m, m] float64``."""
    rows = np.asarray(vectors, dtype=np.float64)
    if metric is Similarity.L2:
        return np.asarray(1 / (1 + np.linalg.norm(rows[:, np.newaxis] - rows[np.newaxis], axis=2)))
    unit = unit_rows(rows, np.arange(len(rows)))
    return np.asarray(unit @ unit.T)


def vote_of(similarity: Float64, task: Task) -> Float64:
    """The vote's share per option, from ``similarity [m, m]`` of the options; a query that is no option comes first."""
    if task is Task.INTRUDER:
        others = similarity.sum(axis=1) - np.diag(similarity)
        outlying = -others / max(len(similarity) - 1, 1)
    else:
        outlying = similarity[0, 1:]
    best = np.asarray(outlying >= outlying.max() - TAU, dtype=np.float64)
    return np.asarray(best / best.sum())
