"""Nearest published HEROS profiles of a measured one, and a guess of what its encoder was trained on.

A profile is the six means per subset; its distance to another is Euclidean. The guess is the training group of most of
the three nearest published profiles; at a tie, of the nearest one. Three neighbors were chosen among 1 to 5, 7 and 9
neighbors and the nearest group mean for the highest accuracy on the published encoders when each is left out in turn,
which flatters this accuracy a little. The *nested* accuracy does not: for each encoder left out, the number of
neighbors is chosen anew on the others alone.

The published encoders, whose groups are known, tell how far to trust the guess: each is guessed from all others (*leave
one out*), and from all of other families (*leave one family out*), since a sister model is nearer to it than a new
encoder's neighbors would be. A group with no member left cannot be guessed, which counts as wrong. The baseline always
names the largest group.

A profile *resembles none*, and nothing is guessed, if its nearest published one is farther away than 95% of the
published ones are from their own nearest. The accuracies include the 5% that would be left without a guess.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np

from blindspot.diagnostic import find_diagnostic
from blindspot.diagnostics.heros.published import GROUPS, SUBSETS, PublishedProfile, heros_profiles
from blindspot.errors import InputError
from blindspot.numerics.statistics.intervals import Interval, wilson_interval
from blindspot.numerics.statistics.written import ci_in_words, percent
from blindspot.store.records import RunRecord, RunState
from blindspot.store.repository import Repository
from blindspot.types import Float64

DATASET = "heros"  # the only sentences that published profiles are of
VOTERS = 3
TRIED = (1, 2, 3, 4, 5, 7, 9)  # numbers of neighbors that VOTERS was chosen from
FAR_QUANTILE = 0.95


@dataclass(frozen=True)
class Neighbor:
    """A published profile, its Euclidean distance and its mean absolute difference over the six means."""

    profile: PublishedProfile
    distance: float
    mean_difference: float


@dataclass(frozen=True)
class Vote:
    """The group that most of the nearest profiles have, and how many of them have it."""

    group: str
    votes: int
    voters: int


@dataclass(frozen=True)
class Accuracy:
    """How many of the published encoders' groups are guessed right, with the share's 95% Wilson interval."""

    right: int
    n: int

    @property
    def share(self) -> float:
        return self.right / self.n

    @property
    def interval(self) -> Interval:
        return wilson_interval(self.share, self.n)

    def as_json(self) -> dict[str, Any]:
        return {"right": self.right, "n": self.n, "share": self.share, **asdict(self.interval)}


@dataclass(frozen=True)
class Reliability:
    """How far to trust a guess.

    Attributes:
        majority: of always naming ``largest_group``.
        by_votes: ``leave_one_out`` by the number of votes for the guess.
        far: the greatest distance at which a profile resembles its nearest one.
    """

    leave_one_out: Accuracy
    nested: Accuracy
    leave_one_family_out: Accuracy
    majority: Accuracy
    largest_group: str
    by_votes: Mapping[int, Accuracy]
    far: float


@dataclass(frozen=True)
class Resemblance:
    """A measured profile ``means [6] float64`` in the order of ``SUBSETS``, and all published ones, the nearest first.

    ``vote`` is None where it resembles none.
    """

    means: Float64
    neighbors: tuple[Neighbor, ...]
    vote: Vote | None

    @property
    def nearest(self) -> Neighbor:
        return self.neighbors[0]

    def as_json(self) -> dict[str, Any]:
        trust = published_reliability()
        nearest = [
            {name: getattr(neighbor.profile, name) for name in ("model", "group", "figure", "block")}
            | {"distance": neighbor.distance, "mean_difference": neighbor.mean_difference}
            for neighbor in self.neighbors
        ]
        return {
            "profile": dict(zip(SUBSETS, self.means.tolist(), strict=True)),
            "nearest": nearest,
            "resembles_none": self.vote is None,
            "far": trust.far,
            "guess": None if self.vote is None else asdict(self.vote),
            "accuracy": {
                "leave_one_out": trust.leave_one_out.as_json(),
                "nested": trust.nested.as_json(),
                "leave_one_family_out": trust.leave_one_family_out.as_json(),
                "majority": trust.majority.as_json() | {"group": trust.largest_group},
                "leave_one_out_by_votes": {
                    str(votes): trust_of_votes.as_json() for votes, trust_of_votes in trust.by_votes.items()
                },
            },
        }


@dataclass(frozen=True, eq=False)
class Plane:
    """The two directions in which the published profiles differ most (principal components around their mean).

    Attributes:
        mean: ``[6] float64``.
        directions: ``[6, 2] float64``, orthonormal columns; in each the entry of largest magnitude is positive.
        shares: of the published profiles' variance along each, ``[2] float64``.
    """

    mean: Float64
    directions: Float64
    shares: Float64

    def project(self, means: Float64) -> Float64:
        """Profiles ``[n, 6]`` (or one, ``[6]``) as points ``[n, 2] float64``."""
        return (means - self.mean) @ self.directions


def resemblance(
    means: Mapping[str, float], published: Sequence[PublishedProfile] | None = None, far: float | None = None
) -> Resemblance:
    """Compare a profile with published ones.

    Args:
        means: mean normalized similarity by subset; other names than those of ``SUBSETS`` are ignored.
        published: by default the paper's.
        far: see ``Reliability``; by default theirs.
    """
    profiles = heros_profiles() if published is None else published
    if far is None:
        far = published_reliability().far if published is None else distance_that_is_far(matrix(profiles))
    profile = np.array([means[subset] for subset in SUBSETS])
    differences = np.abs(matrix(profiles) - profile)
    distances = np.sqrt((differences**2).sum(axis=1))
    neighbors = tuple(
        Neighbor(profiles[i], float(distances[i]), float(differences[i].mean()))
        for i in np.argsort(distances, kind="stable").tolist()
    )
    is_near = neighbors[0].distance <= far
    return Resemblance(profile, neighbors, vote([n.profile.group for n in neighbors[:VOTERS]]) if is_near else None)


def matrix(profiles: Sequence[PublishedProfile]) -> Float64:
    """Their means ``[n, 6] float64``, in the order of ``SUBSETS``."""
    return np.array([[profile.means[subset] for subset in SUBSETS] for profile in profiles])


def vote(groups: Sequence[str]) -> Vote:
    """The most frequent of one or more groups, the nearest profile's first; at a tie the one that comes first."""
    group, votes = Counter(groups).most_common(1)[0]
    return Vote(group, votes, len(groups))


def distances_between(means: Float64) -> Float64:
    """Euclidean distances between profiles ``[n, 6]``, as ``[n, n] float64``."""
    return np.asarray(np.sqrt(((means[:, np.newaxis] - means) ** 2).sum(axis=2)))


def distance_that_is_far(means: Float64) -> float:
    """The 95% quantile of the distances of profiles ``[n, 6]`` to the nearest other one; n is 2 or more."""
    distances = distances_between(means)
    np.fill_diagonal(distances, np.inf)
    return float(np.quantile(distances.min(axis=1), FAR_QUANTILE))


def reliability(profiles: Sequence[PublishedProfile], voters: int = VOTERS) -> Reliability:
    """How often the groups of 2 or more ``profiles`` in 2 or more families are guessed right from the others."""
    means, n = matrix(profiles), len(profiles)
    order = np.argsort(distances_between(means), axis=1, kind="stable")
    groups, families = ([getattr(p, name) for p in profiles] for name in ("group", "family"))
    others = [[j for j in order[i].tolist() if j != i] for i in range(n)]
    strangers = [[j for j in others[i] if families[j] != families[i]] for i in range(n)]
    alone, apart = (
        [vote([groups[j] for j in nearest[:voters]]) for nearest in candidates] for candidates in (others, strangers)
    )
    right = [guess.group == group for guess, group in zip(alone, groups, strict=True)]
    largest, members = Counter(groups).most_common(1)[0]
    by_votes = {
        votes: [ok for ok, guess in zip(right, alone, strict=True) if guess.votes == votes]
        for votes in sorted({guess.votes for guess in alone}, reverse=True)
    }
    return Reliability(
        leave_one_out=Accuracy(sum(right), n),
        nested=Accuracy(sum(_nested(others, groups)), n),
        leave_one_family_out=Accuracy(sum(v.group == g for v, g in zip(apart, groups, strict=True)), n),
        majority=Accuracy(members, n),
        largest_group=largest,
        by_votes={votes: Accuracy(sum(oks), len(oks)) for votes, oks in by_votes.items()},
        far=distance_that_is_far(means),
    )


def _nested(others: Sequence[Sequence[int]], groups: Sequence[str]) -> list[bool]:
    """Whether each is guessed right by the number of neighbors that is best for the others without it.

    Args:
        others: per profile the places of all others, the nearest first.
    """

    @cache  # whoever is left out, most have the same neighbors
    def guessed(nearest: tuple[int, ...]) -> str:
        return vote([groups[j] for j in nearest]).group

    def is_right(i: int, nearest: Sequence[int], voters: int) -> bool:
        return guessed(tuple(nearest[:voters])) == groups[i]

    out = []
    for i, nearest in enumerate(others):
        rest = {k: tuple(j for j in others[k][: max(TRIED) + 1] if j != i) for k in nearest}
        voters = max(
            TRIED, key=lambda tried: sum(is_right(k, answers, tried) for k, answers in rest.items() if answers)
        )
        out.append(is_right(i, nearest, voters))
    return out


@lru_cache(maxsize=1)
def published_reliability() -> Reliability:
    """``reliability`` of the paper's 60 profiles."""
    return reliability(heros_profiles())


def plane(means: Float64) -> Plane:
    """The plane in which profiles ``[n, 6]`` differ most; n is 3 or more, and they are not all alike."""
    mean = means.mean(axis=0)
    _, lengths, directions = np.linalg.svd(means - mean, full_matrices=False)
    first = directions[:2].T
    largest = np.abs(first).argmax(axis=0)
    signs = np.where(first[largest, [0, 1]] < 0, -1.0, 1.0)
    return Plane(mean, first * signs, lengths[:2] ** 2 / (lengths**2).sum())


# --- runs


def is_on_published_sentences(run: RunRecord, repository: Repository) -> bool:
    """Whether a run is on HEROS's own sentences, so that published profiles can be compared with it.

    A user's file with the very same content is HEROS too, once the store has a run on ``heros``.
    """
    if run.plan.dataset == DATASET:
        return True
    digests = {
        stored.plan.dataset_digest for stored in repository.runs(diagnostic=run.plan.diagnostic, dataset=DATASET)
    }
    return run.plan.dataset_digest in digests


def of_run(run: RunRecord, repository: Repository) -> Resemblance:
    """Compare a finished HEROS run on HEROS's own sentences.

    Raises:
        InputError: the run is of another diagnostic or version, not finished, on other sentences, or lacks a subset.
    """
    if run.plan.diagnostic != "heros" or run.state is not RunState.DONE:
        raise InputError(
            f"run {run.run_id} of {run.plan.diagnostic} is {run.state}", expected="a finished run of heros"
        )
    current = find_diagnostic(run.plan.diagnostic).version
    if run.plan.diagnostic_version != current:
        raise InputError(
            f"run {run.run_id} was computed by version {run.plan.diagnostic_version} of {run.plan.diagnostic}",
            expected=f"version {current}",
            remedy="run it again",
        )
    if not is_on_published_sentences(run, repository):
        raise InputError(
            f"run {run.run_id} is on '{run.plan.dataset}', the published profiles are of other sentences",
            expected=f"a run on '{DATASET}'",
            remedy=f"blindspot data fetch {DATASET}, then blindspot run heros --dataset {DATASET}",
        )
    if lacking := [subset for subset in SUBSETS if subset not in run.metrics]:
        raise InputError(
            f"run {run.run_id} has no {', '.join(lacking)}", expected=f"all of {', '.join(SUBSETS)}, as published"
        )
    return resemblance(run.metrics)


# --- in words


def in_words(resembled: Resemblance, name: str) -> list[str]:
    """The guess and how far to trust it, a sentence each, without markup; ``name`` is the measured encoder's."""
    trust = published_reliability()
    nearest = resembled.nearest
    if resembled.vote is None:
        return [
            f"{name} resembles none of the {len(resembled.neighbors)} published models, so there is no guess: the "
            f"nearest one, {nearest.profile.model}, is {nearest.distance:.3f} away, while {percent(FAR_QUANTILE)} of "
            f"the published models have another within {trust.far:.3f}.",
            f"Where there is a guess, it is right for {_share(trust.leave_one_out)} of the published models.",
        ]
    vote, alike = resembled.vote, trust.by_votes[resembled.vote.votes]
    votes = "All" if vote.votes == vote.voters else vote.votes
    return [
        f"{name} behaves most like models trained on {GROUPS[vote.group]} (group {vote.group}). "
        f"{votes} of its {vote.voters} nearest published models belong to that group; the "
        f"nearest is {nearest.profile.model}, at a distance of {nearest.distance:.3f}.",
        f"Such a guess is right for {_share(trust.leave_one_out)} of the published models, each guessed from all the "
        f"others; for {alike.right} of the {alike.n} with as clear a vote. With the number of neighbors chosen without "
        f"the model that is guessed (nested): {_share(trust.nested)}.",
        f"For a model of a family that was not published: {_share(trust.leave_one_family_out)}.",
        f"Always saying {trust.largest_group} would be right for {_share(trust.majority)}.",
    ]


def _share(accuracy: Accuracy) -> str:
    return f"{accuracy.right} of {accuracy.n} ({percent(accuracy.share)}; {ci_in_words(accuracy.interval, '.0%')})"
