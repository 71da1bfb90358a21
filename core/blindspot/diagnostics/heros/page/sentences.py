"""View *sentences* of the HEROS page: sentences found by how similar their rewrites are; choices are in the address."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.elements.lib.column_types import ColumnConfig

from blindspot.diagnostics.heros import browsing
from blindspot.diagnostics.heros.browsing import Above, Filter, Sentences, Where
from blindspot.diagnostics.heros.figures.profile import label
from blindspot.diagnostics.heros.orderings import tested
from blindspot.diagnostics.heros.page import heros_view as runs
from blindspot.diagnostics.heros.page import sentence_drill
from blindspot.diagnostics.heros.page.heros_view import HerosView
from blindspot.diagnostics.heros.view import sentences_view
from blindspot.numerics.statistics.written import percent
from blindspot.policy import MOST_SEARCHED
from blindspot.types import Bool
from blindspot.ui.boundary import fragment
from blindspot.ui.markdown import as_text
from blindspot.ui.widgets import downloads, own_columns
from blindspot.ui.widgets.addressed import all_now_chosen, now_chosen, some_named
from blindspot.ui.widgets.browse_table import BrowseTable
from blindspot.ui.widgets.choices import one_of
from blindspot.ui.widgets.downloads import Holds
from blindspot.ui.widgets.outcome_tabs import outcome_tabs, verdict
from blindspot.ui.widgets.texts import training_data
from blindspot.ui.widgets.two_variants import Sides, two_variants

DOWN, UP = "high to low", "low to high"
# The nearer rewrite changes the meaning, or changes it more than the other one does.
TELLING = (
    Above("negation_main", "synonym"),
    Above("negation_antonym", "synonym"),
    Above("antonym", "synonym"),
    Above("random_mlm", "synonym"),
    Above("random_mlm", "typo"),
)
TABLE = BrowseTable("sentences", unit="sentence", number=browsing.NUMBER)


@fragment  # nothing above is drawn again
def show(shown: HerosView) -> None:
    """Controls for the variants, the originals and their order; then the table and the chosen original."""
    sentences = runs.sentences(shown)
    sides = two_variants(shown.runs, b_at_first=False, on_change=TABLE.to_first_page)
    in_tab = _tabs(sentences, shown, sides)
    _pick_preset(shown.subsets, b=sides.b is not None)
    wish = _pick_filter(shown.subsets, b=sides.b is not None)
    of_file = _pick_by_own_columns(shown, sentences)
    view = sentences_view(sentences, list(sides.by_letter.values()), wish, in_tab & of_file)
    order, descending = _pick_order(browsing.orders(view.rows))
    listed = view.sorted_by(order, descending=descending).rows
    _headline(len(listed), len(sentences.numbers), _in_words(wish, sides))
    if listed.empty:
        st.info("No sentences match. Remove a filter or shorten the search.")
    else:
        _table(listed, shown, sides, _columns(wish, order, shown.subsets, b=sides.b is not None))
    left_out = "is not among the sentences that all shown models cover"
    number = TABLE.chosen(listed, shown.dataset, set(sentences.numbers.tolist()), left_out)
    if number is not None and (row := sentences.place(number)) is not None:
        sentence_drill.show(shown, sentences, sides, row)
    if not listed.empty:
        _files(listed, sentences, shown)
    training_data.offer(sides.a)


def _tabs(sentences: Sentences, shown: HerosView, sides: Sides) -> Bool:
    """Show what A and B win; returns which originals are in the chosen tab, all of them if there is no B."""
    demanded = [Above(ordering.near, ordering.far) for ordering in tested(shown.subsets)]
    if sides.b is None or not demanded:
        return np.ones(len(sentences.numbers), dtype=np.bool_)
    a, b = (browsing.orders_right(sentences, run_id, demanded) for run_id in (sides.a.run_id, sides.b.run_id))
    became = browsing.became(a, b, len(demanded))
    text = "{a} orders more rewrites by meaning in {won} sentences, {b} in {lost}; alike in {alike}."
    verdict(became, sides.a, sides.b, text)
    orders = ", ".join(as_text(f"{label(o.nearer)} above {label(o.farther)}") for o in demanded)
    means = (
        f"Expected orders: {orders}.\n\n- **A wins**: more of them in A, ties counting half\n- **B wins**: more in B\n"
        "- **Both wrong**: as many in both, not all\n- **Both right**: all in both"
    )
    return outcome_tabs(became, means, on_change=TABLE.to_first_page)


# --- what is listed


def _orders(subsets: Sequence[str]) -> dict[str, Above]:
    """Every order of two rewrites by its name."""
    return {str(order): order for order in (Above(x, y) for x, y in permutations(subsets, 2))}


def _pick_preset(subsets: Sequence[str], *, b: bool) -> None:
    """Pills that set the filters below; the pill that matches the current filters is marked."""
    telling = [above for above in TELLING if above.nearer in subsets and above.farther in subsets]
    # By name, the order of rewrites that must hold ("" for any), and the column to sort by, from high to low.
    presets = {
        f"{label(above.nearer)} above {label(above.farther)}": (str(above), browsing.lead("A")) for above in telling
    }
    if b:
        presets["largest disagreement"] = ("", browsing.LARGEST)
        if len(subsets) > 1:
            presets["rewrites in another order"] = ("", browsing.TURNED)
    if not presets:
        return
    state = st.session_state

    def take() -> None:
        above, order = presets.get(state["sent_preset"] or "", ("", browsing.NUMBER))
        state["sent_above"] = [above] if above else []
        state["sent_order"] = order
        state["sent_direction"] = UP if order == browsing.NUMBER else DOWN
        TABLE.to_first_page()

    above = all_now_chosen("sent_above") if telling else []
    order, direction = map(now_chosen, ("sent_order", "sent_direction"))
    now = ("".join(above), order) if len(above) < 2 and direction == DOWN else None
    state["sent_preset"] = next((name for name, preset in presets.items() if preset == now), None)
    st.pills("Start from", list(presets), key="sent_preset", on_change=take)


def _pick_filter(subsets: Sequence[str], *, b: bool) -> Filter:
    """Conditions on an original; all of them must hold."""
    orders, state = _orders(subsets), st.session_state
    if "sent_above" in state:
        state["sent_above"] = [name for name in state["sent_above"] if name in orders]
    if "sent_subset" in state and state["sent_subset"] not in subsets:  # of another dataset
        state["sent_subset"] = None
    left, middle, right = st.columns([3, 4, 2])
    wanted = left.text_input(
        "Search sentences and rewrites",
        key="sent_search",
        bind="query-params",
        max_chars=MOST_SEARCHED,
        on_change=TABLE.to_first_page,
    )
    above = some_named(
        "Which rewrite is closer",
        list(orders),
        key="sent_above",
        name=lambda name: f"{label(orders[name].nearer)} above {label(orders[name].farther)}",
        container=middle,
        on_change=TABLE.to_first_page,
        placeholder="for example negated clause above synonym"
        if "negation_main above synonym" in orders
        else "X above Y",
        help="X above Y: rewrite X is more similar to the sentence than rewrite Y. All chosen orders are required. "
        "Cosines within 0.000001 are ties.",
    )
    where = Where.A
    if b:
        where = Where(
            right.selectbox(
                "Where",
                [w.value for w in Where],
                key="sent_where",
                bind="query-params",
                on_change=TABLE.to_first_page,
                help="In which of the two models.",
            )
        )
    else:
        right.text_input(
            "Where", "in A", max_chars=MOST_SEARCHED, disabled=True, help="Choose a B to filter by one model alone."
        )
    return Filter(wanted or "", tuple(orders[name] for name in above), where, *_pick_bounds(subsets, b=b))


def _pick_by_own_columns(shown: HerosView, sentences: Sentences) -> Bool:
    user_columns = own_columns.columns_of(shown.runs[0])
    if not user_columns:
        return np.ones(len(sentences.numbers), dtype=np.bool_)
    is_set = own_columns.filtered_by(user_columns) > 0
    filters = st.expander("Filter by columns of the dataset", expanded=is_set, icon=":material/filter_alt:")
    return own_columns.only_rows(user_columns, sentences.numbers, container=filters, on_change=TABLE.to_first_page)


def _pick_bounds(subsets: Sequence[str], *, b: bool) -> tuple[str | None, float | None, float | None, float | None]:
    """A rewrite, the bounds of its similarity in A, and how far its similarities in A and B must be apart."""
    boxes = (
        ("Similarity from", "sent_low", False, "Normalized similarity of the rewrite in A, at least."),
        ("to", "sent_high", False, "Normalized similarity of the rewrite in A, at most."),
        ("A and B apart by", "sent_apart", not b, "Difference of the rewrite's similarities in A and B, at least."),
    )
    keys = ["sent_subset", *(key for _, key, *_ in boxes)]
    is_set = any(now_chosen(key) not in (None, "") for key in keys)
    with st.expander("Filter by similarity", expanded=is_set, icon=":material/tune:"):
        columns = st.columns([3, 2, 2, 2])
        subset = columns[0].selectbox(
            "Rewrite",
            subsets,
            index=None,
            key="sent_subset",
            bind="query-params",
            placeholder="any of them",
            on_change=TABLE.to_first_page,
            help="The rewrite to filter by. With a B, the table shows its similarities.",
        )
        low, high, apart = (
            column.number_input(
                title,
                value=None,
                step=0.05,
                format="%.3f",
                key=key,
                bind="query-params",
                disabled=disabled,
                on_change=TABLE.to_first_page,
                placeholder="any",
                help=about,
            )
            for column, (title, key, disabled, about) in zip(columns[1:], boxes, strict=True)
        )
    return subset, low, high, apart if b else None


def _pick_order(names: Sequence[str]) -> tuple[str, bool]:
    """The column to sort all rows by, and whether from high to low."""
    if st.session_state.get("sent_order", browsing.NUMBER) not in names:  # of a filter that is gone, or of B
        st.session_state.update(sent_order=browsing.NUMBER, sent_direction=UP)
    left, right = st.columns(2)
    order = left.selectbox("Order", names, key="sent_order", bind="query-params", on_change=TABLE.to_first_page)
    direction = one_of("Direction", [UP, DOWN], "sent_direction", container=right, on_change=TABLE.to_first_page)
    return str(order), direction == DOWN


def _in_words(wish: Filter, sides: Sides) -> list[str]:
    """The conditions of a filter, each as Markdown that shows names as text."""
    a, b = (as_text(run.plan.variant.label) if run else "" for run in (sides.a, sides.b))
    where = {
        Where.A: f"in {a}",
        Where.B: f"in {b}",
        Where.BOTH: f"in {a} and in {b}",
        Where.ONLY_A: f"in {a}, not in {b}",
        Where.ONLY_B: f"in {b}, not in {a}",
    }
    parts = []
    if wish.above:
        names = [as_text(f"{label(o.nearer)} above {label(o.farther)}") for o in wish.above]
        parts.append(f"{' and '.join(names)} {where[wish.where]}")
    which = "some rewrite" if wish.subset is None else as_text(label(wish.subset))
    bounds = (("least", wish.low), ("most", wish.high))
    if ends := [f"at {end} {bound:g}" for end, bound in bounds if bound is not None]:
        parts.append(f"similarity of {which} in {a} {' and '.join(ends)}")
    if wish.apart is not None:
        parts.append(f"similarity of {which} at least {wish.apart:g} apart in {a} and {b}")
    if wish.wanted:
        parts.append(f"“{as_text(wish.wanted)}” in sentence or rewrite")
    return parts


# --- the table


def _headline(count: int, total: int, conditions: Sequence[str]) -> None:
    if not conditions:
        st.markdown(f"All **{total:,}** sentences.")
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        share = f"**{count:,} of {total:,} sentences ({percent(count / total, 1)})**"
        st.markdown(f"{share}: {'; '.join(conditions)}.", width="stretch")
        st.button("Clear filters", key="sent_clear", on_click=_clear, icon=":material/filter_alt_off:")


def _clear() -> None:
    """Drop all conditions; the order stays."""
    st.session_state.update(sent_search="", sent_above=[], sent_subset=None)
    st.session_state.update(sent_low=None, sent_high=None, sent_apart=None)
    TABLE.to_first_page()


def _columns(wish: Filter, order: str, subsets: Sequence[str], *, b: bool) -> list[str]:
    """The columns beside number and text; the ones that the reader filters by come first."""
    leads = [browsing.lead(side) for side in ("A", "B")[: 1 + b]] if wish.above else []
    if not b:
        return [*leads, *(browsing.in_run("A", subset) for subset in subsets)]
    if wish.subset:  # its difference is A − B
        differences = [browsing.in_run(side, wish.subset) for side in ("A", "B", "A − B")]
    else:
        differences = [browsing.LARGEST, browsing.DIFFERS_IN]
    usual = [*leads, *differences, browsing.TURNED]
    return [*([order] if order not in {*usual, browsing.LARGEST, browsing.NUMBER, browsing.ORIGINAL} else []), *usual]


def _table(table: pd.DataFrame, shown: HerosView, sides: Sides, columns: Sequence[str]) -> None:
    number, text = st.column_config.NumberColumn, st.column_config.TextColumn
    config: dict[str, ColumnConfig | str | None] = {
        browsing.NUMBER: number(width="small", help="Number of the sentence in the dataset"),
        browsing.ORIGINAL: text(width=280),
        browsing.LARGEST: number(format="%.3f", help="Largest difference between A and B over all rewrites"),
        browsing.DIFFERS_IN: text(help="The rewrite with the largest difference"),
        browsing.TURNED: number(
            format="%g",
            help="Pairs of rewrites that A and B order differently; ties count half",
        ),
    }
    for side, run in sides.by_letter.items():
        about = as_text(run.plan.variant.label)
        config[browsing.lead(side)] = number(
            format="%.3f",
            help=f"{side}, {about}: how much more similar the closer rewrite is; of several, the least",
        )
        for subset in shown.subsets:
            title = label(subset) if sides.b is None else f"{side}: {label(subset)}"
            config[browsing.in_run(side, subset)] = number(
                title, format="%.3f", help=f"{side}, {about}: normalized similarity"
            )
    for subset in shown.subsets:
        difference = number("A − B", format="%+.3f", help="Similarity in A minus similarity in B")
        config[browsing.in_run("A − B", subset)] = difference

    def view(rows: pd.DataFrame) -> pd.DataFrame:
        out = rows[[browsing.NUMBER, browsing.ORIGINAL, *columns]].copy()
        if browsing.DIFFERS_IN in out:
            out[browsing.DIFFERS_IN] = out[browsing.DIFFERS_IN].map(label)
        return out

    TABLE.show(table, shown.dataset, config, hint="Select a row to read its rewrites.", view=view)


def _files(rows: pd.DataFrame, sentences: Sentences, shown: HerosView) -> None:
    """Files with all originals of the table and their rewrites, made on demand."""
    variants = {run.run_id: run.plan.variant for run in shown.runs}
    downloads.tables(
        lambda: browsing.for_export(sentences, rows[browsing.NUMBER].tolist(), variants),
        Holds(shown.dataset, tuple(variants)),
        stem=downloads.stem_of("heros", shown.dataset, "sentences"),
        key="sent_download",
        help=f"All {len(rows):,} sentences of the table in its order, one row per rewrite, with similarity and cosine "
        "in every shown model.",
    )
