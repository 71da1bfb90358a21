"""Asks models for a sentence and its rewrites, or for some lines; nothing of it is stored."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from blindspot import policy
from blindspot.datasets.perturbations import making
from blindspot.encoders import resident
from blindspot.encoders.catalog import encoder_of
from blindspot.errors import InputError
from blindspot.runs import own_scale
from blindspot.settings import Settings
from blindspot.space.neighbors import free_text
from blindspot.studies.sentence.view import Answer, Explained, View, lines_view, sentence_view, texts_of
from blindspot.transforms.contributions import CannotExplain, contributions
from blindspot.types import CancelToken, Float32
from blindspot.variants import Variant

MOST_MODELS = 4
MOST_LINES = 20


def check(lines: Sequence[str], longest: int = policy.LOCAL.line) -> None:
    """Raise ``InputError`` for no line, too many, or one that is empty or longer than ``longest`` characters."""
    if not lines:
        raise InputError("there is no text", expected="a sentence, or two lines or more")
    if len(lines) > MOST_LINES:
        raise InputError(f"{len(lines)} lines", expected=f"at most {MOST_LINES}", remedy="leave some out")
    for number, line in enumerate(lines, 1):
        where = f"line {number}" if len(lines) > 1 else "the sentence"
        if not line.strip():
            raise InputError(f"{where} is empty", expected="a sentence")
        if len(line) > longest:
            raise InputError(f"{where} has {len(line):,} characters", expected=f"at most {longest:,}")


def check_models(variants: Sequence[Variant]) -> None:
    """Raise ``InputError`` for no model, too many, or one without vectors."""
    if not 1 <= len(variants) <= MOST_MODELS:
        raise InputError(f"{len(variants)} models", expected=f"1 to {MOST_MODELS}")
    for variant in variants:
        if not variant.encoder.has_vectors:
            raise InputError(f"{variant.label} ranks documents and has no vectors", expected="a model with vectors")


def try_sentence(
    variants: Sequence[Variant],
    lines: Sequence[str],
    settings: Settings,
    cancel: CancelToken | None = None,
    seed: int = making.SEED,
) -> View:
    """What some models make of one line and its rewrites, or of two lines or more.

    Raises:
        InputError: as ``check`` and ``check_models``.
        Cancelled: by ``cancel``.
        BlindspotError: a model cannot be loaded or used.
    """
    token = cancel or CancelToken()
    check(lines, policy.of(settings).line)
    check_models(variants)
    if len(lines) == 1:
        made = making.rewrites(lines, seed=seed)
        return sentence_view(made, [answer(texts_of(made), variant, settings, token) for variant in variants])
    answers = [answer(lines, variant, settings, token) for variant in variants]
    if len(lines) > 2:
        return lines_view(lines, answers)
    return lines_view(
        lines, answers, [explained((lines[0], lines[1]), variant, settings, token) for variant in variants]
    )


def answer(texts: Sequence[str], variant: Variant, settings: Settings, cancel: CancelToken) -> Answer:
    """A model's vectors of some texts, with its transform fitted on the built-in sentences.

    Raises:
        Cancelled: by ``cancel``.
        BlindspotError: the model cannot be loaded or used.
    """
    ground = own_scale.ground_of(variant, settings, cancel)
    encoder = encoder_of(variant.encoder, settings)
    encoded = free_text.encode(texts, encoder, own_scale.sentences(), cancel)
    vectors: Float32 = np.stack([encoding.vector for encoding in encoded])
    has_one = ~np.isnan(vectors).any(axis=1)
    units = np.full((len(texts), ground.chain.d_out), np.nan)
    if has_one.any():
        units[has_one] = own_scale.units(ground.chain.apply(vectors[has_one]))
    cut, unknown = tuple(encoding.truncated for encoding in encoded), tuple(encoding.unknown for encoding in encoded)
    return Answer(variant, units, cut, ground.scale, unknown)


def explained(texts: tuple[str, str], variant: Variant, settings: Settings, cancel: CancelToken) -> Explained:
    """Contributions of two texts' words to their similarity, or why there are none; raises as ``answer``."""
    ground = own_scale.ground_of(variant, settings, cancel)
    encoder, data = encoder_of(variant.encoder, settings), own_scale.sentences()
    try:
        with resident.loaded(encoder, data.texts_digest, data.items) as ready:
            return contributions(texts, (None, None), ready, ground.chain, cancel)
    except CannotExplain as error:
        return str(error)
