"""Command ``export``: a run's per-item results as a file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from core.cli.options import AnyRun, check_file
from core.diagnostic import find_diagnostic
from core.errors import InputError
from core.files.export import write_csv
from core.files.writing import write_atomically
from core.settings import Settings
from core.store.records import RunState
from core.store.repository import Repository


def export(run_id: AnyRun, output: Annotated[Path, typer.Option(help="file to write, .csv or .parquet")]) -> None:
    """Write a run's per-item results, with their texts, to a CSV or Parquet file."""
    import pyarrow as pa
    from pyarrow import parquet

    writers = {".csv": write_csv, ".parquet": parquet.write_table}
    check_file(output)
    repository = Repository.at(Settings.from_environment().store)
    record = repository.run(run_id)
    if record.state is not RunState.DONE:
        raise InputError(f"run {record.run_id} is {record.state} and has no results", remedy="run it again first")
    entry = replace(find_diagnostic(record.plan.diagnostic), version=record.plan.diagnostic_version)
    table = pa.Table.from_pandas(repository.items(entry, [record.run_id], texts=True), preserve_index=False)
    write_atomically(output, lambda f: writers[output.suffix](table, f))
    print(f"{table.num_rows} rows written to {output}")
