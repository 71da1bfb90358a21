"""Grades that all models and keyword search contradict, as where 1 is the best: a question about the user's data."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from blindspot.datasets.catalog import catalogued, title_of
from blindspot.datasets.kinds.retrieval import RELEVANT
from blindspot.diagnostics.retrieval.definition import ENTRY
from blindspot.diagnostics.retrieval.outcomes import QueryTable, Side, query_table
from blindspot.numerics.statistics.pairs import Dependence, moments, t_estimate
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.types import Float64

CONTRADICTED = "and by keyword search, documents of lower grades rank above those of higher ones for the same query"
TURN = (
    "If the lowest grade is the best here, as rank 1 is, turn the grades round in the file, such as {turned} minus the "
    "grade."
)


def are_reversed(dataset: str, table: QueryTable) -> bool:
    """Whether every run, and keyword search, is shown to rank relevant documents against their grades. Never of the
    catalog's datasets, whose grades are read as published."""
    if catalogued(dataset):
        return False
    relevant = _relevant(table)
    if not any(len(set(grades.values())) > 1 for grades in relevant):
        return False
    of_runs = [_places(table, run_id) for run_id in table.run_ids]
    return all(_is_below(table.known, relevant, places) for places in (*of_runs, _keyword_places(table)))


def turned(table: QueryTable) -> int:
    """What to subtract each grade from, so that the best grade becomes the worst."""
    grades = [grade for row in _relevant(table) for grade in row.values()]
    return min(grades) + max(grades)


def doubts(runs: Sequence[RunRecord], repository: Repository) -> list[str]:
    """See ``Diagnostic.doubts``; runs over the same queries with the same parameters are judged together."""
    together: dict[tuple[str, str, str], list[RunRecord]] = {}
    for run in runs:
        if not catalogued(run.plan.dataset):
            key = run.plan.dataset_digest, str(run.plan.params), run.plan.covered_digest
            together.setdefault(key, []).append(run)
    out = []
    for alike in together.values():
        dataset = alike[0].plan.dataset
        table = query_table(ENTRY, [run.run_id for run in alike], repository)
        if are_reversed(dataset, table):
            out.append(f"{title_of(dataset)}: by every model {CONTRADICTED}. {TURN.format(turned=turned(table))}")
    return out


def _relevant(table: QueryTable) -> list[dict[str, int]]:
    """The grade of each relevant document, by its id, query by query."""
    judged = next(iter(table.rows.values()))["judged"].tolist()
    return [{d: grade for d, grade, *_ in json.loads(text) if grade >= RELEVANT} for text in judged]


def _places(table: QueryTable, run_id: str) -> list[dict[str, float]]:
    """The place of each retrieved document that was judged, by its id, query by query."""
    return [
        {j.document: j.greater + j.ties / 2 for j in table.judged(run_id, row) if j.greater is not None}
        for row in range(len(table))
    ]


def _keyword_places(table: QueryTable) -> list[dict[str, float]]:
    side = Side(table.run_ids[0], is_bm25=True)
    return [
        {document: float(place) for place, (document, _) in enumerate(table.top(side, row))}
        for row in range(len(table))
    ]


def _is_below(known: Dependence, relevant: Sequence[Mapping[str, int]], places: Sequence[Mapping[str, float]]) -> bool:
    """Whether the mean agreement of a query's order with its grades, -1 to 1, is shown to be below 0."""
    agreements = np.array([_agreement(grades, of_query) for grades, of_query in zip(relevant, places, strict=True)])
    here = ~np.isnan(agreements)
    if not here.any() or not agreements[here].mean() < 0:
        return False
    known, values = known.among(here), agreements[here]
    interval = t_estimate(float(values.mean()), moments(values, known), known, 1.0).interval
    if interval is None:  # where each query says the same, nothing tells of an error
        return float(values.max()) == -1 and not known.refusal
    return interval.high < 0


def _agreement(grades: Mapping[str, int], places: Mapping[str, float]) -> float:
    """Over all pairs of a query's relevant documents with different grades, the share in their order less the share in
    the other; NaN without such a pair. Documents that are not retrieved are behind all others."""
    signs: list[Float64] = [
        np.sign(grades[a] - grades[b]) * np.sign(places.get(b, np.inf) - places.get(a, np.inf))
        for a, b in combinations(grades, 2)
        if grades[a] != grades[b] and (a in places or b in places)
    ]
    return float(np.mean(signs)) if signs else np.nan
