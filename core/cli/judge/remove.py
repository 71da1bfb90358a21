"""``python -m core judge remove``: a set of items with all its votes."""

from __future__ import annotations

from typing import Annotated

import typer

from core.cli import output
from core.cli.options import SetId
from core.errors import InputError
from core.settings import Settings
from core.studies.judgement.store import Judgements


def remove(set_id: SetId, yes: Annotated[bool, typer.Option("--yes", help="do not ask")] = False) -> None:
    """Remove a set of items with all its votes, for good."""
    judgements = Judgements.at(Settings.from_environment().store)
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
