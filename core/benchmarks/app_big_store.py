"""A store of 100,000 runs and 50 million rows for the benchmarks of the app: copies of a few runs, made in the store.

The copies' models and datasets never were, so nothing can be encoded again; their rows, scores and texts are real.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from benchmarks import app_store
from benchmarks.app_store import FilledStore
from blindspot.store.db import queries_beside, tables_of
from blindspot.store.repository import Repository
from blindspot.types import Progress, no_progress

query = queries_beside(__file__)
ENCODER = "random-projection"  # quick


@dataclass(frozen=True)
class Size:
    """Copies of every run: by so many models, each with so many transforms, on so many datasets."""

    models: int
    transforms: int
    datasets: int


BIG = Size(models=25, transforms=25, datasets=20)  # of nine diagnostics 112,500 runs, with 448 rows each


@dataclass(frozen=True)
class BigStore:
    """A filled store, with ``runs`` and their per-item ``rows``, in a file of so many ``bytes``."""

    filled: FilledStore
    runs: int
    rows: int
    bytes: int


def fill(folder: Path, size: Size, progress: Progress = no_progress) -> BigStore:
    """Fill a store below a folder with one model under every diagnostic, and copies of its runs."""
    filled = app_store.fill(folder, progress, (ENCODER,))
    repository = Repository.at(app_store.settings_of(folder / "cache").store)
    runs = [run for run in repository.runs() if run.plan.variant.transform == "none"]
    tables = sorted({run.plan.table for run in runs})
    rows = _copy(repository, [run.run_id for run in runs], tables, size, progress)
    total = repository.page(limit=1).total
    repository.database.close()
    return BigStore(filled, total, rows, repository.database.path.stat().st_size)


def _copy(repository: Repository, run_ids: Sequence[str], tables: Sequence[str], size: Size, progress: Progress) -> int:
    """Copy runs; returns how many rows the tables of results have then."""
    with repository.database.cursor() as cursor:
        params = {"models": size.models, "transforms": size.transforms, "datasets": size.datasets}
        cursor.execute(query("copied_runs"), {"run_ids": list(run_ids), **params})
        for name in ("insert_runs", "insert_embeddings", "insert_scores", "copied_datasets", "insert_datasets"):
            cursor.execute(query(name))
        for table in sorted(name for name in tables_of(cursor) if name.startswith("dataset_")):
            if table != "dataset_alias":
                cursor.execute(query("insert_content").replace("{table}", table))
        rows = 0
        for i, table in enumerate(tables):
            progress("copying runs", i, len(tables))
            cursor.execute(query("insert_rows").replace("{table}", table))
            rows += int(cursor.execute(f"SELECT count(*) FROM {table}").fetchall()[0][0])
    return rows


@cache
def big() -> BigStore:
    """The big store, in a folder that is deleted with this process: about two minutes, and a gigabyte."""
    return fill(app_store.temporary_folder(), BIG)
