"""Published evidence on what intrinsic scores foretell: facts to lay beside measured ones, always marked as published.

``assets/reference/evidence.csv`` holds the correlations of tables 3 (words), 6 and 11 (sentences; 11 without
post-processed models) and 7 (EvalRank's positive pairs from one source only) of Wang, Kuo and Li 2022, as printed:
Spearman's rho times 100. For table 7 the paper does not say how many models; its first three rows are table 6's, so
they are those 67. The paper's text speaks of fewer strong correlations than table 3 has, and of 7 tasks where table 6
has 8 columns: the tables are taken, not the text.

``schnabel.csv`` holds table 1 of Schnabel et al. 2015, ``schnabel_tasks.csv`` its tables 4 and 5: F1 times 100 on noun
phrase chunking and sentiment, with p-values with respect to the best embedding. The text that this was read from has
the groups of table 1's heading beside other columns than the values; the columns are told by their number and by the
average, which is the mean of the fourteen before it in every row. In table 5 the p-values of GloVe and TSCCA look
exchanged, for the nearer to the best has the smaller one; they stand here as they are printed.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from core.settings import ASSETS

FOLDER = ASSETS / "reference"
CORRELATIONS, INTRINSIC, TASKS = (FOLDER / f"{n}.csv" for n in ("evidence", "schnabel", "schnabel_tasks"))
SCHNABEL = "Schnabel et al. 2015"
AVERAGE = "average"  # the last column of table 1
WORD_TABLE, SENTENCE_TABLE, SOURCES_TABLE, PLAIN_TABLE = 3, 6, 7, 11  # of Wang, Kuo and Li 2022
# What stands here for an evaluator or a task of the papers: ``diagnostic:dataset:metric``, and a dataset.
_SIMILARITY = {
    "WS-353-All": "ws353",
    "WS-353-Rel": "ws353-rel",
    "WS-353-Sim": "ws353-sim",
    "RW-STANFORD": "rw",
    "MEN-TR-3K": "men",
    "MTURK-287": "mturk287",
    "MTURK-771": "mturk771",
    "SIMLEX-999": "simlex999",
    "SIMVERB-3500": "simverb3500",
    "STS-Benchmark": "stsb-test",
    "SICK-Relatedness": "sick-test",
    **{name: name.lower() for name in ("STS12", "STS13", "STS14", "STS15", "STS16", "STR")},
}
_EVALRANK = {"EvalRank MRR": "mrr", "EvalRank Hits@1": "hits@1", "EvalRank Hits@3": "hits@3"}
_EVALRANK_SETS = {"word": "evalrank-word", "sentence": "evalrank-sent"}


@dataclass(frozen=True)
class Models:
    """Over which models a table is (tables 8 and 9 of Wang, Kuo and Li 2022).

    Attributes:
        count: how many.
        names: how many names they have (GloVe, BERT, ...): models of one name are no independent evidence.
        post_processed: how many of them are others after post-processing.
    """

    count: int
    names: int
    post_processed: int


MODELS = {
    WORD_TABLE: Models(38, 5, 19),
    SENTENCE_TABLE: Models(67, 11, 33),
    SOURCES_TABLE: Models(67, 11, 33),
    PLAIN_TABLE: Models(34, 10, 0),  # without BERT-flow too
}


@dataclass(frozen=True)
class PublishedCorrelation:
    """A cell of a published table.

    Attributes:
        table: its number.
        level: ``word`` or ``sentence``: of the evaluator; tasks are of sentences.
        evaluator, task: as printed; of EvalRank with its score.
        positives: of table 7 where EvalRank's positive pairs are from, else "".
        rho: Spearman's, from -1 to 1.
    """

    source: str
    table: int
    level: str
    evaluator: str
    positives: str
    task: str
    rho: float

    @property
    def models(self) -> Models:
        """Over which models it is."""
        return MODELS[self.table]

    @property
    def measure_id(self) -> str:
        """The evaluator that is computed here, ``diagnostic:dataset:metric``; "" where there is none like it."""
        if self.evaluator in _EVALRANK:
            is_whole = self.positives in {"", "STS-B + STR"}
            return f"evalrank:{_EVALRANK_SETS[self.level]}:{_EVALRANK[self.evaluator]}" if is_whole else ""
        return f"similarity:{_SIMILARITY[self.evaluator]}:spearman"

    @property
    def task_id(self) -> str:
        """The dataset of the task."""
        return self.task.lower()


@dataclass(frozen=True)
class PublishedIntrinsic:
    """A row of table 1 of Schnabel et al.: fractions by its columns, the average last."""

    model: str
    scores: Mapping[str, float]


@dataclass(frozen=True)
class PublishedTask:
    """A cell of table 4 or 5 of Schnabel et al.

    Attributes:
        part: ``dev`` or ``test``.
        f1: a fraction.
        p_value: as printed, with respect to the best embedding; "" where there is none.
        note: what is doubtful.
    """

    table: int
    task: str
    part: str
    model: str
    f1: float
    p_value: str
    note: str


@lru_cache(maxsize=1)
def correlations() -> tuple[PublishedCorrelation, ...]:
    """All published correlations, table by table and row by row."""
    return tuple(
        PublishedCorrelation(
            source=row["source"],
            table=int(row["table"]),
            level=row["level"],
            evaluator=row["evaluator"],
            positives=row["positives"],
            task=row["task"],
            rho=float(row["rho100"]) / 100,
        )
        for row in _rows(CORRELATIONS)
    )


def of_table(table: int) -> tuple[PublishedCorrelation, ...]:
    """The cells of one of the tables 3, 6, 7 and 11, row by row."""
    return tuple(cell for cell in correlations() if cell.table == table)


@lru_cache(maxsize=1)
def intrinsic_scores() -> tuple[PublishedIntrinsic, ...]:
    """Table 1 of Schnabel et al., row by row."""
    return tuple(
        PublishedIntrinsic(row["model"], {name: float(v) / 100 for name, v in row.items() if name != "model"})
        for row in _rows(INTRINSIC)
    )


@lru_cache(maxsize=1)
def task_scores() -> tuple[PublishedTask, ...]:
    """Tables 4 and 5 of Schnabel et al., row by row."""
    return tuple(
        PublishedTask(
            table=int(row["table"]),
            task=row["task"],
            part=row["part"],
            model=row["model"],
            f1=float(row["f1_100"]) / 100,
            p_value=row["p_value"],
            note=row["note"],
        )
        for row in _rows(TASKS)
    )


def _rows(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)
