"""Command ``hubs``: hubness of the neighbor lists of some models."""

from __future__ import annotations

from typing import Annotated

import typer

from blindspot.cli import output
from blindspot.cli.options import (
    AsJson,
    Encoders,
    Metric,
    OneDataset,
    Transforms,
    dataset_named,
    opened,
    settings_and_store,
    variants_of,
)
from blindspot.datasets.catalog import title_of
from blindspot.diagnostics.frequency import hubness
from blindspot.diagnostics.frequency.hubness import LONGEST
from blindspot.diagnostics.frequency.view import Hubs, hubs_view
from blindspot.errors import InputError
from blindspot.numerics.neighbors.hubness import HUB
from blindspot.numerics.similarity import Similarity
from blindspot.numerics.statistics.written import percent
from blindspot.runs.at_work import at_work
from blindspot.runs.log import JobLine

HEADINGS = ["model", "k", "skewness", "random vectors", "never listed", "random vectors", "hubs", "longest"]


def hubs(
    dataset: OneDataset,
    encoder: Encoders,
    transform: Transforms = None,
    k: Annotated[int, typer.Option("-k", help=f"neighbors per list, 1 to {LONGEST}")] = 10,
    metric: Metric = Similarity.COS,
    as_json: AsJson = False,
) -> None:
    """Skewness of the k-occurrence, share of texts that are nobody's neighbor, and the top hubs."""
    if not 1 <= k <= LONGEST:
        raise InputError(f"k is {k}", expected=f"1 to {LONGEST}")
    settings, repository = settings_and_store()
    entry = dataset_named(dataset).entry()
    _, spaces = opened(variants_of(encoder, transform), entry, settings)
    lists = []
    for space in spaces:
        line = JobLine("hubs", variant=space.variant.label, dataset=entry.id)
        with at_work(settings, line), output.progress(f"{space.variant.label} on {entry.id}") as progress:
            lists.append((space, *hubness.make(space, metric, settings, progress)))
    models = hubs_view(lists, k)
    if as_json:
        variants = [model.as_json() for model in models]
        output.print_json({"dataset": entry.id, "metric": metric.value, "variants": variants})
        return
    output.use_names(settings, repository, [model.variant.encoder for model in models])
    output.print_table(f"Hubness on {title_of(entry.id)}, similarity {metric}", HEADINGS, list(map(_row, models)))
    for model in models:
        rows = [
            {
                "no.": h.item_no,
                "in lists": f"{h.occurrences:,}",
                "times average": f"{h.times_average:.1f}",
                "text": h.text,
            }
            for h in model.largest()
        ]
        output.print_rows(f"Largest hubs of {model.variant.label}", rows)
    output.print_text(
        f"A hub is among the k nearest neighbors of {HUB:g} times as many texts as the average text. Random vectors: "
        "the same number and dimension, from a normal distribution."
    )


def _row(model: Hubs) -> list[str]:
    skewness = [output.cell(of.skewness, ".3f") for of in (model.hubness, model.random)]
    never = [percent(of.never, 1) for of in (model.hubness, model.random)]
    counts = [f"{model.hubness.hubs:,}", f"{model.hubness.most:,}"]
    return [model.variant.label, str(model.k), skewness[0], skewness[1], never[0], never[1], *counts]
