"""Which part of a dataset encoders cover: what is ranked, and the counts that are shown (DESIGN 4.1, coverage)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from core.datasets.kinds.base import Dataset, Part
from core.diagnostic import DiagnosticResult
from core.errors import InputError
from core.types import Bool


def part_of(dataset: Dataset, support: Bool, whose: str) -> Part:
    """The part of a dataset whose items have a vector, ``support [n] bool``.

    Args:
        whose: whose vectors these are, for the error.

    Raises:
        InputError: no pair, question or word is left.
    """
    part = dataset.part(support)
    if not len(part.rows):
        raise dataset.nothing_left(len(part.items), whose)
    return part


def check_covers_all(encoder: str, dataset: Dataset, covered: Bool, diagnostic: str) -> None:
    """For a dataset of which no part can be left out.

    Raises:
        InputError: the encoder has no vector for some text.
    """
    if covered.all():
        return
    first = dataset.items[int(np.argmin(covered))]
    raise InputError(
        f"'{encoder}' has a vector for {np.count_nonzero(covered):,} of the {len(covered):,} texts "
        f"of '{dataset.id}', and none for '{first}'",
        expected=f"an encoder that has one for every text, since {diagnostic} compares each original with all "
        "its rewrites",
    )


def with_coverage(result: DiagnosticResult, dataset: Dataset, covered: Bool, ranked: Part | None) -> DiagnosticResult:
    """A result for part of a dataset, in the numbers and counts of the whole; any other as it is."""
    if not dataset.has_parts:
        return result
    result = replace(result, coverage=dataset.coverage(covered if ranked is None else ranked.support))
    if ranked is None or not dataset.by_rows:
        return result
    numbers = ranked.rows if result.item_numbers is None else ranked.rows[result.item_numbers]
    return replace(result, item_numbers=numbers)
