"""Several models over all tests: wins among up to six, and scores against costs."""

from __future__ import annotations

import streamlit as st

from blindspot.datasets.catalog import title_of
from blindspot.diagnostic import find_diagnostic
from blindspot.studies.compare import figures
from blindspot.studies.compare.costs import kinds_that_differ
from blindspot.studies.compare.page.compare_view import among_of
from blindspot.studies.compare.page.reading import costs_of, of_several
from blindspot.studies.compare.rows import MOST_VARIANTS, doubts_of, holding_in_words
from blindspot.studies.compare.several import ByPair, difference_of, points, scored, wins
from blindspot.ui.boundary import fragment
from blindspot.ui.markdown import as_text
from blindspot.ui.pickers import Picks
from blindspot.ui.resources import repository, scheme
from blindspot.ui.variant_looks import variant_styles
from blindspot.ui.widgets.addressed import one_named
from blindspot.ui.widgets.choices import one_of
from blindspot.ui.widgets.doubts import ask
from blindspot.variants import Variant

KEY_SCORE, KEY_COST = "pareto_score", "pareto_cost"


@fragment  # nothing above is drawn again
def show(picks: Picks) -> None:
    among = among_of(repository().variants(), picks)
    if len(among) < 2:
        st.info("This takes two models. Pick another one, or none to see all.", icon=":material/info:")
        return
    variants = among[:MOST_VARIANTS]
    by_pair = of_several(variants, picks)
    names = [variant.label for variant in variants]
    if len(among) > len(variants):
        st.caption(f"{len(variants)} of {len(among)} models; pick up to {MOST_VARIANTS} to choose others.")
    ask(doubts_of(row for rows in by_pair.values() for row in rows))
    st.plotly_chart(figures.wins_matrix(wins(by_pair, variants), names, scheme()), key="wins")
    significant = [row for rows in by_pair.values() for row in rows if row.is_significant]
    st.caption(
        "3 : 1 means that the row's model is significantly better than the column's on three scores and worse on one. "
        f"{holding_in_words(significant)}"
    )
    _pareto(by_pair, variants)


def _pareto(by_pair: ByPair, variants: list[Variant]) -> None:
    by_id = {f"{diagnostic}:{dataset}": (diagnostic, dataset) for diagnostic, dataset in scored(by_pair)}
    if not by_id:
        return
    st.markdown("**Which models are worth their cost?**")
    costs = costs_of(variants)
    if not (kinds := kinds_that_differ(costs.values())):
        st.caption("No known cost (dimension, parameters, MB per million texts) tells them apart.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = one_named("Score", list(by_id), key=KEY_SCORE, index=0, name=lambda i: _name(*by_id[i]), width=340)
        kind = one_of("Cost", kinds, KEY_COST)
    score = by_id.get(str(chosen), next(iter(by_id.values())))
    differences = difference_of(by_pair, score)
    drawn = points(by_pair, score, costs, kind)
    if differences is None or not drawn.points:
        st.caption("This cost is not known for any of them.")
        return
    labels = {variant: variant.label for variant in variants}
    st.plotly_chart(
        figures.pareto(drawn.points, differences, kind, variant_styles(variants), labels, scheme()), key="pareto"
    )
    st.caption(f"{title_of(score[1])}. Larger: no other model is better on both. Bars: 95% intervals.")
    if drawn.elsewhere:
        names = ", ".join(as_text(labels.get(variant, variant.label)) for variant in drawn.elsewhere)
        st.caption(f"Scored on other texts, so not drawn: {names}.")


def _name(diagnostic: str, dataset: str) -> str:
    return f"{find_diagnostic(diagnostic).title}, {title_of(dataset)}"
