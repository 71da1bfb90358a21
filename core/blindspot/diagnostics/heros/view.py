"""Views of HEROS's runs, the same on the page and by commands: orderings, lists of sentences, spread."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from blindspot.diagnostics.heros import browsing
from blindspot.diagnostics.heros.browsing import Filter, Sentences
from blindspot.diagnostics.heros.orderings import (
    Cosines,
    Finding,
    Rate,
    finding_in_words,
    listed_orderings,
    rate,
    win_rates,
    worst,
)
from blindspot.numerics.statistics.compare import PairedTest, corrected_together
from blindspot.numerics.statistics.density import Density, Quantiles, density
from blindspot.numerics.statistics.intervals import ALPHA
from blindspot.store.records import RunRecord
from blindspot.texts import counted
from blindspot.types import Bool, Float64
from blindspot.variants import Variant


@dataclass(frozen=True, eq=False)
class OrderingsView:
    """How often a model finds one rewrite nearer to its original than another.

    Attributes:
        rates: of the listed orderings.
        matrix: ``[k, k]``, rates of every two subsets (``win_rates``).
        worst: the most frequent order against meaning; None if no subset's name tells whether it keeps the meaning.
    """

    cosines: Cosines
    rates: tuple[Rate, ...]
    matrix: Float64
    worst: Finding | None

    @property
    def pairs(self) -> int:
        """How many pairs of subsets there are; ``rates`` may be of some."""
        return math.comb(len(self.cosines.subsets), 2)

    def as_json(self, model: str) -> dict[str, Any]:
        """The view as JSON; ``model`` is the name in the headline."""
        rows = [[None if math.isnan(share) else share for share in row] for row in self.matrix.tolist()]
        headline = None
        if self.worst:
            text = {"reading": self.worst.reading.value, "text": finding_in_words(self.worst, model)}
            headline = _rate(self.worst.rate) | {"out_of": self.worst.out_of} | text
        return {
            "originals": self.cosines.originals,
            "orderings": list(map(_rate, self.rates)),
            "matrix": {"subsets": list(self.cosines.subsets), "row_nearer_than_column": rows},
            "headline": headline,
        }


def _rate(measured: Rate) -> dict[str, Any]:
    pair = {"ordering": str(measured.ordering), "near": measured.ordering.near, "far": measured.ordering.far}
    return pair | {"rate": measured.share.value, "low": measured.share.low, "high": measured.share.high}


def orderings_view(cosines: Cosines) -> OrderingsView:
    rates = tuple(rate(cosines, ordering) for ordering in listed_orderings(cosines.subsets))
    return OrderingsView(cosines, rates, win_rates(cosines), worst(cosines))


def method_in_words(tests: Sequence[PairedTest]) -> str:
    """The test of two models' orderings, and for how many its p is corrected."""
    together = counted(corrected_together(tests, tests[0]), "ordering")
    return f"p: {tests[0].basis}, Holm-corrected for {together}; significant below {ALPHA:g}."


@dataclass(frozen=True, eq=False)
class SentencesView:
    """Originals that a filter keeps.

    Attributes:
        runs: A and, where there are two, B.
        rows: a row per original, of ``browsing.described``.
    """

    sentences: Sentences
    runs: Sequence[RunRecord]
    wish: Filter
    rows: pd.DataFrame

    def sorted_by(self, order: str, *, descending: bool) -> SentencesView:
        """The same sentences in the order of a column, one of ``browsing.orders``."""
        return replace(self, rows=browsing.in_order(self.rows, order, descending=descending))

    def as_json(self, top: int) -> dict[str, Any]:
        """The first ``top`` of them."""
        above = self.wish.above[0] if self.wish.above else None
        return {
            "run_id": self.runs[0].run_id,
            "against": self.runs[1].run_id if len(self.runs) > 1 else None,
            "dataset": self.runs[0].plan.dataset,
            "nearer": above.nearer if above else None,
            "than": above.farther if above else None,
            "originals": len(self.sentences.numbers),
            "found": len(self.rows),
            "sentences": [self._sentence(row) for row in self.rows.head(top).to_dict("records")],
        }

    def _sentence(self, row: dict[Any, Any]) -> dict[str, Any]:
        sentences, index = self.sentences, int(np.searchsorted(self.sentences.numbers, row[browsing.NUMBER]))
        values = {
            name: sentences.similarity[run.run_id][index].tolist()
            for name, run in zip(("similarity", "similarity_against"), self.runs, strict=False)
        }
        rewrites = {
            subset: {"text": text} | {name: column[i] for name, column in values.items()}
            for i, (subset, text) in enumerate(zip(sentences.subsets, sentences.rewrites[index], strict=True))
        }
        out = {"item_no": row[browsing.NUMBER], "original": row[browsing.ORIGINAL], "rewrites": rewrites}
        if len(self.runs) > 1:
            out |= {name.replace(" ", "_"): row[name] for name in browsing.DIFFERENCES}
        return out


def sentences_view(
    sentences: Sentences, runs: Sequence[RunRecord], wish: Filter, also: Bool | None = None
) -> SentencesView:
    """The originals that ``wish`` keeps, and ``also [n] bool`` where it is given, in the dataset's order.

    Args:
        runs: A, and B if there is one.
    """
    a, b = runs[0].run_id, runs[1].run_id if len(runs) > 1 else None
    kept = browsing.kept(sentences, wish, a, b)
    described = browsing.described(sentences, a, b, wish.above, wish.subset)
    return SentencesView(sentences, runs, wish, described[kept if also is None else kept & also])


# --- how much similarities vary

LEAST_SPAN = 0.05  # of the axis, where all similarities are alike


@dataclass(frozen=True, eq=False)
class Spread:
    """The ``n`` similarities of one model's rewrites of a subset; ``baseline`` is that of two unrelated sentences."""

    variant: Variant
    subset: str
    hill: Density
    quantiles: Quantiles
    mean: float
    baseline: float
    n: int


def spread_view(runs: Sequence[RunRecord], rows: pd.DataFrame, subsets: Sequence[str], *, is_raw: bool) -> list[Spread]:
    """The spread of every subset, by run, then by subset.

    Args:
        rows: of the runs: ``run_id, subset, cosine, similarity``.
        is_raw: whether to use cosines, not normalized similarities.
    """
    groups = rows.groupby(["run_id", "subset"])["cosine" if is_raw else "similarity"]
    values = {key: group.to_numpy(np.float64) for key, group in groups}
    baselines = [run.metrics["cos_avg"] if is_raw else 0.0 for run in runs]
    drawn = np.concatenate([*(values[run.run_id, subset] for run in runs for subset in subsets), baselines])
    span = max(LEAST_SPAN, float(np.ptp(drawn)))
    spreads = []
    for run, baseline in zip(runs, baselines, strict=True):
        for subset in subsets:
            cosines = values[run.run_id, subset]
            hill = density(cosines, span, highest=1.0)
            variant = run.plan.variant
            spreads.append(
                Spread(variant, subset, hill, Quantiles.of(cosines), float(cosines.mean()), baseline, len(cosines))
            )
    return spreads
