"""Models as the checks see them: a function from one batch of texts to vectors, and what else a reference can do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from blindspot.encoders.alone import AskedAgain
from blindspot.encoders.base import Encoder, EncoderIdentity, FittedEncoder, VerifiedEncoder
from blindspot.encoders.roles import PromptedEncoder
from blindspot.encoders.served.encoder import ServedEncoder
from blindspot.encoders.transformer.layers import Edit, LayeredEncoder, Reading
from blindspot.errors import BlindspotError, InputError
from blindspot.types import CancelToken, Float32, Float64

Batch = Callable[[Sequence[str]], Float32]  # n texts in one batch to [n, d]


@dataclass(frozen=True)
class Asking:
    """How runs ask a server.

    Attributes:
        batch: texts of a request; ``parallel``: requests at a time.
        otherwise: the model, asked with another batch and number of requests.
    """

    batch: int
    parallel: int
    otherwise: Callable[[int, int], Batch]


@dataclass
class Model:
    """A model under check. Every call of ``encode`` is one batch.

    Attributes:
        batch: encodes one batch.
        max_length: declared limit in tokens; 0 if unknown or none.
        is_partial: whether rows of NaN are texts without a vector, rather than a fault.
        texts, requests: how many texts were encoded so far, in how many batches.
        heard: called with ``texts`` after every batch.
        asking: how runs ask it, if it is on a server.
    """

    batch: Batch
    max_length: int = 0
    is_partial: bool = False
    texts: int = 0
    requests: int = 0
    heard: Callable[[int], None] | None = None
    asking: Asking | None = None

    def encode(self, texts: Sequence[str]) -> Float32:
        """``[n, d] float32``; raises ``BlindspotError`` for another number of rows, and what the model does."""
        return self.counted(self.batch, texts)

    def counted(self, batch: Batch, texts: Sequence[str]) -> Float32:
        """As ``encode``, by another function."""
        vectors = np.asarray(batch(list(texts)), dtype=np.float32)
        if vectors.ndim != 2 or len(vectors) != len(texts):
            raise BlindspotError(
                f"{len(texts)} texts gave an array of {vectors.shape}", expected=f"{len(texts)} vectors of one length"
            )
        self.texts += len(texts)
        self.requests += 1
        if self.heard is not None:
            self.heard(self.texts)
        return vectors

    def encode_all(self, texts: Sequence[str], size: int) -> Float32:
        """As ``encode``, in batches of ``size``."""
        return np.concatenate([self.encode(texts[i : i + size]) for i in range(0, len(texts), size)])

    def encode_each(self, texts: Sequence[str]) -> Float32:
        """As ``encode``, each text in a batch of its own."""
        return self.encode_all(texts, 1)


@dataclass
class Reference(Model):
    """A model that is known to be set up as meant.

    Attributes:
        prompt: put before every text by itself.
        declared: prompts that the model declares, by name.
        prompted: the same model with another prompt; None if it cannot take one.
        readings: vectors by layer and pooling, of edited tokens; None if it has no layers.
    """

    prompt: str = ""
    declared: Mapping[str, str] = field(default_factory=dict)
    prompted: Callable[[str], Batch] | None = None
    readings: Callable[[Sequence[str], Edit], Mapping[Reading, Float32]] | None = None


def model_of(encoder: Encoder, cancel: CancelToken) -> Model:
    """The model of an encoder; raises ``InputError`` for one that learns from the texts."""
    identity = _checked(encoder, cancel)
    model = Model(_batch_of(encoder, cancel), identity.max_length, encoder.info.is_partial)
    if isinstance(encoder, ServedEncoder):
        served: ServedEncoder = encoder

        def otherwise(batch: int, parallel: int) -> Batch:
            return _batch_of(served.asked_by(batch, parallel), cancel)

        model.asking = Asking(served.reference.batch, served.reference.params.parallel, otherwise)
    return model


def _batch_of(encoder: Encoder, cancel: CancelToken) -> Batch:
    """The vectors that an encoder makes now: not earlier answers of a server, and not refused as they are here."""
    if isinstance(encoder, AskedAgain):
        asked: AskedAgain = encoder
        return lambda texts: asked.ask(texts, cancel)
    return lambda texts: encoder.encode(texts, cancel)


def reference_of(encoder: Encoder, cancel: CancelToken) -> Reference:
    """The reference of an encoder; raises ``InputError`` for one that learns from the texts."""
    identity = _checked(encoder, cancel)
    made = Reference(_batch_of(encoder, cancel), identity.max_length, encoder.info.is_partial)
    made.prompt, made.declared = identity.prompt, dict(encoder.info.unused_prompts)
    if isinstance(encoder, PromptedEncoder):
        prompting: PromptedEncoder = encoder

        def prompted(prompt: str) -> Batch:
            return _batch_of(prompting.prompted(prompt), cancel)

        made.prompted = prompted
    if isinstance(encoder, LayeredEncoder) and encoder.reads_layers:
        layered: LayeredEncoder = encoder
        made.readings = lambda texts, edit: layered.readings(texts, cancel, edit)
    return made


def _checked(encoder: Encoder, cancel: CancelToken) -> EncoderIdentity:
    if isinstance(encoder, FittedEncoder):
        raise InputError(
            f"'{encoder.identity.reference}' learns from the texts it encodes: there is no set-up to check",
            expected="a model that is trained already",
        )
    if isinstance(encoder, VerifiedEncoder):
        encoder.verify(cancel)
    return encoder.identity


def unit(vectors: Float32 | Float64) -> Float64:
    """``[n, d] float64`` rows of length 1; rows of zeros stay."""
    rows = np.asarray(vectors, dtype=np.float64)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0))


def cosines(a: Float32 | Float64, b: Float32 | Float64) -> Float64:
    """Cosine of each row of ``a`` with that of ``b``, ``[n]``."""
    return np.asarray(np.einsum("nd,nd->n", unit(a), unit(b)))


def apart(a: Float32 | Float64, b: Float32 | Float64) -> Float64:
    """Length of the difference of each row of ``a`` and of ``b``, as a share of the row of ``b``, ``[n]``."""
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    lengths = np.linalg.norm(b, axis=1)
    return np.asarray(np.linalg.norm(a - b, axis=1) / np.where(lengths > 0, lengths, 1.0))
