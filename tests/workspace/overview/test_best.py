"""The best of several runs: who is significantly worse; intervals as the diagnostic gives them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np
import pytest

from blindspot.diagnostic import Diagnostic, find_diagnostic
from blindspot.numerics.statistics.compare import ItemScores, PairedTest, decide
from blindspot.numerics.statistics.estimate import Unit
from blindspot.numerics.statistics.intervals import Interval
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.runs.comparison import item_scores
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.workspace.overview import best
from blindspot.workspace.overview.best import Best, best_of, verdict
from tests.support.finding_runs import run_record
from tests.support.tables import each

P: dict[str, float] = {}  # by variant, of the made-up test against the best


def made_up(
    entry: Diagnostic, pairs: Sequence[tuple[RunRecord, RunRecord]], repository: Repository
) -> list[PairedTest]:
    def one(a: RunRecord, b: RunRecord) -> PairedTest:
        first, other = (run.metrics[entry.headline] for run in (a, b))
        p = P.get(str(b.plan.variant))
        near = [Interval(value - 0.05, value + 0.05) for value in (first, other)]
        return PairedTest(
            *("accuracy", "accuracy", True, (0.0, 1.0), first, other, 100, "examples", "made up"),
            p=p,
            refusal="" if p is not None else "none in common",
            a_interval=near[0],
            b_interval=near[1],
        )

    return [decide([one(*pair)])[0] for pair in pairs]


def of_hundred(records: Sequence[RunRecord], repository: Repository) -> list[dict[str, ItemScores]]:
    """Of each run of transfer 100 examples, as many of which are right as its metric says."""
    known = Dependence.of_groups(np.arange(100), Unit.EXAMPLES)

    def one(value: float) -> ItemScores:
        right = np.repeat([1.0, 0.0], [round(100 * value), 100 - round(100 * value)])
        return item_scores(ENTRY, ENTRY.headline, "accuracy", right, np.arange(100), known, list)

    return [{ENTRY.headline: one(run.metrics[ENTRY.headline])} for run in records]


ENTRY = find_diagnostic("transfer")


@pytest.fixture(autouse=True)
def _made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(best, "headline_tests", made_up)
    monkeypatch.setattr(ENTRY, "item_scores", of_hundred)


ACCURACY = {"a~none": 0.9, "b~none": 0.85, "c~none": 0.8, "d~none": 0.6}


class Rows:
    """A store that has the rows of every run but ``gone``."""

    def __init__(self, gone: Sequence[str] = ()) -> None:
        self.gone = gone

    def with_items(self, entry: Diagnostic, run_ids: Sequence[str]) -> frozenset[str]:
        return frozenset(set(run_ids) - set(self.gone))


def runs() -> list[RunRecord]:
    return [run_record("transfer", name, metrics={"accuracy": value}) for name, value in ACCURACY.items()]


def found_with(p: dict[str, float], entry: Diagnostic = ENTRY) -> Best:
    P.clear()
    P.update(p)
    return best_of(entry, runs(), cast("Repository", Rows()))


def names(found: Sequence[RunRecord] | None) -> list[str] | None:
    return None if found is None else [run.plan.variant.encoder for run in found]


@each(
    ("p", "alike"),
    [
        ({"b~none": 0.001, "c~none": 0.001, "d~none": 0.001}, []),
        ({"b~none": 0.04, "c~none": 0.04, "d~none": 0.001}, []),  # other models do not change it
        ({"b~none": 0.06, "c~none": 0.001, "d~none": 0.001}, ["b"]),
    ],
)
def test_who_has_no_significant_difference_from_the_best(p: dict[str, float], alike: list[str]) -> None:
    found = found_with(p)
    assert names(found.alike) == alike
    said = verdict(found)
    assert "0.900 (95% CI 0.797 to 0.954, of all 4 at once)" in said  # Wilson's with Student's t
    assert said.startswith("a ")
    assert ("significantly better than all" in said) == (not alike)
    assert f" {3 - len(alike)}" in said
    for name in alike:
        assert f" {name}" in said.partition("no significant difference")[2]
    assert {run_id: interval.low for run_id, interval in found.intervals.items()} == pytest.approx(
        {run.run_id: run.metrics["accuracy"] - 0.05 for run in found.runs}
    )


def test_without_a_test_nothing_is_called_significant() -> None:
    found = found_with({"b~none": 0.001})
    assert found.alike is None
    assert "significant" not in verdict(found)
    assert "not tested: none in common" in verdict(found)
    rows_gone = best_of(ENTRY, runs(), cast("Repository", Rows([runs()[0].run_id])))
    assert (rows_gone.alike, dict(rows_gone.intervals)) == (None, {})
    assert "not tested" in verdict(rows_gone)
    assert found_with({}).alike is None


def test_runs_on_other_items_are_not_tested() -> None:
    apart = [
        replace(run, plan=replace(run.plan, dataset_digest="other" if place else "one"))
        for place, run in enumerate(runs())
    ]
    assert best_of(ENTRY, apart, cast("Repository", Rows())).alike is None


def test_one_model_alone_has_nothing_to_be_compared_with() -> None:
    found = best_of(ENTRY, runs()[:1], cast("Repository", Rows()))
    assert "best" not in verdict(found)
    assert "0.900 (95% CI 0.824 to 0.945)" in verdict(found)


def test_the_best_of_many_models_has_an_interval_that_allows_for_the_choice() -> None:
    many = [run_record("transfer", f"m{i}~none", metrics={"accuracy": 0.9 - i / 100}) for i in range(6)]
    P.clear()
    P.update({f"m{i}~none": 0.5 for i in range(6)})
    fewer, found = (verdict(best_of(ENTRY, some, cast("Repository", Rows()))) for some in (many[:2], many))
    assert "0.900 (95% CI 0.824 to 0.945)" in fewer
    assert "0.900 (95% CI 0.790 to 0.956, of all 6 at once)" in found


def test_a_score_that_only_describes_ranks_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = find_diagnostic("geometry")
    monkeypatch.setattr(entry, "item_scores", lambda runs, repository: [{} for _ in runs])
    records = [run_record("geometry", name, metrics={"align": 0.2}) for name in ("a~none", "b~none")]
    said = verdict(best_of(entry, records, cast("Repository", Rows())))
    assert "lowest" in said
    assert "best" not in said
