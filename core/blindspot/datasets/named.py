"""Datasets as people name them: an id, a reference, or a path."""

from __future__ import annotations

from blindspot.datasets.catalog import DATASETS, FAMILIES, SOURCES
from blindspot.datasets.user_data.reference import is_own
from blindspot.files.writing import path_named


def dataset_named(name: str) -> str:
    """The reference of a dataset: the path of a file or folder becomes a reference, with the columns or options that
    follow a ``?``; everything else stays.

    Looks at the disk, so do not use it for input from strangers.
    """
    if is_own(name) or name in DATASETS or name in FAMILIES or name in SOURCES:
        return name
    target, mark, options = name.partition("?")
    path, is_there = path_named(target)
    if target and is_there:
        return f"{'dir' if path.is_dir() else 'file'}:{path}{mark}{options}"
    return name
