"""Model objects of a running program: a SentenceTransformer or SparseEncoder, encoded by the object itself."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from uuid import uuid4

from blindspot.encoders.base import EncoderIdentity, EncoderInfo
from blindspot.encoders.object_identity import digest_of_object
from blindspot.encoders.roles import role_prompts
from blindspot.encoders.transformer import library
from blindspot.errors import InputError
from blindspot.types import CancelToken, Float32

TELLS_ROLES = ("query_length", "document_length", "query_expansion")  # of a first module; routers tell roles, too


@dataclass(frozen=True, eq=False)
class ObjectEncoder:
    """A model object with its own prompts for queries and documents: a ``PromptedEncoder``.

    Attributes:
        reference: ``python:NAME``.
        revision: digest of all that decides its vectors; a unique one if the model cannot be digested.
        prompt: put before every text; None for the model's own prompt for its task.
        task: see ``SentenceTransformerEncoder``.
    """

    reference: str
    revision: str
    info: EncoderInfo
    model: Any
    prompt: str | None = None
    task: str = library.TEXT

    @property
    def identity(self) -> EncoderIdentity:
        return EncoderIdentity(
            reference=self.reference,
            revision=self.revision,
            pooling="the program's own",
            prompt=self.prompt or "",
            libraries=(),
        )

    @property
    def device(self) -> str:
        return str(getattr(self.model, "device", "cpu"))

    def load(self) -> None:
        """No-op: the program has it."""

    def prompted(self, prompt: str, task: str = library.TEXT) -> ObjectEncoder:
        """See ``blindspot.encoders.roles.PromptedEncoder``."""
        copy = replace(self, prompt=prompt, task=task)
        if "_batch" in vars(self):
            vars(copy)["_batch"] = self._batch
        return copy

    def encode(self, texts: Sequence[str], cancel: CancelToken) -> Float32:
        """See ``Encoder.encode``."""
        how = library.LibraryEncoder(
            self.model, self.task, self.prompt, self._batch, self.info.dimension, self.reference
        )
        return how.encode(texts, cancel)

    @cached_property
    def _batch(self) -> int:
        """How many texts can be encoded at once without changing each other's vectors."""
        expected = library.each(self.model, self.task, self.prompt, library.FEW)
        return library.batch_of(self.model, expected, self.task, self.prompt) if expected else 1


def is_library_object(model: Any) -> bool:
    """Whether it is a SentenceTransformer or SparseEncoder.

    Raises:
        InputError: it is a model of the library that does not give a vector per text.
    """
    package = sys.modules.get("sentence_transformers")
    if package is None:
        return False
    for name in ("CrossEncoder", "MultiVectorEncoder"):
        kind = getattr(package, name, None)
        if isinstance(kind, type) and isinstance(model, kind):
            what = "scores pairs of texts" if name == "CrossEncoder" else "has a vector per token"
            raise InputError(f"a {name} {what}", expected="a model that gives a vector per text")
    kinds = tuple(kind for name in ("SentenceTransformer", "SparseEncoder") if (kind := getattr(package, name, None)))
    return isinstance(model, kinds)


def object_encoder(model: Any, reference: str, title: str) -> ObjectEncoder:
    """The encoder of a SentenceTransformer or SparseEncoder.

    Args:
        reference: ``python:NAME``.

    Raises:
        BlindspotError: it cannot encode a text.
    """
    prompts = {str(name): str(text) for name, text in (getattr(model, "prompts", None) or {}).items() if text}
    default = prompts.get(str(getattr(model, "default_prompt_name", None)), "")
    first = model[0]
    tells_roles = hasattr(first, "sub_modules") or any(getattr(first, name, None) for name in TELLS_ROLES)
    roles = role_prompts(prompts, None, None, None, default=default, tells_roles=tells_roles)
    is_unit = type(list(model)[-1]).__name__ == "Normalize" and not getattr(model, "truncate_dim", None)
    parameters = sum(int(tensor.numel()) for tensor in model.parameters())
    info = EncoderInfo(
        title=title,
        dimension=_dimension(model, reference),
        parameters=parameters,
        memory_bytes=4 * parameters,
        licence="the program's own",
        citation="a model of a Python program",
        url="",
        unused_prompts=tuple(prompt for prompt in prompts.items() if prompt[1] != default),
        role_prompts=roles,
        similarity="cosine" if is_unit else str(getattr(model, "similarity_fn_name", None) or "cosine"),
    )
    return ObjectEncoder(reference, digest_of_object(model) or uuid4().hex, info, model)


def _dimension(model: Any, reference: str) -> int:
    """The dimension of the vectors that it gives; of a document's if it takes no text without a role (a router)."""
    tried = library.each(model, library.TEXT, None, library.FEW) or library.each(
        model, library.DOCUMENT, None, library.FEW
    )
    if not tried:
        tells_why = library.LibraryEncoder(model, library.TEXT, None, 1, 0, reference)
        tells_why.encode(library.FEW[:1], CancelToken())
    return len(next(iter(tried.values())))
