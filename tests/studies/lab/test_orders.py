"""Orders per pair of encoders and the effect of each choice: hand-made tables, and loops over all settings."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blindspot.studies.lab.grid import Measure, Scores, Setting, Task
from blindspot.studies.lab.orders import Knob, Lead, contexts, effects, in_words, orders
from blindspot.transforms.chain import TransformChain
from tests.support.tables import each

NAN = float("nan")
MRR, HITS = (Measure(Task("evalrank", "demo-pairs"), score) for score in ("mrr", "hits@1"))
ALIGN = Measure(Task("geometry", "demo-pairs"), "align")


def grid(chains: tuple[str, ...], metrics: tuple[str, ...] = ("cos", "l2"), measures: tuple[Measure, ...] = (MRR,)):
    return tuple(Setting.of(r, m, TransformChain.parse(c)) for r in measures for c in chains for m in metrics)


def table(settings_: tuple[Setting, ...], **rows: list[float]) -> Scores:
    return Scores(tuple(rows), settings_, np.array(list(rows.values()), dtype=np.float64))


@each(
    ("a", "b", "expected", "words"),
    [
        ([4, 4, 4, 4], [1, 2, 3, 3.9], ("a", 4, 0, 0), "a scores better than b in all 4 settings."),
        (
            [1, 1, 1, 0.30001],
            [2, 2, 2, 0.30002],
            ("b", 3, 0, 1),
            "b scores better than a in 3 of 4 settings, the same in 1, worse in none.",
        ),
        ([1, 2, 1, 2], [1, 2, 1, 2], ("a", 0, 0, 4), "a and b have the same score after rounding in all 4 settings."),
    ],
)
def test_no_choice_turns_it(a: list[float], b: list[float], expected: tuple[str, int, int, int], words: str) -> None:
    (order,) = orders(table(grid(("none", "center")), a=a, b=b))
    assert (order.first, order.leads, order.trails, order.ties) == expected
    assert (order.is_stable, order.is_tied) == (order.leads > 0, order.leads == 0)
    assert order.flips == ()
    assert in_words(order).startswith(words)


def test_the_metric_turns_it_after_whitening_alone() -> None:
    """none: a before b by both; whiten: a by cos, b by l2."""
    (order,) = orders(table(grid(("none", "whiten")), a=[2, 2, 2, 1], b=[1, 1, 1, 2]))
    assert (order.leads, order.trails) == (3, 1)
    by_knob = {flip.knob: flip for flip in order.flips}
    assert set(by_knob) == {Knob.METRIC, Knob.TRANSFORM}
    metric, transform = by_knob[Knob.METRIC], by_knob[Knob.TRANSFORM]
    assert (metric.turned, metric.cases) == (1, 2)
    assert [(w.value, w.leads, w.cases) for w in metric.where] == [("l2", 1, 1)]
    assert (transform.turned, transform.cases) == (1, 2)
    assert [(w.value, w.leads, w.cases) for w in transform.where] == [("whiten", 1, 1)]
    words = in_words(order)
    assert words.startswith("a scores better than b in 3 of 4 settings, worse in 1.")
    assert "1 of 2 cases: b scores better with l2 (1 of 1)" in words
    assert "b scores better with whiten (1 of 1)" in words


def test_the_size_is_a_choice_of_its_own() -> None:
    chains = ("none", "truncate:64", "center", "center+truncate:64")
    settings_ = grid(chains, metrics=("cos",))
    assert [(s.transform, s.size) for s in settings_] == [
        ("none", "full"),
        ("none", "truncate:64"),
        ("center", "full"),
        ("center", "truncate:64"),
    ]
    (order,) = orders(table(settings_, a=[2, 1, 2, 1], b=[1, 2, 1, 2]))
    assert [flip.knob for flip in order.flips] == [Knob.SIZE]
    assert [w.value for w in order.flips[0].where] == ["truncate:64"]


def test_choices_that_always_turn_the_order_come_before_those_that_often_do() -> None:
    leads = [Lead("often", 3, 4), Lead("always", 1, 1), Lead("always, twice", 2, 2), Lead("seldom", 1, 9)]
    assert [lead.value for lead in sorted(leads)] == ["always, twice", "always", "often", "seldom"]


def test_the_score_is_one_too_and_less_may_be_better() -> None:
    """By MRR a is better; by align (less is better) b is, whose matches are nearer."""
    settings_ = grid(("none",), metrics=("cos",), measures=(MRR, ALIGN))
    (order,) = orders(table(settings_, a=[0.9, 0.5], b=[0.8, 0.4]))
    assert (order.leads, order.trails) == (1, 1)
    assert order.first == "a", "of equally many the one named first"
    assert [flip.knob for flip in order.flips] == [Knob.MEASURE]
    assert [w.value for w in order.flips[0].where] == [ALIGN.label]


def test_no_choice_alone() -> None:
    """Only where both the transform and the metric change; the two cells in between are missing or tied."""
    (order,) = orders(table(grid(("none", "whiten")), a=[2, NAN, 1, 1], b=[1, 1, 1, 2]))
    assert (order.leads, order.trails, order.ties) == (1, 1, 1)
    assert order.flips == ()
    assert "It depends on" not in in_words(order)


def test_encoders_that_share_no_setting_have_no_order() -> None:
    assert orders(table(grid(("none",)), a=[1, NAN], b=[NAN, 1])) == ()


def test_coarser_decimals_make_ties() -> None:
    scores = table(grid(("none",)), a=[0.801, 0.8], b=[0.80, 0.803])
    assert orders(scores)[0].trails == 1
    assert orders(scores, decimals=2)[0].is_tied


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.sampled_from([0.0, 1.0, 2.0, NAN]), min_size=8, max_size=8), min_size=2, max_size=3))
def test_like_the_loops(rows: list[list[float]]) -> None:
    settings_ = grid(("none", "whiten"), measures=(MRR, HITS))
    scores = table(settings_, **{f"e{i}": row for i, row in enumerate(rows)})
    found = {frozenset((v.first, v.second)): v for v in orders(scores)}
    for a, b in itertools.combinations(range(len(rows)), 2):
        both = [i for i in range(8) if not math.isnan(rows[a][i]) and not math.isnan(rows[b][i])]
        order = found.get(frozenset((f"e{a}", f"e{b}")))
        if not both:
            assert order is None
            continue
        assert order is not None
        wins = {
            f"e{a}": sum(rows[a][i] > rows[b][i] for i in both),
            f"e{b}": sum(rows[b][i] > rows[a][i] for i in both),
        }
        assert (order.leads, order.trails) == (wins[order.first], wins[order.second])
        assert order.leads >= order.trails
        for knob in Knob:
            turned = 0
            for context in {knob.context(s) for s in settings_}:
                signs = {np.sign(rows[a][i] - rows[b][i]) for i in both if knob.context(settings_[i]) == context}
                turned += {1.0, -1.0} <= signs
            flips = [flip for flip in order.flips if flip.knob is knob]
            assert sum(flip.turned for flip in flips) == turned


def test_effects_by_hand() -> None:
    """The metric never changes the ranking; the transform turns it round."""
    scores = table(grid(("none", "whiten")), a=[3, 3, 1, 1], b=[2, 2, 2, 2], c=[1, 1, 3, 3])
    transform, metric = effects(scores)
    assert (transform.knob, transform.pairs, transform.mean, transform.same) == (Knob.TRANSFORM, 2, -1.0, 0.0)
    assert (metric.knob, metric.pairs, metric.mean, metric.least, metric.same) == (Knob.METRIC, 2, 1.0, 1.0, 1.0)


def test_contexts_hold_all_other_choices() -> None:
    settings_ = grid(("none", "whiten", "center"), measures=(MRR, HITS))
    groups = contexts(settings_, Knob.TRANSFORM)
    assert len(groups) == 4
    for group in groups:
        assert len(group) == 3
        assert len({(settings_[i].metric, settings_[i].measure) for i in group}) == 1


def test_nothing_to_rank_by() -> None:
    described = Setting.of(Measure(Task("geometry", "demo-pairs"), "anisotropy"), "cos", TransformChain.parse("none"))
    scores = table((described, *grid(("none",))), a=[1, 1, NAN], b=[2, 1, 1])
    assert [s.measure.score for s in scores.ranked.settings] == ["mrr"]
    assert effects(scores.ranked) == ()
    assert pytest.approx(1.0) == scores.ranked.values[0, 0]
