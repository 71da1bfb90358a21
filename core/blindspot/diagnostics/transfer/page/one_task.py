"""The views *confusion* and *items* of the page Transfer: one task's examples, by one variant or two."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from blindspot.diagnostic import find_diagnostic
from blindspot.diagnostics.transfer import figures, outcomes
from blindspot.diagnostics.transfer.outcomes import (
    GOLD,
    NUMBER,
    OVERLAP,
    SECOND,
    SUREST,
    TEXT,
    Order,
    Outcomes,
    Which,
)
from blindspot.diagnostics.transfer.page.offer import runs_of_task
from blindspot.diagnostics.transfer.page.runs import TransferView, outcomes_of
from blindspot.diagnostics.transfer.view import mistakes, per_class
from blindspot.numerics.statistics.compare import PairedTest
from blindspot.numerics.statistics.written import ci, number, percent
from blindspot.policy import MOST_SEARCHED
from blindspot.runs.comparison import in_words, paired_tests
from blindspot.store.records import RunRecord
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import Keys, cached, repository
from blindspot.ui.widgets import downloads, own_columns, tables
from blindspot.ui.widgets.browse_table import BrowseTable
from blindspot.ui.widgets.choices import one_of
from blindspot.ui.widgets.downloads import Holds
from blindspot.ui.widgets.outcome_tabs import outcome_tabs
from blindspot.ui.widgets.two_variants import two_variants

LISTED = 12  # kinds of mistake
ALL_CLASSES = "all"
TABLE = BrowseTable("examples", unit="example", number=NUMBER)
MEANING_OF_TABS = (
    "- **A wins**: A predicts the right class, B a wrong one\n- **B wins**: the other way round\n"
    "- **Both wrong**, **Both right**: alike"
)
_BY_DIGEST: Keys = {Outcomes: lambda answers: answers.digest}
Sides = dict[str, RunRecord]  # by "A" and, with two variants, "B"


def _compared(shown: TransferView) -> tuple[Outcomes, Sides] | None:
    """The wanted examples among those that all sides were tested on; if there are none, says why and returns None."""
    if not (runs := runs_of_task(shown)):
        return None
    sides = two_variants(runs).by_letter
    answers = outcomes_of(list(sides.values()), overlap=shown.overlap)
    if not len(answers):
        st.warning("No examples left: each is also in the training part, or repeats.", icon=":material/info:")
        return None
    columns = own_columns.columns_of(sides["A"])
    return answers.part(own_columns.only_rows(columns, answers.numbers, on_change=TABLE.to_first_page)), sides


# --- confusion


def confusion(shown: TransferView) -> None:
    """The matrices, scores per class, and the most frequent mistakes."""
    if not (compared := _compared(shown)):
        return
    answers, sides = compared
    st.caption(
        f"{shown.page.titled(shown.picks.dataset)}: {len(answers):,} tested examples"
        + ("" if shown.overlap else " without overlap with training or repeats")
        + (" that both were tested on" if len(sides) > 1 else "")
        + (
            f". Its {len(answers.classes):,} classes are too many for a matrix."
            if len(answers.classes) > figures.MOST_DRAWN
            else ". Cells: count and share of the row; correct predictions are framed."
        )
    )
    for column, (side, run) in zip(st.columns(len(sides)), sides.items(), strict=True):
        with column:
            accuracy = float(answers.right(run.run_id).mean())
            st.markdown(f"**{side}: {as_text(run.plan.variant.label)}**, accuracy {percent(accuracy, 1)}")
            if len(answers.classes) <= figures.MOST_DRAWN:
                figure = figures.confusion(answers.table(run.run_id), answers.classes, shown.scheme)
                st.plotly_chart(figure, key=f"transfer_confusion_{side}")
    _per_class(answers, sides)
    _mistakes(answers, sides)


def _per_class(answers: Outcomes, sides: Sides) -> None:
    st.markdown("**Per class**")
    rows = per_class(answers, _ids(sides))
    number = st.column_config.NumberColumn
    config = {name: number(format="%+.3f" if "−" in name else "%.3f") for name in map(str, list(rows)[2:])}
    tables.draw(rows, key="transfer_classes", placeholder="–", column_config=config)


def _mistakes(answers: Outcomes, sides: Sides) -> None:
    rows = mistakes(answers, _ids(sides), LISTED)
    if rows.empty:
        st.success("No mistakes at all.", icon=":material/check_circle:")
        return
    st.markdown("**Most frequent mistakes**")
    tables.draw(rows, key="transfer_mistakes")
    st.caption("The view *items* shows the examples.")


def _ids(sides: Sides) -> dict[str, str]:
    return {side: run.run_id for side, run in sides.items()}


# --- items


def items(shown: TransferView) -> None:
    """A test of the difference between both sides, the filters, the table, the chosen example."""
    if not (compared := _compared(shown)):
        return
    answers, sides = compared
    if len(sides) > 1:
        _test(answers, sides)
    rows = _described(answers, tuple(sorted((side, run.run_id) for side, run in sides.items())))
    listed = _filtered(rows, answers, sides)
    st.markdown(f"**{len(listed):,} of {len(rows):,} tested examples**")
    if listed.empty:
        st.info("No examples match. Remove a filter or shorten the search.")
    else:
        _table(listed, shown, sides)
        _downloads(listed, shown, sides)
    left_out = (
        f"is not among the {len(rows):,} shown here: it is not tested, overlaps, is filtered out, or a model has no "
        "vector for it"
    )
    number = TABLE.chosen(listed, shown.picks.dataset, set(rows[NUMBER].tolist()), left_out)
    if number is not None:
        _example(rows, number, sides)


@cached(16, "Comparing predictions …", keys=_BY_DIGEST)
def _described(results: Outcomes, sides: tuple[tuple[str, str], ...]) -> pd.DataFrame:
    return outcomes.described(results, dict(sides))


def _test(answers: Outcomes, sides: Sides) -> None:
    a, b = sides["A"], sides["B"]
    (test,) = _tests(a, b, tuple(answers.numbers.tolist()))
    names = [f"**{as_text(run.plan.variant.label)}**" for run in (a, b)]
    st.markdown(
        f"{names[0]} is right on {percent(test.a, 1)} and {names[1]} on {percent(test.b, 1)} of {len(answers):,} "
        f"examples. {' '.join(in_words((test,), *names))}"
    )
    notes = [f"Difference: {number(test.value, '+.3f')}{ci(test, '+.3f')}."]
    if a.plan.covered_digest != b.plan.covered_digest:
        notes.append("Compared on the examples that both were tested on; their training examples differ.")
    st.caption(" ".join(notes))


@cached(64, "Comparing …")
def _tests(first: RunRecord, second: RunRecord, examples: tuple[int, ...]) -> tuple[PairedTest, ...]:
    """Tests of two runs on some of the examples."""
    entry, among = find_diagnostic(first.plan.diagnostic), np.array(examples, dtype=np.int64)
    (tests,) = paired_tests(entry, [(first, second)], repository(), among=among)
    return tests


def _filtered(rows: pd.DataFrame, answers: Outcomes, sides: Sides) -> pd.DataFrame:
    if len(sides) > 1:
        became = outcomes.became(answers, *(run.run_id for run in sides.values()))
        keep = outcome_tabs(became, MEANING_OF_TABS, on_change=TABLE.to_first_page)
    else:
        keep = outcomes.kept(rows, one_of("Which examples", Which, "transfer_rows"))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        classes = [ALL_CLASSES, *answers.classes]
        if st.session_state.get("gold") not in (None, *classes):  # of another task
            st.session_state["gold"] = ALL_CLASSES
        gold = st.selectbox("Gold class", classes, key="gold", bind="query-params", width=200)
        alike = len(sides) > 1 and st.toggle(
            "Same mistake",
            key="alike",
            bind="query-params",
            help="Only examples on which both predict the same wrong class.",
        )
        only = False
        if answers.repeated.any():
            only = st.toggle(
                f"Only overlap ({int(answers.repeated.sum()):,})",
                key="only_overlap",
                bind="query-params",
                help="Examples that are also in the training part or, without a split, occur more than once.",
            )
        wanted = st.text_input(
            "Search",
            key="transfer_search",
            max_chars=MOST_SEARCHED,
            persist_state="session",
            placeholder="part of a text",
            width=240,
        ).strip()
        order = one_of(
            "Order",
            Order,
            "transfer_order",
            "surest mistake: wrong class with the highest probability. least sure: lowest probability of the "
            "predicted class, right or wrong. number: as in the dataset.",
        )
    if alike:
        keep &= outcomes.alike(rows)
    if gold != ALL_CLASSES:
        keep &= (rows[GOLD] == gold).to_numpy()
    if only:
        keep &= rows[OVERLAP].to_numpy()
    if wanted:
        keep &= outcomes.containing(rows, wanted)
    return outcomes.ordered(rows[keep], order)


def _table(listed: pd.DataFrame, shown: TransferView, sides: Sides) -> None:
    number, text = st.column_config.NumberColumn, st.column_config.TextColumn
    config: dict[str, object] = {
        NUMBER: number(width=50, help="Number of the example in the dataset"),
        TEXT: text(width=230 if SECOND in listed else 290),
        SECOND: text(width=230),
        GOLD: text(help="The right class"),
        OVERLAP: st.column_config.CheckboxColumn(
            width="small", help="Also in the training part or, without a split, occurs more than once"
        ),
        SUREST: None,
    }
    for side, run in sides.items():
        about = as_text(run.plan.variant.label)
        config[outcomes.predicted(side)] = text(help=f"Class predicted from the embeddings of {side}, {about}")
        config[outcomes.probability(side)] = number(
            format="%.3f", help=f"Probability of the class predicted from {side}, {about}"
        )
    TABLE.show(listed, shown.picks.dataset, config, hint="Choose a row to read it below.")


def _example(rows: pd.DataFrame, number: int, sides: Sides) -> None:
    row = rows[rows[NUMBER] == number].iloc[0]
    with st.container(border=True, key="transfer_example"):
        if SECOND in rows:
            left, right = st.columns(2)
            left.text(row[TEXT])
            right.text(row[SECOND])
        else:
            st.text(row[TEXT])
        overlap = " It is also in the training part, or occurs more than once." if row[OVERLAP] else ""
        st.markdown(f"Its class is **{as_text(str(row[GOLD]))}**.{overlap}")
        tables.draw(
            [
                {
                    "model": run.plan.variant.label,
                    "predicts": row[outcomes.predicted(side)],
                    "": "right" if row[outcomes.predicted(side)] == row[GOLD] else "wrong",
                    "probability": row[outcomes.probability(side)],
                }
                for side, run in sides.items()
            ],
            key="transfer_example_says",
            column_config={"probability": "%.3f"},
        )


def _downloads(listed: pd.DataFrame, shown: TransferView, sides: Sides) -> None:
    variants = {side: run.plan.variant for side, run in sides.items()}
    downloads.tables(
        lambda: outcomes.for_export(listed, variants),
        Holds(shown.picks.dataset, tuple(run.run_id for run in sides.values())),
        stem=downloads.stem_of(shown.page.entry.id, shown.picks.dataset, shown.classifier),
        key="transfer_download",
        help=f"All {len(listed):,} examples of the table in its order.",
    )
