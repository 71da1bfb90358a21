"""Cases of outlier detection and thematic fit, each right or wrong, as rows of the store.

Cases that share words are not independent: outliers of one group, or one outlier of several groups; events of one verb
or one agent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
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
    """How pages and findings describe the cases of a diagnostic; its rows have a column ``hit`` from 0 to 1.

    Attributes:
        group: column of the stored rows that cases are grouped by.
        shared: from the stored rows, the two things by which cases depend on each other.
        units: what is independent: groups of cases, or else those things.
        title: of the headline score; ``cases``: the word for one case, and for several.
        does: what a model does with a share of so many cases, after its name: ``finds {} of {}``.
        view: of the page Words; the parameters ``<view>_of`` and ``<view>_by`` have dataset and model.
        texts: the texts of a row, each with its role.
        answer: what the model answers in a row.
    """

    entry: Diagnostic
    group: str
    shared: Callable[[pd.DataFrame], tuple[Sequence[str], Sequence[str]]]
    units: tuple[Unit, Unit]
    title: str
    cases: tuple[str, str]
    does: str
    view: str
    texts: Callable[[pd.Series], tuple[tuple[str, str], ...]]
    answer: Callable[[pd.Series], str]

    def address(self, run: RunRecord) -> dict[str, str]:
        """Parameters of the address that shows the cases of one run."""
        return {
            "view": self.view,
            f"{self.view}_of": run.plan.dataset,
            f"{self.view}_by": str(run.plan.variant),
        }

    def dependence(self, rows: pd.DataFrame) -> Dependence:
        """Dependence of the cases in some rows."""
        return Dependence.of_texts(*self.shared(rows))

    def named(self, estimate: Estimate) -> Estimate:
        """An estimate over cases, with the right name for its independent units."""
        return replace(estimate, unit=self.units[estimate.unit is Unit.TEXTS])

    def share(self, right: Float64, rows: pd.DataFrame) -> Estimate:
        """The share of right cases with its interval."""
        return self.named(statistics.share(right, self.dependence(rows)))


def _groups_and_outliers(rows: pd.DataFrame) -> tuple[Sequence[str], Sequence[str]]:
    """The group of each case, where groups that share words count as one, and its outlier."""
    groups = rows.drop_duplicates("group_name")[["group_name", "words"]]
    words = groups.assign(word=groups["words"].str.split("; ")).explode("word")
    connected = Dependence.of_texts("group " + words["group_name"], words["word"]).groups
    number = dict(zip(words["group_name"], connected.tolist(), strict=True))
    return [f"group {number[name]}" for name in rows["group_name"]], rows["outlier"].tolist()


def _verbs_and_agents(rows: pd.DataFrame) -> tuple[Sequence[str], Sequence[str]]:
    return ("to be " + rows["verb"]).tolist(), rows["agent"].tolist()


def _outlier(row: pd.Series) -> tuple[tuple[str, str], ...]:
    return (("outlier", str(row["outlier"])), ("words", str(row["words"])))


OUTLIERS = CaseKind(
    outliers.ENTRY,
    "group_name",
    _groups_and_outliers,
    (Unit.CASES, Unit.GROUPS),
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
    _verbs_and_agents,
    (Unit.EVENTS, Unit.VERBS),
    "Typical patients nearer",
    ("event", "events"),
    "puts the typical patient nearer in {} of {}",
    "events",
    lambda row: (("event", f"{row['agent']} {row['verb']} {row['typical']}"), ("atypical", str(row["atypical"]))),
    lambda row: str(row["typical"] if row["hit"] > 0.5 else row["atypical"] if row["hit"] < 0.5 else "both"),
)
KINDS: Mapping[str, CaseKind] = MappingProxyType({kind.entry.id: kind for kind in (OUTLIERS, EVENTS)})
