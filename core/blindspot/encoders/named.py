"""Encoders as people name them: an id, a reference, a path, or a name of the Hugging Face hub."""

from __future__ import annotations

import re

from blindspot.encoders import uploads
from blindspot.encoders.catalog import ENCODERS
from blindspot.files.writing import path_named
from blindspot.references import ModelRef
from blindspot.variants import Variant

_SCHEME = re.compile(r"[a-z]{2,}:")  # a drive's letter is none
_OF_HUB = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*(@[\w./-]+)?")


def encoder_named(name: str) -> str:
    """The reference of an encoder, or of a model as ``ENCODER~TRANSFORM``: ids and references stay, a path becomes one
    by what is there or by its ending, and ``ORG/NAME`` is of the hub unless there is such a folder. Whatever is neither
    stays, too.

    Looks at the disk: not for what strangers type.
    """
    target, mark, query = name.strip().partition("?")
    if not target or target in ENCODERS or not ModelRef.parse(target).has_vectors or _SCHEME.match(target):
        return name
    path, is_there = path_named(target)
    encoder, tilde, chain = name.strip().rpartition(Variant.SEPARATOR)
    if encoder and not is_there:
        return f"{encoder_named(encoder)}{tilde}{chain}"
    if not is_there and _OF_HUB.fullmatch(target):
        return f"hf:{name.strip()}"
    if is_there or path.is_absolute() or target.startswith(("./", "../", "~")):
        scheme = "dir" if path.is_dir() else uploads.scheme_of_file(path) or "dir"
        return f"{scheme}:{path}{mark}{query}"
    return name
