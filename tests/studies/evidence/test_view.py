"""The view of correlations over made-up runs: sentences, the best of each task, points and JSON."""

from __future__ import annotations

import numpy as np
import pytest

from blindspot.numerics.statistics.families import one_of
from blindspot.numerics.statistics.written import ci, number
from blindspot.store.repository import Repository
from blindspot.studies.evidence.correlation import correlations
from blindspot.studies.evidence.scores import Downstream, Level, ScoreTable, score_table
from blindspot.studies.evidence.view import as_json, best_in_words, headline_in_words, points
from tests.conftest import make_settings
from tests.support.evidence_world import many_models, store


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> ScoreTable:
    repository = Repository.at(make_settings(tmp_path_factory.mktemp("evidence")).store)
    store(repository, many_models(12))
    return score_table(repository).at(Level.SENTENCE)


def test_the_headline_is_the_highest_of_the_task_with_its_interval(scores: ScoreTable) -> None:
    cells = correlations(scores)
    said = headline_in_words(cells)
    task = cells[0].task
    own = [c.rho for c in cells if c.task == task and c.rho is not None]
    best = next(c for c in cells if c.task == task and c.rho == max(own))
    low = next(c for c in cells if c.task == task and c.rho == min(own))
    for cell in (best, low):
        assert cell.evaluator.phrase in said
        assert cell.rho is not None
        assert f"ρ {number(cell.rho)}" in said
        assert cell.estimate is not None
        sure = one_of(cell.estimate, len(own), cell.n)
        assert ci(sure) in said
        assert sure.interval is not None is not cell.interval
        assert sure.interval.low < cell.interval.low < cell.interval.high < sure.interval.high
    assert f"{len(own)} correlations" in said
    above = sum(c.interval is not None and c.interval.low > 0 for c in cells)
    assert f"{above} are above 0" in said


def test_few_families_are_no_reason_to_choose_a_model(scores: ScoreTable) -> None:
    few = scores.rows(family in scores.family_list[:4] for family in scores.families)
    cells = correlations(few)
    said = headline_in_words(cells)
    own = [c.rho for c in cells if c.task == cells[0].task and c.rho is not None]
    models = f"{len(few.variants)} models of 4 families"
    places = [said.index(part) for part in (models, f"ρ {number(min(own))}", f"ρ {number(max(own))}")]
    assert places == sorted(places), "how many, then the strongest disagreement too"
    assert "95%" not in said
    assert not any(c.evaluator.phrase in said for c in cells if c.rho is not None), "no names without intervals"
    assert headline_in_words(correlations(scores.rows(v == scores.variants[0] for v in scores.variants))) == ""


def test_the_best_of_each_task_points_and_json(scores: ScoreTable) -> None:
    cells = correlations(scores)
    lines = best_in_words(cells)
    assert [line.split(":")[0] for line in lines] == [task.label for task in scores.tasks]
    for line, task in zip(lines, scores.tasks, strict=True):
        best = max((c for c in cells if c.task == task and c.rho is not None), key=lambda c: c.rho or -1.0)
        assert f"{number(best.rho or 0.0)} (95% CI" in line
    assert best_in_words([c for c in cells if c.task == scores.tasks[0]]) == [], "the headline says it"
    evaluator, task = scores.evaluators[0], scores.tasks[0]
    drawn = points(scores, evaluator, task, ranks=False)
    assert [point.x for point in drawn] == scores.of(evaluator).tolist()
    placed = points(scores, evaluator, task, ranks=True)
    assert placed[int(np.argmax(scores.better(task)))].y == 1
    said = as_json(scores, cells, Level.SENTENCE, Downstream())
    assert [(one["evaluator"], one["task"]) for one in said["cells"]] == [
        (c.evaluator.id, c.task.dataset) for c in cells
    ]
