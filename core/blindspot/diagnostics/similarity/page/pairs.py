"""The view *pairs* of the page Similarity: predicted against given scores, and the most misjudged pairs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from blindspot.datasets.kinds.scored_pairs import ScoredPairs
from blindspot.diagnostics.similarity import figures, pairs
from blindspot.diagnostics.similarity.page.runs import BY_RUNS, SimilarityView
from blindspot.diagnostics.similarity.pairs import (
    DISAGREEMENT,
    FIRST,
    PAIR,
    SCORE,
    SECOND,
    SET,
    Fit,
    Order,
    ScoredTable,
)
from blindspot.numerics.statistics.outcomes import Outcomes
from blindspot.numerics.statistics.written import percent
from blindspot.runs.why_similar import PairOfTexts
from blindspot.store.records import RunRecord
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import cached, load
from blindspot.ui.widgets import downloads, own_columns, tables
from blindspot.ui.widgets.browse_table import BrowseTable, from_changes
from blindspot.ui.widgets.choices import one_of
from blindspot.ui.widgets.downloads import Holds
from blindspot.ui.widgets.outcome_tabs import outcome_tabs, verdict
from blindspot.ui.widgets.texts import long_texts, why_similar
from blindspot.ui.widgets.two_variants import two_variants

TABLE = BrowseTable("sim_pairs", unit="pair", number=PAIR)
ALL_SETS = "all"
TEXT_WIDTH = {False: 280, True: 170}  # by whether two models take room beside them: both texts are in view
MEANING_OF_TABS = (
    f"A pair is misjudged where the score predicted from its similarity is off by more than {percent(pairs.OFF)} of "
    "the scores' range.\n\n- **A wins**: only B misjudges it\n- **B wins**: only A misjudges it\n- **Both wrong**, "
    "**Both right**: alike"
)
FIT_IN_WORDS = {
    Fit.MONOTONE: "a monotone step function (isotonic regression), as Spearman and Kendall assume",
    Fit.LINE: "a straight line, as Pearson assumes",
}


def show(shown: SimilarityView) -> None:
    """The scatter of one model or two, the table of the pairs, and the chosen pair."""
    sides = two_variants(shown.runs).by_letter
    with st.container(horizontal=True, vertical_alignment="bottom"):
        fit = one_of("Fit", Fit, "sim_fit", "\n".join(f"- **{fit}**: {words}" for fit, words in FIT_IN_WORDS.items()))
        set_name = _set(shown)
        numbers = shown.table.frame["item_no"].to_numpy(dtype=np.int64)
        of_column = own_columns.only_rows(shown.own, numbers, on_change=TABLE.to_first_page)
    rows = _described(shown.table, tuple(sorted((k, r.run_id) for k, r in sides.items())), fit)
    became = pairs.became(rows) if "B" in sides else None  # by the range of all scores, whichever set is shown
    wanted = of_column if set_name == ALL_SETS else of_column & (rows[SET] == set_name).to_numpy()
    here = rows[wanted]
    if became is not None:
        became = Outcomes(became.codes[wanted])
        text = "{a} agrees with people in {won} pairs that {b} misjudges, {b} in {lost} that {a} misjudges; alike in "
        verdict(became, sides["A"], sides["B"], f"{text}{{alike}}.")
    chosen = TABLE.wanted(shown.picks.dataset)
    for column, (side, run) in zip(st.columns(len(sides)), sides.items(), strict=True):
        with column:
            st.markdown(f"**{side}: {as_text(run.plan.variant.label)}**")
            figure = figures.against_gold(
                here[f"similarity in {side}"].to_numpy(),
                here[SCORE].to_numpy(),
                here[f"fitted in {side}"].to_numpy(),
                here[PAIR].tolist(),
                chosen,
                shown.styles[run.plan.variant],
                shown.scheme,
            )
            st.plotly_chart(figure, key=f"sim_scatter_{side}")
    st.caption(
        f"Residual: the score predicted from the similarity minus the score that people gave; above 0 the model finds "
        f"the texts more alike than people do. Predicted by {FIT_IN_WORDS[fit]}, fitted to all pairs of the dataset by "
        "least squares."
    )
    listed = here if became is None else here[outcome_tabs(became, MEANING_OF_TABS, on_change=TABLE.to_first_page)]
    order = one_of(
        "Order",
        [order for order in Order if "B" in sides or order is not Order.DISAGREE],
        "sim_rows",
        "- **misjudges most**: the largest residuals of either sign\n- **too alike**, **too different**: of "
        "one sign\n- **disagree**: the predicted scores are furthest apart",
    )
    rows_shown = pairs.ordered(listed, order)
    if rows_shown.empty:
        st.info("No pairs here. Choose another tab above.")
    else:
        _table(rows_shown, shown)
    _look_into(rows, rows_shown, shown, sides)
    if not rows_shown.empty:
        _downloads(rows_shown, shown, sides)


def _set(shown: SimilarityView) -> str:
    sets = shown.table.sets
    if len(sets) < 2:
        return ALL_SETS
    if st.session_state.get("sim_set") not in (None, ALL_SETS, *sets):  # of another dataset
        st.session_state["sim_set"] = ALL_SETS
    return str(st.selectbox("Set", [ALL_SETS, *sets], key="sim_set", bind="query-params", width=240))


@cached(16, "Fitting …", keys=BY_RUNS)
def _described(table: ScoredTable, sides: tuple[tuple[str, str], ...], fit: Fit) -> pd.DataFrame:
    return pairs.described(table, dict(sides), fit)


def _table(rows: pd.DataFrame, shown: SimilarityView) -> None:
    number, text = st.column_config.NumberColumn, st.column_config.TextColumn
    config: dict[str, object] = {
        PAIR: number(width=48, help="Number of the pair in the dataset"),
        SCORE: number(width=50, format="%.2f", help="What people gave"),
        DISAGREEMENT: number(width=56, format="%+.2f", help="Predicted score of A minus that of B"),
    }
    about = "A long text begins shortly before the word that differs"
    config |= {side: text(width=TEXT_WIDTH[DISAGREEMENT in rows], help=about) for side in (FIRST, SECOND)}
    for side in "AB":
        config[f"similarity in {side}"] = number(f"similarity {side}", width=82, format="%.3f")
        config[f"fitted in {side}"] = None
        config[f"residual in {side}"] = number(
            f"residual {side}", width=76, format="%+.2f", help="Predicted minus given score"
        )
    if len(shown.table.sets) < 2:
        config[SET] = None
    hint = f"{len(rows):,} pairs. Choose a row to read it below."
    TABLE.show(rows, shown.picks.dataset, config, hint=hint, view=lambda page: from_changes(page, FIRST, SECOND))


def _downloads(table: pd.DataFrame, shown: SimilarityView, sides: dict[str, RunRecord]) -> None:
    rows = table.rename(
        columns={
            f"{what} in {side}": f"{what} of {run.plan.variant}"
            for side, run in sides.items()
            for what in ("similarity", "fitted", "residual")
        }
    )
    downloads.tables(
        lambda: rows,
        Holds(shown.picks.dataset, tuple(run.run_id for run in sides.values())),
        stem=downloads.stem_of("similarity", shown.picks.dataset, "pairs"),
        key="sim_download",
        help=f"All {len(table):,} pairs in the table's order.",
    )


def _look_into(rows: pd.DataFrame, table: pd.DataFrame, shown: SimilarityView, sides: dict[str, RunRecord]) -> None:
    left_out = f"is not among the {len(rows):,} pairs shown: pairs that a model has no vector for are left out"
    number = TABLE.chosen(table, shown.picks.dataset, set(rows[PAIR].tolist()), left_out)
    if number is None:
        return
    row = rows[rows[PAIR] == number].iloc[0]
    with st.container(border=True, key="sim_pair"):
        left, right = st.columns(2)
        for column, text in ((left, row[FIRST]), (right, row[SECOND])):
            with column:
                long_texts.show(text)
        st.markdown(f"People gave **{row[SCORE]:.2f}** ({as_text(str(row[SET]))}).")
        tables.draw(
            [
                {
                    "model": run.plan.variant.label,
                    "similarity": row[f"similarity in {side}"],
                    "predicted score": row[f"fitted in {side}"],
                    "residual": row[f"residual in {side}"],
                }
                for side, run in sides.items()
            ],
            key="sim_pair_scores",
            column_config={
                "similarity": "%.3f",
                "predicted score": st.column_config.NumberColumn(format="%.2f", help="By the fit"),
                "residual": "%+.2f",
            },
        )
        if why_similar.is_open():
            dataset = load(shown.picks.dataset.entry())
            if not isinstance(dataset, ScoredPairs):
                raise TypeError(f"{shown.picks.dataset} is no set of scored pairs")
            items = int(dataset.firsts[number]), int(dataset.seconds[number])
            pair = PairOfTexts((row[FIRST], row[SECOND]), items)
            note = why_similar.note_of(shown.picks.metric)
            asked = [why_similar.of_run(run, pair, note=note) for run in sides.values()]
            why_similar.show(asked, ("first text", "second text"))
