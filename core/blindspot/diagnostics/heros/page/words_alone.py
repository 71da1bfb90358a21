"""View *words alone* of the HEROS page: what shared words and the models get right, per kind of change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from blindspot.datasets.kinds.own_columns import OwnColumn, choices_of
from blindspot.diagnostics.heros import words_alone
from blindspot.diagnostics.heros.page.heros_view import BY_RUNS, HerosView, cosines, named, sentences
from blindspot.diagnostics.heros.words_alone import Alone, score_in_words
from blindspot.errors import BlindspotError
from blindspot.figures.dots import dot, dots
from blindspot.figures.theme import of_no_model
from blindspot.numerics.statistics.pairs import ALLOWING
from blindspot.numerics.statistics.written import interval, p_in_cell
from blindspot.numerics.words_alone import MEANING, TOKENS, Words
from blindspot.runs.findings.baselines import VARIANTS, AgainstWords, corrected, in_words
from blindspot.store.records import RunRecord
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import cached, explained
from blindspot.ui.widgets import own_columns, tables
from blindspot.ui.widgets.addressed import tab_named


def said(shown: HerosView) -> str:
    """The first model against words alone, in one sentence of Markdown; "" where the dataset has no right order."""
    if not words_alone.is_scored(shown.subsets):
        return ""
    run = shown.runs[0]
    comparison = _against(shown, run.run_id)[0]
    return in_words(comparison, named(run), score_in_words(shown.subsets), is_in_headline=False)


def show(shown: HerosView) -> None:
    """Scores of words and of models by kind of change, and the tests of their differences."""
    if not words_alone.is_scored(shown.subsets):
        st.info(
            "The names of this dataset's rewrites do not say which keep the meaning, so nothing is right or wrong.",
            icon=":material/info:",
        )
        return
    try:
        cosines(shown)
    except BlindspotError as error:
        st.warning(as_text(explained(error)))
        return
    for run in shown.runs[1:]:  # the first one is at the top of the page
        st.markdown(f"- {in_words(_against(shown, run.run_id)[0], named(run), score_in_words(shown.subsets))}")
    column = _column(own_columns.columns_of(shown.runs[0]))
    key = column.digest if column else ""
    by_run = {run.run_id: _against(shown, run.run_id, key, column) for run in shown.runs}
    _figure(shown, column, by_run)
    measures = "; ".join(f"**{words}**: {MEANING[words]}" for words in Words)
    st.caption(f"Share of {words_alone.judged(shown.subsets)} right; bars: 95% CI. {measures}. {TOKENS}")
    _table(shown.runs, by_run)


def _column(user_columns: Sequence[OwnColumn]) -> OwnColumn | None:
    """The column whose values are the kinds of change, if the dataset has any."""
    choices = choices_of(user_columns)
    if len(choices) < 2:
        return next(iter(choices.values()), None)
    return choices[tab_named("Kinds of change", list(choices), key="heros_kinds", name=as_text)]


@cached(16, "Comparing words …", keys=BY_RUNS)
def _alone(shown: HerosView) -> Alone:
    return words_alone.of_words(sentences(shown))


@cached(64, "Comparing with words …", keys=BY_RUNS)
def _against(
    shown: HerosView,
    run_id: str,
    column: str = "",  # noqa: ARG001 - of the key
    _column: OwnColumn | None = None,
) -> tuple[AgainstWords, ...]:
    """Comparisons over all originals, then over each kind; p-values of kinds are corrected for their number (Holm)."""
    outcomes, alone = words_alone.outcomes(cosines(shown)[run_id]), _alone(shown)
    kinds = words_alone.kinds_of(sentences(shown).numbers, _column)
    return corrected([words_alone.against(outcomes, alone, kind, inside) for kind, inside in kinds])


def _figure(shown: HerosView, column: OwnColumn | None, by_run: Mapping[str, Sequence[AgainstWords]]) -> None:
    rows = [
        dot(run.plan.variant, comparison.kind, comparison.score)
        for run in shown.runs
        for comparison in by_run[run.run_id]
    ]
    for kind, inside in words_alone.kinds_of(sentences(shown).numbers, column):
        rows += [dot(VARIANTS[words], kind, score) for words, score in _alone(shown).scores(inside).items()]
    styles = {**shown.styles, **of_no_model(list(VARIANTS.values()), shown.scheme)}
    figure = dots(
        rows,
        styles,
        shown.scheme,
        axis=f"share of {words_alone.judged(shown.subsets)} right",
        spec=".1%",
    )
    figure.update_xaxes(range=[-0.02, 1.02])
    st.plotly_chart(figure, key="heros_words")


def _table(runs: Sequence[RunRecord], by_run: Mapping[str, Sequence[AgainstWords]]) -> None:
    rows = [
        {
            "model": run.plan.variant.label,
            "kind": comparison.kind,
            "sentences": comparison.items,
            "right": 100 * comparison.score.value,
            "words alone": 100 * comparison.reached.value,
            "best measure": str(comparison.best),
            "difference": comparison.difference.value,
            "95% CI": interval(comparison.difference.interval, "+.1%"),
            "p": p_in_cell(comparison.p, comparison.before),
            "verdict": f"model {comparison.verdict}",
        }
        for run in runs
        for comparison in by_run[run.run_id]
    ]
    number, text = st.column_config.NumberColumn, st.column_config.TextColumn
    tables.draw(
        rows,
        key="heros_words_table",
        height="content" if len(rows) <= 30 else "auto",
        column_config={
            "sentences": "localized",
            "right": number(format="%.1f%%", help="Share of sentences that the model gets right"),
            "words alone": number(format="%.1f%%", help="The same by the best measure of shared words"),
            "difference": number(format="points", help="Model minus words, in percentage points"),
            "95% CI": text(help="Of the difference"),
            "p": text(
                help=f"Sign flips of sentences, {ALLOWING}, corrected for the choice of the best measure; "
                "of kinds also Holm"
            ),
        },
    )
    st.caption("To read the sentences of a kind, open the view *sentences* and filter by columns of the dataset.")
