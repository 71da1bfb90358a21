"""Findings on outlier detection and thematic fit: does a model get more cases right than guessing or spelling does?"""

from __future__ import annotations

import numpy as np
import pandas as pd

from blindspot.diagnostics.words import cases
from blindspot.diagnostics.words.cases import CaseKind
from blindspot.diagnostics.words.findings import COVERAGE, LEAST, against_baseline
from blindspot.numerics.statistics.against import share_against
from blindspot.numerics.statistics.written import ci
from blindspot.runs.findings import MOST_EXAMPLES, Compared, Example, Finding, Material
from blindspot.runs.findings.baselines import AgainstBaseline, against_baselines, share_and_chance
from blindspot.runs.findings.parts import Rows, Together, clipped, coverage, graded, lacking, rows_of, together
from blindspot.runs.findings.rule import Rival
from blindspot.store.records import RunRecord
from blindspot.texts import counted


def of_cases(material: Material) -> list[Finding]:
    """See ``Diagnostic.findings``; all runs are of one of the diagnostics of ``cases.KINDS``."""
    if not material.runs:
        return []
    kind = cases.KINDS[material.runs[0].plan.diagnostic]
    out = coverage(kind.entry, material.runs, COVERAGE)
    for found in together(material):
        out += _of(kind, found, rows_of(kind.entry, found.every, material.repository))
    return out


def _of(kind: CaseKind, found: Together, rows: Rows) -> list[Finding]:
    right = {run.run_id: rows.numbers(run.run_id, "hit") for run in found.every if run.run_id in rows.values}
    compared: list[AgainstBaseline] = []
    here = np.logical_and.reduce([~np.isnan(own) for own in right.values()]) if right else np.zeros(0, dtype=np.bool_)
    if here.any():
        known = kind.dependence(rows.about[kind.group][here].tolist())
        values = {run_id: own[here] for run_id, own in right.items()}
        runs, baselines = ([run for run in some if run.run_id in right] for some in (found.runs, found.baselines))
        chance = found.runs[0].metrics["chance"]
        compared = against_baselines(runs, baselines, values, known, chance)
    rivals = {one.run.run_id: one.compared for one in compared}
    own = [run for run in found.runs if run.run_id in right]
    out = [one for run in own for one in _share(kind, run, rows, rivals.get(run.run_id))]
    for one in compared:
        out += against_baseline(kind.entry, one, kind.at, "sign flips", kind.address(one.run))
    return out


def _share(kind: CaseKind, run: RunRecord, rows: Rows, baseline: Compared | None) -> list[Finding]:
    """The share of cases that are right, against guessing and the best baseline."""
    own = rows.numbers(run.run_id, "hit")
    here = ~np.isnan(own)
    chance = run.metrics["chance"]
    least = chance + LEAST * (1 - chance)
    known = kind.dependence(rows.about[kind.group][here].tolist())
    found, p = share_against(own[here], known, least)
    if np.isnan(p):
        return []
    weak = found.value < least
    share, number = f"{'only ' if weak else ''}{found.value:.0%}", counted(int(here.sum()), *kind.cases)
    wrong = np.flatnonzero(np.nan_to_num(own, nan=1.0) == 0)[:MOST_EXAMPLES]
    told = pd.concat([rows.about, rows.values[run.run_id][1].set_index("item_no")], axis=1)
    return graded(
        kind.entry,
        [run],
        Compared(Rival.ASKED, found.value - least, p),
        [share_and_chance(own[here], known, chance), *([baseline] if baseline else [])],
        address=kind.address(run),
        kind="cases",
        sentence=f"{{A}} {kind.does.format(share, number)}{ci(found, '.0%')}; guessing reaches {chance:.0%}.",
        found=found,
        test=f"score test against {least:.0%}, a tenth of the way from guessing to all right, {found.independent}",
        n=found.units,
        severity=clipped(lacking(found.value, chance)),
        examples=tuple(
            Example(kind.texts(told.loc[place]), f"answer: {kind.answer(told.loc[place])}") for place in wrong
        ),
    )
