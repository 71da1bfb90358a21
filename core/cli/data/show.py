"""``python -m core data show``: what a dataset holds."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from core.cli import output
from core.cli.options import AsJson, names_columns, of_columns
from core.datasets import catalog as datasets
from core.datasets import fetch
from core.datasets.kinds.labelled_texts import LabelledCounts, LabelledTexts
from core.datasets.own.reference import NamedColumns
from core.settings import Settings

SHOWN_ROWS = 5


@names_columns
def show(
    dataset: Annotated[str, typer.Argument(help=f"dataset id or {datasets.OWN_FILE}")],
    rows: Annotated[int, typer.Option(min=0, max=1_000, help="how many of its rows, from the first")] = SHOWN_ROWS,
    as_json: AsJson = False,
    *,
    columns: NamedColumns | None,
) -> None:
    """What a dataset holds: its first rows; of labelled texts also classes, splits, and what repeats or leaks."""
    settings = Settings.from_environment()
    (reference,) = of_columns([dataset], columns)
    entry = datasets.find(reference)
    with output.progress(entry.id) as progress:
        data = fetch.load(entry, settings, progress)
    counts = data.counts if isinstance(data, LabelledTexts) else None
    first = data.first_rows(rows)
    if as_json:
        facts = {name: getattr(entry, name) for name in ("id", "title", "kind", "size", "licence", "citation")}
        held = {} if counts is None else {"counts": asdict(counts)}
        output.print_json(facts | held | {"rows": [dict(zip(first.headings, r, strict=True)) for r in first.cells]})
        return
    output.print_text(f"{entry.title}: {entry.description} ({entry.size}.)")
    if entry.own:
        output.print_text(f"read {entry.own.summary}")
    if counts is not None:
        _print_classes(entry.id, counts)
    if first.cells:
        cells = [[f"{c:g}" if isinstance(c, float) else str(c) for c in row] for row in first.cells]
        output.print_table(f"The first rows of {entry.id}", first.headings, cells)


def _print_classes(dataset: str, counts: LabelledCounts) -> None:
    parts = [part for part in ("train", "dev", "test") if any(getattr(c, part) for c in counts.classes)]
    rows = [
        (
            c.name,
            f"{c.examples:,}",
            f"{c.examples / counts.examples:.1%}",
            *(f"{getattr(c, part):,}" for part in parts),
        )
        for c in counts.classes
    ]
    output.print_table(f"Classes of {dataset}", ["class", "examples", "share", *parts], rows)
    where = "of the test part" if counts.is_split else "of all examples"
    output.print_text(f"always saying '{counts.majority.name}': right in {counts.baseline:.1%} {where}")
    for line in counts.caution or ("no text stands in it twice",):
        output.print_text(line)
