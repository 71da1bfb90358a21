"""Pairs sorted by how frequent query and mate are: each side on its own, and both together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.pair_kinds import FREQUENCIES, Bin, Group, Grouping, Kind, binned
from core.types import Float64

UNKNOWN = "not counted"  # the band of items that the counts do not have
LABELS = (UNKNOWN, *(band.label for band in FREQUENCIES))
SIDES = ("query", "mate")


@dataclass(frozen=True, eq=False)
class Bands:
    """The same pairs sorted in two ways.

    Attributes:
        sides: a group per side and band.
        cells: a group per band of the query and band of the mate that have a pair; ``places`` tells which.
        places: ``(query's band, mate's band)`` per cell, as places in ``LABELS``.
    """

    sides: Grouping
    cells: Grouping
    places: tuple[tuple[int, int], ...]


def by_bands(queries: Float64, mates: Float64) -> Bands:
    """Sort pairs by the Zipf frequencies of their queries ``[m]`` and mates ``[m]``, NaN where these are unknown.

    The bands are ``core.frequency.BANDS``; what is unknown is a band of its own, since it may be anything.
    """
    numbers = {side: _band(values) for side, values in zip(SIDES, (queries, mates), strict=True)}
    bins = tuple(Bin(label, place, place + 1) for place, label in enumerate(LABELS))
    groups = [group for side in SIDES for group in binned(side, numbers[side], bins)]
    axis = {side: f"{side}, per million" for side in SIDES}
    of_query, of_mate = numbers["query"], numbers["mate"]
    cells, places = [], []
    for i, query_label in enumerate(LABELS):
        for j, mate_label in enumerate(LABELS):
            inside = np.asarray((of_query == i) & (of_mate == j))
            if inside.any():
                cells.append(Group("pair", f"{query_label} and {mate_label}", inside))
                places.append((i, j))
    both = {"pair": "query and mate, per million"}
    return Bands(
        Grouping(Kind.FREQUENCY, axis, True, tuple(groups)),
        Grouping(Kind.FREQUENCY, both, False, tuple(cells)),
        tuple(places),
    )


def _band(zipf: Float64) -> Float64:
    """Place in ``LABELS`` of each value, ``[m] float64``."""
    edges = np.array([band.low for band in FREQUENCIES[1:]])
    return np.where(np.isnan(zipf), 0.0, 1.0 + np.searchsorted(edges, zipf, side="right"))
