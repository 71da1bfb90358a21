"""Labeled texts on the page *Data*: classes, overlap of training and test, examples."""

from __future__ import annotations

from dataclasses import asdict

import pandas as pd
import streamlit as st

from blindspot.datasets.kinds.labeled_texts import LabeledCounts, LabeledTexts
from blindspot.numerics.statistics.written import percent
from blindspot.ui.markdown import as_text
from blindspot.ui.widgets import tables
from blindspot.ui.widgets.browse_table import Pages

_ALL = ""


def show(data: LabeledTexts, unit: str, content: str, per_page: int) -> None:
    """Draw the classes, the overlap of training and test, and pages of examples."""
    counts = data.counts
    parts = [
        f"**{counts.examples:,}** examples of **{len(counts.classes):,}** classes",
        f"**{counts.texts:,}** distinct {unit}s",
    ]
    st.markdown(" · ".join(parts))
    class_table(counts, "class_rows")
    st.caption(
        f"Baseline: always predicting “{as_text(counts.majority.name)}”, the most frequent class"
        f"{' in training' if counts.is_split else ''}, gets {percent(counts.baseline, 1)} of the "
        f"{'test examples' if counts.is_split else 'examples'} right."
    )
    overlap(counts)
    _examples(data, content, per_page)


def class_table(counts: LabeledCounts, key: str) -> None:
    """One row per class: its examples, by split where there is one, and its share."""
    numbers = dict.fromkeys(("examples", "train", "dev", "test"), "localized")
    share = st.column_config.ProgressColumn(format="percent", min_value=0.0, max_value=1.0)
    tables.draw(counts.by_class, key=key, column_config={**numbers, "share": share})


def overlap(counts: LabeledCounts) -> None:
    """Say how many texts are in both training and test or repeat, also where none do."""
    leaks = counts.leaked if counts.is_split else counts.repeated
    parts = []
    if counts.is_split:
        parts.append(
            f"**{leaks:,}** of {counts.tested:,} test examples ({percent(leaks / counts.tested, 1)}) are also in "
            "training"
            if leaks
            else "No test example is also in training"
        )
        if counts.repeated:
            parts.append(f"**{counts.repeated:,}** examples appear more than once in the dataset")
    else:
        parts.append(
            f"**{leaks:,}** examples ({percent(leaks / counts.examples, 1)}) appear more than once"
            if leaks
            else "No example appears more than once"
        )
    if n := counts.contradictory:
        parts.append(f"**{n:,}** {'texts have' if n > 1 else 'text has'} more than one label, so 100% is out of reach")
    if leaks:
        folds = "" if counts.is_split else "Cross-validation keeps equal texts in one fold. "
        parts.append(f"{folds}Scores are also given without them")
    if leaks or counts.repeated:
        parts.append("Case, white space, Unicode form, and the order within a pair are ignored when comparing texts")
    (st.warning if leaks else st.info)(
        f"{'. '.join(parts)}.", icon=":material/content_copy:" if leaks else ":material/check:"
    )


def _examples(data: LabeledTexts, content: str, per_page: int) -> None:
    """Draw the examples: all, of one class, or only those that repeat."""
    counts = data.counts
    st.markdown("**Examples**")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        label = st.selectbox(
            "Class",
            [_ALL, *data.classes],
            format_func=lambda name: name or "all",
            key=f"example_class_{content}",
            persist_state="session",
            width=240,
        )
        leaking = st.toggle(
            "Only those also in training" if counts.is_split else "Only those that repeat",
            key=f"example_leaks_{content}",
            persist_state="session",
            disabled=not (counts.leaked if counts.is_split else counts.repeated),
        )
    numbers = data.numbers(label, leaking)
    if not len(numbers):
        st.caption("No examples match. Choose another class or turn off the filter.")
        return
    key = f"rows_page_{content}_{data.classes.index(label) if label else 'all'}_{int(leaking)}"
    pages = Pages.of(key, len(numbers), per_page)
    rows = data.examples(numbers[pages.rows])
    names = {"number": "number", "label": "class", "split": "split", "first": "text", "elsewhere": "also"}
    if data.has_pairs:
        names |= {"first": "first text", "second": "second text"}
    if not counts.is_split:
        del names["split"]
    if not data.overlaps.any():
        del names["elsewhere"]
    frame = pd.DataFrame([asdict(row) for row in rows])[list(names)].rename(columns=names)
    tables.draw(
        frame,
        key="labeled_rows",
        column_config={
            "number": st.column_config.NumberColumn(width=60, help="Number of the example in the dataset"),
            "class": st.column_config.TextColumn(width=110),
            "split": st.column_config.TextColumn(width=60),
            "also": st.column_config.TextColumn(width=90, help="Where the same text also appears"),
        },
    )
    pages.turn()
