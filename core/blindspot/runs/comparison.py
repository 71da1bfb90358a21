"""Comparisons of two runs, item by item: their tests, in numbers and in words, and the items that differ."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from blindspot.diagnostic import Diagnostic, Score, find_diagnostic
from blindspot.errors import InputError
from blindspot.numerics.statistics.compare import (
    FILTERED,
    MAIN,
    OTHERS,
    SHARE,
    Item,
    ItemScores,
    PairedTest,
    Statistic,
    Verdict,
    best_and_alike,
    compare,
    corrected_together,
    decide,
    gains,
    on_shared_items,
    with_detectable,
)
from blindspot.numerics.statistics.intervals import Interval
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.numerics.statistics.written import NONE, SCORE, interval, number, p_in_cell
from blindspot.store.records import RunRecord, RunState
from blindspot.store.repository import Repository
from blindspot.texts import counted, first_upper, in_sentence, listed
from blindspot.types import Float64, Int64


def entry_of_both(first: RunRecord, second: RunRecord) -> Diagnostic:
    """The diagnostic of two runs that can be compared item by item.

    Raises:
        InputError: the same run twice, an unfinished run, two diagnostics, another version, or different content.
    """
    if first.run_id == second.run_id:
        raise InputError(f"both runs are {first.run_id}", expected="two different runs")
    for run in (first, second):
        if run.state is not RunState.DONE:
            raise InputError(f"run {run.run_id} is {run.state}", expected="two finished runs")
    a, other = first.plan, second.plan
    if a.diagnostic != other.diagnostic:
        raise InputError(
            f"run {first.run_id} is of {a.diagnostic}, run {second.run_id} of {other.diagnostic}",
            expected="two runs of one diagnostic",
        )
    if a.dataset_digest != other.dataset_digest:
        same = " as it was at another time" if a.dataset == other.dataset else ""
        raise InputError(
            f"run {first.run_id} is on '{a.dataset}', run {second.run_id} on '{other.dataset}'{same}",
            expected="two runs over the same content, so that their items are the same",
        )
    entry = find_diagnostic(a.diagnostic)
    for run in (first, second):
        if run.plan.diagnostic_version != entry.version:
            raise InputError(
                f"run {run.run_id} was computed by version {run.plan.diagnostic_version} of {entry.id}",
                expected=f"version {entry.version}",
                remedy="run it again",
            )
    return entry


def ends(interval: Interval | None) -> dict[str, float | None]:
    return {"low": interval.low, "high": interval.high} if interval else {"low": None, "high": None}


# --- scores item by item, and their paired tests


def declared(entry: Diagnostic, score: str) -> Score:
    """The declaration of a score; raises ``ValueError`` if there is none."""
    metric = entry.declared(score)
    if metric is None:
        raise ValueError(f"{entry.id} does not declare the score {score}")
    return metric


def item_scores(
    entry: Diagnostic,
    score: str,
    label: str,
    parts: Float64,
    numbers: Int64,
    dependence: Dependence,
    texts: Callable[[], Sequence[str]],
    *,
    value: float | None = None,
    statistic: Statistic = SHARE,
    units: str = "",
    family: str = MAIN,
    higher_is_better: bool | None = None,
    describe: Callable[[int], Item] | None = None,
) -> ItemScores:
    """``ItemScores`` with what a diagnostic declares of a score, else a share, of which ``higher_is_better``.

    ``value`` is the mean of the parts if left out.
    """
    of = entry.declared(score)
    mean = float(parts.mean()) if value is None else value
    better, ends = (of.higher_is_better, of.range) if of else (higher_is_better, (0.0, 1.0))
    return ItemScores(
        score, label, mean, parts, numbers, dependence, better, ends, statistic, texts, units, family, describe
    )


def paired_tests(
    entry: Diagnostic,
    of: Sequence[tuple[RunRecord, RunRecord]],
    repository: Repository,
    family: str = "",
    *,
    every: bool = False,
    among: Int64 | None = None,
    at_once: int = 1,
) -> list[tuple[PairedTest, ...]]:
    """The family of tests of every two runs on the same content, the headline first. Only this function decides whether
    one run is better than another.

    Args:
        of: finished runs of one diagnostic with the same parameters, on the same items; rows are read once, however
            many pairs name a run.
        family: the scores to test; the headline's family if left out.
        every: also test other families on the same ranks, and say what difference each test would have found.
        among: numbers of the items to compare on; all if left out.
        at_once: how many differences the intervals hold for at once, where one of these was chosen by what it is.

    Raises:
        InputError, BlindspotError: as ``Diagnostic.item_scores``.
    """
    runs = list({run.run_id: run for pair in of for run in pair}.values())
    scores = dict(zip((run.run_id for run in runs), entry.item_scores(runs, repository), strict=True)) if runs else {}
    asked: list[list[tuple[ItemScores, ItemScores]]] = []
    for first, second in of:
        a, b = scores[first.run_id], scores[second.run_id]
        headline = entry.headline_of(first.metrics)
        main_family = family or (a[headline].family if headline in a else MAIN)
        wanted = (
            {scores.family for scores in a.values() if _belongs(scores.family, main_family)} if every else {main_family}
        )
        names = sorted(
            (name for name in a if name in b), key=lambda name: (name != headline, a[name].family != main_family)
        )
        both = [(a[name], b[name]) for name in names if a[name].family in wanted]
        asked.append([(x.among(among), y.among(among)) for x, y in both] if among is not None else both)
    tests = iter(compare([pair for pairs in asked for pair in pairs], at_once))
    out = []
    for (first, second), pairs in zip(of, asked, strict=True):
        address = entry.address_of_two(str(first.plan.variant), str(second.plan.variant), first.plan.dataset)
        decided = decide([replace(next(tests), address=address) for _ in pairs])
        decided = with_detectable(decided, pairs) if every else decided
        out.append(decided or (_untested(entry, first, second),))
    return out


def _belongs(family: str, to: str) -> bool:
    """Whether a family is computed from the same ranks, raw or filtered."""
    return family != OTHERS and family.startswith(FILTERED) == to.startswith(FILTERED)


def _untested(entry: Diagnostic, first: RunRecord, second: RunRecord) -> PairedTest:
    """The test of a headline that is not made of items: none. Raises ``InputError`` if the run has no headline."""
    score = entry.headline_of(first.metrics)
    if not score:
        raise InputError(
            f"run {first.run_id} has no score that says which model is better",
            expected=f"a dataset with what {entry.id} compares ({entry.overview.axis})",
        )
    of = declared(entry, score)
    label = entry.title_of(score)
    n = int(next(count for name, count in first.coverage.items() if name.endswith("_covered")))
    why = "neither more nor less is better" if of.higher_is_better is None else "it is not a mean over items"
    a, b = (run.metrics[score] for run in (first, second))
    return PairedTest(score, first_upper(label), of.higher_is_better, of.range, a, b, n, "items", "none", refusal=why)


def headline_tests(
    entry: Diagnostic, of: Sequence[tuple[RunRecord, RunRecord]], repository: Repository, at_once: int = 1
) -> list[PairedTest]:
    """The test of the headline score of every two runs, decided within its family; ``at_once`` as in
    ``paired_tests``."""
    return [tests[0] for tests in paired_tests(entry, of, repository, at_once=at_once)]


def headline_test(first: RunRecord, second: RunRecord, repository: Repository, at_once: int = 1) -> PairedTest | None:
    """``headline_tests`` of two runs; None if their items do not compare or the score is not defined."""
    try:
        (test,) = headline_tests(find_diagnostic(first.plan.diagnostic), [(first, second)], repository, at_once)
    except InputError:
        return None
    return None if math.isnan(test.value) else test


def best_of_each(
    entry: Diagnostic, runs: Sequence[RunRecord], repository: Repository
) -> Mapping[str, frozenset[int]] | None:
    """For each tested score, the places of the best run and of those that do not differ significantly from it.

    None for fewer than two runs, for runs on different items, or if rows are not in the store.
    """
    ids = [run.run_id for run in runs]
    if len(runs) < 2 or repository.with_items(entry, ids) != set(ids):
        return None
    try:
        scores = dict(zip(ids, entry.item_scores(runs, repository), strict=True))
    except InputError:
        return None
    return {name: frozenset(map(ids.index, best)) for name, best in best_and_alike(scores).items()}


# --- two runs, on the command line and in programs

IN_QUESTION = "in question"  # in place of a verdict, where there are ``Diagnostic.doubts``


@dataclass(frozen=True)
class TwoRuns:
    """Every tested score of two runs over the same content, the headline first, and doubts (``Diagnostic.doubts``)."""

    entry: Diagnostic
    a: RunRecord
    b: RunRecord
    tests: tuple[PairedTest, ...]
    doubts: tuple[str, ...]

    @property
    def names(self) -> tuple[str, str]:
        """The models, each with the parameters that the other run does not have."""
        values = [[p.value_in(run.plan.params) for p in self.entry.parameters] for run in (self.a, self.b)]
        places = [index for index, (value, other) in enumerate(zip(*values, strict=True)) if value != other]
        first, second = (
            f"{run.plan.variant.label} ({', '.join(values_of_run[index] for index in places)})"
            if places
            else run.plan.variant.label
            for run, values_of_run in zip((self.a, self.b), values, strict=True)
        )
        return first, second

    @property
    def title(self) -> str:
        name, other = self.names
        return f"{self.entry.title} on {self.a.plan.dataset}: A is {name}, B is {other}"

    @property
    def said(self) -> tuple[str, ...]:
        """The verdicts; of data in question only the questions, since no verdict counts."""
        return self.doubts or in_words(self.tests, *self.names)

    @property
    def fields(self) -> list[dict[str, Any]]:
        return [fields(test, is_in_question=bool(self.doubts)) for test in self.tests]

    @property
    def cells(self) -> list[dict[str, str]]:
        return [cells(test) | ({"A is": IN_QUESTION} if self.doubts else {}) for test in self.tests]


def compare_runs(first: RunRecord, second: RunRecord, repository: Repository, *, filtered: bool = False) -> TwoRuns:
    """Compare two runs in all scores that are tested.

    Args:
        filtered: compare filtered ranks.

    Raises:
        InputError: they do not compare: as in ``entry_of_both``, or they count by other rules or have other items.
        BlindspotError: rows are not in the store.
    """
    entry = entry_of_both(first, second)
    for parameter in entry.parameters:
        value, other = (parameter.value_in(run.plan.params) for run in (first, second))
        if value != other and not parameter.is_of_use:
            raise InputError(
                f"run {first.run_id} has {parameter.name} {value}, run {second.run_id} {other}",
                expected="two runs that count alike",
            )
    (tests,) = paired_tests(entry, [(first, second)], repository, FILTERED if filtered else "", every=True)
    if filtered and tests[0].family != FILTERED:
        raise InputError(f"{entry.id} has no filtered ranks", expected="--ranks only with runs of evalrank")
    return TwoRuns(entry, first, second, tests, tuple(entry.doubts((first, second), repository)))


def fields(test: PairedTest, *, is_in_question: bool = False) -> dict[str, Any]:
    """A test for programs; ``is_in_question``: data leave it open which way is better, so that no verdict counts."""
    return {
        "score": test.score,
        "label": test.label,
        "family": test.family,
        "higher_is_better": test.higher_is_better,
        "a": test.a,
        "b": test.b,
        "difference": test.value,
        **ends(test.interval),
        "n": test.n,
        "unit": test.unit,
        "test": test.test,
        "no_test": test.refusal if test.p is None else None,
        "despite": test.despite or None,
        "wins": test.wins,
        "losses": test.losses,
        "alike": test.alike,
        "p": test.p,
        "p_corrected": test.p_corrected,
        "smallest_detectable": test.detectable,
        "verdict": IN_QUESTION if is_in_question else test.verdict.value,
    }


def cells(test: PairedTest, a: str = "A", b: str = "B") -> dict[str, str]:
    """A test as a row of a table, by heading; ``a`` and ``b`` are what the two models are called there."""
    return {
        "score": test.label,
        a: written(test, test.a),
        b: written(test, test.b),
        f"{a} - {b}": written(test, test.value, "+"),
        "95% interval": interval(test.interval, spec_of(test, "+")),
        **{name: f"{getattr(test, name):,}" for name in ("n", "wins", "losses", "alike")},
        "p": p_in_cell(test.p),
        "p (Holm)": p_in_cell(test.p_corrected, test.p),
        "detectable": NONE if test.detectable is None else written(test, test.detectable),
        f"{a} is": test.verdict.value,
    }


def spec_of(test: PairedTest, sign: str = "") -> str:
    """Format of a score: two decimals where it has no highest value, as of ranks, otherwise as ``SCORE``."""
    return f"{sign},.2f" if math.isinf(test.range[1]) else f"{sign}{SCORE}"


def written(test: PairedTest, value: float, sign: str = "") -> str:
    """A value of the test's score; ``sign`` is + for differences."""
    return number(value, spec_of(test, sign))


MOST_NAMED = 3  # scores without a significant difference; of more only their number


def in_words(tests: Sequence[PairedTest], a: str, b: str) -> tuple[str, ...]:
    """Sentences on all tests of A against B: verdicts, items, and what the tests rest on."""
    head, alike = tests[0], [test for test in tests if test.verdict is Verdict.ALIKE]
    of = {verdict: [in_sentence(test.label) for test in tests if test.verdict is verdict] for verdict in Verdict}
    apart = (Verdict.BETTER, Verdict.WORSE, Verdict.HIGHER, Verdict.LOWER)
    parts = [f"significantly {verdict} in {listed(of[verdict])}" for verdict in apart if of[verdict]]
    if labels := of[Verdict.ALIKE]:
        few = len(labels) <= MOST_NAMED
        which = listed(labels) if few else f"{'the other ' if parts else ''}{len(labels)} scores"
        parts.append(f"{Verdict.ALIKE} in {which}")
    for why in dict.fromkeys(test.refusal for test in tests if test.verdict is Verdict.UNTESTED):
        labels = [in_sentence(test.label) for test in tests if test.refusal == why and test.verdict is Verdict.UNTESTED]
        parts.append(f"{listed(labels)} not tested: {why}")
    lines = [f"{a} vs {b}: {'; '.join(parts)}."]
    if head.wins or head.losses:
        won = counted(head.wins, "item")
        lines.append(f"{head.label}: {a} does better on {won}, {b} on {head.losses:,}, alike {head.alike:,}.")
    elif head.alike:
        lines.append(f"{head.label}: alike on every item.")
    if head.p is not None:
        together = corrected_together(tests, head)
        lines.append(f"Test: {head.basis}{f', corrected after Holm for {together} scores' if together > 1 else ''}.")
    lines += [f"{test.label}: {test.despite}." for test in tests if test.despite]
    if alike and (least := alike[0].detectable) is not None:
        difference = f"{written(alike[0], least)} ({in_sentence(alike[0].label)})"
        lines.append(f"This test would have found a difference of {difference} with 80% probability.")
    return tuple(lines)


# --- the items that two runs judge differently


@dataclass(frozen=True)
class Change:
    """An item that runs A and B judge differently.

    Attributes:
        texts: see ``Item``; ``a``, ``b``: the result of each run.
        gain: A's score of this item less B's, from -1 to 1.
        address: query parameters that open the item on the diagnostic's page, besides dataset and variants.
    """

    item_no: int
    texts: tuple[tuple[str, str], ...]
    a: str
    b: str
    gain: float
    address: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Changes:
    """How two runs differ item by item, in the headline.

    Attributes:
        unit: of an item, in the plural; ``won_by``: the condition for winning one, to follow "A".
        won, lost, alike: numbers of items.
        rows: the largest changes, at most as many of either side as was asked for, the largest gain first and then the
            largest loss first; of equal ones the first in the dataset.
    """

    unit: str
    won_by: str
    won: int = 0
    lost: int = 0
    alike: int = 0
    rows: tuple[Change, ...] = ()


def changes(entry: Diagnostic, a: RunRecord, b: RunRecord, repository: Repository, most: int) -> Changes:
    """The items that two finished runs over one content judge differently; at most ``most`` rows of either side.

    Raises:
        InputError, BlindspotError: as ``Diagnostic.item_scores``.
    """
    of_a, of_b = entry.item_scores([a, b], repository)
    score = entry.headline_of(a.metrics)
    if score not in of_a or score not in of_b:
        return Changes(*entry.won)
    scores_a, other = on_shared_items(of_a[score], of_b[score])
    gain = gains(scores_a, other)
    sides = {"a": str(a.plan.variant), "b": str(b.plan.variant), "dataset": a.plan.dataset}
    rows = []
    for index in [*_first(gain, most), *_first(-gain, most)]:
        number = int(scores_a.numbers[index])
        items = [side.item(index) for side in (scores_a, other)]
        address = {key: value.format(number=number, **sides) for key, value in entry.item_in_address.items()}
        rows.append(Change(number, items[0].texts, items[0].said, items[1].said, float(gain[index]), address))
    won, lost = (int(np.count_nonzero(sign * gain > 0)) for sign in (1, -1))
    return Changes(*entry.won, won, lost, len(gain) - won - lost, tuple(rows))


def _first(gain: Float64, most: int) -> list[int]:
    """Places of the largest gains above 0, in descending order."""
    places: list[int] = np.argsort(-gain, kind="stable")[: min(most, int(np.count_nonzero(gain > 0)))].tolist()
    return places
