"""``python -m core data fetch``: download datasets."""

from __future__ import annotations

from typing import Annotated

import typer

from core.cli import output
from core.datasets import catalog as datasets
from core.datasets import fetch as downloads
from core.runs.at_work import at_work
from core.runs.log import JobLine
from core.settings import Settings


def fetch(ids: Annotated[list[str], typer.Argument(help="dataset ids")]) -> None:
    """Download datasets, from BLINDSPOT_MIRROR where it is set; corrupt files are downloaded again."""
    settings = Settings.from_environment()
    for entry in [datasets.find(i) for i in ids]:
        if not entry.files:
            print(f"{entry.id}: {downloads.dataset_state(entry, settings)}, nothing to download")
            continue
        with at_work(settings, JobLine("fetch", dataset=entry.id)), output.progress(entry.id) as progress:
            paths = downloads.fetch_dataset(entry, settings, progress)
        print(f"{entry.id}: {len(paths)} file(s) verified in {paths[0].parent}")
