"""Encoders for several runs in a row; each loads its weights once."""

from __future__ import annotations

from blindspot.encoders.base import Encoder, EncoderIdentity, VerifiedEncoder
from blindspot.encoders.catalog import resolve_encoder
from blindspot.settings import Settings

KEPT_BYTES = 1 << 29  # of weights; the last encoder stays however large it is


class EncodersInARow:
    """Encoders that stay loaded from one run to the next: the last one, and earlier ones while all take little memory.

    For one thread.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._kept: dict[EncoderIdentity, Encoder] = {}

    def get(self, reference: str) -> Encoder:
        """The encoder of a reference, already loaded if it was used before and its files are the same; raises what
        ``resolve_encoder`` does."""
        encoder = resolve_encoder(reference, self.settings)
        if isinstance(encoder, VerifiedEncoder) or not encoder.info.memory_bytes:
            return encoder  # which it is must be asked for each time, or it has no weights
        at_hand = self._kept.pop(encoder.identity, encoder)
        size = at_hand.info.memory_bytes
        while self._kept and size + sum(other.info.memory_bytes for other in self._kept.values()) > KEPT_BYTES:
            del self._kept[next(iter(self._kept))]
        self._kept[encoder.identity] = at_hand
        return at_hand
