"""Command ``export``: a run's per-item results as a file; of retrieval also hard negatives, and TREC's run."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from blindspot.cli.options import RunId, check_file, settings_and_store
from blindspot.datasets import fetch
from blindspot.datasets.kinds.retrieval import RetrievalDataset
from blindspot.diagnostic import Diagnostic, find_diagnostic
from blindspot.diagnostics.retrieval import exports
from blindspot.diagnostics.retrieval.definition import ENTRY as RETRIEVAL
from blindspot.diagnostics.retrieval.outcomes import QueryTable, Side, query_table
from blindspot.errors import InputError
from blindspot.files.export import as_file
from blindspot.files.writing import write_atomically
from blindspot.store.records import RunRecord, RunState
from blindspot.store.repository import Repository
from blindspot.texts import counted


class Format(StrEnum):
    """What is written."""

    ROWS = "rows"
    NEGATIVES = "hard-negatives"
    TREC = "trec-run"


ENDINGS = {
    Format.ROWS: (".csv", ".parquet"),
    Format.NEGATIVES: (".jsonl", ".csv", ".parquet"),
    Format.TREC: (".run", ".trec", ".txt"),
}


def export(
    run_id: RunId,
    output: Annotated[
        Path, typer.Option(help="file to write: .csv or .parquet; of hard negatives also .jsonl; of a TREC run .run")
    ],
    format: Annotated[
        Format,
        typer.Option(
            help="rows: per-item results; of retrieval also hard-negatives: per query the documents above the first "
            "relevant one, with a positive, to train with; and trec-run: the ranked documents for trec_eval, ranx, ..."
        ),
    ] = Format.ROWS,
    most: Annotated[int, typer.Option(min=1, help="hard negatives per query, at most")] = exports.MOST,
) -> None:
    """Write a run's per-item results, with their texts, to a CSV or Parquet file."""
    check_file(output, ENDINGS[format])
    settings, repository = settings_and_store()
    record = repository.run(run_id)
    if record.state is not RunState.DONE:
        raise InputError(f"run {record.run_id} is {record.state} and has no results", remedy="run it again first")
    entry = find_diagnostic(record.plan.diagnostic).at_version(record.plan.diagnostic_version)
    if format is Format.TREC:
        table = _queries(entry, record, repository)
        text = exports.trec_run(table, Side(record.run_id), str(record.plan.variant))
        write_atomically(output, lambda f: f.write(text.encode()))
        print(f"{counted(len(table), 'query', 'queries')} written to {output}")
        return
    if format is Format.NEGATIVES:
        table, dataset = _queries(entry, record, repository), fetch.load(record.plan.dataset.entry(), settings)
        if not isinstance(dataset, RetrievalDataset):
            raise TypeError(f"{record.plan.dataset} is no retrieval dataset")
        rows = exports.hard_negatives(table, Side(record.run_id), dataset, most)
    else:
        rows = repository.items(entry, [record.run_id], texts=True)
    write_atomically(output, lambda f: f.write(as_file(rows, output.suffix)))
    print(f"{len(rows)} rows written to {output}")


def _queries(entry: Diagnostic, record: RunRecord, repository: Repository) -> QueryTable:
    if entry.id != RETRIEVAL.id:
        raise InputError(
            f"run {record.run_id} is of {entry.id}, which ranks no documents", expected=f"a run of {RETRIEVAL.id}"
        )
    return query_table(entry, [record.run_id], repository)
