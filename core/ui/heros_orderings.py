"""The view *orderings* of the HEROS page: which rewrite is nearer to the original, and does A differ from B?"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from core import comparison
from core.diagnostics.base import DiagnosticEntry
from core.errors import BlindspotError
from core.figures import heros_orderings as figures
from core.figures.heros import label
from core.store.records import RunRecord
from core.types import Variant
from core.ui.heros_view import Shown
from core.ui.markdown import as_text
from core.ui.resources import repository


def show(shown: Shown) -> None:
    """Ordering rates of every variant, then two variants against each other."""
    found = rates(shown.entry, shown.runs)
    if any(found.values()):
        st.plotly_chart(figures.ordering_rates(found, shown.styles, shown.scheme), key="rates")
        st.caption("Bars: 95% Wilson intervals. Ties count half.")
        difference(shown.runs)


def rates(entry: DiagnosticEntry, runs: Sequence[RunRecord]) -> dict[Variant, dict[str, tuple[float, float, float]]]:
    """For ``figures.ordering_rates``: the orderings that all runs have."""
    orderings = [m.name for m in entry.metrics if ">" in m.name]
    names = [name for name in orderings if all(f"{name}_low" in r.metrics for r in runs)]
    return {
        r.plan.variant: {n: (r.metrics[n], r.metrics[f"{n}_low"], r.metrics[f"{n}_high"]) for n in names} for r in runs
    }


@st.cache_data(show_spinner="Comparing two variants …", max_entries=64)
def _tests(
    _first: RunRecord,
    _second: RunRecord,
    run_ids: tuple[str, str],  # noqa: ARG001 - cache key
) -> tuple[comparison.OrderingTest, ...]:
    return comparison.compare_orderings(_first, _second, repository())


def difference(runs: Sequence[RunRecord]) -> None:
    """Two variants side by side, ordering by ordering, and whether what sets them apart could be chance."""
    by_name = {str(r.plan.variant): r for r in runs}
    if len(by_name) < 2:
        return
    st.subheader("Does A differ from B?", anchor=False)
    names, keys = list(by_name), ("heros_a", "heros_b")
    for key, other in zip(keys, reversed(keys), strict=True):
        if st.session_state.get(key) not in names:  # nothing was chosen yet, or the sidebar has left it out since
            st.session_state[key] = next(name for name in names if name != st.session_state.get(other))
    first, second = (
        by_name[column.selectbox(letter, names, key=key, persist_state="session")]
        for letter, key, column in zip("AB", keys, st.columns(2), strict=True)
    )
    if first is second:
        st.info("Choose two different variants.")
        return
    try:
        tests = _tests(first, second, (first.run_id, second.run_id))
    except BlindspotError as error:
        st.warning(as_text(str(error)))
        return
    one, other = (f"**{as_text(r.plan.variant.label)}**" for r in (first, second))
    headline, *details = comparison.verdict(tests, one, other, label)
    st.markdown("\n".join([headline, "", *(f"- {sentence}" for sentence in details)]))
    if tests:
        _test_table(tests)


def _test_table(tests: Sequence[comparison.OrderingTest]) -> None:
    frame = pd.DataFrame(
        [
            {
                "ordering": label(t.ordering),
                "A": 100 * t.first_rate,
                "B": 100 * t.second_rate,
                "A − B": 100 * t.difference,
                "only A": t.test.first_better,
                "only B": t.test.second_better,
                "alike": t.test.alike,
                "p": t.test.p_value,
                "p, Holm": t.p_corrected,
            }
            for t in tests
        ]
    )
    column = st.column_config.NumberColumn
    st.dataframe(
        frame,
        hide_index=True,
        key="heros_tests",
        column_config={
            "A": column(format="%.1f%%", help="Share of originals with this order in A, ties counting half"),
            "B": column(format="%.1f%%", help="Share of originals with this order in B, ties counting half"),
            "A − B": column(format="%+.1f", help="How much larger A's share is, in percentage points"),
            "only A": column(help="Originals with this order in A and not in B; where one has a tie, A is ahead"),
            "only B": column(help="Originals with this order in B and not in A; where one has a tie, B is ahead"),
            "alike": column(help="Originals on which A and B agree"),
            "p": column(format="%.2g", help="McNemar's exact test on the originals on which A and B disagree"),
            "p, Holm": column(format="%.2g", help="The same, corrected for the number of orderings tested"),
        },
    )
    st.caption(
        f"p: how likely a split between A and B at least as uneven is, were they equally good. More than chance is a "
        f"corrected p below {comparison.ALPHA:g}."
    )
