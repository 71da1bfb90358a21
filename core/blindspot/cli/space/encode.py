"""Command ``encode``: a model's embeddings of a dataset, whole or in parts that several machines encode."""

from __future__ import annotations

from typing import Annotated

import typer

from blindspot.cli import output
from blindspot.cli.options import AsJson, Encoder, dataset_named
from blindspot.datasets.catalog import OWN_FILE, OWN_FOLDER
from blindspot.encoders.cache import EmbeddingCache
from blindspot.encoders.in_a_row import EncodersInARow
from blindspot.errors import BlindspotError, InputError
from blindspot.runs import pipeline, planning
from blindspot.runs.packs import arrays
from blindspot.runs.packs.folders import folder_at
from blindspot.runs.packs.groups import Shard
from blindspot.runs.requests import EncodeRequest
from blindspot.settings import Settings
from blindspot.store.repository import Repository
from blindspot.texts import counted
from blindspot.types import CancelToken


def encode(
    encoder: Encoder,
    dataset: Annotated[str, typer.Option(help=f"dataset id, {OWN_FILE} or {OWN_FOLDER}")],
    shard: Annotated[
        str, typer.Option(metavar="i/n", help="encode only every n-th part of the texts, from the i-th on, into --out")
    ] = "",
    out: Annotated[str, typer.Option(metavar="FOLDER", help="folder of the parts, or s3://BUCKET/FOLDER")] = "",
    put_together: Annotated[
        str,
        typer.Option("--from", metavar="FOLDER", help="put this folder's parts into the cache; encode nothing"),
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Encode a dataset's texts into the cache; or, of a large one, parts of them on each of several machines."""
    if bool(shard) != bool(out) or (put_together and out):
        raise InputError(
            "these options do not fit together", expected="none of them, --shard i/n --out FOLDER, or --from FOLDER"
        )
    settings = Settings.from_environment()
    request, part = EncodeRequest(encoder, dataset_named(dataset)), Shard.parse(shard)
    output.announce([request], settings)
    try:
        with output.progress(request.label) as progress:
            if not (out or put_together):
                embedded = pipeline.encode(request, settings, Repository.at(settings.store), progress)
                counts = {"texts": embedded.facts.texts, "encoded": embedded.encoded_now}
            else:
                model, loaded = planning.to_encode(request, EncodersInARow(settings), progress, CancelToken())
                parts = arrays.Parts(folder_at(out or put_together), model, loaded.encoded, loaded.encoded_digest)
                if out:
                    new = arrays.encode(parts, part.number, part.of, progress)
                    counts = {"parts": len(parts.starts[part.number - 1 :: part.of]), "encoded": new}
                else:
                    embedded = arrays.put_together(parts, EmbeddingCache(settings.embeddings), progress)
                    Repository.at(settings.store).remember_embedding(embedded.facts, model.info)
                    counts = {"texts": embedded.facts.texts, "parts": len(parts.starts)}
    except KeyboardInterrupt:
        raise BlindspotError("interrupted", remedy="run the same command to continue") from None
    if as_json:
        output.print_json({"encoder": encoder, "dataset": request.dataset, **counts})
    elif out:
        output.print_text(f"shard {part}: {counted(counts['parts'], 'part')}, {counts['encoded']} encoded now")
    else:
        output.print_text(f"{counts['texts']:,} texts are in the cache")
