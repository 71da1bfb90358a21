"""View of a query's neighbors: the same on the page, by the command and to programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from blindspot.datasets.kinds.base import Dataset
from blindspot.errors import InputError
from blindspot.numerics.neighbors.overlap import P, in_how_many
from blindspot.numerics.similarity import Similarity
from blindspot.runs.spaces import Space
from blindspot.settings import Settings
from blindspot.space.neighbors import free_text
from blindspot.space.neighbors import lists as neighbors
from blindspot.space.neighbors.free_text import Placed
from blindspot.space.neighbors.lists import LONGEST, Neighbors, Overlap
from blindspot.types import CancelToken, Int64


@dataclass(frozen=True)
class Neighbor:
    """A text near the query: its number in the dataset, and its similarity."""

    item_no: int
    text: str
    similarity: float


@dataclass(frozen=True, eq=False)
class NeighborsView:
    """The nearest texts to a query in some models.

    Attributes:
        item: number of the query in the dataset; None for another text.
        k: number of neighbors that are shown; a list may have more.
        lists: of the models that have a vector for the query.
        placed: a text from outside the dataset, in every model; () for an item.
    """

    text: str
    item: int | None
    spaces: tuple[Space, ...]
    metric: Similarity
    k: int
    lists: tuple[Neighbors, ...]
    placed: tuple[Placed, ...]

    @property
    def dataset(self) -> Dataset:
        return self.spaces[0].dataset

    @property
    def notes(self) -> list[str]:
        """Models without a vector for the query, and parts of it that do not count, in sentences."""
        notes = [
            f"{placed_text.variant.label} has no vector for the text"
            for placed_text in self.placed
            if placed_text.vector is None
        ]
        for placed_text in self.placed:
            if placed_text.truncated:
                notes.append(
                    f"the text is longer than {placed_text.variant.label} can read: the rest of it does not count"
                )
            if placed_text.unknown and placed_text.vector is not None:
                notes.append(f"{placed_text.variant.label} has no vector for {', '.join(placed_text.unknown)}")
        return notes

    @property
    def items(self) -> Int64:
        """Numbers of the ``k`` shown neighbors in each of m lists, ``[m, k]``."""
        return np.stack([neighbors.items[: self.k] for neighbors in self.lists])

    @property
    def found_by(self) -> Int64:
        """How many of m lists have each of these neighbors, ``[m, k]``."""
        return in_how_many(self.items)

    @property
    def overlaps(self) -> list[Overlap]:
        """The overlap of every two models, over the ``k`` neighbors that are shown."""
        return neighbors.overlaps(self.lists, self.k)

    def found(self, listed: Neighbors) -> list[Neighbor]:
        """The neighbors that are shown of a list."""
        shown = zip(listed.items[: self.k].tolist(), listed.similarity[: self.k].tolist(), strict=True)
        return [Neighbor(item, self.dataset.items[item], similarity) for item, similarity in shown]

    def as_json(self) -> dict[str, Any]:
        without = [placed_text.variant for placed_text in self.placed if placed_text.vector is None]
        return {
            "query": {"text": self.text, "item": self.item},
            "dataset": self.dataset.id,
            "metric": self.metric,
            "items": len(self.spaces[0].items),
            "variants": [
                {
                    "encoder": neighbors.variant.encoder,
                    "transform": neighbors.variant.transform,
                    "neighbors": [
                        {"rank": rank, "item": near.item_no, "text": near.text, "similarity": near.similarity}
                        for rank, near in enumerate(self.found(neighbors), 1)
                    ],
                }
                for neighbors in self.lists
            ],
            "without_vector": [{"encoder": v.encoder, "transform": v.transform} for v in without],
            "notes": self.notes,
            "overlap": [vars(o) | {"a": str(o.a), "b": str(o.b), "p": P} for o in self.overlaps],
        }


def view_of_item(
    item: int, spaces: Sequence[Space], metric: Similarity, *, k: int = LONGEST, approximate: bool = False
) -> NeighborsView:
    """The neighbors of an item in spaces over the same items; an item is not its own neighbor.

    Args:
        k: how many to show; fewer if there are no more.

    Raises:
        InputError: a model has no vector for the item, or there is no other text.
    """
    text = spaces[0].dataset.items[item]
    if spaces[0].place_of(item) is None:
        who = "the model has no" if len(spaces) == 1 else "not all encoders have a"
        raise InputError(f"{who} vector for '{text[:80]}'", expected="a text that every encoder covers")
    depth = _depth(spaces, is_item=True)
    lists = tuple(neighbors.of_item(space, metric, item, depth, approximate=approximate) for space in spaces)
    return NeighborsView(text, item, tuple(spaces), metric, min(k, depth), lists, ())


def view_of_text(
    text: str,
    spaces: Sequence[Space],
    metric: Similarity,
    settings: Settings,
    *,
    k: int = LONGEST,
    approximate: bool = False,
    cancel: CancelToken | None = None,
) -> NeighborsView:
    """The neighbors of any text, which is encoded now; ``k`` is that of ``view_of_item``.

    Raises:
        InputError: the text is empty or too long, or there is nothing to find.
        BlindspotError, Cancelled: for the reasons of ``free_text.place``.
    """
    depth = _depth(spaces, is_item=False)
    placed = free_text.place(text, spaces, settings, cancel)
    lists = [
        neighbors.of_vector(space, metric, placed_text.vector, depth, approximate=approximate)
        for space, placed_text in zip(spaces, placed, strict=True)
        if placed_text.vector is not None
    ]
    return NeighborsView(text, None, tuple(spaces), metric, min(k, depth), tuple(lists), placed)


def _depth(spaces: Sequence[Space], *, is_item: bool) -> int:
    depth = neighbors.depth(spaces, is_item=is_item)
    if depth < 1:
        name = spaces[0].dataset.id
        raise InputError(f"the query is the only text of '{name}' with a vector", expected="a larger dataset")
    return depth
