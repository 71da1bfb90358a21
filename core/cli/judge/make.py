"""``python -m core judge make``: items for people to judge."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from core.cli import output
from core.cli.options import TRANSFORM_HELP, AsJson
from core.datasets import catalog as datasets
from core.errors import InputError
from core.files.writing import read_limited
from core.numerics.similarity import Metric
from core.runs.at_work import at_work
from core.runs.log import JobLine
from core.settings import Settings
from core.store.repository import Repository
from core.studies.judgement import making, own_queries
from core.studies.judgement.inventories import SENTENCES, Inventory, Ready
from core.studies.judgement.making import SEED, ItemsRequest
from core.studies.judgement.rules import RANKS, Closeness, Rule
from core.studies.judgement.types import ItemSet, Task
from core.types import Variant


def make(
    task: Annotated[Task, typer.Option(help="what raters are asked")],
    encoder: Annotated[list[str], typer.Option(help="encoder reference; several times for several")],
    transform: Annotated[list[str] | None, typer.Option(help=TRANSFORM_HELP)] = None,
    dataset: Annotated[str, typer.Option(help=f"dataset id or {datasets.OWN_FILE}")] = "vocab-wordfreq",
    queries: Annotated[
        str,
        typer.Option(
            help=f"{Ready.DEFAULT} (100 words of our own), {Ready.SIMLEX}, {Ready.SENTENCES}[:N] (a sample of the "
            "dataset), or a file: .txt with a query a line, .csv or .tsv with a column word, query or text"
        ),
    ] = Ready.DEFAULT,
    sample: Annotated[int | None, typer.Option(help="only a seeded sample of so many queries")] = None,
    rule: Annotated[
        Closeness,
        typer.Option(help="intruder: frequency within 0.1 of log10 of the mean (log10), or within 500 counts (count)"),
    ] = Closeness.LOG10,
    k: Annotated[list[int] | None, typer.Option("-k", help="comparative: rank; several times")] = None,
    metric: Annotated[Metric, typer.Option(help="similarity")] = Metric.COS,
    seed: Annotated[int, typer.Option(help="of the samples")] = SEED,
    title: Annotated[str, typer.Option(help="of the set")] = "",
    as_json: AsJson = False,
) -> None:
    """Make a set of items and store it; the same one again is found."""
    settings = Settings.from_environment()
    inventory, of_sentences = _queries(queries)
    if of_sentences is not None and sample is not None:
        raise InputError("--sample stands beside sentences:N", expected="one of the two")
    variants = tuple(Variant(e, t) for e in encoder for t in transform or ["none"])
    request = making.check(
        ItemsRequest(
            task,
            variants,
            dataset,
            metric,
            inventory,
            sample if of_sentences is None else of_sentences,
            Rule.of(rule),
            tuple(k or RANKS),
            seed,
            title,
        ),
        settings,
    )
    line = JobLine("items", variant=", ".join(variant.label for variant in variants), dataset=dataset)
    with at_work(settings, line), output.progress(request.label) as progress:
        items = making.make(request, settings, Repository.at(settings.store), progress)
    if as_json:
        output.print_json(_described(items))
        return
    output.print_text(f"{items.set_id}  {items.title}")
    output.print_text(making.told(items))


def _queries(named: str) -> tuple[Ready | Inventory, int | None]:
    """The inventory that is meant, and how many sentences of the dataset."""
    name, colon, number = named.partition(":")
    if name == Ready.SENTENCES:
        if colon and not number.isdecimal():
            raise InputError(f"--queries is '{named}'", expected=f"{Ready.SENTENCES}:N, for example sentences:100")
        return Ready.SENTENCES, int(number) if colon else SENTENCES
    if named in (Ready.DEFAULT, Ready.SIMLEX):
        return Ready(named), None
    path = Path(named).expanduser()
    if not os.path.lexists(path):
        raise InputError(
            f"--queries is '{named}', and there is no such file",
            expected=f"{', '.join(Ready)}, {Ready.SENTENCES}:N or a file",
        )
    data = read_limited(path, own_queries.MAX_BYTES)
    return own_queries.inventory(own_queries.of_file(path.name, data), path.name), None


def _described(items: ItemSet) -> dict[str, object]:
    manifest = items.manifest
    return {
        "set_id": items.set_id,
        "task": items.task.value,
        "title": items.title,
        "variants": [str(v) for v in items.variants],
        "items": len(items.items),
        "queries": manifest["queries"],
        "skipped": manifest["skipped"],
        "unknown": manifest["unknown"],
        "unknown_total": manifest["unknown_total"],
        "manifest": dict(manifest),
    }
