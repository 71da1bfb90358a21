"""Comparisons of the reader's own models, said before all findings, on the page and by the command: is mine better?"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from blindspot.datasets.catalog import title_of
from blindspot.numerics.statistics.compare import Verdict
from blindspot.numerics.statistics.written import ci
from blindspot.runs.comparison import spec_of, written
from blindspot.runs.default_models import is_own, is_undeployed, usual_baseline
from blindspot.runs.scope import EVERYTHING, Scope
from blindspot.store.repository import Repository
from blindspot.studies.compare.rows import Comparison, Row, alike_in_words, compare, tested_by_variant
from blindspot.studies.compare.view import row_as_json
from blindspot.texts import counted, in_sentence
from blindspot.variants import Variant

MOST = 3  # comparisons
LINES = 6  # of a comparison
TRIED = 4  # own models, until one was tested against another


@dataclass(frozen=True)
class OwnComparison:
    """An own model against another; ``rows`` are the rows that decide, own datasets first."""

    whole: Comparison
    rows: Sequence[Row]

    @property
    def lines(self) -> list[tuple[str, str]]:
        """What is better or worse: who, and on what."""
        names = self.whole.a.label, self.whole.b.label
        apart = [row for row in self.rows if row.is_significant]
        return [(f"{names[0]} is {row.verdict} than {names[1]}", in_words(row)) for row in apart[:LINES]]

    @property
    def without_difference(self) -> str:
        """``no significant difference on 2 scores; 1 not tested``, after the number of lines left out; "" for none."""
        more = sum(row.is_significant for row in self.rows) - LINES
        alike = sum(row.verdict is Verdict.ALIKE for row in self.rows)
        untested = sum(row.verdict is Verdict.UNTESTED for row in self.rows)
        parts = [f"{more} more better or worse"] if more > 0 else []
        parts += [f"no significant difference on {counted(alike, 'score')}"] if alike else []
        parts += [alike_in_words(items)] if (items := self.whole.alike_items) else []
        return "; ".join([*parts, f"{untested:,} not tested"] if untested else parts)

    def said(self) -> list[str]:
        """The comparison line by line, as a command prints it."""
        a, b = self.whole.a.label, self.whole.b.label
        rest = f"{a} against {b}: {self.without_difference}."
        return [*(f"{who} on {on}" for who, on in self.lines), *([rest] if self.without_difference else [])]

    def as_json(self) -> dict[str, Any]:
        """Undefined values are None."""
        return {"a": str(self.whole.a), "b": str(self.whole.b), "rows": [row_as_json(row) for row in self.rows]}


def comparisons(
    variants: Sequence[Variant],
    stored: Sequence[Variant],
    tested: Mapping[str, Collection[object]],
    compared: Callable[[Variant, Variant], Comparison],
    *,
    baseline: Variant | None = None,
    scope: Scope = EVERYTHING,
    most: int = MOST,
) -> list[OwnComparison]:
    """The newest own model against at most ``most`` others that it shares a score with; an older own model if no
    difference of the newest is tested, as for word vectors among fine-tuned models.

    Args:
        variants: to choose from.
        stored: all variants of the store, those that appeared first in front.
        tested: by a variant's name, what it was run on.
        compared: makes a comparison.
        scope: what to compare on.
    """
    order = {variant: number for number, variant in enumerate(stored)}
    user_models = sorted((v for v in variants if is_own(v.encoder)), key=lambda v: -order.get(v, len(order)))
    untested: list[OwnComparison] = []
    for mine in user_models[:TRIED]:
        run_on = frozenset(tested.get(str(mine), ()))
        others = [
            v for v in others_of(mine, variants, stored, baseline) if not run_on.isdisjoint(tested.get(str(v), ()))
        ]
        wholes = [compared(mine, other) for other in others[:most]]
        own_comparisons = [
            OwnComparison(whole, rows)
            for whole in wholes
            if (rows := [row for row in whole.rows if row.decides and scope.has(row.entry.id, row.dataset)])
        ]
        if any(row.verdict is not Verdict.UNTESTED for comparison in own_comparisons for row in comparison.rows):
            return own_comparisons
        untested = untested or own_comparisons
    return untested


def of_store(variants: Sequence[Variant], repository: Repository, scope: Scope = EVERYTHING) -> list[OwnComparison]:
    """The comparisons of runs with default parameters, with the baseline that pages begin with."""
    stored = repository.variants()
    tested = tested_by_variant(repository, {})
    return comparisons(
        variants,
        stored,
        tested,
        lambda a, b: compare(a, b, repository, {}),
        baseline=usual_baseline(stored),
        scope=scope,
    )


def others_of(
    mine: Variant, variants: Sequence[Variant], stored: Sequence[Variant], baseline: Variant | None
) -> list[Variant]:
    """The models to compare an own one with: the baseline, other own ones, others; never one of the same encoder.

    Args:
        variants: to choose from.
        stored: all variants of the store, those that appeared first in front.
    """
    order = {variant: number for number, variant in enumerate(stored)}
    others = [v for v in variants if v.encoder != mine.encoder and not is_undeployed(v.encoder)]
    return sorted(others, key=lambda v: (v != baseline, not is_own(v.encoder), -order.get(v, len(order))))


def in_words(row: Row) -> str:
    """``Retrieval, kb_beir: nDCG@10 0.819 against 0.740, +0.079 (95% CI +0.057 to +0.101).``"""
    difference = row.difference
    score = in_sentence(difference.label)
    values = f"{score} {written(difference, difference.a)} against {written(difference, difference.b)}"
    change = f"{written(difference, difference.value, '+')}{ci(difference, spec_of(difference, '+'))}"
    return f"{row.entry.title}, {title_of(row.dataset)}: {values}, {change}."
