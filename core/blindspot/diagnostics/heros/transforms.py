"""HEROS's profile of one encoder under each transform, from its stored runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from blindspot.diagnostics.heros.orderings import Cosines, Rate, listed_orderings, rate
from blindspot.store.records import RunRecord
from blindspot.transforms.chain import READY_CHAINS

USUAL = ("none", "center", "zscore", "abtt:2", "whiten")  # chains that the page offers to run


@dataclass(frozen=True)
class ChainProfile:
    """One transform chain's profile.

    Attributes:
        chain: for example ``center``.
        means: mean normalized similarity per subset.
        kept: rate of the first listed ordering (``synonym>antonym``); None if the dataset has one subset only.
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
    order_of = {chain: i for i, chain in enumerate(READY_CHAINS)}
    return {c: newest[c] for c in sorted(newest, key=lambda c: (order_of.get(c, len(order_of)), c))}


def chain_profile(run: RunRecord, cosines: Cosines) -> ChainProfile:
    """A run's profile; ``cosines`` are its stored rows."""
    listed = listed_orderings(cosines.subsets)
    means = {subset: run.metrics[subset] for subset in cosines.subsets}
    return ChainProfile(run.plan.variant.transform, means, rate(cosines, listed[0]) if listed else None)


def not_yet_run(chains: Iterable[str]) -> list[str]:
    """The usual chains that are not among ``chains``."""
    return [chain for chain in USUAL if chain not in chains]
