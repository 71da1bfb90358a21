"""How HEROS's profile of one encoder moves from transform to transform, from its stored runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.diagnostics.heros.orderings import Cosines, Ordering, Rate, laid_beside, rate
from core.store.records import RunRecord
from core.transforms.chain import READY_CHAINS

UNTOUCHED = "none"
USUAL = ("center", "zscore", "abtt:2", "whiten")  # what is offered to be run beside ``UNTOUCHED``


@dataclass(frozen=True)
class ChainProfile:
    """One transform chain's profile.

    Attributes:
        chain: as it is written, for example ``center``.
        means: mean normalised similarity per subset.
        kept: how often the ordering that is followed holds; None where the dataset has one subset only.
    """

    chain: str
    means: Mapping[str, float]
    kept: Rate | None


def newest_by_chain(runs: Sequence[RunRecord]) -> dict[str, RunRecord]:
    """The newest run per transform chain of an encoder's ``runs`` (newest first): ``none``, then those that pickers
    offer in their order, then others by name."""
    newest: dict[str, RunRecord] = {}
    for run in runs:
        newest.setdefault(run.plan.variant.transform, run)
    place = {chain: i for i, chain in enumerate(READY_CHAINS)}
    return {c: newest[c] for c in sorted(newest, key=lambda c: (place.get(c, len(place)), c))}


def followed(subsets: Sequence[str]) -> Ordering | None:
    """The ordering to follow from chain to chain: ``synonym>antonym`` where it is, else the first that is listed."""
    listed = laid_beside(subsets).orderings
    return listed[0] if listed else None


def chain_profile(run: RunRecord, cosines: Cosines) -> ChainProfile:
    """What a run says of its chain; ``cosines`` are its stored rows."""
    ordering = followed(cosines.subsets)
    return ChainProfile(
        run.plan.variant.transform,
        {subset: run.metrics[subset] for subset in cosines.subsets},
        None if ordering is None else rate(cosines, ordering),
    )


def not_yet_run(chains: Sequence[str]) -> list[str]:
    """What is usually run and is not among ``chains``."""
    return [chain for chain in (UNTOUCHED, *USUAL) if chain not in chains]
