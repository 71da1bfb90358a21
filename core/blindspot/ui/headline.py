"""Headline of a diagnostic's page: the score of one model with its interval, and how the others compare."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from blindspot.diagnostic import Diagnostic, find_diagnostic
from blindspot.errors import InputError
from blindspot.numerics.statistics.compare import PairedTest, Verdict
from blindspot.numerics.statistics.estimate import Estimate, Measured
from blindspot.numerics.statistics.intervals import ALPHA
from blindspot.numerics.statistics.written import DIFFERENCE, ci, ci_in_words, number
from blindspot.runs.comparison import paired_tests
from blindspot.runs.default_models import to_deploy
from blindspot.store.records import RunRecord
from blindspot.ui.markdown import as_text
from blindspot.ui.pickers import Picks
from blindspot.ui.resources import cached, repository

NAMED = 3  # other models; of more only counts


@dataclass(frozen=True)
class Rival:
    """Another model's score beside the baseline's.

    Attributes:
        score: as the sentence writes it.
        test: its score less the baseline's; None where the two do not compare.
        apart: the interval of the difference, from the baseline's side as the sentence is, which says what "no
            significant difference" leaves open; "" for none.
    """

    label: str
    score: str
    test: PairedTest | None
    apart: str = ""


def subject_first(runs: Sequence[RunRecord], picks: Picks) -> list[RunRecord]:
    """The runs, with that of the model that sentences are about in front."""
    subject = picks.subject_first(run.plan.variant for run in runs)[:1]
    return sorted(runs, key=lambda run: run.plan.variant not in subject)


def in_words(text: str, rivals: Sequence[Rival], more: str, less: str) -> str:
    """The sentence, as Markdown.

    Args:
        text: what the sentence says of the baseline, without a full stop.
        more, less: the words for a significantly higher and lower score, as in "more pairs".
    """
    verdicts = [_verdict(rival, more, less) for rival in rivals]
    if len(rivals) == 1:
        return f"{text}; {_named(rivals[0])}, {verdicts[0]}."
    groups = {
        verdict: [r for r, judgment in zip(rivals, verdicts, strict=True) if judgment == verdict]
        for verdict in verdicts
    }
    if len(rivals) > NAMED:
        counts = ", ".join(f"{len(members):,} {verdict}" for verdict, members in groups.items())
        return f"{text}. Of {len(rivals):,} other models: {counts}."
    return (
        ". ".join([text, *(f"{v.capitalize()}: {', '.join(map(_named, members))}" for v, members in groups.items())])
        + "."
    )


def _verdict(rival: Rival, more: str, less: str) -> str:
    """The words for what the test decides; a higher score need not be better."""
    if rival.test is None or rival.test.p_corrected is None:
        return str(Verdict.UNTESTED)
    if rival.test.p_corrected >= ALPHA:
        return str(Verdict.ALIKE)
    return f"significantly {more if rival.test.value > 0 else less}"


def _named(rival: Rival) -> str:
    p = None if rival.test is None else rival.test.p_corrected
    is_open = rival.apart and p is not None and p >= ALPHA
    return f"**{as_text(rival.label)}** {rival.score}{f' ({rival.apart})' if is_open else ''}"


@cached(256)
def score_of(run: RunRecord, name: str) -> Measured:
    """A run's score over its items, with its interval or the reason why there is none; without both where a diagnostic
    has no such score by item."""
    (scores,) = find_diagnostic(run.plan.diagnostic).item_scores([run], repository())
    return scores[name].estimate if name in scores else Measured(run.metrics[name], None)


def sure(estimate: Measured, spec: str, more: str = "") -> str:
    """The interval of a headline's score, in brackets; where there is none, why: a number alone says too much."""
    why = estimate.refusal if isinstance(estimate, Estimate) else "it is not a mean over items"
    return ci(estimate, spec, more=more) or f" (no interval: {why})"


@cached(64, "Comparing with the baseline …")
def against_first(entry: Diagnostic, runs: Sequence[RunRecord], family: str) -> list[tuple[PairedTest, ...]] | None:
    """Each later run against the first one; None where their items do not compare."""
    first, *others = runs
    try:
        return paired_tests(entry, [(other, first) for other in others], repository(), family)
    except InputError:  # ranked or scored on different items: the page says so below
        return None


def rivals(entry: Diagnostic, runs: Sequence[RunRecord], form: str, score: str = "", family: str = "") -> list[Rival]:
    """What ``in_words`` needs to know of the runs but the first: of those ``to_deploy`` where there are any.

    Args:
        form: how a score is written.
        score: the family's headline score if left out.
    """
    comparisons = against_first(entry, tuple(runs), family) if len(runs) > 1 else None
    chosen = [next((test for test in tests if test.score == score), tests[0]) for tests in comparisons or ()]
    told = [(run, test) for run, test in zip(runs[1:], chosen, strict=False) if math.isfinite(test.a)]
    named = to_deploy(run for run, _ in told)
    return [
        Rival(run.plan.variant.label, number(test.a, form), test, ci_in_words(test.turned, f"+{form}", of=DIFFERENCE))
        for run, test in told
        if run in named
    ]


def show(sentence: str) -> None:
    """Draw the headline."""
    with st.container(key="headline"):
        st.markdown(sentence)
