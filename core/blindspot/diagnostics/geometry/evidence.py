"""Evidence on geometry: distance of matches, a common direction, hubs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from blindspot.diagnostics.geometry.definition import ENTRY, NEIGHBORS
from blindspot.numerics.statistics.against import change_against, share_against
from blindspot.numerics.statistics.intervals import ALPHA
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.numerics.statistics.written import percent
from blindspot.runs.findings import MOST_EXAMPLES, Compared, Example, Material
from blindspot.runs.findings.baselines import best_rival
from blindspot.runs.findings.evidence import Evidence
from blindspot.runs.findings.parts import Rows, low_coverage, rows_of, together
from blindspot.runs.findings.rule import Rival
from blindspot.store.records import RunRecord
from blindspot.types import Float64, Int64

NEARER = 0.1  # share of the way from random texts to one point that matches should be nearer by, at least
HALF = 0.5  # share of matches that are as far apart as random texts, if they are random texts
FAR = 0.1  # share of matches that may be as far apart as random texts
COMMON = 0.4  # mean cosine of two texts from which on a common direction is worth a warning
SKEWED = 3.0  # skewness of the k-occurrence, likewise


def evidence(material: Material) -> Iterator[Evidence]:
    """See ``Diagnostic.evidence``."""
    yield from low_coverage(material.runs)
    for group in together(material):
        rows = rows_of(ENTRY, group.every, material.repository)
        nearer = {run.run_id: shares for run in group.every if (shares := _nearer_of(run, rows)) is not None}
        lexical = {run.plan.variant.encoder for run in group.baselines}
        baselines = [nearer[run.run_id] for run in group.baselines if run.run_id in nearer]
        for run in group.runs:
            yield from _space(run)
            if run.run_id in nearer:
                rivals = [] if run.plan.variant.encoder in lexical else baselines
                yield from _matches(run, rows, nearer[run.run_id], rivals)


def _space(run: RunRecord) -> Iterator[Evidence]:
    """Facts, counted exactly over the texts of the dataset (a sample of them, for hubs)."""
    m = run.metrics
    texts = int(m["background"])
    if m.get("anisotropy", 0.0) >= COMMON:
        yield Evidence("common-direction", (run,), m["anisotropy"], texts)
    skewness = m.get("hubness_cos_sample", 0.0)
    if skewness >= SKEWED:
        yield Evidence("hubs", (run,), skewness, int(m["sampled_items"]), facts={"neighbors": NEIGHBORS})
    if zeros := int(m.get("zero_vectors", 0)):
        yield Evidence("zero-vectors", (run,), zeros / texts, texts, facts={"zeros": zeros})


def _nearer_of(run: RunRecord, rows: Rows) -> Float64 | None:
    """How much closer together each match is than random texts, as a share, ``[n]``; NaN where a run has no such row.

    None if the run has not stored the numbers for it, or if random texts are all at one point.
    """
    if run.run_id not in rows.values or "anisotropy" not in run.metrics:
        return None
    random = 2 - 2 * run.metrics["anisotropy"]  # of two unit vectors
    return None if random <= 0 else 1 - rows.numbers(run.run_id, "squared_distance") / random


def _matches(run: RunRecord, rows: Rows, every: Float64, rivals: Sequence[Float64]) -> Iterator[Evidence]:
    here = rows.has(run.run_id)
    places = np.flatnonzero(here).astype(np.int64)
    dependence, nearer = Dependence.of_texts(*(rows.about[name][here] for name in ("query", "match"))), every[here]
    others = [rival[here] for rival in rivals if np.isfinite(rival[here]).all()]

    value = float(nearer.mean())
    estimate, p = change_against(value, nearer - value, dependence, NEARER)
    if not np.isnan(p):
        asked = Compared(Rival.ASKED, value - NEARER, p)
        chance = Compared(Rival.CHANCE, value, change_against(value, nearer - value, dependence)[1])
        yield Evidence(
            "matches-nearer",
            (run,),
            estimate,
            estimate.units,
            against=(asked, chance, *best_rival(nearer, others, dependence, most=np.inf)),
            facts={"asked": NEARER},
            examples=_farthest(rows, places, nearer) if asked.behind < ALPHA else (),
        )

    far = (nearer <= 0).astype(np.float64)
    estimate, p = share_against(far, dependence, FAR)
    if not np.isnan(p):
        asked = Compared(Rival.ASKED, FAR - estimate.value, p)
        chance = Compared(Rival.CHANCE, HALF - estimate.value, share_against(far, dependence, HALF)[1])
        farther = [(other <= 0).astype(np.float64) for other in others]
        yield Evidence(
            "matches-far-apart",
            (run,),
            estimate,
            estimate.units,
            against=(asked, chance, *best_rival(far, farther, dependence, sign=-1.0, most=np.inf)),
            facts={"asked": FAR},
            examples=_farthest(rows, places, nearer) if asked.behind < ALPHA else (),
        )


def _farthest(rows: Rows, places: Int64, nearer: Float64) -> tuple[Example, ...]:
    """The matches that are farthest apart; a pair and its reverse appear once."""
    out: dict[frozenset[str], Example] = {}
    for number in np.argsort(nearer, kind="stable")[: 2 * MOST_EXAMPLES]:
        row, share = rows.about.iloc[places[number]], float(nearer[number])
        note = f"{percent(abs(share))} {'nearer' if share >= 0 else 'farther apart'} than random texts"
        out.setdefault(
            frozenset((row["query"], row["match"])), Example((("query", row["query"]), ("match", row["match"])), note)
        )
    return tuple(out.values())[:MOST_EXAMPLES]
