"""The view *scores* of the page Retrieval, and its headline: every model beside keyword search."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from blindspot.diagnostics.retrieval import figures
from blindspot.diagnostics.retrieval.definition import ENTRY, MEANINGS, TITLES
from blindspot.diagnostics.retrieval.outcomes import QueryTable, Side
from blindspot.diagnostics.retrieval.page.shown import BY_RUNS, RetrievalView, paired_of
from blindspot.figures.dots import DOT, dot, dots
from blindspot.numerics.statistics import pairs as statistics
from blindspot.numerics.statistics.compare import PairedTest, Verdict
from blindspot.numerics.statistics.estimate import Estimate
from blindspot.numerics.statistics.written import ci, interval, number, p_in_cell, percent
from blindspot.runs import manifests
from blindspot.store.records import RunRecord
from blindspot.texts import counted
from blindspot.ui import headline
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import cached
from blindspot.ui.widgets import tables

SHOWN = ("ndcg@10", "recall@10", "recall@100", "mrr@10", "map")
HEAD = ENTRY.headline
SCALE = "nDCG@10 is 1 where the best documents are first, and 0 where no relevant one is in the top ten."


def show(shown: RetrievalView) -> None:
    """Scores with intervals, and all of them as a table."""
    rows = [
        dot(run.plan.variant, TITLES[name], estimate.value, estimate.interval)
        for run in shown.runs
        for name, estimate in _estimates(shown.table, run.run_id, False).items()
        if name in SHOWN
    ]
    keywords = _estimates(shown.table, shown.runs[0].run_id, True)
    if not shown.has_bm25:
        rows += [dot(figures.KEYWORDS, TITLES[name], keywords[name].value, keywords[name].interval) for name in SHOWN]
    rows.sort(key=lambda row: list(TITLES.values()).index(str(row["name"])))
    styles = dict(shown.styles) | {figures.KEYWORDS: figures.keyword_style(shown.scheme)}
    figure = dots(pd.DataFrame(rows, columns=DOT), styles, shown.scheme, axis="score (higher is better)")
    st.plotly_chart(figure, key="retrieval_scores")
    known = shown.table.known
    bars = f"Bars: 95% CI from {known.independent}." if not known.refusal else f"No intervals: {known.refusal}."
    documents = int(shown.runs[0].metrics["documents"])
    st.caption(
        f"{counted(len(shown.table), 'query', 'queries')}, {counted(documents, 'document')}. {bars} {_unjudged(shown)}"
    )
    for said in manifests.truncation_warnings(shown.runs):
        st.caption(as_text(said))
    _table(shown)


def _unjudged(shown: RetrievalView) -> str:
    """What unjudged documents count as, and how many there are in the top tens."""
    shares = [_share_unjudged(shown.table, run.run_id, False) for run in shown.runs]
    low, high = (percent(share) for share in (min(shares), max(shares)))
    of_bm25 = _share_unjudged(shown.table, shown.runs[0].run_id, True)
    of_models = high if low == high else f"{low} to {high}"
    return (
        ("**Condensed lists:** unjudged documents are removed before scoring. " if shown.is_condensed else "")
        + f"Nobody judged {of_models} of the models' top tens and {percent(of_bm25)} of BM25's"
        f"{'.' if shown.is_condensed else '; unjudged documents count as irrelevant.'}"
    )


def show_headline(shown: RetrievalView) -> None:
    """The baseline's nDCG@10 beside BM25's, and how the other models differ from it."""
    runs = headline.baseline_first(shown.runs, shown.picks.baseline)
    own = _estimates(shown.table, runs[0].run_id, False)[HEAD]
    found = _against_bm25(shown.table, runs[0].run_id)
    apart = {
        Verdict.UNTESTED: "not tested against",
        Verdict.ALIKE: "not significantly different from",
    }
    verdict = apart.get(found.verdict, f"significantly {found.verdict} than")
    said = (
        f"**{as_text(runs[0].plan.variant.label)}** finds relevant documents with {TITLES[HEAD]} = "
        f"**{number(own.value, '.3f')}**{ci(own.interval, '.3f')} over "
        f"{counted(len(shown.table), 'query', 'queries')}, {verdict} keyword search: BM25 has "
        f"{number(found.b, '.3f')}, a difference of {number(found.value, '+.3f')}"
        f"{ci(found.interval, '+.3f')}{' (unjudged documents removed)' if shown.is_condensed else ''}"
    )
    said = headline.in_words(said, headline.rivals(ENTRY, runs, ".3f"), "better", "worse")
    headline.show(f"{said} {SCALE}")


@cached(64, "Computing intervals …", keys=BY_RUNS)
def _estimates(table: QueryTable, run_id: str, is_bm25: bool) -> dict[str, Estimate]:
    side = Side(run_id, is_bm25)
    return {name: statistics.share(table.scores(side, name), table.known) for name in TITLES}


@cached(64, "Counting unjudged documents …", keys=BY_RUNS)
def _share_unjudged(table: QueryTable, run_id: str, is_bm25: bool) -> float:
    return table.unjudged(Side(run_id, is_bm25)).share


def _against_bm25(table: QueryTable, run_id: str) -> PairedTest:
    """The run against BM25."""
    return paired_of(table, Side(run_id), Side(run_id, is_bm25=True))


def _table(shown: RetrievalView) -> None:
    def line(label: str, run: RunRecord, is_bm25: bool) -> dict[str, object]:
        out: dict[str, object] = {"model": label}
        found = _estimates(shown.table, run.run_id, is_bm25)
        for name, title in TITLES.items():
            out[title] = found[name].value
        against = _against_bm25(shown.table, run.run_id)
        out["nDCG@10 − BM25"] = None if is_bm25 else against.value
        out["95% CI"] = "" if is_bm25 else interval(against.interval, "+.3f")
        out["p"] = None if is_bm25 else p_in_cell(against.p_corrected, against.p)
        out["detectable"] = None if is_bm25 else against.detectable
        out["unjudged in top 10"] = _share_unjudged(shown.table, run.run_id, is_bm25)
        return out

    rows = [line(run.plan.variant.label, run, False) for run in shown.runs]
    rows.append(line("BM25 (keyword search)", shown.runs[0], True))
    numbers = {title: st.column_config.NumberColumn(format="%.4f", help=MEANINGS[n]) for n, title in TITLES.items()}
    with st.expander("All scores as a table", icon=":material/table:"):
        tables.draw(
            pd.DataFrame(rows),
            hide_index=True,
            key="retrieval_table",
            placeholder="–",
            column_config={
                **numbers,
                "nDCG@10 − BM25": st.column_config.NumberColumn(format="%+.4f"),
                "95% CI": st.column_config.TextColumn(help="Of the difference from BM25"),
                "p": st.column_config.TextColumn(help="Sign flips, corrected after Holm for all scores"),
                "detectable": st.column_config.NumberColumn(
                    format="%.3f",
                    help="The smallest difference from BM25 that this test finds with 80% probability",
                ),
                "unjudged in top 10": st.column_config.NumberColumn(format="percent"),
            },
        )
