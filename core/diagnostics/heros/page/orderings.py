"""The view *orderings* of the HEROS page: which rewrite is nearer to the original, and does A differ from B?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from core.diagnostics.heros import comparison, orderings
from core.diagnostics.heros.figures import orderings as figures
from core.diagnostics.heros.figures.profile import label
from core.diagnostics.heros.orderings import Cosines, Laid, Ordering
from core.diagnostics.heros.page import headline as heros_headline
from core.diagnostics.heros.page.shown import Shown
from core.errors import BlindspotError
from core.runs.comparison import entry_of_both
from core.store.records import RunRecord
from core.texts import percent
from core.ui.markdown import as_text
from core.ui.resources import cached
from core.ui.widgets.two_variants import two_variants

DIFFERENCE = "A minus B"
MATRICES = ("A", "B", DIFFERENCE)


def show(shown: Shown) -> None:
    """Every variant's order most against meaning, its ordering rates, then two variants against each other."""
    laid = orderings.laid_beside(shown.subsets)
    if not laid.orderings:
        st.info(
            "One kind of rewrite alone has nothing to be nearer than. Bring a table with two or more rewrite columns "
            "on the page *Data*.",
            icon=":material/info:",
        )
        return
    try:
        tables = heros_headline.cosines(shown)
    except BlindspotError as error:
        st.warning(as_text(str(error)))
        return
    heros_headline.findings(shown)
    rows = rates(shown.runs, tables, laid)
    st.plotly_chart(figures.ordering_rates(rows, shown.styles, shown.scheme), key="rates")
    originals = next(iter(tables.values())).originals
    st.caption(
        f"Share of the {originals:,} originals whose first-named rewrite is the more similar one; ties count half. "
        f"Bars: 95% Wilson intervals.{_left_out(laid)}"
    )
    st.subheader("Does A differ from B?" if len(shown.runs) > 1 else "Every subset against every other", anchor=False)
    sides = two_variants(shown.runs, ("heros_a", "heros_b"))
    if sides.b is None:
        matrix(tables[sides.a.run_id], shown, sides.a.plan.variant.label)
        if len(shown.runs) < 2:
            st.caption("Pick or run a second variant, and the two are tested against each other here.")
        return
    difference(sides.a, sides.b, tables)
    st.subheader("Every subset against every other", anchor=False)
    matrices(sides.a, sides.b, tables, shown)


def _left_out(laid: Laid) -> str:
    if len(laid.orderings) == laid.pairs:
        return ""
    return f" Listed are {len(laid.orderings)} of {laid.pairs} pairs of subsets; the matrix below has all."


def ordering_in_words(ordering: Ordering) -> str:
    """``synonym over antonym``, as plain text."""
    return ordering.in_words(label)


def rates(runs: Sequence[RunRecord], tables: Mapping[str, Cosines], laid: Laid) -> pd.DataFrame:
    """For ``figures.ordering_rates``."""
    return pd.DataFrame(
        [
            {
                "variant": run.plan.variant,
                "ordering": str(rate.ordering),
                "words": ordering_in_words(rate.ordering),
                "rate": rate.value,
                "low": rate.interval.low,
                "high": rate.interval.high,
            }
            for run in runs
            for rate in orderings.rates(tables[run.run_id], laid.orderings)
        ]
    )


# --- all subsets against each other


def matrix(cosines: Cosines, shown: Shown, variant: str) -> None:
    """One variant's win rates."""
    names = [label(subset) for subset in cosines.subsets]
    figure = figures.win_rate_matrix(orderings.win_rates(cosines), names, shown.scheme)
    st.plotly_chart(figure, key="win_rates")
    st.caption(
        f"{as_text(variant)}: in how many of the originals the rewrite of the row is nearer than that of the column. "
        "Blue: in more than half; orange: in fewer. Ties count half, so that a cell and its mirror add up to 100%."
    )


def matrices(a: RunRecord, b: RunRecord, tables: Mapping[str, Cosines], shown: Shown) -> None:
    """A's win rates, B's, or their difference, as the reader chooses."""
    which = st.segmented_control(
        "Show",
        MATRICES,
        default=MATRICES[0],
        required=True,
        key="heros_matrix",
        bind="query-params",
        help="A and B are the variants chosen above.",
    )
    one, other = tables[a.run_id], tables[b.run_id]
    if which != DIFFERENCE:
        side, cosines = (a, one) if which == "A" else (b, other)
        matrix(cosines, shown, side.plan.variant.label)
        return
    names = [label(subset) for subset in shown.subsets]
    figure = figures.win_rate_differences(orderings.win_rates(one) - orderings.win_rates(other), names, shown.scheme)
    st.plotly_chart(figure, key="win_rate_differences")
    labels = " less ".join(as_text(run.plan.variant.label) for run in (a, b))
    st.caption(
        f"{labels}, in percentage points: how much more often A has the row's rewrite nearer than the column's. "
        "Blue: A more often; orange: B. The deepest colour is the widest difference. Which of them are more than "
        "chance, the tests above say."
    )


# --- two variants


@cached(64, "Comparing two variants …", keys={Cosines: lambda cosines: cosines.digest})
def _tests(first: Cosines, second: Cosines) -> tuple[comparison.OrderingTest, ...]:
    return comparison.tests_of_orderings(first, second)


def difference(first: RunRecord, second: RunRecord, tables: Mapping[str, Cosines]) -> None:
    """Ordering by ordering, and whether what sets two variants apart could be chance."""
    try:
        entry_of_both(first, second)
    except BlindspotError as error:
        st.warning(as_text(str(error)))
        return
    tests = _tests(tables[first.run_id], tables[second.run_id])
    one, other = (f"**{as_text(run.plan.variant.label)}**" for run in (first, second))
    said, *details = comparison.verdict(tests, one, other, lambda ordering: as_text(ordering_in_words(ordering)))
    st.markdown("\n".join([said, "", *(f"- {sentence}" for sentence in details)]))
    _test_table(tests)


def _test_table(tests: Sequence[comparison.OrderingTest]) -> None:
    frame = pd.DataFrame(
        [
            {
                "ordering": ordering_in_words(t.ordering),
                "A": percent(t.first_rate, 1),
                "B": percent(t.second_rate, 1),
                "A − B": 100 * t.difference,
                "only A": t.test.first_better,
                "only B": t.test.second_better,
                "alike": t.test.alike,
                "p": t.test.p_value if t.is_tested else None,
                "p, Holm": t.p_corrected if t.is_tested else None,
            }
            for t in tests
        ]
    )
    column, text = st.column_config.NumberColumn, st.column_config.TextColumn
    st.dataframe(
        frame,
        hide_index=True,
        key="heros_tests",
        placeholder="–",
        column_config={
            "ordering": text(width="medium"),
            "A": text(help="Share of originals with this order in A, ties counting half"),
            "B": text(help="Share of originals with this order in B, ties counting half"),
            "A − B": column(format="%+.1f", help="How much larger A's share is, in percentage points"),
            "only A": column(help="Originals with this order in A and not in B; where one has a tie, A is ahead"),
            "only B": column(help="Originals with this order in B and not in A; where one has a tie, B is ahead"),
            "alike": column(help="Originals on which A and B agree"),
            "p": column(format="%.2g", help="McNemar's exact test on the originals on which A and B disagree"),
            "p, Holm": column(format="%.2g", help="The same, corrected for the number of orderings tested"),
        },
    )
    untested = [ordering_in_words(t.ordering) for t in tests if not t.is_tested]
    st.caption(
        f"p: how likely a split between A and B at least as uneven is, were they equally good (McNemar's exact test). "
        f"Corrected after Holm for {len(tests)} ordering{'s' if len(tests) > 1 else ''}; more than chance is a "
        f"corrected p below {orderings.ALPHA:g}."
        + (f" No p where A and B agree on every original: {as_text(', '.join(untested))}." if untested else "")
    )
