"""Evidence on retrieval: is a model better than keyword search, and can its score be believed?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from blindspot.diagnostics.retrieval.definition import CONDENSED, ENTRY, JUDGED, SHOWN, TITLES
from blindspot.diagnostics.retrieval.grades import are_reversed, turned
from blindspot.diagnostics.retrieval.item_scores import first_found
from blindspot.diagnostics.retrieval.outcomes import QueryTable, Side, query_table
from blindspot.numerics.statistics import pairs as statistics
from blindspot.numerics.statistics.written import number
from blindspot.references import BM25
from blindspot.runs.findings import MOST_EXAMPLES, Compared, Example, Material
from blindspot.runs.findings.baselines import against_baselines, best_rival, outcomes, share_and_chance
from blindspot.runs.findings.evidence import REVERSED_GRADES, Evidence
from blindspot.runs.findings.parts import low_coverage, together
from blindspot.store.records import RunRecord
from blindspot.types import Float64

MORE_UNJUDGED = 0.1  # share of a model's top ten, beyond BM25's
TITLE = TITLES[ENTRY.headline]


def evidence(material: Material) -> Iterator[Evidence]:
    """See ``Diagnostic.evidence``."""
    yield from low_coverage(material.runs)
    for group in together(material, on_same_items=True):  # runs on other parts rank other documents
        table = query_table(ENTRY, [run.run_id for run in group.every], material.repository)
        if are_reversed(group.runs[0].plan.dataset, table):  # all other evidence takes the grades at their word
            facts = {"queries": len(table), "turned": turned(table)}
            highest = max(float(table.scores(Side(run.run_id), ENTRY.headline).mean()) for run in group.runs)
            yield Evidence(REVERSED_GRADES, tuple(group.runs), highest, len(table), facts=facts)
        else:
            yield from _of_runs(group.runs, group.baselines, table)


def _of_runs(runs: Sequence[RunRecord], baselines: Sequence[RunRecord], table: QueryTable) -> Iterator[Evidence]:
    keywords: dict[str, Compared] = {}
    chance = ndcg_by_chance(runs[0], table)
    for run in runs:
        if run.plan.variant.encoder != BM25:  # not against itself
            keywords[run.run_id] = _bm25(run, table)
            yield from _against_bm25(run, table, keywords[run.run_id], chance)
            yield from _unjudged(run, table)
            yield from _unranked(run)
    values = {r.run_id: table.scores(Side(r.run_id), ENTRY.headline) for r in (*runs, *baselines)}
    for compared in against_baselines(runs, baselines, values, table.known, chance):
        run_id = compared.run.run_id
        yield from compared.evidence([keywords[run_id]] if run_id in keywords else [])


def ndcg_by_chance(run: RunRecord, table: QueryTable) -> float:
    """The mean nDCG@10 if every order of the documents (in condensed lists, the judged ones) is equally likely."""
    discounts = 1 / np.log2(np.arange(2, SHOWN + 2))
    is_condensed = JUDGED.value_in(run.plan.params) == CONDENSED
    out = []
    for row in range(len(table)):
        grades = np.array([judgment.grade for judgment in table.judged(run.run_id, row)], dtype=np.float64).clip(0)
        candidates = len(grades) if is_condensed else int(run.metrics["documents"])
        best = np.sort(grades)[::-1][:SHOWN]
        ideal = float(best @ discounts[: len(best)])
        reached = grades.sum() / max(candidates, 1) * discounts[: min(SHOWN, candidates)].sum()
        out.append(float(reached) / ideal if ideal else 0.0)
    return float(np.mean(out)) if out else 0.0


def _bm25(run: RunRecord, table: QueryTable) -> Compared:
    """Keyword search on the same queries."""
    of_model, other = (table.scores(Side(run.run_id, is_bm25), ENTRY.headline) for is_bm25 in (False, True))
    return best_rival(of_model, [other], table.known)[0]


def _against_bm25(run: RunRecord, table: QueryTable, keywords: Compared, chance: float) -> Sequence[Evidence]:
    if np.isnan(keywords.p):
        return []
    of_model, other = (table.scores(Side(run.run_id, is_bm25), ENTRY.headline) for is_bm25 in (False, True))
    difference = statistics.difference(of_model, other, table.known)
    examples, item = _behind(run, table, of_model - other)
    return outcomes(
        "bm25",
        (run,),
        difference,
        keywords,
        (share_and_chance(of_model, table.known, chance), keywords),
        difference.units,
        {"score": float(of_model.mean()), "reached": float(other.mean()), "queries": len(table), "item": item},
        examples=examples,
    )


def _behind(run: RunRecord, table: QueryTable, gain: Float64) -> tuple[tuple[Example, ...], str]:
    """The queries on which BM25 is furthest ahead, and the number of the first; "" for none."""
    worst = [int(row) for row in np.argsort(gain, kind="stable")[:MOST_EXAMPLES] if gain[row] < 0]
    examples = tuple(
        Example(
            (("query", str(table.about["query"].iloc[row])),),
            f"{TITLE} {number(gain[row], '+.3f')} against BM25; {first_found(table, Side(run.run_id), row)}",
        )
        for row in worst
    )
    return examples, str(int(table.numbers[worst[0]])) if worst else ""


def _unranked(run: RunRecord) -> Iterator[Evidence]:
    """Queries that the file of a ranking lacks."""
    queries, unranked = (int(run.metrics.get(name, 0)) for name in ("queries", "unranked"))
    if unranked:
        yield Evidence("unranked", (run,), unranked / queries, queries, facts={"unranked": unranked})


def _unjudged(run: RunRecord, table: QueryTable) -> Iterator[Evidence]:
    share, other = (table.unjudged(Side(run.run_id, is_bm25)).share for is_bm25 in (False, True))
    if share - other >= MORE_UNJUDGED:
        facts = {"of_bm25": other, "is_condensed": JUDGED.value_in(run.plan.params) == CONDENSED}
        yield Evidence("unjudged", (run,), share, int(run.metrics["queries"]), facts=facts)
