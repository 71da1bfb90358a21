"""The view *scores* of the page Retrieval, and its headline: every model beside keyword search."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from blindspot.diagnostics.retrieval import figures
from blindspot.diagnostics.retrieval.definition import ENTRY, MEANINGS, TITLES
from blindspot.diagnostics.retrieval.outcomes import QueryTable, Side
from blindspot.diagnostics.retrieval.page.retrieval_view import BY_RUNS, RetrievalView
from blindspot.diagnostics.retrieval.view import HEAD, RankingScores, bars_in_words, ranking_scores, unjudged_in_words
from blindspot.figures.dots import dot, dots
from blindspot.numerics.statistics.compare import Verdict
from blindspot.numerics.statistics.pairs import ALLOWING
from blindspot.numerics.statistics.written import CHANGE, SCORE, ci, interval, number, p_in_cell
from blindspot.references import BM25
from blindspot.runs import manifests
from blindspot.texts import counted
from blindspot.ui import headline
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import cached
from blindspot.ui.widgets import tables
from blindspot.ui.widgets.doubts import show_doubts
from blindspot.variants import Variant

SHOWN = ("ndcg@10", "recall@10", "recall@100", "mrr@10", "map")
SCALE = "nDCG@10 is 1 where the best documents are first, and 0 where no relevant one is in the top ten."


def show(shown: RetrievalView) -> None:
    """Scores with intervals, and all of them as a table."""
    models = {run.plan.variant: _scores(shown.table, Side(run.run_id)) for run in shown.runs}
    bm25 = _scores(shown.table, Side(shown.runs[0].run_id, is_bm25=True))
    rankings = models if shown.has_bm25 else {**models, figures.KEYWORDS: bm25}
    rows = [
        dot(variant, TITLES[name], scores.estimates[name]) for variant, scores in rankings.items() for name in SHOWN
    ]
    rows.sort(key=lambda row: list(TITLES.values()).index(str(row["name"])))
    styles = dict(shown.styles) | {figures.KEYWORDS: figures.keyword_style(shown.scheme)}
    figure = dots(rows, styles, shown.scheme, axis="score (higher is better)")
    st.plotly_chart(figure, key="retrieval_scores")
    documents = int(shown.runs[0].metrics["documents"])
    st.caption(
        f"{counted(len(shown.table), 'query', 'queries')}, {counted(documents, 'document')}. "
        f"{bars_in_words(shown.table)} "
        f"{unjudged_in_words(list(models.values()), bm25, is_condensed=shown.is_condensed)}"
    )
    for warning in manifests.truncation_warnings(shown.runs):
        st.caption(as_text(warning))
    _table(models, bm25)


def show_headline(shown: RetrievalView) -> None:
    """A model's nDCG@10 beside BM25's, and how the other models differ from it."""
    runs = headline.subject_first(shown.runs, shown.picks)
    first = _scores(shown.table, Side(runs[0].run_id))
    estimate, test = first.estimates[HEAD], first.against_bm25
    if test is None:
        raise TypeError("a run is not compared with keyword search")
    apart = {
        Verdict.UNTESTED: "not tested against",
        Verdict.ALIKE: "not significantly different from",
    }
    verdict = apart.get(test.verdict, f"significantly {test.verdict} than")
    text = (
        f"**{as_text(runs[0].plan.variant.label)}** finds relevant documents with {TITLES[HEAD]} = "
        f"**{number(estimate.value, '.3f')}**{headline.sure(estimate, '.3f')} over "
        f"{counted(len(shown.table), 'query', 'queries')}, {verdict} keyword search: BM25 has "
        f"{number(test.b, '.3f')}, a difference of {number(test.value, '+.3f')}"
        f"{ci(test, '+.3f')}{' (unjudged documents removed)' if shown.is_condensed else ''}"
    )
    others = [run for run in runs[1:] if run.plan.variant.encoder != BM25]  # keyword search has been named
    rivals = [] if show_doubts(ENTRY, shown.runs) else headline.rivals(ENTRY, [runs[0], *others], ".3f")
    text = headline.in_words(text, rivals, "better", "worse")
    headline.show(f"{text} {SCALE}")


@cached(64, "Computing intervals …", keys=BY_RUNS)
def _scores(table: QueryTable, side: Side) -> RankingScores:
    return ranking_scores(table, side)


def _table(models: Mapping[Variant, RankingScores], bm25: RankingScores) -> None:
    def line(label: str, scores: RankingScores) -> dict[str, object]:
        test = scores.against_bm25
        return {
            "model": label,
            **{title: scores.estimates[name].value for name, title in TITLES.items()},
            "nDCG@10 − BM25": None if test is None else test.value,
            "95% CI": "" if test is None else interval(test.interval, "+.3f"),
            "p": None if test is None else p_in_cell(test.p_corrected, test.p),
            "detectable": None if test is None else test.detectable,
            "unjudged in top 10": scores.unjudged,
        }

    rows = [line(variant.label, scores) for variant, scores in models.items()]
    rows.append(line("BM25 (keyword search)", bm25))
    numbers = {
        title: st.column_config.NumberColumn(format=f"%{SCORE}", help=MEANINGS[n]) for n, title in TITLES.items()
    }
    with st.expander("All scores as a table", icon=":material/table:"):
        tables.draw(
            rows,
            key="retrieval_table",
            placeholder="–",
            column_config={
                **numbers,
                "nDCG@10 − BM25": f"%{CHANGE}",
                "95% CI": st.column_config.TextColumn(help="Of the difference from BM25"),
                "p": st.column_config.TextColumn(help=f"Sign flips, {ALLOWING}, corrected after Holm for all scores"),
                "detectable": st.column_config.NumberColumn(
                    format="%.3f",
                    help="The smallest difference from BM25 that this test finds with 80% probability",
                ),
                "unjudged in top 10": "percent",
            },
        )
