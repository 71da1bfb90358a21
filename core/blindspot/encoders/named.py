"""Encoders as people name them: an id, a reference, a path, or a name of the Hugging Face hub."""

from __future__ import annotations

import re
import zipfile
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from blindspot.encoders import uploads
from blindspot.encoders.catalog import ENCODERS, UNQUOTED
from blindspot.files.writing import path_named
from blindspot.references import ConcatenationRef, ModelRef, ModelsRef
from blindspot.variants import Variant

_SCHEME = re.compile(r"[a-z]{2,}:")  # not a drive's letter
_OF_HUB = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*(@[\w./-]+)?")

FILES_OF_MODELS = (  # naming one of these means its folder
    *("config.json", "modules.json", "config_sentence_transformers.json", "tokenizer.json", "tokenizer_config.json"),
    *("model.safetensors", "model.safetensors.index.json", "pytorch_model.bin"),
)
# Endings of files that are no word vectors; the refusal of a folder says what to do with them.
OF_MODELS = (
    *(
        ".safetensors",
        ".gguf",
        ".onnx",
        ".xml",
        ".pt",
        ".pth",
        ".ckpt",
        ".h5",
        ".msgpack",
        ".tar",
        ".tgz",
        ".zst",
        ".7z",
    ),
    ".tar.gz",
)


def encoder_named(name: str) -> str:
    """The reference of an encoder, or of a model as ``ENCODER~TRANSFORM``: ids and references stay, a path becomes a
    reference by what is there or by its ending, and ``ORG/NAME`` is of the hub unless there is such a folder. Anything
    else stays, too.

    Looks at the disk, so do not use it for input from strangers.
    """
    name = name.strip()
    if name[:1] in ("'", '"') and name.endswith(name[0]):  # as some file managers copy a path
        name = name[1:-1]
    if name.startswith("file://"):
        name = unquote(urlsplit(name).path)
    model = ModelRef.parse(name)
    if isinstance(model, ModelsRef):
        return _each_named(model, name)
    target, mark, query = name.partition("?")
    if not target or target in ENCODERS or not model.has_vectors or _SCHEME.match(target):
        return name
    path, is_there = path_named(target)
    encoder, tilde, chain = name.rpartition(Variant.SEPARATOR)
    if encoder and not is_there:
        return f"{encoder_named(encoder)}{tilde}{chain}"
    if not is_there and _OF_HUB.fullmatch(target):
        return f"hf:{name}"
    if is_there or path.is_absolute() or target.startswith(("./", "../", "~")):
        if path.name in FILES_OF_MODELS and path.is_file():
            path = path.parent
        return f"{_scheme_of(path)}:{path}{mark}{query}"
    return name


def _scheme_of(path: Path) -> str:
    """The scheme of a folder or file; of a file without a known ending, if it is there, word vectors."""
    ending = path.name.lower()
    if path.is_dir() or ending.endswith(OF_MODELS):
        return "dir"
    with suppress(zipfile.BadZipFile, OSError):
        if ending.endswith(".zip") and path.is_file():
            names = zipfile.ZipFile(path).namelist()
            return "dir" if any(name.endswith("config.json") for name in names) else "vectors"
    by_ending = "table" if ending.endswith(".npz") else uploads.scheme_of_file(path)
    return by_ending or ("vectors" if path.is_file() else "dir")


def _each_named(model: ModelsRef, name: str) -> str:
    """``encoder_named`` of each part; what follows the ``~`` of a concatenation is the transform of the whole."""
    is_concatenation = isinstance(model, ConcatenationRef)
    head, tilde, chain = name.rpartition(Variant.SEPARATOR)
    if tilde and is_concatenation:
        return f"{encoder_named(head)}{tilde}{chain}"
    named = [encoder_named(part) + (f"~{chain}" if chain != "none" else "") for part, chain in model.parts]
    quoted = [quote(part, safe=UNQUOTED) for part in named]
    return f"{name.partition(':')[0]}:{'+'.join(q.replace('~', '%7E') if is_concatenation else q for q in quoted)}"
