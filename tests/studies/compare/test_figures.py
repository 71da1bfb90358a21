"""The forest plot of long names: nothing is cut off, and the zero line crosses no label."""

from __future__ import annotations

from blindspot.figures.theme import Scheme, styles
from blindspot.numerics.statistics.compare import PairedTest
from blindspot.numerics.statistics.intervals import Interval
from blindspot.studies.compare.figures import NAME_WIDTH, SIDE_LINE, drawn, forest
from blindspot.studies.compare.rows import Row, legend
from tests.support.finding_runs import run_record

LONG = "a-model-with-a-name-longer-than-a-line + whiten 64 + all-but-the-top 3 + center"
LABEL = 7  # pixels that a label takes above and below its middle


def test_long_names_have_room_and_the_zero_line_leaves_the_labels_out() -> None:
    a, b = run_record("evalrank", "one"), run_record("evalrank", "other")
    found = PairedTest("mrr", "MRR", True, (0.0, 1.0), 0.7, 0.6, 50, "pairs", "bootstrap", Interval(0.02, 0.18), 0.01)
    looks = styles([a.plan.variant, b.plan.variant], Scheme.LIGHT, [a.plan.variant, b.plan.variant])
    two = looks[a.plan.variant], looks[b.plan.variant]
    figure = forest([Row(a, b, found, 0.01)] * 3, (LONG, "one"), two, Scheme.LIGHT)
    *labels, left, right = figure.layout.annotations
    lines = [line for side in (left, right) for line in side.text.split("<br>")]
    assert max(map(len, lines)) <= NAME_WIDTH + len(" →")
    assert figure.layout.margin.t >= SIDE_LINE * (right.text.count("<br>") + 1)
    for label in labels:
        assert all(
            not label.y - LABEL < y < label.y + LABEL for line in figure.layout.shapes for y in (line.y0, line.y1)
        )
        assert not any(line.y0 <= label.y <= line.y1 for line in figure.layout.shapes)


def test_scores_of_which_neither_way_is_better_have_no_figure() -> None:
    a, b = run_record("evalrank", "one"), run_record("evalrank", "other")
    found = PairedTest("mrr", "MRR", None, (0.0, 1.0), 0.7, 0.6, 50, "pairs", "", refusal="neither is better")
    (said,) = legend([Row(a, b, found, None)])
    assert not drawn([Row(a, b, found, None)])
    assert said.startswith("Not drawn and not counted: ")


def test_two_models_that_are_one_have_their_sides() -> None:
    a, b = run_record("evalrank", "one"), run_record("evalrank", "other")
    equal = PairedTest("mrr", "MRR", True, (0.0, 1.0), 0.6, 0.6, 50, "pairs", "bootstrap", None, 1.0, alike=50)
    looks = styles([a.plan.variant, b.plan.variant], Scheme.LIGHT, [a.plan.variant, b.plan.variant])
    two = looks[a.plan.variant], looks[b.plan.variant]
    figure = forest([Row(a, b, equal, 1.0)], ("one", "other"), two, Scheme.LIGHT)
    label, left, right = figure.layout.annotations
    assert (left.x, right.x) == figure.layout.xaxis.range
    assert label.x == left.x < 0 < right.x
