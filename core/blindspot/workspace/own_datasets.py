"""Deletion of a user's dataset with everything stored for it: upload, runs, rows, texts, embeddings."""

from __future__ import annotations

from dataclasses import dataclass

from blindspot import policy
from blindspot.datasets import training_overlap, uploads
from blindspot.datasets.catalog import OWN_FILE, DatasetRef
from blindspot.datasets.uploads import Upload
from blindspot.datasets.user_data.files import is_own
from blindspot.encoders.cache import EmbeddingCache
from blindspot.errors import BlindspotError, InputError
from blindspot.settings import Settings
from blindspot.store import purging
from blindspot.store.purging import StoredContent
from blindspot.store.records import RunState
from blindspot.store.repository import Repository
from blindspot.texts import counted


@dataclass(frozen=True)
class Kept:
    """Everything stored for one dataset and for no other.

    Attributes:
        reference: in its canonical form.
        upload: None for a file on the user's disk, which is never deleted.
        embeddings: digests of those on disk, ``size`` bytes in all, with those of encoders that share a pass.
    """

    reference: DatasetRef
    upload: Upload | None
    stored: StoredContent
    embeddings: tuple[str, ...]
    size: int

    @property
    def is_nothing(self) -> bool:
        return self.upload is None and self.stored == StoredContent()

    @property
    def in_words(self) -> str:
        """What ``purge`` deletes and what it leaves."""
        counts = [
            (len(self.stored.runs), "run", ""),
            (self.stored.rows, "row of results", "rows of results"),
            (self.stored.texts, "stored text", ""),
            (len(self.embeddings), "set of embeddings", "sets of embeddings"),
        ]
        parts = ["the upload"] if self.upload else []
        parts += [counted(n, what, plural) for n, what, plural in counts if n]
        if self.embeddings:
            parts[-1] += f" ({self.size / 1e6:,.1f} MB)"
        shared = ", ".join(self.stored.shared_with)
        stays = f"; texts shared with {shared} and the runs on them stay" if shared else ""
        return (", ".join(parts) or "nothing") + stays


def kept(name: DatasetRef, settings: Settings, repository: Repository) -> Kept:
    """Everything stored for a user's dataset, even if its file is gone.

    Raises:
        InputError: a catalog dataset.
    """
    if not is_own(name):
        raise InputError(
            f"'{name}' is a catalog dataset, not your own",
            expected=f"a file of yours, {OWN_FILE}",
            remedy="to delete single runs: blindspot runs delete ID",
        )
    upload = next((u for u in uploads.found(settings) if DatasetRef.parse(u.reference) == name), None)
    stored = purging.content_of(name, repository.database)
    on_disk = _embeddings(stored, settings, repository)
    return Kept(name, upload, stored, tuple(on_disk), sum(on_disk.values()))


def purge(name: DatasetRef, settings: Settings, repository: Repository) -> Kept:
    """Delete a user's dataset and everything computed on it; a file that was not uploaded stays.

    Returns what was deleted.

    Raises:
        InputError: as ``kept``; or visitors of this server may not change the store.
        BlindspotError: work on it is under way, or the file system refused.
    """
    policy.of(settings).check_change("stored results cannot be deleted")
    stored = kept(name, settings, repository)
    if repository.runs(dataset=stored.reference, state=RunState.RUNNING):
        raise BlindspotError(
            f"'{stored.reference}' is in use by a running job", remedy="cancel the job or wait until it ends"
        )
    purging.purge(stored.reference, repository.database)
    cache = EmbeddingCache(settings.embeddings)
    for digest in stored.embeddings:
        cache.delete(digest)
    cache.delete_unfinished(stored.stored.embeddings)
    for content in stored.stored.contents:
        training_overlap.forget(settings.training, content)
    if stored.upload:
        uploads.remove(stored.upload, settings)
    return stored


def _embeddings(stored: StoredContent, settings: Settings, repository: Repository) -> dict[str, int]:
    """Digests and sizes of the embeddings on disk that only these runs use, siblings of the same pass included."""
    inventory = EmbeddingCache(settings.embeddings).inventory().embeddings
    passes = {entry.facts.forward_pass for entry in inventory if entry.facts.digest in stored.embeddings}
    elsewhere = {run.plan.embedding_digest for run in repository.runs(metrics=[])} - stored.embeddings
    passes -= {entry.facts.forward_pass for entry in inventory if entry.facts.digest in elsewhere}
    return {entry.facts.digest: entry.size for entry in inventory if entry.facts.forward_pass in passes}
