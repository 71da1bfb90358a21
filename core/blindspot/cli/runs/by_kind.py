"""Scores of a run by kind of what it evaluated, as each diagnostic that has kinds gives them to ``runs kinds``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeVar

from blindspot.errors import unknown

K = TypeVar("K", bound=StrEnum)


@dataclass(frozen=True)
class KindsFound:
    """Scores by kind.

    Attributes:
        axis: per side, in words, how its kinds differ.
        rows: a record per kind, with NaN for what there is not.
        shown: the columns of the printed table; JSON has all.
        note: below the table.
        beside: further rankings by name, with records of the same columns.
    """

    axis: Mapping[str, str]
    rows: Sequence[Mapping[Any, Any]]
    shown: Sequence[str]
    note: str
    beside: Mapping[str, Sequence[Mapping[Any, Any]]] = field(default_factory=dict)


def kind_named(by: str, kinds: type[K]) -> K:
    """A grouping by its name, hyphens for spaces; raises ``InputError`` for an unknown one."""
    if (name := by.replace("-", " ")) in list(kinds):
        return kinds(name)
    raise unknown("grouping", by, [kind.replace(" ", "-") for kind in kinds])
