"""Names of a store's models and datasets: all of them, and changing one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from blindspot import names, policy
from blindspot.datasets import uploads
from blindspot.datasets.catalog import DATASETS, FAMILIES
from blindspot.encoders.catalog import ENCODERS
from blindspot.errors import InputError
from blindspot.names import Kind, Names
from blindspot.settings import Settings
from blindspot.store.changed_models import MARK, changed_models
from blindspot.store.repository import Repository


def names_of(repository: Repository, uploaded: Settings, models: Iterable[str] = ()) -> Names:
    """The names of everything in the catalogs, in the store and among the uploads; three queries.

    Args:
        uploaded: settings that say where the uploads are.
        models: references of models that may not be in the store yet.
    """
    files = tuple(upload.reference for upload in uploads.found(uploaded))
    entries = [*DATASETS.items(), *(member for family in FAMILIES.values() for member in family.members.items())]
    titles = tuple((reference, entry.title) for reference, entry in entries)
    versions = dict(repository.versions())
    for model in changed_models(repository, uploaded):
        versions[model] = ", ".join(filter(None, (versions.get(model), MARK)))
    return _names(titles, tuple(repository.names()), files, tuple(versions.items()), tuple(models))


@lru_cache(maxsize=64)  # by content: the same rows give the same names, whichever store they come from
def _names(
    titles: Sequence[tuple[str, str]],
    rows: Sequence[tuple[str, str, str | None]],
    uploaded: Sequence[str],
    versions: Sequence[tuple[str, str]],
    also: Sequence[str],
) -> Names:
    stored = (reference for kind, reference, _ in rows if kind == Kind.MODEL)
    models = dict.fromkeys([*ENCODERS, *stored, *also])
    datasets = dict(titles)
    of_store = (reference for kind, reference, _ in rows if kind == Kind.DATASET)
    datasets |= {reference: "" for reference in (*of_store, *uploaded) if reference not in datasets}
    chosen = {(kind, reference): name for kind, reference, name in rows if name}
    return Names.of(models, datasets, chosen, dict(versions))


def reference_of(kind: Kind, name: str, settings: Settings) -> str:
    """The reference of what the store calls ``name``, which may end with ``~`` and a transform; ``name`` itself if it
    is a reference already, or if nothing has that name. Errors then list the names in the store."""
    if ":" in name or not settings.store.exists():
        return name
    names_now = names_of(Repository.at(settings.store), settings)
    if (reference := names_now.reference(kind, name)) is None:
        names.offer(names_now)
        return name
    return reference


def rename(kind: Kind, reference: str, name: str, settings: Settings, repository: Repository) -> None:
    """Store a name that the user chose; "" restores the one that follows from the reference.

    Raises:
        InputError: visitors of this server may not change names, the name is invalid (``names.checked``), or another
            model or dataset has it already.
    """
    policy.of(settings).check_change("names cannot be changed")
    if not name.strip():
        repository.give_name(kind, reference, "")
        return
    wanted, names_now = names.checked(name), names.current()
    others = names_now.models if kind is Kind.MODEL else names_now.datasets
    if any(wanted.casefold() == other.casefold() for at, other in others.items() if at != reference):
        raise InputError(f"another {kind} is already called '{wanted}'", expected="a different name")
    repository.give_name(kind, reference, wanted)
