"""Minimal pairs made by rules, kept as one of a user's own datasets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from blindspot.datasets import uploads
from blindspot.datasets.perturbations import making
from blindspot.datasets.uploads import Upload
from blindspot.settings import Settings


def name_of(stem: str) -> str:
    """The file name of the minimal pairs made from a file or text of this name."""
    return f"{Path(uploads.safe_name(f'{stem}.x')).stem}-minimal-pairs.jsonl"


def keep(name: str, rows: Sequence[Mapping[str, str]], settings: Settings) -> Upload:
    """Keep rows of ``making.rows`` as an upload; raises ``BlindspotError`` if there is no room for it."""
    data = making.as_jsonl(rows)
    return uploads.add(uploads.tabulate(name, data, True, settings).contents(), data, settings)
