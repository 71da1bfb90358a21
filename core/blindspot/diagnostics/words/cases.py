"""Cases that a model gets right or wrong one by one, of outlier detection and thematic fit, as rows of the store.

Cases of one group share words: the groups are independent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import pandas as pd

from blindspot.diagnostic import Diagnostic
from blindspot.diagnostics.words import outliers, thematic_fit
from blindspot.numerics.statistics import pairs as statistics
from blindspot.numerics.statistics.estimate import Estimate, Unit
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.store.records import RunRecord
from blindspot.types import Float64


@dataclass(frozen=True)
class CaseKind:
    """What the pages and findings say of the cases of a diagnostic, whose rows have a column ``hit`` from 0 to 1.

    Attributes:
        group: column of the stored rows with what cases share; ``unit``: what these are.
        title: of the headline score; ``cases``: one and several.
        does: what a model does with a share of so many cases, after its name: ``finds {} of {}``.
        view: of the page Words; the parameters ``<view>_of`` and ``<view>_by`` have dataset and model.
        texts: of a row, each with its role.
        answer: what the model says of a row.
    """

    entry: Diagnostic
    group: str
    unit: Unit
    title: str
    cases: tuple[str, str]
    does: str
    view: str
    texts: Callable[[pd.Series], tuple[tuple[str, str], ...]]
    answer: Callable[[pd.Series], str]

    def address(self, run: RunRecord) -> dict[str, str]:
        """The cases of one run."""
        return {
            "view": self.view,
            f"{self.view}_of": run.plan.dataset,
            f"{self.view}_by": str(run.plan.variant),
        }

    def dependence(self, groups: Sequence[str]) -> Dependence:
        """Of cases by the group of each."""
        return Dependence.of_texts(groups, unit=self.unit)

    def share(self, right: Float64, groups: Sequence[str]) -> Estimate:
        """The share of right cases with its interval."""
        return statistics.share(right, self.dependence(groups))


def _outlier(row: pd.Series) -> tuple[tuple[str, str], ...]:
    return (("outlier", str(row["outlier"])), ("words", str(row["words"])))


OUTLIERS = CaseKind(
    outliers.ENTRY,
    "group_name",
    Unit.GROUPS,
    "Outliers found",
    ("outlier", "outliers"),
    "finds {} of {}",
    "outliers",
    _outlier,
    lambda row: str(row["picked"]),
)
EVENTS = CaseKind(
    thematic_fit.ENTRY,
    "verb",
    Unit.VERBS,
    "Typical patients nearer",
    ("event", "events"),
    "puts the typical patient nearer in {} of {}",
    "events",
    lambda row: (("event", f"{row['agent']} {row['verb']} {row['typical']}"), ("atypical", str(row["atypical"]))),
    lambda row: str(row["typical"] if row["hit"] > 0.5 else row["atypical"] if row["hit"] < 0.5 else "both"),
)
KINDS: Mapping[str, CaseKind] = MappingProxyType({kind.entry.id: kind for kind in (OUTLIERS, EVENTS)})
