"""``python -m core runs compare``: do two runs differ by more than chance?"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from core import diagnostic as diagnostics
from core.cli import output
from core.cli.runs.finished import named
from core.errors import InputError
from core.runs.comparison import Compare, comparable, entry_of_both
from core.settings import Settings
from core.store.records import RunRecord
from core.store.repository import Repository


class Ranks(StrEnum):
    """Which ranks of EvalRank."""

    RAW = "raw"
    FILTERED = "filtered"


def compare(
    first: Annotated[str, typer.Argument(metavar="RUN_A", help="a run id, or how it begins")],
    second: Annotated[str, typer.Argument(metavar="RUN_B", help="another, over the same content")],
    ranks: Annotated[Ranks, typer.Option(help="of evalrank: which ranks")] = Ranks.RAW,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")] = False,
) -> None:
    """Whether two runs differ by more than chance, item by item."""
    repository = Repository.at(Settings.from_environment().store)
    one, other = repository.run(first), repository.run(second)
    entry = entry_of_both(one, other)
    if not entry.compare:
        raise InputError(f"runs of {entry.id} cannot be compared", expected=f"two runs of {' or '.join(comparable())}")
    compared: Compare = diagnostics.function(entry.compare)
    found = compared(one, other, repository, filtered=ranks is Ranks.FILTERED)
    if as_json:
        output.print_json(_both(one, other) | found.facts)
        return
    output.print_table(found.title, found.columns, found.rows)
    print("\n".join(found.said))


def _both(first: RunRecord, second: RunRecord) -> dict[str, Any]:
    """What is compared with what."""
    runs = {name: named(r) for name, r in (("first", first), ("second", second))}
    return {"diagnostic": first.plan.diagnostic, "dataset": first.plan.dataset, **runs}
