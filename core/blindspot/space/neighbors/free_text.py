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
from blindspot.encoders.catalog import encoder_of
from blindspot.errors import BlindspotError, InputError
from blindspot.runs.spaces import Space, fitted_of
from blindspot.settings import Settings, prepare_runtime
from blindspot.types import CancelToken, Float32
from blindspot.variants import Variant

KEPT = 2_048  # encoded texts, once for each pooling
LOOK_SECONDS = 0.2  # between two looks at a cancel, while another text is encoded
MOST_UNKNOWN = 20  # the most words without a vector to name

_LOCK = threading.Lock()


@dataclass(frozen=True, eq=False)
class Placed:
    """A text in the space of a variant.

    Attributes:
        vector: ``[d] float32``, transformed; None if the encoder has none for the text.
        truncated: the text is longer than the encoder reads; the rest of it does not count.
        unknown: its words without a vector, in order; only for word vectors.
    """

    variant: Variant
    vector: Float32 | None
    truncated: bool
    unknown: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Encoded:
    """A text as an encoder has it; see ``Placed``. ``vector`` is NaN if it has none."""

    vector: Float32
    truncated: bool
    unknown: tuple[str, ...]


_ENCODED: OrderedDict[tuple[EncoderIdentity, str, str], Encoded] = OrderedDict()


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
    encoder = encoder_of(space.variant.encoder, settings)
    (encoded,) = encode([text], encoder, space.dataset, cancel)
    vector: Float32 | None = encoded.vector
    if np.isnan(encoded.vector).any():
        vector = None
    elif space.variant.chain.steps:
        cancel.check()
        vector = fitted_of(space, settings).apply(encoded.vector[None, :])[0]
    return Placed(space.variant, vector, encoded.truncated, encoded.unknown)


def encode(texts: Sequence[str], encoder: Encoder, dataset: Dataset, cancel: CancelToken) -> list[Encoded]:
    """Texts as an encoder has them, in their order; texts that are not kept from before are encoded together.

    Args:
        dataset: the one to fit the encoder on, if it is fitted on texts.

    Raises:
        Cancelled: by ``cancel``.
        BlindspotError: the encoder cannot be loaded, or gave a vector that is not finite.
    """
    # An encoder that is fitted on the dataset's texts gives another vector for another dataset.
    corpus = dataset.texts_digest if isinstance(encoder, FittedEncoder) else ""
    keys = [(encoder.identity, corpus, text) for text in texts]
    cancel.check()
    while not _LOCK.acquire(timeout=LOOK_SECONDS):
        cancel.check()
    try:
        if new := list(dict.fromkeys(key[2] for key in keys if key not in _ENCODED)):
            with resident.loaded(encoder, dataset.texts_digest, dataset.items) as ready:
                _keep(new, ready, corpus, cancel)
        for key in keys:
            _ENCODED.move_to_end(key)
        results = [_ENCODED[key] for key in keys]
        while len(_ENCODED) > KEPT:
            _ENCODED.popitem(last=False)
        return results
    finally:
        _LOCK.release()


def _keep(texts: Sequence[str], encoder: Encoder, corpus: str, cancel: CancelToken) -> None:
    """Encode texts and keep the vectors: the encoder's, and those of the other poolings from the same pass."""
    if isinstance(encoder, EncoderFamily):
        encodings = encoder.encode_family(texts, cancel)
        if 0 < encodings.truncated < len(texts):  # nobody says which
            for text in texts:
                _keep([text], encoder, corpus, cancel)
            return
        identities = [sibling.identity for sibling in encoder.family]
        matrices, truncated = encodings.vectors, encodings.truncated > 0
    else:
        identities, matrices, truncated = [encoder.identity], (encoder.encode(texts, cancel),), False
    for row, text in enumerate(texts):
        unknown: tuple[str, ...] = ()
        if isinstance(encoder, VocabularyEncoder):
            words = list(dict.fromkeys(text.split()))
            lacking = np.isnan(encoder.encode(words, cancel)).any(axis=1)
            unknown = tuple(words[i] for i in np.flatnonzero(lacking)[:MOST_UNKNOWN])
        for identity, matrix in zip(identities, matrices, strict=True):
            if np.isinf(matrix[row]).any():
                raise BlindspotError(
                    f"'{identity.reference}' gave a vector that is not finite", remedy="try another text"
                )
            _ENCODED[(identity, corpus, text)] = Encoded(matrix[row], truncated, unknown)
