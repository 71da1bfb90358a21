"""Commands ``store``: backup of all stored results, and its restoring."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from blindspot.cli import output
from blindspot.cli.options import AsJson
from blindspot.doctor.findings import size
from blindspot.settings import Settings
from blindspot.store import backup
from blindspot.store.inspection import StoreFacts
from blindspot.texts import counted

app = typer.Typer(help="The store of all results: backup and restoring.", no_args_is_help=True)


@app.callback()
def _store() -> None:
    """Commands on the whole store."""


@app.command("backup")
def back_up(
    file: Annotated[Path, typer.Argument(help="new file")],
    as_json: AsJson = False,
) -> None:
    """Copy the store of all results to a file, also while the app runs.

    Runs, votes and names are in it. Embeddings, and own datasets, are other files of the cache.
    """
    facts = backup.back_up(Settings.from_environment().store, file)
    if as_json:
        output.print_json({"file": str(file), **_facts(facts), "bytes": file.stat().st_size})
    else:
        output.print_text(f"{file}: {_said(facts)}, {size(file.stat().st_size)}")


@app.command("restore")
def restore(
    file: Annotated[Path, typer.Argument(help="file that store backup made")],
    as_json: AsJson = False,
) -> None:
    """Put a backup in the store's place, also while the app runs. The store before it is kept beside it."""
    settings = Settings.from_environment()
    facts, before = backup.restore(file, settings.store)
    if as_json:
        output.print_json({"store": str(settings.store), **_facts(facts), "before": str(before) if before else None})
    else:
        output.print_text(f"{settings.store}: {_said(facts)}" + (f"; the store before: {before}" if before else ""))


def _facts(facts: StoreFacts) -> dict[str, int]:
    return {"runs": len(facts.runs), "rows": facts.rows}


def _said(facts: StoreFacts) -> str:
    return f"{counted(len(facts.runs), 'run')}, {counted(facts.rows, 'row')}"
