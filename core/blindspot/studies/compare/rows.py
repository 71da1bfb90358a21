"""A against B: the paired difference of every headline score that two variants have on the same items.

A diagnostic and a dataset make a row, whose verdict is that of ``runs.comparison.headline_tests``: the same on every
page. A row also knows whether it holds after Holm over all rows of the comparison, where the chance of any false
verdict is at most 5%.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import combinations

from blindspot.datasets.catalog import DATASETS, title_of
from blindspot.datasets.user_data.files import is_own
from blindspot.diagnostic import Diagnostic, GridRole, all_diagnostics, find_diagnostic
from blindspot.errors import InputError
from blindspot.numerics.statistics.compare import PairedTest, Verdict, corrected
from blindspot.numerics.statistics.intervals import ALPHA
from blindspot.runs.comparison import IN_QUESTION, cells, entry_of_both, headline_tests
from blindspot.runs.default_models import check_were_run
from blindspot.runs.default_models import is_own as is_own_model
from blindspot.runs.scope import Scope
from blindspot.store.records import RunRecord, RunState
from blindspot.store.repository import Repository
from blindspot.texts import counted, listed
from blindspot.variants import Variant

MOST_VARIANTS = 6  # of a matrix
LEAST_ALIKE = 100  # items; fewer may be alike by chance


@dataclass(frozen=True)
class Row:
    """A diagnostic on a dataset, computed for both.

    Attributes:
        difference: of the headline; its verdict is corrected for the diagnostic's main scores, and the same everywhere.
        p_of_all: after Holm over the rows of the comparison; None without a test.
        doubt: a question about the data (``Diagnostic.doubts``); "" for none.
    """

    a: RunRecord
    b: RunRecord
    difference: PairedTest
    p_of_all: float | None
    doubt: str = ""

    @property
    def entry(self) -> Diagnostic:
        return find_diagnostic(self.a.plan.diagnostic)

    @property
    def dataset(self) -> str:
        return self.a.plan.dataset

    @property
    def turned(self) -> Row:
        """The same row with A and B exchanged."""
        return Row(self.b, self.a, self.difference.turned, self.p_of_all, self.doubt)

    @property
    def decides(self) -> bool:
        """Whether the score says which of two is better: no description of the space, no question about the data."""
        ranks = self.difference.higher_is_better is not None and self.entry.grid is not GridRole.DESCRIPTION
        return ranks and not self.doubt

    @property
    def verdict(self) -> Verdict:
        """Of A."""
        return self.difference.verdict

    @property
    def in_words(self) -> str:
        """The verdict, and whether it is one of the row alone."""
        if not self.decides:
            return IN_QUESTION if self.doubt else "described"
        return f"{self.verdict} (alone)" if self.is_significant and not self.holds else str(self.verdict)

    def cells(self, a: str = "A", b: str = "B") -> dict[str, str]:
        """Texts by heading; every surface shows some of them. ``a`` and ``b`` are the names of the two there."""
        titles = {"diagnostic": self.entry.title, "dataset": title_of(self.dataset)}
        return titles | cells(self.difference, a, b) | {f"{a} is": self.in_words}

    @property
    def is_significant(self) -> bool:
        return self.decides and self.verdict in {Verdict.BETTER, Verdict.WORSE}

    @property
    def holds(self) -> bool:
        """Whether a difference is significant also after correction for all rows of the comparison."""
        return self.p_of_all is not None and self.p_of_all < ALPHA


class Why(StrEnum):
    """Reason why two variants have no row for a diagnostic on a dataset."""

    ONE_ONLY = "computed for one of the two"
    OTHER_ITEMS = "computed on different items"
    NO_HEADLINE = "the runs have no headline score in common"


@dataclass(frozen=True)
class Missing:
    """A diagnostic on a dataset that cannot be compared yet; ``lacking`` are the variants that need another run."""

    diagnostic: str
    dataset: str
    params: tuple[tuple[str, str], ...]
    why: Why
    lacking: tuple[Variant, ...]

    @property
    def entry(self) -> Diagnostic:
        return find_diagnostic(self.diagnostic)


@dataclass(frozen=True)
class Comparison:
    """Two variants over everything that both have."""

    a: Variant
    b: Variant
    rows: tuple[Row, ...]
    missing: tuple[Missing, ...]

    @property
    def is_about_b(self) -> bool:
        """Whether the reader decides about B: the only own model of the two, or the later of two own ones."""
        a_is_own, b_is_own = is_own_model(self.a.encoder), is_own_model(self.b.encoder)
        if not (a_is_own and b_is_own):
            return b_is_own
        return bool(self.rows) and min(r.b.run_seq for r in self.rows) > min(r.a.run_seq for r in self.rows)

    @property
    def told(self) -> Comparison:
        """From the side of the model that the headline is about, which is A in it: what figures and tables show."""
        if not self.is_about_b:
            return self
        return Comparison(self.b, self.a, tuple(row.turned for row in self.rows), self.missing)

    def only(self, scope: Scope) -> Comparison:
        """The part in a scope; verdicts stay, and ``p_of_all`` is over the rows that are left.

        Raises:
            InputError: nothing is left, though there was something.
        """
        rows = [row for row in self.rows if scope.has(row.entry.id, row.dataset)]
        missing = tuple(gap for gap in self.missing if scope.has(gap.diagnostic, gap.dataset))
        if (self.rows or self.missing) and not (rows or missing):
            raise scope.nothing
        of_all = corrected([row.difference.p_corrected for row in rows])
        narrowed = tuple(replace(row, p_of_all=p) for row, p in zip(rows, of_all, strict=True))
        return Comparison(self.a, self.b, narrowed, missing)

    @property
    def doubts(self) -> tuple[str, ...]:
        """The questions about the data of the rows, which a headline asks first."""
        return doubts_of(self.rows)

    @property
    def alike_items(self) -> int:
        """The number of items of the deciding rows if none tells two models apart, as where a training was saved
        without its new weights; 0 otherwise, or where too few could."""
        tests = [row.difference for row in self.rows if row.decides]
        items = sum(test.alike for test in tests)
        differ = any(test.value or test.wins or test.losses for test in tests)
        could = any(test.a not in test.range for test in tests)  # not all right, or all wrong
        are_two = self.a.encoder != self.b.encoder and self.a.transform == self.b.transform
        return items if are_two and could and not differ and items >= LEAST_ALIKE else 0

    def count(self, verdict: Verdict) -> int:
        """How many of the deciding rows have this verdict on A."""
        return sum(row.decides and row.verdict is verdict for row in self.rows)


def check_two(a: Variant, b: Variant, repository: Repository) -> None:
    """Refuse what cannot be compared.

    Raises:
        InputError: a variant has no finished run (it names the nearest that has one), or A is B.
    """
    check_were_run((a, b), repository)
    if a == b:
        raise InputError(f"A and B are both {a}", expected="two different variants")


def params_of(entry: Diagnostic, picked: Mapping[str, str]) -> dict[str, str]:
    """A diagnostic's defaults, with those of the picked values (``metric``, ``protocol``) that it has."""
    return entry.check_params({p.name: picked[p.name] for p in entry.parameters if p.name in picked})


def compare(a: Variant, b: Variant, repository: Repository, picked: Mapping[str, str]) -> Comparison:
    """Everything that two variants have with the picked parameters.

    Raises:
        InputError: as ``check_two``.
    """
    check_two(a, b, repository)
    candidates = _candidates((a, b), repository, picked)
    rows = _with_doubts(rows_of(_tested(candidates, [(a, b)], repository)), repository)
    return Comparison(a, b, tuple(rows), _missing(candidates, a, b))


def compare_all(
    variants: Sequence[Variant], repository: Repository, picked: Mapping[str, str]
) -> dict[tuple[Variant, Variant], tuple[Row, ...]]:
    """The rows of every two of some variants, by (A, B) with A the earlier one; ``p_of_all`` is over all of them.

    Raises:
        InputError: fewer than two, more than ``MOST_VARIANTS``, one twice, or one without a run.
    """
    if not 2 <= len(variants) <= MOST_VARIANTS:
        raise InputError(f"{counted(len(variants), 'model')}", expected=f"2 to {MOST_VARIANTS} of them")
    pairs = list(combinations(variants, 2))
    for pair in pairs:
        check_two(*pair, repository)
    candidates = _candidates(variants, repository, picked)
    rows = _with_doubts(rows_of(_tested(candidates, pairs, repository)), repository)
    by_pair: dict[tuple[Variant, Variant], list[Row]] = {pair: [] for pair in pairs}
    for row in rows:
        by_pair[row.a.plan.variant, row.b.plan.variant].append(row)
    return {pair: tuple(rows_of_pair) for pair, rows_of_pair in by_pair.items()}


# --- which runs are compared


@dataclass(frozen=True)
class _Candidates:
    """The newest finished run of each variant for a diagnostic on a dataset, by the items that were ranked."""

    entry: Diagnostic
    dataset: str
    params: Mapping[str, str]
    by_items: Mapping[tuple[str, str], Mapping[Variant, RunRecord]]  # by content and items

    def of(self, a: Variant, b: Variant) -> tuple[RunRecord, RunRecord] | None:
        """Runs of both on the same items; of several such sets, on the one that was run last."""
        both = [(runs[a], runs[b]) for runs in self.by_items.values() if a in runs and b in runs]
        return max(both, key=lambda pair: max(run.run_seq for run in pair), default=None)

    @property
    def variants(self) -> set[Variant]:
        return {variant for runs in self.by_items.values() for variant in runs}


def _candidates(variants: Sequence[Variant], repository: Repository, picked: Mapping[str, str]) -> list[_Candidates]:
    """A user's own datasets first, then the catalog's; of either in the order of the diagnostics."""
    scores = [name for e in all_diagnostics().values() for name in (e.headline, e.headline_instead) if name]
    runs_of_scores: dict[tuple[str, str], dict[tuple[str, str], dict[Variant, RunRecord]]] = {}
    params = {entry.id: params_of(entry, picked) for entry in all_diagnostics().values()}
    wanted = list(dict.fromkeys(variants))
    for run in repository.runs(variants=wanted, state=RunState.DONE, current=True, metrics=scores):  # newest first
        plan = run.plan
        entry = all_diagnostics().get(plan.diagnostic)
        if entry is None or plan.diagnostic_version != entry.version or dict(plan.params) != params[entry.id]:
            continue
        items = runs_of_scores.setdefault((plan.diagnostic, plan.dataset), {})
        items.setdefault((plan.dataset_digest, plan.covered_digest), {}).setdefault(plan.variant, run)
    diagnostics, datasets = list(all_diagnostics()), {name: i for i, name in enumerate(DATASETS)}
    order = sorted(
        runs_of_scores,
        key=lambda key: (not is_own(key[1]), diagnostics.index(key[0]), datasets.get(key[1], len(datasets)), key[1]),
    )
    return [_Candidates(find_diagnostic(d), dataset, params[d], runs_of_scores[d, dataset]) for d, dataset in order]


def tested_by_variant(repository: Repository, picked: Mapping[str, str]) -> dict[str, frozenset[tuple[str, str, str]]]:
    """For each variant's name, the diagnostics, contents and items that it was run on with the picked parameters."""
    params = {entry.id: params_of(entry, picked) for entry in all_diagnostics().values()}
    by_variant: dict[str, set[tuple[str, str, str]]] = {}
    for run in repository.runs(state=RunState.DONE, current=True, metrics=[]):
        plan = run.plan
        entry = all_diagnostics().get(plan.diagnostic)
        if entry and plan.diagnostic_version == entry.version and dict(plan.params) == params[entry.id]:
            by_variant.setdefault(str(plan.variant), set()).add((entry.id, plan.dataset_digest, plan.covered_digest))
    return {name: frozenset(tested) for name, tested in by_variant.items()}


def _tested(
    every_candidate: Sequence[_Candidates], pairs: Sequence[tuple[Variant, Variant]], repository: Repository
) -> list[tuple[RunRecord, RunRecord, PairedTest]]:
    """Every difference, pair by pair; the rows of the runs over the same items are read once."""
    out = []
    for candidates in every_candidate:
        by_items: dict[tuple[str, str, str], list[tuple[RunRecord, RunRecord]]] = {}
        for a, b in pairs:
            runs = candidates.of(a, b)
            if runs and (score := _headline(candidates.entry, runs)):
                entry_of_both(*runs)
                plan = runs[0].plan
                by_items.setdefault((plan.dataset_digest, plan.covered_digest, score), []).append(runs)
        for comparable in by_items.values():
            tests = headline_tests(candidates.entry, comparable, repository)
            out += [(*runs, test) for runs, test in zip(comparable, tests, strict=True)]
    return out


def _headline(entry: Diagnostic, runs: tuple[RunRecord, RunRecord]) -> str:
    """The headline score that both runs have, or ""."""
    name, other = (entry.headline_of(run.metrics) for run in runs)
    return name if name == other else ""


def rows_of(tested: Sequence[tuple[RunRecord, RunRecord, PairedTest]]) -> list[Row]:
    p = corrected([test.p_corrected for _, _, test in tested])
    return [Row(a, b, test, of_all) for (a, b, test), of_all in zip(tested, p, strict=True)]


def _with_doubts(rows: Sequence[Row], repository: Repository) -> list[Row]:
    """The rows with the questions about their data, which all models of a comparison over the same data answer."""
    runs_of: dict[tuple[str, str], dict[str, RunRecord]] = {}
    for row in rows:
        same = runs_of.setdefault((row.entry.id, row.a.plan.dataset_digest), {})
        same |= {run.run_id: run for run in (row.a, row.b)}
    doubt_of = {
        key: " ".join(find_diagnostic(key[0]).doubts(list(runs.values()), repository)) for key, runs in runs_of.items()
    }
    return [replace(row, doubt=doubt_of[row.entry.id, row.a.plan.dataset_digest]) for row in rows]


def doubts_of(rows: Iterable[Row]) -> tuple[str, ...]:
    """The questions about the data of some rows, each once."""
    return tuple(dict.fromkeys(row.doubt for row in rows if row.doubt))


def _missing(every_candidate: Sequence[_Candidates], a: Variant, b: Variant) -> tuple[Missing, ...]:
    out = []
    for candidates in every_candidate:
        runs = candidates.of(a, b)
        lacking = tuple(variant for variant in (a, b) if variant not in candidates.variants)
        if runs is None:
            why = Why.ONE_ONLY if lacking else Why.OTHER_ITEMS
        elif not _headline(candidates.entry, runs):
            why = Why.NO_HEADLINE
        else:
            continue
        params = tuple(sorted(candidates.params.items()))
        without_a_run = lacking or ((a, b) if why is Why.OTHER_ITEMS else ())
        out.append(Missing(candidates.entry.id, candidates.dataset, params, why, without_a_run))
    return tuple(out)


# --- in words


def headline(comparison: Comparison, a: str, b: str) -> str:
    """One sentence, about B if ``is_about_b``; ``a`` and ``b`` are the names of the two.

    Every surface asks ``comparison.doubts`` in front of it; their rows do not count.
    """
    deciding = [row for row in comparison.rows if row.decides]
    doubtful = [_name(row) for row in comparison.rows if row.doubt]
    if not deciding:
        if doubtful:
            return f"{a} and {b} have no score that counts until you answer: {listed(doubtful)}."
        return f"{a} and {b} have no score in common yet."
    verdicts = (Verdict.BETTER, Verdict.WORSE, Verdict.ALIKE, Verdict.UNTESTED)
    better, worse, alike, untested = (comparison.count(verdict) for verdict in verdicts)
    if comparison.is_about_b:
        a, b, better, worse = b, a, worse, better
    of = f"of {counted(len(deciding), 'score')}"
    if untested == len(deciding):
        return f"{a} and {b} have {counted(untested, 'score')} in common, and no test for any of them."
    if better or worse:
        verdict, count = ("better", better) if better else ("worse", worse)
        text = f"{a} is significantly {verdict} than {b} on {count} {of}"
        text += f" and worse on {worse}" if better and worse else ""
        text += f"; no significant difference on {alike}" if alike else ""
    else:
        text = f"No significant difference between {a} and {b} on {alike} {of}"
        text += f": {alike_in_words(items)}" if (items := comparison.alike_items) else ""
    text += f"; {untested} not tested" if untested else ""
    return f"{text}. Not counted until you answer: {listed(doubtful)}." if doubtful else f"{text}."


def alike_in_words(items: int) -> str:
    """What ``Comparison.alike_items`` may mean."""
    return f"all {items:,} items are alike, as with the same weights under two names"


def holding_in_words(significant: Sequence[Row]) -> str:
    """How many of the significant differences also hold after correction for everything that is shown with them."""
    if not significant:
        return ""
    hold = sum(row.holds for row in significant)
    if hold == len(significant):
        which = "The significant difference also holds" if hold == 1 else "All significant differences also hold"
        return f"{which} after correction (Holm) for everything that is shown here."
    verb = "holds" if hold == 1 else "hold"
    return (
        f"{hold} of {counted(len(significant), 'significant difference')} also {verb} after correction (Holm) for "
        "everything that is shown here; the others are marked as significant alone."
    )


def legend(rows: Sequence[Row]) -> list[str]:
    """What the marks in the figure mean, and why a row is not tested, counted or drawn."""
    drawn = [row for row in rows if row.difference.advantage is not None]
    deciding = [row for row in drawn if row.decides]
    verdicts = {row.verdict for row in deciding}
    sentences = []
    if drawn:
        sentences.append("Bars: 95% intervals.")
    if verdicts & {Verdict.BETTER, Verdict.WORSE}:
        sentences.append("Filled: significant (corrected for the diagnostic's main scores).")
        sentences.append(holding_in_words([row for row in deciding if row.is_significant]))
    if Verdict.ALIKE in verdicts:
        sentences.append("Hollow circle: no significant difference.")
    if Verdict.UNTESTED in verdicts:
        sentences.append("Cross: not tested.")
    sentences += reasons(deciding)
    if describing := [_name(row) for row in drawn if not row.decides and not row.doubt]:
        sentences.append(f"Diamond, not counted: {', '.join(describing)}, which only describes the embeddings.")
    if doubtful := [_name(row) for row in drawn if row.doubt]:
        sentences.append(f"Diamond, not counted until you answer the question: {', '.join(doubtful)}.")
    if undrawn := [_because(row, row.difference.refusal) for row in rows if row.difference.advantage is None]:
        sentences.append(f"Not drawn and not counted: {'; '.join(undrawn)}.")
    return sentences


def reasons(rows: Sequence[Row]) -> list[str]:
    """A sentence for each row that is not tested, or whose verdict needs a reason beside interval and items."""
    told = [(row, row.difference) for row in rows]
    return [
        f"{_name(row)}: {test.despite or f'not tested: {test.refusal}'}."
        for row, test in told
        if test.despite or test.verdict is Verdict.UNTESTED
    ]


def _name(row: Row) -> str:
    return f"{row.entry.title} on {title_of(row.dataset)}"


def _because(row: Row, why: str) -> str:
    return f"{_name(row)} ({why})" if why else _name(row)


RANGES = (
    "1% is 0.01 of an accuracy or MRR (0 to 1), 0.02 of a correlation (−1 to 1), 0.04 of an alignment (0 to 4, lower "
    "is better)."
)


def method_in_words(comparison: Comparison) -> str:
    """Method of the verdicts."""
    return (
        f"Differences are percentages of the score's range: {RANGES} To the right, {comparison.told.a.label} is "
        "better. "
        "Intervals are 95%, for each difference alone; tests are paired over the same items, with p-values "
        "Holm-corrected for a diagnostic's main scores. Scores that only describe the space are shown but not counted "
        f"as better or worse. {holding_in_words([row for row in comparison.rows if row.is_significant])}"
    ).rstrip()
