"""``python -m core data list``: the catalog's datasets, and which of them are on this machine."""

from __future__ import annotations

from core.cli import output
from core.cli.options import AsJson
from core.datasets import catalog as datasets
from core.datasets import fetch
from core.settings import Settings


def list_(as_json: AsJson = False) -> None:
    """Datasets with their counts, licence and state on this machine."""
    settings = Settings.from_environment()
    states = {entry.id: fetch.dataset_state(entry, settings) for entry in datasets.DATASETS.values()}
    if as_json:
        fields = ("id", "title", "kind", "size", "licence", "citation", "url", "revision")
        rows = [{f: getattr(e, f) for f in fields} | {"state": states[e.id]} for e in datasets.DATASETS.values()]
        output.print_json({"datasets": rows})
        return
    output.print_table(
        "Datasets",
        ["id", "state", "size", "licence"],
        [(e.id, states[e.id], e.size, e.licence) for e in datasets.DATASETS.values()],
    )
