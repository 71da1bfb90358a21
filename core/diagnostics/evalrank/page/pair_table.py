"""The table of pairs: filters, search, order, pages, the chosen pair, and files to take home."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st
from streamlit.elements.lib.column_types import ColumnConfig

from core.diagnostics.evalrank import browsing as pair_browsing
from core.diagnostics.evalrank.browsing import MEANING, NEED_B, Which
from core.diagnostics.evalrank.page.shown import Shown, features
from core.figures.theme import MANY_VARIANTS
from core.types import Bool
from core.ui.widgets import downloads
from core.ui.widgets.browse_table import BrowseTable
from core.ui.widgets.downloads import Holds
from core.ui.widgets.two_variants import Sides

TABLE = BrowseTable("pairs", key="pair", unit="pair", number="pair")
DOWN, UP = "high to low", "low to high"
DEFAULT_ORDER = "worst rank"
# How a filter is best read; it is set when the filter is chosen, and can be changed.
_ORDER_OF: Mapping[str, tuple[str, str]] = {
    Which.ONLY_A: ("rank difference", UP),
    Which.ONLY_B: ("rank difference", DOWN),
    Which.WORST: ("rank in A", DOWN),
    Which.REGRESSIONS: ("rank difference", UP),
}

_HELP = {
    "pair": "Number of the pair in the dataset",
    "worst rank": "The highest rank that any of the shown variants gives the mate",
    "rank difference": "Rank in A minus rank in B: above 0 where B is better",
    "1/rank difference": "1/rank in B minus 1/rank in A, expected under ties: what the pair adds to B's lead in MRR",
    "overlap": "Words that query and mate share, of all their words (Jaccard)",
    "frequency of query": "Zipf: 3 is one occurrence per million words, 5 a hundred; 0 is unknown",
    "frequency of mate": "Zipf: 3 is one occurrence per million words, 5 a hundred; 0 is unknown",
}


def show(shown: Shown, sides: Sides, described: pd.DataFrame, in_figure: Bool | None) -> pd.DataFrame:
    """The controls and a page of the table; all rows that it could show, in its order."""
    wanted, which = _filters(sides)
    order, descending, extra = _order(described)
    mask = pair_browsing.kept(described, which) & pair_browsing.containing(described, wanted)
    if in_figure is not None:
        mask &= in_figure
    found = pair_browsing.in_order(described[mask], order, descending=descending)
    if found.empty:
        st.info(
            "No pair contains this. Try a shorter search."
            if wanted
            else "No pair is left. Choose another filter, or clear what is selected in the figure."
        )
    else:
        names = _columns(shown, sides, [order, *extra])
        TABLE.show(
            found,
            shown.picks.dataset,
            _config(sides, names),
            hint=f"{len(found):,} pairs. Choose a row to see what stands above its mate.",
            view=lambda rows: rows[list(names)].rename(columns=names),
        )
        _downloads(found, shown)
    return found


def _filters(sides: Sides) -> tuple[str, Which]:
    search, show_only = st.columns([3, 2])
    wanted = search.text_input(
        "Search in query and mate", key="search", bind="query-params", on_change=TABLE.to_first_page
    )
    options = [w for w in Which if sides.b is not None or w not in NEED_B]
    chosen = show_only.selectbox(
        "Show",
        options,
        key="show",
        bind="query-params",
        on_change=_filter_chosen,
        help="\n".join(f"- **{w}**: {MEANING[w]}" for w in options),
    )
    return wanted or "", Which(chosen)


def _filter_chosen() -> None:
    TABLE.to_first_page()
    if order := _ORDER_OF.get(st.session_state["show"]):
        st.session_state["order"], st.session_state["direction"] = order


def _order(described: pd.DataFrame) -> tuple[str, bool, list[str]]:
    """The column to sort by, whether from high to low, and the columns that are shown besides the usual ones."""
    left, middle, right = st.columns([2, 2, 3])
    names = pair_browsing.orders(described)
    order = left.selectbox("Order", names, index=0, key="order", bind="query-params", on_change=TABLE.to_first_page)
    direction = middle.segmented_control(
        "Direction",
        [DOWN, UP],
        default=DOWN,
        required=True,
        key="direction",
        bind="query-params",
        on_change=TABLE.to_first_page,
    )
    usual = {DEFAULT_ORDER, "pair", "query", "mate", "rank in A", "rank in B", "rank difference"}
    extra = right.multiselect(
        "More columns",
        [name for name in names if name not in usual],
        key="cols",
        bind="query-params",
        placeholder="similarity, ties, overlap, lengths, frequency",
    )
    return str(order), direction == DOWN, extra


def _columns(shown: Shown, sides: Sides, extra: Sequence[str]) -> dict[str, str]:
    """Names in the table by names in ``described``, in the table's order."""
    compared = [sides.a.run_id] if sides.b is None else [sides.a.run_id, sides.b.run_id]
    others = {run.run_id: f"rank: {run.plan.variant.label}" for run in shown.runs if run.run_id not in compared}
    texts = {"query": "query", "mate": "mate"}
    if sides.b is None:
        ranks = {"rank in A": f"rank: {sides.a.plan.variant.label}"}
    else:
        ranks = {"rank in A": "rank in A", "rank in B": "rank in B", "rank difference": "A − B"}
    more = {name: name for name in extra if name not in ranks}
    # Many ranks stand behind the texts, so that these stay in sight.
    if len(shown.runs) < MANY_VARIANTS:
        more.pop(DEFAULT_ORDER, None)  # the ranks are all there
        return {"pair": "pair", **ranks, **others, **more, **texts}
    return {"pair": "pair", **ranks, **more, **texts, **others}


def _config(sides: Sides, names: Mapping[str, str]) -> dict[str, ColumnConfig | str | None]:
    number, text = st.column_config.NumberColumn, st.column_config.TextColumn
    whose = {"A": sides.a, **({} if sides.b is None else {"B": sides.b})}
    out: dict[str, ColumnConfig | str | None] = {}
    for name, title in names.items():
        letter = name[-1] if name.endswith((" in A", " in B")) else ""
        about = _HELP.get(name) or (f"{name}: {whose[letter].plan.variant.label}" if letter else None)
        if name in {"query", "mate"}:
            out[title] = text(width=330)
        elif name.startswith("similarity"):
            out[title] = number(format="%.4f", help=about)
        elif name in {"overlap", "1/rank difference"} or name.startswith("frequency"):
            out[title] = number(format="%.2f" if name != "1/rank difference" else "%.3f", help=about)
        elif name == "pair":
            out[title] = number(width="small", help=about)
        else:
            out[title] = number(format="localized", help=about or "Rank of the mate; 1 is best, .5 is a tie")
    return out


def _downloads(found: pd.DataFrame, shown: Shown) -> None:
    """Files with all rows of the table; made when they are asked for."""
    variants = {run.run_id: run.plan.variant for run in shown.runs}
    names = features(shown).columns.tolist()
    dataset = shown.runs[0].plan.dataset

    downloads.tables(
        lambda: pair_browsing.for_export(found, shown.pairs, variants, names),
        Holds(dataset, tuple(variants)),
        stem=downloads.stem_of("evalrank", dataset, "pairs"),
        key="download",
        help=f"All {len(found):,} rows of the table in its order, with ranks, similarities and ties of every shown "
        "variant.",
    )


def chosen(shown: Shown, found: pd.DataFrame) -> int | None:
    """The chosen pair."""
    numbers = set(shown.pairs.frame["item_no"].tolist())
    return TABLE.chosen(
        found, shown.picks.dataset, numbers, "has a vector for both texts in none of the shown encoders"
    )
