"""Scored pairs with the similarity that several runs gave them, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from core.diagnostic import DiagnosticEntry
from core.store.repository import Repository
from core.types import Float64, Int64

SIDE_COLUMNS = ["item_no", "set_name", "gold", "first", "second"]


@dataclass(frozen=True, eq=False)
class ScoredTable:
    """The pairs that all of some runs scored.

    Attributes:
        frame: a row per pair: ``item_no`` (its number in the dataset), ``set_name, gold, first, second``.
        similarity: per run id ``[m] float64``, in the same order.
    """

    frame: pd.DataFrame
    similarity: dict[str, Float64]

    @property
    def run_ids(self) -> tuple[str, ...]:
        """Of the runs; which pairs all of them have follows from these."""
        return tuple(self.similarity)

    @property
    def gold(self) -> Float64:
        """``[m]``, what people gave."""
        return self.frame["gold"].to_numpy(dtype=np.float64)

    @cached_property
    def ends(self) -> tuple[Int64, Int64]:
        """Numbers of each pair's texts, ``[m]`` each: pairs that share one are not independent."""
        numbers, _ = pd.factorize(np.concatenate([self.frame["first"].to_numpy(), self.frame["second"].to_numpy()]))
        m = len(self.frame)
        return numbers[:m].astype(np.int64), numbers[m:].astype(np.int64)

    @property
    def sets(self) -> tuple[str, ...]:
        """Names of the sets, in the order in which they begin."""
        return tuple(self.frame["set_name"].unique())

    def place_of(self, item_no: int) -> int | None:
        """The row of a pair; None where not all runs scored it."""
        places = np.flatnonzero(self.frame["item_no"].to_numpy() == item_no)
        return int(places[0]) if len(places) else None


def scored_table(entry: DiagnosticEntry, run_ids: Sequence[str], repository: Repository) -> ScoredTable:
    """The stored similarities of runs over one dataset; pairs that one of them left out are left out of all."""
    rows = repository.items(entry, run_ids, texts=True)
    wide = rows.pivot(index="item_no", columns="run_id", values="similarity").dropna()
    texts = rows.drop_duplicates("item_no").set_index("item_no").loc[wide.index].reset_index()
    return ScoredTable(
        texts[SIDE_COLUMNS].reset_index(drop=True),
        {run_id: wide[run_id].to_numpy(dtype=np.float64) for run_id in run_ids},
    )
