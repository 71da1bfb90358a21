"""Command ``compare``: two models over every diagnostic and dataset that both were run on."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from blindspot.cli import output
from blindspot.cli.options import AsJson
from blindspot.datasets.catalog import title_of
from blindspot.encoders.catalog import variant_named
from blindspot.numerics.similarity import Similarity
from blindspot.numerics.statistics.compare import Verdict
from blindspot.runs.comparison import COLUMNS, cells, fields
from blindspot.settings import Settings
from blindspot.store.repository import Repository
from blindspot.studies.compare.costs import Cost, CostKind, cost_of, written
from blindspot.studies.compare.rows import Comparison, Missing, Row, compare, headline, method_in_words
from blindspot.variants import Variant


def compare_variants(
    a: Annotated[str, typer.Argument(metavar="A", help="encoder, or ENCODER~TRANSFORM such as minilm~center")],
    b: Annotated[str, typer.Argument(metavar="B", help="encoder, or ENCODER~TRANSFORM")],
    metric: Annotated[Similarity, typer.Option(help="similarity, for diagnostics with a choice")] = Similarity.COS,
    as_json: AsJson = False,
) -> None:
    """Compare two models over every diagnostic and dataset that both were run on, with paired tests.

    To compare two runs in full, see: blindspot runs compare
    """
    settings = Settings.from_environment()
    repository = Repository.at(settings.store)
    known = repository.variants()
    one, other = (_variant(name, known) for name in (a, b))
    found = compare(one, other, repository, {"metric": metric.value})
    costs = [cost_of(variant, repository) for variant in (one, other)]
    if as_json:
        output.print_json(_fields(found, costs, metric))
        return
    output.use_names(settings, repository)
    output.print_text(headline(found, one.label, other.label))
    if found.rows:
        output.print_table(
            f"A is {one.label}, B is {other.label}",
            ["diagnostic", "dataset", *COLUMNS],
            [[row.entry.title, title_of(row.dataset), *cells(row.difference)[:-1], row.in_words] for row in found.rows],
        )
        output.print_text(method_in_words(found))
        for row in found.rows:
            if row.difference.p_corrected is None:
                output.print_text(f"No test of {row.entry.title} on {title_of(row.dataset)}: {row.difference.refusal}.")
        output.print_limits(row.dataset for row in found.rows)
    for missing in found.missing:
        names = ", ".join(variant.label for variant in missing.lacking)
        lacking = f"; run this for {names}" if names else ""
        output.print_text(f"{missing.entry.title} on {title_of(missing.dataset)}: {missing.why}{lacking}.")
    output.print_table(
        "Cost",
        ["", "A", "B"],
        [
            ["dimension", *(written(CostKind.DIMENSION, cost) for cost in costs)],
            ["parameters", *(written(CostKind.PARAMETERS, cost) for cost in costs)],
            ["MB per million texts", *(written(CostKind.MEMORY, cost) for cost in costs)],
        ],
    )


def _variant(name: str, known: list[Variant]) -> Variant:
    """A model as the store knows it, given as a reference, an alias or a path."""
    variant = Variant.parse(name)
    if variant in known:
        return variant
    return variant_named(variant.encoder, variant.transform)


def _fields(found: Comparison, costs: list[Cost], metric: Similarity) -> dict[str, Any]:
    return {
        "a": _cost(found.a, costs[0]),
        "b": _cost(found.b, costs[1]),
        "metric": metric.value,
        "better": found.count(Verdict.BETTER),
        "worse": found.count(Verdict.WORSE),
        "no_significant_difference": found.count(Verdict.ALIKE),
        "not_tested": found.count(Verdict.UNTESTED),
        "said": headline(found, found.a.label, found.b.label),
        "rows": [_row_fields(row) for row in found.rows],
        "missing": [_missing_fields(missing) for missing in found.missing],
    }


def _cost(variant: Variant, cost: Cost) -> dict[str, Any]:
    return {
        "encoder": variant.encoder,
        "transform": variant.transform,
        "dimension": cost.dimension,
        "parameters": cost.parameters,
        "megabytes_per_million": cost.megabytes_per_million,
    }


def _row_fields(row: Row) -> dict[str, Any]:
    d = row.difference
    share = d.advantage_interval
    return {
        "diagnostic": row.entry.id,
        "dataset": row.dataset,
        "params": dict(row.a.plan.params),
        "runs": [row.a.run_id, row.b.run_id],
        **fields(d),
        "advantage": d.advantage,
        "advantage_low": share.low if share else None,
        "advantage_high": share.high if share else None,
        "decides": row.decides,
        "p_of_all": row.p_of_all,
        "holds_among_all": row.holds,
    }


def _missing_fields(missing: Missing) -> dict[str, Any]:
    return {
        "diagnostic": missing.diagnostic,
        "dataset": missing.dataset,
        "params": dict(missing.params),
        "why": missing.why.value,
        "lacking": [str(variant) for variant in missing.lacking],
    }
