"""Pairs with human scores."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from blindspot.datasets.kinds.base import Dataset, DatasetKind, names
from blindspot.datasets.kinds.pairs import no_pair
from blindspot.types import Float64, Int32


@dataclass(frozen=True, eq=False)
class ScoredPairs(Dataset):
    """Pairs with human scores, from one or several named sets, each with its own scale.

    Attributes:
        sets: the names of the sets.
        set_numbers: ``[m] int32``, index into ``sets`` of each pair's set.
        firsts, seconds: ``[m] int32``, index into ``items`` of each pair's texts.
        scores: ``[m] float64``, each on its set's scale; higher is more similar.
    """

    sets: tuple[str, ...]
    set_numbers: Int32
    firsts: Int32
    seconds: Int32
    scores: Float64

    kind = DatasetKind.SCORED_PAIRS
    headings = ("pair", "set", "score", "first text", "second text")
    lacks = no_pair("compared")
    counted = "pairs"
    stored_as = "scored_pair"
    item_columns = ("firsts", "seconds")
    row_columns = ("set_numbers", "scores")

    @property
    def content_parts(self) -> list[str]:
        return self._parts([self.set_numbers, self.firsts, self.seconds, self.scores], *self.sets)

    @property
    def form_parts(self) -> list[str]:
        """Without the name of a single set, which in a user's file is the file's name."""
        names = self.sets if len(self.sets) > 1 else ()
        return self._parts([self.set_numbers, self.firsts, self.seconds, self.scores], *names)

    def rows_in_any_order(self) -> Iterable[Sequence[object]]:
        ends = zip(self.set_numbers.tolist(), self.firsts.tolist(), self.seconds.tolist(), strict=True)
        for (of, first, second), score in zip(ends, self.scores.tolist(), strict=True):
            yield self.sets[of] if len(self.sets) > 1 else "", self.items[first], self.items[second], repr(score)

    @property
    def scale(self) -> tuple[float, float]:
        """The lowest and the highest score."""
        return float(self.scores.min()), float(self.scores.max())

    def rows(self, start: int, stop: int) -> Sequence[tuple[int, str, float, str, str]]:
        """Number, set, score and both texts."""
        return [
            (
                n,
                self.sets[self.set_numbers[n]],
                float(self.scores[n]),
                self.items[self.firsts[n]],
                self.items[self.seconds[n]],
            )
            for n in range(start, min(stop, len(self.scores)))
        ]

    def stored_rows(self) -> dict[str, Any]:
        return {
            "item_no": np.arange(len(self.scores), dtype=np.int32),
            "set_name": names(self.sets, self.set_numbers),
            "first_no": self.firsts,
            "second_no": self.seconds,
            "gold": self.scores,
        }

    @classmethod
    def size(cls, rows: int, subsets: int, texts: int) -> str:  # noqa: ARG003 - of minimal pairs
        return f"{rows:,} scored pairs, {texts:,} texts"
