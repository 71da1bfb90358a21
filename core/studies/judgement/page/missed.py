"""Items that people most often missed, each with its options and who chose which."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from core.studies.judgement.scoring import Missed, most_missed
from core.studies.judgement.tallies import Tally
from core.studies.judgement.types import Item, Task
from core.types import Variant
from core.ui.markdown import as_text

PER_PAGE = 10
_OPEN = "_missed_open"  # items that the reader has opened


def show(tally: Tally, names: Mapping[Variant, str]) -> None:
    """A page of items, those first whose own option of a variant got the smallest share of votes."""
    chosen = str(tally.variants[0])
    if len(tally.variants) > 1:
        chosen = str(
            st.selectbox(
                "Of variant",
                [str(v) for v in tally.variants],
                key="missed_of",
                persist_state="session",
                on_change=_to_first_page,
            )
        )
    place = [str(v) for v in tally.variants].index(chosen)
    found = most_missed(tally, place)
    if not found:
        st.caption("There are no votes on its items yet.")
        return
    missed = sum(m.own == 0 for m in found)
    st.caption(
        f"Nobody chose its own option in {missed:,} of the {len(found):,} items that have votes."
        if missed
        else f"In each of the {len(found):,} items that have votes somebody chose its own option."
    )
    pages = -(-len(found) // PER_PAGE)
    listed = st.container()
    page = min(st.pagination(pages, key="missed_page"), pages) if pages > 1 else 1
    with listed:
        for one in found[(page - 1) * PER_PAGE : page * PER_PAGE]:
            _item(one, tally, names)


def _to_first_page() -> None:
    st.session_state["missed_page"] = 1


def _opened_or_closed(item: Item) -> None:
    open_items: set[Item] = st.session_state[_OPEN]
    open_items ^= {item}


def _item(one: Missed, tally: Tally, names: Mapping[Variant, str]) -> None:
    item = one.item
    of = f"{one.votes:,} vote{'s' if one.votes > 1 else ''}"
    rank = "" if item.k is None else f", k = {item.k}"
    # What is open stays open when a vote comes in: then the label is another one, and so is the expander.
    open_items: set[Item] = st.session_state.setdefault(_OPEN, set())
    with st.expander(
        f"{as_text(item.query.text)}{rank}: {one.own:,} of {of} ({one.share:.0%})",
        expanded=item in open_items,
        key=f"missed_{item.item_no}",
        on_change=_opened_or_closed,
        args=(item,),
    ):
        order = sorted(range(len(item.options)), key=lambda option: -one.per_option[option])
        for option in order:
            whose = ", ".join(names[v] for v, own in zip(tally.variants, item.own, strict=True) if own == option)
            is_query = tally.task is Task.INTRUDER and item.options[option] == item.query.text
            noted = f" (intruder of {whose})" if tally.task is Task.INTRUDER else f" (neighbour of {whose})"
            about = noted if whose else " (query)" if is_query else ""
            votes, text = one.per_option[option], item.options[option]
            st.text(f"{votes:,} vote{'' if votes == 1 else 's'}: {text}{about}")
        if one.unknown:
            st.text(f"{one.unknown:,} × I don't know these words")
