"""Tables to browse page by page. The number of the chosen row is in the address.

A reader chooses a row in the table, types its number, presses a button, follows a link or clicks another element of the
page. The table follows: it turns to the row's page and marks it. It is short, and the chosen row's details come right
below, so that both fit on one screen; after a click on a row the browser scrolls there if it must.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import pandas as pd
import streamlit as st

from blindspot.texts import from_change
from blindspot.ui.page_state import ITEM
from blindspot.ui.widgets import tables
from blindspot.ui.widgets.addressed import now_chosen, number_named

Value = TypeVar("Value")

ROWS_PER_PAGE = 6  # of a BrowseTable: with the details of a row on one screen


@dataclass(frozen=True)
class Pages:
    """The page shown of a list: page ``number`` (from 1) of ``total``; ``key`` is that of the paging buttons."""

    key: str
    total: int
    number: int
    rows: slice

    @classmethod
    def of(cls, key: str, rows: int, per_page: int = 10) -> Pages:
        total = max(1, -(-rows // per_page))
        number = min(int(st.session_state.get(key, 1)), total)
        return cls(key, total, number, slice((number - 1) * per_page, number * per_page))

    def turn(self, hint: str = "") -> None:
        """Paging buttons, and a hint beside them."""
        if not hint:
            st.pagination(self.total, key=self.key)
            return
        left, right = st.columns([3, 2], vertical_alignment="center")
        with left:
            st.pagination(self.total, key=self.key)
        right.caption(hint)


def choose_row(
    frame: pd.DataFrame,
    values: Sequence[Value],
    choose: Callable[[Value], object],
    *,
    table: str,
    page: int = 1,
    drawn: object = None,
    chosen: Value | None = None,
    **look: Any,
) -> None:
    """A table in which the reader can choose a row.

    Args:
        values: one per row.
        choose: called with the value of a chosen row, before the page runs again.
        table: its name; its key begins with it.
        drawn: makes the table a new one, besides its values and columns: Streamlit keeps a table's selection as long as
            its key stays.
        chosen: the value whose row is marked at first.
        look: further arguments of ``st.dataframe``.
    """

    def take(selection: Any) -> None:
        rows = selection.rows
        if rows and rows[0] < len(values):  # a visitor can send any number
            choose(values[rows[0]])

    look.setdefault("selection_mode", "single-row")
    if chosen in values:
        look["selection_default"] = {"selection": {"rows": [values.index(chosen)], "columns": [], "cells": []}}
    _draw_to_choose(frame, (drawn, list(values)), take, f"{table}_{page}", table, look)


def choose_cell(
    frame: pd.DataFrame,
    values: Mapping[str, Sequence[Value]],
    choose: Callable[[Value], object],
    *,
    table: str,
    **look: Any,
) -> None:
    """A table in which the reader can choose a cell of the columns of ``values``, which has one per row; others do
    nothing. As ``choose_row``."""

    def take(selection: Any) -> None:
        for row, column in selection.cells:
            if column in values and 0 <= row < len(values[column]):
                choose(values[column][row])

    _draw_to_choose(frame, dict(values), take, table, table, {**look, "selection_mode": "single-cell"})


def _draw_to_choose(
    frame: pd.DataFrame, drawn: object, take: Callable[[Any], None], name: str, table: str, look: dict[str, Any]
) -> None:
    key = f"{name}_{zlib.crc32(str((drawn, list(frame.columns))).encode())}"
    on_screen = f"_{table}_on_screen"
    st.session_state[on_screen] = key

    def changed() -> None:
        # A browser that has not removed an older table yet sends that one's choice again, as if it were new.
        if st.session_state[on_screen] == key:
            take(st.session_state[key].selection)

    tables.draw(frame, key=key, on_select=changed, **look)


# Streamlit cannot scroll, and the server's policy forbids inline scripts.
_scroll = st.components.v2.component(
    "blindspot_scroll",
    js="""export default function ({ data, parentElement }) {
      if (parentElement.dataset.click === String(data.click)) return
      parentElement.dataset.click = data.click
      const table = document.querySelector(`.st-key-${data.name}_browse`)
      if (!table || table.getBoundingClientRect().bottom < window.innerHeight / 2) return
      table.style.scrollMarginTop = "5rem"
      table.scrollIntoView({ block: "start" })
    }""",
    isolate_styles=False,
)


def from_changes(rows: pd.DataFrame, first: str, second: str) -> pd.DataFrame:
    """The rows with both texts from shortly before the first word that differs, where a narrow cell would hide it."""
    both = list(zip(rows[first], rows[second], strict=True))
    return rows.assign(**{first: [from_change(*pair) for pair in both], second: [from_change(b, a) for a, b in both]})


@dataclass(frozen=True)
class BrowseTable:
    """A page's one table with a chosen row.

    Attributes:
        name: prefix of keys in the session.
        unit: what a row is, in the singular.
        number: the column with the rows' numbers.
    """

    name: str
    unit: str
    number: str

    def to_first_page(self) -> None:
        """Callback for when the listed rows change."""
        st.session_state[f"{self.name}_page"] = 1

    def wanted(self, dataset: str) -> int | None:
        """The chosen number before its box is drawn, of the session or the address; None after a change of dataset."""
        of_dataset = f"_{self.name}_dataset"
        if st.session_state.get(of_dataset, dataset) != dataset and ITEM in st.session_state:
            st.session_state[ITEM] = None
        st.session_state[of_dataset] = dataset
        value = now_chosen(ITEM)
        return int(value) if value is not None and str(value).isdecimal() else None

    def show(
        self,
        table: pd.DataFrame,
        dataset: str,
        config: Mapping[str, Any],
        *,
        hint: str,
        view: Callable[[pd.DataFrame], pd.DataFrame] = lambda rows: rows,
    ) -> None:
        """A page of the table, with paging.

        Args:
            table: all rows, in order.
            dataset: whose rows they are.
            config: as ``column_config`` of ``st.dataframe``; may name columns that are not shown.
            view: turns a page's rows into the shown frame.
        """
        wanted = self.wanted(dataset)
        self._turn_to(table, wanted)
        pages = Pages.of(f"{self.name}_page", len(table), ROWS_PER_PAGE)
        rows = table.iloc[pages.rows]
        frame = view(rows)
        with st.container(key=f"{self.name}_browse"):
            choose_row(
                frame,
                rows[self.number].tolist(),
                self._choose,
                table=self.name,
                page=pages.number,
                drawn=st.session_state.get(self._turns, 0),
                chosen=wanted,
                column_config={name: column for name, column in config.items() if name in frame},
            )
        pages.turn(hint)

    def chosen(
        self, rows: pd.DataFrame, dataset: str, numbers: Collection[int], left_out: str, last: int | None = None
    ) -> int | None:
        """The box with the chosen number, and buttons to the previous and next row of the table. Details come below it.

        Args:
            rows: all rows of the table, in order.
            numbers: all that can be chosen, in the table or not.
            left_out: why other numbers cannot, to follow "Pair 7".
            last: the dataset's highest number; that of ``numbers`` if None.

        Returns:
            The chosen number; None where none of ``numbers`` is chosen, with the reason on the page.
        """
        last = max(numbers, default=0) if last is None else last
        row = self._place(rows, self.wanted(dataset))
        with st.container(horizontal=True, vertical_alignment="center"):
            value = number_named(
                self.unit.capitalize(),
                key=ITEM,
                placeholder=f"{self.unit} 0 to {last}",
                label_visibility="collapsed",
                width=220,
            )
            self._step("Previous", rows, None if row is None else row - 1)
            self._step("Next", rows, 0 if row is None else row + 1)
            if row is not None:
                st.caption(f"{row + 1:,} of {len(rows):,} in the table", width="content")
            if value is None:
                st.caption("For details, choose a row above or type its number.", width="content")
        self._scroll_to_details()
        if value is None:
            return None
        if value > last:
            st.warning(f"There is no {self.unit} {value}. The numbers are 0 to {last}.")
            return None
        if value not in numbers:
            st.warning(f"{self.unit.capitalize()} {value} {left_out}.")
            return None
        if row is None:
            st.caption(f"This {self.unit} is not in the table: the filters above leave it out.")
        return int(value)

    @property
    def _clicks(self) -> str:
        return f"_{self.name}_clicks"

    @property
    def _turned_to(self) -> str:
        return f"_{self.name}_turned_to"  # the number that the table was last turned to

    @property
    def _turns(self) -> str:
        return f"_{self.name}_turns"

    def _turn_to(self, rows: pd.DataFrame, wanted: int | None) -> None:
        """Turn the table to the page of a row that was not chosen in it."""
        state = st.session_state
        if wanted == state.get(self._turned_to):
            return
        state[self._turned_to] = wanted
        state[self._turns] = state.get(self._turns, 0) + 1
        if (row := self._place(rows, wanted)) is not None:
            state[f"{self.name}_page"] = row // ROWS_PER_PAGE + 1

    def _place(self, rows: pd.DataFrame, number: int | None) -> int | None:
        """The table's row with a number; None where there is none."""
        places = (rows[self.number] == number).to_numpy().nonzero()[0]
        return int(places[0]) if len(places) else None

    def _choose(self, number: int) -> None:
        """Callback for a chosen row; a number that is typed later wins."""
        st.session_state[ITEM] = st.session_state[self._turned_to] = number
        st.session_state[self._clicks] = st.session_state.get(self._clicks, 0) + 1

    def _scroll_to_details(self) -> None:
        """Once after a click on a row of a table that ends below the middle of the window: move it up."""
        clicks, state = st.session_state.get(self._clicks, 0), st.session_state
        if clicks == state.get(f"{self._clicks}_seen", 0):
            return
        state[f"{self._clicks}_seen"] = clicks
        _scroll(key=f"{self.name}_scroll", data={"name": self.name, "click": clicks})

    def _step(self, label: str, rows: pd.DataFrame, to: int | None) -> None:
        """A button that chooses another row of the table."""
        number = int(rows[self.number].iloc[to]) if to is not None and 0 <= to < len(rows) else None
        st.button(
            label,
            key=f"{label.lower()}_{self.unit}",
            disabled=number is None,
            on_click=lambda: st.session_state.update({ITEM: number}),
        )
