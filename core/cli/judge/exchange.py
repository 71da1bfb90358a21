"""``python -m core judge export|import|remove``: sets of items with their votes as files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from core.cli import output
from core.cli.options import AsJson
from core.errors import InputError
from core.files.typed_tables import TableFormat
from core.files.writing import read_limited, write_atomically
from core.settings import Settings
from core.studies.judgement import bundles
from core.studies.judgement.bundles import Part
from core.studies.judgement.store import Judgements

_SET = typer.Argument(metavar="SET", help="id of a set of items, or how it begins; see: judge list")


def export(
    set_id: Annotated[str, _SET],
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
    judgements = _store()
    bundle = bundles.collect(judgements, judgements.named(set_id).set_id)
    if only is None:
        content = bundles.pack(bundle, table_format)
    else:
        content = bundles.table(bundle, only, TableFormat(output_file.suffix[1:]))
    write_atomically(output_file, lambda f: f.write(content))
    output.print_text(f"{len(bundle.items.items)} items and {len(bundle.votes)} votes: {output_file}")


def import_(
    file: Annotated[Path, typer.Argument(help="a .zip that 'judge export' or the app wrote")], as_json: AsJson = False
) -> None:
    """Take in a set of items with its votes; what is here already is not doubled, the first answer stands."""
    data = read_limited(file, bundles.MOST_BYTES)
    bundle, merged = bundles.take_in(data, _store())
    if as_json:
        output.print_json(
            {
                "set_id": bundle.items.set_id,
                "task": bundle.items.task.value,
                "new_set": merged.new_set,
                "votes": {"new": merged.new, "known": merged.known, "differing": merged.differing},
            }
        )
        return
    output.print_text(
        f"set {bundle.items.set_id} ({bundle.items.task}) {'is new' if merged.new_set else 'was here already'}; votes: "
        f"{merged.new} new, {merged.known} known, {merged.differing} with another answer than the one that stands here"
    )


def remove(
    set_id: Annotated[str, _SET], yes: Annotated[bool, typer.Option("--yes", help="do not ask")] = False
) -> None:
    """Remove a set of items with all its votes, for good."""
    judgements = _store()
    found = judgements.named(set_id)
    what = f"{found.items} items and {found.votes} votes of {found.raters} rater(s): {found.set_id} {found.title!r}"
    if not yes and not _agreed(f"Remove {what}?"):
        output.print_text("nothing was removed")
        return
    judgements.remove_set(found.set_id)
    output.print_text(f"removed {what}")


def _agreed(question: str) -> bool:
    try:
        return typer.confirm(question, err=True)
    except typer.Abort as error:
        raise InputError("nobody answered the question", remedy="say --yes where nobody can be asked") from error


def _store() -> Judgements:
    return Judgements.at(Settings.from_environment().store)
