"""Training data of a run: what a model got wrong, filtered, split and described."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from blindspot.datasets.catalog import DatasetRef, title_of
from blindspot.runs.training_data import examples, files
from blindspot.runs.training_data.evaluated import evaluated
from blindspot.runs.training_data.examples import Triplet
from blindspot.runs.training_data.making import HELD_OUT, SEED, TrainingData, made
from blindspot.settings import Settings
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository


@dataclass(frozen=True)
class Wishes:
    """Choices of training data.

    Attributes:
        margin: largest lead of the positive; 0 takes only what is wrong.
        most: negatives per anchor and positive, at most.
        negatives: columns of negatives in a row of triplets.
        kinds: of negatives; none means all.
        held_out: share of the examples.
        leave_out: datasets whose texts nobody may train on, beside those that were evaluated here.
        allow: datasets whose texts may be trained on though they were evaluated here.
    """

    margin: float = examples.WRONG
    most: int = examples.MOST
    negatives: int = 1
    kinds: tuple[str, ...] = ()
    held_out: float = HELD_OUT
    leave_out: tuple[DatasetRef, ...] = ()
    allow: tuple[DatasetRef, ...] = ()
    seed: int = SEED


@dataclass(frozen=True, eq=False)
class Made:
    """Training data of a run, as files by their paths."""

    data: TrainingData
    files: Mapping[PurePosixPath, bytes]
    warning: str


def make(run: RunRecord, wishes: Wishes, settings: Settings, repository: Repository) -> Made:
    """Training data of a finished run.

    Raises:
        InputError: nothing is left to train on, or a wish cannot be granted.
        BlindspotError: embeddings or a dataset are gone.
    """
    triplets = examples.triplets_of(
        run, settings, repository, most=max(wishes.most, wishes.negatives), margin=wishes.margin
    )
    facts = {
        "model": run.plan.variant.label,
        "diagnostic": run.plan.diagnostic,
        "dataset_digest": run.plan.dataset_digest,
        "run_id": run.run_id,
        "margin": wishes.margin,
    }
    return of_triplets(triplets, run.plan.dataset, facts, wishes, settings, repository)


def of_triplets(
    triplets: Sequence[Triplet],
    source: str,
    about: Mapping[str, Any],
    wishes: Wishes,
    settings: Settings,
    repository: Repository,
) -> Made:
    """Training data of triplets of the dataset ``source``, filtered and split; ``about`` are facts for ``about.json``.

    Raises as ``make``.
    """
    others = evaluated(source, wishes.leave_out, wishes.allow, settings, repository)
    data = made(triplets, others.texts, kinds=wishes.kinds, held_out=wishes.held_out, seed=wishes.seed)
    facts = {
        **about,
        "dataset": title_of(source),
        "seed": wishes.seed,
        "evaluated_on": [title_of(dataset) for dataset in others.datasets],
    }
    return Made(data, files.content(data, facts, wishes.negatives), others.warning)
