"""Findings on outlier detection and thematic fit: does a model get more cases right than guessing or spelling does?"""

from __future__ import annotations

import numpy as np
import pandas as pd

from blindspot.diagnostics.words import cases
from blindspot.diagnostics.words.cases import CaseKind
from blindspot.diagnostics.words.findings import COVERAGE, LEAST, against_baseline
from blindspot.numerics.statistics.against import share_against
from blindspot.runs.findings import MOST_EXAMPLES, Example, Finding, Level, Material
from blindspot.runs.findings.baselines import against_baselines
from blindspot.runs.findings.parts import Rows, Together, ci, clipped, coverage, finding, lacking, rows_of, together
from blindspot.store.records import RunRecord
from blindspot.texts import counted


def of_cases(material: Material) -> list[Finding]:
    """See ``blindspot.runs.findings.FindingsOf``; all runs are of one of the diagnostics of ``cases.KINDS``."""
    if not material.runs:
        return []
    kind = cases.KINDS[material.runs[0].plan.diagnostic]
    out = coverage(kind.entry, material.runs, COVERAGE)
    for found in together(material):
        out += _of(kind, found, rows_of(kind.entry, found.every, material.repository))
    return out


def _of(kind: CaseKind, found: Together, rows: Rows) -> list[Finding]:
    right = {run.run_id: rows.numbers(run.run_id, "hit") for run in found.every if run.run_id in rows.values}
    out = [one for run in found.runs if run.run_id in right for one in _share(kind, run, rows)]
    here = np.logical_and.reduce([~np.isnan(own) for own in right.values()]) if right else np.zeros(0, dtype=np.bool_)
    if here.any():
        known = kind.dependence(rows.about[kind.group][here].tolist())
        values = {run_id: own[here] for run_id, own in right.items()}
        runs, baselines = ([run for run in some if run.run_id in right] for some in (found.runs, found.baselines))
        for compared in against_baselines(runs, baselines, values, known):
            out += against_baseline(kind.entry, compared, kind.at, "sign flips", kind.address(compared.run))
    return out


def _share(kind: CaseKind, run: RunRecord, rows: Rows) -> list[Finding]:
    """The share of cases that are right, against guessing."""
    own = rows.numbers(run.run_id, "hit")
    here = ~np.isnan(own)
    chance = run.metrics["chance"]
    least = chance + LEAST * (1 - chance)
    found, p = share_against(own[here], kind.dependence(rows.about[kind.group][here].tolist()), least)
    if np.isnan(p):
        return []
    weak = found.value < least
    share, number = f"{'only ' if weak else ''}{found.value:.0%}", counted(int(here.sum()), *kind.cases)
    wrong = np.flatnonzero(np.nan_to_num(own, nan=1.0) == 0)[:MOST_EXAMPLES]
    told = pd.concat([rows.about, rows.values[run.run_id][1].set_index("item_no")], axis=1)
    return [
        finding(
            kind.entry,
            [run],
            address=kind.address(run),
            kind="cases",
            level=Level.BLIND_SPOT if weak else Level.STRENGTH,
            sentence=f"{{A}} {kind.does.format(share, number)}{ci(found.interval, '.0%')}; guessing reaches "
            f"{chance:.0%}.",
            value=found.value,
            interval=found.interval,
            p=p,
            test=f"score test against {least:.0%}, a tenth of the way from guessing to all right, {found.independent}",
            n=found.units,
            severity=clipped(lacking(found.value, chance)),
            examples=tuple(
                Example(kind.texts(told.loc[place]), f"answer: {kind.answer(told.loc[place])}") for place in wrong
            )
            if weak
            else (),
        )
    ]
