"""Choice of two models to compare, A and B; both are in the address."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st

from blindspot.names import in_address
from blindspot.runs.default_models import is_own
from blindspot.store.records import RunRecord
from blindspot.ui.markdown import as_text
from blindspot.ui.page_state import A, B
from blindspot.ui.pickers import usual_sides
from blindspot.ui.widgets.addressed import names_of_variants, now_chosen, one_named, option_in_address
from blindspot.variants import Variant


@dataclass(frozen=True)
class Sides:
    """The compared runs; B is None where the reader chose no other model, or there is none."""

    a: RunRecord
    b: RunRecord | None

    @property
    def b_id(self) -> str | None:
        return None if self.b is None else self.b.run_id

    @property
    def by_letter(self) -> dict[str, RunRecord]:
        return {"A": self.a} if self.b is None else {"A": self.a, "B": self.b}

    def first(self, runs: Sequence[RunRecord]) -> list[RunRecord]:
        """The runs, A and B before the others."""
        ahead = list(self.by_letter.values())
        return [*ahead, *(run for run in runs if run not in ahead)]


def two_variants(
    runs: Sequence[RunRecord],
    *,
    b_at_first: bool = True,
    on_change: Callable[[], None] | None = None,
) -> Sides:
    """Let the reader choose A and B among runs of different models; at first the baseline and the newest other model;
    where there is no B, the newest of the reader's own.

    Args:
        b_at_first: whether there is a B before the reader chooses one.
    """
    by_name = {str(run.plan.variant): run for run in runs}
    a, b = two_names(list(by_name), b_at_first=b_at_first, on_change=on_change)
    return Sides(by_name[a], None if b is None else by_name[b])


def two_names(
    names: Sequence[str],
    *,
    b_at_first: bool = True,
    on_change: Callable[[], None] | None = None,
    compare: Callable[[str, str], bool] = lambda _a, _b: True,
) -> tuple[str, str | None]:
    """``two_variants`` by the variants' names; B is None where it is A, or none.

    Args:
        compare: whether two have something to compare; as far as possible, such two are chosen at first.
    """
    if gone := [str(value) for key in (A, B) if (value := now_chosen(key)) is not None and _named(key, names) is None]:
        missing = ", ".join(as_text(Variant.parse(name).label) for name in gone)
        instead = " Showing another model instead." if b_at_first and len(names) > 1 else ""
        st.caption(f"Not among the models shown: {missing}.{instead}")
    if len(names) < 2 and b_at_first:
        return names[0], None
    baseline, others = usual_sides(names)
    is_of_own = not b_at_first and bool(others) and is_own(Variant.parse(others[0]).encoder)
    # Of one model alone, the reader's own; else the baseline against it.
    order = [name for name in ([*others, baseline] if is_of_own else [baseline, *others]) if name]
    given, has_b = _named(B, names), b_at_first or _named(B, names) is not None
    partners = [given] if given else names
    able = [name for name in order if any(other != name and compare(name, other) for other in partners)]
    first = _valid(A, names, _other_than(given, able or order))
    able = [name for name in (*others, baseline) if name and name != first and compare(first, name)]
    second = _valid(B, names, _other_than(first, able or [*others, baseline])) if has_b else None
    if second is None and B in st.session_state:
        st.session_state[B] = None
    left, right = st.columns(2)
    called = names_of_variants(names)
    first = one_named("A", names, key=A, name=called, container=left, on_change=on_change) or first
    second = one_named(
        "B" if b_at_first else "B, to compare with",
        names,
        key=B,
        name=called,
        container=right,
        placeholder="none" if len(names) > 1 else "only one model is shown",
        disabled=len(names) < 2,
        on_change=on_change,
    )
    if second == first:
        st.caption("A and B are the same model. Choose two different models.")
        return first, None
    return first, second


def _named(key: str, names: Sequence[str]) -> str | None:
    """The name that a picker or the address has."""
    return option_in_address(now_chosen(key), names)


def _other_than(taken: object, names: Sequence[str]) -> str:
    return next((name for name in names if name != taken), names[0])


def _valid(key: str, names: Sequence[str], default: str) -> str:
    """Give a picker a valid value: its own, that of the address, or the default."""
    if (value := _named(key, names)) is not None:
        return value
    st.session_state[key] = default
    # A picker that appears with a value does not write it into the address by itself.
    if key not in st.query_params:
        st.query_params[key] = in_address(default)
    return default
