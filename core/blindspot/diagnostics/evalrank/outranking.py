"""Texts that outrank a match: the first-ranked one of each missed pair, what it is, and how often it is the same.

Computed from cached embeddings in float32; which of two texts within rounding of each other is first is arbitrary.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from blindspot.datasets import fetch
from blindspot.datasets.catalog import DATASETS
from blindspot.datasets.kinds.minimal_pairs import MinimalPairSet
from blindspot.diagnostics.evalrank.definition import ENTRY
from blindspot.diagnostics.evalrank.pairs import candidates_of
from blindspot.errors import BlindspotError
from blindspot.numerics.ranking.ranks import Exclusions, rank_pairs, without
from blindspot.numerics.similarity import Similarity, row_norms, unit_vectors
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.runs.embeddings import RunVectors, vectors_of
from blindspot.settings import Settings, prepare_runtime
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.texts import near_duplicate_key
from blindspot.transforms.toolkit import DEFINITION
from blindspot.types import Bool, CancelToken, Int64, no_progress

PRODUCTS = 2_000_000_000  # pairs x items x dimensions that a run may take: a tenth of a second on two cores
FEWEST = 100  # pairs, however large the rest is
DEPTH = 5  # items above the match that are looked at; deeper ones only where all of these are no mistakes


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of a dataset that some runs ranked, ``[m]`` by their number.

    Attributes:
        numbers: the pairs' numbers in the dataset, ascending.
        query_no, match_no: numbers of their texts; ``query`` and ``match`` are the texts.
    """

    numbers: Int64
    query_no: Int64
    match_no: Int64
    query: Sequence[str]
    match: Sequence[str]

    @cached_property
    def dependence(self) -> Dependence:
        return Dependence.of_texts(self.query, self.match)


def pairs_of_run(run: RunRecord, repository: Repository) -> Pairs:
    """The pairs that a run ranked."""
    rows = repository.items(ENTRY, [run.run_id], texts=True)
    numbers, query_no, match_no = (rows[name].to_numpy(np.int64) for name in ("item_no", "query_no", "match_no"))
    return Pairs(numbers, query_no, match_no, rows["query"].tolist(), rows["match"].tolist())


@dataclass(frozen=True, eq=False)
class FirstRanked:
    """What comes first where the match does not.

    Attributes:
        places: ``[l] int64``, the missed pairs that were looked at, by their place among the pairs, ascending.
        items: ``[l] int64``, number of the first-ranked text that is neither the query nor, as filtered ranks have it,
            another match or a near-duplicate; -1 where none is found near the top.
        texts: by number.
        background: how many items the matches were ranked among.
    """

    places: Int64
    items: Int64
    texts: Mapping[int, str]
    background: int


def first_ranked(
    run: RunRecord, pairs: Pairs, missed: Int64, settings: Settings, repository: Repository
) -> FirstRanked | None:
    """The first-ranked texts of the ``missed`` pairs (places), or of evenly spaced ones where there are many.

    None where they cannot be computed: embeddings or a trained transform are gone, the transform was fitted on other
    texts, or the protocol is not the definition.
    """
    if run.plan.params["protocol"] != DEFINITION or not len(missed):
        return None
    try:
        return _first_ranked(run.run_id, _Asked(run, pairs, missed, settings, repository))
    except BlindspotError:  # the page of pairs says so, and offers to encode again
        return None


@dataclass(frozen=True)
class _Asked:
    """What a run's answer takes, as the key of a cache: a run never changes, so its id is enough."""

    run: RunRecord = field(compare=False)
    pairs: Pairs = field(compare=False)
    missed: Int64 = field(compare=False)
    settings: Settings = field(compare=False)
    repository: Repository = field(compare=False)
    path: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", str(self.settings.cache))


@lru_cache(maxsize=128)
def _first_ranked(_run_id: str, asked: _Asked) -> FirstRanked:
    above = above_matches(asked.run, asked.pairs, asked.missed, asked.settings, asked.repository)
    first = _first_mistake(asked.pairs, above.places, above.numbers, above.texts)
    return FirstRanked(above.places, first, above.texts, above.background)


class Above(NamedTuple):
    """The texts above the matches of some pairs.

    Attributes:
        places: ``[l]``, the pairs that were looked at.
        numbers: ``[l, DEPTH]``, the nearest texts above the match of each, the nearest first, then -1.
        texts: by number.
        background: how many items the matches were ranked among.
    """

    places: Int64
    numbers: Int64
    texts: Mapping[int, str]
    background: int


def above_matches(run: RunRecord, pairs: Pairs, missed: Int64, settings: Settings, repository: Repository) -> Above:
    """The texts above the matches of ``missed`` pairs (places), or of evenly spaced ones where there are many.

    Raises:
        EmbeddingsGone, ComparedTwice: as ``vectors_of``.
    """
    ranked = vectors_of(run, settings, repository)
    items = ranked.items
    affordable = max(FEWEST, PRODUCTS // ranked.of_items.size)
    if len(missed) > affordable:
        missed = missed[np.linspace(0, len(missed) - 1, affordable).astype(np.int64)]
    candidates = candidates_of(run, items, repository)
    metric, among = Similarity(run.plan.params["metric"]), np.isin(items, candidates)
    nearest = _nearest_above(ranked, pairs.query_no[missed], pairs.match_no[missed], metric, among)
    numbers = np.where(nearest >= 0, items[np.maximum(nearest, 0)], -1)
    texts = repository.texts(run.plan.dataset_digest, np.unique(numbers[numbers >= 0]).tolist())
    return Above(missed, numbers, texts, len(candidates))


def _nearest_above(ranked: RunVectors, query_no: Int64, match_no: Int64, metric: Similarity, candidates: Bool) -> Int64:
    """Per query the ``DEPTH`` most similar ``candidates [n] bool`` above its match, the nearest first, then -1.

    Places among the ranked items, ``[q, DEPTH]``.
    """
    vectors, n = np.asarray(ranked.vectors, dtype=np.float32), len(ranked.items)
    queries, own_texts, matches = ranked.places_of_queries(query_no), ranked.places(query_no), ranked.places(match_no)
    if metric is Similarity.COS:
        rows, halves = unit_vectors(vectors), np.zeros(len(vectors), dtype=np.float32)
    else:  # the distance falls as x.y - |y|^2/2 rises
        norms = row_norms(vectors)
        scale = norms.max(initial=0.0) or 1.0
        rows = np.asarray(vectors / scale, dtype=np.float32)
        halves = np.asarray((norms / scale) ** 2 / 2, dtype=np.float32)
    depth = min(DEPTH, n)
    out = np.empty((len(queries), depth), dtype=np.int64)
    at_once = max(1, 8_000_000 // n)
    for start in range(0, len(queries), at_once):
        some = slice(start, start + at_once)
        scores = rows[queries[some]] @ rows[:n].T - halves[:n]
        row = np.arange(len(scores))
        of_matches = scores[row, matches[some]].copy()
        scores[:, ~candidates] = -np.inf
        scores[row, own_texts[some]] = -np.inf
        scores[row, matches[some]] = -np.inf
        nearest = np.argpartition(scores, n - depth, axis=1)[:, n - depth :]
        similarities = np.take_along_axis(scores, nearest, axis=1)
        order = np.argsort(-similarities, axis=1, kind="stable")
        is_above = np.take_along_axis(similarities, order, axis=1) > of_matches[:, np.newaxis]
        out[some] = np.where(is_above, np.take_along_axis(nearest, order, axis=1), -1)
    return out


def _first_mistake(pairs: Pairs, places: Int64, numbers: Int64, texts: Mapping[int, str]) -> Int64:
    """The first of each row's ``numbers [l, depth]`` that filtered ranks keep, else -1."""
    matches_of: dict[int, set[int]] = defaultdict(set)
    for query, match in zip(pairs.query_no.tolist(), pairs.match_no.tolist(), strict=True):
        matches_of[query].add(match)
    keys = {number: near_duplicate_key(text) for number, text in texts.items()}
    out = np.full(len(places), -1, dtype=np.int64)
    for row, position in enumerate(places.tolist()):
        own_texts = {near_duplicate_key(pairs.query[position]), near_duplicate_key(pairs.match[position])} - {""}
        others = matches_of[int(pairs.query_no[position])]
        for number in numbers[row].tolist():
            if number >= 0 and number not in others and keys[number] not in own_texts:
                out[row] = number
                break
    return out


# --- other queries


@dataclass(frozen=True)
class QueriesAbove:
    """How many of the ``pairs`` that were looked at have another query ``above`` the match."""

    pairs: int
    above: int


def only_queries(query_no: Int64, match_no: Int64) -> Int64:
    """Numbers of the texts that are queries and no query's match; none where some pair also occurs reversed.

    Queries are then of another kind than matches (questions and passages): what is near a query need not be a match.
    """
    two = query_no != match_no
    pairs = set(zip(query_no[two].tolist(), match_no[two].tolist(), strict=True))
    if any((match, query) in pairs for query, match in pairs):
        return np.empty(0, dtype=np.int64)
    return np.setdiff1d(query_no, match_no)


def queries_above(
    run: RunRecord, query_no: Int64, match_no: Int64, settings: Settings, repository: Repository
) -> QueriesAbove:
    """In how many pairs a text of ``only_queries`` other than the query is more similar to it than the match.

    Ranks are exact; where there are many pairs, evenly spaced ones are looked at.

    Raises:
        EmbeddingsGone: the cache no longer has the run's embeddings.
        ValueError: the run is of the toolkit's protocol, which prepares embeddings its own way.
    """
    if run.plan.params["protocol"] != DEFINITION:
        raise ValueError("only runs by definition are ranked again")
    prepare_runtime(settings)
    ranked = vectors_of(run, settings, repository)
    matches, others = np.unique(match_no), only_queries(query_no, match_no)
    order = np.concatenate([matches, others])
    affordable = max(FEWEST, PRODUCTS // (len(order) * ranked.vectors.shape[1]))
    some = np.unique(np.linspace(0, len(query_no) - 1, min(affordable, len(query_no))).astype(np.int64))
    row_of = np.zeros(int(ranked.items[-1]) + 1, dtype=np.int32)
    row_of[order] = np.arange(len(order), dtype=np.int32)
    numbers, queries = ranked.places(order), np.asarray(row_of[query_no[some]])
    if ranked.asking is not None:  # a row of each as a query, after the candidates
        asked, which = np.unique(query_no[some], return_inverse=True)
        numbers = np.concatenate([numbers, ranked.places_of_queries(asked)])
        queries = (len(order) + which).astype(np.int32)
    rows = np.asarray(ranked.vectors[numbers], dtype=np.float32)
    metric, query_rows = Similarity(run.plan.params["metric"]), row_of[query_no[some]].astype(np.int64)
    counts = []
    for n in (len(order), len(matches)):
        ranks = rank_pairs(rows, queries, row_of[match_no[some]], metric, no_progress, CancelToken(), candidates=n)
        if ranked.asking is not None:  # a query's own text is no candidate
            kept = np.flatnonzero((query_rows < n) & (query_no[some] != match_no[some]))
            ranks = without(ranks, Exclusions(kept, query_rows[kept]), rows, queries, metric)
        counts.append(ranks)
    among_both, among_matches = counts
    return QueriesAbove(len(some), int(np.count_nonzero(among_both.greater > among_matches.greater)))


# --- what a text is to another


@dataclass(frozen=True)
class Families:
    """Sets of one sentence and its rewrites: by text its family and its subset ("" for the original)."""

    places: Mapping[str, tuple[int, str]]
    subsets: tuple[str, ...]

    def subset_of(self, text: str, other: str) -> str | None:
        """The subset of ``other`` where it is of the same family as ``text``, "" for its original; else None."""
        place, its = self.places.get(text), self.places.get(other)
        return its[1] if place and its and place[0] == its[0] else None


def families_of(dataset: str, settings: Settings) -> Families | None:
    """The families of a dataset whose texts the catalog knows as built-in minimal pairs; None for other datasets."""
    entry = DATASETS.get(dataset)
    if entry is None or not entry.rewrites or DATASETS[entry.rewrites].files:
        return None
    return _families(entry.rewrites, settings)


@lru_cache(maxsize=4)
def _families(dataset: str, settings: Settings) -> Families | None:
    minimal_set = fetch.load(DATASETS[dataset], settings)
    if not isinstance(minimal_set, MinimalPairSet):
        raise TypeError(f"{dataset} is no set of minimal pairs")
    places: dict[str, tuple[int, str]] = {}
    for subset, rewrites in minimal_set.rewrites.items():
        for family, item in enumerate(rewrites.tolist()):
            places.setdefault(minimal_set.items[item], (family, subset))
    for family, item in enumerate(minimal_set.originals.tolist()):
        places[minimal_set.items[item]] = (family, "")
    return Families(places, minimal_set.subsets)
