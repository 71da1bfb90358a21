"""Views of stored words, cases and phrases: what the page Words shows of the rows of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import pandas as pd

from blindspot.diagnostics.words.cases import CaseKind
from blindspot.diagnostics.words.categorization import order_clusters
from blindspot.diagnostics.words.chunking.answers import counts_of
from blindspot.diagnostics.words.chunking.scoring import FOUND, GIVEN, RIGHT, dependence_of, estimate_of
from blindspot.numerics.statistics.estimate import Estimate
from blindspot.types import Int64

ALL_PHRASES = "all phrases"
# Columns of cases by what their means are called.
SHARES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "outliers": {"all: accuracy": "hit", "all: outlier position": "opp"},
        "thematic_fit": {
            "nearer to agent and verb": "hit",
            "nearer to the verb": "hit_verb",
            "nearer to the agent": "hit_agent",
            "nearer to the verb's other typical patients": "hit_fillers",
        },
    }
)


def case_shares(kind: CaseKind, rows: pd.DataFrame) -> dict[str, Estimate]:
    """Shares of all cases, with intervals over their groups."""
    shares = {}
    for name, column in SHARES[kind.entry.id].items():
        counted = rows[rows["fillers"] > 0] if column == "hit_fillers" else rows
        if len(counted):
            shares[name] = kind.share(counted[column].to_numpy(dtype=np.float64), counted)
    return shares


def case_groups(kind: CaseKind, rows: pd.DataFrame) -> pd.DataFrame:
    """A row per group, by name: its cases, the share of right ones and the mean outlier position, the worst first."""
    columns = {"right": ("hit", "mean")} | ({"opp": ("opp", "mean")} if "opp" in rows else {})
    groups = rows.groupby(kind.group, sort=False).agg(cases=("hit", "size"), **columns)
    return pd.DataFrame(groups.sort_values(list(columns), kind="stable"))


@dataclass(frozen=True, eq=False)
class Clusters:
    """Words by cluster and class.

    Attributes:
        counts: ``[c, k]``, of all clusters in their order on the axis; ``order [c]`` has their numbers.
    """

    classes: tuple[str, ...]
    counts: Int64
    order: Int64


def clusters_view(rows: pd.DataFrame) -> Clusters:
    numbers, classes = pd.factorize(rows["class"])
    counts = np.zeros((max(len(classes), int(rows["cluster"].max()) + 1), len(classes)), dtype=np.int64)
    np.add.at(counts, (rows["cluster"].to_numpy(), numbers), 1)
    order = order_clusters(counts)
    return Clusters(tuple(classes), counts[order], order)


@dataclass(frozen=True)
class PhraseKind:
    """Phrases of a kind, or all: given, found, and found right.

    Attributes:
        f1: with its interval over sentences.
    """

    kind: str
    phrases: int
    found: int
    right: int
    f1: Estimate

    @property
    def precision(self) -> float | None:
        """Share of the phrases found that are right; None where none is found."""
        return self.right / self.found if self.found else None

    @property
    def recall(self) -> float:
        return self.right / self.phrases


def phrase_kinds(rows: pd.DataFrame) -> list[PhraseKind]:
    """All phrases and each kind, the most frequent first."""
    counts, dependence = counts_of(rows), dependence_of(rows["sentence"])
    by_kind = {ALL_PHRASES: counts.sentences} | {k: counts.values[:, i] for i, k in enumerate(counts.kinds)}
    kinds = []
    for name, sums in by_kind.items():
        right, phrases_found, given = (int(sums[:, i].sum()) for i in (RIGHT, FOUND, GIVEN))
        if given:
            kinds.append(PhraseKind(name, given, phrases_found, right, estimate_of(sums, dependence)))
    return sorted(kinds, key=lambda kind: -kind.phrases)
