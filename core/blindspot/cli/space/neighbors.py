"""Command ``neighbors``: nearest neighbors of a text by several encoders, and their overlap."""

from __future__ import annotations

from typing import Annotated

import typer

from blindspot.cli import output
from blindspot.cli.options import (
    AsJson,
    Encoders,
    Metric,
    Transforms,
    dataset_named,
    opened,
    settings_and_store,
    variants_of,
)
from blindspot.datasets.catalog import OWN_FILE, title_of
from blindspot.errors import InputError
from blindspot.numerics.neighbors.overlap import P
from blindspot.numerics.similarity import Similarity
from blindspot.numerics.statistics.written import SCORE, number
from blindspot.space.neighbors import free_text
from blindspot.space.neighbors.lists import LONGEST, candidates
from blindspot.space.neighbors.view import NeighborsView, view_of_item, view_of_text


def neighbors_of(
    text: Annotated[str, typer.Argument(help="a text of the dataset, verbatim, or any other text")],
    encoder: Encoders,
    dataset: Annotated[str, typer.Option(help=f"dataset id or {OWN_FILE} to search")],
    transform: Transforms = None,
    k: Annotated[int, typer.Option("-k", help="number of neighbors")] = 10,
    metric: Metric = Similarity.COS,
    as_json: AsJson = False,
) -> None:
    """List the nearest neighbors of a text under several models, and how far the models agree."""
    settings, repository = settings_and_store()
    free_text.check(text)
    variants = variants_of(encoder, transform)
    if not 1 <= k <= LONGEST:
        raise InputError(f"-k is {k}", expected=f"1 to {LONGEST}")
    entry = dataset_named(dataset).entry()
    loaded, spaces = opened(variants, entry, settings)
    if not as_json:
        output.use_names(settings, repository, [variant.encoder for variant in variants])
    if text in loaded.items:
        view = view_of_item(loaded.items.index(text), spaces, metric, k=k)
    else:
        view = view_of_text(text, spaces, metric, settings, k=k)
    if as_json:
        output.print_json(view.as_json())
    else:
        _print(view)


def _print(view: NeighborsView) -> None:
    what = "your text" if view.item is None else f"text {view.item}"
    if view.lists:
        shown = view.text if len(view.text) <= 80 else f"{view.text[:80]} …"
        texts = len(candidates(view.spaces[0]))
        by_rank = zip(*(view.found(neighbor_list) for neighbor_list in view.lists), strict=True)
        output.print_table(
            f"Nearest to {what} '{shown}' of {texts:,} texts in {title_of(view.dataset.id)}, {view.metric.value}",
            ["rank", *(neighbor_list.variant.label for neighbor_list in view.lists)],
            [
                [str(rank), *(f"{number(neighbor.similarity, SCORE)} {neighbor.text}" for neighbor in row)]
                for rank, row in enumerate(by_rank, 1)
            ],
        )
    output.print_text(*view.notes)
    rows = [
        {"models": f"{o.a.label} / {o.b.label}", "shared": f"{o.shared} of {o.k}"}
        | {"Jaccard": number(o.jaccard, SCORE), "RBO": number(o.rbo, SCORE)}
        for o in view.overlaps
    ]
    output.print_rows(f"Overlap (RBO: rank-biased overlap, p = {P:g}, extrapolated)", rows)
