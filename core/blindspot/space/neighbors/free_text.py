"""Free text in the space of a variant: encoded now, post-processed like the dataset's items."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from blindspot import policy
from blindspot.datasets.kinds.base import Dataset
from blindspot.encoders import resident
from blindspot.encoders.base import Encoder, EncoderFamily, EncoderIdentity, FittedEncoder, VocabularyEncoder
from blindspot.encoders.catalog import resolve_encoder
from blindspot.errors import BlindspotError, InputError
from blindspot.runs.spaces import Space, fitted_of
from blindspot.settings import Settings, prepare_runtime
from blindspot.transforms.chain import TransformChain
from blindspot.types import CancelToken, Float32, Variant

KEPT = 256  # encoded texts
LOOK_SECONDS = 0.2  # between two looks at a cancel, while another text is encoded
MOST_UNKNOWN = 20  # words without a vector that are named

_LOCK = threading.Lock()


@dataclass(frozen=True, eq=False)
class Placed:
    """A text in the space of a variant.

    Attributes:
        vector: ``[d] float32``, transformed; None if the encoder has none for the text.
        truncated: the text is longer than the encoder reads; the rest of it does not count.
        unknown: its words without a vector, in order; only of word vectors.
    """

    variant: Variant
    vector: Float32 | None
    truncated: bool
    unknown: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class _Encoded:
    vector: Float32  # NaN if the encoder has none
    truncated: bool
    unknown: tuple[str, ...]


_ENCODED: OrderedDict[tuple[EncoderIdentity, str, str], _Encoded] = OrderedDict()


def check(text: str, longest: int = policy.LOCAL.text) -> None:
    """Raise ``InputError`` for a text that is empty or longer than ``longest`` characters."""
    if not text.strip():
        raise InputError("the text is empty", expected="a word or a sentence")
    if len(text) > longest:
        raise InputError(
            f"the text has {len(text):,} characters",
            expected=f"at most {longest:,}: no model here reads more than a few thousand",
        )


def place(
    text: str, spaces: Sequence[Space], settings: Settings, cancel: CancelToken | None = None
) -> tuple[Placed, ...]:
    """A text in the spaces of some variants, in their order. One pass serves all poolings of a model.

    Raises:
        InputError: see ``check``.
        Cancelled: by ``cancel``, before the next model.
        BlindspotError: an encoder cannot be loaded, or the embeddings that a transform is fitted on are gone.
    """
    check(text, policy.of(settings).text)
    prepare_runtime(settings)
    return tuple(_place(text, space, settings, cancel or CancelToken()) for space in spaces)


def _place(text: str, space: Space, settings: Settings, cancel: CancelToken) -> Placed:
    encoder = resolve_encoder(space.variant.encoder, settings)
    found = _encode(text, encoder, space.dataset, cancel)
    vector: Float32 | None = found.vector
    if np.isnan(found.vector).any():
        vector = None
    elif TransformChain.parse(space.variant.transform).steps:
        cancel.check()
        vector = fitted_of(space, settings).apply(found.vector[None, :])[0]
    return Placed(space.variant, vector, found.truncated, found.unknown)


def _encode(text: str, encoder: Encoder, dataset: Dataset, cancel: CancelToken) -> _Encoded:
    # An encoder that is fitted on the dataset's texts gives another vector for another dataset.
    corpus = dataset.texts_digest if isinstance(encoder, FittedEncoder) else ""
    key = (encoder.identity, corpus, text)
    cancel.check()
    while not _LOCK.acquire(timeout=LOOK_SECONDS):
        cancel.check()
    try:
        if key not in _ENCODED:
            with resident.loaded(encoder, dataset.texts_digest, dataset.items) as ready:
                _keep(text, ready, corpus, cancel)
        _ENCODED.move_to_end(key)
        return _ENCODED[key]
    finally:
        _LOCK.release()


def _keep(text: str, encoder: Encoder, corpus: str, cancel: CancelToken) -> None:
    """Encode a text and keep the vectors: the encoder's, and those of the other poolings from the same pass."""
    if isinstance(encoder, EncoderFamily):
        encodings = encoder.encode_family([text], cancel)
        identities = [sibling.identity for sibling in encoder.family]
        vectors, truncated = [matrix[0] for matrix in encodings.vectors], encodings.truncated > 0
    else:
        identities, vectors, truncated = [encoder.identity], [encoder.encode([text], cancel)[0]], False
    unknown: tuple[str, ...] = ()
    if isinstance(encoder, VocabularyEncoder):
        words = list(dict.fromkeys(text.split()))
        lacking = np.isnan(encoder.encode(words, cancel)).any(axis=1)
        unknown = tuple(words[i] for i in np.flatnonzero(lacking)[:MOST_UNKNOWN])
    for identity, vector in zip(identities, vectors, strict=True):
        if np.isinf(vector).any():
            raise BlindspotError(f"'{identity.reference}' gave a vector that is not finite", remedy="try another text")
        _ENCODED[(identity, corpus, text)] = _Encoded(vector, truncated, unknown)
    while len(_ENCODED) > KEPT:
        _ENCODED.popitem(last=False)
