"""``python -m core data verify``: compare downloads with their checksums."""

from __future__ import annotations

from typing import Annotated

import typer

from core.datasets import catalog as datasets
from core.datasets import fetch
from core.errors import BlindspotError
from core.settings import Settings


def verify(
    ids: Annotated[list[str] | None, typer.Argument(help="dataset ids; all that are downloaded if left out")] = None,
) -> None:
    """Compare downloaded files with their checksums."""
    settings = Settings.from_environment()
    corrupt, missing = [], []
    for entry in [datasets.find(i) for i in ids] if ids else list(datasets.DATASETS.values()):
        for file in entry.files:
            state = fetch.file_state(file, settings)
            if state.state is fetch.DataState.CORRUPT:
                corrupt.append(entry.id)
            if state.state is fetch.DataState.MISSING and ids:
                missing.append(entry.id)
            detail = f" ({state.detail})" if state.detail else ""
            print(f"{entry.id}: {file.path}: {state.state}{detail}")
        if not entry.files:
            print(f"{entry.id}: {fetch.dataset_state(entry, settings)}")
    if bad := sorted({*corrupt, *missing}):
        raise BlindspotError(
            f"{len(bad)} dataset(s) with corrupt or missing files: {', '.join(bad)}",
            remedy=f"download again with: python -m core data fetch {' '.join(bad)}",
        )
