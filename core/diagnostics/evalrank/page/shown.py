"""What the views of the EvalRank page show: runs that can be compared, and their pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from core.diagnostic import DiagnosticEntry
from core.diagnostics.evalrank import browsing as pair_browsing
from core.diagnostics.evalrank.browsing import Compared
from core.diagnostics.evalrank.pairs import PairTable
from core.figures.theme import Scheme, Style
from core.store.records import RunRecord
from core.types import Variant
from core.ui.pickers import Picks
from core.ui.resources import Keys, cached
from core.ui.widgets.two_variants import Sides

BY_RUNS: Keys = {PairTable: lambda pairs: pairs.run_ids}  # a finished run never changes


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


@cached(16, "Comparing the texts of the pairs …", keys=BY_RUNS)
def _features(pairs: PairTable) -> pd.DataFrame:
    frame = pairs.frame
    return pair_browsing.text_features(frame["query"].tolist(), frame["mate"].tolist())


def features(shown: Shown) -> pd.DataFrame:
    """``pair_browsing.text_features`` of the shown pairs; the texts of a run's pairs never change."""
    return _features(shown.pairs)


def described_pairs(shown: Shown, sides: Sides) -> pd.DataFrame:
    """``pair_browsing.described`` of what is shown."""
    run_ids = [run.run_id for run in shown.runs]
    compared = Compared(sides.a.run_id, sides.b_id, shown.filtered)
    return pair_browsing.described(shown.pairs, features(shown), run_ids, compared)
