"""Findings on retrieval: is a model better than keyword search, and can its score be believed?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from blindspot.diagnostics.retrieval.definition import CONDENSED, ENTRY, JUDGED, SHOWN, TITLES
from blindspot.diagnostics.retrieval.outcomes import QueryTable, Side, query_table
from blindspot.diagnostics.retrieval.versus import TEST, first_found
from blindspot.numerics.statistics import pairs as statistics
from blindspot.numerics.statistics.intervals import ALPHA
from blindspot.numerics.statistics.written import ci, number, p_in_words
from blindspot.references import BM25
from blindspot.runs.findings import MOST_EXAMPLES, Compared, Example, Finding, Level, Material
from blindspot.runs.findings.baselines import (
    AND_CHANCE,
    AgainstBaseline,
    against_baselines,
    findings_of,
    share_and_chance,
)
from blindspot.runs.findings.parts import clipped, coverage, finding, in_test, together
from blindspot.runs.findings.rule import Rival
from blindspot.store.records import RunRecord
from blindspot.texts import counted
from blindspot.types import Float64

MORE_UNJUDGED = 0.1  # share of a model's top ten, beyond BM25's
TITLE = TITLES[ENTRY.headline]


def findings(material: Material) -> list[Finding]:
    """See ``Diagnostic.findings``."""
    out = coverage(ENTRY, material.runs)
    for found in together(material):
        supports: dict[str, list[RunRecord]] = {}
        for run in found.every:  # runs on other parts rank other documents
            supports.setdefault(run.plan.support_digest, []).append(run)
        for some in supports.values():
            table = query_table(ENTRY, [run.run_id for run in some], material.repository)
            out += _of_runs([r for r in found.runs if r in some], [r for r in found.baselines if r in some], table)
    return out


def _of_runs(runs: Sequence[RunRecord], baselines: Sequence[RunRecord], table: QueryTable) -> list[Finding]:
    out: list[Finding] = []
    keywords: dict[str, Compared] = {}
    chance = ndcg_by_chance(runs[0], table) if runs else 0.0
    for run in runs:
        if run.plan.variant.encoder != BM25:  # not against itself
            keywords[run.run_id] = _bm25(run, table)
            out += [*_against_bm25(run, table, keywords[run.run_id], chance), *_unjudged(run, table)]
        out += _unranked(run)
    values = {r.run_id: table.scores(Side(r.run_id), ENTRY.headline) for r in (*runs, *baselines)}
    for one in against_baselines(runs, baselines, values, table.known, chance):
        out += _against_baseline(one, [keywords[one.run.run_id]] if one.run.run_id in keywords else [])
    return out


def ndcg_by_chance(run: RunRecord, table: QueryTable) -> float:
    """The mean nDCG@10 if every order of the documents (of condensed lists the judged ones) is as likely."""
    discounts = 1 / np.log2(np.arange(2, SHOWN + 2))
    is_condensed = JUDGED.value_in(run.plan.params) == CONDENSED
    out = []
    for row in range(len(table)):
        grades = np.array([one.grade for one in table.judged(run.run_id, row)], dtype=np.float64).clip(0)
        candidates = len(grades) if is_condensed else int(run.metrics["documents"])
        best = np.sort(grades)[::-1][:SHOWN]
        ideal = float(best @ discounts[: len(best)])
        reached = grades.sum() / max(candidates, 1) * discounts[: min(SHOWN, candidates)].sum()
        out.append(float(reached) / ideal if ideal else 0.0)
    return float(np.mean(out)) if out else 0.0


def _bm25(run: RunRecord, table: QueryTable) -> Compared:
    """Keyword search on the same queries."""
    own, other = (table.scores(Side(run.run_id, is_bm25), ENTRY.headline) for is_bm25 in (False, True))
    p = float(statistics.p_values((own - other)[:, np.newaxis], table.known)[0])
    return Compared(Rival.BASELINE, float((own - other).mean()), p)


def _against_bm25(run: RunRecord, table: QueryTable, keywords: Compared, chance: float) -> list[Finding]:
    known, sides = table.known, (Side(run.run_id), Side(run.run_id, is_bm25=True))
    own, other = (table.scores(side, ENTRY.headline) for side in sides)
    p = keywords.p
    if np.isnan(p):
        return []
    found = statistics.difference(own, other, known)
    below = found.value < 0
    said = (
        f"than keyword search (BM25) at finding relevant documents: {TITLE} is {number(own.mean())} against "
        f"{number(other.mean())} over {counted(len(table), 'query', 'queries')}, a difference of "
        f"{number(found.value, '+.2f')}{ci(found, '+.2f')}."
    )
    common: dict[str, Any] = {"found": found, "n": found.units}
    common |= _telling(run, table, own - other)
    out = [
        finding(
            ENTRY,
            [run],
            kind="worse-than-bm25" if below else "better-than-bm25",
            level=Level.BLIND_SPOT if below else Level.STRENGTH,
            sentence=f"{{A}} is {'worse' if below else 'better'} {said}",
            against=(keywords,) if below else (share_and_chance(own, known, chance), keywords),
            test=in_test(TEST, found) + ("" if below else AND_CHANCE),
            severity=clipped(abs(found.value)),
            **common,
        )
    ]
    if p >= ALPHA:
        out.append(
            finding(
                ENTRY,
                [run],
                kind="no-better-than-bm25",
                level=Level.CAUTION,
                sentence=f"{{A}} is not significantly better {said}",
                test=f"not significant: {in_test(TEST, found)}, {p_in_words(p)}",
                severity=clipped(1 - float(own.mean())),
                **common,
            )
        )
    return out


def _telling(run: RunRecord, table: QueryTable, gain: Float64) -> dict[str, Any]:
    """Examples and address: the queries on which BM25 is ahead most."""
    address = {"view": "queries", "a": str(run.plan.variant), "with": "bm25"}
    worst = [int(row) for row in np.argsort(gain, kind="stable")[:MOST_EXAMPLES] if gain[row] < 0]
    if not worst:
        return {"address": address}
    examples = tuple(
        Example(
            (("query", str(table.about["query"].iloc[row])),),
            f"{TITLE} {number(gain[row], '+.2f')} against BM25; {first_found(table, Side(run.run_id), row)}",
        )
        for row in worst
    )
    return {"address": address | {"item": str(int(table.numbers[worst[0]]))}, "examples": examples}


def _against_baseline(one: AgainstBaseline, others: Sequence[Compared]) -> list[Finding]:
    said = (
        f"{TITLE} is {number(one.score)} against {number(one.reached)}, a difference of "
        f"{number(one.difference.value, '+.2f')}{ci(one.difference, '+.2f')}"
    )
    address = {
        "view": "queries",
        "a": str(one.run.plan.variant),
        "b": str(one.best.plan.variant),
    }
    test = in_test(TEST, one.difference)
    return findings_of(ENTRY, one, "at finding relevant documents", said, test, address, others)


def _unranked(run: RunRecord) -> list[Finding]:
    """Queries that the file of a ranking lacks."""
    queries, unranked = (int(run.metrics.get(name, 0)) for name in ("queries", "unranked"))
    if not unranked or run.plan.variant.encoder == BM25:
        return []
    of = counted(queries, "query", "queries")
    return [
        finding(
            ENTRY,
            [run],
            kind="unranked",
            level=Level.CAUTION,
            sentence=f"{{A}} ranks no document for {unranked:,} of {of}: they score 0.",
            value=unranked / queries,
            test=f"counted over {of}",
            n=queries,
            severity=clipped(unranked / queries),
            address={"view": "queries", "a": str(run.plan.variant)},
        )
    ]


def _unjudged(run: RunRecord, table: QueryTable) -> list[Finding]:
    own, other = (table.unjudged(Side(run.run_id, is_bm25)).share for is_bm25 in (False, True))
    if own - other < MORE_UNJUDGED:
        return []
    queries = int(run.metrics["queries"])
    return [
        finding(
            ENTRY,
            [run],
            kind="unjudged",
            level=Level.CAUTION,
            sentence=f"Nobody judged {own:.0%} of the documents in {{A}}'s top ten, against {other:.0%} of BM25's: "
            + (
                "they are left out of its scores, which may be too high."
                if JUDGED.value_in(run.plan.params) == CONDENSED
                else "unjudged documents count as irrelevant, so its scores may be too low."
            ),
            value=own,
            test=f"counted over the top ten of {counted(queries, 'query', 'queries')}",
            n=queries,
            severity=clipped(own - other),
            address={"view": "queries", "a": str(run.plan.variant)},
        )
    ]
