"""Published correlations of intrinsic scores with tasks, for comparison with measured ones.

``assets/reference/evidence.csv`` has Spearman's ρ times 100, as printed in tables 3 (words), 6 and 11 (sentences;
11 without post-processed models) and 7 (EvalRank's positive pairs from one source only) of Wang, Kuo and Li 2022. The
paper does not give the number of models of table 7; its first three rows are table 6's, so it is 67. The paper's text
mentions fewer strong correlations than table 3 has, and 7 tasks for the 8 columns of table 6; this follows the tables.

``schnabel_tasks.csv`` has tables 4 and 5 of Schnabel et al. 2015: F1 times 100 on noun phrase chunking and sentiment,
with p-values relative to the best embedding, as printed. In table 5 those of GloVe and TSCCA may be swapped: the one
nearer to the best has the smaller p. Table 1 is in ``blindspot.diagnostics.words.schnabel_table``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from blindspot.files.reference import reference_rows

SCHNABEL = "Schnabel et al. 2015"
WORD_TABLE, SENTENCE_TABLE, SOURCES_TABLE, PLAIN_TABLE = 3, 6, 7, 11  # of Wang, Kuo and Li 2022
# The datasets of the papers' evaluators.
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


def measure_of(name: str) -> str:
    """A similarity benchmark or a task, by its printed name, as it is measured here: the id of a ``Measure``."""
    return f"similarity:{_SIMILARITY[name]}:spearman" if name in _SIMILARITY else name.lower()


@dataclass(frozen=True)
class Models:
    """Numbers of models behind a table (tables 8 and 9 of Wang, Kuo and Li 2022)."""

    count: int
    names: int  # GloVe, BERT, ...: models of one name are not independent evidence
    post_processed: int


MODELS = {
    WORD_TABLE: Models(38, 5, 19),
    SENTENCE_TABLE: Models(67, 11, 33),
    SOURCES_TABLE: Models(67, 11, 33),
    PLAIN_TABLE: Models(34, 10, 0),  # without BERT-flow too
}


@dataclass(frozen=True)
class PublishedCorrelation:
    """A cell of a published table, with names as printed; the fields are the columns of the file."""

    source: str
    table: int
    level: str  # of the evaluator, "word" or "sentence"; tasks are of sentences
    evaluator: str
    positives: str  # the source of EvalRank's positive pairs in table 7, else ""
    task: str
    rho: float

    @property
    def models(self) -> Models:
        return MODELS[self.table]

    @property
    def measure_id(self) -> str:
        """The same evaluator as it is computed here, ``diagnostic:dataset:metric``, or ""."""
        if self.evaluator in _EVALRANK:
            is_whole = self.positives in {"", "STS-B + STR"}
            return f"evalrank:{_EVALRANK_SETS[self.level]}:{_EVALRANK[self.evaluator]}" if is_whole else ""
        return measure_of(self.evaluator)

    @property
    def task_id(self) -> str:
        """The dataset of the task."""
        return measure_of(self.task)


@dataclass(frozen=True)
class PublishedTask:
    """A cell of table 4 or 5 of Schnabel et al.; the fields are the columns of the file."""

    table: int
    task: str
    part: str  # "dev" or "test"
    model: str
    p_value: str  # as printed, relative to the best embedding, or ""
    note: str  # on what is doubtful
    f1: float  # a fraction


@lru_cache(maxsize=1)
def correlations() -> tuple[PublishedCorrelation, ...]:
    """All published correlations, table by table and row by row."""
    return tuple(
        PublishedCorrelation(
            row["source"],
            int(row["table"]),
            row["level"],
            row["evaluator"],
            row["positives"],
            row["task"],
            float(row["rho100"]) / 100,
        )
        for row in reference_rows("evidence.csv")
    )


def of_table(table: int) -> tuple[PublishedCorrelation, ...]:
    """The cells of one of the tables 3, 6, 7 and 11, row by row."""
    return tuple(cell for cell in correlations() if cell.table == table)


@lru_cache(maxsize=1)
def task_scores() -> tuple[PublishedTask, ...]:
    """Tables 4 and 5 of Schnabel et al., row by row."""
    return tuple(
        PublishedTask(
            int(row["table"]),
            row["task"],
            row["part"],
            row["model"],
            row["p_value"],
            row["note"],
            float(row["f1_100"]) / 100,
        )
        for row in reference_rows("schnabel_tasks.csv")
    )
