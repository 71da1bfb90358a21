"""The kinds on which B gains and loses most against A: a sentence, and all kinds as a table."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from blindspot.numerics.statistics.groups import FEW, Gain, Gains
from blindspot.numerics.statistics.written import interval, number
from blindspot.texts import counted
from blindspot.ui.markdown import as_text


def say(
    found: Gains,
    a: str,
    b: str,
    unit: str,
    plural: str,
    score: str,
    *,
    key: str,
    sides: Mapping[str, str] | None = None,
) -> None:
    """Draw the sentence, how it was tested, and the table.

    Args:
        a, b: names of the two.
        unit, plural: what a row of the groups is.
        score: title of the score that is compared.
        key: of the table.
        sides: by ``Group.side`` what has the kind, to follow the grouping's name, such as " of the match".
    """
    a, b = as_text(a), as_text(b)
    if not found.tested:
        st.markdown(f"No kind of {unit} has enough {plural} to tell **{b}** (B) from **{a}** (A) on it.")
        return
    said = [
        f"{verb} most on {_in_words(one, unit, plural, sides or {})}"
        for verb, one in (("gains", found.gain), ("loses", found.loss))
        if one is not None
    ]
    if said:
        st.markdown(f"**{b}** (B) {' and '.join(said)} against **{a}** (A).")
    else:
        st.markdown(f"**{b}** (B) neither gains nor loses significantly against **{a}** (A) on any kind of {unit}.")
    st.caption(
        f"{counted(len(found.tested), 'kind')} of {unit} tested at once; p is corrected for all of them (Holm). "
        f"Differences are in {score}, with 95% CIs that hold for all of them at once. Kinds of fewer than {FEW} "
        f"{plural} are not tested."
    )
    with st.expander("A against B on every kind", icon=":material/table:"):
        _table(found, plural, score, key, sides or {})


def _in_words(one: Gain, unit: str, plural: str, sides: Mapping[str, str]) -> str:
    sure = f"{interval(one.estimate.interval, '+.3f')}, " if one.estimate.interval else ""
    name = f"{as_text(one.by)}{sides.get(one.group.side, '')}: **{as_text(one.group.label)}**"
    return f"{name} ({number(one.estimate.value, '+.3f')}, {sure}{counted(one.rows, unit, plural)})"


def _table(found: Gains, plural: str, score: str, key: str, sides: Mapping[str, str]) -> None:
    rows = [
        {
            "by": f"{one.by}{sides.get(one.group.side, '')}",
            "kind": one.group.label,
            plural: one.rows,
            "B − A": one.estimate.value,
            "95% CI": "" if one.estimate.interval is None else interval(one.estimate.interval, "+.4f"),
            "p (Holm)": one.p,
        }
        for one in found.tested
    ]
    numbers = st.column_config.NumberColumn
    config = {"B − A": numbers(format="%+.4f", help=score), "p (Holm)": numbers(format="%.3g")}
    st.dataframe(pd.DataFrame(rows), hide_index=True, key=key, column_config=config)
