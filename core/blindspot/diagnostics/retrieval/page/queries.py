"""The view *queries* of the page Retrieval: query by query A against B, and a query's top tens side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from html import escape

import numpy as np
import pandas as pd
import streamlit as st

from blindspot.datasets.kinds.retrieval import RetrievalDataset
from blindspot.diagnostics.retrieval import figures
from blindspot.diagnostics.retrieval.definition import SHOWN, TITLES
from blindspot.diagnostics.retrieval.outcomes import Judgment, QueryTable, Side
from blindspot.diagnostics.retrieval.page import exports, why
from blindspot.diagnostics.retrieval.page.retrieval_view import BY_RUNS, RetrievalView
from blindspot.diagnostics.retrieval.view import DIFFERENCE, HEAD, QUERY, RELEVANT, TEXT, AgainstView, against_view
from blindspot.figures.html_tables import Column, Html, folded, html_table, passage_marked, quiet
from blindspot.numerics.ranking.judged import TOP
from blindspot.numerics.statistics.written import SCORE, number, percent
from blindspot.policy import MOST_SEARCHED
from blindspot.store.records import RunRecord
from blindspot.texts import counted, same_text
from blindspot.types import Bool
from blindspot.ui.boundary import fragment
from blindspot.ui.headline import subject_first
from blindspot.ui.markdown import as_text
from blindspot.ui.page_state import B
from blindspot.ui.resources import cached, load
from blindspot.ui.widgets import downloads, own_columns
from blindspot.ui.widgets.addressed import names_of_variants, one_named
from blindspot.ui.widgets.browse_table import BrowseTable
from blindspot.ui.widgets.choices import one_of
from blindspot.ui.widgets.downloads import Holds
from blindspot.ui.widgets.outcome_tabs import outcome_tabs
from blindspot.ui.widgets.texts import long_texts, training_data
from blindspot.ui.widgets.two_variants import two_variants
from blindspot.ui.widgets.versus.selection import Dots, Selection

TABLE = BrowseTable("retrieval_queries", unit="query", number=QUERY)
DECIMALS = 3  # of scores in the figure, where queries with the same scores share a dot
SELECTION = Selection(
    "retrieval_scatter",
    "query_area",
    TITLES[HEAD],
    ("0.5-1, 0-0.1", "the queries with 0.5 or more in A and at most 0.1 in B"),
    "query",
    "queries",
    TABLE.to_first_page,
)
BM25_TITLE = "BM25 (keyword search)"
MEANING_OF_TABS = (
    "- **A wins**: nDCG@10 is higher in A\n- **B wins**: it is higher in B\n- **Both right**: alike, with a relevant "
    "document in the top ten\n- **Both wrong**: alike, without one"
)


class With(StrEnum):
    """What a model is compared with; the values are part of addresses."""

    MODEL = "model"
    BM25 = "bm25"


class Order(StrEnum):
    """Which queries come first; the values are part of addresses."""

    LOST = "B loses most"
    WON = "B wins most"
    WORST = "A is worst"
    NUMBER = "number"


@dataclass(frozen=True)
class Compared:
    """A and B: their names, rankings, and the run of each."""

    names: Mapping[str, str]
    sides: Mapping[str, Side]
    runs: Mapping[str, RunRecord]


@fragment  # the page above is not rerun
def show(shown: RetrievalView) -> None:
    """What changes from A to B, the scatter, the list of queries, and the chosen one."""
    compared = compared_sides(shown)
    a, b = compared.sides["A"], compared.sides["B"]
    view = _view(shown.table, a, b)
    rows = view.rows
    _say(compared, view)
    selected = _scatter(shown, compared, rows)
    keep = outcome_tabs(view.outcomes, MEANING_OF_TABS, on_change=TABLE.to_first_page)
    keep &= own_columns.only_rows(
        own_columns.columns_of(shown.runs[0]), rows[QUERY].to_numpy(), on_change=TABLE.to_first_page
    )
    if selected is not None:
        keep &= selected
    listed = _filtered(rows, keep)
    if listed.empty:
        st.info("No queries match. Choose another tab, remove a filter, shorten the search, or clear the selection.")
    else:
        _list(listed, shown)
    left_out = f"is not among the {len(rows):,} shown: it has no judgments, or a model has no vector for it"
    chosen = TABLE.chosen(listed, shown.picks.dataset, set(rows[QUERY].tolist()), left_out)
    if chosen is not None:
        _look_into(shown, compared, int(np.flatnonzero(rows[QUERY].to_numpy() == chosen)[0]))
    if not listed.empty:
        _downloads(listed, shown, compared)
    with st.expander("Hard negatives and TREC runs", icon=":material/download:"):
        for column, side in zip(st.columns(2), "AB", strict=True):
            with column:
                exports.show(shown, _dataset(shown), side, compared.names[side], compared.sides[side],
                             compared.runs[side])  # fmt: skip
    training_data.offer(compared.runs["A"])


# --- A and B


def compared_sides(shown: RetrievalView) -> Compared:
    ways = list(With) if len(shown.runs) > 1 else [With.BM25]
    way = one_of("Compare with", ways, "with", "another model, or keyword search (BM25)")
    if way is With.MODEL:
        variants = two_variants(shown.runs)
        if variants.b is not None:
            runs = {"A": variants.a, "B": variants.b}
            names = {side: run.plan.variant.label for side, run in runs.items()}
            return Compared(names, {side: Side(run.run_id) for side, run in runs.items()}, runs)
        run = variants.a
    else:
        by_name = {str(run.plan.variant): run for run in shown.runs}
        options = [str(run.plan.variant) for run in subject_first(shown.runs, shown.picks)]
        run = by_name[one_named("B", options, key=B, name=names_of_variants(options), index=0) or options[0]]
    sides = {"A": Side(run.run_id, is_bm25=True), "B": Side(run.run_id)}
    return Compared({"A": BM25_TITLE, "B": run.plan.variant.label}, sides, {"A": run, "B": run})


def _say(compared: Compared, view: AgainstView) -> None:
    """Say what changes for those who search if A is replaced by B."""
    a, b = (f"**{as_text(compared.names[side])}**" for side in "AB")
    lost, n = view.lost, len(view.rows)
    st.markdown(
        f"If you switch from {a} (A) to {b} (B), another document comes first on **{lost.first:,}** of "
        f"{counted(n, 'query', 'queries')} ({percent(lost.first / n)}), and the top tens share "
        f"**{percent(lost.overlap)}** of their documents. A relevant document leaves the top ten on "
        f"**{lost.losing:,}** queries and enters it on **{lost.gaining:,}**; {TITLES[HEAD]} falls on "
        f"{view.test.losses:,} and rises on {view.test.wins:,}."
    )
    st.caption(view.tested)


@cached(16, "Comparing queries …", keys=BY_RUNS)
def _view(table: QueryTable, a: Side, b: Side) -> AgainstView:
    return against_view(table, a, b)


# --- the figure


def _scatter(shown: RetrievalView, compared: Compared, rows: pd.DataFrame) -> Bool | None:
    """A against B; per query whether it is selected there, None without a selection."""
    a, b = (rows[side].to_numpy().round(DECIMALS) for side in "AB")
    dots = Dots(shown.runs[0].plan.dataset_digest, shown.table.numbers, a, b)
    figure, beside = st.columns([3, 2])
    with beside:
        st.caption(
            "A dot is a query, a larger one several. Below the diagonal, A ranks its documents better. Drag over dots "
            "to list only their queries."
        )
        areas = SELECTION.areas()
        selected = SELECTION.chosen(dots, areas)
    names = [escape(compared.names[side], quote=False) for side in "AB"]
    with figure:
        drawn = figures.against(
            a,
            b,
            dots.numbers.tolist(),
            TABLE.wanted(shown.picks.dataset),
            (names[0], names[1]),
            TITLES[HEAD],
            [area.ends for area in areas],
            selected,
            shown.scheme,
            shown.styles[compared.runs["A"].plan.variant],
        )
        SELECTION.draw(drawn, dots, f"{TITLES[HEAD]} of every query in {compared.names['A']} and {compared.names['B']}")
    return selected


# --- the list


def _filtered(rows: pd.DataFrame, keep: Bool) -> pd.DataFrame:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        wanted = st.text_input(
            "Search",
            key="retrieval_search",
            max_chars=MOST_SEARCHED,
            persist_state="session",
            placeholder="part of a query",
            width=240,
        ).strip()
        order = one_of("Order", Order, "retrieval_order", "By nDCG@10.")
    if wanted:
        folded_wanted = same_text(wanted)
        keep = keep & np.array([folded_wanted in same_text(text) for text in rows[TEXT]], dtype=np.bool_)
    selected = rows[keep]
    by = {
        Order.LOST: -selected[DIFFERENCE],
        Order.WON: selected[DIFFERENCE],
        Order.WORST: selected["A"],
        Order.NUMBER: selected[QUERY],
    }
    return selected.loc[by[order].sort_values(kind="stable").index]


def _list(listed: pd.DataFrame, shown: RetrievalView) -> None:
    column = st.column_config
    config = {
        QUERY: column.NumberColumn(width=55, help="Number of the query in the dataset"),
        TEXT: column.TextColumn(width=290),
        RELEVANT: column.NumberColumn(width=65, help="Relevant documents"),
        "A": column.NumberColumn(f"{TITLES[HEAD]} A", format="%.3f"),
        "B": column.NumberColumn(f"{TITLES[HEAD]} B", format="%.3f"),
        DIFFERENCE: "%+.3f",
        "unjudged A": column.NumberColumn(help="Documents in A's top ten that nobody judged"),
        "unjudged B": column.NumberColumn(help="Documents in B's top ten that nobody judged"),
        "id": None,
    }
    TABLE.show(listed, shown.picks.dataset, config, hint=f"{len(listed):,} queries. Choose one to read its top tens.")


def _downloads(listed: pd.DataFrame, shown: RetrievalView, compared: Compared) -> None:
    rows = listed.rename(columns={side: f"{HEAD} of {compared.names[side]}" for side in "AB"})
    downloads.tables(
        lambda: rows,
        Holds(shown.picks.dataset, tuple(dict.fromkeys(run.run_id for run in compared.runs.values()))),
        stem=downloads.stem_of("retrieval", shown.picks.dataset, "queries"),
        key="retrieval_download",
        help=f"All {len(listed):,} queries in the table's order.",
    )


# --- one query


@cached(4, shared=True)
def _numbers(dataset: RetrievalDataset) -> dict[str, int]:
    """Numbers of the documents by their ids."""
    return {document: number for number, document in enumerate(dataset.document_ids)}


def _dataset(shown: RetrievalView) -> RetrievalDataset:
    dataset = load(shown.picks.dataset.entry())
    if not isinstance(dataset, RetrievalDataset):
        raise TypeError(f"{shown.picks.dataset} is no retrieval dataset")
    return dataset


def _look_into(shown: RetrievalView, compared: Compared, row: int) -> None:
    dataset = _dataset(shown)
    numbers, about = _numbers(dataset), shown.table.about.iloc[row]
    judged = {judgment.document: judgment for judgment in shown.table.judged(compared.runs["A"].run_id, row)}
    relevant = sum(judgment.grade >= 1 for judgment in judged.values())
    with st.container(border=True, key="retrieval_query"):
        long_texts.show(str(about["query"]))
        st.caption(f"Query {as_text(str(about['query_id']))}: relevant documents {relevant:,}, judged {len(judged):,}.")
        tops = {side: shown.table.top(compared.sides[side], row) for side in "AB"}
        first: list[str] = []
        for column, side in zip(st.columns(2), "AB", strict=True):
            other = {document for document, _ in tops["B" if side == "A" else "A"][:SHOWN]}
            ranking, run = compared.sides[side], compared.runs[side]
            reasons = why.lines(shown, dataset, numbers, ranking, run, str(about["query"]), tops[side], judged)
            with column:
                st.markdown(f"**{side}: {as_text(compared.names[side])}**")
                spans = shown.table.spans(ranking, row)
                html = _top_ten(
                    dataset, numbers, tops[side][:SHOWN], judged, other, reasons, spans, shown, compared.names[side]
                )
                st.html(html)
                _missing(shown.table, ranking, row, tops[side], judged)
            first += list(reasons)[:1]
        st.caption(
            "● relevant, with its grade · ○ judged irrelevant · ? not judged · ◆ only in this top ten. Below the "
            "documents above the first relevant one, and below that one: words of the query it has (without stop "
            "words), its length, in how many of all queries' top tens it is, and whether one negates and the other "
            "does not."
            + (
                " BM25 finds only documents that share a word with the query: there can be fewer than ten."
                if any(ranking.is_bm25 for ranking in compared.sides.values())
                else ""
            )
        )
        documents = [*first, *(document for side in "AB" for document, _ in tops[side][:SHOWN])]
        runs = list({run.run_id: run for run in compared.runs.values()}.values())
        why.show(shown, dataset, numbers, runs, int(shown.table.numbers[row]), documents)


def _top_ten(
    dataset: RetrievalDataset,
    numbers: Mapping[str, int],
    top: list[tuple[str, float]],
    judged: Mapping[str, Judgment],
    other: set[str],
    reasons: Mapping[str, str],
    spans: Mapping[str, tuple[int, int]],
    shown: RetrievalView,
    name: str,
) -> str:
    columns = [Column.numbers(""), Column("", style="white-space:nowrap"), Column("document"), Column.numbers("score")]
    rows: list[list[str]] = []
    for rank, (document, score) in enumerate(top, start=1):
        only = "" if document in other else " ◆"
        text = _document(dataset, numbers.get(document), document, spans.get(document))
        if document in reasons:
            below = quiet(reasons[document], shown.scheme, "display:block;font-size:0.8rem")
            text = Html(f"{text if isinstance(text, Html) else escape(text)}{below}")
        score_text = number(score, SCORE) if top[0][1] >= 0.1 else f"{score:.4f}"  # of a fusion: at most 2/61
        rows.append([str(rank), f"{_mark(judged.get(document))}{only}", text, score_text])
    tinted = [i for i, (document, _) in enumerate(top) if document in judged and judged[document].grade >= 1]
    return html_table(columns, rows, shown.scheme, f"Top ten of {name}", tinted=tinted)


def _document(
    dataset: RetrievalDataset, number: int | None, document_id: str, span: tuple[int, int] | None = None
) -> str:
    """Title and text of a document, as HTML; its id where the dataset no longer has it.

    Args:
        span: of its best passage, in the text with the title: it is quoted.
    """
    if number is None:
        return document_id
    title, whole = dataset.titles[number], dataset.document_texts[number]
    text = whole.removeprefix(title).lstrip()
    if span is not None and span != (0, len(whole)):
        start = len(whole) - len(text)
        return passage_marked(title, text, max(span[0] - start, 0), span[1] - start)
    return Html(f"<b>{escape(title)}</b><br>{folded(text)}") if title else folded(text)


def _mark(judgment: Judgment | None) -> str:
    if judgment is None:
        return "?"
    return f"● {judgment.grade}" if judgment.grade >= 1 else "○"


def _missing(
    table: QueryTable, side: Side, row: int, top: list[tuple[str, float]], judged: Mapping[str, Judgment]
) -> None:
    """Say where the relevant documents are that are missing from the top ten."""
    relevant = [document for document, judgment in judged.items() if judgment.grade >= 1]
    ranks: dict[str, int] = {document: rank for rank, (document, _) in enumerate(top, start=1)}
    if not side.is_bm25:
        ranks = {judgment.document: judgment.rank for judgment in table.judged(side.run_id, row) if judgment.rank}
    below = [
        f"{rank:,}" for rank in sorted(ranks[document] for document in relevant if document in ranks) if rank > SHOWN
    ]
    lost = sum(document not in ranks for document in relevant)
    if lost and len(top) >= TOP:
        below += [f"beyond {len(top):,}"] * lost
    if below:
        st.caption(f"Relevant documents below the top ten, at rank: {', '.join(below)}")
    if lost and len(top) < TOP:
        why = "no word in common with the query" if side.is_bm25 else "not in the ranking"
        st.caption(f"{counted(lost, 'relevant document')} not found: {why}.")
    if not relevant:
        st.caption("No document is relevant to this query.")
