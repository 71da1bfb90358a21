"""A sentence and its rewrites, or some lines, as some models see them, for programs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from blindspot.api import models
from blindspot.api.place import place_of
from blindspot.datasets.perturbations import making
from blindspot.encoders.catalog import variant_named
from blindspot.errors import InputError
from blindspot.studies.sentence import asking
from blindspot.studies.sentence.view import LinesView, SentenceView
from blindspot.variants import Variant


def try_sentence(
    model: Any,
    text: str | Sequence[str],
    *,
    transform: str = "",
    name: str = "",
    seed: int = making.SEED,
    store: str | os.PathLike[str] | None = None,
    device: str | None = None,
) -> SentenceView | LinesView:
    """Which rewrites of a sentence each model takes for the same; or lines compared with each other.

    >>> import blindspot as bs
    >>> view = bs.try_sentence("random-projection", "Anna paid 5 dollars before noon.")
    >>> [rewrite.rule for rewrite in view.rewrites if rewrite.above[0]]
    ['date', 'unit', 'before_after', 'word_order']

    Args:
        model: as for ``run``, or a list of up to four.
        text: a sentence, which rules rewrite as ``blindspot make minimal-pairs`` does; or a list of two to
            twenty lines.
        name: of a model that is no reference.
        seed: of the rules' random choices.

    Raises:
        InputError: something of this is wrong.
        BlindspotError: a model failed.
    """
    given: list[Any] = [text] if isinstance(text, str) else list(text)
    lines = [argument for argument in given if isinstance(argument, str)]
    if len(lines) < len(given):
        strange = next(argument for argument in given if not isinstance(argument, str))
        raise InputError(f"a {type(strange).__name__} is no text", expected="a sentence, or a list of lines")
    asking.check(lines)
    place = place_of(store, device)
    several = list(model) if isinstance(model, list | tuple) else [model]
    variants = [_variant(argument, name, transform) for argument in several]
    asking.check_models(variants)
    return asking.try_sentence(variants, lines, place.settings, seed=seed)


def _variant(model: Any, name: str, transform: str) -> Variant:
    asked = models.variant_of(model, name, _no_texts)
    return variant_named(asked.encoder, transform or asked.transform)


def _no_texts() -> Sequence[str]:
    raise InputError(
        "an array has vectors of given texts alone, and these are new ones",
        expected="a reference, a SentenceTransformer, or a function from a list of texts to an array",
    )
