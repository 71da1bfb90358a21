"""Kinds of pair, and the score on each: where a model does well, and where badly"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import pandas as pd

from blindspot.datasets import word_frequency as frequency
from blindspot.datasets.kinds import own_columns
from blindspot.datasets.kinds.own_columns import OwnColumn
from blindspot.diagnostics.evalrank.pairs import RunRows
from blindspot.diagnostics.evalrank.sources import PairSources
from blindspot.numerics.statistics import groups as statistics
from blindspot.numerics.statistics.groups import SHARES, Bin, Group, Grouping, binned, by_value, up_to
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.texts import are_words, length, lexical_overlap
from blindspot.types import Float64, Int64

MEASURES = {"mrr": "MRR", "hits@1": "Hits@1"}


class Kind(StrEnum):
    OVERLAP = "overlap"
    LENGTH = "length"
    FREQUENCY = "frequency"
    SOURCE = "source"


WORDS = up_to(5, 10, 15, 20, 30)
LETTERS = up_to(4, 6, 8, 10)
FREQUENCIES = tuple(Bin(band.label, band.low, band.high) for band in frequency.BANDS)


def grouping(
    kind: Kind, queries: Sequence[str], matches: Sequence[str], sources: PairSources | None = None
) -> Grouping:
    """Group pairs by a kind, given their texts. ``Kind.SOURCE`` raises ``ValueError`` without ``sources``."""
    if kind is Kind.OVERLAP:
        overlap = lexical_overlap(queries, matches)
        axis = {"pair": "share of words that query and match have in common"}
        return Grouping(axis, True, binned("pair", overlap, SHARES))
    if kind is Kind.LENGTH:
        words_only = are_words([*queries, *matches])
        long = _known_once(queries, matches, len if words_only else length)
        axis = {"pair": f"{'letters' if words_only else 'words'} per text, mean of query and match"}
        return Grouping(axis, True, binned("pair", long, LETTERS if words_only else WORDS))
    if kind is Kind.FREQUENCY:
        axis = {
            "query": "frequency of the query, per million words",
            "match": "frequency of the match, per million words",
        }
        sides = {"query": queries, "match": matches}
        groups = [g for side, texts in sides.items() for g in binned(side, frequency.zipf_of(texts), FREQUENCIES)]
        return Grouping(axis, True, tuple(groups))
    if sources is None:
        raise ValueError("the sources of the pairs are needed")
    groups = [Group("pair", name, sources.inside(name)) for name in sources.names]
    groups.append(Group("pair", "none of them", ~sources.known))
    return Grouping({"pair": "source set"}, False, tuple(g for g in groups if g.inside.any()))


def group_pairs(by: str, frame: pd.DataFrame, column: OwnColumn | None, sources: PairSources | None = None) -> Grouping:
    """Group the pairs of a ``PairTable.frame`` by an own column or, without one, by the kind named ``by``."""
    if column is not None:
        return by_value("pair", column.name, column.groups(frame["item_no"].to_numpy()))
    return grouping(Kind(by), frame["query"].tolist(), frame["match"].tolist(), sources)


def choices_of(columns: Sequence[OwnColumn]) -> dict[str, OwnColumn]:
    """Own columns by the name that selects them beside the kinds: their own name unless a kind has it."""
    return own_columns.choices_of(columns, list(map(str, Kind)))


def _known_once(queries: Sequence[str], matches: Sequence[str], measure: Callable[[str], int]) -> Float64:
    """Mean over query and match of a measure of a text, each text measured once, ``[m] float64``."""
    measures = {text: measure(text) for text in {*queries, *matches}}
    return np.array([(measures[q] + measures[m]) / 2 for q, m in zip(queries, matches, strict=True)], dtype=np.float64)


def scores_by_kind(
    groups: Grouping,
    rows: RunRows,
    item_numbers: Int64,
    dependence: Dependence,
    *,
    filtered: bool,
) -> pd.DataFrame:
    """The scores of a run on each kind of pair.

    Args:
        item_numbers: ``[m]``, numbers of the groups' pairs; a pair that the run did not rank is in no mean.
        dependence: which of these pairs are independent.

    Returns:
        A row per group: ``side, label, pairs, independent, mrr, mrr_low, mrr_high, hits@1, hits@1_low, hits@1_high``:
        the effective number of independent pairs, the mean and its 95% interval, NaN where there is none
        (``blindspot.numerics.statistics.pairs``).
    """
    values = rows.aligned(item_numbers, filtered)
    by_measure = {measure: values[measure].to_numpy(dtype=np.float64) for measure in MEASURES}
    return pd.DataFrame(statistics.scores(groups, by_measure, dependence, "pairs"))


# --- by the frequency of query and match: each side alone, and both together

UNKNOWN = "not counted"  # the band of items without a count
LABELS = (UNKNOWN, *(band.label for band in FREQUENCIES))
SIDES = ("query", "match")


@dataclass(frozen=True, eq=False)
class Bands:
    """The same pairs grouped by the band of each side, and by both bands.

    ``places`` has the query's band and the match's band of each group of ``cells``, as places in ``LABELS``.
    """

    sides: Grouping
    cells: Grouping
    places: tuple[tuple[int, int], ...]


def by_bands(queries: Float64, matches: Float64) -> Bands:
    """Group pairs by the Zipf frequencies of their queries ``[m]`` and matches ``[m]``, NaN where they are unknown.

    The bands are ``word_frequency.BANDS``, and one of unknown frequencies.
    """
    numbers = {side: _band(values) for side, values in zip(SIDES, (queries, matches), strict=True)}
    bins = tuple(Bin(label, number, number + 1) for number, label in enumerate(LABELS))
    groups = [group for side in SIDES for group in binned(side, numbers[side], bins)]
    axis = {side: f"band of the {side}" for side in SIDES}
    of_query, of_match = numbers["query"], numbers["match"]
    cells, places = [], []
    for i, query_label in enumerate(LABELS):
        for j, match_label in enumerate(LABELS):
            inside = np.asarray((of_query == i) & (of_match == j))
            if inside.any():
                cells.append(Group("pair", f"{query_label} and {match_label}", inside))
                places.append((i, j))
    both = {"pair": "query and match, per million"}
    return Bands(Grouping(axis, True, tuple(groups)), Grouping(both, False, tuple(cells)), tuple(places))


def _band(zipf: Float64) -> Float64:
    """Place in ``LABELS`` of each value, ``[m] float64``."""
    edges = np.array([band.low for band in FREQUENCIES[1:]])
    return np.where(np.isnan(zipf), 0.0, 1.0 + np.searchsorted(edges, zipf, side="right"))
