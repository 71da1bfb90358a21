"""``python -m core data remove``: delete an upload, or all that is kept of a user's file."""

from __future__ import annotations

from typing import Annotated

import typer

from core.cli import output
from core.datasets import catalog as datasets
from core.datasets import uploads
from core.errors import InputError
from core.settings import Settings
from core.store.repository import Repository
from core.workspace import own_datasets


def remove(
    dataset: Annotated[str, typer.Argument(help=f"{datasets.OWN_FILE}, an upload or a file that was run")],
    purge: Annotated[bool, typer.Option("--purge", help="also delete its runs, texts and embeddings")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="do not ask")] = False,
) -> None:
    """Delete an upload; with --purge all that Blindspot keeps of a file of yours. The file itself stays."""
    settings = Settings.from_environment()
    repository = Repository.at(settings.store)
    found = own_datasets.kept(dataset, settings, repository)
    if found.is_nothing:
        raise InputError(f"nothing is kept of '{found.reference}'", remedy="see: python -m core runs")
    if not purge and found.upload is None:
        raise InputError(
            f"'{found.reference}' is no upload: the file is yours to delete",
            expected="--purge, to delete what was computed on it",
        )
    what = found.in_words if purge else "the upload; runs on it and their texts stay (--purge deletes them, too)"
    print(f"{found.reference}: {what}")
    if not yes and not output.is_confirmed("delete this", remedy="add --yes to delete without being asked"):
        print("left as it is")
        return
    if purge:
        own_datasets.purge(found.reference, settings, repository)
    elif found.upload is not None:
        uploads.remove(found.upload, settings)
    print("deleted")
