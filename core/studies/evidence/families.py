"""Which variants are of one model: they rise and fall together, and are no independent evidence.

A transform never makes a family of its own, nor does a pooling or a size of the same encoder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from core.encoders.catalog import ENCODERS
from core.encoders.references import DirReference, FileReference, HubReference
from core.errors import BlindspotError
from core.types import Variant

_DIGITS = 12  # of a checksum


def family_of(reference: str, revision: str = "") -> str:
    """What the encoders of one model share.

    Of the catalog it is what the entry declares, of ``hf:`` the repository (so the catalog's encoders of a published
    model and the model itself are one family). Of ``dir:``, ``vectors:`` and ``table:`` it is the content of the file,
    so that two copies are one family, or its path where the content is not known.

    Args:
        reference: a canonical encoder reference.
        revision: what pinned its weights when it was run (``EncoderIdentity.revision``); "" where not known.
    """
    if (entry := ENCODERS.get(reference)) is not None:
        return entry.family or entry.id
    scheme = reference.partition(":")[0]
    try:
        if scheme == "hf":
            return HubReference.parse(reference).repo
        if scheme in {"dir", "vectors", "table"}:
            return f"{scheme}:{revision}" if revision else f"{scheme}:{_path(scheme, reference)}"
    except BlindspotError:  # stored by a version that wrote references otherwise
        pass
    return reference


def _path(scheme: str, reference: str) -> Path:
    return DirReference.parse(reference).path if scheme == "dir" else FileReference.parse(reference).path


def family_names(encoders: Sequence[str], revisions: Mapping[str, str]) -> tuple[str, ...]:
    """The family of each encoder, by a name for people: the same names are one family.

    Args:
        encoders: canonical references.
        revisions: what pinned the weights, by reference, as far as it is known.
    """
    keys = [family_of(encoder, revisions.get(encoder, "")) for encoder in encoders]
    names: dict[str, str] = {}
    for encoder, key in zip(encoders, keys, strict=True):
        if key in names:
            continue
        own = Variant(encoder, "none").label if key.startswith(("dir:", "vectors:", "table:")) else key
        names[key] = own if own not in names.values() else f"{own} ({key.partition(':')[2][:_DIGITS]})"
    return tuple(names[key] for key in keys)
