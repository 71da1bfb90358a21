"""The reader's names of models and datasets, put into force for a run of a page."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from core import names
from core.datasets import uploads
from core.datasets.catalog import DATASETS
from core.encoders.catalog import ENCODERS
from core.names import Kind, Names
from core.ui.resources import repository, upload_settings


def use_names() -> None:
    """Put the names of the reader's store into force, for this run of the script; two queries."""
    uploaded = tuple(upload.reference for upload in uploads.found(upload_settings()))
    found = repository()
    names.put_in_force(_names(tuple(found.names()), uploaded, tuple(found.versions())))


def ensure_names() -> None:
    """As ``use_names``, where this thread has none yet."""
    if not names.current().models:
        use_names()


@lru_cache(maxsize=64)  # by content: the same rows are the same names, whoever's they are
def _names(
    known: Sequence[tuple[str, str, str | None]], uploaded: Sequence[str], versions: Sequence[tuple[str, str]]
) -> Names:
    models = dict.fromkeys([*ENCODERS, *(reference for kind, reference, _ in known if kind == Kind.MODEL)])
    datasets = {reference: entry.title for reference, entry in DATASETS.items()}
    of_store = (reference for kind, reference, _ in known if kind == Kind.DATASET)
    datasets |= {reference: "" for reference in (*of_store, *uploaded) if reference not in datasets}
    chosen = {(kind, reference): name for kind, reference, name in known if name}
    return Names.of(models, datasets, chosen, dict(versions))
