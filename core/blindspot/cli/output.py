"""Output of the command line: results on stdout as tables or JSON, progress on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import Any, Protocol

from rich.console import Console
from rich.progress import BarColumn, TaskID, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Display
from rich.table import Table
from rich.text import Text

from blindspot import names
from blindspot.cli import WARNED
from blindspot.datasets.catalog import limits_of
from blindspot.diagnostic import Score
from blindspot.encoders.served.encoder import ServedEncoder
from blindspot.encoders.served.reference import ServedReference
from blindspot.errors import visible
from blindspot.numerics.statistics.written import SCORE, number, percent
from blindspot.references import ModelRef
from blindspot.runs.sending import sendings
from blindspot.settings import Settings
from blindspot.store.changed_models import changes
from blindspot.store.naming import names_of
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.types import Progress as Listener

# A pipe has no width of its own; this one is wide enough for every id.
stdout = Console(width=None if sys.stdout.isatty() else 180, emoji=False)
stderr = Console(stderr=True, emoji=False)
SECONDS_BETWEEN_LINES = 5.0  # of progress, where stderr is not a terminal


def use_names(settings: Settings, repository: Repository, models: Iterable[str] = ()) -> None:
    """Print models and datasets under their names in the store from now on, as the pages do.

    Call this only where text is printed: JSON has references, and sentences without a store's names.

    Args:
        settings: where the uploads are.
        models: references of models that may not be in the store yet.
    """
    names.put_in_force(names_of(repository, settings, models))


def covered(record: RunRecord) -> str:
    """How much of the dataset the encoder covers, in words; "" if all of it."""
    c = record.coverage
    if c["items"] == c["items_covered"]:
        return ""
    others = ", ".join(map(names.current().model, record.plan.covered_by))
    whose = f", shared with {others}" if others else ""
    pairs = f"{c['pairs_covered']:,} of {c['pairs']:,} pairs and " if "pairs" in c else ""
    if "examples" in c:
        pairs = f"{c['examples_covered']:,} of {c['examples']:,} examples and "
    return f"; covers {pairs}{c['items_covered']:,} of {c['items']:,} texts{whose}"


def run_json(record: RunRecord) -> dict[str, Any]:
    return {
        "run_id": record.run_id,
        "diagnostic": record.plan.diagnostic,
        "encoder": record.plan.variant.encoder,
        "transform": record.plan.variant.transform,
        "dataset": record.plan.dataset,
        "params": dict(record.plan.params),
        "metrics": dict(record.metrics),
        "coverage": dict(record.coverage),
        "timings": dict(record.timings),
        "manifest": dict(record.manifest),
    }


def is_agreed(action: str) -> bool:
    """Ask at the terminal; no answer means no."""
    try:
        return input(f"    {action}? [y/N] ").strip().lower() in {"y", "yes"}
    except EOFError:
        return False


def warn(warnings: Iterable[str]) -> None:
    """Print warnings to stderr; ``print_json`` has them too, for readers that do not see it."""
    for warning in warnings:
        WARNED.get([]).append(warning)
        print("warning:", visible(warning), file=sys.stderr)


def announce(tasks: Iterable[object], settings: Settings) -> None:
    """Print to stderr what goes to servers, before it does."""
    for sending in sendings(tasks, settings):
        print(visible(sending.in_words), file=sys.stderr)


def warn_of_changes(encoders: Iterable[ModelRef], settings: Settings, repository: Repository) -> None:
    """Warn of servers that have another model than before, and of models whose files have changed since their runs."""
    models = list(dict.fromkeys(encoders))
    warn(changes(models, repository, settings))
    served = (model for model in models if model.startswith("api:"))
    warn(filter(None, (ServedEncoder.of(ServedReference.parse(model), settings).change for model in served)))


def print_json(value: Mapping[str, object]) -> None:
    """Print an object, with what the command has warned of as its ``warnings``, unless there is nothing."""
    warned = list(dict.fromkeys(WARNED.get([])))
    shown = ({"warnings": warned} if warned else {}) | dict(value)
    print(json.dumps(shown, ensure_ascii=False, indent=2, allow_nan=False))


def print_rows(title: str, rows: Sequence[Mapping[str, object]], specs: Mapping[str, str] = {}) -> None:
    """Print a table of rows, each its cells by heading; nothing if there are none.

    Args:
        specs: formats of numbers by heading; others are written as scores, True is *yes* and False is empty.
    """
    if rows:
        written = [[cell(value, specs.get(name, SCORE)) for name, value in row.items()] for row in rows]
        print_table(title, list(rows[0]), written)


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    # Text, since rich would read brackets in a title as markup.
    table = Table(title=Text(visible(title), style="table.title"), title_justify="left")
    for column in columns:
        table.add_column(visible(column), overflow="fold")
    for row in rows:
        table.add_row(*(visible(str(cell)) for cell in row))
    stdout.print(table, markup=False, highlight=False)


def print_text(*lines: str) -> None:
    """Print lines without wrapping them."""
    for line in lines:
        print(visible(line))


def print_limits(datasets: Iterable[str]) -> None:
    """Print what scores on these datasets do not say, below them."""
    print_text(*limits_of(datasets))


def score_cell(metric: Score, value: float) -> str:
    return number(value, ",.0f" if metric.is_count else f",{SCORE}")


def cell(value: object, spec: str = SCORE) -> str:
    """A value in a table of scores; a dash for a missing one."""
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, int) and spec == ",":
        return f"{value:,}"
    if not isinstance(value, float):
        return "–" if value is None else str(value)
    return number(value, spec)


class TitledListener(Listener, Protocol):
    """Progress with a title that may change."""

    title: str


@contextmanager
def progress(title: str) -> Iterator[TitledListener]:
    """Progress on stderr: a bar on a terminal, otherwise a line every few seconds."""
    if not stderr.is_terminal:
        yield _Lines(title)
        return
    with Display(
        TextColumn("{task.fields[title]}: {task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[count]}"),
        TimeRemainingColumn(),
        console=stderr,
        transient=True,
    ) as display:
        yield _Bar(display, title)


class _Lines:
    """Progress as lines, one every few seconds."""

    def __init__(self, title: str) -> None:
        self.title = title
        self._said = monotonic()

    def __call__(self, stage: str, done: int, total: int, fraction: float | None = None) -> None:
        if monotonic() - self._said >= SECONDS_BETWEEN_LINES:
            self._said = monotonic()
            share = fraction if fraction is not None else done / total if total else 1.0
            print(f"{self.title}: {stage}, {done:,} of {total:,} ({percent(share)})", file=sys.stderr, flush=True)


class _Bar:
    """Progress as a bar: one bar per stage, removed when the work is done."""

    def __init__(self, display: Display, title: str) -> None:
        self._display = display
        self.title = title
        self._shown = ("", "")  # title and stage
        self._task: TaskID | None = None

    def __call__(self, stage: str, done: int, total: int, fraction: float | None = None) -> None:
        if self._task is None or self._shown != (self.title, stage):
            if self._task is not None:
                self._display.remove_task(self._task)
            self._task = self._display.add_task(stage, total=1.0, title=self.title, count="")
            self._shown = (self.title, stage)
        share = fraction if fraction is not None else done / total if total else 1.0
        self._display.update(self._task, completed=share, count=f"{done:,} of {total:,}" if total > 1 else "")
