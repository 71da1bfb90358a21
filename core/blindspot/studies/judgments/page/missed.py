"""Questions that people most often missed, with their options and votes."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from blindspot.numerics.statistics.written import percent
from blindspot.runs.default_models import place_of
from blindspot.studies.judgments.scoring import Missed, most_missed
from blindspot.studies.judgments.tallies import Tally
from blindspot.studies.judgments.types import Item, Task
from blindspot.texts import counted
from blindspot.ui.markdown import as_text
from blindspot.ui.widgets.browse_table import Pages
from blindspot.variants import Variant

_OPEN = "_missed_open"  # items whose expander is open


def show(tally: Tally, names: Mapping[Variant, str]) -> None:
    """Show a page of questions: first those with the smallest share of votes for the model's own option."""
    variants = {str(v): v for v in sorted(tally.variants, key=lambda v: place_of(v.encoder))}  # own ones first
    chosen = next(iter(variants))
    if len(tally.variants) > 1:
        chosen = str(
            st.selectbox(
                "Model",
                list(variants),
                key="missed_of",
                format_func=lambda name: names[variants[name]],
                persist_state="session",
                on_change=lambda: st.session_state.update(missed_page=1),
            )
        )
    number = tally.variants.index(variants[chosen])
    missed_items = most_missed(tally, number)
    if not missed_items:
        st.caption("No votes on its questions yet.")
        return
    missed = sum(m.own == 0 for m in missed_items)
    st.caption(
        f"In {missed:,} of the {len(missed_items):,} questions with votes, nobody chose this model's option."
        if missed
        else f"In each of the {len(missed_items):,} questions with votes, somebody chose this model's option."
    )
    pages = Pages.of("missed_page", len(missed_items))
    for missed_item in missed_items[pages.rows]:
        _item(missed_item, tally, names)
    if pages.total > 1:
        pages.turn()


def _opened_or_closed(item: Item) -> None:
    open_items: set[Item] = st.session_state[_OPEN]
    open_items ^= {item}


def _item(missed: Missed, tally: Tally, names: Mapping[Variant, str]) -> None:
    item = missed.item
    of = f"{missed.votes:,} vote{'s' if missed.votes > 1 else ''}"
    rank = "" if item.k is None else f", k = {item.k}"
    # Open ones stay open when a vote comes in: it changes the label, and so the expander.
    open_items: set[Item] = st.session_state.setdefault(_OPEN, set())
    with st.expander(
        f"{as_text(item.query.text)}{rank}: {missed.own:,} of {of} ({percent(missed.share)})",
        expanded=item in open_items,
        key=f"missed_{item.item_no}",
        on_change=_opened_or_closed,
        args=(item,),
    ):
        order = sorted(range(len(item.options)), key=lambda option: -missed.per_option[option])
        for option in order:
            whose = ", ".join(
                names[v]
                for v, option_of_variant in zip(tally.variants, item.own, strict=True)
                if option_of_variant == option
            )
            is_query = tally.task is Task.INTRUDER and item.options[option] == item.query.text
            noted = f" (intruder of {whose})" if tally.task is Task.INTRUDER else f" (neighbor of {whose})"
            about = noted if whose else " (query)" if is_query else ""
            votes, text = missed.per_option[option], item.options[option]
            st.text(f"{counted(votes, 'vote')}: {text}{about}")
        if missed.unknown:
            st.text(f"{missed.unknown:,} × I don't know these words")
