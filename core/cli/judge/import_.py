"""``python -m core judge import``: take in a set of items with its votes from a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from core.cli import output
from core.cli.options import AsJson
from core.files.writing import read_limited
from core.settings import Settings
from core.studies.judgement import bundles
from core.studies.judgement.store import Judgements


def import_(
    file: Annotated[Path, typer.Argument(help="a .zip that 'judge export' or the app wrote")], as_json: AsJson = False
) -> None:
    """Take in a set of items with its votes; what is here already is not doubled, the first answer stands."""
    data = read_limited(file, bundles.MOST_BYTES)
    bundle, merged = bundles.take_in(data, Judgements.at(Settings.from_environment().store))
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
