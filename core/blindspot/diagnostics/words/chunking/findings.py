"""Findings on chunking: does a model tell phrases better than spelling does, and for how many words can it?"""

from __future__ import annotations

import pandas as pd

from blindspot.diagnostics.words.chunking.answers import address, answers, as_found, sums_by_chance, sums_of
from blindspot.diagnostics.words.chunking.definition import ENTRY
from blindspot.diagnostics.words.chunking.scoring import difference_of
from blindspot.numerics.statistics.written import ci, number
from blindspot.runs.findings import MOST_EXAMPLES, Compared, Example, Finding, Level, Material
from blindspot.runs.findings.baselines import AgainstBaseline, findings_of
from blindspot.runs.findings.parts import LOW_COVERAGE, Together, clipped, finding, together
from blindspot.runs.findings.rule import Rival
from blindspot.store.records import RunRecord

WEAK = 0.5  # F1 of noun phrases, in tested sentences with as many of them as FEWEST
FEWEST = 50


def findings(material: Material) -> list[Finding]:
    """See ``Diagnostic.findings``."""
    out = [one for run in material.runs for one in (*_unknown(run), *_noun_phrases(run, material))]
    for found in together(material):
        out += _against(found, material)
    return out


def _unknown(run: RunRecord) -> list[Finding]:
    """A caution where many tokens have no vector."""
    known, tokens = run.metrics["known_tokens"], int(run.metrics["tokens"])
    if known >= LOW_COVERAGE:
        return []
    whose = "{A} has no vector for" if run.plan.own_support else "Some model it was run with has no vector for"
    return [
        finding(
            ENTRY,
            [run],
            address=address(run),
            kind="unknown-tokens",
            level=Level.CAUTION,
            sentence=f"{whose} {1 - known:.0%} of the {tokens:,} tested tokens: their tags must be told by the "
            "words beside them.",
            value=known,
            test=f"counted over {tokens:,} tokens",
            n=tokens,
            severity=clipped(1 - known),
        )
    ]


def _noun_phrases(run: RunRecord, material: Material) -> list[Finding]:
    """A caution where more noun phrases are wrong than right; counted, on these sentences."""
    value = run.metrics.get("f1@NP")
    if value is None or value >= WEAK or run.metrics["phrases"] < FEWEST:
        return []
    rows = answers([run.run_id], material.repository)[run.run_id]
    return [
        finding(
            ENTRY,
            [run],
            address=address(run),
            kind="noun-phrases",
            level=Level.CAUTION,
            sentence=f"Vectors of {{A}} tell noun phrases badly: F1 {value:.2f} in "
            f"{int(run.metrics['sentences']):,} sentences.",
            value=value,
            test=f"counted over {int(run.metrics['sentences']):,} sentences",
            n=int(run.metrics["sentences"]),
            severity=clipped(1 - value),
            examples=_examples(rows, "NP"),
        )
    ]


def _examples(rows: pd.DataFrame, kind: str) -> tuple[Example, ...]:
    """The first sentences with a wrong phrase of a kind."""
    found = as_found(rows.head(200))
    wrong = found[found["kinds"].str.split().map(lambda kinds: kind in kinds)].head(MOST_EXAMPLES)
    return tuple(Example((("phrases", str(row.given)), ("found", str(row.found)))) for row in wrong.itertuples())


def _against(found: Together, material: Material) -> list[Finding]:
    """Every model against the best of those that know no meaning, on the same sentences."""
    compared = found.against_best(ENTRY.headline)
    rows = answers([run.run_id for run in found.every], material.repository) if compared else {}
    out = []
    for run, best in compared:
        if run.run_id not in rows or best.run_id not in rows:
            continue
        difference, p = difference_of(sums_of(rows[run.run_id]), sums_of(rows[best.run_id]))
        own, reached = (one.metrics[ENTRY.headline] for one in (run, best))
        dealt, p_of_dealt = difference_of(sums_of(rows[run.run_id]), sums_by_chance(rows[run.run_id]))
        chance = Compared(Rival.CHANCE, dealt.value, p_of_dealt)
        against = AgainstBaseline(run, best, own, reached, difference, min(1.0, p * len(found.baselines)), chance)
        said = f"F1 {own:.3f} against {reached:.3f}, difference {number(difference.value, '+.3f')}"
        said += ci(difference, "+.3f")
        test = f"approximate randomization, {difference.independent}"
        out += findings_of(ENTRY, against, "at finding phrases", said, test, address(run))
    return out
