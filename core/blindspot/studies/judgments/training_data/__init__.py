"""Training data from votes: texts that people found nearer to a query than what a model found."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from blindspot.runs.training_data.examples import Triplet
from blindspot.runs.training_data.from_run import Made, Wishes, of_triplets
from blindspot.settings import Settings
from blindspot.store.repository import Repository
from blindspot.studies.judgments.tallies import Tally
from blindspot.studies.judgments.types import Item, ItemSet, Task
from blindspot.variants import Variant


def triplets(tally: Tally) -> Iterator[Triplet]:
    """Queries, the text that most people chose, and texts that fewer chose, those with the fewest votes first.

    In the comparative task, the positive is the option with the most votes, unless it shares the first place; every
    other option is a negative, since a model found it. In the intruder test, people vote for what does not belong: a
    neighbor that most chose, more than the intruder, is a negative, and neighbors with fewer votes are positives.

    ``lead`` is the share of votes for the negative as the nearer text, less the positive's share; it is below 0.
    """
    for item, chosen in zip(tally.items, tally.chosen, strict=True):
        counts = np.bincount(chosen[chosen >= 0], minlength=len(item.options))
        if counts.sum():
            yield from (_near if tally.task is Task.COMPARATIVE else _odd)(item, counts, tally.variants)


def _near(item: Item, counts: np.ndarray, variants: tuple[Variant, ...]) -> Iterator[Triplet]:
    best = int(np.argmax(counts))
    for other in np.argsort(counts, kind="stable").tolist():
        if other != best and counts[other] < counts[best]:
            lead = (counts[other] - counts[best]) / counts.sum()
            if np.count_nonzero(counts == counts[best]) == 1:
                yield _triplet(item, best, other, _of(item, other, variants), lead)


def _odd(item: Item, counts: np.ndarray, variants: tuple[Variant, ...]) -> Iterator[Triplet]:
    odd = int(np.argmax(counts))
    planted = set(item.own)
    if np.count_nonzero(counts == counts[odd]) > 1 or odd in planted or item.options[odd] == item.query.text:
        return
    whose = [variant for variant, option_of_variant in zip(variants, item.own, strict=True) if option_of_variant >= 0]
    kind = f"neighbor by {' and '.join(variant.label for variant in whose)}"
    for option in range(len(item.options)):
        if option not in {odd, *planted} and item.options[option] != item.query.text:
            yield _triplet(item, option, odd, kind, (counts[option] - counts[odd]) / counts.sum())


def _of(item: Item, option: int, variants: tuple[Variant, ...]) -> str:
    labels = [
        variant.label
        for variant, option_of_variant in zip(variants, item.own, strict=True)
        if option_of_variant == option
    ]
    return f"neighbor by {' and '.join(labels)}"


def _triplet(item: Item, positive: int, negative: int, kind: str, lead: float) -> Triplet:
    return Triplet(item.query.text, item.options[positive], item.options[negative], kind, float(lead))


def make(
    items: ItemSet, tally: Tally, least: float, wishes: Wishes, settings: Settings, repository: Repository
) -> Made:
    """Training data from a set's votes, without texts that others evaluate on, split like training data from runs.

    Args:
        least: by which share of the votes the positive must be ahead; 0 for any. ``wishes.margin`` plays no part.

    Raises:
        InputError: nothing is left to train on, or a wish cannot be granted.
    """
    chosen = [triplet for triplet in triplets(tally) if -triplet.lead >= least]
    manifest = items.manifest
    facts = {
        "models": [variant.label for variant in items.variants],
        "task": items.task.value,
        "set": items.set_id,
        "dataset_digest": manifest.get("dataset_digest", ""),
        "votes": tally.votes,
        "raters": len(tally.raters),
        "least_lead": least,
    }
    return of_triplets(chosen, str(manifest.get("dataset", "")), facts, wishes, settings, repository)
