"""Command ``report``: findings, scores and manifest of some models in one file, and comparison of two such files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from blindspot.cli import output
from blindspot.cli.options import (
    AsJson,
    Metric,
    Variants,
    check_file,
    datasets_named,
    named_variants,
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
    dataset: Annotated[list[str] | None, typer.Option(help="dataset; repeat for several; default: all")] = None,
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
    datasets = datasets_named(dataset)
    selection = Selection(variants, metric.value, datasets, postprocessed=postprocessed)
    found = gather(repository, settings, selection)
    content = FORMATS[out.suffix](found).encode("utf-8", "replace")
    write_atomically(out, lambda file: file.write(content))
    output.warn(found.findings.failures)
    if as_json:
        output.print_json(found.manifest)
    else:
        output.print_text(f"wrote {out}: {len(content) / 1e6:.1f} MB on {len(found.every_run)} runs")


def _compare(first: Path, second: Path, *, as_json: bool) -> None:
    found = manifest.compare(manifest.read(first), manifest.read(second))
    if as_json:
        output.print_json(
            {
                "runs_of_both": found.both,
                "only_in_first": found.only_first,
                "only_in_second": found.only_second,
                "differences": [vars(one) for one in found.unlike],
            }
        )
        return
    for only, path in ((found.only_first, first), (found.only_second, second)):
        for name in only:
            output.print_text(f"only in {path.name}: {name}")
    if found.unlike:
        rows = [(one.run, one.fact, one.first, one.second) for one in found.unlike]
        output.print_table("What differs", ["run", "fact", first.name, second.name], rows)
    runs = f"{found.both} {'run is' if found.both == 1 else 'runs are'} in both"
    output.print_text(f"{runs}; {len({one.run for one in found.unlike})} of them differ.")
