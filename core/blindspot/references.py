"""References to models as values: read once, then passed on. Whether there is such a model: ``encoders.catalog``."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from typing import ClassVar
from urllib.parse import unquote

BM25 = "bm25"
FILES = ("vectors", "table", "run")  # schemes of references to one file
_RUN, _FUSION, _CONCATENATION = "run:", "fuse:", "cat:"
_WITH_PATH = ("file", "dir", *FILES)
_STEP = re.compile(r"python:(.+)/((?:epoch-\d+-)?step-\d+|epoch-\d+|call-\d+)")
_VERSION = re.compile(r"(.+)@version-(\w{1,8})")  # of a model that got other weights: see the store's runs/older.sql


class ModelRef(str):
    """A model by its reference, which has vectors: ``minilm``, ``dir:PATH?max_length=128``.

    A ``str``, so that it compares with what stores, addresses and JSON say.
    """

    has_vectors: ClassVar[bool] = True

    @property
    def models(self) -> tuple[ModelRef, ...]:
        """The models behind its scores: itself, or those of a fusion or a concatenation."""
        return (self,)

    @staticmethod
    def parse(text: str) -> ModelRef:
        """The model of a reference: a ``RankingRef`` or ``FusionRef`` if it has no vectors, a ``ConcatenationRef`` if
        it has the vectors of several models."""
        if isinstance(text, ModelRef):
            return text
        kind = next((kind for scheme, kind in _OF_MODELS.items() if text.startswith(scheme)), None)
        if kind is None:
            kind = RankingRef if version_of(text)[0] == BM25 or text.startswith(_RUN) else ModelRef
        return kind(text)


class RankingRef(ModelRef):
    """A model that ranks documents without vectors: keyword search or ``run:FILE``."""

    has_vectors = False


class ModelsRef(ModelRef):
    """Several models as one, ``SCHEME:A+B``; A and B are percent-encoded: a ``+`` inside of one is ``%2B``."""

    @cached_property
    def parts(self) -> tuple[tuple[ModelRef, str], ...]:
        """Its models, each with its transform (``none`` by default)."""
        split = [unquote(part).rpartition("~") for part in version_of(self)[0].partition(":")[2].split("+")]
        parts = ((model, chain) if mark else (chain, "none") for model, mark, chain in split)
        return tuple((ModelRef.parse(model), chain) for model, chain in parts)

    @property
    def models(self) -> tuple[ModelRef, ...]:
        return tuple(inner for model, _ in self.parts for inner in model.models)


class FusionRef(ModelsRef):
    """``fuse:A+B``: two rankings as one."""

    has_vectors = False


class ConcatenationRef(ModelsRef):
    """``cat:A+B``: the vectors of several models end to end. A ``~`` in a part is ``%7E``: what follows a plain one is
    the transform of the whole."""


_OF_MODELS: dict[str, type[ModelRef]] = {_FUSION: FusionRef, _CONCATENATION: ConcatenationRef}


def has_path(reference: str) -> bool:
    """Whether a model, a variant or a dataset names a file or folder: its path is nobody else's business."""
    return any(model.partition(":")[0] in _WITH_PATH for model in ModelRef.parse(reference).models if ":" in model)


def version_of(reference: str) -> tuple[str, str]:
    """The model of a reference and its older version, "" for the current one.

    An older version, ``MODEL@version-REVISION``, is the model as it was when it was run; its weights are gone, and only
    stored results remain.
    """
    match = _VERSION.fullmatch(reference)
    return (match[1], match[2]) if match else (reference, "")


def step_of(reference: str) -> tuple[str, str]:
    """The training of a reference and its step, as ``blindspot.Evaluator`` names them: ``python:TRAINING/step-20``.

    ("", "") for any other model, and for an older version: its step was trained again.
    """
    match = _STEP.fullmatch(reference)
    return (match[1], match[2]) if match and not version_of(reference)[1] else ("", "")


def read_otherwise(reference: str) -> str:
    """The model that a reference reads by another layer or after another prompt: ``minilm`` for ``minilm?layer=4``; ""
    without a layer or prompt, or for several models as one."""
    return _without(reference, lambda part: part.startswith(("layer=", "prompt=")))


def made_of(reference: str) -> tuple[str, ...]:
    """The models that a reference is made of: the one of ``read_otherwise``, also where it joins poolings
    (``minilm?pooling=mean+max``), or the parts of a concatenation; () for a model itself."""
    model = ModelRef.parse(reference)
    if isinstance(model, ConcatenationRef):
        return tuple(part for part in model.models)

    def is_study(part: str) -> bool:
        return part.startswith(("layer=", "prompt=")) or (part.startswith("pooling=") and "+" in unquote(part))

    return tuple(filter(None, [_without(reference, is_study)]))


def _without(reference: str, is_dropped: Callable[[str], bool]) -> str:
    """A reference without some parameters; "" if it has none of them, or names several models."""
    if reference.startswith(tuple(_OF_MODELS)):
        return ""
    head, mark, query = reference.rpartition("?")
    parts = query.split("&")
    kept = [part for part in parts if not is_dropped(part)]
    if not mark or len(kept) == len(parts):
        return ""
    return f"{head}?{'&'.join(kept)}" if kept else head
