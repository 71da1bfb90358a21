"""Texts of evaluations, which no training data may have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from blindspot.datasets import fetch
from blindspot.datasets.catalog import DATASETS, DatasetRef, title_of
from blindspot.errors import BlindspotError
from blindspot.settings import Settings
from blindspot.store.repository import Repository


@dataclass(frozen=True)
class Evaluated:
    """Texts of evaluations.

    Attributes:
        datasets: references.
        unread: those that are no longer on this machine, so that their texts are not known.
    """

    datasets: tuple[str, ...]
    texts: frozenset[str]
    unread: tuple[str, ...]

    @property
    def warning(self) -> str:
        """What could not be left out, or ""."""
        if not self.unread:
            return ""
        names = ", ".join(map(title_of, self.unread))
        return f"Texts of {names} may be among the examples: the dataset is no longer on this machine."


def evaluated(
    source: str, named: Iterable[DatasetRef], allowed: Iterable[DatasetRef], settings: Settings, repository: Repository
) -> Evaluated:
    """The texts of every dataset that a model was evaluated on here, and of the ``named`` ones.

    Without those of the source itself, in whatever form, and of the ``allowed`` ones.

    Raises:
        BlindspotError: a named dataset is unknown or cannot be read.
    """
    chosen = dict.fromkeys(named)
    left_out = {source, *_siblings(source), *allowed}
    tested = [name for name in dict.fromkeys([*chosen, *repository.datasets()]) if name not in left_out]
    texts, unread = set[str](), list[str]()
    for reference in tested:
        texts_of = None
        try:
            texts_of = _texts(reference, settings, only_here=reference not in chosen)
        except BlindspotError:
            if reference in chosen:
                raise
        if texts_of is None:
            unread.append(reference)
        else:
            texts.update(texts_of)
    return Evaluated(tuple(tested), frozenset(texts), tuple(unread))


def _siblings(source: str) -> list[str]:
    """The datasets of the catalog that have the source's very sentences in another form."""
    rewrites = {entry.id: entry.rewrites for entry in DATASETS.values() if entry.rewrites}
    return [rewrites[source]] if source in rewrites else [rewrite for rewrite, of in rewrites.items() if of == source]


def _texts(reference: DatasetRef, settings: Settings, *, only_here: bool) -> Sequence[str] | None:
    """A dataset's texts; None for one that would have to be downloaded, if ``only_here``."""
    entry = reference.entry()
    if only_here and fetch.dataset_state(entry, settings) is fetch.DataState.MISSING:
        return None
    return fetch.load(entry, settings).items
