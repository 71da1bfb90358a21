"""``python -m core runs orderings``: which rewrite a HEROS run finds nearer to its original, and how often."""

from __future__ import annotations

import math
from typing import Any

from core.cli import output
from core.cli.options import AsJson
from core.cli.runs.finished import RunId, finished_run
from core.diagnostics.heros import orderings as numbers
from core.diagnostics.heros.orderings import Cosines, Finding, Rate
from core.settings import Settings
from core.store.repository import Repository
from core.texts import percent


def orderings(run_id: RunId, as_json: AsJson = False) -> None:
    """Share of originals of a HEROS run with each order, with 95% intervals, and all subsets against each other."""
    repository = Repository.at(Settings.from_environment().store)
    entry, record = finished_run(run_id, repository, "heros")
    cosines = Cosines.of_rows(repository.items(entry, [record.run_id], texts=False))
    laid = numbers.laid_beside(cosines.subsets)
    rates = numbers.rates(cosines, laid.orderings)
    matrix = [[None if math.isnan(share) else float(share) for share in row] for row in numbers.win_rates(cosines)]
    worst = numbers.worst(cosines)
    variant = record.plan.variant
    if as_json:
        named = {"run_id": record.run_id, "encoder": variant.encoder, "transform": variant.transform}
        output.print_json(
            named
            | {"dataset": record.plan.dataset, "originals": cosines.originals}
            | {"orderings": [_fields(r) for r in rates]}
            | {"matrix": {"subsets": list(cosines.subsets), "row_nearer_than_column": matrix}}
            | {"headline": None if worst is None else _headline(worst, variant.label)}
        )
        return
    title = f"{variant.label} on {record.plan.dataset}"
    if rates:
        output.print_table(
            f"{title}: share of {cosines.originals:,} originals with this order, ties counting half",
            ["ordering", "share", "95% interval"],
            [[str(r.ordering), f"{r.value:.4f}", f"{r.interval.low:.4f} to {r.interval.high:.4f}"] for r in rates],
        )
    output.print_table(
        f"{title}: share with the row's rewrite nearer than the column's, in percent",
        ["", *cosines.subsets],
        [
            [subset, *("–" if share is None else percent(share, 1).removesuffix("%") for share in row)]
            for subset, row in zip(cosines.subsets, matrix, strict=True)
        ],
    )
    if len(rates) < laid.pairs:
        output.print_text(f"{len(rates)} of {laid.pairs} pairs of subsets are listed; the table of all has the others.")
    if worst:
        output.print_text(numbers.finding_in_words(worst, variant.label))


def _fields(rate: Rate) -> dict[str, Any]:
    pair = {"ordering": str(rate.ordering), "near": rate.ordering.near, "far": rate.ordering.far}
    return pair | {"rate": rate.value, "low": rate.interval.low, "high": rate.interval.high}


def _headline(worst: Finding, variant: str) -> dict[str, Any]:
    said = {"reading": worst.reading.value, "text": numbers.finding_in_words(worst, variant)}
    return _fields(worst.rate) | {"out_of": worst.out_of} | said
