"""Table 1 of Schnabel 2015, as compared with measured scores."""

from __future__ import annotations

import pytest

from blindspot.datasets.catalog import DATASETS
from blindspot.diagnostic import all_diagnostics
from blindspot.diagnostics.words import schnabel_table as benchmarks
from blindspot.diagnostics.words.schnabel_table import NOT_COMPARABLE, TASKS, published


def test_every_task_can_be_run_and_has_its_score() -> None:
    for task in TASKS:
        diagnostic = all_diagnostics()[task.diagnostic]
        assert DATASETS[task.dataset].kind is diagnostic.dataset_kind
        assert task.metric in {metric.name for metric in diagnostic.metrics}
        assert task.group in benchmarks.GROUPS
    assert len({task.name for task in TASKS}) == len(TASKS)


def test_published_rows_are_the_papers() -> None:
    rows = published()
    assert list(rows) == ["CBOW", "GloVe", "TSCCA", "C&W", "H-PCA", "Rand. Proj."]
    assert rows["CBOW"]["rg"] == pytest.approx(0.740)
    assert rows["GloVe"]["men"] == pytest.approx(0.646)
    assert rows["TSCCA"]["ansem"] == pytest.approx(0.111)
    assert rows["Rand. Proj."]["ansyn"] == pytest.approx(0.003)
    assert rows["H-PCA"]["ap"] == pytest.approx(0.341)


def test_what_is_not_comparable_is_not_repeated() -> None:
    names = {task.name for task in TASKS}
    assert set(NOT_COMPARABLE) == {"esslli", "batt"}
    for scores in published().values():
        assert set(scores) <= names
        assert not set(scores) & set(NOT_COMPARABLE)


def test_all_questions_lie_between_the_two_kinds() -> None:
    # an is of all questions, ansyn and ansem are of the two parts of them: a misread cell would stand out.
    for scores in published().values():
        low, high = sorted((scores["ansyn"], scores["ansem"]))
        assert low <= scores["an"] <= high
