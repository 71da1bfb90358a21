"""Command ``map``: a dataset's texts in two dimensions, as a file, and how reliable the map is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from blindspot.cli import output
from blindspot.cli.options import (
    AsJson,
    Encoder,
    OneDataset,
    check_file,
    dataset_named,
    settings_and_store,
    variants_of,
)
from blindspot.datasets import fetch
from blindspot.errors import InputError
from blindspot.files.export import write_csv
from blindspot.files.writing import write_atomically
from blindspot.numerics.similarity import Similarity
from blindspot.numerics.statistics.written import SCORE, number, percent
from blindspot.runs import pipeline
from blindspot.runs.at_work import at_work
from blindspot.runs.log import JobLine
from blindspot.runs.requests import EncodeRequest
from blindspot.space.maps import maps
from blindspot.space.maps.maps import MIN_DIST, N_NEIGHBORS, SEED, MapRequest, Method

NO_SEED = "none"


def make_map(
    dataset: OneDataset,
    encoder: Encoder,
    out: Annotated[Path, typer.Option(help="file to write, .csv or .parquet")],
    transform: Annotated[str, typer.Option(help="transform chain, for example center")] = "none",
    method: Annotated[Method, typer.Option(help="umap or pca")] = Method.UMAP,
    metric: Annotated[Similarity, typer.Option(help="similarity: cos or l2")] = Similarity.COS,
    seed: Annotated[
        str, typer.Option(help=f"UMAP's seed, on one thread; {NO_SEED}: all threads, a different map every time")
    ] = str(SEED),
    neighbors: Annotated[int, typer.Option(help="UMAP: number of neighbors to preserve")] = N_NEIGHBORS,
    min_dist: Annotated[float, typer.Option(help="UMAP: smallest distance of dots, 0 to 1")] = MIN_DIST,
    as_json: AsJson = False,
) -> None:
    """Map a dataset's texts to two dimensions; write item, text, x and y, and print how reliable the map is."""
    from pyarrow import parquet

    check_file(out)
    if seed != NO_SEED and not seed.isdecimal():
        raise InputError(f"seed is '{seed}'", expected=f"a number from 0, or {NO_SEED}")
    maps.checked(neighbors, min_dist)
    maps.check_library(method)
    settings, repository = settings_and_store()
    (variant,) = variants_of([encoder], [transform])
    encoding = EncodeRequest(variant.encoder, dataset_named(dataset))
    entry = encoding.dataset.entry()
    output.announce([encoding], settings)
    line = JobLine("map", variant=variant.label, dataset=entry.id)
    with at_work(settings, line), output.progress(f"{method} of {entry.id}") as progress:
        loaded = fetch.load(entry, settings, progress)
        covered = pipeline.encode(encoding, settings, repository, progress).covered
        request = MapRequest(
            variant,
            encoding.dataset,
            metric,
            method,
            () if covered.all() else (variant.encoder,),
            n_neighbors=neighbors,
            min_dist=min_dist,
            seed=None if seed == NO_SEED else int(seed),
        )
        made = maps.make(request, settings, progress)
        space = maps.space_of(request, loaded, settings)
    table, write = made.table(space), write_csv if out.suffix == ".csv" else parquet.write_table
    write_atomically(out, lambda f: write(table, f))
    if as_json:
        output.print_json(maps.described(request, made, space) | {"file": str(out)})
        return
    output.print_text(f"{len(made.rows):,} of {len(loaded.items):,} texts written to {out}")
    if made.explained:
        output.print_text(f"explained variance: {percent(made.explained[0], 1)} + {percent(made.explained[1], 1)}")
    if made.quality:
        q = made.quality
        output.print_text(
            f"trustworthiness {number(q.trustworthiness, SCORE)}, true neighbors kept {percent(q.kept, 1)} "
            f"(by chance {percent(q.by_chance, 1)}), k {q.k}, measured on {q.queries:,} of {q.items:,} texts"
        )
