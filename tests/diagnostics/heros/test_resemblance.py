"""Nearest published profiles and the guess that they allow: by hand, by loops, and by scikit-learn."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blindspot.diagnostics.heros import resemblance as r
from blindspot.diagnostics.heros.published import SUBSETS, PublishedProfile, heros_profiles
from blindspot.diagnostics.heros.resemblance import Accuracy, Vote
from tests.support.tables import each

BASE = heros_profiles()[0]


def profile(model: str, group: str, family: str, *means: float) -> PublishedProfile:
    """One whose other subsets are 0."""
    values = dict.fromkeys(SUBSETS, 0.0) | dict(zip(SUBSETS, means, strict=False))
    return replace(BASE, model=model, group=group, family=family, means=values)


# On a line: two of group X at 0 and 1, two of Y at 3 and 4, and a lone Z at 10.
LINE = (
    profile("x0", "X", "f", 0.0),
    profile("x1", "X", "g", 1.0),
    profile("y3", "Y", "f", 3.0),
    profile("y4", "Y", "f", 4.0),
    profile("z10", "Z", "g", 10.0),
)


# --- by hand


def test_distances_by_hand() -> None:
    own = dict.fromkeys(SUBSETS, 0.0) | {"synonym": 3.0, "antonym": 4.0}
    found = r.resemblance(own, LINE[:2], far=9.0)
    # To x0: (3, 4), 5 away, 7/6 on average. To x1: (2, 4).
    assert [n.profile.model for n in found.neighbors] == ["x1", "x0"]
    assert [n.distance for n in found.neighbors] == pytest.approx([math.sqrt(20), 5.0])
    assert [n.mean_difference for n in found.neighbors] == pytest.approx([1.0, 7 / 6])
    assert found.nearest.profile.model == "x1"


def test_a_guess_by_hand() -> None:
    """At 0.4 the nearest are x0, x1 and y3; at 2.2 y3, x1 and y4."""
    assert r.resemblance(LINE[0].means | {"synonym": 0.4}, LINE, far=9.0).vote == Vote("X", 2, 3)
    assert r.resemblance(LINE[0].means | {"synonym": 2.2}, LINE, far=9.0).vote == Vote("Y", 2, 3)


def test_of_groups_with_as_many_votes_the_nearest_wins() -> None:
    assert r.vote(["Z", "X", "Y"]) == Vote("Z", 1, 3)
    assert r.vote(["Z", "X", "X"]) == Vote("X", 2, 3)
    assert r.vote(["Y"]) == Vote("Y", 1, 1)


def test_reliability_by_hand() -> None:
    """Nearest others: x0: x1 y3 y4 -> Y; x1: x0 y3 y4 -> Y; y3: y4 x1 x0 -> X; y4: y3 x1 x0 -> X; z10: y4 y3 x1 -> Y.

    With one voter: X, X, Y, Y, Y. Of other families (f: x0 y3 y4, g: x1 z10): x0 -> x1, X; x1 -> x0, X; y3 -> x1, X;
    y4 -> x1, X; z10 -> y4, Y.
    """
    three = r.reliability(LINE, voters=3)
    assert three.leave_one_out == Accuracy(0, 5)
    one = r.reliability(LINE, voters=1)
    assert one.leave_one_out == Accuracy(4, 5)
    assert one.leave_one_family_out == Accuracy(2, 5)
    assert one.by_votes == {1: Accuracy(4, 5)}
    assert (one.majority, one.largest_group) == (Accuracy(2, 5), "X")
    # Nearest others are 1, 1, 1, 1 and 6 away: the 95th percentile lies 0.8 of the way from 1 to 6.
    assert one.far == pytest.approx(5.0)


def test_what_is_far_from_all_resembles_none() -> None:
    near, far = ({**LINE[4].means, "synonym": 10.0 + away} for away in (4.999, 5.001))
    assert r.resemblance(near, LINE).vote is not None
    found = r.resemblance(far, LINE)
    assert found.vote is None
    assert found.nearest.profile.model == "z10"


# --- by loops


def distance(one: PublishedProfile, other: PublishedProfile) -> float:
    return math.sqrt(math.fsum((one.means[s] - other.means[s]) ** 2 for s in SUBSETS))


def guessed(one: PublishedProfile, others: Sequence[PublishedProfile], voters: int) -> tuple[str, int]:
    nearest = sorted(others, key=lambda other: distance(one, other))[:voters]
    counts = Counter(other.group for other in nearest)
    return next((o.group, counts[o.group]) for o in nearest if counts[o.group] == max(counts.values()))


@each("voters", [1, 2, 3, 5])
def test_reliability_is_a_loop_s(voters: int) -> None:
    published = heros_profiles()
    found = r.reliability(published, voters)
    alone = [guessed(p, [o for o in published if o is not p], voters) for p in published]
    apart = [guessed(p, [o for o in published if o.family != p.family], voters) for p in published]
    right = [g == p.group for (g, _), p in zip(alone, published, strict=True)]
    assert found.leave_one_out == Accuracy(sum(right), 60)
    assert found.leave_one_family_out == Accuracy(
        sum(g == p.group for (g, _), p in zip(apart, published, strict=True)), 60
    )
    for votes, accuracy in found.by_votes.items():
        matching = [ok for ok, (_, v) in zip(right, alone, strict=True) if v == votes]
        assert accuracy == Accuracy(sum(matching), len(matching))
    assert sum(a.n for a in found.by_votes.values()) == 60
    nearest = sorted(min(distance(p, o) for o in published if o is not p) for p in published)
    assert found.far == pytest.approx(nearest[56] + 0.05 * (nearest[57] - nearest[56]), abs=1e-12)


def test_the_published_accuracies() -> None:
    """What the page states: a change of the rule or of the data must be seen."""
    found = r.published_reliability()
    assert (found.leave_one_out, found.leave_one_family_out) == (Accuracy(44, 60), Accuracy(32, 60))
    assert (found.majority, found.largest_group) == (Accuracy(21, 60), "unsupervised")
    assert found.nested == Accuracy(43, 60), "not 44: three neighbors were chosen on the same sixty"
    assert found.far == pytest.approx(0.0438, abs=5e-5)


def test_the_nested_accuracy_is_a_loop_s() -> None:
    """For each left out the number of neighbors is chosen without it, among the others alone."""
    some = heros_profiles()[::3]
    right = 0
    for one in some:
        rest = [p for p in some if p is not one]
        scores = {k: sum(guessed(p, [o for o in rest if o is not p], k)[0] == p.group for p in rest) for k in r.TRIED}
        best = next(k for k in r.TRIED if scores[k] == max(scores.values()))
        right += guessed(one, rest, best)[0] == one.group
    assert r.reliability(some).nested == Accuracy(right, len(some))


def test_three_voters_are_the_most_accurate_of_those_tried() -> None:
    right = {k: r.reliability(heros_profiles(), k).leave_one_out.right for k in r.TRIED}
    assert max(right, key=lambda k: right[k]) == r.VOTERS


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(0.0, 1.0), min_size=6, max_size=6))
def test_any_profile_has_sixty_neighbors_in_order(values: list[float]) -> None:
    means = dict(zip(SUBSETS, values, strict=True))
    found = r.resemblance(means | {"of my own": 3.0})
    assert sorted(n.profile.model for n in found.neighbors) == sorted(p.model for p in heros_profiles())
    distances = [n.distance for n in found.neighbors]
    assert distances == sorted(distances)
    for n in found.neighbors:
        expected = math.sqrt(math.fsum((means[s] - n.profile.means[s]) ** 2 for s in SUBSETS))
        assert n.distance == pytest.approx(expected, abs=1e-12)
        # The mean absolute difference is at most the root mean square one.
        assert n.mean_difference <= n.distance / math.sqrt(6) + 1e-12
    assert (found.vote is None) == (distances[0] > r.published_reliability().far)


# --- by scikit-learn


def test_scikit_learn_agrees() -> None:
    from sklearn.decomposition import PCA
    from sklearn.model_selection import LeaveOneOut, cross_val_predict
    from sklearn.neighbors import NearestCentroid

    means, groups = r.matrix(heros_profiles()), np.array([p.group for p in heros_profiles()])

    # The rule that the module says it was chosen over.
    centroids = cross_val_predict(NearestCentroid(), means, groups, cv=LeaveOneOut())
    assert int((centroids == groups).sum()) < r.published_reliability().leave_one_out.right

    plane, pca = r.plane(means), PCA(2).fit(means)
    np.testing.assert_allclose(plane.shares, pca.explained_variance_ratio_, atol=1e-12)
    expected = pca.transform(means)
    signs = np.sign((plane.project(means) * expected).sum(axis=0))
    np.testing.assert_allclose(plane.project(means), expected * signs, atol=1e-12)


def test_a_plane_s_signs_do_not_depend_on_the_order_of_rows() -> None:
    means = r.matrix(heros_profiles())
    one, other = r.plane(means), r.plane(means[::-1])
    np.testing.assert_allclose(one.directions, other.directions, atol=1e-12)
    assert (one.directions[np.abs(one.directions).argmax(axis=0), [0, 1]] > 0).all()


# --- in words


def test_the_guess_in_words() -> None:
    minilm = next(p for p in heros_profiles() if p.model == "MiniLM L6 v2 (all)")
    first, leave_one, family, majority = r.in_words(r.resemblance(minilm.means), "mine")
    assert "(group all). All of its 3 nearest published" in first
    assert "the nearest is MiniLM L6 v2 (all), at a distance of 0.000." in first
    assert "for 44 of 60 (73%; 95% CI 61 to 83%)" in leave_one
    assert "for 23 of the 28 with as clear a vote" in leave_one
    assert "32 of 60 (53%; 95% CI 41 to 65%)" in family
    assert "Always saying unsupervised would be right for 21 of 60 (35%; 95% CI 24 to 48%)." in majority


def test_nothing_is_guessed_in_words_where_it_resembles_none() -> None:
    said, trust = r.in_words(r.resemblance(dict.fromkeys(SUBSETS, 0.5)), "mine")
    assert trust.startswith("Where there is a guess, it is right for 44 of 60 (73%;")
    assert said.startswith("mine resembles none of the 60 ")
    assert "TinyBERT L6 (para), is 0.707 away" in said
    assert said.endswith("within 0.044.")
