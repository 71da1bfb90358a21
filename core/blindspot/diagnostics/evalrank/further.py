"""Further right answers among the texts that outrank a match: those of the same group, and near-duplicates.

Where pairs have a column of intents or topics, other texts of the same intent may answer a query as well as its match.
Filtered ranks *by group* leave them out too: of the texts of all pairs with the same value only the match is a
candidate. They are counted anew from cached embeddings, in float64, and stored nowhere: a column is no part of a
dataset's content, so a run stays the same with and without it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from blindspot.datasets.catalog import catalogued
from blindspot.datasets.kinds.own_columns import EMPTY, OwnColumn, choices_of
from blindspot.diagnostics.evalrank.definition import ENTRY
from blindspot.diagnostics.evalrank.outranking import Pairs, above_matches, pairs_of_run
from blindspot.diagnostics.evalrank.pairs import MeanScore, RunRows, candidates_of, rows_of_runs
from blindspot.errors import BlindspotError
from blindspot.numerics.ranking.problem import TAU, RankCounts
from blindspot.numerics.similarity import Similarity, unit_rows
from blindspot.numerics.statistics.written import SCORE, number, percent
from blindspot.runs.embeddings import RunVectors, vectors_of
from blindspot.settings import Settings, prepare_runtime
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.texts import counted, near_duplicate_key
from blindspot.transforms.toolkit import DEFINITION
from blindspot.types import Bool, Float64, Int64

LETTERS = 5  # two texts that differ by at most one letter in so many are near-duplicates here
MOST_SHARE = 0.1  # of the missed pairs, beyond which the reader is warned
SCORES_AT_ONCE = 4_000_000


def ranked_pairs(run: RunRecord, repository: Repository) -> tuple[Pairs, RunRows]:
    """The pairs that a run ranked, and their stored counts."""
    return pairs_of_run(run, repository), rows_of_runs(ENTRY, [run.run_id], repository)[run.run_id]


# --- ranks by group


def scores_by_group(
    run: RunRecord, pairs: Pairs, rows: RunRows, settings: Settings, repository: Repository
) -> Mapping[str, MeanScore]:
    """The score by filtered ranks without texts of the same group, per own column of the pairs' file.

    Nothing under the toolkit's protocol, which prepares embeddings its own way.

    Args:
        pairs, rows: of ``ranked_pairs``.

    Raises:
        EmbeddingsGone: the cache no longer has the run's embeddings.
        ComparedTwice: no single vector per text gives the run's ranks.
    """
    columns = choices_of(repository.own_columns(run.plan.dataset, run.plan.dataset_digest))
    if run.plan.params["protocol"] != DEFINITION or not columns:
        return {}
    prepare_runtime(settings)
    ranked = vectors_of(run, settings, repository)
    is_candidate = np.isin(ranked.items, candidates_of(run, ranked.items, repository))
    metric = Similarity(run.plan.params["metric"])
    return {
        name: RunRows(
            rows.item_no, rows.raw, without_group(rows.filtered, column, pairs, ranked, is_candidate, metric)
        ).score(filtered=True)
        for name, column in columns.items()
    }


def without_group(
    filtered: RankCounts, column: OwnColumn, pairs: Pairs, ranked: RunVectors, is_candidate: Bool, metric: Similarity
) -> RankCounts:
    """Filtered counts ``[m]``, less the texts of the pairs with the same value; an empty cell is no group.

    Args:
        is_candidate: of the ranked items, ``[k] bool``.
    """
    greater, ties = filtered.greater.copy(), filtered.ties.copy()
    queries, matches, asking = (
        ranked.places(pairs.query_no),
        ranked.places(pairs.match_no),
        ranked.places_of_queries(pairs.query_no),
    )
    keys = _keys(pairs, queries, matches, len(ranked.items))
    matches_of: dict[int, set[int]] = defaultdict(set)
    for query, match in zip(queries.tolist(), matches.tolist(), strict=True):
        matches_of[query].add(match)
    for value, inside in column.groups(pairs.numbers):
        members = np.unique(np.concatenate([queries[inside], matches[inside]]))
        members = members[is_candidate[members]]
        if value == EMPTY or not len(members):
            continue
        places = np.flatnonzero(inside)
        at_once = max(1, SCORES_AT_ONCE // len(members))
        for some in (places[start : start + at_once] for start in range(0, len(places), at_once)):
            scores = _similarities(ranked, asking[some], members, metric)
            of_match = filtered.similarity[some][:, np.newaxis]
            left = members != queries[some][:, np.newaxis]
            for of in (queries, matches):
                theirs = keys[of[some]][:, np.newaxis]
                left &= (members != matches[some][:, np.newaxis]) & ((keys[members] != theirs) | (theirs < 0))
            for row, query in enumerate(queries[some].tolist()):
                left[row] &= ~np.isin(members, list(matches_of[query]))
            is_greater = left & (scores > of_match + TAU)
            greater[some] -= is_greater.sum(axis=1)
            ties[some] -= (left & ~is_greater & (scores >= of_match - TAU)).sum(axis=1)
    return RankCounts(filtered.similarity, greater, ties)


def _keys(pairs: Pairs, query_rows: Int64, matches: Int64, n: int) -> Int64:
    """Equal numbers for near-duplicates among the texts of pairs, ``[n]``; -1 where a text has none."""
    numbers: dict[str, int] = {}
    keys = np.full(n, -1, dtype=np.int64)
    for places, texts in ((query_rows, pairs.query), (matches, pairs.match)):
        for row, text in zip(places.tolist(), texts, strict=True):
            if keys[row] < 0 and (key := near_duplicate_key(text)):
                keys[row] = numbers.setdefault(key, len(numbers))
    return keys


def _similarities(ranked: RunVectors, queries: Int64, members: Int64, metric: Similarity) -> Float64:
    """``[q, k] float64`` of rows of a run's vectors."""
    if metric is Similarity.COS:
        return np.asarray(unit_rows(ranked.vectors, queries) @ unit_rows(ranked.vectors, members).T)
    from scipy.spatial.distance import cdist

    query_vectors, other = (np.asarray(ranked.vectors[rows], dtype=np.float64) for rows in (queries, members))
    return np.asarray(1.0 / (1.0 + cdist(query_vectors, other)))


# --- near-duplicates


@dataclass(frozen=True)
class CloseMisses:
    """How many of the ``missed`` pairs that were looked at have a near-duplicate of query or match first.

    Attributes:
        are_all: whether all missed pairs were looked at, or evenly spaced ones.
    """

    missed: int
    close: int
    are_all: bool = True

    @property
    def in_words(self) -> str:
        return counted(self.missed, "missed pair" if self.are_all else "evenly spaced missed pair")

    @property
    def are_many(self) -> bool:
        return self.close > MOST_SHARE * self.missed


def are_close(text: str, other: str) -> bool:
    """Whether two texts are equal but for case, spaces, punctuation and one letter in ``LETTERS``."""
    from rapidfuzz.distance import Levenshtein

    first, second = near_duplicate_key(text), near_duplicate_key(other)
    longer = max(len(first), len(second))
    most = longer // LETTERS
    return longer > 0 and Levenshtein.distance(first, second, score_cutoff=most) <= most


def close_misses(
    run: RunRecord, pairs: Pairs, rows: RunRows, settings: Settings, repository: Repository
) -> CloseMisses | None:
    """The missed pairs by raw ranks whose first-ranked text differs from query or match by few letters.

    None where it cannot be known: the embeddings are gone, or are prepared by the toolkit's protocol.
    """
    if run.plan.params["protocol"] != DEFINITION:
        return None
    missed = np.flatnonzero(rows.raw.greater > 0)
    if not len(missed):
        return CloseMisses(0, 0)
    try:
        above = above_matches(run, pairs, missed, settings, repository)
    except BlindspotError:  # the page of pairs says so, and offers to encode again
        return None
    close = looked_at = 0
    for row, item in zip(above.places.tolist(), above.numbers[:, 0].tolist(), strict=True):
        if item < 0:
            continue
        looked_at += 1
        first = above.texts[item]
        close += are_close(first, pairs.match[row]) or are_close(first, pairs.query[row])
    return CloseMisses(looked_at, close, len(above.places) == len(missed))


def warning(run: RunRecord, settings: Settings, repository: Repository) -> str:
    """A sentence where more than a tenth of the misses on a user's own pairs are near-duplicates; else ""."""
    if run.plan.diagnostic != ENTRY.id or catalogued(run.plan.dataset):
        return ""
    pairs, rows = ranked_pairs(run, repository)
    misses = close_misses(run, pairs, rows, settings, repository)
    if misses is None or not misses.are_many:
        return ""
    try:
        scores = scores_by_group(run, pairs, rows, settings, repository)
    except BlindspotError:  # nothing can be ranked again: the misses were counted from what is kept
        scores = {}
    text = (
        f"{run.plan.variant.label}: in {percent(misses.close / misses.missed)} of {misses.in_words} "
        "the text ranked first is a near-duplicate of the query or the match, and may be as right an answer"
    )
    for name, score in scores.items():
        text += f"; without other texts of the same '{name}' MRR is {number(score.mrr, SCORE)}, filtered"
    return f"{text}."
