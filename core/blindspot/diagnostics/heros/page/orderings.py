"""View *orderings* of the HEROS page: which rewrite is closer to the original, and whether A differs from B."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from blindspot.diagnostics.heros import orderings
from blindspot.diagnostics.heros.definition import MEANINGS, Meaning, meaning_of
from blindspot.diagnostics.heros.figures import orderings as figures
from blindspot.diagnostics.heros.figures.profile import label
from blindspot.diagnostics.heros.orderings import Ordering
from blindspot.diagnostics.heros.page.heros_view import HerosView, named, orderings_of, subset_in_words
from blindspot.diagnostics.heros.view import OrderingsView, method_in_words
from blindspot.errors import BlindspotError
from blindspot.figures.dots import dot
from blindspot.numerics.statistics.compare import MAIN, PairedTest
from blindspot.numerics.statistics.written import p_in_cell, percent
from blindspot.runs.comparison import entry_of_both, in_words, paired_tests
from blindspot.store.records import RunRecord
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import cached, explained, repository
from blindspot.ui.widgets import tables
from blindspot.ui.widgets.choices import one_of
from blindspot.ui.widgets.two_variants import Sides, two_variants

DIFFERENCE = "A minus B"


def show(shown: HerosView) -> None:
    """Findings of the other models, ordering rates of all, then two models compared."""
    listed = orderings.listed_orderings(shown.subsets)
    if not listed:
        st.info(
            "This dataset has only one kind of rewrite. Add a table with several rewrite columns on the page *Data*.",
            icon=":material/info:",
        )
        return
    try:
        views = orderings_of(shown)
    except BlindspotError as error:
        st.warning(as_text(explained(error)))
        return
    _findings(shown, views)
    rows = [
        dot(run.plan.variant, rate.ordering.in_words(label), rate.share)
        for run in shown.runs
        for rate in views[run.run_id].rates
    ]
    st.plotly_chart(figures.ordering_rates(pd.DataFrame(rows), shown.styles, shown.scheme), key="rates")
    view = views[shown.runs[0].run_id]
    some = f" Shown: {len(listed)} of {view.pairs} pairs of rewrites; the matrix below has all."
    st.caption(
        f"Share of the {view.cosines.originals:,} sentences whose first-named rewrite is closer; ties count half. "
        "Where only that one keeps the meaning, further right is better, and left of the dotted line is worse than "
        "chance. "
        f"Bars: 95% CI (Wilson).{some if len(listed) < view.pairs else ''}"
    )
    st.subheader(
        "Does A differ from B?" if len(shown.runs) > 1 else "Every kind of rewrite against every other", anchor=False
    )
    sides = two_variants(shown.runs)
    if sides.b is None:
        _matrix(sides.a, views, shown)
        if len(shown.runs) < 2:
            st.caption("Pick or run a second model to test the two against each other.")
        return
    _difference(sides.a, sides.b, listed)
    if len(shown.subsets) > 2:
        st.subheader("Every kind of rewrite against every other", anchor=False)
        _matrices(sides, views, shown)


def _findings(shown: HerosView, views: Mapping[str, OrderingsView]) -> None:
    """A line for each model except the headline's, or why there is no headline."""
    worst_orders = [(run, views[run.run_id].worst) for run in shown.runs]
    meanings = {meaning_of(subset) for subset in shown.subsets}
    if meanings in ({Meaning.KEPT}, {Meaning.CHANGED}):
        (meaning,) = meanings
        st.caption(f"No headline: the meaning is {meaning} in all rewrites, so no order of them is right or wrong.")
    elif not any(worst for _, worst in worst_orders):
        kept, changed = (", ".join(f"`{p}`" for p in MEANINGS[m]) for m in (Meaning.KEPT, Meaning.CHANGED))
        st.caption(
            "No headline: the names of the columns do not say which rewrites keep the meaning. Names "
            f"that do: {kept} keep it, {changed} change it (* is any ending)."
        )
    lines = [
        f"- {named(run)}: {orderings.share_in_words(worst, subset_in_words)}"
        for run, worst in worst_orders[1:]
        if worst and len(shown.subsets) > 2  # the figure has the only one
    ]
    if lines:
        st.markdown("\n".join(["**The weakest ordering of each other model**", "", *lines]))
        most = max(worst.out_of for _, worst in worst_orders[1:] if worst)
        if most > 1:  # each ordering's own interval is narrower
            st.caption(
                f"In brackets: 95% CI, corrected for the choice of the weakest of {most} orderings, so wider than in "
                "the figure below."
            )


# --- all subsets against each other


def _matrix(run: RunRecord, views: Mapping[str, OrderingsView], shown: HerosView) -> None:
    """One model's win rates."""
    names = [label(subset) for subset in shown.subsets]
    figure = figures.win_rate_matrix(views[run.run_id].matrix, names, shown.scheme)
    st.plotly_chart(figure, key="win_rates")
    st.caption(
        f"{as_text(run.plan.variant.label)}: share of sentences whose rewrite of the row is closer than that of the "
        "column. Blue: more than half; orange: less. Ties count half, so a cell and its mirror add up to 100%."
    )


def _matrices(sides: Sides, views: Mapping[str, OrderingsView], shown: HerosView) -> None:
    """A's win rates, B's, or their difference, as the reader chooses."""
    runs = sides.by_letter
    which = one_of("Show", [*runs, DIFFERENCE], "heros_matrix", "A and B are the models chosen above.")
    if which != DIFFERENCE:
        _matrix(runs[which], views, shown)
        return
    matrix, other = (views[run.run_id].matrix for run in runs.values())
    names = [label(subset) for subset in shown.subsets]
    st.plotly_chart(figures.win_rate_differences(matrix - other, names, shown.scheme), key="win_rate_differences")
    labels = " minus ".join(as_text(run.plan.variant.label) for run in runs.values())
    st.caption(
        f"{labels}, in percentage points: how much more often A has the row's rewrite closer than the column's. "
        "Blue: A more often; orange: B. The darkest color is the largest difference. The tests above say which "
        "differences are significant."
    )


# --- two variants


@cached(64, "Comparing two models …")
def _tests(first: RunRecord, second: RunRecord) -> tuple[PairedTest, ...]:
    (tests,) = paired_tests(entry_of_both(first, second), [(first, second)], repository(), MAIN)
    return tests


def _difference(first: RunRecord, second: RunRecord, listed: Sequence[Ordering]) -> None:
    """Tests of each ordering: could the difference of two models be chance?"""
    try:
        tests = _tests(first, second)
    except BlindspotError as error:
        st.warning(as_text(explained(error)))
        return
    ordering_of = {str(ordering): ordering for ordering in listed}
    st.markdown(in_words(tests, named(first), named(second))[0])
    st.caption(f"A: {as_text(first.plan.variant.label)}. B: {as_text(second.plan.variant.label)}.")
    rows = [
        {
            "ordering": ordering_of[test.score].in_words(label),
            "A": percent(test.a, 1),
            "B": percent(test.b, 1),
            "A − B": test.value,
            "only A": test.wins,
            "only B": test.losses,
            "same": test.alike,
            "p": p_in_cell(test.p),
            "p, Holm": p_in_cell(test.p_corrected, test.p),
            "A is": test.verdict.value,
        }
        for test in tests
    ]
    column, text = st.column_config.NumberColumn, st.column_config.TextColumn
    tables.draw(
        rows,
        key="heros_tests",
        placeholder="–",
        column_config={
            "ordering": text(width="medium"),
            "A": text(help="Share of sentences with this order in A; ties count half"),
            "B": text(help="Share of sentences with this order in B; ties count half"),
            "A − B": column(format="points", help="In percentage points"),
            "only A": column(help="Sentences with this order in A but not in B, half ties included"),
            "only B": column(help="Sentences with this order in B but not in A, half ties included"),
            "same": column(help="Sentences on which A and B agree"),
            "p": text(help=f"By {tests[0].test}, on the sentences on which A and B disagree"),
            "p, Holm": text(help="Corrected for the number of orderings tested"),
            "A is": text(help="Better or worse where the meaning says which rewrite should be nearer"),
        },
    )
    st.caption(method_in_words(tests))
