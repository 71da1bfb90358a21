"""Command ``hubs``: hubness of the neighbor lists of some models."""

from __future__ import annotations

import math
from typing import Annotated, Any

import numpy as np
import typer

from blindspot.cli import output
from blindspot.cli.options import TRANSFORM_HELP, AsJson
from blindspot.cli.variants import opened, variants_of
from blindspot.datasets.catalog import OWN_FILE, find_dataset, title_of
from blindspot.diagnostics.frequency import hubness
from blindspot.diagnostics.frequency.hubness import LONGEST, Lists
from blindspot.errors import InputError
from blindspot.numerics.neighbors.hubness import HUB, Hubness, by_chance
from blindspot.numerics.similarity import Similarity
from blindspot.runs.at_work import at_work
from blindspot.runs.log import JobLine
from blindspot.runs.spaces import Space
from blindspot.settings import Settings
from blindspot.store.repository import Repository
from blindspot.variants import Variant

SHOWN = 10  # of the hubs


def hubs(
    dataset: Annotated[str, typer.Option(help=f"dataset id or {OWN_FILE}")],
    encoder: Annotated[list[str], typer.Option(help="encoder reference; repeat for several")],
    transform: Annotated[list[str] | None, typer.Option(help=TRANSFORM_HELP)] = None,
    k: Annotated[int, typer.Option("-k", help=f"neighbors per list, 1 to {LONGEST}")] = 10,
    metric: Annotated[Similarity, typer.Option(help="similarity")] = Similarity.COS,
    as_json: AsJson = False,
) -> None:
    """Skewness of the k-occurrence, share of texts that are nobody's neighbor, and the top hubs."""
    if not 1 <= k <= LONGEST:
        raise InputError(f"k is {k}", expected=f"1 to {LONGEST}")
    settings = Settings.from_environment()
    entry = find_dataset(dataset)
    _, spaces = opened(variants_of(encoder, transform), entry, settings)
    k = min(k, max(len(spaces[0].items) - 1, 1))
    found = []
    for space in spaces:
        line = JobLine("hubs", variant=space.variant.label, dataset=entry.id)
        with at_work(settings, line), output.progress(f"{space.variant.label} on {entry.id}") as progress:
            own, random = hubness.make(space, metric, settings, progress)
        found.append(_described(space, own, random, min(k, own.longest)))
    if as_json:
        output.print_json({"dataset": entry.id, "metric": metric.value, "variants": found})
        return
    output.use_names(settings, Repository.at(settings.store), [space.variant.encoder for space in spaces])
    _print(title_of(entry.id), metric, found)


def _described(space: Space, own: Lists, random: Lists, k: int) -> dict[str, Any]:
    """A variant's facts for JSON: shares are fractions, undefined values are null."""
    counts = own.occurrences(k)
    compared = hubness.compare(own, random, k)
    chance = by_chance(len(counts), k)
    top = np.argsort(-counts, kind="stable")[:SHOWN]
    numbers = space.items[own.places[top]]
    return {
        "encoder": space.variant.encoder,
        "transform": space.variant.transform,
        "k": k,
        "items": len(counts),
        "zero_vectors": own.total - len(counts),
        **_scores(compared.own),
        "tied_lists": compared.tied,
        "random_vectors": _scores(compared.random),
        "random_lists": {"skewness": _or_none(chance.skewness), "never_listed": chance.never},
        "top": [
            {
                "item_no": int(number),
                "text": space.dataset.items[number],
                "occurrences": int(counts[place]),
                "times_average": float(counts[place] / counts.mean()),
            }
            for number, place in zip(numbers, top, strict=True)
        ],
    }


def _scores(of: Hubness) -> dict[str, float | int | None]:
    return {
        "skewness": _or_none(of.skewness),
        "never_listed": of.never,
        "hubs": of.hubs,
        "in_hubs": of.in_hubs,
        "most": of.most,
    }


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value


def _print(dataset: str, metric: Similarity, found: list[dict[str, Any]]) -> None:
    rows = []
    for one in found:
        random = one["random_vectors"]
        rows.append(
            [
                Variant(one["encoder"], one["transform"]).label,
                str(one["k"]),
                _number(one["skewness"]),
                _number(random["skewness"]),
                f"{one['never_listed']:.2%}",
                f"{random['never_listed']:.2%}",
                f"{one['hubs']:,}",
                f"{one['most']:,}",
            ]
        )
    headings = ["model", "k", "skewness", "random vectors", "never listed", "random vectors", "hubs", "longest"]
    output.print_table(f"Hubness on {dataset}, similarity {metric}", headings, rows)
    for one in found:
        output.print_table(
            f"Largest hubs of {Variant(one['encoder'], one['transform']).label}",
            ["no.", "in lists", "times average", "text"],
            [[str(t["item_no"]), f"{t['occurrences']:,}", f"{t['times_average']:.1f}", t["text"]] for t in one["top"]],
        )
    output.print_text(
        f"A hub is among the k nearest neighbors of {HUB:g} times as many texts as the average text. Random vectors: "
        "the same number and dimension, from a normal distribution."
    )


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
