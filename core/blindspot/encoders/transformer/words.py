"""Words reassembled from the word pieces of a tokenizer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from blindspot.encoders.tokens import Role, Token

APOSTROPHES = "'’"


def words_of(text: str, prompt: int, encoding: Any) -> tuple[Sequence[int], Sequence[Token]]:
    """The number of each word piece's word, and the words; those that were cut off are last.

    Args:
        text: prompt and text.
        prompt: characters of the prompt.
        encoding: of ``text`` by a fast tokenizer of transformers, with offsets and the mask of special tokens.
    """
    groups: list[int] = []
    starts: list[int] = []
    ends: list[int] = []
    written: list[str] = []  # as the tokenizer writes it
    added: list[bool] = []
    pieces = zip(
        encoding.tokens(0),
        encoding["offset_mapping"],
        encoding["special_tokens_mask"],
        encoding.word_ids(0),
        strict=True,
    )
    before: int | None = None
    for piece, (start, end), is_added, word in pieces:
        is_same = not is_added and word is not None and (word == before or _goes_on(text, starts, ends, start, end))
        if not is_same:
            starts.append(start)
            ends.append(end)
            written.append(piece)
            added.append(bool(is_added))
        else:
            ends[-1] = max(ends[-1], end)
        before = None if is_added else word
        groups.append(len(starts) - 1)
    words = [
        Token(piece, Role.ADDED)
        if is_added
        else Token(text[start:end].strip() or piece, Role.PROMPT if end <= prompt else Role.WORD)
        for start, end, piece, is_added in zip(starts, ends, written, added, strict=True)
    ]
    read = max((end for end, is_added in zip(ends, added, strict=True) if not is_added), default=0)
    return groups, [*words, *(Token(word, Role.CUT) for word in text[read:].split())]


def _goes_on(text: str, starts: Sequence[int], ends: Sequence[int], start: int, end: int) -> bool:
    """Whether a token from ``start`` to ``end`` continues a word with an apostrophe inside: "isn't" is one word."""
    if not starts or start != ends[-1] or start == starts[-1]:
        return False
    is_mark = text[start:end] in APOSTROPHES and text[start - 1].isalnum() and text[end : end + 1].isalnum()
    return is_mark or (text[start - 1] in APOSTROPHES and text[starts[-1]].isalnum())
