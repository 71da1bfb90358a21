"""View of a training between two of its steps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import blindspot as bs
from blindspot.runs.comparison import headline_test
from blindspot.studies.training.steps import Evaluated, evaluated, series_of, title_of
from blindspot.studies.training.view import StepsView, steps_view
from tests.conftest import make_settings

PAIRS = [(f"question {n} on the {thing}", f"the {thing}: answer {n}") for thing in "cat dog".split() for n in range(12)]


@pytest.fixture(scope="module")
def evaluator(tmp_path_factory: pytest.TempPathFactory) -> bs.Evaluator:
    """Two steps of a model that counts other letters at each."""
    evaluator = bs.Evaluator(PAIRS, name="made", store=make_settings(tmp_path_factory.mktemp("made")).cache)
    for number, letters in enumerate(("0123dc", "6789dg1")):
        evaluator(lambda texts, own=letters: [[text.count(c) + 1 for c in own] for text in texts], steps=20 * number)
    return evaluator


@pytest.fixture
def found(evaluator: bs.Evaluator) -> Evaluated:
    return evaluated(series_of("made", evaluator._place.repository)[0], evaluator._place.repository)


def view(found: Evaluated, evaluator: bs.Evaluator) -> StepsView:
    before, after = found.series.steps
    return steps_view(found, before, after, headline_test(after.run, before.run, evaluator._place.repository))


def test_what_was_lost_and_won(found: Evaluated, evaluator: bs.Evaluator) -> None:
    one = view(found, evaluator)
    changed = evaluator.changed()
    assert one.lost["item_no"].tolist() == changed[changed["gain"] < 0]["item_no"].tolist()
    assert one.won["item_no"].tolist() == changed[changed["gain"] > 0]["item_no"].tolist()[::-1]
    assert one.items == len(PAIRS)
    assert one.test is not None
    said = one.in_words("MRR")
    assert f"{found.values[0]:.3f} at step 0 to {found.values[1]:.3f} at step 20" in said
    assert f"**{len(one.lost)} were lost**" in said
    assert f"**{len(one.won)} won**" in said
    sure = replace(one, test=replace(one.test, p=0.01, p_corrected=0.01)).in_words("MRR")
    assert f"**MRR {'rose' if one.test.value > 0 else 'fell'} from" in sure
    unsure = replace(one, test=replace(one.test, p_corrected=0.2)).in_words("MRR")
    assert unsure.startswith("**No significant change of MRR**")
    same = replace(one, before=replace(one.before, run=one.after.run), after=one.before)
    assert "**MRR stayed the same, from" in same.in_words("MRR")


def test_a_step_beside_itself(found: Evaluated) -> None:
    last = found.series.steps[1]
    assert steps_view(found, last, last, None).in_words("MRR") == f"MRR is {found.values[1]:.3f} at step 20."


def test_titles_of_steps() -> None:
    titles = [title_of(label) for label in ("step-20", "epoch-1", "call-3", "epoch-1-step-20")]
    assert titles == ["step 20", "epoch 1", "call 3", "epoch 1, step 20"]


def test_what_was_not_measured_is_not_a_loss(found: Evaluated) -> None:
    """A step that lacks an item neither won nor lost it."""
    scores = found.scores.copy()
    scores[0, 0] = np.nan
    part = replace(found, scores=scores)
    one = steps_view(part, *found.series.steps, None)
    assert int(found.numbers[0]) not in {*one.lost["item_no"], *one.won["item_no"]}
    assert one.items == len(PAIRS) - 1
