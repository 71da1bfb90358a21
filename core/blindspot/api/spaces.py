"""Nearest neighbors of a text, for programs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from blindspot.api import data as given
from blindspot.api import models
from blindspot.api.place import place_of
from blindspot.api.results import Frames, as_frame
from blindspot.datasets import fetch
from blindspot.encoders.catalog import variant_named
from blindspot.errors import InputError, unknown
from blindspot.numerics.similarity import Similarity
from blindspot.runs import pipeline
from blindspot.runs.requests import EncodeRequest
from blindspot.runs.spaces import open_spaces
from blindspot.space.neighbors import free_text
from blindspot.space.neighbors.lists import LONGEST
from blindspot.space.neighbors.view import Neighbor, view_of_item, view_of_text

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Neighbors:
    """The texts of a dataset nearest to a query, the most similar first.

    Attributes:
        model: its name, with the transform if there is one.
        dataset: id of the dataset.
        query: the text.
        item_no: the query's number, if it is a text of the dataset; it is not its own neighbor.
        truncated: the query is longer than the model reads; the rest of it does not count.
        unknown: words of the query without a vector, for word vectors.
    """

    model: str
    dataset: str
    query: str
    metric: str
    item_no: int | None
    found: tuple[Neighbor, ...] = field(repr=False)
    truncated: bool = False
    unknown: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Neighbor]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)

    def table(self, as_: Frames = "pandas") -> pd.DataFrame | Any:
        """A row per neighbor: ``rank, item_no, text, similarity``."""
        import pandas as pd

        rows = [
            (rank, neighbor.item_no, neighbor.text, neighbor.similarity) for rank, neighbor in enumerate(self.found, 1)
        ]
        return as_frame(pd.DataFrame(rows, columns=["rank", "item_no", "text", "similarity"]), as_)

    def _repr_html_(self) -> str:
        from blindspot.api.tables import as_html_table

        rows = [(rank, neighbor.text, neighbor.similarity) for rank, neighbor in enumerate(self.found, 1)]
        return as_html_table(f"{self.model}: nearest to {self.query}", rows, ("rank", "text", self.metric))


def neighbors(
    model: Any,
    data: Any,
    query: str,
    *,
    k: int = 10,
    metric: str = "cos",
    transform: str = "",
    name: str = "",
    columns: Mapping[str, str] | None = None,
    store: str | os.PathLike[str] | None = None,
    device: str | None = None,
) -> Neighbors:
    """The texts of a dataset nearest to a query, exactly.

    >>> import blindspot as bs
    >>> texts = [("a cat", "the cat"), ("a dog", "the dog")]
    >>> letters = lambda some: [[text.count(c) + 1 for c in "acdgt"] for text in some]
    >>> [near.text for near in bs.neighbors(letters, texts, "a cat", k=2)]
    ['the cat', 'a dog']
    >>> bs.neighbors(letters, texts, "cats", k=1).item_no is None
    True

    Args:
        query: one of the texts, verbatim, which is then left out; or any other text.
        k: how many; fewer if the dataset is smaller.
        metric: ``cos`` or ``l2`` (1 / (1 + distance)).

    Raises:
        InputError: something of this is wrong; or the model has no vector for the query.
        BlindspotError: the model failed.
    """
    free_text.check(query)
    if metric not in {similarity.value for similarity in Similarity}:
        raise unknown("metric", metric, [similarity.value for similarity in Similarity])
    if not 1 <= k <= LONGEST:
        raise InputError(f"k is {k}", expected=f"1 to {LONGEST}")
    place = place_of(store, device)
    reference = given.reference_of(data, None, columns, place.settings)
    dataset = fetch.load(reference.entry(), place.settings)
    asked = models.variant_of(model, name, lambda: dataset.items)
    variant = variant_named(asked.encoder, transform or asked.transform)
    pipeline.encode(EncodeRequest(variant.encoder, reference), place.settings, place.repository)
    (space,) = open_spaces([variant], dataset, place.settings)
    item = dataset.items.index(query) if query in dataset.items else None
    if item is None:
        view = view_of_text(query, [space], Similarity(metric), place.settings, k=k)
    else:
        view = view_of_item(item, [space], Similarity(metric), k=k)
    if not view.lists:
        raise InputError(f"the model has no vector for '{query[:80]}'", expected="words that it knows")
    truncated, unknown_words = (view.placed[0].truncated, view.placed[0].unknown) if view.placed else (False, ())
    neighbors_found = tuple(view.found(view.lists[0]))
    return Neighbors(variant.label, reference, query, metric, item, neighbors_found, truncated, unknown_words)
