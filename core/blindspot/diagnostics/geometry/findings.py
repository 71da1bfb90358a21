"""Findings on geometry: distance of matches, a common direction, hubs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from blindspot.diagnostics.geometry.definition import ENTRY, NEIGHBORS
from blindspot.numerics.statistics import pairs as statistics
from blindspot.numerics.statistics.against import change_against, share_against
from blindspot.numerics.statistics.intervals import ALPHA
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.numerics.statistics.written import ci, number
from blindspot.runs.findings import MOST_EXAMPLES, Compared, Example, Finding, Level, Material
from blindspot.runs.findings.parts import (
    Rows,
    clipped,
    coverage,
    finding,
    graded,
    in_test,
    less_than_asked,
    rows_of,
    together,
)
from blindspot.runs.findings.rule import Rival
from blindspot.store.records import RunRecord
from blindspot.texts import counted
from blindspot.types import Float64, Int64

NEARER = 0.1  # share of the way from random texts to one point that matches should be nearer by, at least
HALF = 0.5  # of matches are as far apart as random texts, if they are random texts
FAR = 0.1  # share of matches that may be as far apart as random texts
COMMON = 0.4  # mean cosine of two texts from which on a common direction is worth a warning
SKEWED = 3.0  # skewness of the k-occurrence, likewise


def findings(material: Material) -> list[Finding]:
    """See ``Diagnostic.findings``."""
    out = coverage(ENTRY, material.runs)
    for found in together(material):
        rows = rows_of(ENTRY, found.every, material.repository)
        nearer = {run.run_id: of_it for run in found.every if (of_it := _nearer_of(run, rows)) is not None}
        lexical = {run.plan.variant.encoder for run in found.baselines}
        known = [nearer[run.run_id] for run in found.baselines if run.run_id in nearer]
        for run in found.runs:
            out += _space(run)
            if run.run_id in nearer:
                rivals = [] if run.plan.variant.encoder in lexical else known
                out += _matches(run, rows, nearer[run.run_id], rivals)
    return out


def _space(run: RunRecord) -> list[Finding]:
    """Facts, counted exactly over the texts of the dataset (a sample of them, for hubs)."""
    m = run.metrics
    texts = int(m["background"])
    out = []
    if m.get("anisotropy", 0.0) >= COMMON:
        out.append(
            finding(
                ENTRY,
                [run],
                kind="common-direction",
                level=Level.CAUTION,
                sentence=f"{{A}} crowds all texts into one direction: two random texts have a "
                f"cosine of {number(m['anisotropy'])} on average.",
                value=m["anisotropy"],
                test=f"computed over all pairs of {counted(texts, 'text')}",
                n=texts,
                severity=clipped(m["anisotropy"]),
            )
        )
    skewness = m.get("hubness_cos_sample", 0.0)
    if skewness >= SKEWED:
        sampled = int(m["sampled_items"])
        out.append(
            finding(
                ENTRY,
                [run],
                kind="hubs",
                level=Level.CAUTION,
                sentence=f"{{A}} has hubs: a few texts are among the {NEIGHBORS} nearest of very many others "
                f"(skewness {number(skewness, '.1f')}; 0 means no hubs).",
                value=skewness,
                test=f"counted over {counted(sampled, 'text')}",
                n=sampled,
                severity=clipped(1 - 1 / skewness),
                page="frequency",
                address={"view": "hubs", "hubs_of": str(run.plan.variant)},
            )
        )
    if zeros := int(m.get("zero_vectors", 0)):
        out.append(
            finding(
                ENTRY,
                [run],
                kind="zero-vectors",
                level=Level.CAUTION,
                sentence=f"{{A}} gives {zeros:,} of {counted(texts, 'text')} a vector of zeros, which is similar "
                "to nothing.",
                value=zeros / texts,
                test=f"counted over {counted(texts, 'text')}",
                n=texts,
                severity=clipped(zeros / texts),
            )
        )
    return out


def _nearer_of(run: RunRecord, rows: Rows) -> Float64 | None:
    """How much closer together each match is than random texts, as a share, ``[n]``; NaN where a run has no such row.

    None if the run does not say it, or if random texts are all at one point.
    """
    if run.run_id not in rows.values or "anisotropy" not in run.metrics:
        return None
    random = 2 - 2 * run.metrics["anisotropy"]  # of two unit vectors
    return None if random <= 0 else 1 - rows.numbers(run.run_id, "squared_distance") / random


def _matches(run: RunRecord, rows: Rows, every: Float64, rivals: Sequence[Float64]) -> list[Finding]:
    here = rows.has(run.run_id)
    places = np.flatnonzero(here).astype(np.int64)
    ends = (rows.about[f"{name}_no"].to_numpy(np.float64)[here].astype(np.int64) for name in ("query", "match"))
    known, nearer, others = Dependence.of(*ends), every[here], [one[here] for one in rivals]
    return [*_nearer(run, rows, places, nearer, known, others), *_far(run, rows, places, nearer, known, others)]


def _best(own: Float64, others: Sequence[Float64], known: Dependence, *, more: bool) -> list[Compared]:
    """The best baseline by its mean over the matches, of which ``more`` is better or worse; nothing without one."""
    whole = [other for other in others if np.isfinite(other).all()]
    if not whole:
        return []
    sign = 1.0 if more else -1.0
    apart = sign * (own - max(whole, key=lambda other: sign * float(other.mean())))
    p = float(statistics.p_values(apart[:, np.newaxis], known, np.inf)[0])
    return [Compared(Rival.BASELINE, float(apart.mean()), min(1.0, p * len(whole)))]


def _nearer(
    run: RunRecord, rows: Rows, places: Int64, nearer: Float64, known: Dependence, others: Sequence[Float64]
) -> list[Finding]:
    value = float(nearer.mean())
    found, p = change_against(value, nearer - value, known, NEARER)
    if np.isnan(p):
        return []
    weak = value < NEARER
    if weak:
        sentence = f"{{A}} puts matches hardly closer together than random texts: {value:.0%} closer on average"
    else:
        sentence = f"{{A}} puts matches {value:.0%} closer together than random texts"
    chance = Compared(Rival.CHANCE, value, change_against(value, nearer - value, known)[1])
    return graded(
        ENTRY,
        [run],
        Compared(Rival.ASKED, value - NEARER, p),
        [chance, *_best(nearer, others, known, more=True)],
        kind="matches-nearer",
        sentence=f"{sentence.replace('-', '−')}{ci(found, '.0%')}, by squared distance.",
        found=found,
        test=in_test(f"t test against {NEARER:.0%}", found),
        n=found.units,
        severity=clipped(1 - value),
        examples=_farthest(rows, places, nearer) if weak and p < ALPHA else (),
    )


def _far(
    run: RunRecord, rows: Rows, places: Int64, nearer: Float64, known: Dependence, others: Sequence[Float64]
) -> list[Finding]:
    far = (nearer <= 0).astype(np.float64)
    found, p = share_against(far, known, FAR)
    if np.isnan(p):
        return []
    asked = Compared(Rival.ASKED, FAR - found.value, p)
    chance = Compared(Rival.CHANCE, HALF - found.value, share_against(far, known, HALF)[1])
    rivals = [np.where(np.isnan(other), np.nan, other <= 0) for other in others]
    return less_than_asked(
        ENTRY,
        [run],
        asked,
        [chance, *_best(far, rivals, known, more=False)],
        kind="matches-far-apart",
        sentence=f"{{A}} puts {found.value:.0%} of the matches as far apart as two random texts, or farther"
        f"{ci(found, '.0%')}.",
        found=found,
        test=in_test(f"score test against {FAR:.0%}", found),
        n=found.units,
        severity=clipped(found.value),
        examples=_farthest(rows, places, nearer) if asked.behind < ALPHA else (),
    )


def _farthest(rows: Rows, places: Int64, nearer: Float64) -> tuple[Example, ...]:
    """The matches that are farthest apart; of a pair and its reverse one."""
    out: dict[frozenset[str], Example] = {}
    for place in np.argsort(nearer, kind="stable")[: 2 * MOST_EXAMPLES]:
        row, share = rows.about.iloc[places[place]], float(nearer[place])
        note = f"{abs(share):.0%} {'nearer' if share >= 0 else 'farther apart'} than random texts"
        out.setdefault(
            frozenset((row["query"], row["match"])), Example((("query", row["query"]), ("match", row["match"])), note)
        )
    return tuple(out.values())[:MOST_EXAMPLES]
