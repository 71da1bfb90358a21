"""``python -m core runs kinds``: an EvalRank run's score by kind of pair."""

from __future__ import annotations

import math
from typing import Annotated

import typer

from core.cli import output
from core.cli.options import AsJson
from core.cli.runs.finished import RunId, finished_run
from core.datasets import catalog as datasets
from core.datasets import fetch
from core.datasets.kinds.scored_pairs import ScoredPairs
from core.diagnostics.evalrank.kinds import FEW_PAIRS, Kind, grouping, scores_by_kind
from core.diagnostics.evalrank.pairs import pair_table, rows_of_runs
from core.diagnostics.evalrank.sources import PairSources, find_sources
from core.errors import InputError
from core.settings import Settings
from core.store.records import RunRecord
from core.store.repository import Repository


def kinds(
    run_id: RunId,
    by: Annotated[Kind, typer.Option(help="what pairs are sorted by")] = Kind.OVERLAP,
    as_json: AsJson = False,
) -> None:
    """MRR and Hits@1 of an EvalRank run by kind of pair, raw and filtered, with 95% intervals."""
    settings = Settings.from_environment()
    repository = Repository.at(settings.store)
    entry, record = finished_run(run_id, repository)
    frame = pair_table(entry, [record.run_id], repository).frame
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
        [[output.cell(row[name]) for name in shown] for row in found],
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
