"""View of two models: their comparison and their costs, the same on the page and by the command."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from blindspot.numerics.statistics.compare import Verdict
from blindspot.runs.comparison import fields
from blindspot.runs.scope import EVERYTHING, Scope
from blindspot.store.repository import Repository
from blindspot.studies.compare.costs import Cost, CostKind, cost_of, written
from blindspot.studies.compare.rows import Comparison, Row, compare, headline
from blindspot.variants import Variant


@dataclass(frozen=True)
class CostRow:
    """A cost of A and of B as text; ``ratio`` is A's over B's, a dash if one is not known."""

    title: str
    a: str
    b: str
    ratio: str


@dataclass(frozen=True)
class TwoModels:
    """A and B over everything that both have, and what each costs."""

    comparison: Comparison
    costs: tuple[Cost, Cost]

    @property
    def told(self) -> TwoModels:
        """From the side of the headline, as tables show it; see ``Comparison.told``."""
        cost, other = self.costs
        return TwoModels(self.comparison.told, (other, cost) if self.comparison.is_about_b else self.costs)

    @property
    def headline(self) -> str:
        """Questions about the data, then the sentence."""
        comparison = self.comparison
        return " ".join([*comparison.doubts, headline(comparison, comparison.a.label, comparison.b.label)])

    @property
    def cost_rows(self) -> list[CostRow]:
        rows = []
        for kind in CostKind:
            a, b = (kind.of(cost) for cost in self.costs)
            ratio = f"{a / b:,.2g}" if a and b else "–"
            rows.append(CostRow(kind.heading, written(kind, self.costs[0]), written(kind, self.costs[1]), ratio))
        return rows

    def as_json(self, picked: Mapping[str, str]) -> dict[str, Any]:
        """Undefined values are None; ``picked`` are the parameters that were asked for."""
        comparison = self.comparison
        return {
            "a": _model(comparison.a, self.costs[0]),
            "b": _model(comparison.b, self.costs[1]),
            **picked,
            "better": comparison.count(Verdict.BETTER),
            "worse": comparison.count(Verdict.WORSE),
            "no_significant_difference": comparison.count(Verdict.ALIKE),
            "not_tested": comparison.count(Verdict.UNTESTED),
            "said": self.headline,
            "rows": [row_as_json(row) for row in comparison.rows],
            "missing": [
                vars(gap) | {"params": dict(gap.params), "lacking": [str(variant) for variant in gap.lacking]}
                for gap in comparison.missing
            ],
        }


def compare_view(
    a: Variant, b: Variant, repository: Repository, picked: Mapping[str, str], scope: Scope = EVERYTHING
) -> TwoModels:
    """Two models with the picked parameters; raises ``InputError`` as ``rows.compare`` and ``Comparison.only``."""
    comparison = compare(a, b, repository, picked).only(scope)
    return TwoModels(comparison, (cost_of(a, repository), cost_of(b, repository)))


def _model(variant: Variant, cost: Cost) -> dict[str, Any]:
    return {
        "encoder": variant.encoder,
        "transform": variant.transform,
        "dimension": cost.dimension,
        "parameters": cost.parameters,
        "megabytes_per_million": cost.megabytes_per_million,
    }


def row_as_json(row: Row) -> dict[str, Any]:
    """The numbers of a comparison's row; undefined ones are None."""
    share = row.difference.advantage_interval
    return {
        "diagnostic": row.entry.id,
        "dataset": row.dataset,
        "params": dict(row.a.plan.params),
        "runs": [row.a.run_id, row.b.run_id],
        **fields(row.difference, is_in_question=bool(row.doubt)),
        "advantage": row.difference.advantage,
        "advantage_low": share.low if share else None,
        "advantage_high": share.high if share else None,
        "decides": row.decides,
        "p_of_all": row.p_of_all,
        "holds_among_all": row.holds,
        "doubt": row.doubt or None,
    }
