"""Which of the published HEROS profiles a measured one resembles, and what its encoder may have been trained on.

A profile is the six means per subset; two are as far apart as their Euclidean distance. The guess is the training
group that most of the three nearest published profiles have; where groups have as many, the one whose member is
nearest. Three neighbours were chosen among 1 to 5, 7 and 9 neighbours and the nearest group mean for the highest
accuracy on the published encoders when each is left out in turn, so that this accuracy flatters it a little; beside it
stands one that does not: for each encoder left out, the number of neighbours is chosen anew on the others alone
(*nested*).

How far to trust it is told by the published encoders, whose groups are known: each is guessed from all the others
(*leave one out*), and from all that are not of its family (*leave one family out*), since a sister model is nearer to
it than a new encoder's neighbours would be. A group none of whose members is left cannot be guessed, which counts as
wrong. Beside them stands what always naming the largest group would get right.

A profile *resembles none* where its nearest published one is farther away than 95% of the published ones are from
their own nearest: then nothing is guessed. The accuracies are over all published encoders, the 5% that would be told so
included.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from core import diagnostic as diagnostics
from core.diagnostics.heros.published import GROUPS, SUBSETS, PublishedProfile, heros_profiles
from core.errors import InputError
from core.numerics.statistics.intervals import Interval, wilson_interval
from core.store.records import RunRecord, RunState
from core.store.repository import Repository
from core.types import Float64

DATASET = "heros"  # the only sentences that published profiles are of
VOTERS = 3
TRIED = (1, 2, 3, 4, 5, 7, 9)  # numbers of neighbours that VOTERS was chosen from
FAR_QUANTILE = 0.95


@dataclass(frozen=True)
class Neighbour:
    """A published profile at its distance.

    Attributes:
        distance: Euclidean, over the six means.
        mean_difference: mean absolute difference of the six means, which is easier to picture.
    """

    profile: PublishedProfile
    distance: float
    mean_difference: float


@dataclass(frozen=True)
class Vote:
    """The group that most of the nearest profiles have, and how many of them do."""

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


@dataclass(frozen=True)
class Reliability:
    """How far to trust a guess.

    Attributes:
        leave_one_out: each published encoder guessed from all others.
        nested: the same, the number of neighbours chosen for each anew, on the others alone.
        leave_one_family_out: each guessed from those of other families.
        majority: always naming ``largest_group``, the largest one.
        by_votes: ``leave_one_out`` among those guesses that had so many votes.
        far: a nearest profile that is farther away than this is none that the profile resembles.
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
    """What a measured profile resembles.

    Attributes:
        means: the profile ``[6] float64``, in the order of ``SUBSETS``.
        neighbours: all published profiles, the nearest first.
        vote: None where it resembles none.
    """

    means: Float64
    neighbours: tuple[Neighbour, ...]
    vote: Vote | None

    @property
    def nearest(self) -> Neighbour:
        return self.neighbours[0]


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
        """Profiles ``[n, 6]`` as points ``[n, 2] float64``."""
        return (means - self.mean) @ self.directions


def resemblance(
    means: Mapping[str, float], published: Sequence[PublishedProfile] | None = None, far: float | None = None
) -> Resemblance:
    """What a profile resembles.

    Args:
        means: its mean normalised similarity by the names of ``SUBSETS``; others are not looked at.
        published: the profiles to look among; the paper's if left out.
        far: a nearest profile beyond it is none that the profile resembles; theirs if left out.
    """
    profiles = heros_profiles() if published is None else published
    if far is None:
        far = published_reliability().far if published is None else distance_that_is_far(matrix(profiles))
    own = np.array([means[subset] for subset in SUBSETS])
    differences = np.abs(matrix(profiles) - own)
    distances = np.sqrt((differences**2).sum(axis=1))
    neighbours = tuple(
        Neighbour(profiles[i], float(distances[i]), float(differences[i].mean()))
        for i in np.argsort(distances, kind="stable").tolist()
    )
    is_near = neighbours[0].distance <= far
    return Resemblance(own, neighbours, vote([n.profile.group for n in neighbours[:VOTERS]]) if is_near else None)


def matrix(profiles: Sequence[PublishedProfile]) -> Float64:
    """Their means ``[n, 6] float64``, in the order of ``SUBSETS``."""
    return np.array([[profile.means[subset] for subset in SUBSETS] for profile in profiles])


def vote(groups: Sequence[str]) -> Vote:
    """The group that most have; of several, the one that comes first.

    Args:
        groups: of the nearest profiles, the nearest first; at least one.
    """
    group, votes = Counter(groups).most_common(1)[0]  # of equal counts the one that was met first
    return Vote(group, votes, len(groups))


def distances_between(means: Float64) -> Float64:
    """Euclidean distances between profiles ``[n, 6]``, as ``[n, n] float64``."""
    return np.asarray(np.sqrt(((means[:, np.newaxis] - means) ** 2).sum(axis=2)))


def distance_that_is_far(means: Float64) -> float:
    """How far 95% of the profiles ``[n, 6]`` at most are from the nearest other one; n is 2 or more."""
    distances = distances_between(means)
    np.fill_diagonal(distances, np.inf)
    return float(np.quantile(distances.min(axis=1), FAR_QUANTILE))


def reliability(profiles: Sequence[PublishedProfile], voters: int = VOTERS) -> Reliability:
    """How often the groups of ``profiles`` are guessed right from the others; of 2 or more, in 2 families or more."""
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
    votes = sorted({guess.votes for guess in alone}, reverse=True)
    return Reliability(
        leave_one_out=Accuracy(sum(right), n),
        nested=Accuracy(sum(_nested(others, groups)), n),
        leave_one_family_out=Accuracy(sum(v.group == g for v, g in zip(apart, groups, strict=True)), n),
        majority=Accuracy(members, n),
        largest_group=largest,
        by_votes={
            v: _accuracy([ok for ok, guess in zip(right, alone, strict=True) if guess.votes == v]) for v in votes
        },
        far=distance_that_is_far(means),
    )


def _nested(others: Sequence[Sequence[int]], groups: Sequence[str]) -> list[bool]:
    """Whether each is guessed right by as many neighbours as guess the most of the others right without it.

    Args:
        others: per profile the places of all others, the nearest first.
    """

    def is_right(i: int, nearest: Sequence[int], voters: int) -> bool:
        return vote([groups[j] for j in nearest[:voters]]).group == groups[i]

    out = []
    for i, nearest in enumerate(others):
        rest = {k: [j for j in others[k] if j != i] for k in nearest}
        voters = max(TRIED, key=lambda tried: sum(is_right(k, own, tried) for k, own in rest.items() if own))
        out.append(is_right(i, nearest, voters))
    return out


def _accuracy(right: Sequence[bool]) -> Accuracy:
    return Accuracy(sum(right), len(right))


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
    """Whether a run's numbers can be laid beside published ones: it is of HEROS's own sentences.

    A user's file with the very same content is HEROS too: the store knows it, once something was run on ``heros``.
    """
    if run.plan.dataset == DATASET:
        return True
    known = {found.plan.dataset_digest for found in repository.runs(diagnostic=run.plan.diagnostic, dataset=DATASET)}
    return run.plan.dataset_digest in known


def of_run(run: RunRecord, repository: Repository) -> Resemblance:
    """What a finished HEROS run on HEROS's own sentences resembles.

    Raises:
        InputError: it is a run of something else, of another version of it, not finished, on other sentences, or
            lacks some of the six subsets.
    """
    if run.plan.diagnostic != "heros" or run.state is not RunState.DONE:
        raise InputError(
            f"run {run.run_id} of {run.plan.diagnostic} is {run.state}", expected="a finished run of heros"
        )
    current = diagnostics.find(run.plan.diagnostic).version
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
            remedy=f"python -m core data fetch {DATASET}, then python -m core run heros --dataset {DATASET}",
        )
    if lacking := [subset for subset in SUBSETS if subset not in run.metrics]:
        raise InputError(
            f"run {run.run_id} has no {', '.join(lacking)}", expected=f"all of {', '.join(SUBSETS)}, as published"
        )
    return resemblance(run.metrics)


# --- in words


def in_words(found: Resemblance, name: str) -> list[str]:
    """The guess and how far to trust it, a sentence each, without markup.

    Args:
        name: the measured encoder, in words.
    """
    trust = published_reliability()
    nearest = found.nearest
    if found.vote is None:
        return [
            f"{name} resembles none of the {len(found.neighbours)} published encoders, so nothing is guessed: the "
            f"nearest one, {nearest.profile.model}, is {nearest.distance:.3f} away, while {FAR_QUANTILE:.0%} of the "
            f"published encoders have another within {trust.far:.3f}.",
            f"Where there is a guess, it is right for {_share(trust.leave_one_out)} of the published encoders.",
        ]
    vote, alike = found.vote, trust.by_votes[found.vote.votes]
    return [
        f"{name} behaves most like encoders trained on {GROUPS[vote.group]} (group {vote.group}). "
        f"{_count(vote.votes, vote.voters)} of its {vote.voters} nearest published encoders belong to that group; the "
        f"nearest is {nearest.profile.model}, at a distance of {nearest.distance:.3f}.",
        f"How often such a guess is right: for {_share(trust.leave_one_out)} of the published encoders, each guessed "
        f"from all the others; for {alike.right} of the {alike.n} with as clear a vote. Three neighbours were chosen "
        f"on these same encoders; chosen anew without the one that is guessed, {_share(trust.nested)}.",
        f"For an encoder whose sister models were not published: {_share(trust.leave_one_family_out)}, each guessed "
        "from the models of other families.",
        f"Always saying {trust.largest_group} would be right for {_share(trust.majority)}.",
    ]


def _count(votes: int, voters: int) -> str:
    return "All" if votes == voters else str(votes)


def _share(accuracy: Accuracy) -> str:
    interval = accuracy.interval
    ends = f"95% interval {interval.low:.0%} to {interval.high:.0%}"
    return f"{accuracy.right} of {accuracy.n} ({accuracy.share:.0%}; {ends})"
