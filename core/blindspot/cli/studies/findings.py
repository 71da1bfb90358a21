"""Command ``findings``: is the newest own model better; blind spots, cautions and strengths, worst first."""

from __future__ import annotations

from typing import Annotated

import typer

from blindspot.cli import output
from blindspot.cli.options import (
    AsJson,
    OfDiagnostics,
    OnDatasets,
    Variants,
    named_variants,
    scope_named,
    settings_and_store,
)
from blindspot.datasets.catalog import title_of
from blindspot.errors import InputError
from blindspot.numerics.statistics.intervals import ALPHA
from blindspot.numerics.statistics.written import p_in_words
from blindspot.runs.default_models import check_were_run, first_run
from blindspot.runs.scope import EVERYTHING
from blindspot.store.records import RunState
from blindspot.studies.findings import collection, own
from blindspot.studies.findings.collection import Selection
from blindspot.texts import counted

SHOWN = 7


def findings(
    runs: Annotated[list[str] | None, typer.Argument(help="run ids, or their beginnings; default: all runs")] = None,
    variant: Variants = None,
    dataset: OnDatasets = None,
    diagnostic: OfDiagnostics = None,
    show_all: Annotated[bool, typer.Option("--all", help=f"show all, not only the worst {SHOWN}")] = False,
    postprocessed: Annotated[
        bool, typer.Option("--with-post-processing", help="also of post-processed models, which are left out otherwise")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Say whether your newest model is better; list blind spots, cautions and strengths of the stored runs, with the
    false discovery rate controlled at 5%.

    Uses the newest finished run with default parameters of each diagnostic, model and dataset, as the page Findings, or
    the runs you name.
    """
    settings, repository = settings_and_store()
    variants = named_variants(variant)
    scope = scope_named(dataset, diagnostic, repository)
    for option, is_given in (("--variant", variants), ("--dataset", dataset), ("--diagnostic", diagnostic)):
        if runs and is_given:
            raise InputError(f"both runs and {option} are given", expected="one of them")
    if variants:
        check_were_run(variants, repository)
    scope.check(repository)
    named = [repository.run(run_id) for run_id in dict.fromkeys(runs or [])]
    for run in named:
        if run.state is not RunState.DONE:
            raise InputError(f"run {run.run_id} is {run.state}", expected="a finished run")
    selection = Selection(
        variants,
        datasets=scope.datasets,
        runs=tuple(run.run_id for run in named),
        postprocessed=postprocessed,
        diagnostics=scope.diagnostics,
    )
    collected = collection.collect(repository, settings, selection)
    comparisons = [] if runs else own.of_store(selection.named(repository).variants, repository, scope)
    if scope != EVERYTHING and not collected.runs:
        raise scope.nothing
    output.warn(collected.failures)
    output.warn_of_changes((variant.encoder for variant in collected.variants), settings, repository)
    if as_json:
        output.print_json(
            {
                "runs": list(collected.runs),
                "comparisons": [comparison.as_json() for comparison in comparisons],
                "hypotheses": collected.hypotheses,
                "false_discovery_rate": ALPHA,
                "findings": [discovery.as_json() for discovery in collected.discoveries],
            }
        )
        return
    if not collected.runs:
        output.print_text(f"No runs yet. Try: {first_run(datasets=repository.datasets())}")
        return
    output.use_names(settings, repository)
    for compared in comparisons:
        output.print_text(*(f"comparison: {line}" for line in compared.said()))
    shown = collected.discoveries if show_all else collected.discoveries[:SHOWN]
    for discovery in shown:
        finding = discovery.finding
        output.print_text(f"{finding.level}: {finding.said()}")
        corrected = [] if discovery.adjusted is None else [f"corrected {p_in_words(discovery.adjusted, finding.p)}"]
        basis = [title_of(finding.dataset), finding.test, f"n = {finding.n:,}", *corrected]
        output.print_text(f"    {', '.join(basis)}")
    if hidden := len(collected.discoveries) - len(shown):
        output.print_text(f"{hidden} more with --all")
    output.print_limits(discovery.finding.dataset for discovery in shown)
    tested = counted(collected.hypotheses, "hypothesis", "hypotheses")
    output.print_text(
        f"{tested} tested over {counted(len(collected.runs), 'run', 'runs')}; shown are those significant at a false "
        "discovery rate of 5% (Benjamini and Hochberg), and facts that were counted, not tested."
    )
