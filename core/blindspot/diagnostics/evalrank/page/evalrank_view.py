"""Data and controls that views of the EvalRank page share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from blindspot.datasets.catalog import DatasetEntry
from blindspot.datasets.kinds.scored_pairs import ScoredPairs
from blindspot.diagnostic import Diagnostic
from blindspot.diagnostics.evalrank.browsing import text_features
from blindspot.diagnostics.evalrank.definition import CANDIDATES, MATCHES
from blindspot.diagnostics.evalrank.pairs import PairTable, pair_table
from blindspot.diagnostics.evalrank.sources import PairSources, find_sources
from blindspot.errors import BlindspotError
from blindspot.figures.theme import Scheme, Style
from blindspot.numerics.statistics.compare import FILTERED, MAIN
from blindspot.runs import requesting
from blindspot.store.records import RunRecord
from blindspot.ui.markdown import as_text
from blindspot.ui.pickers import Picks
from blindspot.ui.resources import Keys, cached, explained, repository, settings
from blindspot.ui.widgets.choices import one_of
from blindspot.ui.widgets.dataset_offer import scored_pairs
from blindspot.ui.widgets.work import run_button
from blindspot.variants import Variant

BY_RUNS: Keys = {PairTable: lambda pairs: pairs.run_ids}  # a finished run never changes


@dataclass(frozen=True, eq=False)
class EvalRankView:
    """What every view gets.

    Attributes:
        runs: one per variant, of one dataset, metric and protocol, best first.
        pairs: every pair with its rank in each of them.
        filtered: whether the reader asked for filtered ranks.
        among_matches: whether only texts that are a match of some query are candidates.
    """

    entry: Diagnostic
    picks: Picks
    runs: Sequence[RunRecord]
    pairs: PairTable
    filtered: bool
    styles: Mapping[Variant, Style]
    scheme: Scheme
    among_matches: bool = False

    @property
    def family(self) -> str:
        """The family of the scores by these ranks."""
        return FILTERED if self.filtered else MAIN


def choose_filtered() -> bool:
    """Raw or filtered ranks; True for filtered."""
    about = (
        "raw: among all texts. filtered: without the query's other matches and without texts that differ from query or "
        "match only in case, spaces or punctuation."
    )
    return one_of("Ranks", ["raw", "filtered"], "ranks", about) == "filtered"


def button_for(
    label: str,
    run: RunRecord,
    transform: str,
    params: Mapping[str, str],
    *,
    key: str,
    primary: bool = True,
    covered_by: Sequence[str] = (),
) -> None:
    """A button that computes a run again under another transform or other parameters, or why it cannot be."""
    plan = run.plan
    try:
        request = requesting.request(
            plan.diagnostic, plan.variant.encoder, transform, plan.dataset, params, settings(), covered_by
        )
    except BlindspotError as error:  # the encoder or the dataset's file is gone, though the embeddings may not be
        st.caption(as_text(explained(error)))
    else:
        run_button(label, request.label, [request], key=key, primary=primary)


def choose_candidates(picks: Picks) -> dict[str, str]:
    """The parameters of the runs to show: those of the pickers, and which texts are candidates."""
    names = [CANDIDATES.as_shown(value) for value in CANDIDATES.choices]
    linked = st.query_params.get(CANDIDATES.name) == MATCHES  # a link to a run names it as the run does
    default = CANDIDATES.as_shown(MATCHES) if linked else None
    chosen = one_of(CANDIDATES.label, names, "among", CANDIDATES.help, default=default)
    return picks.params | ({CANDIDATES.name: MATCHES} if chosen == CANDIDATES.as_shown(MATCHES) else {})


@cached(16, "Reading ranks …")
def _pairs(entry: Diagnostic, run_ids: tuple[str, ...]) -> PairTable:
    return pair_table(entry, run_ids, repository())


def pairs_of(entry: Diagnostic, runs: Sequence[RunRecord]) -> PairTable:
    return _pairs(entry, tuple(r.run_id for r in runs))


@cached(16, "Comparing the texts of the pairs …", keys=BY_RUNS)
def features(pairs: PairTable) -> pd.DataFrame:
    """``text_features`` of the pairs."""
    return text_features(pairs.frame["query"].tolist(), pairs.frame["match"].tolist())


def sources_of(pairs: PairTable, entry: DatasetEntry) -> PairSources | None:
    """The sources of the pairs, in the table's order; None, after saying why, where they are not known."""
    scored = scored_pairs(entry)
    return None if scored is None else _sources(pairs, scored)


@cached(8, shared=True, keys=BY_RUNS)
def _sources(pairs: PairTable, scored: ScoredPairs) -> PairSources:
    return find_sources(pairs.frame["query"].tolist(), pairs.frame["match"].tolist(), scored)
