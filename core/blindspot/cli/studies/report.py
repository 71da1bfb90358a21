"""Command ``report``: findings, scores and manifest of some models in one file, and comparison of two such files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from blindspot.cli import output
from blindspot.cli.options import (
    AsJson,
    Metric,
    OfDiagnostics,
    OnDatasets,
    Variants,
    check_file,
    named_variants,
    scope_named,
    settings_and_store,
)
from blindspot.errors import InputError
from blindspot.files.writing import write_atomically
from blindspot.numerics.similarity import Similarity
from blindspot.studies.findings.collection import Selection
from blindspot.studies.report import manifest
from blindspot.studies.report.content import gather
from blindspot.studies.report.making import FORMATS


def report(
    variant: Variants = None,
    dataset: OnDatasets = None,
    diagnostic: OfDiagnostics = None,
    postprocessed: Annotated[
        bool, typer.Option("--with-post-processing", help="where no model is named, also of post-processed ones")
    ] = False,
    metric: Metric = Similarity.COS,
    out: Annotated[
        Path | None, typer.Option(help="file to write: .html for the report, .md or .tex for its tables")
    ] = None,
    compare: Annotated[tuple[Path, Path] | None, typer.Option(help="two reports whose runs to compare")] = None,
    as_json: AsJson = False,
) -> None:
    """Write a report as one self-contained file, or compare the manifests of two reports."""
    if compare is not None:
        _compare(*compare, as_json=as_json)
        return
    if out is None:
        raise InputError("--out is missing", expected="--out report.html, or .md or .tex for the tables")
    check_file(out, tuple(FORMATS), "cannot write a report as")
    if out.is_dir():
        raise InputError(f"{out} is a folder", expected="a file to write")
    settings, repository = settings_and_store()
    variants = named_variants(variant)
    scope = scope_named(dataset, diagnostic, repository)
    selection = Selection(
        variants, metric.value, scope.datasets, postprocessed=postprocessed, diagnostics=scope.diagnostics
    )
    output.use_names(settings, repository)
    contents = gather(repository, settings, selection)
    content = FORMATS[out.suffix](contents).encode("utf-8", "replace")
    write_atomically(out, lambda file: file.write(content))
    output.warn([*contents.findings.failures, *contents.changed])
    if as_json:
        output.print_json(contents.manifest)
    else:
        output.print_text(f"wrote {out}: {len(content) / 1e6:.1f} MB on {len(contents.every_run)} runs")


def _compare(first: Path, second: Path, *, as_json: bool) -> None:
    difference = manifest.compare(manifest.read(first), manifest.read(second))
    if as_json:
        output.print_json(
            {
                "runs_of_both": difference.both,
                "only_in_first": difference.only_first,
                "only_in_second": difference.only_second,
                "differences": [vars(unlike_fact) for unlike_fact in difference.unlike],
            }
        )
        return
    for only, path in ((difference.only_first, first), (difference.only_second, second)):
        output.print_text(*(f"only in {path.name}: {name}" for name in only))
    if difference.unlike:
        rows = [(unlike.run, unlike.fact, unlike.first, unlike.second) for unlike in difference.unlike]
        output.print_table("What differs", ["run", "fact", first.name, second.name], rows)
    runs = f"{difference.both} {'run is' if difference.both == 1 else 'runs are'} in both"
    output.print_text(f"{runs}; {len({unlike_fact.run for unlike_fact in difference.unlike})} of them differ.")
