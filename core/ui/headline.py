"""Headline of a diagnostic's page: the baseline's score with its interval, and how the other models compare."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

from blindspot.diagnostic import DiagnosticEntry, named_function
from blindspot.errors import InputError
from blindspot.numerics.statistics.intervals import ALPHA, Interval, holm
from blindspot.runs.comparison import Difference
from blindspot.runs.findings.parts import number
from blindspot.store.records import RunRecord
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import cached, repository

NAMED = 3  # other models; of more only counts


@dataclass(frozen=True)
class Rival:
    """Another model's score beside the baseline's.

    Attributes:
        score: as the sentence has it.
        p: corrected after Holm over all rivals; None where there is no test.
        apart: the interval of the difference, which says what "no significant difference" leaves open; "" for none.
    """

    label: str
    score: str
    is_more: bool
    p: float | None
    apart: str = ""


def difference_in_words(interval: Interval | None, form: str) -> str:
    """An interval of a difference, for ``Rival.apart``; ``form`` formats a score."""
    if interval is None:
        return ""
    low, high = (number(end, f"+{form}") for end in (interval.low, interval.high))
    return f"95% CI of the difference {low} to {high}"


def baseline_first(runs: Sequence[RunRecord], baseline: object) -> list[RunRecord]:
    """The runs, that of the picked baseline first; without one, as they are."""
    return sorted(runs, key=lambda run: run.plan.variant != baseline)


def corrected(p: Sequence[float | None]) -> list[float | None]:
    """p-values after Holm; all None where one is."""
    known = [value for value in p if value is not None]
    return [float(value) for value in holm(np.array(known))] if known and len(known) == len(p) else [None] * len(p)


def in_words(said: str, rivals: Sequence[Rival], more: str, less: str) -> str:
    """The sentence, as Markdown.

    Args:
        said: of the baseline, without a full stop.
        more, less: what significantly more and less of the score is called, as in "more pairs".
    """
    verdicts = [_verdict(rival, more, less) for rival in rivals]
    if len(rivals) == 1:
        return f"{said}; {_named(rivals[0])}, {verdicts[0]}."
    groups = {verdict: [r for r, own in zip(rivals, verdicts, strict=True) if own == verdict] for verdict in verdicts}
    if len(rivals) > NAMED:
        counts = ", ".join(f"{len(own):,} {verdict}" for verdict, own in groups.items())
        return f"{said}. Of {len(rivals):,} other models: {counts}."
    return ". ".join([said, *(f"{v.capitalize()}: {', '.join(map(_named, own))}" for v, own in groups.items())]) + "."


_NONE, _UNTESTED = "no significant difference", "not tested"


def _verdict(rival: Rival, more: str, less: str) -> str:
    if rival.p is None:
        return _UNTESTED
    return _NONE if rival.p >= ALPHA else f"significantly {more if rival.is_more else less}"


def _named(rival: Rival) -> str:
    is_open = rival.apart and rival.p is not None and rival.p >= ALPHA
    return f"**{as_text(rival.label)}** {rival.score}{f' ({rival.apart})' if is_open else ''}"


@cached(64, "Comparing with the baseline …")
def differences(entry: DiagnosticEntry, runs: Sequence[RunRecord]) -> tuple[Difference, ...] | None:
    """Each later run less the first one, by the diagnostic's own test; None where their items do not compare."""
    first, *others = runs
    try:
        return tuple(named_function(entry.difference)([(other, first) for other in others], repository()))
    except InputError:  # ranked or scored on different items: the page says so below
        return None


def rivals(entry: DiagnosticEntry, runs: Sequence[RunRecord], form: str) -> list[Rival]:
    """What ``in_words`` needs of all runs but the first; ``form`` formats a score."""
    found = differences(entry, tuple(runs)) if len(runs) > 1 else None
    p = corrected([one.p for one in found or ()])
    return [
        Rival(
            run.plan.variant.label,
            format(one.a, form).replace("-", "−"),
            one.value > 0,
            value,
            difference_in_words(one.interval, form),
        )
        for run, one, value in zip(runs[1:], found or (), p, strict=False)
        if math.isfinite(one.a)
    ]


def in_percent(interval: Interval) -> str:
    """``46.0 to 55.5%``."""
    return f"{100 * interval.low:.1f} to {100 * interval.high:.1f}%"


def show(sentence: str) -> None:
    """Draw the headline."""
    with st.container(key="headline"):
        st.markdown(sentence)
