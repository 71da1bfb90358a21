"""Evidence on outlier detection and thematic fit: does a model get more cases right than guessing or spelling does?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from blindspot.diagnostics.words import cases
from blindspot.diagnostics.words.cases import CaseKind
from blindspot.diagnostics.words.evidence import LEAST, against_baseline
from blindspot.numerics.statistics.against import share_against
from blindspot.runs.findings import MOST_EXAMPLES, Compared, Example, Material
from blindspot.runs.findings.baselines import AgainstBaseline, against_baselines, share_and_chance
from blindspot.runs.findings.evidence import Evidence
from blindspot.runs.findings.parts import Rows, Together, low_coverage, rows_of, together
from blindspot.runs.findings.rule import Rival
from blindspot.store.records import RunRecord


def of_cases(material: Material) -> Iterator[Evidence]:
    """See ``Diagnostic.evidence``; all runs are of one of the diagnostics of ``cases.KINDS``."""
    if not material.runs:
        return
    kind = cases.KINDS[material.runs[0].plan.diagnostic]
    yield from low_coverage(material.runs)
    for group in together(material):
        yield from _of(kind, group, rows_of(kind.entry, group.every, material.repository))


def _of(kind: CaseKind, group: Together, rows: Rows) -> Iterator[Evidence]:
    right = {run.run_id: rows.numbers(run.run_id, "hit") for run in group.every if run.run_id in rows.values}
    compared: list[AgainstBaseline] = []
    here = np.logical_and.reduce([~np.isnan(hits) for hits in right.values()]) if right else np.zeros(0, dtype=np.bool_)
    if here.any():
        dependence = kind.dependence(rows.about[here])
        values = {run_id: hits[here] for run_id, hits in right.items()}
        runs, baselines = ([run for run in some if run.run_id in right] for some in (group.runs, group.baselines))
        chance = group.runs[0].metrics["chance"]
        compared = [
            replace(comparison, difference=kind.named(comparison.difference))
            for comparison in against_baselines(runs, baselines, values, dependence, chance)
        ]
    rivals = {comparison.run.run_id: comparison.compared for comparison in compared}
    for run in group.runs:
        if run.run_id in right:
            yield from _share(kind, run, rows, rivals.get(run.run_id))
    for comparison in compared:
        yield from against_baseline(comparison)


def _share(kind: CaseKind, run: RunRecord, rows: Rows, baseline: Compared | None) -> Iterator[Evidence]:
    """The share of cases that are right, against guessing and the best baseline."""
    hits = rows.numbers(run.run_id, "hit")
    here = ~np.isnan(hits)
    chance = run.metrics["chance"]
    least = chance + LEAST * (1 - chance)
    dependence = kind.dependence(rows.about[here])
    estimate, p = share_against(hits[here], dependence, least)
    if np.isnan(p):
        return
    estimate = kind.named(estimate)
    wrong = np.flatnonzero(np.nan_to_num(hits, nan=1.0) == 0)[:MOST_EXAMPLES]
    told = pd.concat([rows.about, rows.values[run.run_id][1].set_index("item_no")], axis=1)
    asked = Compared(Rival.ASKED, estimate.value - least, p)
    yield Evidence(
        "cases",
        (run,),
        estimate,
        estimate.units,
        against=(asked, share_and_chance(hits[here], dependence, chance), *([baseline] if baseline else [])),
        facts={"cases": int(here.sum()), "chance": chance, "least": least},
        examples=tuple(Example(kind.texts(told.loc[case]), f"answer: {kind.answer(told.loc[case])}") for case in wrong),
    )
