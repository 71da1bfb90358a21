"""Evidence on chunking: does a model tell phrases better than spelling does, and for how many words can it?"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from blindspot.diagnostics.words.chunking.answers import answers, as_found, sums_by_chance, sums_of
from blindspot.diagnostics.words.chunking.definition import ENTRY
from blindspot.diagnostics.words.chunking.scoring import dependence_of, difference_of
from blindspot.runs.findings import MOST_EXAMPLES, Compared, Example, Material
from blindspot.runs.findings.baselines import AgainstBaseline, for_choice
from blindspot.runs.findings.evidence import Evidence
from blindspot.runs.findings.parts import LOW_COVERAGE, Together, together
from blindspot.runs.findings.rule import Rival
from blindspot.store.records import RunRecord

WEAK = 0.5  # F1 of noun phrases, in tested sentences with as many of them as FEWEST
FEWEST = 50


def evidence(material: Material) -> Iterator[Evidence]:
    """See ``Diagnostic.evidence``."""
    for run in material.runs:
        yield from _unknown(run)
        yield from _noun_phrases(run, material)
    for group in together(material):
        yield from _against(group, material)


def _unknown(run: RunRecord) -> Iterator[Evidence]:
    """A finding where many tokens have no vector."""
    share, tokens = run.metrics["known_tokens"], int(run.metrics["tokens"])
    if share < LOW_COVERAGE:
        facts = {"is_own": run.plan.own_covered, "unknown": 1 - share}
        yield Evidence("unknown-tokens", (run,), share, tokens, facts=facts)


def _noun_phrases(run: RunRecord, material: Material) -> Iterator[Evidence]:
    """A finding where more noun phrases are wrong than right; counted on these sentences, not tested."""
    value = run.metrics.get("f1@NP")
    if value is not None and value < WEAK and run.metrics["phrases"] >= FEWEST:
        rows = answers([run.run_id], material.repository)[run.run_id]
        yield Evidence("noun-phrases", (run,), value, int(run.metrics["sentences"]), examples=_examples(rows, "NP"))


def _examples(rows: pd.DataFrame, kind: str) -> tuple[Example, ...]:
    """The first sentences with a wrong phrase of a kind."""
    chunked = as_found(rows.head(200))
    wrong = chunked[chunked["kinds"].str.split().map(lambda kinds: kind in kinds)].head(MOST_EXAMPLES)
    return tuple(Example((("phrases", str(row.given)), ("found", str(row.found)))) for row in wrong.itertuples())


def _against(group: Together, material: Material) -> Iterator[Evidence]:
    """Every model against the best of the models that know no meaning, on the same sentences."""
    compared = group.against_best(ENTRY.headline)
    rows = answers([run.run_id for run in group.every], material.repository) if compared else {}
    for run, best in compared:
        if run.run_id not in rows or best.run_id not in rows:
            continue
        sums, dependence = sums_of(rows[run.run_id]), dependence_of(rows[run.run_id]["sentence"])
        difference, p = difference_of(sums, sums_of(rows[best.run_id]), dependence)
        f1, reached = (run_or_best.metrics[ENTRY.headline] for run_or_best in (run, best))
        dealt, p_of_dealt = difference_of(sums, sums_by_chance(rows[run.run_id]), dependence)
        chance = Compared(Rival.CHANCE, dealt.value, p_of_dealt)
        p = for_choice(p, len(group.baselines))
        yield from AgainstBaseline(f1, reached, difference, p, chance, run, best).evidence()
