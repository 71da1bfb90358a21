"""Import of result packs into a store: each exactly once, the damaged and the foreign refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from blindspot.errors import BlindspotError, InputError
from blindspot.runs.packs.folders import Folder
from blindspot.runs.packs.format import ids_in, read_pack, read_texts
from blindspot.store import whole_runs
from blindspot.store.repository import Repository


@dataclass(frozen=True)
class Imported:
    """A pack that is in the store; ``is_new`` is False where its run was there before, and stayed as it was."""

    run_id: str
    is_new: bool


@dataclass(frozen=True)
class Refused:
    """A pack that is not taken in, and why; ``name`` is that of its file."""

    name: str
    error: InputError


def import_packs(
    folder: Folder, repository: Repository, ids: Sequence[str] | None = None
) -> Iterator[Imported | Refused]:
    """Take packs into the store one after another; what is refused does not stop the others.

    Args:
        ids: those to take; None for all of the folder.

    Raises:
        InputError: the folder has no packs.
        BlindspotError: the folder cannot be read, or the store not be written to.
    """
    names = ids_in(folder) if ids is None else list(ids)
    if not names:
        raise InputError(
            f"{folder.address} has no result packs", expected="a folder that `blindspot runs export` or --shard wrote"
        )
    there = whole_runs.finished_ids(repository.database)
    for name in names:
        if name in there:
            yield Imported(name, is_new=False)
            continue
        try:
            yield import_pack(folder, repository, name)
        except InputError as error:
            yield Refused(name, error)


def import_pack(folder: Folder, repository: Repository, run_id: str) -> Imported:
    """Take one pack into the store, in one transaction.

    Raises:
        InputError: as ``format.read_pack``.
        BlindspotError: the folder cannot be read, or the store not be written to.
    """
    pack = read_pack(folder, run_id)
    digest = pack.run.plan.dataset_digest
    texts = None if whole_runs.has_texts(repository.database, digest) else read_texts(folder, pack)
    return Imported(run_id, whole_runs.take_in(repository.database, pack.entry, pack.run, texts))


def count(folder: Folder) -> int:
    """How many packs a folder has; raises ``BlindspotError``."""
    return len(ids_in(folder))


def refusal(refused: Sequence[Refused], of: int) -> BlindspotError:
    """The error of an import that refused packs."""
    first = refused[0]
    return BlindspotError(f"{len(refused)} of {of} packs were refused; the first was {first.name[:80]}: {first.error}")


def interrupted(new: int) -> BlindspotError:
    """The error of an import that a user stopped."""
    return BlindspotError(f"interrupted; {new} packs were imported", remedy="run the same command to continue")


def required(out: str) -> str:
    """The folder to write to; raises ``InputError`` where none is named."""
    if not out:
        raise InputError("no folder is named", expected="--out FOLDER, or --out s3://BUCKET/FOLDER")
    return out
