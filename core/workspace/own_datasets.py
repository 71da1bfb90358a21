"""Deletion of all that is kept of a user's dataset: upload, runs, rows, texts, embeddings."""

from __future__ import annotations

from dataclasses import dataclass

from core import policy
from core.datasets import uploads
from core.datasets.catalog import OWN_FILE, canonical_dataset
from core.datasets.own.files import is_own
from core.datasets.uploads import Upload
from core.diagnostics.evalrank import training_overlap
from core.encoders.cache import EmbeddingCache
from core.errors import BlindspotError, InputError
from core.settings import Settings
from core.store import purging
from core.store.purging import StoredContent
from core.store.records import RunState
from core.store.repository import Repository
from core.texts import counted


@dataclass(frozen=True)
class Kept:
    """What is kept of a dataset, and of nothing else.

    Attributes:
        reference: in its canonical form.
        upload: None for a file of the user's, which stays.
        embeddings: digests of embeddings on disk, ``size`` bytes; also of encoders that share a pass.
    """

    reference: str
    upload: Upload | None
    stored: StoredContent
    embeddings: tuple[str, ...]
    size: int

    @property
    def is_nothing(self) -> bool:
        return self.upload is None and self.stored == StoredContent()

    @property
    def in_words(self) -> str:
        """What ``purge`` deletes, and what stays."""
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
        stays = f"; texts that {shared} has too stay, with the runs on them" if shared else ""
        return (", ".join(parts) or "nothing") + stays


def kept(reference: str, settings: Settings, repository: Repository) -> Kept:
    """What is kept of a user's dataset; its file may be gone.

    Raises:
        InputError: a dataset of the catalog, or no dataset.
    """
    name = canonical_dataset(reference)
    if not is_own(name):
        raise InputError(
            f"'{name}' is a dataset of the catalog, and its texts are nobody's own",
            expected=f"a file of yours, {OWN_FILE}",
            remedy="single runs are deleted with: python -m core runs delete ID",
        )
    upload = next((u for u in uploads.found(settings) if canonical_dataset(u.reference) == name), None)
    stored = purging.content_of(name, repository.database)
    on_disk = _embeddings(stored, settings, repository)
    return Kept(name, upload, stored, tuple(on_disk), sum(on_disk.values()))


def purge(reference: str, settings: Settings, repository: Repository) -> Kept:
    """Delete a user's dataset with all that was computed on it, but not a file that was not uploaded.

    Returns what was deleted.

    Raises:
        InputError: as ``kept``; or this server's visitors may not change what is stored.
        BlindspotError: work on it is under way, or the file system refused.
    """
    policy.of(settings).check_change("what is stored cannot be deleted")
    found = kept(reference, settings, repository)
    if repository.runs(dataset=found.reference, state=RunState.RUNNING):
        raise BlindspotError(
            f"'{found.reference}' is in use: a run on it is being computed", remedy="cancel that run or wait for it"
        )
    purging.purge(found.reference, repository.database)
    cache = EmbeddingCache(settings.embeddings)
    for digest in found.embeddings:
        cache.delete(digest)
    cache.delete_unfinished(found.stored.embeddings)
    for content in found.stored.contents:
        training_overlap.forget(settings.training, content)
    if found.upload:
        uploads.remove(found.upload, settings)
    return found


def _embeddings(stored: StoredContent, settings: Settings, repository: Repository) -> dict[str, int]:
    """Digests and sizes of the embeddings on disk that only these runs use, or encoders of the same pass."""
    inventory = EmbeddingCache(settings.embeddings).inventory().embeddings
    passes = {one.facts.forward_pass for one in inventory if one.facts.digest in stored.embeddings}
    elsewhere = {run.plan.embedding_digest for run in repository.runs(metrics=[])} - stored.embeddings
    passes -= {one.facts.forward_pass for one in inventory if one.facts.digest in elsewhere}
    return {one.facts.digest: one.size for one in inventory if one.facts.forward_pass in passes}
