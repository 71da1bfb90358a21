"""The ends of texts that a transformer does not read, found without loading the model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from blindspot.types import Int64

TEXTS_AT_ONCE = 1_024


class Unread(NamedTuple):
    """The end of a text that is not read: how many tokens, and where it starts in the text."""

    tokens: int
    start: int


def whole_tokenizer(encoder: object) -> Any:
    """An encoder's tokenizer, without truncation; None for one that is not a transformer in a folder."""
    folder = getattr(encoder, "folder", None)
    path = Path(folder) / "tokenizer.json" if folder else None
    if path is None or not path.is_file():
        return None
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def unread(tokenizer: Any, text: str, most: int, prompt: str = "") -> Unread | None:
    """The part of a text that is not read; None if all of it is read.

    Args:
        tokenizer: as ``whole_tokenizer`` gives it.
        most: tokens that the model reads, its special tokens included.
        prompt: put before the text.
    """
    encoded = tokenizer.encode(prompt + text)
    extra = sum(encoded.special_tokens_mask)
    lost = len(encoded.ids) - most
    if lost <= 0:
        return None
    ends_of_tokens = [
        ends for ends, added in zip(encoded.offsets, encoded.special_tokens_mask, strict=True) if not added
    ]
    start = max(0, ends_of_tokens[max(0, most - extra)][0] - len(prompt)) if len(ends_of_tokens) > most - extra else 0
    return Unread(lost, start)


def tokens_unread(tokenizer: Any, texts: Sequence[str], most: int, prompt: str = "") -> Int64:
    """How many tokens at the end of each text are not read, ``[n]``; arguments as in ``unread``."""
    counts = []
    for start in range(0, len(texts), TEXTS_AT_ONCE):
        encoded = tokenizer.encode_batch([f"{prompt}{text}" for text in texts[start : start + TEXTS_AT_ONCE]])
        counts += [len(encoding.ids) for encoding in encoded]
    return np.maximum(np.array(counts, dtype=np.int64) - most, 0)
