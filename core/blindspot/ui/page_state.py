"""State of a page: the shared picks, its part, its view, two models side by side, a chosen item; and links to one.

The keys are the same on every page, in the session and in the address.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import streamlit as st
from streamlit.errors import StreamlitAPIException

from blindspot.diagnostic import Picker
from blindspot.names import in_address
from blindspot.numerics.similarity import Similarity
from blindspot.store.records import RunPlan
from blindspot.ui.navigation import PART, PageEntry, draw_link, entry_of, page_of
from blindspot.ui.widgets.addressed import forget_drawn, tab_named, take_option
from blindspot.variants import Variant

VIEW = "view"
A, B = "a", "b"  # two models, by their variants; they stay from page to page
ABOUT = "about"  # the model that a page's sentences are about, where a rule chose it
ON = "on"  # the dataset that findings are narrowed down to
ITEM = "item"  # a number: of a pair, a sentence, a query, a text
FOLLOWED = "via"  # marks an address that a link of the app's own names
VISIT = "visit"  # its value where the picks are only for the page that the link opens
_PAGE_WITH_PART = "_page_with_part"
_PART_BEFORE = "_part_before"


@dataclass(frozen=True)
class PageState:
    """What a page is to show, as its address says it. What is left out stays as the reader last saw it.

    Attributes:
        data: reference of the dataset; "" for none.
        metric: the similarity; with it the link brings its models, too, of which none means all.
        a: one of two models side by side.
        item: a number.
        options: what only some pages have, by its name in the address, as it is to be there.
        is_visit: when the reader leaves that page, the earlier picks come back, except those changed meanwhile.
    """

    data: str = ""
    metric: str = ""
    models: Sequence[Variant] = ()
    a: str = ""
    b: str = ""
    view: str = ""
    item: int | None = None
    options: dict[str, str] = field(default_factory=dict)
    is_visit: bool = False

    def with_(self, **changes: Any) -> PageState:
        """This state with other values of its attributes."""
        return replace(self, **changes)

    def at(self, *places: Mapping[str, str]) -> PageState:
        """This state at places that diagnostics and findings name by query parameters, with datasets and models by
        reference; a later place wins."""
        named = {name: value for place in places for name, value in place.items()}
        own: dict[str, Any] = {name: named.pop(name) for name in (A, B, VIEW, ITEM) if name in named}
        if ITEM in own:
            own[ITEM] = int(own[ITEM])
        return replace(self, **own, options=self.options | {name: in_address(named[name]) for name in named})

    @property
    def address(self) -> dict[str, str | list[str]]:
        """Query parameters: never a path of this machine."""
        picks: dict[str, str | list[str]] = {Picker.DATASET: in_address(self.data)} if self.data else {}
        if self.metric:
            picks |= {Picker.SIMILARITY: self.metric, Picker.MODELS: [in_address(str(model)) for model in self.models]}
            picks |= {FOLLOWED: VISIT if self.is_visit else "link"}
        item = "" if self.item is None else str(self.item)
        further = {VIEW: self.view, **self.options, A: in_address(self.a), B: in_address(self.b), ITEM: item}
        return picks | {name: value for name, value in further.items() if value}


AS_LEFT = PageState()


def state_of(plan: RunPlan, *variants: Variant) -> PageState:
    """Of a page that shows a run, or the same run of these models."""
    return PageState(plan.dataset, plan.params.get("metric", Similarity.COS.value), variants or (plan.variant,))


def link(stem: str, state: PageState = AS_LEFT, *, label: str, **look: Any) -> None:
    """Draw a link to a page, or to a part of one, in a state: all links of the app are made here.

    Args:
        look: further arguments of ``st.page_link``.
    """
    draw_link(stem, state.address, label=label, **look)


def shown_part(page: str) -> PageEntry:
    """The part of a page to show: that of the address, else the reader's choice; the page itself if it has no parts.

    Another page begins with its first part.
    """
    entry = page_of(page)
    if st.session_state.get(_PAGE_WITH_PART) != entry.stem:
        st.session_state[_PAGE_WITH_PART] = entry.stem
        forget_drawn(PART)
        for key in (PART, _PART_BEFORE):
            st.session_state.pop(key, None)
    if not entry.parts:
        return entry
    stems = [part.stem for part in entry.parts]
    take_option(PART, stems)
    shown = entry_of(chosen if (chosen := st.session_state.get(PART)) in stems else stems[0])
    is_another = st.session_state.get(_PART_BEFORE, shown.stem) != shown.stem
    st.session_state[_PART_BEFORE] = shown.stem
    if is_another and st.query_params.get(PART, stems[0]) != shown.stem:  # by a button; a link brings its own address
        _forget_address()
    return shown


def _forget_address() -> None:
    """Remove from the address what only meant something on the previous part, as the browser does between pages."""
    for name in set(st.query_params) - {*Picker, PART, A, B, ITEM}:
        with suppress(StreamlitAPIException):  # bound: Streamlit takes it away after this run
            del st.query_params[name]


def choose_part(page: PageEntry, hidden: Collection[str] = ()) -> None:
    """Let the reader switch between the parts of a page, except the ``hidden`` ones."""
    titles = {part.stem: part.title for part in page.parts if part.stem not in hidden}
    if len(titles) == 1:
        return
    tab_named("Part of the page", list(titles), key=PART, name=titles.__getitem__, label_visibility="collapsed")


def forget_of_page() -> None:
    """Called on another page. Its address decides; if that says nothing, A and B stay, but view and item go."""
    for key in (VIEW, A, B, ITEM):
        forget_drawn(key)
    for key in (VIEW, ITEM):
        st.session_state.pop(key, None)
