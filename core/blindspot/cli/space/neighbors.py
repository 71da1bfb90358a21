"""Command ``neighbors``: nearest neighbors of a text by several encoders, and their overlap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from blindspot.cli import output
from blindspot.cli.options import TRANSFORM_HELP, AsJson
from blindspot.cli.variants import opened, variants_of
from blindspot.datasets.catalog import OWN_FILE, find_dataset, title_of
from blindspot.datasets.kinds.base import Dataset
from blindspot.errors import InputError
from blindspot.numerics.neighbors.overlap import P
from blindspot.numerics.similarity import Similarity
from blindspot.runs.spaces import Space
from blindspot.settings import Settings
from blindspot.space.neighbors import free_text
from blindspot.space.neighbors import lists as neighbors
from blindspot.space.neighbors.lists import Neighbors, Overlap
from blindspot.store.repository import Repository
from blindspot.variants import Variant


@dataclass(frozen=True, eq=False)
class _Asked:
    """A query's neighbors by variant.

    Attributes:
        without: variants that have no vector for the query.
        notes: parts of the text that do not count.
    """

    item: int | None
    lists: Sequence[Neighbors]
    without: Sequence[Variant]
    notes: Sequence[str]


def neighbors_of(
    text: Annotated[str, typer.Argument(help="a text of the dataset, verbatim, or any other text")],
    encoder: Annotated[list[str], typer.Option(help="encoder reference; repeat for several")],
    dataset: Annotated[str, typer.Option(help=f"dataset id or {OWN_FILE} to search")],
    transform: Annotated[list[str] | None, typer.Option(help=TRANSFORM_HELP)] = None,
    k: Annotated[int, typer.Option("-k", help="number of neighbors")] = 10,
    metric: Annotated[Similarity, typer.Option(help="similarity")] = Similarity.COS,
    as_json: AsJson = False,
) -> None:
    """List the nearest neighbors of a text under several models, and how far the models agree."""
    settings = Settings.from_environment()
    free_text.check(text)
    variants = variants_of(encoder, transform)
    if not 1 <= k <= neighbors.LONGEST:
        raise InputError(f"-k is {k}", expected=f"1 to {neighbors.LONGEST}")
    entry = find_dataset(dataset)
    loaded, spaces = opened(variants, entry, settings)
    if not as_json:
        output.use_names(settings, Repository.at(settings.store), [variant.encoder for variant in variants])
    found = _look_up(text, loaded, spaces, metric, k, settings)
    overlaps = neighbors.overlaps(found.lists, len(found.lists[0].items)) if found.lists else []
    if as_json:
        output.print_json(_json(text, loaded, spaces, metric, found, overlaps))
    else:
        _print(text, loaded, spaces, metric, found, overlaps)


def _look_up(
    text: str, dataset: Dataset, spaces: Sequence[Space], metric: Similarity, k: int, settings: Settings
) -> _Asked:
    """The ``k`` nearest neighbors; fewer if the dataset is smaller."""
    item = dataset.items.index(text) if text in dataset.items else None
    if item is not None and spaces[0].place_of(item) is None:
        raise InputError(
            f"not all encoders have a vector for '{text[:80]}'", expected="a text that every encoder covers"
        )
    k = min(k, neighbors.depth(spaces, is_item=item is not None))
    if k < 1:
        raise InputError(f"the query is the only text of '{dataset.id}' with a vector", expected="a larger dataset")
    if item is not None:
        return _Asked(item, [neighbors.of_item(space, metric, item, k) for space in spaces], [], [])
    placed = free_text.place(text, spaces, settings)
    lists = [
        neighbors.of_vector(space, metric, one.vector, k)
        for space, one in zip(spaces, placed, strict=True)
        if one.vector is not None
    ]
    without = [one.variant for one in placed if one.vector is None]
    notes = [f"{v.label} has no vector for the text" for v in without]
    for one in placed:
        if one.truncated:
            notes.append(f"the text is longer than {one.variant.label} can read: the rest of it does not count")
        if one.unknown and one.vector is not None:
            notes.append(f"{one.variant.label} has no vector for {', '.join(one.unknown)}")
    return _Asked(None, lists, without, notes)


def _json(
    text: str, dataset: Dataset, spaces: Sequence[Space], metric: Similarity, found: _Asked, overlaps: Sequence[Overlap]
) -> dict[str, Any]:
    return {
        "query": {"text": text, "item": found.item},
        "dataset": dataset.id,
        "metric": metric.value,
        "items": len(spaces[0].items),
        "variants": [
            {
                "encoder": one.variant.encoder,
                "transform": one.variant.transform,
                "neighbors": [
                    {"rank": rank, "item": item, "text": dataset.items[item], "similarity": similarity}
                    for rank, (item, similarity) in enumerate(
                        zip(one.items.tolist(), one.similarity.tolist(), strict=True), 1
                    )
                ],
            }
            for one in found.lists
        ],
        "without_vector": [{"encoder": v.encoder, "transform": v.transform} for v in found.without],
        "notes": list(found.notes),
        "overlap": [
            {"a": str(o.a), "b": str(o.b), "k": o.k, "shared": o.shared, "jaccard": o.jaccard, "rbo": o.rbo, "p": P}
            for o in overlaps
        ],
    }


def _print(
    text: str, dataset: Dataset, spaces: Sequence[Space], metric: Similarity, found: _Asked, overlaps: Sequence[Overlap]
) -> None:
    what = "your text" if found.item is None else f"text {found.item}"
    if found.lists:
        texts = len(neighbors.candidates(spaces[0]))
        shown = text if len(text) <= 80 else f"{text[:80]} …"
        output.print_table(
            f"Nearest to {what} '{shown}' of {texts:,} texts in {title_of(dataset.id)}, {metric.value}",
            ["rank", *(one.variant.label for one in found.lists)],
            [
                [
                    str(rank + 1),
                    *(f"{one.similarity[rank]:.4f} {dataset.items[one.items[rank]]}" for one in found.lists),
                ]
                for rank in range(len(found.lists[0].items))
            ],
        )
    for note in found.notes:
        output.print_text(note)
    if overlaps:
        output.print_table(
            f"Overlap (RBO: rank-biased overlap, p = {P:g}, extrapolated)",
            ["models", "shared", "Jaccard", "RBO"],
            [
                [f"{o.a.label} / {o.b.label}", f"{o.shared} of {o.k}", f"{o.jaccard:.4f}", f"{o.rbo:.4f}"]
                for o in overlaps
            ],
        )
