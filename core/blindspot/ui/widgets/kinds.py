"""Kinds of pair or query: the choice, the scores on each as a table, and those on which B gains and loses most."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from typing import Any, TypeVar

import pandas as pd
import streamlit as st

from blindspot.numerics.statistics.groups import FEW, Gain, Gains, Grouping
from blindspot.numerics.statistics.intervals import Interval
from blindspot.numerics.statistics.written import CHANGE, SCORE, interval, number, p_in_cell
from blindspot.texts import counted
from blindspot.ui.markdown import as_text
from blindspot.ui.widgets import tables
from blindspot.ui.widgets.addressed import tab_named
from blindspot.variants import Variant

K = TypeVar("K", bound=str)


def choose(
    plural: str,
    kinds: Mapping[K, str],
    user_columns: Collection[str],
    scores: Mapping[str, str],
    *,
    keys: tuple[str, str],
) -> tuple[str, str]:
    """The kind or the own column, and the score.

    Args:
        plural: what is grouped, such as "pairs".
        kinds: what each is, in words.
        user_columns: names of columns of the user's file.
        scores: titles by name, the default first.
        keys: of the two choices.
    """
    about = [f"- **{kind}**: {text}" for kind, text in kinds.items()]
    about += [f"- **{as_text(name)}**: a column of your file" for name in user_columns]
    with st.container(horizontal=True):  # as wide as their content: in columns the last score would be cut off
        options = [*map(str, kinds), *user_columns]
        kind = tab_named(f"Group {plural} by", options, key=keys[0], name=as_text, help="\n".join(about))
        score = st.segmented_control(
            "Score",
            list(scores),
            format_func=lambda name: scores[name],
            default=next(iter(scores)),
            required=True,
            wrap=True,
            key=keys[1],
            bind="query-params",
        )
    return kind, str(score)


def are_alike(groups: Grouping, plural: str) -> bool:
    """Whether all rows are of one kind, which is said: there is nothing to compare in a figure."""
    if len(groups.groups) > len(groups.axis):
        return False
    kinds = "; ".join(f"{groups.axis[group.side]}: {group.label}" for group in groups.groups)
    said = f"All {plural} are of one kind ({as_text(kinds)}). Choose another grouping, or other data."
    st.info(said, icon=":material/info:")
    return True


def table(scores: Mapping[Variant, pd.DataFrame], score: str, plural: str, *, key: str) -> None:
    """A row per kind, a column per model.

    Args:
        scores: as ``figures.groups.group_lines`` has them.
        plural: name of their column with the number of rows, such as "pairs".
    """
    first = next(iter(scores.values()))
    columns: dict[str, list[Any]] = {"of": first["side"].tolist()} if first["side"].nunique() > 1 else {}
    columns["kind"] = first["label"].tolist()
    alike = len({tuple(rows[plural]) for rows in scores.values()}) == 1
    if alike:
        columns |= {name: first[name].tolist() for name in (plural, "independent")}
    for variant, rows in scores.items():
        columns[variant.label] = [_cell(row, score, "" if alike else plural) for row in rows.to_dict("records")]
    tables.draw(columns, key=key)


def _cell(row: Mapping[Hashable, Any], score: str, plural: str) -> str:
    value, low, high = (row[name] for name in (score, f"{score}_low", f"{score}_high"))
    if pd.isna(value):
        return "–"
    sure = "" if pd.isna(low) else f" ({interval(Interval(low, high), SCORE)})"
    return f"{number(value, SCORE)}{sure}" + (f", {row[plural]:,} {plural}" if plural else "")


def say_gains(
    gains: Gains,
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
    if not gains.tested:
        st.markdown(f"No kind of {unit} has enough {plural} to tell **{b}** (B) from **{a}** (A) on it.")
        return
    parts = [
        f"{verb} most on {_in_words(gain, unit, plural, sides or {})}"
        for verb, gain in (("gains", gains.gain), ("loses", gains.loss))
        if gain is not None
    ]
    if parts:
        st.markdown(f"**{b}** (B) {' and '.join(parts)} against **{a}** (A).")
    else:
        st.markdown(f"**{b}** (B) neither gains nor loses significantly against **{a}** (A) on any kind of {unit}.")
    st.caption(
        f"{counted(len(gains.tested), 'kind')} of {unit} tested at once; p is corrected for all of them (Holm). "
        f"Differences are in {score}, with 95% CIs that hold for all of them at once. Kinds of fewer than {FEW} "
        f"{plural} are not tested."
    )
    with st.expander("A against B on every kind", icon=":material/table:"):
        _table_of_gains(gains, plural, score, key, sides or {})


def _in_words(gain: Gain, unit: str, plural: str, sides: Mapping[str, str]) -> str:
    sure = f"{interval(gain.test.interval, '+.3f')}, " if gain.test.interval else ""
    name = f"{as_text(gain.by)}{sides.get(gain.group.side, '')}: **{as_text(gain.group.label)}**"
    return f"{name} ({number(gain.test.value, '+.3f')}, {sure}{counted(gain.rows, unit, plural)})"


def _table_of_gains(gains: Gains, plural: str, score: str, key: str, sides: Mapping[str, str]) -> None:
    rows = [
        {
            "by": f"{gain.by}{sides.get(gain.group.side, '')}",
            "kind": gain.group.label,
            plural: gain.rows,
            "B − A": gain.test.value,
            "95% CI": "" if gain.test.interval is None else interval(gain.test.interval, CHANGE),
            "p (Holm)": p_in_cell(gain.test.p_corrected, gain.test.p),
        }
        for gain in gains.tested
    ]
    numbers = st.column_config.NumberColumn
    config = {"B − A": numbers(format=f"%{CHANGE}", help=score)}
    tables.draw(rows, key=key, column_config=config)
