"""Headline of the Lab: the choice that changes a model's score most, tested, and how many pairs keep their order."""

from __future__ import annotations

import math
from collections.abc import Sequence

from core.datasets.catalog import title_of
from core.diagnostic import find_diagnostic, named_function
from core.errors import InputError
from core.numerics.statistics.intervals import ALPHA
from core.runs.comparison import Difference
from core.store.records import RunRecord
from core.studies.lab.grid import Change, Setting, changes
from core.studies.lab.page.progress import LabView
from core.studies.lab.verdicts import verdicts
from core.texts import counted
from core.ui import headline
from core.ui.markdown import as_text
from core.ui.resources import cached, repository


def show(shown: LabView) -> None:
    """The headline, as far as the grid is computed."""
    said = [*_largest(shown), *_order(shown)]
    headline.show(" ".join(said) or "Compute the grid below to see which choices change the scores and the ranking.")


def _largest(shown: LabView) -> list[str]:
    found = changes(shown.requests, shown.found, shown.readings)
    if not found:
        return []
    most = max(found, key=lambda one: abs(one.gain))
    if not most.gain:
        return [f"None of {counted(len(found), 'change')} of the settings changes a score."]
    reading, run, plain = most.reading, most.run, most.plain
    before, after = plain.metrics[reading.score], run.metrics[reading.score]
    verb = "raises" if after > before else "lowers"
    tested = _tested(run, plain) if reading.score == reading.task.entry.headline else None
    return [
        f"Largest change: **{as_text(_setting(most))}** {verb} {as_text(reading.name)} of "
        f"**{as_text(plain.plan.variant.label)}** on {as_text(title_of(reading.task.dataset))} from {before:.3f} to "
        f"**{after:.3f}** ({sure(tested, len(found))})."
    ]


def _setting(change: Change) -> str:
    setting, plain = change.setting, change.plain_setting
    parts = [part for part, was in ((setting.chain, plain.chain), (setting.metric, plain.metric)) if part != was]
    return " with ".join(parts)


def sure(tested: Difference | None, tried: int) -> str:
    """Interval and test of the change, which is the largest of ``tried`` ones."""
    if tested is None or tested.interval is None:
        why = f": {tested.refusal}" if tested is not None and tested.refusal else ""
        return f"the largest of {tried:,}, not tested{why}" if tried > 1 else f"not tested{why}"
    interval = f"95% CI of the difference {tested.interval.low:+.3f} to {tested.interval.high:+.3f}"
    if tested.p is None:
        return interval
    verdict = "significant" if min(1.0, tested.p * tried) < ALPHA else "not significant"
    among = f" after correction for {tried:,} changes" if tried > 1 else ""
    return f"{interval}; {verdict}{among}"


def _tested(run: RunRecord, plain: RunRecord) -> Difference | None:
    if run.plan.support_digest != plain.plan.support_digest:
        return None
    return _difference(run, plain)


@cached(64, "Testing the largest change …")
def _difference(run: RunRecord, plain: RunRecord) -> Difference | None:
    entry = find_diagnostic(run.plan.diagnostic)
    if not entry.difference:
        return None
    try:
        (found,) = named_function(entry.difference)([(run, plain)], repository())
    except InputError:  # their items do not compare
        return None
    return None if math.isnan(found.value) else found


def _order(shown: LabView) -> list[str]:
    found = verdicts(shown.ranked, shown.decimals)
    if not found or len(shown.ranked.settings) < 2:
        return []
    stable = sum(one.is_stable for one in found)
    settings: Sequence[Setting] = shown.ranked.settings
    computed = counted(len(settings), "computed setting")
    return [f"Pairs of models in the same order under all {computed}: **{stable} of {len(found)}**."]
