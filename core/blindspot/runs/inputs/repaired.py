"""Repairs in requests: whether a transform chain's repair is here, and was trained for this model."""

from __future__ import annotations

from blindspot.encoders.base import Encoder, FittedEncoder
from blindspot.errors import InputError
from blindspot.settings import Settings
from blindspot.transforms import repairs
from blindspot.transforms.chain import TransformChain


def check_repair(chain: TransformChain, encoder: Encoder, settings: Settings) -> None:
    """Check that a chain's repair fits a model; a chain without one is right.

    Raises:
        InputError: it was trained for another model, or the model learns from the texts that it encodes.
        BlindspotError: it is not on this machine.
    """
    call = chain.kept
    if call is None:
        return
    check_frozen(encoder)
    repair = repairs.load(settings.repairs, call.name, call.kept_id, encoder.info.dimension)
    if repair.model != repairs.model_digest(encoder.identity):
        raise InputError(
            f"the repair {call.kept_id} was trained on another model's vectors, not on those of "
            f"'{encoder.identity.reference}'",
            expected="the model that it was trained for",
        )


def check_frozen(encoder: Encoder) -> None:
    """Raise ``InputError`` for a model whose vector of a text depends on the other texts."""
    if isinstance(encoder, FittedEncoder):
        raise InputError(
            f"'{encoder.identity.reference}' learns from the very texts that it encodes: a repair of its vectors fits "
            "no other dataset",
            expected="a model that gives a text the same vector in every dataset",
        )
