"""The view *neighbors* of the Frequency page: mean corpus rank of the k-th neighbor (Schnabel 2015, figure 4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from blindspot.datasets.published import vocabularies
from blindspot.diagnostics.frequency import corpus_ranks
from blindspot.diagnostics.frequency.classes import all_alike
from blindspot.diagnostics.frequency.corpus_ranks import Curve, PowerLaw, Queries
from blindspot.diagnostics.frequency.figures import classes as figures
from blindspot.diagnostics.frequency.page.frequency_view import FrequencyView
from blindspot.numerics.neighbors.exact import ExactIndex
from blindspot.numerics.similarity import Similarity
from blindspot.numerics.statistics.written import ci_in_words, interval
from blindspot.runs.spaces import Space
from blindspot.settings import prepare_runtime
from blindspot.types import Float64, Int64
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import cached, settings
from blindspot.ui.widgets import tables
from blindspot.variants import Variant


@dataclass(frozen=True, eq=False)
class _Asked:
    """The items with a frequency: rows of the space ``[m]``, their corpus ranks ``[m]``, and queries among them.

    ``counts`` is the digest of the frequencies; with the space it decides the rest.
    """

    counts: str
    rows: Int64
    ranks: Float64
    queries: Queries


def show(shown: FrequencyView) -> None:
    """The curves on logarithmic axes, the fit of each, and those of random neighbors."""
    rows = np.flatnonzero(shown.frequencies.known)
    named = vocabularies.named_queries([shown.dataset.items[i] for i in shown.spaces[0].items[rows]])
    ranks = corpus_ranks.corpus_ranks(shown.frequencies.counts[rows])
    asked = _Asked(shown.frequencies.digest, rows, ranks, corpus_ranks.queries_among(named, len(rows)))
    k = corpus_ranks.places(len(asked.rows))
    if not len(k):
        st.info(
            f"Neighbors are looked at up to 1% of the items, and {len(asked.rows):,} with a vector and a frequency "
            f"are too few for a curve. It takes at least {round(corpus_ranks.LEAST_K / corpus_ranks.SHARE):,}: choose "
            "a larger dataset in the sidebar.",
            icon=":material/info:",
        )
        return
    curves: dict[Variant, Curve] = {}
    metric = Similarity(shown.picks.metric)
    for space in shown.spaces:
        curve = _curve(space, asked, metric)
        if curve is None:
            st.info(
                as_text(f"{space.variant.label}: all vectors have the same direction, so nothing is nearest."),
                icon=":material/info:",
            )
        else:
            curves[space.variant] = curve
    if not curves:
        return
    null = corpus_ranks.null_curve(asked.ranks, asked.queries.rows)
    figure = figures.rank_curves(curves, null, shown.styles, shown.scheme)
    st.plotly_chart(figure, key="rank_curves")
    fits = {variant: corpus_ranks.fit_power_law(curve) for variant, curve in curves.items()}
    st.markdown("\n".join(f"- {as_text(variant.label)}: {_in_words(fit)}" for variant, fit in fits.items()))
    st.caption(_caption(shown, asked, null, int(k[-1])))
    with st.expander("The numbers", icon=":material/table:"):
        law = corpus_ranks.published()
        rows_of_fits = [
            {
                "model": "C&W, published",
                "a": law["a"],
                "b": law["b"],
                "k up to": f"{law['k']:,.0f} of {law['words']:,.0f}",
            },
            *(
                {
                    "model": v.label,
                    "a": f.a,
                    "b": f.b,
                    "95% CI of b": interval(f.exponent.interval if f.exponent else None, ".3f"),
                    "R²": f.r2,
                    "power law": "yes" if f.holds else "no",
                    "k up to": f"{int(k[-1]):,} of {len(asked.rows):,}",
                }
                for v, f in fits.items()
            ),
        ]
        formats = {"a": "%.1f", "b": "%.3f", "R²": "%.3f"}
        tables.draw(rows_of_fits, key="rank_fits", column_config=formats)
        means = {**{v.label: curve.mean for v, curve in curves.items()}, "random": null.mean}
        numbers = {"k": null.k} | {name: mean.round(1) for name, mean in means.items()}
        tables.draw(numbers, key="rank_numbers")


@cached(64, "Looking up neighbors …", keys={_Asked: lambda asked: asked.counts})
def _curve(space: Space, asked: _Asked, metric: Similarity) -> Curve | None:
    """The curve of a space; None where all vectors are alike, since neighbors would just be in the file's order."""
    vectors = space.vectors[asked.rows]
    if all_alike(vectors):
        return None
    prepare_runtime(settings())  # before numba is imported
    return corpus_ranks.neighbor_curve(ExactIndex(vectors, metric), asked.ranks, asked.queries.rows)


def _in_words(fit: PowerLaw) -> str:
    if not fit.holds:
        return f"**no power law** (R² = {fit.r2:.2f}, below {corpus_ranks.POWER_LAW})"
    drift = "nearer neighbors are more frequent" if fit.b > 0 else "nearer neighbors are rarer"
    sure = f"{ci_in_words(fit.exponent, '.3f', of='the exponent')}, " if fit.exponent and fit.exponent.interval else ""
    return f"mean corpus rank ≈ {fit.a:,.0f} · k^{fit.b:.3f} ({sure}R² = {fit.r2:.2f}): {drift}"


def _caption(shown: FrequencyView, asked: _Asked, null: Curve, last: int) -> str:
    unit = shown.entry.unit
    queries = len(asked.queries.rows)
    whose = (
        f"the {queries:,} words of WordSim-353 that are here"
        if asked.queries.named
        else f"{queries:,} {unit}s drawn with the seed {corpus_ranks.SEED}"
    )
    null_fit = corpus_ranks.fit_power_law(null)
    rank = "place by its count" if shown.dataset.of_words else "place by the mean Zipf frequency of its words"
    law = corpus_ranks.published()
    return (
        f"Over {whose}; neighbors among {len(asked.rows):,} {unit}s by the similarity {shown.picks.metric}, up to "
        f"k = {last:,}: 1% of them, at most {corpus_ranks.MOST_K:,}. Corpus rank: {rank}, 1 for the most frequent. "
        f"Bands: 95% t intervals over the queries. Dotted: random {unit}s for neighbors (R² of its fit: "
        f"{null_fit.r2:.2f}). Fitted by least "
        "squares on the logarithms; an interval of the exponent is over the queries. Published: "
        f"{law['a']:,.0f} · k^{law['b']:.2f} for the C&W embeddings, up to k = {law['k']:,.0f} of {law['words']:,.0f} "
        "words (Schnabel et al. 2015, section 6, figure 4). The paper prints the two ranks the other way round, but no "
        "place among 1,000 neighbors is over 1,000."
    )
