"""Whether a corpus is held out: how many of the tested texts stand in what a transform is fitted on."""

from __future__ import annotations

from core.texts import same_text
from core.types import Dataset


def share_seen(tested: Dataset, corpus: Dataset) -> float:
    """Share of the tested items that the corpus has too (``same_text``), 0 to 1; 0 where nothing is tested."""
    known = set(map(same_text, corpus.items))
    return sum(same_text(text) in known for text in tested.items) / max(len(tested.items), 1)
