"""What the views of the HEROS page show: one run per variant, and the rows behind them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from core.diagnostic import DiagnosticEntry
from core.figures.theme import Scheme, Style
from core.store.records import RunRecord
from core.types import Variant
from core.ui.pickers import Picks
from core.ui.resources import Keys


@dataclass(frozen=True, eq=False)
class Shown:
    """What a view is given.

    Attributes:
        dataset: the reference of the minimal-pair set that is shown; it may be another than the sidebar's.
        runs: one per variant, all of that dataset.
        subsets: those that all runs have, in the order in which they are shown.
        rows: a row per run, original and subset: run_id, item_no, subset, cosine, similarity, original, rewrite.
    """

    entry: DiagnosticEntry
    picks: Picks
    dataset: str
    runs: Sequence[RunRecord]
    subsets: Sequence[str]
    rows: pd.DataFrame
    styles: Mapping[Variant, Style]
    scheme: Scheme


BY_RUNS: Keys = {
    Shown: lambda shown: ([run.run_id for run in shown.runs], list(shown.subsets))
}  # whose rows never change
