"""View *kinds of pair* of the EvalRank page: where the model does well, and where badly."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from blindspot.datasets.kinds.own_columns import OwnColumn
from blindspot.diagnostics.evalrank.kinds import MEASURES, Kind, choices_of, group_pairs
from blindspot.diagnostics.evalrank.page.evalrank_view import BY_RUNS, EvalRankView, sources_of
from blindspot.diagnostics.evalrank.pairs import PairTable
from blindspot.diagnostics.evalrank.sources import PairSources
from blindspot.diagnostics.evalrank.view import gains_view, kinds_view
from blindspot.figures.groups import group_lines
from blindspot.numerics.statistics.groups import FEW, Gains, Grouping
from blindspot.texts import are_words
from blindspot.ui.resources import cached, repository
from blindspot.ui.widgets import dataset_offer
from blindspot.ui.widgets import kinds as widget
from blindspot.ui.widgets.two_variants import two_variants

QUESTIONS = {
    Kind.OVERLAP: "lexical overlap",
    Kind.LENGTH: "length",
    Kind.FREQUENCY: "frequency",
    Kind.SOURCE: "source",
}
NOTES = {
    Kind.OVERLAP: "Distinct words in both texts, divided by those in either. Where the score is high "
    "only on the right, the model matches words rather than meanings.",
    Kind.LENGTH: "Short texts have more neighbors that differ in one word.",
    Kind.FREQUENCY: "Occurrences per million words of English (wordfreq); of a text of several words the geometric "
    "mean. Words that wordfreq lacks count as rarest.",
    Kind.SOURCE: "The sets from whose best-scored quarters the pairs come. A pair in several sets counts in each "
    "of them. A model trained on a set has an advantage there; see the view *trust*.",
}


OF = {"query": " of the query", "match": " of the match"}  # which text has the kind
OWN = "A column of your file. A text without a value counts as (empty)."


def show(shown: EvalRankView) -> None:
    user_columns = choices_of(repository().own_columns(shown.picks.dataset, shown.runs[0].plan.dataset_digest))
    _most_changed(shown, user_columns)
    questions = {kind: f"by {QUESTIONS[kind]}" for kind in [_telling(shown.pairs), *QUESTIONS]}
    kind, measure = widget.choose("pairs", questions, user_columns, MEASURES, keys=("by", "kinds_measure"))
    sources = None
    if kind == Kind.SOURCE:
        sources = _sources(shown)
        if sources is None:
            return
    column = user_columns.get(kind)
    of_column = column.digest if column else ""
    groups, scores = _scores(shown.pairs, kind, of_column, column, sources, shown.filtered)
    if widget.are_alike(groups, "pairs"):
        return
    by_variant = {run.plan.variant: scores[run.run_id] for run in shown.runs}
    figure = group_lines(
        by_variant, groups.axis, measure, MEASURES[measure], "pairs", shown.styles, shown.scheme, joined=groups.ordered
    )
    st.plotly_chart(figure, key="kinds")
    about = OWN if column else NOTES[Kind(kind)]
    st.caption(
        f"{about} Bars: 95% CI that allow for pairs sharing texts; none where too few pairs are independent (see "
        f"*The numbers*). Hollow: fewer than {FEW} pairs. Below each group, its number of pairs."
    )
    with st.expander("The numbers", icon=":material/table:"):
        widget.table(by_variant, measure, "pairs", key="kinds_numbers")


def _sources(shown: EvalRankView) -> PairSources | None:
    """Where each pair comes from; None, after saying why, where that is not known."""
    dataset = shown.picks.dataset
    entry = dataset_offer.entry_of(dataset)
    if entry is None:
        st.info("The sources of these pairs are not known. Choose another grouping.")
        return None
    if not dataset_offer.is_here(entry):
        dataset_offer.offer(entry, "The score on each of the sets that the pairs were taken from", key="fetch_kinds")
        return None
    return sources_of(shown.pairs, entry)


# --- where B gains and loses most


def _most_changed(shown: EvalRankView, user_columns: Mapping[str, OwnColumn]) -> None:
    """A sentence: the groups of pairs on which B gains most and loses most against A."""
    if len(shown.runs) < 2:
        return
    sides = two_variants(shown.runs)
    if sides.b is None:
        return
    digests = tuple(column.digest for column in user_columns.values())
    group_gains = _gains(shown.pairs, sides.a.run_id, sides.b.run_id, digests, user_columns, shown.filtered)
    a, b = (run.plan.variant.label for run in (sides.a, sides.b))
    widget.say_gains(group_gains, a, b, "pair", "pairs", MEASURES["mrr"], key="kind_gains", sides=OF)


@cached(32, "Comparing kinds of pair …", keys=BY_RUNS)
def _gains(
    pairs: PairTable,
    a: str,
    b: str,
    digests: tuple[str, ...],  # noqa: ARG001 - of the key
    _own: Mapping[str, OwnColumn],
    filtered: bool,
) -> Gains:
    kinds = [Kind.LENGTH, _telling(pairs)]
    groupings = {str(kind): _grouping(pairs, kind, "", None, None) for kind in kinds}
    groupings |= {name: _grouping(pairs, name, column.digest, column, None) for name, column in _own.items()}
    return gains_view(pairs, groupings, a, b, filtered=filtered)


@cached(16, shared=True, keys=BY_RUNS)
def _telling(pairs: PairTable) -> Kind:
    """The kind to begin with: two different words have none in common."""
    return Kind.FREQUENCY if are_words([*pairs.frame["query"], *pairs.frame["match"]]) else Kind.OVERLAP


# --- the scores


@cached(32, "Grouping the pairs …", keys=BY_RUNS)
def _scores(
    pairs: PairTable,
    kind: str,
    of_column: str,
    _column: OwnColumn | None,
    _sources: PairSources | None,
    filtered: bool,
) -> tuple[Grouping, dict[str, pd.DataFrame]]:
    """The groups of pairs, and a table of scores per run."""
    groups = _grouping(pairs, kind, of_column, _column, _sources)
    return groups, kinds_view(pairs, groups, filtered=filtered)


@cached(16, shared=True, keys=BY_RUNS)
def _grouping(
    pairs: PairTable,
    kind: str,
    of_column: str,  # noqa: ARG001 - of the key
    _column: OwnColumn | None,
    _sources: PairSources | None,
) -> Grouping:
    return group_pairs(kind, pairs.frame, _column, _sources)
