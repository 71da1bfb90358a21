"""Published tables with the same scores of the models in the store beside them: on pages, by command and in Python.

Published numbers are those of ``assets/reference/tables.csv``, as printed, and of ``schnabel.csv``. They are always
marked, and each table's ``note`` says what differs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from blindspot.datasets.catalog import title_of
from blindspot.diagnostic import find_diagnostic
from blindspot.diagnostics.frequency import corpus_ranks
from blindspot.diagnostics.words import schnabel_table
from blindspot.errors import unknown
from blindspot.files.reference import printed
from blindspot.numerics.statistics import rankings
from blindspot.numerics.statistics.estimate import Unit
from blindspot.numerics.statistics.families import numbers_of
from blindspot.numerics.statistics.intervals import Interval
from blindspot.numerics.statistics.pairs import Dependence, share
from blindspot.numerics.statistics.written import interval, number
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.studies.evidence.correlation import correlations
from blindspot.studies.evidence.published import measure_of
from blindspot.studies.evidence.scores import ALL_RUNS, Downstream, Measure, ScoreTable, score_table
from blindspot.texts import counted
from blindspot.variants import Variant

WANG, EGER = "Wang, Kuo and Li 2022", "Eger et al. 2019"
NORMALIZED = "zscore"
_MRR = "evalrank:evalrank-word:mrr"


@dataclass(frozen=True)
class Cell:
    """A number; ``row`` is a name as printed, or a model. ``rank`` is among the numbers of its kind in its column.

    ``models`` is the number of models behind it, None for a number of a single model.
    """

    row: str | Variant
    column: str
    value: float
    is_published: bool = False
    interval: Interval | None = None
    rank: float | None = None
    models: int | None = None

    @property
    def name(self) -> str:
        return self.row.label if isinstance(self.row, Variant) else self.row

    def in_words(self, spec: str) -> str:
        more = [] if self.rank is None else [f"rank {self.rank:g}"]
        more += [interval(self.interval, spec)] if self.interval else []
        more += [counted(self.models, "model")] if self.models else []
        return f"{number(self.value, spec)} ({'; '.join(more)})" if more else number(self.value, spec)


@dataclass(frozen=True)
class Beside:
    """A published table, with what is measured here.

    Attributes:
        head: what a row is.
        marks: whether rows or columns say what is published: ``rows`` where each row is a model.
        spec: how numbers are written; whole ones in the columns ``counts``.
        note: what a reader needs to compare the two.
    """

    id: str
    title: str
    source: str
    head: str
    marks: str
    spec: str
    cells: tuple[Cell, ...]
    note: str
    counts: tuple[str, ...] = ()

    @property
    def is_measured(self) -> bool:
        """Whether anything here was measured."""
        return any(not cell.is_published for cell in self.cells)

    def in_words(self) -> list[dict[str, str]]:
        """A record per row, as text, with a dash for a missing number."""
        rows: dict[str, dict[str, str]] = {}
        for cell in self.cells:
            mark = ", published" if cell.is_published else "" if self.marks == "rows" else ", here"
            row, column = (cell.name + mark, cell.column) if self.marks == "rows" else (cell.name, cell.column + mark)
            rows.setdefault(row, {})[column] = cell.in_words(",.0f" if cell.column in self.counts else self.spec)
        columns = list(dict.fromkeys(column for row in rows.values() for column in row))
        return [{self.head: name} | {column: row.get(column, "–") for column in columns} for name, row in rows.items()]

    def as_json(self) -> dict[str, Any]:
        """All numbers, published and measured; a missing interval, rank or number of models is None."""
        return {
            "table": self.id,
            "title": self.title,
            "source": self.source,
            "note": self.note,
            "cells": [
                {
                    "row": str(cell.row),
                    "column": cell.column,
                    "published": cell.is_published,
                    "value": cell.value,
                    "low": cell.interval and cell.interval.low,
                    "high": cell.interval and cell.interval.high,
                    "rank": cell.rank,
                    "models": cell.models,
                }
                for cell in self.cells
            ],
        }


def beside(table: str, repository: Repository, downstream: Downstream | None = None) -> Beside:
    """One of ``TABLES``, with the same scores of the models in the store.

    Raises:
        InputError: no such table.
    """
    if table not in TABLES:
        raise unknown("published table", table, TABLES)
    return TABLES[table](score_table(repository, downstream), repository)


def _published(source: str, table: str, *, ranked: bool = False) -> list[Cell]:
    values = printed(source, table)
    places = _places(values) if ranked else {}
    return [
        Cell(row, column, value, is_published=True, rank=places.get((row, column)))
        for row, cells in values.items()
        for column, value in cells.items()
    ]


def _places(cells: Mapping[Any, Mapping[str, float]]) -> dict[tuple[Any, str], float]:
    """Ranks within each column, 1 for the highest; rows have the same columns."""
    if not cells:
        return {}
    columns = list(next(iter(cells.values())))
    better = rankings.oriented(np.array([[row[c] for c in columns] for row in cells.values()]), np.ones(len(columns)))
    ranks = rankings.places(better)
    return {(row, c): float(ranks[i, j]) for i, row in enumerate(cells) for j, c in enumerate(columns)}


def _runs(
    repository: Repository, diagnostic: str, metrics: Sequence[str], params: Mapping[str, str] | None = None
) -> dict[str, dict[Variant, RunRecord]]:
    """The runs that pages show, by dataset and model; only runs that have the first of the scores."""
    entry = find_diagnostic(diagnostic)
    boards = repository.leaderboards(entry, entry.check_params(params or {}), (), metrics, ALL_RUNS)
    return {
        board.dataset: {run.plan.variant: run for run in board.runs if metrics[0] in run.metrics} for board in boards
    }


# --- the tables


def _wang_1a(table: ScoreTable, _: Repository) -> Beside:
    measures = {column: table.find(measure_of(name)) for column, name in _TASKS_1A.items()}
    values = {c: 100 * table.of(m) for c, m in measures.items() if m is not None}
    numbers = {
        variant: {c: float(values[c][i]) for c in values}
        for i, variant in enumerate(table.variants)
        if len(values) == len(measures) and not any(np.isnan(values[c][i]) for c in values)
    }
    places = _places(numbers)
    measured = [Cell(v, c, x, rank=places[v, c]) for v, row in numbers.items() for c, x in row.items()]
    return Beside(
        "wang-1a",
        "Similarity does not rank models as tasks do",
        f"{WANG}, table 1a",
        "model",
        "rows",
        ".2f",
        (*_published(WANG, "1a", ranked=True), *measured),
        "Spearman's ρ of the cosine on the STS Benchmark's test part, and accuracy on two tasks, times 100. Ranks "
        "are among the published models and among those here. The paper cross-validates its logistic regression; "
        "the page Classification says what is done here. Intervals are on the pages of each score.",
    )


_TASKS_1A = {"STS-B": "STS-Benchmark", "SST2": "SST2", "MR": "MR"}


def _wang_1b(_: ScoreTable, repository: Repository) -> Beside:
    runs = {
        metric: _runs(repository, "similarity", ["spearman"], {"metric": metric}).get("stsb-test", {})
        for metric in ("cos", "l2")
    }
    both = {
        variant: {metric: runs[metric][variant].metrics["spearman"] for metric in runs}
        for variant in runs["cos"]
        if variant in runs["l2"]
    }
    measured = [Cell(variant, metric, rank) for (variant, metric), rank in _places(both).items()]
    return Beside(
        "wang-1b",
        "The similarity alone reorders models",
        f"{WANG}, table 1b",
        "model",
        "rows",
        "g",
        (*_published(WANG, "1b"), *measured),
        "Rank by Spearman's ρ on the STS Benchmark's test part, by the cosine and by 1/(1 + Euclidean distance). "
        "Ranks here are among the models that were run with both; equal scores share their mean rank.",
    )


# By printed name: what it is, what it is here, and the measure.
_ABLATIONS = {
    "EvalRank": ("EvalRank", "EvalRank", _MRR),
    "w/o wiki vocabs": ("without Wikipedia's words",) * 2 + ("evalrank:evalrank-word-basic:mrr",),
    "w/ WN synonym": ("with WordNet synonyms", "with PPDB synonyms", "evalrank:evalrank-word-ppdb:mrr"),
    "w/ l2 metric": ("with Euclidean distance",) * 2 + (f"{_MRR}, l2",),
}


def _wang_4(table: ScoreTable, repository: Repository) -> Beside:
    by_distance = _runs(repository, "evalrank", ["mrr"], {"metric": "l2"}).get("evalrank-word", {})
    name = "EvalRank MRR by Euclidean distance"
    table = table.with_column(
        Measure("evalrank", "evalrank-word", "mrr, l2", name, 1, "word"),
        {variant: run.metrics["mrr"] for variant, run in by_distance.items()},
    )
    published_cells = _published(WANG, "4")
    tasks = {
        column: table.find(measure_of(column)) for column in dict.fromkeys(cell.column for cell in published_cells)
    }
    cells = []
    for name, (there, here, measure_id) in _ABLATIONS.items():
        cells += [Cell(there, c.column, c.value / 100, is_published=True) for c in published_cells if c.row == name]
        measure = table.find(measure_id)
        for column, task in tasks.items():
            if measure is None or task is None:
                continue
            (correlation,) = correlations(table.columns([measure, task]))
            if correlation.rho is not None:
                cells.append(Cell(here, column, correlation.rho, interval=correlation.interval, models=correlation.n))
    return Beside(
        "wang-4",
        "EvalRank without some of its parts, against tasks",
        f"{WANG}, table 4",
        "EvalRank on words",
        "columns",
        ".4f",  # as published
        tuple(cells),
        "Spearman's ρ of the MRR with the accuracy on three tasks; published over the 38 models of table 3. The "
        "paper adds about 5,000 synonyms of WordNet to the pairs; evalrank-word-ppdb adds as many of PPDB. The other "
        "rows here are evalrank-word, evalrank-word-basic, and evalrank-word with the similarity l2. Intervals leave "
        "each family of models out in turn, and need ten families.",
    )


def _wang_10(table: ScoreTable, _: Repository) -> Beside:
    chains = sorted({variant.transform for variant in table.variants} - {"none"})
    cells = [Cell(c.row, c.column, c.value / 100, is_published=True) for c in _published(WANG, "10")]
    for name in dict.fromkeys(cell.name for cell in cells):
        measure = table.find(measure_of(name))
        cells += [] if measure is None else _helped(table, measure, chains, name)
    return Beside(
        "wang-10",
        "Which share of models does post-processing help?",
        f"{WANG}, table 10",
        "score",
        "columns",
        ".1%",
        tuple(cells),
        "Share of models that score higher after post-processing than without, of those whose score it changes. "
        "Published: 19 word embeddings after ABTT, and 33 sentence models after removing a principal component, "
        "whitening or flow; the paper does not say how it counts ties. Here: all models in the store that were run "
        "both ways, of words and of sentences, the step fitted on the tested texts. Intervals take families of models "
        "for independent; each is for one cell, so that about one in twenty misses.",
    )


def _helped(table: ScoreTable, measure: Measure, chains: list[str], name: str) -> Iterator[Cell]:
    better = dict(zip(table.variants, table.better(measure).tolist(), strict=True))
    families = dict(zip(table.variants, table.families, strict=True))
    for chain in chains:
        gains = {
            variant: value - better.get(Variant(variant.encoder, "none"), np.nan)
            for variant, value in better.items()
            if variant.transform == chain
        }
        gains = {variant: gain for variant, gain in gains.items() if gain and not np.isnan(gain)}
        if gains:
            keep = np.ones(len(gains), dtype=np.bool_)
            units = Dependence.of_groups(numbers_of(tuple(families[v] for v in gains), keep), Unit.FAMILIES)
            helped = share(np.array([float(gain > 0) for gain in gains.values()]), units)
            yield Cell(name, chain, helped.value, interval=helped.interval, models=len(gains))


def _eger_2(_: ScoreTable, repository: Repository) -> Beside:
    runs = _runs(repository, "similarity", ["pearson"]).get("stsb-test", {})
    values = {variant: run.metrics["pearson"] for variant, run in runs.items()}
    measured = [
        (variant, value, values[after])
        for variant, value in values.items()
        if variant.transform == "none" and (after := Variant(variant.encoder, NORMALIZED)) in values
    ]
    cells = []
    for row, of_row in printed(EGER, "2").items():
        cells += _standard_and_normalized(row, *of_row.values(), is_published=True)
    for variant, plain, normalized in measured:
        cells += _standard_and_normalized(variant, plain, normalized)
    return Beside(
        "eger-2",
        "Normalization brings sentence encoders together",
        f"{EGER}, table 2",
        "model",
        "rows",
        ".2f",
        tuple(cells),
        "Pearson's r of the cosine on the STS Benchmark's test part, without post-processing and after z-normalization "
        f"of each dimension ({NORMALIZED}). The paper takes means and deviations over both texts of every pair; here a "
        "text that repeats counts once. It also normalizes lengths, which changes no cosine. Intervals are on the page "
        "Similarity.",
    )


def _standard_and_normalized(
    row: str | Variant, standard: float, normalized: float, *, is_published: bool = False
) -> list[Cell]:
    values = {"standard": standard, "normalized": normalized, "difference": round(normalized - standard, 12)}
    return [Cell(row, column, value, is_published) for column, value in values.items()]


def _schnabel_1(_: ScoreTable, repository: Repository) -> Beside:
    tasks = {task.name: task for task in schnabel_table.TASKS if task.group in schnabel_table.IN_PAPER}
    published = schnabel_table.published()
    cells = [Cell(model, c, 100 * v, is_published=True) for model, row in published.items() for c, v in row.items()]
    measured: dict[Variant, list[Cell]] = {}
    for name, task in tasks.items():
        for variant, run in _runs(repository, task.diagnostic, [task.metric]).get(task.dataset, {}).items():
            measured.setdefault(variant, []).append(Cell(variant, name, 100 * run.metrics[task.metric]))
    return Beside(
        "schnabel-1",
        "Word embeddings by relatedness, categories and analogies",
        schnabel_table.SOURCE,
        "model",
        "rows",
        ".1f",
        (*cells, *(cell for row in measured.values() for cell in row)),
        "Spearman's ρ, purity and accuracy, times 100. The paper answers analogies among more than 100,000 words, "
        "and does not say whether its correlations are Spearman's or Pearson's. Columns of other data than here are "
        "left out. Intervals are on the page Words.",
    )


def _schnabel_figure_4(_: ScoreTable, repository: Repository) -> Beside:
    law = corpus_ranks.published()
    cells = [
        Cell("C&W", column, value, is_published=True)
        for column, value in (("exponent", law["b"]), ("words", law["words"]), ("k up to", law["k"]))
    ]
    ends = ("neighbor_exponent_low", "neighbor_exponent_high")
    read = ("neighbor_exponent", *ends, "neighbor_r2", "words")
    for dataset, runs in _runs(repository, "frequency", read).items():
        for variant, run in runs.items():
            m, name = run.metrics, f"{variant.label}, {title_of(dataset)}"
            exponent = find_diagnostic("frequency").measured(m, "neighbor_exponent")
            cells += [
                Cell(name, "exponent", m["neighbor_exponent"], interval=exponent.interval if exponent else None),
                Cell(name, "words", m["words"]),
                Cell(name, "k up to", corpus_ranks.most_k(int(m["words"]))),
                Cell(name, "R²", m["neighbor_r2"]),
            ]
    return Beside(
        "schnabel-figure-4",
        "How the corpus rank of neighbors grows with their place",
        "Schnabel et al. 2015, section 6, figure 4",
        "model",
        "rows",
        ".3f",
        tuple(cells),
        f"Exponent b of: mean corpus rank of the k-th neighbor = a k^b. Published: {law['a']:,.0f} k^{law['b']}; the "
        "paper prints the two ranks the other way round, but no place among 1,000 neighbors is over 1,000. There k "
        f"goes up to 1,000, just under 1% of the words; here up to 1%, at most {corpus_ranks.MOST_K:,}. With R² below "
        f"{corpus_ranks.POWER_LAW} it is no power law. Intervals are over the query words.",
        counts=("words", "k up to"),
    )


TABLES: Mapping[str, Callable[[ScoreTable, Repository], Beside]] = {
    "wang-1a": _wang_1a,
    "wang-1b": _wang_1b,
    "wang-4": _wang_4,
    "wang-10": _wang_10,
    "schnabel-1": _schnabel_1,
    "schnabel-figure-4": _schnabel_figure_4,
    "eger-2": _eger_2,
}
