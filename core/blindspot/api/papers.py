"""Published tables for programs, with the same scores of the models in a store beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from blindspot.api.place import place_of
from blindspot.api.results import Frames, as_frame
from blindspot.studies.evidence.beside import beside

if TYPE_CHECKING:
    import os

    import pandas as pd


@dataclass(frozen=True)
class Published:
    """A published table, with what is measured here.

    Attributes:
        source: the paper and its table.
        note: what differs between the two.
        facts: what ``blindspot published TABLE --json`` prints.
    """

    source: str
    note: str
    facts: Mapping[str, Any] = field(repr=False)

    def table(self, as_: Frames = "pandas") -> pd.DataFrame | Any:
        """A row per number: ``row, column, published, value, low, high, rank, models``."""
        import pandas as pd

        return as_frame(pd.DataFrame(self.facts["cells"]), as_)


def published(table: str, *, store: str | os.PathLike[str] | None = None) -> Published:
    """A published table beside the same scores of the models in a store.

    Args:
        table: ``wang-1a``, ``wang-1b``, ``wang-4``, ``wang-10``, ``schnabel-1``, ``schnabel-figure-4`` or ``eger-2``.
        store: as for ``run``; without a store nothing is measured.

    Raises:
        InputError: no such table.
    """
    table_view = beside(table, place_of(store, None).repository)
    return Published(table_view.source, table_view.note, MappingProxyType(table_view.as_json()))
