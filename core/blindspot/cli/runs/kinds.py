"""Command ``runs kinds``: a run's scores by kind of pair or query."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

import typer

from blindspot.cli import output
from blindspot.cli.options import AsJson
from blindspot.cli.runs.by_kind import KindsFound
from blindspot.cli.runs.evalrank import kinds_of_pair
from blindspot.cli.runs.finished import RunId, finished_run
from blindspot.cli.runs.retrieval import kinds_of_query
from blindspot.datasets.catalog import title_of
from blindspot.diagnostic import Diagnostic
from blindspot.diagnostics.evalrank.kinds import Kind as KindOfPair
from blindspot.diagnostics.retrieval.kinds import Kind as KindOfQuery
from blindspot.errors import InputError
from blindspot.settings import Settings
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository

Found = Callable[[RunRecord, Diagnostic, str, Repository, Settings], KindsFound]
WAYS: Mapping[str, Found] = {"evalrank": kinds_of_pair, "retrieval": kinds_of_query}
_NAMES = ", ".join(KindOfPair), ", ".join(kind.replace(" ", "-") for kind in KindOfQuery)
_HELP = f"grouping, of pairs: {_NAMES[0]}; of queries: {_NAMES[1]}, or a column of your own file"


def kinds(
    run_id: RunId, by: Annotated[str, typer.Option(help=_HELP)] = KindOfPair.OVERLAP, as_json: AsJson = False
) -> None:
    """Print the scores of a run of EvalRank or Retrieval by kind of pair or query, with 95% intervals."""
    settings = Settings.from_environment()
    repository = Repository.at(settings.store)
    record = repository.run(run_id)
    if record.plan.diagnostic not in WAYS:
        raise InputError(
            f"run {record.run_id} is a {record.state} run of {record.plan.diagnostic}",
            expected=f"a finished run of {' or '.join(WAYS)}",
        )
    entry, record = finished_run(run_id, repository, record.plan.diagnostic)
    found = WAYS[entry.id](record, entry, by, repository, settings)
    rows = _known(found.rows)
    if as_json:
        beside = {name: _known(others) for name, others in found.beside.items()}
        output.print_json({"run_id": record.run_id, "by": by, "axis": dict(found.axis), "kinds": rows} | beside)
        return
    output.use_names(settings, repository)
    output.print_table(
        f"{record.plan.variant.label} on {title_of(record.plan.dataset)}, by {'; '.join(found.axis.values())}",
        found.shown,
        [[output.cell(row[name]) for name in found.shown] for row in rows],
    )
    print(found.note)


def _known(rows: Sequence[Mapping[Any, Any]]) -> list[dict[Any, Any]]:
    """The records with None for NaN."""
    return [
        {name: None if isinstance(value, float) and math.isnan(value) else value for name, value in row.items()}
        for row in rows
    ]
