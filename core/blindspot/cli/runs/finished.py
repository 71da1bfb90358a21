"""Lookup of finished runs by id, for several commands."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from blindspot.diagnostic import Diagnostic, find_diagnostic
from blindspot.errors import InputError
from blindspot.store.records import RunRecord, RunState
from blindspot.store.repository import Repository

RunId = Annotated[str, typer.Argument(help="run id, or its beginning")]


def finished_run(run_id: str, repository: Repository, *diagnostics: str) -> tuple[Diagnostic, RunRecord]:
    """A finished run of one of some diagnostics, by its id or the beginning of it.

    Raises:
        InputError: there is no such run, or it is of another diagnostic or another version.
    """
    record = repository.run(run_id)
    if record.plan.diagnostic not in diagnostics or record.state is not RunState.DONE:
        raise InputError(
            f"run {record.run_id} is a {record.state} run of {record.plan.diagnostic}",
            expected=f"a finished run of {' or '.join(diagnostics)}",
        )
    entry = find_diagnostic(record.plan.diagnostic)
    if record.plan.diagnostic_version != entry.version:
        raise InputError(
            f"run {record.run_id} was computed by version {record.plan.diagnostic_version} of {entry.id}",
            expected=f"version {entry.version}",
            remedy="run it again",
        )
    return entry, record


def named(run: RunRecord) -> dict[str, Any]:
    return {"run_id": run.run_id, "encoder": run.plan.variant.encoder, "transform": run.plan.variant.transform}
