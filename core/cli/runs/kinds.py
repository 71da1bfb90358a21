"""``python -m core runs kinds`` and ``runs frequency``: an EvalRank run's score by kind of pair."""

from __future__ import annotations

import math
from typing import Annotated

import typer

from core import diagnostic as diagnostics
from core.cli import output
from core.datasets import catalog as datasets
from core.datasets import fetch
from core.datasets import word_frequency as frequency
from core.datasets.kinds.scored_pairs import ScoredPairs
from core.diagnostic import DiagnosticEntry
from core.diagnostics.evalrank import pairs as explore
from core.diagnostics.evalrank.kinds import FEW_PAIRS, Kind, grouping, scores_by_kind
from core.diagnostics.evalrank.pairs import rows_of_runs
from core.diagnostics.evalrank.sources import PairSources, find_sources
from core.errors import InputError
from core.settings import Settings
from core.store.records import RunRecord, RunState
from core.store.repository import Repository

RunId = Annotated[str, typer.Argument(help="run id, or its beginning")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]


def kinds(
    run_id: RunId,
    by: Annotated[Kind, typer.Option(help="what pairs are sorted by")] = Kind.OVERLAP,
    as_json: AsJson = False,
) -> None:
    """MRR and Hits@1 of an EvalRank run by kind of pair, raw and filtered, with 95% intervals."""
    settings = Settings.from_environment()
    repository = Repository.at(settings.store)
    entry, record = finished_run(run_id, repository)
    frame = explore.pair_table(entry, [record.run_id], repository).frame
    queries, mates = frame["query"].tolist(), frame["mate"].tolist()
    sources = _sources(record, queries, mates, settings) if by is Kind.SOURCE else None
    groups = grouping(by, queries, mates, sources)
    rows = rows_of_runs(entry, [record.run_id], repository)[record.run_id]
    numbers = (frame["item_no"].to_numpy(), frame["query_no"].to_numpy(), frame["mate_no"].to_numpy())
    raw, filtered = (scores_by_kind(groups, rows, *numbers, filtered=f) for f in (False, True))
    names = [name for name in raw.columns if name not in ("side", "label", "pairs")]
    table = raw.merge(filtered.drop(columns=["pairs", "independent"]), on=["side", "label"], suffixes=("", "_filtered"))
    found = [
        {name: None if isinstance(value, float) and math.isnan(value) else value for name, value in row.items()}
        for row in table.to_dict("records")
    ]
    if as_json:
        output.print_json({"run_id": record.run_id, "by": by.value, "axis": groups.axis, "kinds": found})
        return
    shown = ["side", "label", "pairs", *names]
    output.print_table(
        f"{record.plan.variant.label} on {record.plan.dataset}, by {'; '.join(groups.axis.values())}",
        shown,
        [[_shown(row[name]) for name in shown] for row in found],
    )
    print(f"Raw ranks; --json has the filtered ones too. A mean over fewer than {FEW_PAIRS} pairs says little.")


def _sources(record: RunRecord, queries: list[str], mates: list[str], settings: Settings) -> PairSources:
    """The source sets of the pairs, fetched where they are not here.

    Raises:
        InputError: the dataset was not taken from sets that are known here.
    """
    dataset = datasets.DATASETS.get(record.plan.dataset)
    if dataset is None or not dataset.sources:
        known = ", ".join(d.id for d in datasets.DATASETS.values() if d.sources)
        raise InputError(f"it is not known where the pairs of '{record.plan.dataset}' come from", expected=known)
    with output.progress(dataset.sources) as progress:
        scored = fetch.load(datasets.find(dataset.sources), settings, progress)
    if not isinstance(scored, ScoredPairs):
        raise TypeError(f"{dataset.sources} is no set of scored pairs")
    return find_sources(queries, mates, scored)


def frequency_bands(run_id: RunId, as_json: AsJson = False) -> None:
    """MRR of an EvalRank run by how frequent query and mate are in English, raw and filtered."""
    repository = Repository.at(Settings.from_environment().store)
    entry, record = finished_run(run_id, repository)
    table = explore.pair_table(entry, [record.run_id], repository)
    rows = []
    for side in ("query", "mate"):
        zipf = frequency.zipf_of(table.frame[side].tolist())
        raw, filtered = (
            frequency.band_scores(zipf, table.reciprocal_ranks(record.run_id, filtered=f)) for f in (False, True)
        )
        for band, pairs, mrr, mrr_filtered in zip(raw["band"], raw["pairs"], raw["mrr"], filtered["mrr"], strict=True):
            known = {"mrr": float(mrr), "mrr_filtered": float(mrr_filtered)} if pairs else {}
            rows.append(
                {"side": side, "per_million": band, "pairs": int(pairs), "mrr": None, "mrr_filtered": None} | known
            )
    if as_json:
        output.print_json({"run_id": record.run_id, "bands": rows})
        return
    output.print_table(
        f"{record.plan.variant.label} on {record.plan.dataset}, by occurrences per million words (wordfreq)",
        ["side", "per million", "pairs", "mrr", "mrr_filtered"],
        [[_shown(value) for value in row.values()] for row in rows],
    )


def finished_run(
    run_id: str, repository: Repository, diagnostic: str = "evalrank"
) -> tuple[DiagnosticEntry, RunRecord]:
    """A finished run of a diagnostic, by its id or the beginning of it.

    Raises:
        InputError: there is none, or it is of something else, or of another version of the diagnostic.
    """
    record = repository.run(run_id)
    entry = diagnostics.find(diagnostic)
    if record.plan.diagnostic != entry.id or record.state is not RunState.DONE:
        raise InputError(
            f"run {record.run_id} is a {record.state} run of {record.plan.diagnostic}",
            expected=f"a finished run of {entry.id}",
        )
    if record.plan.diagnostic_version != entry.version:
        raise InputError(
            f"run {record.run_id} was computed by version {record.plan.diagnostic_version} of {entry.id}",
            expected=f"version {entry.version}",
            remedy="run it again",
        )
    return entry, record


def _shown(value: object) -> str:
    return "–" if value is None else f"{value:.4f}" if isinstance(value, float) else str(value)
