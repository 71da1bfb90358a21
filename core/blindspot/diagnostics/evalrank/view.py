"""Views of EvalRank's runs, the same on the page and by commands: choices of counting, and overlap with training."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from blindspot.datasets.catalog import DATASETS
from blindspot.datasets.kinds.scored_pairs import ScoredPairs
from blindspot.datasets.training_overlap import Overlap, TrainingSet, of_sts_benchmark, overlap
from blindspot.diagnostics.evalrank import uncertainty
from blindspot.diagnostics.evalrank.definition import CANDIDATES, ENTRY, MATCHES
from blindspot.diagnostics.evalrank.further import ranked_pairs, scores_by_group
from blindspot.diagnostics.evalrank.kinds import scores_by_kind
from blindspot.diagnostics.evalrank.pairs import MeanScore, PairTable, rows_of_runs
from blindspot.diagnostics.evalrank.trust import (
    Choice,
    as_toolkit,
    candidates_in,
    choices,
    other_candidates,
    other_coverage,
    other_protocol,
    pairs_of,
    with_first_items,
)
from blindspot.numerics.statistics.groups import Gains, Grouping, gains
from blindspot.runs.embeddings import ComparedTwice
from blindspot.settings import Settings
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.transforms.toolkit import DEFINITION, TOOLKIT

# --- choices of counting


@dataclass(frozen=True)
class Others:
    """Stored runs that differ from a run in one choice; None where there is none."""

    protocol: RunRecord | None
    covered: RunRecord | None
    candidates: RunRecord | None

    @classmethod
    def of(cls, run: RunRecord, repository: Repository) -> Others:
        return cls(
            other_protocol(run, ENTRY, repository),
            other_coverage(run, ENTRY, repository) if run.plan.covered_digest else None,
            other_candidates(run, ENTRY, repository),
        )

    @property
    def run_ids(self) -> tuple[str, ...]:
        return tuple(run.run_id for run in (self.protocol, self.covered, self.candidates) if run)


@dataclass(frozen=True)
class TrustView:
    """What each choice of counting does to the score of a run; the first choice is the score as it is shown."""

    run_id: str
    filtered: bool
    choices: tuple[Choice, ...]

    def of(self, about: str) -> Choice | None:
        """The first choice about something."""
        return next((choice for choice in self.choices if choice.about == about), None)

    def with_choices(self, further: Iterable[Choice]) -> TrustView:
        return replace(self, choices=(*self.choices, *further))

    def as_json(self) -> dict[str, Any]:
        return {
            "run_id": self.run_id,
            "filtered": self.filtered,
            "choices": [choice.as_json() for choice in self.choices],
        }


def trust_view(
    run: RunRecord, frame: pd.DataFrame, others: Others, repository: Repository, *, filtered: bool
) -> TrustView:
    """The choices whose scores follow from stored rows, of the run itself and of runs that differ in one choice.

    Args:
        frame: of a ``PairTable`` that has the run.
        filtered: whether to begin with filtered ranks.
    """
    rows = rows_of_runs(ENTRY, [run.run_id, *others.run_ids], repository)
    run_rows = rows[run.run_id]
    scores = {run_id: of_run.score(filtered) for run_id, of_run in rows.items()}
    choices_made = choices(run_rows, pairs_of(run_rows, frame), filtered=filtered)
    return TrustView(run.run_id, filtered, (*choices_made, *_of_others(run, others, scores)))


def _of_others(run: RunRecord, others: Others, scores: Mapping[str, MeanScore]) -> list[Choice]:
    out = []
    if other := others.protocol:
        way = other.plan.params["protocol"]
        if way == TOOLKIT:
            about = (
                "As the published toolkit counts: the similarity of the match is rounded differently from all others."
            )
            if as_toolkit(run.plan.variant.transform) != run.plan.variant.transform:
                about += " It also always centers the embeddings."
        else:
            about = f"By definition, exact and with ties: {other.plan.variant.label}."
        out.append(Choice("protocol", way, scores[other.run_id], about, run_id=other.run_id))
    if other := others.covered:
        way = "own" if other.plan.own_covered else "common"
        items = f"{other.coverage['items_covered']:,} of {other.coverage['items']:,} texts"
        about = (
            f"On all texts that this model covers ({items}); not comparable with other models."
            if other.plan.own_covered
            else f"On the texts that all compared models cover ({items})."
        )
        out.append(Choice("support", way, scores[other.run_id], about, run_id=other.run_id))
    if other := others.candidates:
        way, background = candidates_in(other), f"{other.metrics['background']:,.0f} texts"
        about = (
            f"Only the {background} that are a match of some query compete: neither other queries nor background."
            if way == MATCHES
            else f"All {background} of the dataset compete, other queries included, as in the paper."
        )
        out.append(Choice(CANDIDATES.name, way, scores[other.run_id], about, run_id=other.run_id))
    return out


def ranked_again(run: RunRecord, settings: Settings, repository: Repository, *, filtered: bool) -> list[Choice]:
    """Choices for which cached embeddings are ranked again: without the frequent words of the background, if there are
    any (the paper's table 4), and without texts of the same group, for each own column of the pairs' file.

    Nothing under the toolkit's protocol, and where no single vector per text gives the run's ranks.

    Raises:
        EmbeddingsGone: the cache no longer has the run's embeddings.
    """
    out = []
    dataset = DATASETS.get(run.plan.dataset)
    try:
        if dataset and dataset.core_texts and run.plan.params["protocol"] == DEFINITION:
            fewer = with_first_items(run, dataset.core_texts, settings, repository, ENTRY)
            about = (
                f"Matches compete only with the {dataset.core_texts:,} words of the similarity sets, not with the most "
                "frequent words of English (the ablation in the paper's table 4). Transforms are not refitted."
            )
            out.append(Choice("background", "without frequent words", fewer.score(filtered), about))
        for name, score in scores_by_group(run, *ranked_pairs(run, repository), settings, repository).items():
            about = f"Filtered ranks without other texts of the same {name}: where these are right answers too."
            out.append(Choice("groups", name, score, about))
    except ComparedTwice:
        return []
    return out


# --- kinds of pair


def kinds_view(pairs: PairTable, groups: Grouping, *, filtered: bool) -> dict[str, pd.DataFrame]:
    """The scores of each run on each kind of pair (``kinds.scores_by_kind``), by run id."""
    about = pairs.numbers, pairs.dependence
    return {
        run_id: scores_by_kind(groups, run_rows, *about, filtered=filtered) for run_id, run_rows in pairs.rows.items()
    }


def gains_view(pairs: PairTable, groupings: Mapping[str, Grouping], a: str, b: str, *, filtered: bool) -> Gains:
    """The kinds of pair, from several named groupings, on which run B gains and loses most against run A."""
    score = "mrr_filtered" if filtered else "mrr"
    of = {
        run_id: by_name[score]
        for some in uncertainty.groups(pairs, [a, b], [score])
        for run_id, by_name in some.items()
    }
    return gains(groupings, pairs.numbers, of[a], of[b])


# --- overlap with a training set

STS_BENCHMARK = "STS-Benchmark, training part"


def sts_benchmark(scored: ScoredPairs) -> TrainingSet:
    """The training set among the sources of EvalRank's sentence pairs."""
    return of_sts_benchmark(STS_BENCHMARK, scored)


@dataclass(frozen=True)
class PartScore:
    """A run's score on some of the pairs, by raw and by filtered ranks."""

    raw: MeanScore
    filtered: MeanScore

    def by(self, filtered: bool) -> MeanScore:
        return self.filtered if filtered else self.raw

    def as_json(self) -> dict[str, Any]:
        return {"raw": self.raw.as_json(), "filtered": self.filtered.as_json()}


@dataclass(frozen=True, eq=False)
class OverlapView:
    """Pairs that are in a training set, and the scores with and without them.

    Attributes:
        scores: by run id, then by part: ``all`` pairs, those ``seen`` in training, the ``rest``, and those with
            ``no_text`` in it.
    """

    training: TrainingSet
    found: Overlap
    scores: Mapping[str, Mapping[str, PartScore]]

    @property
    def pairs(self) -> int:
        return len(self.found.both)

    @property
    def both(self) -> int:
        """Pairs with both texts in one row of the training set."""
        return int(self.found.both.sum())

    @property
    def any_text(self) -> int:
        """Pairs with at least one text in any row."""
        return int(self.found.any_text.sum())

    def as_json(self, run_id: str) -> dict[str, Any]:
        """The overlap and one run's scores."""
        return {
            "run_id": run_id,
            "training": {"name": self.training.name, "rows": self.training.rows},
            "pairs": self.pairs,
            "pairs_in_training": self.both,
            "pairs_with_a_text_in_training": self.any_text,
            "scores": {name: part.as_json() for name, part in self.scores[run_id].items()},
        }


def overlap_view(pairs: PairTable, training: TrainingSet) -> OverlapView:
    """The overlap of runs' pairs with a training set."""
    overlap_with_training, numbers = (
        overlap(pairs.frame["query"].tolist(), pairs.frame["match"].tolist(), training),
        pairs.numbers,
    )
    parts = {"all": numbers, "seen": numbers[overlap_with_training.both], "rest": numbers[~overlap_with_training.both]}
    parts["no_text"] = numbers[~overlap_with_training.any_text]
    scores = {}
    for run_id, run_rows in pairs.rows.items():
        inside = {name: np.isin(run_rows.item_no, part) for name, part in parts.items()}
        scores[run_id] = {
            n: PartScore(run_rows.score(False, among), run_rows.score(True, among)) for n, among in inside.items()
        }
    return OverlapView(training, overlap_with_training, scores)
