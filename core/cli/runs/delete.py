"""``python -m core runs delete``: one run less."""

from __future__ import annotations

from core.cli.options import AnyRun
from core.settings import Settings
from core.store.repository import Repository


def delete(run_id: AnyRun) -> None:
    """Delete one run with its scores and items; embeddings stay in the cache."""
    repository = Repository.at(Settings.from_environment().store)
    record = repository.run(run_id)
    repository.delete(record)
    print(f"run {record.run_id} deleted")
