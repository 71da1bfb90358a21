"""Rows that a reader selects in a figure of A against B: by boxes, which are in the address, or by a lasso.

A selection outlives reruns, other orders and filters; the table below the figure lists only its rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from blindspot.errors import InputError
from blindspot.policy import MOST_SEARCHED
from blindspot.texts import counted
from blindspot.types import Bool, Float64, Int64
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import explained
from blindspot.ui.widgets.addressed import leave_out_unread

_END = r"\s*(\d+(?:\.\d+)?)\s*"
_AREA = re.compile(f"{_END}-{_END},{_END}-{_END}")
MOST_AREAS = 20  # that a person draws; a page tests each for every row


@dataclass(frozen=True)
class Area:
    """Values from ``a_low`` to ``a_high`` in A and ``b_low`` to ``b_high`` in B, ends included, none below 0."""

    a_low: float
    a_high: float
    b_low: float
    b_high: float

    def __str__(self) -> str:
        return f"{self.a_low:.15g}-{self.a_high:.15g},{self.b_low:.15g}-{self.b_high:.15g}"

    @staticmethod
    def parse(text: str) -> Area:
        """Parse ``1-3,10-500``; raises ``InputError`` for anything else."""
        match = _AREA.fullmatch(text)
        if match is None:
            raise InputError(f"'{text}' is no area of the figure", expected="from A to A, from B to B: 1-3, 10-500")
        return Area(*(float(number) for number in match.groups()))

    @classmethod
    def parse_all(cls, text: str) -> list[Area]:
        """Parse areas separated by semicolons; raises ``InputError`` for anything else, and for too many."""
        parts = [part for part in text.split(";") if part.strip()]
        if len(parts) > MOST_AREAS:
            raise InputError(f"{len(parts):,} areas", expected=f"at most {MOST_AREAS}", remedy="take one around them")
        return [cls.parse(part) for part in parts]

    @classmethod
    def reads(cls, text: str) -> bool:
        """Whether ``parse_all`` takes it."""
        try:
            cls.parse_all(text)
        except InputError:
            return False
        return True

    @property
    def ends(self) -> tuple[float, float, float, float]:
        return self.a_low, self.a_high, self.b_low, self.b_high

    def holds(self, a: Float64, b: Float64) -> Bool:
        """Which pairs of values ``[m]`` are inside, ``[m] bool``; NaN never is."""
        inside = (a >= self.a_low) & (a <= self.a_high) & (b >= self.b_low) & (b <= self.b_high)
        return np.asarray(inside, dtype=np.bool_)

    def around(self, a: Float64, b: Float64) -> Area | None:
        """The smallest area that has the same of these values, so that its ends are values; None if it has none."""
        inside = self.holds(a, b)
        if not inside.any():
            return None
        a, b = a[inside], b[inside]
        return Area(float(a.min()), float(a.max()), float(b.min()), float(b.max()))


@dataclass(frozen=True, eq=False)
class Dots:
    """Rows as dots of a figure: ``numbers [m]`` and their places in A and in B ``[m]``; rows may share a dot.

    Attributes:
        dataset: digest of the dataset whose rows they are.
    """

    dataset: str
    numbers: Int64
    a: Float64
    b: Float64

    def sharing(self, numbers: Sequence[int]) -> list[int]:
        """The rows at the places of some rows, these included."""
        _, places = np.unique(np.stack([self.a, self.b]), axis=1, return_inverse=True)
        inside = np.isin(places.ravel(), places.ravel()[np.isin(self.numbers, numbers)])
        return [int(number) for number in self.numbers[inside]]


@dataclass(frozen=True)
class Selection:
    """What is selected in one figure.

    Attributes:
        chart: key of the figure, whose dots have a row's number, and nothing else, as custom data.
        area: key of the box with the selected areas, in the session and in the address.
        values: what an axis has, as "Ranks".
        example: of an area, and what it lists.
        unit, units: what a row is.
        on_change: called when the selection changes.
    """

    chart: str
    area: str
    values: str
    example: tuple[str, str]
    unit: str
    units: str
    on_change: Callable[[], None]

    def areas(self) -> list[Area]:
        """The box with the areas; those in it."""
        leave_out_unread(self.area, Area.reads, "")
        text = st.text_input(
            f"{self.values} in A, in B",
            key=self.area,
            bind="query-params",
            max_chars=MOST_SEARCHED,
            on_change=self.on_change,
            placeholder=f"for example {self.example[0]}",
            help=f"{self.example[0]} lists {self.example[1]}. Separate several areas by semicolons. Dragging a box in "
            "the figure fills this in, and the page's address keeps it.",
        )
        try:
            return Area.parse_all(text or "")
        except InputError as error:
            st.warning(as_text(explained(error)))
            return []

    def chosen(self, dots: Dots, areas: Sequence[Area]) -> Bool | None:
        """Per row whether it is selected, with their count and a button to clear the selection; None without one."""
        whose, numbers = st.session_state.get(self._lasso, ("", ()))
        if areas:
            is_chosen = np.any([area.holds(dots.a, dots.b) for area in areas], axis=0)
        elif whose == dots.dataset:
            is_chosen = np.isin(dots.numbers, numbers)
        else:
            return None
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{counted(int(is_chosen.sum()), self.unit, self.units)} selected**", width="content")
            st.button("Clear", key=f"clear_{self.area}", on_click=self._clear, icon=":material/close:")
        return np.asarray(is_chosen, dtype=np.bool_)

    def draw(self, figure: Any, dots: Dots, alt: str) -> None:
        """A Plotly figure, in which boxes and a lasso select."""
        st.plotly_chart(
            figure,
            key=self.chart,
            on_select=lambda: self._take(st.session_state[self.chart].selection, dots),
            selection_mode=("box", "lasso"),
            config={"displaylogo": False},
            alt=alt,
        )

    @property
    def _lasso(self) -> str:
        return f"_{self.area}_lasso"  # the dataset and the rows: too many for an address

    def _clear(self) -> None:
        st.session_state[self.area] = ""
        st.session_state.pop(self._lasso, None)
        self.on_change()

    def _take(self, selection: Any, dots: Dots) -> None:
        """Keep what the reader selected; nothing clears it."""
        self._clear()
        if selection.lasso:
            picked = [_number(point["customdata"]) for point in selection.points if "customdata" in point]
            st.session_state[self._lasso] = (dots.dataset, tuple(dots.sharing(picked)))
        elif selection.box:
            drawn = [Area(*sorted(box["x"]), *sorted(box["y"])) for box in selection.box]
            around = [area.around(dots.a, dots.b) for area in drawn]
            st.session_state[self.area] = "; ".join(str(area) for area in around if area is not None)


def _number(customdata: Any) -> int:
    """A dot's row: the browser sends it alone or in a list."""
    return int(customdata[0] if isinstance(customdata, list) else customdata)
