"""Whether this installation can serve now: asked often, by a reverse proxy or a service manager, so it is quick.

Nothing is loaded or downloaded and no checksum is computed; ``doctor.examine`` is what looks closely.
"""

from __future__ import annotations

from collections.abc import Iterator

from core.doctor.content import BUNDLED, INSTALL
from core.doctor.disk import cannot_write_to
from core.doctor.findings import Check, Finding, State, guarded, problem
from core.encoders import catalog as encoders
from core.encoders.transformer.encoder import SentenceTransformerEncoder
from core.settings import Settings
from core.store.db import Database
from core.store.inspection import check_opens, schema_version
from core.store.repository import Repository

READY = "ready"
PATIENCE_SECONDS = 3.0  # another process that writes holds the store for milliseconds; a backup or a shell for longer


def not_ready(settings: Settings, repository: Repository, *, in_server: bool = False) -> tuple[Finding, ...]:
    """Why nothing can be computed or read now; empty where this installation is ready.

    Args:
        repository: one of one's own, that nobody else uses.
        in_server: whether pages read and write the same store from this process: then it is opened as they do it.
            From outside it is opened for reading only, and its schema is not brought up to date.
    """
    checks: tuple[tuple[str, Check], ...] = (
        ("cache", lambda: _cache(settings)),
        ("store", lambda: _store(repository, in_server)),
        ("weights", lambda: _weights(settings)),
    )
    found = (finding for name, check in checks for finding in guarded(READY, name, check))
    return tuple(finding for finding in found if finding.state is State.PROBLEM)


def _cache(settings: Settings) -> Iterator[Finding]:
    if wrong := cannot_write_to(settings.cache):
        yield problem(READY, "cache", f"{settings.cache} cannot be used: {wrong}", "python -m core doctor says more")


def _store(repository: Repository, in_server: bool) -> Iterator[Finding]:
    if in_server:
        check_opens(Database(repository.database.path, PATIENCE_SECONDS))
    else:
        schema_version(repository.database, PATIENCE_SECONDS)
    yield from ()  # what is wrong is raised


def _weights(settings: Settings) -> Iterator[Finding]:
    try:
        encoder = encoders.resolve(BUNDLED, settings)
    except ImportError as error:
        yield problem(READY, "weights", f"the package with the weights cannot be imported: {error}", INSTALL)
        return
    if isinstance(encoder, SentenceTransformerEncoder):
        weights = encoder.folder / "model.safetensors"
        if not (weights.is_file() and weights.stat().st_size):
            yield problem(READY, "weights", f"there is no {weights}", INSTALL)
