"""Table 1 of Schnabel, Labutov, Mimno and Joachims 2015: its published rows, and the columns that are computed here.

``assets/reference/schnabel.csv`` has the rows as printed (times 100): six embeddings of 50 dimensions, trained on a
Wikipedia of 2008, without each set's words outside of their vocabularies. toefl, the selectional preferences (up and
mrae, for which thematic fit stands in) and the average over all columns are not computed here. The source text of the
table had its headings shifted: columns were identified by their number and by the average, the mean of the fourteen
before it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from blindspot.files.reference import reference_rows

SOURCE = "Schnabel et al. 2015, table 1"
RELATEDNESS, CATEGORIZATION, ANALOGY, BUILT_IN = "relatedness", "categorization", "analogy", "built in"
OUTLIERS, FIT = "outlier detection", "thematic fit"  # not in the paper; fit stands in for selectional preference
CHUNKING = "chunking"  # table 4 of the paper, with other features
GROUPS = (RELATEDNESS, CATEGORIZATION, ANALOGY, OUTLIERS, FIT, CHUNKING, BUILT_IN)
# Published columns that do not compare with computed ones, and why.
NOT_COMPARABLE = {
    "esslli": "the available file (45 verbs in 9 classes) is not the one of the paper",
    "batt": "the available file (5,231 rows in 56 classes) is not the one of the paper",
}


@dataclass(frozen=True)
class Task:
    """A column; ``name`` is the published one's, ``metric`` the score of a run on its dataset."""

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
    Task("ap", CATEGORIZATION, "categorization", "categories-ap", "purity"),
    Task("esslli", CATEGORIZATION, "categorization", "categories-esslli", "purity"),
    Task("batt", CATEGORIZATION, "categorization", "categories-battig", "purity"),
    Task("bless", CATEGORIZATION, "categorization", "categories-bless", "purity"),
    Task("an", ANALOGY, "analogy", "analogy-google", "accuracy"),
    Task("ansyn", ANALOGY, "analogy", "analogy-google", "accuracy_syntactic"),
    Task("ansem", ANALOGY, "analogy", "analogy-google", "accuracy_semantic"),
    Task("msr", ANALOGY, "analogy", "analogy-msr", "accuracy"),
    Task("8-8-8", OUTLIERS, "outliers", "outliers-8-8-8", "accuracy"),
    Task("wikisem500", OUTLIERS, "outliers", "outliers-wikisem500", "accuracy"),
    Task("fit", FIT, "thematic_fit", "thematic-fit-dtfit", "accuracy"),
    Task("fit fillers", FIT, "thematic_fit", "thematic-fit-dtfit", "accuracy_fillers"),
    Task("chunks", CHUNKING, "chunking", "conll2000", "f1"),
    Task("demo classes", BUILT_IN, "categorization", "demo-categories", "purity"),
    Task("demo an", BUILT_IN, "analogy", "demo-analogies", "accuracy"),
    Task("demo outliers", BUILT_IN, "outliers", "demo-outliers", "accuracy"),
    Task("demo fit", BUILT_IN, "thematic_fit", "demo-events", "accuracy"),
    Task("demo chunks", BUILT_IN, "chunking", "demo-chunks", "f1"),
)
IN_PAPER = frozenset({RELATEDNESS, CATEGORIZATION, ANALOGY})  # groups


@lru_cache(maxsize=1)
def table_1() -> Mapping[str, Mapping[str, float]]:
    """Scores as fractions by embedding and column, in the table's order."""
    return {
        row["model"]: {name: float(value) / 100 for name, value in row.items() if name != "model"}
        for row in reference_rows("schnabel.csv")
    }


def published() -> dict[str, dict[str, float]]:
    """``table_1`` without the columns that do not compare with computed ones."""
    names = {task.name for task in TASKS} - NOT_COMPARABLE.keys()
    return {model: {name: v for name, v in row.items() if name in names} for model, row in table_1().items()}
