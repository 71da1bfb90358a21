"""Published scores on the EvalRank page: next to runs under the toolkit protocol, never the definition."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from blindspot.diagnostics.evalrank import published as reference
from blindspot.diagnostics.evalrank.figures.scores import PANELS, Dot, published_dots
from blindspot.diagnostics.evalrank.published import PublishedScore
from blindspot.store.records import RunRecord
from blindspot.ui.pickers import DEFAULT_PROTOCOL, Picks
from blindspot.ui.resources import scheme
from blindspot.ui.variant_looks import variant_styles
from blindspot.ui.widgets import tables
from blindspot.ui.widgets.choices import one_of

ALL = "all"


def published(runs: Sequence[RunRecord], picks: Picks) -> None:
    """Published scores next to those measured with the same arithmetic, if there are any."""
    rows = reference.published_for(picks.dataset)
    if picks.protocol == DEFAULT_PROTOCOL or not rows:
        return
    with st.expander("Published scores next to these", icon=":material/menu_book:", expanded=True):
        kinds = list(dict.fromkeys(row.post_processing for row in rows))
        chosen = one_of(
            "Post-processing",
            [ALL, *kinds],
            "published",
            "What was done to the embeddings on top of the toolkit's own centering (and, for cosine, "
            "normalizing): none, abtt (all-but-the-top) or whitening. Not stated: the paper does not say.",
        )
        kept = [row for row in rows if chosen in (ALL, row.post_processing)]
        same = [row for row in kept if row.metric == picks.metric]
        measured = [run for run in runs if chosen in (ALL, reference.post_processing_of(run.plan.variant.transform))]
        if same:
            figure = published_dots(_dots(same, measured), variant_styles(run.plan.variant for run in runs), scheme())
            st.plotly_chart(figure, key="published_dots")
            st.caption(
                "Hollow on a dashed line: published, not computed here. Filled: measured here under the toolkit "
                f"protocol. All by raw ranks, with the similarity {picks.metric}."
            )
        else:
            st.info(f"None of these was published with the similarity {picks.metric}; the table has what was.")
        st.markdown(
            "Two rows are comparable where similarity **and** post-processing are the same; the table names both. "
            "The toolkit centers in any case, so that `none` and `center` here are its *none*. The digits that its "
            "rounding decides differ from machine to machine; take differences below a hundredth for that."
        )
        tables.draw(_table(kept), key="published_table", column_config=_COLUMNS)


def _dots(rows: Sequence[PublishedScore], runs: Sequence[RunRecord]) -> list[Dot]:
    several = len({row.post_processing for row in rows}) > 1
    dots = []
    for row in rows:  # a whitened model says so in its name
        suffix = " + abtt" if several and row.post_processing == "abtt" else ""
        dots.append(Dot(row.model + suffix, row.scores))
    return dots + [
        Dot(run.plan.variant.label, {name: run.metrics[name] for name in PANELS}, run.plan.variant) for run in runs
    ]


def _table(rows: Sequence[PublishedScore]) -> list[dict[str, object]]:
    return [
        {
            "model": row.model,
            "post-processing": row.post_processing,
            "similarity": row.metric.value,
            **{title: row.scores[name] for name, title in PANELS.items()},
            "published in": row.source,
            "note": row.note,
        }
        for row in rows
    ]


_COLUMNS = dict.fromkeys(PANELS.values(), "%.4f")  # as published, in hundredths of a percent
