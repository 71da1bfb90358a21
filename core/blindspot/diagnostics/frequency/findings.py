"""Findings on frequency: how much of a space is about how often a word is used.

Meaning demands that a classifier cannot tell frequent words from rare ones. Telling them at all is a caution; telling
them more than halfway from chance to certainty is a blind spot: then the space is more about frequency than not.
"""

from __future__ import annotations

import math

from blindspot.diagnostics.frequency.classes import mean_estimate
from blindspot.diagnostics.frequency.corpus_ranks import POWER_LAW
from blindspot.diagnostics.frequency.definition import ENTRY, HUB_K
from blindspot.numerics.statistics.against import stored_against
from blindspot.numerics.statistics.association import FEWEST_FOR_INTERVAL, rank_correlation_against, rank_interval
from blindspot.numerics.statistics.written import ci, number
from blindspot.runs.findings import Finding, Level, Material
from blindspot.runs.findings.parts import clipped, coverage, finding, one_way
from blindspot.runs.findings.rule import by_chance
from blindspot.store.records import RunRecord
from blindspot.texts import counted

CHANCE, HALFWAY = 0.5, 0.75
CERTAIN = 0.005  # p of the blind spot: with it nobody needs the caution, which would say the same
BENT = 0.05  # exponent of the neighbors' corpus ranks below which they are level
LEAST = 0.2  # rank correlation with frequency: less is worth no warning


def findings(material: Material) -> list[Finding]:
    """See ``Diagnostic.findings``."""
    out = coverage(ENTRY, material.runs)
    for run in material.runs:
        out += [*_readable(run), *_neighbors(run), *_lengths(run), *_hubs(run)]
    return out


def _readable(run: RunRecord) -> list[Finding]:
    """The mean over the thresholds."""
    m = run.metrics
    accuracy = mean_estimate(m["accuracy"], int(m["words_per_class"]))
    value, words = accuracy.value, accuracy.units
    thresholds = sum(name.startswith("accuracy@") and not name.endswith("_sd") for name in m)
    over = f" on average over {counted(thresholds, 'threshold')}" if thresholds else " on average over the thresholds"
    out: list[Finding] = []
    for null, kind, level in (
        (HALFWAY, "frequency-dominates", Level.BLIND_SPOT),
        (CHANCE, "frequency-readable", Level.CAUTION),
    ):
        if out and out[0].p is not None and out[0].p < CERTAIN:
            break
        p = math.nan if accuracy.interval is None else stored_against(value, accuracy.interval, null)
        said = "easily tells" if null == HALFWAY else "tells"
        out.append(
            finding(
                ENTRY,
                [run],
                kind=kind,
                level=level,
                sentence=f"A linear classifier {said} frequent words from rare ones by {{A}}'s vectors alone: "
                f"{value:.0%} right{over}{ci(accuracy, '.0%')}, where 50% is chance.",
                found=accuracy,
                **(
                    {"against": by_chance(null - value, p)}
                    if level is Level.BLIND_SPOT
                    else {"p": one_way(p, is_news=value > null)}
                ),
                test=f"score test against {null:.0%} over the {words:,} held-out words of one draw; the mean is surer",
                n=words,
                severity=clipped((value - CHANCE) / (1 - CHANCE)),
                address={"view": "classifier"},
            )
        )
    return out


def _neighbors(run: RunRecord) -> list[Finding]:
    m = run.metrics
    if "neighbor_exponent" not in m:
        return []
    bend, fit, null = m["neighbor_exponent"], m["neighbor_r2"], m["neighbor_r2_null"]
    if not (abs(bend) >= BENT and fit >= POWER_LAW > null):
        return []
    words = int(m["query_words"])
    who = "frequent" if bend > 0 else "rare"
    return [
        finding(
            ENTRY,
            [run],
            kind="neighbors-by-frequency",
            level=Level.CAUTION,
            sentence=f"{{A}} puts {who} words nearest, whatever the query: the mean corpus rank of the k-th neighbor "
            f"{'grows' if bend > 0 else 'falls'} as k to the power {number(bend)} (R² {fit:.2f}; {null:.2f} for "
            "random neighbors).",
            value=bend,
            test=f"fitted to the neighbors of {words:,} words",
            n=words,
            severity=clipped(abs(bend)),
            address={"view": "neighbors"},
        )
    ]


def _lengths(run: RunRecord) -> list[Finding]:
    m = run.metrics
    if "length_rho" not in m:
        return []
    who = "frequent" if m["length_rho"] > 0 else "rare"
    return _correlated(
        run,
        m["length_rho"],
        int(m["length_words"]),
        kind="length-by-frequency",
        said=f"{{A}} gives {who} words longer vectors",
        means=f"Dot products and averages of vectors favor {who} words.",
        address={"view": "norms"},
    )


def _hubs(run: RunRecord) -> list[Finding]:
    m = run.metrics
    if "hub_rho" not in m:
        return []
    return _correlated(
        run,
        m["hub_rho"],
        int(m["hub_words"]),
        kind="hubs-by-frequency",
        said=f"{{A}} has hubs that tend to be {'frequent' if m['hub_rho'] > 0 else 'rare'} words",
        means=f"A hub is among the {HUB_K} nearest neighbors of many words.",
        address={"view": "hubs", "hubs_of": str(run.plan.variant)},
    )


def _correlated(
    run: RunRecord, rho: float, words: int, *, kind: str, said: str, means: str, address: dict[str, str]
) -> list[Finding]:
    """A rank correlation with frequency, tested against ``LEAST`` on its side of 0."""
    if words < FEWEST_FOR_INTERVAL or abs(rho) >= 1:
        return []
    interval = rank_interval(rho, words)
    p = rank_correlation_against(rho, words, LEAST if rho > 0 else -LEAST)
    return [
        finding(
            ENTRY,
            [run],
            kind=kind,
            level=Level.CAUTION,
            sentence=f"{said}: Spearman's ρ with frequency is {number(rho)}{ci(interval)}. {means}",
            value=rho,
            interval=interval,
            p=one_way(p, is_news=abs(rho) > LEAST),
            test=f"Fisher's z of the rank correlation against {LEAST} over {words:,} words",
            n=words,
            severity=clipped(abs(rho)),
            address=address,
        )
    ]
