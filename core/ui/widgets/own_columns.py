"""Filter of rows by an own column of a user's file; the chosen value is in the address."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from core.datasets.kinds.own_columns import OwnColumn, choices_of
from core.store.records import RunRecord
from core.types import Bool, Int64
from core.ui.resources import repository
from core.ui.widgets.addressed import one_named

ALL = "all"


def columns_of(run: RunRecord) -> tuple[OwnColumn, ...]:
    """The own columns of a run's dataset."""
    return repository().own_columns(run.plan.dataset, run.plan.dataset_digest)


def only_rows(
    columns: Sequence[OwnColumn], rows: Int64, key: str, *, on_change: Callable[[], None] | None = None
) -> Bool:
    """Which of some rows have the chosen value, ``[k] bool``: all of them where none is chosen, or without columns."""
    every = np.ones(len(rows), dtype=np.bool_)
    inside, names = {ALL: every}, {ALL: "All rows"}
    for name, column in choices_of(columns).items():
        for value, found in column.groups(rows):
            one = f"{name}={value}"
            while one in inside:
                one += "="
            inside[one] = found
            names[one] = f"{name}: {value} ({int(found.sum()):,})"
    if len(inside) == 1:
        return every
    chosen = one_named(
        "Column",
        list(inside),
        key=key,
        name=lambda one: names.get(one, one),
        index=0,
        width=240,
        on_change=on_change,
        help="A value of one of your file's columns. With the number of rows that have it.",
    )
    return inside.get(chosen or ALL, every)
