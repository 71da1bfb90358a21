"""Revisions of models' files as they are now, without reading what has not changed since they were last read.

Names of models depend on them on every page, and hashing takes seconds per gigabyte. What is remembered of a model are
the states of the files that its revision was computed from, and of their folders, where a file may come or go.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from blindspot.encoders.catalog import encoder_of, resolve_ranking
from blindspot.encoders.references import HubReference
from blindspot.encoders.served import probes
from blindspot.encoders.served.reference import ServedReference
from blindspot.encoders.source_files import hashed_files, state_of
from blindspot.encoders.transformer.hub import as_cached, cached_name
from blindspot.errors import BlindspotError
from blindspot.files.writing import write_atomically
from blindspot.references import FusionRef, ModelRef, has_path
from blindspot.settings import Settings
from blindspot.types import digest_of_strings


@dataclass(frozen=True)
class _Content:
    revision: str
    states: Mapping[str, list[int]]

    @property
    def is_as_now(self) -> bool:
        return all(_state(Path(path)) == state for path, state in self.states.items())


_REMEMBERED: dict[Path, _Content] = {}


def revision_on_disk(model: ModelRef, settings: Settings) -> str:
    """The revision that a run of a model's files would have now, with parts on a server or the hub as they were last
    seen here; "" if it has no files or they cannot be used, which other places say."""
    if not has_path(model):
        return ""
    path = settings.revisions / f"{digest_of_strings([model])[:16]}.json"
    content = _REMEMBERED.get(path) or _read(path)
    if content is None or not content.is_as_now:
        try:
            with hashed_files() as hashed, as_cached():
                revision = _revision(model, settings)
        except BlindspotError:
            return ""
        states = {str(file): list(state) for file, state in hashed.items()}
        others = {file.parent for file in hashed} | _named_by(model, settings)
        states |= {str(other): _state(other) for other in others}
        content = _Content(revision, states)
        if not settings.read_only:
            with suppress(BlindspotError):  # on a full disk the files are read again
                write_atomically(path, lambda file: file.write(json.dumps(asdict(content)).encode()))
    _REMEMBERED[path] = content
    return content.revision


def _revision(model: ModelRef, settings: Settings) -> str:
    if isinstance(model, FusionRef):  # as ``rankings.fusion`` has it
        return digest_of_strings([_revision(part, settings) for part, _ in model.parts])
    return (encoder_of if model.has_vectors else resolve_ranking)(model, settings).identity.revision


def _named_by(model: ModelRef, settings: Settings) -> set[Path]:
    """The files that say what the parts on a server or the hub were when they were last seen."""
    served = {probes.path_of(ServedReference.parse(part), settings) for part in model.models if part.startswith("api:")}
    return served | {cached_name(HubReference.parse(part), settings) for part in model.models if part.startswith("hf:")}


def _state(path: Path) -> list[int]:
    try:
        return list(state_of(path))
    except OSError:
        return []


def _read(path: Path) -> _Content | None:
    try:
        return _Content(**json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError):
        return None
