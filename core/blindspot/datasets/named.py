"""Datasets as people name them: an id, a reference, or a path."""

from __future__ import annotations

from pathlib import Path

from blindspot.datasets.catalog import DATASETS
from blindspot.datasets.user_data.reference import is_own
from blindspot.errors import InputError


def dataset_named(name: str) -> str:
    """The reference of a dataset: ids and references stay, the path of a file or folder becomes one.

    Raises:
        InputError: it looks like a path, and nothing is there.
    """
    if is_own(name) or name in DATASETS:
        return name
    path = Path(name).expanduser()
    if path.exists():
        return f"dir:{name}" if path.is_dir() else f"file:{name}"
    if path.suffix or len(path.parts) > 1:
        raise InputError(
            f"there is no file {name}", expected="data of your own, or a dataset id", remedy="check the path"
        )
    return name
