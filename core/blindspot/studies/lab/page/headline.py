"""Headline of the Lab: the largest change of every score, tested, and how many pairs of models keep their order."""

from __future__ import annotations

from blindspot.datasets.catalog import title_of
from blindspot.numerics.statistics.compare import PairedTest
from blindspot.numerics.statistics.written import score_written
from blindspot.runs.comparison import headline_test
from blindspot.store.records import RunRecord
from blindspot.studies.lab.grid import Change, changes
from blindspot.studies.lab.orders import orders
from blindspot.studies.lab.page.progress import LabView
from blindspot.studies.lab.series import is_significant, sure
from blindspot.texts import counted
from blindspot.ui import headline
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import cached, repository


def show(shown: LabView) -> None:
    """The headline, as far as the grid is computed."""
    sentences = [part for part in (_largest(shown), _order(shown)) if part]
    headline.show(
        "\n\n".join(sentences) or "Compute the grid below to see which choices change the scores and the ranking."
    )


def _largest(shown: LabView) -> str:
    """How many scores change significantly, and the largest change of each."""
    effects = changes(shown.requests, shown.found, shown.measures)
    if not effects:
        return ""
    so_far = f"{len(shown.found):,} of {shown.possible:,} runs computed"
    of_each = [
        max((change for change in effects if change.measure == measure), key=lambda change: abs(change.gain))
        for measure in dict.fromkeys(change.measure for change in effects)
    ]
    tested = [_tested(change, len(effects)) for change in of_each]
    scores = counted(len(of_each), "score")
    significant = sum(is_significant(test, len(effects)) for test in tested)
    if all(test is None or test.p is None for test in tested):
        lead = f"**Change of {scores}** with post-processing and similarity, not tested ({so_far})."
    else:
        lead = f"**{_significant_in_words(significant, len(of_each))}** ({so_far})."
    lines = [_line(change, test, len(effects)) for change, test in zip(of_each, tested, strict=True)]
    return f"{lead} Largest change of each:\n\n" + "\n".join(f"- {line}" for line in lines)


def _significant_in_words(significant: int, scores: int) -> str:
    if scores == 1:
        return "The score changes significantly" if significant else "The score does not change significantly"
    return f"{significant or 'None'} of {scores:,} scores change{'s' * (significant < 2)} significantly"


def _line(change: Change, tested: PairedTest | None, tried: int) -> str:
    measure, before, after = change.measure, *(run.metrics[change.measure.score] for run in (change.plain, change.run))
    what = f"{as_text(measure.name)}, {as_text(title_of(measure.task.dataset))}"
    if before == after:
        return f"{what}: none."
    setting, model = map(as_text, (_setting(change), change.plain.plan.variant.label))
    first, last = map(score_written, (before, after))
    if first == last:
        return f"{what}: **{setting}** leaves **{model}** at {last} ({sure(tested, tried)})."
    verb = "raises" if after > before else "lowers"
    return f"{what}: **{setting}** {verb} **{model}** from {first} to **{last}** ({sure(tested, tried)})."


def _setting(change: Change) -> str:
    setting, plain = change.setting, change.plain_setting
    parts = [part for part, was in ((setting.chain, plain.chain), (setting.metric, plain.metric)) if part != was]
    return " with ".join(parts)


def _tested(change: Change, tried: int) -> PairedTest | None:
    run, plain = change.run, change.plain
    if (
        change.measure.score != change.measure.task.entry.headline
        or run.plan.covered_digest != plain.plan.covered_digest
    ):
        return None
    return _difference(run, plain, tried)


@cached(64, "Testing the largest change …")
def _difference(run: RunRecord, plain: RunRecord, tried: int) -> PairedTest | None:
    return headline_test(run, plain, repository(), at_once=tried)


def _order(shown: LabView) -> str:
    rankings = orders(shown.ranked, shown.decimals)
    tried = [order for order in rankings if order.choices > 1]
    if not rankings:
        return ""
    if not tried:
        return (
            "No two models have been computed under more than one post-processing or similarity, so nothing is known "
            "yet about their order."
        )
    stable = sum(order.is_stable for order in tried)
    return (
        f"**{stable} of {counted(len(tried), 'pair')} of models** computed under two or more post-processings or "
        f"similarities keep{'s' * (stable == 1)} the same order throughout, by scores that are not tested against "
        "each other."
    )
