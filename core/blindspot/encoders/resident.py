"""Encoders that stay loaded until the process ends: for single texts, since loading weights takes seconds."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol, runtime_checkable

from blindspot.encoders.base import Encoder, EncoderIdentity, FittedEncoder
from blindspot.types import CancelToken

KEPT = 4

_LOCK = threading.RLock()  # tokenizers are not thread-safe
_LOADED: OrderedDict[tuple[EncoderIdentity, str], Encoder] = OrderedDict()


@runtime_checkable
class SharesWeights(Protocol):
    """A loaded encoder that shares its weights with others, such as the poolings of one model."""

    def sibling(self, identity: EncoderIdentity) -> Encoder | None:
        """The encoder with that identity on the same weights; None if it belongs to another family."""
        ...


@contextmanager
def loaded(encoder: Encoder, texts_digest: str, texts: Sequence[str]) -> Iterator[Encoder]:
    """The loaded encoder, used by nobody else meanwhile, fitted on the texts if necessary.

    Raises what ``Encoder.load`` and ``FittedEncoder.fit`` do.
    """
    # An encoder fitted on texts depends on them.
    key = encoder.identity, texts_digest if isinstance(encoder, FittedEncoder) else ""
    with _LOCK:
        if key not in _LOADED:
            _LOADED[key] = _ready(encoder, texts)
        _LOADED.move_to_end(key)
        while len(_LOADED) > KEPT:
            _LOADED.popitem(last=False)
        yield _LOADED[key]


def _ready(encoder: Encoder, texts: Sequence[str]) -> Encoder:
    for other in _LOADED.values():
        if isinstance(other, SharesWeights) and (sibling := other.sibling(encoder.identity)) is not None:
            return sibling
    encoder.load()
    if isinstance(encoder, FittedEncoder):
        encoder.fit(texts, CancelToken())
    return encoder
