"""Command ``list``: contents of the catalogs."""

from __future__ import annotations

from typing import Annotated

import typer

from blindspot.cli import output
from blindspot.cli.options import AsJson
from blindspot.datasets.catalog import DATASETS, FAMILIES, OWN_FILE, OWN_FOLDER, OWN_FOLDER_FORMS, OWN_FORMS
from blindspot.diagnostic import all_diagnostics
from blindspot.encoders.catalog import ENCODERS, RANKINGS, SCHEMES
from blindspot.errors import unknown
from blindspot.references import BM25
from blindspot.transforms.chain import STEPS


def list_catalogs(
    kind: Annotated[str, typer.Argument(help="encoders, transforms, datasets or diagnostics; all if left out")] = "",
    as_json: AsJson = False,
) -> None:
    """List encoders, transforms, datasets and diagnostics."""
    catalogs: dict[str, list[tuple[str, str]]] = {
        "encoders": [(e.id, e.description) for e in ENCODERS.values()] + [(BM25, RANKINGS[BM25].description)],
        "transforms": [(s.name, s.help) for s in STEPS.values()],
        "datasets": [(d.id, d.description) for d in DATASETS.values()],
        "diagnostics": [(d.id, d.question) for d in all_diagnostics().values()],
    }
    if kind and kind not in catalogs:
        raise unknown("catalog", kind, catalogs)
    wanted = {name: rows for name, rows in catalogs.items() if kind in {"", name}}
    if as_json:
        output.print_json({name: [{"id": i, "description": d} for i, d in rows] for name, rows in wanted.items()})
        return
    for name, rows in wanted.items():
        output.print_table(name.capitalize(), ["id", "description"], rows)
        if name == "encoders":
            references = [(s.form, s.description) for s in SCHEMES.values()]
            references += [(r.form, r.description) for name, r in RANKINGS.items() if name != BM25]
            output.print_table("Encoders by reference", ["form", "description"], references)
    if "datasets" in wanted:
        for family in FAMILIES.values():
            print(f"{family.id}: {family.size}; {family.naming}.")
        print(f"Your own texts: {OWN_FILE}; {OWN_FORMS}.")
        print(f"Your own retrieval: {OWN_FOLDER}; {OWN_FOLDER_FORMS}.")
