"""Which two variants the reader of the page Transfer lays beside each other; both stand in the address."""

from __future__ import annotations

from collections.abc import Sequence

from core.store.records import RunRecord
from core.ui.heros_sides import two_variants

KEYS = ("transfer_a", "transfer_b")


def sides_of(runs: Sequence[RunRecord]) -> dict[str, RunRecord]:
    """The runs by A and B; A alone where there is one, or one is chosen twice."""
    if len(runs) < 2:
        return {"A": runs[0]}
    both = two_variants(runs, KEYS)
    return {"A": both.a, "B": both.b} if both.are_two else {"A": both.a}
