"""Command ``compare``: two models over every diagnostic and dataset that both were run on."""

from __future__ import annotations

from typing import Annotated

import typer

from blindspot.cli import output
from blindspot.cli.options import AsJson, OfDiagnostics, OnDatasets, scope_named, settings_and_store
from blindspot.datasets.catalog import title_of
from blindspot.encoders.catalog import variant_named
from blindspot.numerics.similarity import Similarity
from blindspot.studies.compare.rows import check_two, method_in_words, reasons
from blindspot.studies.compare.view import compare_view
from blindspot.variants import Variant


def compare_variants(
    a: Annotated[str, typer.Argument(metavar="A", help="encoder, or ENCODER~TRANSFORM such as minilm~center")],
    b: Annotated[str, typer.Argument(metavar="B", help="encoder, or ENCODER~TRANSFORM")],
    dataset: OnDatasets = None,
    diagnostic: OfDiagnostics = None,
    metric: Annotated[Similarity, typer.Option(help="similarity, for diagnostics with a choice")] = Similarity.COS,
    as_json: AsJson = False,
) -> None:
    """Compare two models over every diagnostic and dataset that both were run on, with paired tests.

    To compare two runs in full, see: blindspot runs compare
    """
    settings, repository = settings_and_store()
    variants = repository.variants()
    a_variant, other = (_variant(name, variants) for name in (a, b))
    picked = {"metric": metric.value}
    scope = scope_named(dataset, diagnostic, repository)
    check_two(a_variant, other, repository)
    scope.check(repository)
    view = compare_view(a_variant, other, repository, picked, scope)
    output.warn_of_changes([a_variant.encoder, other.encoder], settings, repository)
    if as_json:
        output.print_json(view.as_json(picked))
        return
    output.use_names(settings, repository)
    output.print_text(view.headline)
    comparison, sides = view.told.comparison, ("B", "A") if view.comparison.is_about_b else ("A", "B")
    if comparison.rows:
        output.print_rows(f"A is {a_variant.label}, B is {other.label}", [row.cells(*sides) for row in comparison.rows])
        output.print_text(method_in_words(comparison))
        output.print_text(*reasons(comparison.rows))
        output.print_limits(row.dataset for row in comparison.rows)
    for missing in comparison.missing:
        names = ", ".join(variant.label for variant in missing.lacking)
        lacking = f"; run this for {names}" if names else ""
        output.print_text(f"{missing.entry.title} on {title_of(missing.dataset)}: {missing.why}{lacking}.")
    output.print_rows("Cost", [{"": row.title, sides[0]: row.a, sides[1]: row.b} for row in view.told.cost_rows])


def _variant(name: str, variants: list[Variant]) -> Variant:
    """A model as the store knows it, given as a reference, an alias or a path."""
    variant = Variant.parse(name)
    if variant in variants:
        return variant
    return variant_named(variant.encoder, variant.transform)
