"""What the views of the EvalRank page show: runs that can be compared, and their pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.diagnostics.base import DiagnosticEntry
from core.explore import PairTable
from core.figures.theme import Scheme, Style
from core.store.records import RunRecord
from core.types import Variant
from core.ui.pickers import Picks


@dataclass(frozen=True, eq=False)
class Shown:
    """What a view is given.

    Attributes:
        runs: one per variant, of one dataset, metric and protocol, best first.
        pairs: every pair with its rank in each of them.
        filtered: whether the reader asked for filtered ranks.
    """

    entry: DiagnosticEntry
    picks: Picks
    runs: Sequence[RunRecord]
    pairs: PairTable
    filtered: bool
    styles: Mapping[Variant, Style]
    scheme: Scheme
