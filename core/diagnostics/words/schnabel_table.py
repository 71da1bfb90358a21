"""The columns of table 1 of Schnabel, Labutov, Mimno and Joachims 2015: what is computed, and what was published.

``assets/reference/schnabel.csv`` holds the table's rows as printed (times 100). Its six embeddings have 50 dimensions
and were trained on a Wikipedia of 2008; each set's words outside of their vocabularies were left out. toefl, the
selectional preferences (up and mrae) and the average over all columns are not computed here, so they are left out
beside measured scores.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from core.settings import ASSETS

SCHNABEL = ASSETS / "reference" / "schnabel.csv"
SOURCE = "Schnabel et al. 2015, table 1"
RELATEDNESS, CATEGORISATION, ANALOGY, BUILT_IN = "relatedness", "categorisation", "analogy", "built in"
GROUPS = (RELATEDNESS, CATEGORISATION, ANALOGY, BUILT_IN)
# Published columns that nothing here stands beside, and why.
NOT_COMPARABLE = {
    "esslli": "the file that can be had, 45 verbs in 9 classes, is not the one behind the published purities",
    "batt": "the file that can be had, 5,231 rows in 56 classes, is not the one behind the published purities",
}


@dataclass(frozen=True)
class Task:
    """A column.

    Attributes:
        name: its heading, as the paper has it where it has it; also the name of the published column.
        metric: the score of the run that it shows.
    """

    name: str
    group: str
    diagnostic: str
    dataset: str
    metric: str


TASKS = (
    Task("rg", RELATEDNESS, "similarity", "rg65", "spearman"),
    Task("ws", RELATEDNESS, "similarity", "ws353", "spearman"),
    Task("wss", RELATEDNESS, "similarity", "ws353-sim", "spearman"),
    Task("wsr", RELATEDNESS, "similarity", "ws353-rel", "spearman"),
    Task("men", RELATEDNESS, "similarity", "men", "spearman"),
    Task("ap", CATEGORISATION, "categorization", "categories-ap", "purity"),
    Task("esslli", CATEGORISATION, "categorization", "categories-esslli", "purity"),
    Task("batt", CATEGORISATION, "categorization", "categories-battig", "purity"),
    Task("bless", CATEGORISATION, "categorization", "categories-bless", "purity"),
    Task("an", ANALOGY, "analogy", "analogy-google", "accuracy"),
    Task("ansyn", ANALOGY, "analogy", "analogy-google", "accuracy_syntactic"),
    Task("ansem", ANALOGY, "analogy", "analogy-google", "accuracy_semantic"),
    Task("msr", ANALOGY, "analogy", "analogy-msr", "accuracy"),
    Task("demo classes", BUILT_IN, "categorization", "demo-categories", "purity"),
    Task("demo an", BUILT_IN, "analogy", "demo-analogies", "accuracy"),
)


@dataclass(frozen=True)
class PublishedRow:
    """A published embedding; fractions by the names of tasks, those that can stand beside measured scores."""

    model: str
    scores: Mapping[str, float]


@lru_cache(maxsize=1)
def published() -> tuple[PublishedRow, ...]:
    """The rows of table 1 in its order, without the columns that are not comparable."""
    with SCHNABEL.open(encoding="utf-8", newline="") as file:
        return tuple(
            PublishedRow(
                row["model"],
                {task.name: float(row[task.name]) / 100 for task in TASKS if _is_comparable(task, row)},
            )
            for row in csv.DictReader(file)
        )


def _is_comparable(task: Task, row: Mapping[str, str]) -> bool:
    return task.name in row and task.name not in NOT_COMPARABLE
