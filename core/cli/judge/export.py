"""``python -m core judge export``: a set of items with its votes as a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from core.cli import output
from core.cli.options import SetId
from core.errors import InputError
from core.files.typed_tables import TableFormat
from core.files.writing import write_atomically
from core.settings import Settings
from core.studies.judgement import bundles
from core.studies.judgement.bundles import Part
from core.studies.judgement.store import Judgements


def export(
    set_id: SetId,
    output_file: Annotated[Path, typer.Option("--output", help="file to write: .zip, or with --only .csv or .parquet")],
    table_format: Annotated[TableFormat, typer.Option("--format", help="of the tables in the zip")] = TableFormat.CSV,
    only: Annotated[Part | None, typer.Option(help="one table alone, for analysis")] = None,
) -> None:
    """Write a set of items with its votes to a file that another machine imports, or one of its tables."""
    endings = [".zip"] if only is None else [f".{form}" for form in TableFormat]
    if output_file.suffix not in endings:
        raise InputError(f"cannot write '{output_file}'", expected=f"a name that ends in {' or '.join(endings)}")
    if not output_file.parent.is_dir():
        raise InputError(f"there is no folder {output_file.parent}", expected="an existing folder for the file")
    judgements = Judgements.at(Settings.from_environment().store)
    bundle = bundles.collect(judgements, judgements.named(set_id).set_id)
    if only is None:
        content = bundles.pack(bundle, table_format)
    else:
        content = bundles.table(bundle, only, TableFormat(output_file.suffix[1:]))
    write_atomically(output_file, lambda f: f.write(content))
    output.print_text(f"{len(bundle.items.items)} items and {len(bundle.votes)} votes: {output_file}")
