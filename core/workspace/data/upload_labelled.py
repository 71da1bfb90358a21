"""The part of the upload form for labelled texts: which columns they are, a look at them."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.datasets.kinds.labelled_texts import SPLITS, UNSPLIT
from core.datasets.own import labelled_texts as own_labelled
from core.datasets.own.columns import FIRST, LABEL, SECOND, SPLIT, TEXT
from core.datasets.own.files import OwnTable
from core.datasets.own.labelled_texts import LabelledColumns, OwnLabelledTexts
from core.workspace.data.labelled import class_table, overlap

EXAMPLES = 5


def columns(table: OwnTable, key: str) -> LabelledColumns | None:
    """The pickers of the columns; what the header tells stands in them at first.

    Returns:
        None until there are a text and a label, and no column is chosen twice.
    """
    told = preselected(table)
    guesses = {
        "Text": (told[TEXT], ""),
        "Second text": (told[SECOND], "Where an example is two texts, as in paraphrase or entailment."),
        "Label": (told[LABEL], "The class of each example."),
        "Split": (
            told[SPLIT],
            "What is trained and tested on: train, dev (or validation) and test. Without one, ten folds are made, "
            "equal texts together.",
        ),
    }
    chosen: dict[str, str | None] = {}
    for titles in (("Text", "Label"), ("Second text", "Split")):
        for place, title in zip(st.columns(2), titles, strict=True):
            guess, why = guesses[title]
            chosen[title] = place.selectbox(
                f"{title} column" + (" (if there is one)" if title in {"Second text", "Split"} else ""),
                table.names,
                index=guess,
                placeholder="none" if title in {"Second text", "Split"} else "choose one",
                key=f"upload_labelled_{title.split()[0].lower()}_{key}",
                format_func=lambda name: name or "(no name)",
                help=why or None,
            )
    first, second, label, split = (chosen[title] for title in guesses)
    taken = [name for name in chosen.values() if name is not None]
    if first is None or label is None or len(set(taken)) < len(taken):
        st.caption("Choose the column of the texts and that of their labels, each column once.")
        return None
    return LabelledColumns(first, label, second, split)


def preselected(table: OwnTable) -> dict[str, int | None]:
    """Per use the number of the column that stands in its picker at first."""
    told = own_labelled.guess(table.table)
    return {TEXT: told.first, FIRST: told.first, SECOND: told.second, LABEL: told.label, SPLIT: told.split}


def show(labelled: OwnLabelledTexts) -> None:
    """The first rows, the classes and what repeats."""
    first = min(EXAMPLES, labelled.rows)
    st.markdown(f"**The first {first} of {labelled.rows:,} labelled examples**")
    rows = pd.DataFrame(
        [
            {
                **({"first text": e.first, "second text": e.second} if labelled.has_pairs else {"text": e.first}),
                "class": e.label,
                **({} if e.split == UNSPLIT else {"split": SPLITS[e.split]}),
            }
            for e in labelled.examples[:first]
        ]
    )
    st.dataframe(rows, hide_index=True, key="upload_rows")
    counts = labelled.counts
    st.markdown(f"**{len(counts.classes)} classes**")
    class_table(counts, "upload_classes")
    st.caption(f"{counts.examples:,} examples · {counts.texts:,} distinct texts")
    overlap(counts)
