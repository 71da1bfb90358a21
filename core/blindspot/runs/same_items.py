"""Choice of runs whose scores can be compared: one per model, over the same items."""

from __future__ import annotations

from collections.abc import Sequence

from blindspot.store.records import RunRecord
from blindspot.variants import Variant


def on_same_items(runs: Sequence[RunRecord], own: bool) -> list[RunRecord]:
    """One run per variant, the newest, such that scores can be compared.

    Args:
        runs: of one dataset and one set of parameters, newest first.
        own: each encoder on the items that it covers; otherwise runs that ranked the very same items, those
            that most variants were run on, among equals the newest.
    """
    widest = widest_covered(runs)
    comparable = [r for r in runs if (r.plan.own_covered if own else r.plan.covered_digest == widest)]
    return list({r.plan.variant: r for r in reversed(comparable)}.values())


def widest_covered(runs: Sequence[RunRecord]) -> str:
    """Digest of the items that most variants were run on, among equals the first; "" for all items, and of no runs."""
    variants: dict[str, set[Variant]] = {}
    for run in runs:
        variants.setdefault(run.plan.covered_digest, set()).add(run.plan.variant)
    return max(variants, key=lambda digest: len(variants[digest]), default="")
