"""All of a store, to compare it with another."""

from __future__ import annotations

from typing import Any

from blindspot.store.repository import Repository

CIRCUMSTANCES = ("finished", "machine")


def everything(repository: Repository) -> dict[str, Any]:
    """All that a store keeps of finished runs, but for numbers of its own and when and where they were computed."""
    out: dict[str, Any] = {}
    with repository.database.cursor() as cursor:
        tables = [name for (name,) in cursor.execute("SHOW TABLES").fetchall()]
        runs = dict(cursor.execute("SELECT run_seq, run_id FROM run").fetchall())
        datasets = dict(cursor.execute("SELECT dataset_seq, dataset_digest FROM dataset").fetchall())
        for name in sorted(set(tables) - {"schema_version", "run"}):
            rows = cursor.sql(f'SELECT * FROM "{name}"').to_arrow_table().to_pylist()
            for row in rows:
                if "run_seq" in row:
                    row["run_seq"] = runs[row["run_seq"]]
                if "dataset_seq" in row:
                    row["dataset_seq"] = datasets[row["dataset_seq"]]
                row.pop("seconds", None)
            out[name] = sorted(rows, key=repr)
    for run in repository.runs():
        manifest = {key: value for key, value in run.manifest.items() if key not in CIRCUMSTANCES}
        manifest.get("embeddings", {}).pop("encoded_now", None)
        out[run.run_id] = (run.plan, run.state, run.metrics, dict(run.coverage), set(run.timings), manifest)
    return out
