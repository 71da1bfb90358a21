"""Triplets to train with: a query, its match, and the texts that outrank it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from blindspot.diagnostic import find_diagnostic
from blindspot.diagnostics.evalrank.outranking import DEPTH
from blindspot.diagnostics.evalrank.pairs import candidates_of
from blindspot.errors import InputError
from blindspot.numerics.ranking.problem import TAU
from blindspot.numerics.similarity import Similarity, row_norms, similarity_of_pairs, unit_vectors
from blindspot.runs.embeddings import vectors_of
from blindspot.runs.training_data.examples import Triplet
from blindspot.settings import Settings
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.texts import near_duplicate_key
from blindspot.transforms.toolkit import DEFINITION
from blindspot.types import Float32, Int64

KIND = "outranks the match"
_SCORES_AT_ONCE = 8_000_000


def triplets(
    run: RunRecord, settings: Settings, repository: Repository, *, most: int, margin: float
) -> Iterator[Triplet]:
    """Pairs, and the texts more similar to the query than its match, or less by at most ``margin``.

    Another match of the query and near-duplicates of either text are no negatives, as in filtered ranks. See
    ``Diagnostic.triplets``.

    Raises:
        InputError: the run is of the toolkit's protocol, or its transform was fitted on another dataset.
        EmbeddingsGone: the cache no longer has the run's embeddings.
    """
    if run.plan.params["protocol"] != DEFINITION:
        raise InputError(
            f"run {run.run_id} has the toolkit's protocol, whose vectors are not kept",
            expected=f"a run of the protocol {DEFINITION}",
        )
    entry = find_diagnostic(run.plan.diagnostic).at_version(run.plan.diagnostic_version)
    rows = repository.items(entry, [run.run_id], texts=True)
    query_no, match_no = (rows[name].to_numpy(dtype=np.int64) for name in ("query_no", "match_no"))
    ranked = vectors_of(run, settings, repository)
    metric, items = Similarity(run.plan.params["metric"]), ranked.items
    vectors = np.asarray(ranked.vectors, dtype=np.float32)
    asking, matches = ranked.places_of_queries(query_no), ranked.places(match_no)
    of_matches = similarity_of_pairs(vectors, asking, matches, metric)
    is_candidate = np.isin(items, candidates_of(run, items, repository))
    matches_of: dict[int, set[int]] = defaultdict(set)
    for query, match in zip(query_no.tolist(), match_no.tolist(), strict=True):
        matches_of[query].add(match)
    nearest = _nearest(vectors, asking, np.flatnonzero(is_candidate), most + DEPTH, metric)
    places = np.unique(nearest)
    texts = repository.texts(run.plan.dataset_digest, items[places].tolist())
    keys = {number: near_duplicate_key(text) for number, text in texts.items()}
    for row, (query, match) in enumerate(zip(rows["query"], rows["match"], strict=True)):
        number = int(query_no[row])
        same = {near_duplicate_key(query), near_duplicate_key(match)} - {""}
        others = [
            neighbor
            for neighbor in nearest[row].tolist()
            if int(items[neighbor]) not in {number, *matches_of[number]} and keys[int(items[neighbor])] not in same
        ]
        at = np.array(others, dtype=np.int64)
        leads = of_matches[row] - similarity_of_pairs(vectors, np.full(len(at), asking[row]), at, metric)
        order = [int(number) for number in np.argsort(leads, kind="stable") if leads[number] <= margin + TAU]
        for index in order[:most]:
            yield Triplet(query, match, texts[int(items[at[index]])], KIND, float(leads[index]))


def _nearest(vectors: Float32, asking: Int64, candidates: Int64, depth: int, metric: Similarity) -> Int64:
    """Places of the most similar candidates of each query, in no order, ``[q, depth]`` or as many as there are."""
    depth = min(depth, len(candidates))
    if metric is Similarity.COS:
        rows, halves = unit_vectors(vectors), np.zeros(len(vectors), dtype=np.float32)
    else:  # the distance falls as x.y - |y|^2/2 rises
        rows, halves = vectors, np.asarray(row_norms(vectors) ** 2 / 2, dtype=np.float32)
    among = rows[candidates]
    out = np.empty((len(asking), depth), dtype=np.int64)
    at_once = max(1, _SCORES_AT_ONCE // len(candidates))
    for start in range(0, len(asking), at_once):
        some = slice(start, start + at_once)
        scores = rows[asking[some]] @ among.T - halves[candidates]
        out[some] = candidates[np.argpartition(scores, len(candidates) - depth, axis=1)[:, len(candidates) - depth :]]
    return out
