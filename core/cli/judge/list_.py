"""``python -m core judge list``: the stored sets of items."""

from __future__ import annotations

from typing import Annotated

import typer

from core.cli import output
from core.cli.options import AsJson
from core.settings import Settings
from core.studies.judgement.store import Judgements
from core.studies.judgement.types import SetSummary, Task


def list_(
    task: Annotated[Task | None, typer.Option(help="only those of one task")] = None, as_json: AsJson = False
) -> None:
    """The stored sets of items, newest first."""
    sets = Judgements.at(Settings.from_environment().store).sets(task)
    if as_json:
        output.print_json({"sets": [_described(found) for found in sets]})
        return
    if not sets:
        output.print_text("There are no items yet: make some with 'python -m core judge make'.")
    for found in sets:
        output.print_text(
            f"{found.set_id}  {found.task:<11}  {found.items:>4} items  {found.votes:>5} votes  {found.title}"
        )


def _described(found: SetSummary) -> dict[str, object]:
    return {
        "set_id": found.set_id,
        "task": found.task.value,
        "title": found.title,
        "variants": [str(v) for v in found.variants],
        "items": found.items,
        "raters": found.raters,
        "votes": found.votes,
        "created_at": found.created_at.isoformat(),
    }
