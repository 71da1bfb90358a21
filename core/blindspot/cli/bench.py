"""Command ``bench``: speed of Blindspot on this machine."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from blindspot.cli import output
from blindspot.cli.options import AsJson
from blindspot.errors import InputError


def bench(
    names: Annotated[list[str] | None, typer.Argument(help="benchmarks; if left out, all but the slowest")] = None,
    as_json: AsJson = False,
) -> None:
    """Measure speed on this machine: ratios within one run, medians of interleaved pairs, response times of the app."""
    try:
        from benchmarks.catalog import BENCHMARKS, benchmark_of, reach_in_words, run, verdict
    except ModuleNotFoundError as error:
        if error.name not in {"benchmarks", "benchmarks.catalog"}:
            raise
        raise InputError(
            "the benchmarks are not in the installed package",
            expected="a checkout of Blindspot's repository",
            remedy="run `make bench` there",
        ) from error

    with output.progress("benchmark") as progress:
        report = run(names or [name for name, benchmark in BENCHMARKS.items() if benchmark.is_usual], progress)
    for name, reason in report.not_measured.items():
        print(f"{name} not measured: {reason}", file=sys.stderr)
    if as_json:
        output.print_json(report.as_json())
        return
    rows = [
        {"benchmark": r.name, "value": f"{r.value:.3g}", "unit": r.unit, "target": reach_in_words(r)}
        | {"reached": verdict(r), "samples": " ".join(f"{s:.3g}" for s in r.samples)}
        for r in report.results
    ]
    output.print_rows(", ".join(f"{k} {v}" for k, v in report.machine.items()), rows)
    for name in dict.fromkeys(benchmark_of(r.name).name for r in report.results):
        print(f"{name} ({report.seconds[name]:.0f} s): {BENCHMARKS[name].description}")
    print(f"total: {sum(report.seconds.values()):.0f} s")
