"""A set of items with votes as a bundle's file, and ways to spoil it."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Mapping

from blindspot.files.typed_tables import TableFormat
from blindspot.studies.judgments import bundles
from blindspot.studies.judgments.bundles import Bundle
from tests.support.judgment_samples import comparative_set, votes

SAMPLE = Bundle(
    comparative_set(),
    tuple(votes([("Anna", 0, 0), ("Anna", 1, None), ("Ben", 0, 2)]) + votes([("Anna", 0, 1)], "reading group")),
)


def sample() -> bytes:
    """A bundle as it should be."""
    return bundles.pack(SAMPLE, TableFormat.CSV)


def members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        return {name: file.read(name) for name in file.namelist()}


def zipped(
    contents: Mapping[str, bytes],
    compression: int = zipfile.ZIP_DEFLATED,
    change: Callable[[zipfile.ZipInfo], object] = lambda _: None,
) -> bytes:
    """A zip of these files; ``change`` is called with every entry."""
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as file:
        for name, content in contents.items():
            entry = zipfile.ZipInfo(name)
            entry.compress_type = compression
            change(entry)
            file.writestr(entry, content)
    return sink.getvalue()


def edited(**changes: Callable[[bytes], bytes] | bytes | None) -> bytes:
    """The sample's file with members changed: ``set``, ``items``, ``votes``; None takes one away."""
    contents = members(sample())
    for what, change in changes.items():
        name = next(name for name in contents if name.startswith(what))
        if change is None:
            del contents[name]
        else:
            contents[name] = change(contents[name]) if callable(change) else change
    return zipped(contents)


def described(**changes: object) -> bytes:
    """The sample's file with other words in set.json."""

    def change(data: bytes) -> bytes:
        return json.dumps({k: v for k, v in (json.loads(data) | changes).items() if v is not ...}).encode()

    return edited(set=change)


def swapped(old: str, new: str) -> Callable[[bytes], bytes]:
    def change(data: bytes) -> bytes:
        assert old.encode() in data
        return data.replace(old.encode(), new.encode(), 1)

    return change
