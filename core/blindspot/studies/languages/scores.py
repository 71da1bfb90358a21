"""Scores of a model per language and direction: EvalRank among the sentences of the match's language.

The runs are ordinary ones of EvalRank (``candidates=matches``) on a pair set per language and direction, as in Artetxe
and Schwenk 2019, section 4.4: their similarity error rate is 1 less Hits@1. Intervals are EvalRank's. No sentence is in
two pairs, so that pairs are independent but for a few sentences that differ in case alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

import numpy as np

from blindspot.datasets.published.tatoeba import BOTH, PARALLEL, ParallelSets, place_of
from blindspot.datasets.published.tatoeba.languages import Language
from blindspot.diagnostics.evalrank.definition import CANDIDATES, ENTRY, MATCHES
from blindspot.errors import unknown
from blindspot.numerics.ranking.ranks import expected_hit, expected_reciprocal_rank
from blindspot.numerics.statistics import pairs as statistics
from blindspot.numerics.statistics.estimate import Estimate, Unit
from blindspot.numerics.statistics.intervals import level_of_each, quantile, wilson_interval
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.numerics.statistics.written import number, with_ci
from blindspot.runs import requesting
from blindspot.runs.requests import RunRequest
from blindspot.settings import Settings
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository

FROM, TO = BOTH
DIRECTIONS = {FROM: "into English", TO: "from English"}
# Computed at first: languages of several families and scripts; about two minutes with MiniLM on two cores.
USUAL = {
    "tatoeba": tuple("ara cmn deu ell fin fra hin ind jpn nld rus spa swh tur".split()),
    "demo-languages": PARALLEL["demo-languages"].codes,
}
DEFAULT = "tatoeba"


class By(StrEnum):
    """Way to group languages."""

    NONE = "none"
    SCRIPT = "script"
    FAMILY = "family"


@dataclass(frozen=True)
class Cell:
    """A language in a direction, and its run."""

    language: Language
    direction: str
    request: RunRequest


@dataclass(frozen=True)
class Score:
    """Scores of a model on a language in a direction.

    Attributes:
        accuracy: Hits@1, expected under random tie order.
        pairs, covered: number of pairs of the dataset, and of those that the model has vectors for.
    """

    language: Language
    direction: str
    run: RunRecord
    accuracy: Estimate
    mrr: Estimate
    pairs: int
    covered: int

    def of(self, measure: str) -> Estimate:
        """The accuracy or, for ``mrr``, the MRR."""
        return self.mrr if measure == "mrr" else self.accuracy

    @property
    def filtered(self) -> float:
        """Hits@1 without near-duplicates of query and match as candidates."""
        return float(self.run.metrics["hits@1_filtered"])


def sets_named(name: str) -> ParallelSets:
    """A family of parallel sets; raises ``InputError`` for another name."""
    if name not in PARALLEL:
        raise unknown("family of parallel sentences", name, PARALLEL)
    return PARALLEL[name]


def cells_of(
    sets: ParallelSets,
    wanted: Iterable[Language],
    encoder: str,
    settings: Settings,
    *,
    transform: str = "none",
    metric: str = "cos",
) -> list[Cell]:
    """The runs of a model on languages, both directions of each in turn, so that texts are encoded once.

    Raises:
        InputError: for the reasons of ``requesting.request``.
    """
    params = {CANDIDATES.name: MATCHES, "metric": metric}
    return [
        Cell(
            language,
            way,
            requesting.request(ENTRY.id, encoder, transform, sets.member(language.code, way), params, settings),
        )
        for language in wanted
        for way in BOTH
    ]


def scores_of(cells: Sequence[Cell], runs: Mapping[RunRequest, RunRecord], repository: Repository) -> list[Score]:
    """Scores of the cells that have a run, in their order; one query for all rows."""
    return scores_of_runs([runs[cell.request] for cell in cells if cell.request in runs], repository)


def scores_of_runs(runs: Sequence[RunRecord], repository: Repository) -> list[Score]:
    """Scores of runs on parallel sentences, in their order; one query for all rows."""
    in_languages = [(member, run) for run in runs if (member := place_of(run.plan.dataset))]
    rows = repository.items(ENTRY, [run.run_id for _, run in in_languages], texts=False)
    if not in_languages or rows.empty:
        return []
    places = rows.groupby("run_id", sort=False).indices
    numbers = rows["item_no"].to_numpy(dtype=np.int64)
    greater, ties = (rows[name].to_numpy(dtype=np.float64) for name in ("greater", "ties"))

    @cache
    def known(dataset_digest: str) -> Dependence:
        same = repository.same_texts(dataset_digest)
        return Dependence.of(*(same[ends] for ends in repository.pairs(dataset_digest)))

    out = []
    for (_, language, direction), run in in_languages:
        places_here = places[run.run_id]
        independent = known(run.plan.dataset_digest)
        if len(places_here) < len(independent.groups):
            independent = independent.of_some(numbers[places_here])
        hit, reciprocal = (
            expected_hit(greater[places_here], ties[places_here], 1),
            expected_reciprocal_rank(greater[places_here], ties[places_here]),
        )
        out.append(
            Score(
                language,
                direction,
                run,
                statistics.share(hit, independent),
                statistics.share(reciprocal, independent),
                run.coverage.get("pairs", len(places_here)),
                run.coverage.get("pairs_covered", len(places_here)),
            )
        )
    return out


def group_of(language: Language, by: By) -> str:
    """The group of a language; "" if languages are not grouped."""
    return {By.NONE: "", By.SCRIPT: language.script, By.FAMILY: language.kin}[by]


@dataclass(frozen=True)
class Group:
    """Languages of one script or family.

    Attributes:
        means: unweighted means of a score over the languages, by direction.
        languages: by their means over directions, the highest first.
    """

    name: str
    means: Mapping[str, float]
    languages: tuple[Language, ...]


def grouped(scores: Sequence[Score], by: By, measure: str = "accuracy") -> list[Group]:
    """Groups by their mean score, the highest first; without grouping, one group for all, with the name ""."""
    by_group: dict[str, dict[str, list[Score]]] = {}
    for score in scores:
        by_group.setdefault(group_of(score.language, by), {}).setdefault(score.language.code, []).append(score)
    groups = []
    for name, languages in by_group.items():
        order = sorted(
            languages.values(),
            key=lambda group_scores: -float(np.mean([score.of(measure).value for score in group_scores])),
        )
        every = [score for scores in order for score in scores]
        means = {
            way: float(np.mean(values))
            for way in BOTH
            if (values := [score.of(measure).value for score in every if score.direction == way])
        }
        groups.append(Group(name, means, tuple(scores[0].language for scores in order)))
    return sorted(groups, key=lambda group: -float(np.mean(list(group.means.values()))))


def answer(scores: Sequence[Score]) -> str:
    """The scores in two sentences; "" for none."""
    if not scores:
        return ""
    (everything,) = grouped(scores, By.NONE)
    n = len(everything.languages)
    means_here = [(way, everything.means[way]) for way in BOTH if way in everything.means]
    means = " and ".join(f"{number(mean, '.1%')} {DIRECTIONS[way]}" for way, mean in means_here)
    languages = f"over {n} languages, " if n > 1 else f"of {everything.languages[0].name}, "
    first = f"The nearest sentence is the translation for {means} ({languages}each sentence among all of one language)."
    if n < 2:
        return first
    best, worst = everything.languages[0], everything.languages[-1]
    ends = [
        f"{language.name}, {with_ci(_both_ways([s for s in scores if s.language == language], n), '.1%')}"
        for language in (best, worst)
    ]
    return f"{first} Highest: {ends[0]}; lowest: {ends[1]}."


def _both_ways(scores: Sequence[Score], of_many: int) -> Estimate:
    """The mean accuracy of a language over its directions; its interval allows for naming one of ``of_many`` languages.

    Both directions are of the same sentences. Their mean varies no more than a single direction with that share would.
    """
    value, level = float(np.mean([score.accuracy.value for score in scores])), level_of_each(of_many)
    n = min(score.accuracy.units for score in scores)
    interval = wilson_interval(value, n, float(quantile(np.inf, level)))
    return Estimate(value, interval, "Wilson, at most the variance of one direction", Unit.PAIRS, n, n, level=level)
