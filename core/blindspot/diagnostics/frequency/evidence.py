"""Evidence on frequency: how much of a space is about how often a word is used.

In a space of meaning alone, a classifier cannot tell frequent words from rare ones. If it can at all, that is a
caution; if it gets more than halfway from chance to certainty, a blind spot: the space is mostly about frequency.
"""

from __future__ import annotations

from collections.abc import Iterator

from blindspot.diagnostics.frequency.classes import mean_estimate
from blindspot.diagnostics.frequency.corpus_ranks import POWER_LAW
from blindspot.diagnostics.frequency.definition import HUB_K
from blindspot.numerics.statistics.against import stored_against
from blindspot.numerics.statistics.association import FEWEST_FOR_INTERVAL, rank_correlation_against, rank_interval
from blindspot.numerics.statistics.estimate import Measured
from blindspot.runs.findings import Material
from blindspot.runs.findings.evidence import Evidence
from blindspot.runs.findings.parts import low_coverage, one_way
from blindspot.runs.findings.rule import by_chance
from blindspot.store.records import RunRecord

CHANCE, HALFWAY = 0.5, 0.75
CERTAIN = 0.005  # p of the blind spot: below this the caution is left out, since it would say the same
BENT = 0.05  # exponent of the neighbors' corpus ranks below which they are level
LEAST = 0.2  # rank correlation with frequency: less is worth no warning


def evidence(material: Material) -> Iterator[Evidence]:
    """See ``Diagnostic.evidence``."""
    yield from low_coverage(material.runs)
    for run in material.runs:
        yield from _readable(run)
        yield from _neighbors(run)
        yield from _correlated(run, "length", "length-by-frequency")
        yield from _correlated(run, "hub", "hubs-by-frequency")


def _readable(run: RunRecord) -> Iterator[Evidence]:
    """Findings from the mean accuracy over the thresholds."""
    m = run.metrics
    accuracy = mean_estimate(m["accuracy"], int(m["words_per_class"]))
    value, words, ends = accuracy.value, accuracy.units, accuracy.interval
    if ends is None:
        return
    facts = {"thresholds": sum(name.startswith("accuracy@") and not name.endswith("_sd") for name in m)}
    half = by_chance(HALFWAY - value, stored_against(value, ends, HALFWAY))
    yield Evidence("frequency-dominates", (run,), accuracy, words, against=half, facts=facts | {"null": HALFWAY})
    if half[0].behind >= CERTAIN:
        p = one_way(stored_against(value, ends, CHANCE), is_news=value > CHANCE)
        yield Evidence("frequency-readable", (run,), accuracy, words, p, facts=facts | {"null": CHANCE})


def _neighbors(run: RunRecord) -> Iterator[Evidence]:
    m = run.metrics
    if "neighbor_exponent" not in m:
        return
    bend, fit, null = m["neighbor_exponent"], m["neighbor_r2"], m["neighbor_r2_null"]
    if abs(bend) >= BENT and fit >= POWER_LAW > null:
        facts = {"is_up": bend > 0, "fit": fit, "null": null}
        yield Evidence("neighbors-by-frequency", (run,), bend, int(m["query_words"]), facts=facts)


def _correlated(run: RunRecord, what: str, kind: str) -> Iterator[Evidence]:
    """A rank correlation with frequency, tested against ``LEAST`` on its side of 0."""
    if f"{what}_rho" not in run.metrics:
        return
    rho, words = run.metrics[f"{what}_rho"], int(run.metrics[f"{what}_words"])
    if words < FEWEST_FOR_INTERVAL or abs(rho) >= 1:
        return
    p = rank_correlation_against(rho, words, LEAST if rho > 0 else -LEAST)
    value = Measured(rho, rank_interval(rho, words))
    facts = {"is_up": rho > 0, "least": LEAST, "neighbors": HUB_K}
    yield Evidence(kind, (run,), value, words, one_way(p, is_news=abs(rho) > LEAST), facts=facts)
