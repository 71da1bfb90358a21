"""What the views of the EvalRank page show: runs that can be compared, and their pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import pandas as pd
import streamlit as st
from streamlit.errors import StreamlitAPIException

from core.diagnostic import DiagnosticEntry
from core.diagnostics.evalrank import browsing as pair_browsing
from core.diagnostics.evalrank.browsing import Compared
from core.diagnostics.evalrank.pairs import PairTable
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


# What the parts of the view of pairs share: which two runs are compared, and the pairs' description.


@dataclass(frozen=True)
class Sides:
    """The two runs that the reader compares; B is None where only one is shown."""

    a: RunRecord
    b: RunRecord | None

    def compared(self, filtered: bool) -> Compared:
        return Compared(self.a.run_id, None if self.b is None else self.b.run_id, filtered)

    def first(self, runs: Sequence[RunRecord]) -> list[RunRecord]:
        """The runs, A and B before the others."""
        ahead = [self.a] if self.b is None else [self.a, self.b]
        return [*ahead, *(run for run in runs if run not in ahead)]


def compared_pair(runs: Sequence[RunRecord]) -> Sides:
    """Let the reader choose A and B; at first the two best. Both stand in the address: the best may be others later."""
    if len(runs) < 2:
        return Sides(runs[0], None)
    by_name = {str(run.plan.variant): run for run in runs}
    names = list(by_name)
    first = _valid("a", names, names[0])
    _valid("b", names, next(name for name in names if name != first))
    left, right = st.columns(2)
    a = left.selectbox("A", names, index=None, key="a", bind="query-params", help="An encoder to compare with B.")
    b = right.selectbox("B", names, index=None, key="b", bind="query-params", help="An encoder to compare with A.")
    return Sides(by_name[a or names[0]], by_name[b or names[1]])


def _valid(key: str, names: Sequence[str], default: str) -> str:
    """Give a picker a value that it can have: what it has, what the address says, the default."""
    value = st.session_state.get(key, st.query_params.get(key))
    if value not in names:
        value = st.session_state[key] = default
        # A picker that appears with a value does not write it into the address by itself.
        if key not in st.query_params:
            with suppress(StreamlitAPIException):  # held by a picker already, which then writes it
                st.query_params[key] = default
    return str(value)


@st.cache_data(show_spinner="Comparing the texts of the pairs …", max_entries=16)
def _features(_shown: Shown, dataset_digest: str, run_ids: tuple[str, ...]) -> pd.DataFrame:  # noqa: ARG001 - cache key
    frame = _shown.pairs.frame
    return pair_browsing.text_features(frame["query"].tolist(), frame["mate"].tolist())


def features(shown: Shown) -> pd.DataFrame:
    """``pair_browsing.text_features`` of the shown pairs; the texts of a run's pairs never change."""
    run_ids = tuple(sorted(run.run_id for run in shown.runs))
    return _features(shown, shown.runs[0].plan.dataset_digest, run_ids)


def described_pairs(shown: Shown, sides: Sides) -> pd.DataFrame:
    """``pair_browsing.described`` of what is shown."""
    run_ids = [run.run_id for run in shown.runs]
    return pair_browsing.described(shown.pairs, features(shown), run_ids, sides.compared(shown.filtered))
