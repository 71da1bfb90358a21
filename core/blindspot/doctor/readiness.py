"""Readiness to serve, for reverse proxies and service managers that ask often.

Loads and downloads nothing and computes no checksum; ``doctor.examine`` checks everything.
"""

from __future__ import annotations

from collections.abc import Iterator

from blindspot.doctor.content import BUNDLED, INSTALL
from blindspot.doctor.disk import cannot_write_to
from blindspot.doctor.findings import Check, Finding, State, guarded, problem
from blindspot.encoders.catalog import encoder_of
from blindspot.encoders.transformer.encoder import SentenceTransformerEncoder
from blindspot.settings import Settings
from blindspot.store.db import Database
from blindspot.store.inspection import check_opens, schema_version
from blindspot.store.repository import Repository

READY = "ready"
PATIENCE_SECONDS = 3.0  # a writing process holds the store for milliseconds, a backup or a shell for longer


def not_ready(settings: Settings, repository: Repository, *, in_server: bool = False) -> tuple[Finding, ...]:
    """Reasons why nothing can be computed or read now; empty if ready.

    Args:
        repository: not in use elsewhere.
        in_server: whether this process's pages use the store; then it is opened as they do, else for reading only,
            without migrating it.
    """
    checks: tuple[tuple[str, Check], ...] = (
        ("cache", lambda: _cache(settings)),
        ("store", lambda: _store(repository, in_server)),
        ("weights", lambda: _weights(settings)),
    )
    findings = (finding for name, check in checks for finding in guarded(READY, name, check))
    return tuple(finding for finding in findings if finding.state is State.PROBLEM)


def _cache(settings: Settings) -> Iterator[Finding]:
    if settings.read_only:
        return  # several servers may show one cache that none of them can write
    if wrong := cannot_write_to(settings.cache):
        yield problem(READY, "cache", f"{settings.cache} cannot be used: {wrong}", "blindspot doctor says more")


def _store(repository: Repository, in_server: bool) -> Iterator[Finding]:
    if in_server:
        check_opens(Database(repository.database.path, PATIENCE_SECONDS))
    else:
        schema_version(repository.database, PATIENCE_SECONDS)
    yield from ()  # problems are raised


def _weights(settings: Settings) -> Iterator[Finding]:
    try:
        encoder = encoder_of(BUNDLED, settings)
    except ImportError as error:
        yield problem(READY, "weights", f"the package with the weights cannot be imported: {error}", INSTALL)
        return
    if isinstance(encoder, SentenceTransformerEncoder):
        weights = encoder.folder / "model.safetensors"
        if not (weights.is_file() and weights.stat().st_size):
            yield problem(READY, "weights", f"there is no {weights}", INSTALL)
