"""Notes below EvalRank's headline: other queries that are candidates too, and misses that may be right answers."""

from __future__ import annotations

import numpy as np
import streamlit as st

from blindspot.diagnostics.evalrank import further
from blindspot.diagnostics.evalrank.outranking import QueriesAbove, only_queries, queries_above
from blindspot.diagnostics.evalrank.page.evalrank_view import BY_RUNS, EvalRankView
from blindspot.diagnostics.evalrank.pairs import PairTable
from blindspot.numerics.statistics.written import percent
from blindspot.runs.embeddings import ComparedTwice, EmbeddingsGone
from blindspot.store.records import RunRecord
from blindspot.types import Int64
from blindspot.ui import headline
from blindspot.ui.markdown import as_text
from blindspot.ui.pickers import DEFAULT_PROTOCOL
from blindspot.ui.resources import cached, repository, settings


def note(shown: EvalRankView) -> None:
    """Say that other queries compete, and in what share of the pairs the headline's model ranks one above the match;
    say nothing where that is in no pair."""
    if not stand_in_the_way(shown):
        return
    run = headline.subject_first(shown.runs, shown.picks)[0]
    text = "Other queries are candidates too"
    if (close := _counted(run, shown.pairs)) is not None:
        if not close.above:
            return
        pairs = "the pairs" if close.pairs == run.metrics["pairs"] else f"{close.pairs:,} evenly spaced pairs"
        model = as_text(run.plan.variant.label)
        text += f": in {percent(close.above / close.pairs, 1)} of {pairs}, {model} ranks another query above the match"
    st.caption(f"{text}. *Trust*, below, shows the score among matches only.")


def near_duplicates(shown: EvalRankView) -> None:
    """Say where more than a tenth of the misses of the headline's model on own pairs are near-duplicates."""
    run = headline.subject_first(shown.runs, shown.picks)[0]
    if warning := _warning(run):
        st.caption(f":material/content_copy: {as_text(warning)}")


@cached(32, "Looking for near-duplicates …")
def _warning(run: RunRecord) -> str:
    return further.warning(run, settings(), repository())


@cached(16, keys=BY_RUNS)
def _are_apart(pairs: PairTable) -> bool:
    return len(only_queries(*_numbers(pairs))) > 1


def stand_in_the_way(shown: EvalRankView) -> bool:
    """Whether other queries are candidates, though none is a match: then a score of 1 cannot be expected."""
    return not shown.among_matches and _are_apart(shown.pairs)


def _numbers(pairs: PairTable) -> tuple[Int64, Int64]:
    query, match = (pairs.frame[name].to_numpy(dtype=np.int64) for name in ("query_no", "match_no"))
    return query, match


def _counted(run: RunRecord, pairs: PairTable) -> QueriesAbove | None:
    """The count; None where it cannot be known: the embeddings are gone, or prepared by the toolkit's protocol."""
    if run.plan.params["protocol"] != DEFAULT_PROTOCOL:
        return None
    try:
        return _above(run, pairs)
    except (EmbeddingsGone, ComparedTwice):  # the view of pairs says so, and offers to encode again
        return None


@cached(32, "Counting queries above the matches …", keys=BY_RUNS)
def _above(run: RunRecord, pairs: PairTable) -> QueriesAbove:
    ranked = ~np.isnan(pairs.ranks(run.run_id, filtered=False))
    query, match = _numbers(pairs)
    return queries_above(run, query[ranked], match[ranked], settings(), repository())
