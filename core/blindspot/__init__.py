"""Blindspot: what an encoder gets wrong, pair by pair.

>>> import blindspot as bs
>>> run = bs.evalrank("random-projection", "demo-pairs")
>>> f"{run.scores['mrr'].value:.3f}"
'0.418'

The functions are those of ``blindspot.api``, which is imported when the first of them is used.
"""

from __future__ import annotations

import csv
from importlib import import_module
from typing import TYPE_CHECKING

# A setting of the whole process: the csv module's default, 131,072 characters, is less than an embedding takes, and its
# error names neither cell nor remedy. Readers have limits of their own.
csv.field_size_limit(2**24)

__version__ = "0.3.0"
__all__ = [
    "BlindspotError",
    "Check",
    "Checked",
    "Comparison",
    "Evaluator",
    "Findings",
    "Found",
    "InputError",
    "LibraryMissing",
    "Matched",
    "Neighbor",
    "Neighbors",
    "Published",
    "Run",
    "Score",
    "Series",
    "Threshold",
    "Verdict",
    "analogy",
    "categorization",
    "check",
    "chunking",
    "compare",
    "evalrank",
    "findings",
    "frequency",
    "gate",
    "geometry",
    "heros",
    "layers",
    "learning_curve",
    "long_texts",
    "matched",
    "neighbors",
    "outliers",
    "probing",
    "prompts",
    "published",
    "record",
    "report",
    "retrieval",
    "run",
    "similarity",
    "texts_of",
    "thematic_fit",
    "threshold",
    "transfer",
    "try_sentence",
]

if TYPE_CHECKING:
    from blindspot.api import *  # noqa: F403
else:

    def __getattr__(name: str) -> object:
        if name in __all__:
            return getattr(import_module("blindspot.api"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, "__version__"})
