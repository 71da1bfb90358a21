"""The view *items* of the page Transfer: the examples that one encoder gets right and the other wrong."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.diagnostics.transfer import examples
from core.diagnostics.transfer.examples import (
    GOLD,
    NUMBER,
    OF_ONE,
    OF_TWO,
    OVERLAP,
    SECOND,
    TEXT,
    Order,
    Which,
)
from core.diagnostics.transfer.outcomes import Outcomes
from core.diagnostics.transfer.page import item_table as table
from core.diagnostics.transfer.page.runs import outcomes_of, runs_of_task
from core.diagnostics.transfer.page.shown import KEYS, Shown
from core.diagnostics.transfer.paired import Paired
from core.store.records import RunRecord
from core.ui.markdown import as_text
from core.ui.resources import Keys, cached
from core.ui.widgets import downloads
from core.ui.widgets.downloads import Holds
from core.ui.widgets.two_variants import two_variants

ALL_CLASSES = "all"
_KEYS: Keys = {Outcomes: lambda found: found.digest}


def show(shown: Shown) -> None:
    """Both sides, the test between them, the filters, the table, the chosen example."""
    if not (runs := runs_of_task(shown)):
        return
    sides = two_variants(runs, KEYS).by_letter
    found = outcomes_of(shown, list(sides.values()))
    if not len(found):
        st.warning("No example is left: each stands in the training part too, or repeats.", icon=":material/info:")
        return
    if len(sides) > 1:
        _test(found, sides)
    rows = _described(found, tuple(sorted((side, run.run_id) for side, run in sides.items())))
    listed = _filtered(rows, found, sides)
    st.markdown(f"**{len(listed):,} of {len(rows):,} tested examples**")
    if listed.empty:
        st.info("No example is left. Choose others above, or search for something shorter.")
    else:
        table.show(listed, shown, sides)
        _downloads(listed, shown, sides)
    if (number := table.chosen_example(rows, listed, shown.picks.dataset)) is not None:
        _example(rows, number, sides)


@cached(16, "Laying predictions beside each other …", keys=_KEYS)
def _described(found: Outcomes, sides: tuple[tuple[str, str], ...]) -> pd.DataFrame:
    return examples.described(found, dict(sides))


# --- the test


def _test(found: Outcomes, sides: dict[str, RunRecord]) -> None:
    a, b = sides["A"], sides["B"]
    paired = _paired(found, a.run_id, b.run_id)
    st.markdown(paired.in_words(*(f"**{as_text(run.plan.variant.label)}**" for run in (a, b))))
    notes = []
    if paired.interval is not None:
        ends = paired.interval
        notes.append(
            f"The difference is {paired.first - paired.second:+.3f}, 95% interval over texts "
            f"[{ends.low:+.3f}, {ends.high:+.3f}]."
        )
    if paired.repeats:
        notes.append(
            f"{paired.repeats:,} of the examples repeat the text of another one, which McNemar's test takes for "
            "independent."
        )
    if a.plan.support_digest != b.plan.support_digest:
        notes.append("Compared are the examples that both were tested on; they were trained on different ones.")
    st.caption(" ".join(notes))


@cached(64, "Comparing …", keys=_KEYS)
def _paired(found: Outcomes, first: str, second: str) -> Paired:
    return Paired.of(found, first, second)


# --- filters


def _filtered(rows: pd.DataFrame, found: Outcomes, sides: dict[str, RunRecord]) -> pd.DataFrame:
    which = _choice("Which examples", "transfer_rows", [w.value for w in (OF_TWO if len(sides) > 1 else OF_ONE)])
    with st.container(horizontal=True, vertical_alignment="bottom"):
        classes = [ALL_CLASSES, *found.classes]
        if st.session_state.get("gold") not in (None, *classes):  # of another task
            st.session_state["gold"] = ALL_CLASSES
        gold = st.selectbox("Gold class", classes, key="gold", bind="query-params", width=200)
        only = False
        if found.repeated.any():
            only = st.toggle(
                f"Only overlap ({int(found.repeated.sum()):,})",
                key="only_overlap",
                bind="query-params",
                help="Examples that stand in the training part too or, without a split, more than once.",
            )
        wanted = st.text_input(
            "Search", key="transfer_search", persist_state="session", placeholder="part of a text", width=240
        ).strip()
        order = _choice("Order", "transfer_order", [order.value for order in Order])
    keep = examples.kept(rows, Which(which))
    if gold != ALL_CLASSES:
        keep &= (rows[GOLD] == gold).to_numpy()
    if only:
        keep &= rows[OVERLAP].to_numpy()
    if wanted:
        keep &= examples.containing(rows, wanted)
    return examples.ordered(rows[keep], Order(order))


def _choice(label: str, key: str, values: list[str]) -> str:
    """A choice whose values depend on how many variants are shown; the first is the default."""
    if st.session_state.get(key) not in (None, *values):
        st.session_state[key] = values[0]
    helps = {
        "Order": "surest mistake: the wrong class got the highest probability. least sure: the lowest probability of "
        "what was predicted, right or wrong. number: as in the dataset.",
    }
    return str(
        st.segmented_control(
            label, values, default=values[0], required=True, key=key, bind="query-params", help=helps.get(label)
        )
    )


# --- the chosen example, files


def _example(rows: pd.DataFrame, number: int, sides: dict[str, RunRecord]) -> None:
    row = rows[rows[NUMBER] == number].iloc[0]
    with st.container(border=True, key="transfer_example"):
        if SECOND in rows:
            left, right = st.columns(2)
            left.text(row[TEXT])
            right.text(row[SECOND])
        else:
            st.text(row[TEXT])
        overlap = " It stands in the training part too, or more than once." if row[OVERLAP] else ""
        st.markdown(f"Its class is **{as_text(str(row[GOLD]))}**.{overlap}")
        st.dataframe(
            pd.DataFrame(
                [
                    {
                        "variant": run.plan.variant.label,
                        "predicts": row[examples.predicted(side)],
                        "": "right" if row[examples.predicted(side)] == row[GOLD] else "wrong",
                        "probability": row[examples.probability(side)],
                    }
                    for side, run in sides.items()
                ]
            ),
            hide_index=True,
            key="transfer_example_says",
            column_config={"probability": st.column_config.NumberColumn(format="%.3f")},
        )


def _downloads(listed: pd.DataFrame, shown: Shown, sides: dict[str, RunRecord]) -> None:
    variants = {side: run.plan.variant for side, run in sides.items()}

    downloads.tables(
        lambda: examples.for_export(listed, variants),
        Holds(shown.picks.dataset, tuple(run.run_id for run in sides.values())),
        stem=downloads.stem_of("transfer", shown.picks.dataset, shown.classifier),
        key="transfer_download",
        help=f"All {len(listed):,} examples of the table in its order.",
    )
