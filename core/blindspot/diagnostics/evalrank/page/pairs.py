"""View *pairs* of the EvalRank page: find a pair, and see what outranks its match.

A figure of the ranks in A and B, a table with filters, search, order and downloads, and the chosen pair's rankings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.elements.lib.column_types import ColumnConfig

from blindspot.datasets.kinds.own_columns import OwnColumn, choices_of
from blindspot.diagnostics.evalrank import browsing
from blindspot.diagnostics.evalrank.browsing import MEANING, NEED_B, Compared, Which
from blindspot.diagnostics.evalrank.figures.pairs import rank_scatter
from blindspot.diagnostics.evalrank.page.evalrank_view import EvalRankView, features, sources_of
from blindspot.diagnostics.evalrank.pairs import PairTable, RankedItem, around_match
from blindspot.diagnostics.evalrank.reasons import MOST_QUERIES, K, Occurrences, occurrences, reasons
from blindspot.figures.html_tables import TableRow, is_long, ranking_table
from blindspot.figures.theme import MANY_VARIANTS
from blindspot.numerics.neighbors.hubness import HUB
from blindspot.numerics.ranking.problem import Relation
from blindspot.numerics.statistics.written import SCORE, number
from blindspot.policy import MOST_SEARCHED
from blindspot.runs.embeddings import ComparedTwice, EmbeddingsGone
from blindspot.runs.why_similar import PairOfTexts
from blindspot.store.records import RunRecord
from blindspot.types import Bool, Int64
from blindspot.ui.boundary import fragment
from blindspot.ui.markdown import as_text
from blindspot.ui.pickers import DEFAULT_PROTOCOL
from blindspot.ui.resources import cached, repository, scheme, settings
from blindspot.ui.widgets import dataset_offer, downloads, own_columns
from blindspot.ui.widgets.addressed import now_chosen
from blindspot.ui.widgets.browse_table import BrowseTable, from_changes
from blindspot.ui.widgets.choices import one_of
from blindspot.ui.widgets.outcome_tabs import outcome_tabs, verdict
from blindspot.ui.widgets.own_columns import ADDED
from blindspot.ui.widgets.texts import long_texts, training_data, why_similar
from blindspot.ui.widgets.two_variants import Sides, two_variants
from blindspot.ui.widgets.versus.selection import Dots, Selection
from blindspot.ui.widgets.work import rerun_button

TABLE = BrowseTable("pairs", unit="pair", number="pair")
SELECTION = Selection(
    "scatter",
    "area",
    "Ranks",
    ("1-1, 10-500", "the pairs that A ranks first and B at ranks 10 to 500"),
    "pair",
    "pairs",
    TABLE.to_first_page,
)
DOWN, UP = "high to low", "low to high"
DEFAULT_ORDER = "worst rank"
TEXT_WIDTH = 245  # of query and match, which are in view beside the ranks
# The order that choosing a filter sets; the reader can change it.
_ORDER_OF: Mapping[str, tuple[str, str]] = {
    Which.ONLY_A: ("rank difference", UP),
    Which.ONLY_B: ("rank difference", DOWN),
    Which.WORST: ("rank in A", DOWN),
    Which.REGRESSIONS: ("rank difference", UP),
}

_HELP = {
    "pair": "Number of the pair in the dataset",
    "worst rank": "The worst rank that any model shown gives the match, not only A and B",
    "rank difference": "Rank in A minus rank in B: negative where A is better",
    "1/rank difference": "1/rank in B minus 1/rank in A: the pair's contribution to B's lead in MRR (expected value "
    "under ties)",
    "overlap": "Words in both query and match, divided by words in either (Jaccard)",
    "frequency of query": "Zipf: 3 is one occurrence per million words, 5 a hundred; 0 is unknown",
    "frequency of match": "Zipf: 3 is one occurrence per million words, 5 a hundred; 0 is unknown",
}


MEANING_OF_TABS = (
    "- **A wins**: 1/rank of the match, expected under ties, is higher in A\n- **B wins**: it is higher in B\n"
    "- **Both wrong**: alike, not first\n- **Both right**: first in both, no other text as similar\n\nA pair without a "
    "vector in one of them is only in *All*."
)
MAX_SIDE_BY_SIDE = 4
MARKS = {Relation.ABOVE: "▲", Relation.TIED: "=", Relation.MATCH: "●", Relation.BELOW: "▽"}


@fragment  # the page above is not rerun
def show(shown: EvalRankView) -> None:
    sides = two_variants(shown.runs)
    compared = Compared(sides.a.run_id, sides.b_id, shown.filtered)
    run_ids = [run.run_id for run in shown.runs]
    described = browsing.described(shown.pairs, features(shown.pairs), run_ids, compared)
    user_columns = own_columns.columns_of(shown.runs[0])
    numbers = described["pair"].to_numpy()
    cells = {
        f"{ADDED}{name}": np.array(column.cells, dtype=object)[numbers]
        for name, column in choices_of(user_columns).items()
    }
    described = described.assign(**cells)
    if sides.b is not None:
        became = browsing.outcomes(described)
        sentence = "{a} ranks the match higher in {won} pairs, {b} in {lost}, alike in {alike} (by 1/rank)."
        verdict(became, sides.a, sides.b, sentence)
    of_figure = _scatter(shown, sides, described)
    if sides.b is not None:
        of_tab = outcome_tabs(became, MEANING_OF_TABS, on_change=TABLE.to_first_page)
        of_figure = of_tab if of_figure is None else of_tab & of_figure
    table = _table(shown, sides, described, of_figure, user_columns)
    none_covers = "is left out: no model shown has vectors for both texts"
    selected = TABLE.chosen(table, shown.picks.dataset, set(numbers.tolist()), none_covers)
    if selected is not None:
        _drill(shown, sides, selected)
    if not table.empty:
        _downloads(table, shown, user_columns)
    training_data.offer(sides.a)


# --- the figure


def _scatter(shown: EvalRankView, sides: Sides, described: pd.DataFrame) -> Bool | None:
    """Rank in A against rank in B; per row of ``described`` whether it is selected there, None without a selection."""
    if sides.b is None:
        st.caption("To compare ranks, run a second model or pick one in the sidebar.")
        return None
    figure, beside = st.columns([3, 2])
    with beside:
        a, b = (as_text(run.plan.variant.label) for run in (sides.a, sides.b))
        st.caption(
            "Larger dots are more pairs. Above the diagonal, A ranks the match higher. Drag over dots to list only "
            "their pairs."
        )
        dots = Dots(
            shown.runs[0].plan.dataset_digest,
            *(described[name].to_numpy() for name in ("pair", "rank in A", "rank in B")),
        )
        areas = SELECTION.areas()
        selected = SELECTION.chosen(dots, areas)
    with figure:
        drawn = rank_scatter(
            (dots.a, dots.b),
            dots.numbers,
            (sides.a.plan.variant, sides.b.plan.variant),
            [area.ends for area in areas],
            selected,
            shown.styles,
            shown.scheme,
        )
        SELECTION.draw(drawn, dots, f"Rank of every pair's match in {a} and in {b}")
    return selected


# --- the table


def _table(
    shown: EvalRankView,
    sides: Sides,
    described: pd.DataFrame,
    in_figure: Bool | None,
    user_columns: Sequence[OwnColumn],
) -> pd.DataFrame:
    """The controls and a page of the table; returns all its rows, in order."""
    search, ordered, direction, more = st.columns(4, vertical_alignment="bottom")
    shows_all = now_chosen("show") in (None, Which.ALL)
    filtered_by = own_columns.filtered_by(user_columns) + (not shows_all)
    title = f"Filters ({filtered_by}), columns" if filtered_by else "Filters, columns"
    popover = more.popover(title, icon=":material/filter_alt:", width="stretch")
    wanted = search.text_input(
        "Search in query and match",
        key="search",
        bind="query-params",
        max_chars=MOST_SEARCHED,
        on_change=TABLE.to_first_page,
    )
    with popover:
        which = _show_only(sides)
        of_file = own_columns.only_rows(
            user_columns, described["pair"].to_numpy(), container=popover, on_change=TABLE.to_first_page
        )
        extra = _more_columns(described, shown)
    order, descending = _order(described, shown, ordered, direction)
    mask = browsing.kept(described, which) & browsing.containing(described, wanted or "") & of_file
    if in_figure is not None:
        mask &= in_figure
    table = browsing.in_order(described[mask], order, descending=descending)
    if table.empty:
        st.info(
            "No pair contains this. Shorten the search or remove a filter."
            if wanted
            else "No pairs match. Choose another tab, remove a filter, or clear the selection."
        )
    else:
        names = _columns(shown, sides, [order, *extra])
        TABLE.show(
            table,
            shown.picks.dataset,
            _config(sides, names),
            hint=f"{len(table):,} pairs. Choose a row to see what outranks the match.",
            view=lambda rows: from_changes(rows, "query", "match")[list(names)].rename(columns=names),
        )
    return table


def _show_only(sides: Sides) -> Which:
    options = [w for w in Which if sides.b is not None or w not in NEED_B]
    chosen = st.selectbox(
        "Show",
        options,
        key="show",
        bind="query-params",
        on_change=_filter_chosen,
        help="\n".join(f"- **{w}**: {MEANING[w]}" for w in options),
    )
    return Which(chosen)


def _filter_chosen() -> None:
    TABLE.to_first_page()
    if order := _ORDER_OF.get(st.session_state["show"]):
        st.session_state["order"], st.session_state["direction"] = order


def _order(
    described: pd.DataFrame, shown: EvalRankView, left: DeltaGenerator, right: DeltaGenerator
) -> tuple[str, bool]:
    """The column to sort by, and whether descending."""
    order = left.selectbox(
        "Sort by",
        browsing.orders(described),
        index=0,
        format_func=partial(_title, shown=shown),
        key="order",
        bind="query-params",
        on_change=TABLE.to_first_page,
    )
    direction = one_of("Direction", [DOWN, UP], "direction", container=right, on_change=TABLE.to_first_page)
    return str(order), direction == DOWN


def _more_columns(described: pd.DataFrame, shown: EvalRankView) -> list[str]:
    """The columns to show besides ranks and texts."""
    usual = {DEFAULT_ORDER, "pair", "query", "match", "rank in A", "rank in B", "rank difference"}
    options = [name for name in browsing.orders(described) if name not in usual]
    options += [name for name in map(str, described.columns) if name.startswith(ADDED)]
    if "cols" in st.session_state:  # a file may have had other columns
        st.session_state["cols"] = [name for name in st.session_state["cols"] if name in options]
    return st.multiselect(
        "More columns",
        options,
        format_func=partial(_title, shown=shown),
        key="cols",
        bind="query-params",
        placeholder="choose similarity, ties, overlap, length …",
    )


def _title(name: str, shown: EvalRankView) -> str:
    """A column as people read it; the worst rank is that of every shown model, not of A and B alone."""
    if name.startswith(ADDED):
        return name
    if name == DEFAULT_ORDER:
        return f"worst rank of {len(shown.runs)} models" if len(shown.runs) > 1 else "rank"
    return name


def _columns(shown: EvalRankView, sides: Sides, extra: Sequence[str]) -> dict[str, str]:
    """Titles by names in ``described``, in the table's order."""
    compared = [run.run_id for run in sides.by_letter.values()]
    others = {run.run_id: f"rank: {run.plan.variant.label}" for run in shown.runs if run.run_id not in compared}
    texts = {"query": "query", "match": "match"}
    if sides.b is None:
        ranks = {"rank in A": f"rank: {sides.a.plan.variant.label}"}
    else:
        ranks = {"rank in A": "rank in A", "rank in B": "rank in B", "rank difference": "A − B"}
    more = {n: n if n == DEFAULT_ORDER else _title(n, shown) for n in extra if n not in ranks}
    # Many ranks come after the texts, so that these stay in sight.
    if len(shown.runs) < MANY_VARIANTS:
        more.pop(DEFAULT_ORDER, None)  # the ranks are all there
        return {"pair": "pair", **ranks, **others, **more, **texts}
    return {"pair": "pair", **ranks, **more, **texts, **others}


def _config(sides: Sides, names: Mapping[str, str]) -> dict[str, ColumnConfig | str | None]:
    number, text = st.column_config.NumberColumn, st.column_config.TextColumn
    out: dict[str, ColumnConfig | str | None] = {}
    for name, title in names.items():
        letter = name[-1] if name.endswith((" in A", " in B")) else ""
        about = _HELP.get(name) or (f"{name}: {sides.by_letter[letter].plan.variant.label}" if letter else None)
        if name in {"query", "match"}:
            out[title] = text(width=TEXT_WIDTH, help="A long text begins shortly before the word that differs")
        elif name.startswith("similarity"):
            out[title] = number(format=f"%{SCORE}", help=about)
        elif name in {"overlap", "1/rank difference"} or name.startswith("frequency"):
            out[title] = number(format="%.2f" if name != "1/rank difference" else "%.3f", help=about)
        elif name == "pair":
            out[title] = number(width=60, help=about)
        elif name.startswith(ADDED):
            out[title] = text(help="A column of your file")
        else:
            width = 85 if name in {"rank in A", "rank in B", "rank difference", DEFAULT_ORDER} else None
            out[title] = number(
                format="localized", help=about or "Rank of the match; 1 is best, .5 is a tie", width=width
            )
    return out


def _downloads(table: pd.DataFrame, shown: EvalRankView, user_columns: Sequence[OwnColumn]) -> None:
    variants = {run.run_id: run.plan.variant for run in shown.runs}
    names = [*features(shown.pairs).columns, *(f"{ADDED}{name}" for name in choices_of(user_columns))]
    dataset = shown.runs[0].plan.dataset
    downloads.tables(
        lambda: browsing.for_export(table, shown.pairs, variants, names),
        downloads.Holds(dataset, tuple(variants)),
        stem=downloads.stem_of("evalrank", dataset, "pairs"),
        key="download",
        help=f"All {len(table):,} pairs in the table's order, with ranks, similarities and ties in every model shown.",
    )


# --- the chosen pair


def _drill(shown: EvalRankView, sides: Sides, selected: int) -> None:
    """What each variant ranks above the match of one pair, and why."""
    table = shown.pairs
    row = int(np.searchsorted(table.numbers, selected))
    pair = table.frame.iloc[row]
    with st.container(border=True, key="drill"):
        query_and_match(pair)
        _gold(shown, selected)
        most = 2 if is_long(pair["query"]) or is_long(pair["match"]) else MAX_SIDE_BY_SIDE
        runs = sides.first(shown.runs)[:most]
        if len(shown.runs) > len(runs):
            st.caption(f"{len(runs)} of {len(shown.runs)} models, A and B first. Pick others in the sidebar.")
        of_words = "frequency of query" in features(shown.pairs)
        with_hubs = st.toggle(
            "Mark hubs",
            key="hubs",
            bind="query-params",
            help=f"A hub is among the {K} nearest texts of many queries, whatever they mean: {HUB:g} times the average "
            f"or more, over the dataset's queries (at most {MOST_QUERIES:,}). Takes some seconds the first time.",
        )
        queries = table.frame["query_no"].unique() if with_hubs else None
        for column, run in zip(st.columns(len(runs)), runs, strict=True):
            with column:
                st.markdown(f"**{as_text(run.plan.variant.label)}**")
                _above(run, table, row, of_words=of_words, queries=queries)
        why = "whether it is a frequent word (Zipf 5 or more)" if of_words else "words it shares with the query, length"
        st.caption(
            "▲ above the match, ● the match, = tied with it, ▽ below it. Underlined: words that the query lacks. "
            "In brackets: why filtered ranks ignore a text. Below a text, why it may be near: "
            f"{why}, whether it is a hub."
        )
        if why_similar.is_open():
            texts = PairOfTexts((pair["query"], pair["match"]), (int(pair["query_no"]), int(pair["match_no"])))
            note = why_similar.note_of(shown.picks.metric)
            asked = [why_similar.of_run(run, texts, note=note) for run in sides.by_letter.values()]
            why_similar.show(asked, ("query", "match"))


def _gold(shown: EvalRankView, selected: int) -> None:
    """The pair's gold scores, where its source is known and on this machine."""
    entry = dataset_offer.entry_of(shown.runs[0].plan.dataset)
    if entry is None:
        return
    if not dataset_offer.is_here(entry):
        st.caption(f"Its gold score comes from {entry.title}, which the view *kinds of pair* can download.")
        return
    sources = sources_of(shown.pairs, entry)
    if sources is None:
        return
    row = int(np.searchsorted(shown.pairs.numbers, selected))
    highest = dict(zip(sources.names, sources.highest, strict=True))
    scores = [f"{s.score:.4g} of {highest[s.source]:.4g} in {as_text(s.source)}" for s in sources.of(row)]
    st.caption(f"Gold score: {', '.join(scores)}." if scores else "Gold score: not in the known source sets.")


@cached(32, "Counting nearest neighbors …")
def _occurrences(run: RunRecord, queries: bytes) -> Occurrences:
    return occurrences(run, np.frombuffer(queries, dtype=np.int64), settings(), repository())


def _above(run: RunRecord, table: PairTable, row: int, *, of_words: bool, queries: Int64 | None) -> None:
    raw, filtered = (table.ranks(run.run_id, filtered=filtered)[row] for filtered in (False, True))
    if np.isnan(raw):
        st.caption("Not ranked: no vector for query or match.")
        return
    similarity = table.similarity(run.run_id)[row]
    st.markdown(f"rank **{raw:,g}** raw, **{filtered:,g}** filtered · similarity {number(similarity, SCORE)}")
    if run.plan.params["protocol"] != DEFAULT_PROTOCOL:
        st.caption("With the toolkit's rounding. Choose the protocol *definition* to see what outranks the match.")
        return
    try:
        pair = table.frame.iloc[row]
        items = around_match(run, int(pair["query_no"]), int(pair["match_no"]), settings(), repository())
    except EmbeddingsGone as gone:
        encode_again(gone, run, key=f"again_{run.run_id}")
        return
    hubs = None
    if queries is not None:
        with suppress(ComparedTwice):
            hubs = _occurrences(run, queries.astype(np.int64).tobytes())
    numbers, texts = [item.item_no for item in items], [item.text for item in items]
    why = reasons(pair["query"], numbers, texts, of_words=of_words, hubs=hubs)
    draw_ranking(pair, items, run.plan.variant.label, why)


# --- also of the view "what if"


def query_and_match(pair: pd.Series) -> None:
    for label, text in (("Query", pair["query"]), ("Match", pair["match"])):
        with st.container(horizontal=True, gap="small"):
            st.markdown(f"**{label}**", width="content")
            long_texts.show(text)


def draw_ranking(
    pair: pd.Series, items: Sequence[RankedItem], how: str, why: Sequence[Sequence[str]] | None = None
) -> None:
    """The texts around the match, each with its reasons where there are any."""
    rows = [
        TableRow(
            item.position,
            MARKS[item.relation],
            item.similarity,
            item.text,
            item.left_out,
            item.relation is Relation.MATCH,
            " · ".join(reasons),
        )
        for item, reasons in zip(items, why or [()] * len(items), strict=True)
    ]
    st.html(ranking_table(pair["query"], rows, scheme(), f"Ranking by {how}"))


def encode_again(gone: EmbeddingsGone, run: RunRecord, *, key: str) -> None:
    """Say that a run's embeddings are gone, and offer to compute them."""
    st.warning(str(gone))
    rerun_button("Encode again", f"Encoding for {run.plan.variant.label}", [run], key=key)
