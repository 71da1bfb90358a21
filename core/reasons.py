"""Why an item may stand near a query: words that both have, the same length, a frequent word, a hub."""

from __future__ import annotations

from collections.abc import Sequence

from core.frequency import zipf_of
from core.hubs import Occurrences
from core.pair_features import length, words

FREQUENT = 5.0  # Zipf: a hundred occurrences per million words


def reasons(
    query: str, item_nos: Sequence[int], texts: Sequence[str], *, of_words: bool, hubs: Occurrences | None
) -> list[tuple[str, ...]]:
    """Per item what speaks for it, in short phrases.

    Args:
        of_words: the dataset is one of words: frequency matters, shared words and length do not.
        hubs: None where they were not counted.
    """
    asked = frozenset(words(query))
    frequency = zipf_of(texts) if of_words else [0.0] * len(texts)
    out = []
    for item, text, zipf in zip(item_nos, texts, frequency, strict=True):
        found = []
        if not of_words:
            if shared := len(asked & frozenset(words(text))):
                found.append(f"{shared} of {len(asked)} words")
            if length(text) == length(query):
                found.append("same length")
        elif zipf >= FREQUENT:
            found.append("frequent word")
        if hubs is not None and hubs.is_hub(item):
            found.append(f"hub: near {hubs.counts[item]:,} of {hubs.queries:,} queries")
        out.append(tuple(found))
    return out
