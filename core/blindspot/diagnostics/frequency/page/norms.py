"""The view *norms* of the Frequency page: lengths of vectors against frequency."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import streamlit as st

from blindspot.datasets.word_frequency import Frequencies
from blindspot.diagnostics.frequency import norms
from blindspot.diagnostics.frequency.figures.norms import norm_scatter
from blindspot.diagnostics.frequency.norms import Norms
from blindspot.diagnostics.frequency.page.frequency_view import FrequencyView
from blindspot.numerics.statistics.association import Correlation
from blindspot.numerics.statistics.written import SCORE, number
from blindspot.runs.spaces import Space
from blindspot.ui import headline
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import cached
from blindspot.ui.widgets import tables
from blindspot.variants import Variant

MOST_CHARTS = 8  # a browser drops older WebGL charts beyond some sixteen
LISTED = 25
ORDERS = ("longest", "shortest")

HOW = f"""
The length of an item's vector is its Euclidean norm after the transform. Each dot is an item; the dark line is the
median in bins of {norms.BIN:g} Zipf (log10 of occurrences per billion words), its bars the 95% interval of the median
from order statistics, which assumes no distribution. Bins with fewer than {norms.FEWEST} items are not drawn.

ρ is Spearman's rank correlation of length and frequency over all items that have both; its 95% interval is
`tanh(atanh(ρ) ± 1.96 √((1 + ρ²/2)/(n − 3)))` (Bonett and Wright 2000), as if the items were drawn independently.

Lengths matter where the similarity is not the cosine, and in means of word vectors: long ones dominate the mean.
In word2vec-like models they grow with frequency and then fall (Schakel and Wilson 2015).
"""


def show(shown: FrequencyView) -> None:
    """Lengths against frequency, per variant, or a sentence if all are the same."""
    count = int(np.count_nonzero(shown.frequencies.known))
    if not count:
        st.info("None of these texts has a known frequency, so vector lengths cannot be plotted against it.")
    by_variant = {space.variant: _norms(space, shown.frequencies) for space in shown.spaces}
    drawn = [space for space in shown.spaces if not by_variant[space.variant].alike]
    if correlated := {v: norms.correlation for v, norms in by_variant.items() if not np.isnan(norms.correlation.value)}:
        headline.show(in_words(correlated))
    _say_alike({variant: of_model for variant, of_model in by_variant.items() if of_model.alike})
    if count and drawn:
        _charts(shown, drawn[:MOST_CHARTS], by_variant)
    if len(drawn) > MOST_CHARTS:
        st.caption(f"The first {MOST_CHARTS} of {len(drawn)} charts; the table has all. Pick others under Models.")
    _table(by_variant)
    if drawn:
        _extremes(shown, drawn, by_variant)
    with st.expander("How is this view computed?", icon=":material/function:"):
        st.markdown(HOW)


def in_words(correlations: Mapping[Variant, Correlation]) -> str:
    """What the length of the first model's vectors has to do with frequency, and of the others' in short."""
    (first, correlation), *others = correlations.items()
    verdict = {1: "more frequent is **longer**", -1: "more frequent is **shorter**"}.get(
        correlation.sign, "length and frequency have **no significant relation**"
    )
    text = f"Vectors of **{as_text(first.label)}**: {verdict}, ρ = {correlation.text}"
    rest = ", ".join(f"{as_text(variant.label)} {number(other.value, '+.3f')}" for variant, other in others)
    return f"{text}; ρ of other models: {rest}." if rest else f"{text}."


@cached(32, "Measuring lengths …")
def _norms(space: Space, frequencies: Frequencies) -> Norms:
    return norms.against_frequency(space.vectors, frequencies.zipf)


def _say_alike(by_variant: Mapping[Variant, Norms]) -> None:
    lines: dict[str, list[str]] = {}
    for variant, of_model in by_variant.items():
        are_zero = of_model.zeros == len(of_model.norms)
        line = (
            f"all {of_model.zeros:,} vectors are zero."
            if are_zero
            else f"all vectors have the same length, {of_model.longest:.4g}: the model or its post-processing "
            "normalizes them, or they do not differ. Length says nothing about frequency here."
        )
        lines.setdefault(line, []).append(f"**{as_text(variant.label)}**")
    for line, variants in lines.items():
        st.info(f"{', '.join(variants)}: {line}", icon=":material/straighten:")


def _charts(shown: FrequencyView, spaces: Sequence[Space], by_variant: Mapping[Variant, Norms]) -> None:
    zipf = shown.frequencies.zipf
    rows = norms.sample(zipf, len(spaces))
    count = int(np.count_nonzero(shown.frequencies.known))
    ends = (float(np.nanmin(zipf)) - 0.2, float(np.nanmax(zipf)) + 0.2)
    columns = st.columns(2) if len(spaces) > 1 else [st.container()]
    for place, space in enumerate(spaces):
        of_model = by_variant[space.variant]
        here = rows[of_model.norms[rows] > 0]
        with columns[place % len(columns)]:
            if len(spaces) > 1:
                st.markdown(f"**{as_text(space.variant.label)}** · ρ = {of_model.correlation.text}")
            dots, style = (zipf[here], of_model.norms[here], space.items[here]), shown.styles[space.variant]
            figure = norm_scatter(*dots, of_model.medians, ends, style, shown.scheme)
            st.plotly_chart(figure, key=f"norms_{place}", config={"displaylogo": False})
    st.caption(
        f"Dots: a random sample of {len(rows):,} of the {count:,} items, the same in every chart. Line, ρ: all items."
        if len(rows) < count
        else f"All {count:,} items that have a frequency."
    )


def _table(by_variant: Mapping[Variant, Norms]) -> None:
    rows = [
        {
            "model": variant.label,
            "ρ of length and frequency": "–" if norms.alike else norms.correlation.text,
            "items": norms.correlation.n,
            "shortest": norms.shortest,
            "median": norms.median,
            "longest": norms.longest,
            "zero vectors": norms.zeros,
        }
        for variant, norms in by_variant.items()
    ]
    tables.draw(
        rows,
        key="norms_table",
        column_config=dict.fromkeys(("shortest", "median", "longest"), f"%{SCORE}")
        | dict.fromkeys(("items", "zero vectors"), "localized"),
    )


def _extremes(shown: FrequencyView, spaces: Sequence[Space], by_variant: Mapping[Variant, Norms]) -> None:
    """The longest or shortest vectors of a variant."""
    st.markdown("**Which items are they?**")
    left, right = st.columns([3, 2])
    names = {space.variant.label: space for space in spaces}
    label = left.selectbox("Model", list(names), key="norms_of", persist_state="session")
    order = right.segmented_control(
        "Lengths", ORDERS, default=ORDERS[0], required=True, key="norms_order", persist_state="session"
    )
    space = names[str(label)]
    lengths = by_variant[space.variant].norms
    ranked = np.argsort(lengths, kind="stable")
    ranked = ranked[lengths[ranked] > 0]
    rows = (ranked[::-1] if order == ORDERS[0] else ranked)[:LISTED]
    items = [shown.dataset.items[i] for i in space.items[rows]]
    tables.draw(
        {shown.entry.unit: items, "length": lengths[rows], "Zipf frequency": shown.frequencies.zipf[rows]},
        key="norms_items",
        column_config={"length": f"%{SCORE}", "Zipf frequency": "%.2f"},
    )
