"""For one pair, side by side per encoder: what stands above its mate, and why it may stand there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

from core.diagnostics.evalrank import pairs as explore
from core.diagnostics.evalrank import reasons as hubs
from core.diagnostics.evalrank.page.shown import Shown, features
from core.diagnostics.evalrank.page.sources import sources_of
from core.diagnostics.evalrank.reasons import K, Occurrences, reasons
from core.figures.html_tables import TableRow, ranking_table
from core.numerics.neighbours.hubness import HUB
from core.numerics.ranking.problem import Relation
from core.runs.embeddings import EmbeddingsGone
from core.store.records import RunRecord
from core.types import Int64
from core.ui.markdown import as_text
from core.ui.pickers import DEFAULT_PROTOCOL
from core.ui.resources import cached, jobs, repository, scheme, settings
from core.ui.widgets import dataset_offer
from core.ui.widgets.two_variants import Sides
from core.ui.widgets.work import has_changed, rerun_button

MAX_SIDE_BY_SIDE = 4
MARKS = {Relation.ABOVE: "▲", Relation.TIED: "=", Relation.MATE: "●", Relation.BELOW: "▽"}


def show(shown: Shown, sides: Sides, selected: int) -> None:
    """For one pair: what each variant puts above the mate."""
    table = shown.pairs
    pair = table.frame[table.frame["item_no"] == selected].iloc[0]
    with st.container(border=True, key="drill"):
        for label, text in (("Query", pair["query"]), ("Mate", pair["mate"])):
            with st.container(horizontal=True, gap="small"):
                st.markdown(f"**{label}**", width="content")
                st.text(text)  # as text: never as HTML or markdown
        _gold(shown, selected)
        runs = sides.first(shown.runs)[:MAX_SIDE_BY_SIDE]
        if len(shown.runs) > len(runs):
            st.caption(f"{len(runs)} of {len(shown.runs)} variants, A and B first; pick others in the sidebar.")
        of_words = "frequency of query" in features(shown)
        with_hubs = st.toggle(
            "Look for hubs",
            key="hubs",
            bind="query-params",
            help=f"A hub stands among the {K} nearest items of many queries, whatever they say. Counted over the "
            f"dataset's queries, at most {hubs.MOST_QUERIES:,} of them; called a hub from {HUB:g} times the average "
            "on. Takes some seconds the first time.",
        )
        queries = table.frame["query_no"].unique() if with_hubs else None
        for column, run in zip(st.columns(len(runs)), runs, strict=True):
            with column:
                st.markdown(f"**{as_text(run.plan.variant.label)}**")
                _above(run, pair, of_words=of_words, queries=queries)
        why = "whether it is a frequent word (Zipf 5 or more)" if of_words else "words it shares with the query, length"
        st.caption(
            "▲ above the mate, ● the mate, = tied with it, ▽ below it. Underlined: words that the query does not have. "
            "In brackets: why filtered ranks ignore an item. Below an item, why it may be near: "
            f"{why}, whether it is a hub."
        )


def _gold(shown: Shown, selected: int) -> None:
    """How alike people found the two texts, where the pair's source is known and on this machine."""
    entry = dataset_offer.entry_of(shown.runs[0].plan.dataset)
    if entry is None:
        return
    if not dataset_offer.is_here(entry):
        st.caption(f"Its gold score would come from {entry.title}; the view *kinds of pair* can download it.")
        return
    found = sources_of(shown.pairs, entry)
    if found is None:
        return
    place = int(np.flatnonzero(shown.pairs.frame["item_no"] == selected)[0])
    highest = dict(zip(found.names, found.highest, strict=True))
    scores = [f"{s.score:.4g} of {highest[s.source]:.4g} in {as_text(s.source)}" for s in found.of(place)]
    st.caption(f"Gold score: {', '.join(scores)}." if scores else "Gold score: not in the known source sets.")


@cached(32, "Counting whose neighbours the items are …")
def _occurrences(run: RunRecord, queries: bytes) -> Occurrences:
    return hubs.occurrences(run, np.frombuffer(queries, dtype=np.int64), settings(), repository())


def _why(
    run: RunRecord, query: str, items: Sequence[explore.RankedItem], of_words: bool, queries: Int64 | None
) -> list[str]:
    """Per item why it may stand where it does, in a line."""
    counted = None if queries is None else _occurrences(run, queries.astype(np.int64).tobytes())
    numbers, texts = [item.item_no for item in items], [item.text for item in items]
    return [" · ".join(found) for found in reasons(query, numbers, texts, of_words=of_words, hubs=counted)]


def _above(run: RunRecord, pair: pd.Series, *, of_words: bool, queries: Int64 | None) -> None:
    raw, filtered = pair[f"{run.run_id} rank"], pair[f"{run.run_id} filtered rank"]
    if pd.isna(raw):
        st.caption("Not ranked: it has no vector for query or mate.")
        return
    st.markdown(
        f"rank **{raw:,g}** raw, **{filtered:,g}** filtered · similarity {pair[f'{run.run_id} similarity']:.4f}"
    )
    if run.plan.params["protocol"] != DEFAULT_PROTOCOL:
        st.caption("With the toolkit's rounding. Choose the protocol *definition* to see what stands above the mate.")
        return
    try:
        items = explore.around_mate(run, int(pair["query_no"]), int(pair["mate_no"]), settings(), repository())
    except EmbeddingsGone as gone:
        st.warning(str(gone))
        rerun_button("Encode again", f"Encoding for {run.plan.variant.label}", [run], key=f"again_{run.run_id}")
        if has_changed(jobs().active()):  # the button was pressed: the page shows progress, above this view
            st.rerun()
        return
    why = _why(run, pair["query"], items, of_words, queries)
    rows = [
        TableRow(
            item.position,
            MARKS[item.relation],
            item.similarity,
            item.text,
            item.left_out,
            item.relation is Relation.MATE,
            reason,
        )
        for item, reason in zip(items, why, strict=True)
    ]
    st.html(ranking_table(pair["query"], rows, scheme(), f"Ranking by {run.plan.variant.label}"))
