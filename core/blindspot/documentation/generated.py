"""Pages of the documentation that are made from the code: diagnostics, command line, catalogs, the store's schema."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import typer

from blindspot import cli
from blindspot.datasets import catalog as datasets
from blindspot.diagnostic import Diagnostic, Score, all_diagnostics
from blindspot.encoders import catalog as encoders
from blindspot.settings import ASSETS, VARIABLES
from blindspot.store import schema
from blindspot.transforms.chain import STEPS

_BIBLIOGRAPHY = ASSETS / "reference" / "papers.bib"
_PROGRAM = "blindspot"
_QUERIES = Path(__file__).parent / "queries"


@cache
def makers() -> Mapping[str, Callable[[], str]]:
    """Path of every generated page in the documentation, and the function that makes its Markdown."""
    entries = tuple(all_diagnostics().values())
    return {
        "diagnostics/index.md": partial(_diagnostics, entries),
        **{f"diagnostics/{entry.id}.md": partial(_diagnostic, entry) for entry in entries},
        "reference/cli.md": _command_line,
        "reference/settings.md": _settings,
        "reference/datasets.md": _datasets,
        "reference/encoders.md": _encoders,
        "reference/store.md": partial(_store, entries),
    }


def _diagnostics(entries: Sequence[Diagnostic]) -> str:
    rows = [[f"[{e.title}]({e.id}.md)", e.question, e.citation.split(",")[0]] for e in entries]
    return f"# Diagnostics\n\n{table(['diagnostic', 'question', 'paper'], rows)}\n"


def _diagnostic(entry: Diagnostic) -> str:
    parts = [f"# {entry.title}", entry.question]
    parts.append(f"```sh\nblindspot run {entry.id} --encoder minilm --dataset {_a_dataset(entry)}\n```")
    parts.append(f"Needs a {entry.dataset_kind.in_words}.")
    parts += ["## How to read it", entry.how_to_read]
    parts += ["## Limits", entry.limits]
    parts += ["## Definition", entry.explained]
    if entry.parameters:
        parameters = [
            [f"`{p.name}`", ", ".join(f"`{c}`" for c in p.choices), f"`{p.default}`", p.help] for p in entry.parameters
        ]
        parts += ["## Parameters", table(["parameter", "choices", "default", "what it changes"], parameters)]
    scores = [[f"`{s.name}`", _better(s), _range(s), s.description] for s in entry.metrics]
    parts += ["## Scores", table(["score", "better", "range", "what it is"], scores)]
    columns = [[f"`{c.name}`", f"`{c.type}`", c.description] for c in entry.columns]
    parts += ["## Stored per item", f"Table `{entry.table}`.", table(["column", "type", "what it is"], columns)]
    parts += [
        "## Citation",
        f"{entry.citation}.",
        *(f"```bibtex\n{entry_of_bibliography}\n```" for entry_of_bibliography in _cited(entry.citation)),
    ]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _better(score: Score) -> str:
    if score.is_count:
        return "count"
    return {True: "higher", False: "lower", None: "neither"}[score.higher_is_better]


def _range(score: Score) -> str:
    low, high = score.bounds
    return f"{'−∞' if low == -math.inf else f'{low:g}'} to {'∞' if high == math.inf else f'{high:g}'}"


def _a_dataset(entry: Diagnostic) -> str:
    fitting = [d.id for d in datasets.DATASETS.values() if d.kind is entry.dataset_kind]
    return next((name for name in fitting if name.startswith("demo")), fitting[0])


def _cited(citation: str) -> list[str]:
    """The entries of the bibliography that a citation names by year and first author; of two of them, by the second."""
    entries = [entry.strip() for entry in re.split(r"\n(?=@)", _BIBLIOGRAPHY.read_text("utf-8").strip())]
    named = set[str]()
    for part in citation.split(";"):
        fitting = []
        for entry in entries:
            (authors,) = re.findall(r"author = \{(.*)\},?\n", entry)
            (year,) = re.findall(r"year = \{(\d+)", entry)
            first, *others = [author.partition(",")[0] for author in authors.split(" and ")]
            if first in part and year in part:
                fitting.append((bool(others) and others[0] in part, entry))
        best = max((is_named for is_named, _ in fitting), default=False)
        named |= {entry for is_named, entry in fitting if is_named == best}
    return [entry for entry in entries if entry in named]


def _settings() -> str:
    rows = [[f"`{name}`", variable.default, variable.meaning] for name, variable in VARIABLES.items()]
    return f"# Settings\n\nEnvironment variables.\n\n{table(['variable', 'default', 'meaning'], rows)}\n"


def _datasets() -> str:
    rows = [[f"`{e.id}`", e.kind.in_words, e.about, e.citation] for e in datasets.DATASETS.values()]
    families = [[f"`{f.id}`", f"{f.size}: {f.naming}", f.description, f.citation] for f in datasets.FAMILIES.values()]
    parts = [
        "# Datasets",
        table(["id", "kind", "what it is", "source"], rows),
        "## Families",
        "Many datasets of one source each. `blindspot data list FAMILY` lists them.",
        table(["id", "what is in it", "what it asks", "source"], families),
    ]
    return "\n\n".join(parts) + "\n"


def _encoders() -> str:
    built_in = [[f"`{e.id}`", e.description] for e in encoders.ENCODERS.values()]
    rankings = [[f"`{e.form}`", e.description] for e in encoders.RANKINGS.values()]
    steps = [[f"`{name}`", step.description] for name, step in STEPS.items()]
    parts = [
        "# Encoders and transforms",
        "Built in. For your own, see [Your own encoder](../guides/encoders.md).",
        "## Encoders",
        table(["id", "what it is"], built_in),
        "## Rankings",
        "Models of retrieval that rank documents without vectors; other diagnostics refuse them.",
        table(["reference", "what it is"], rankings),
        "## Transforms",
        "Steps of a chain, joined by `+`: `center+whiten:128`.",
        table(["step", "what it does"], steps),
    ]
    return "\n\n".join(parts) + "\n"


def _store(entries: Sequence[Diagnostic]) -> str:
    names = {entry.id: entry.table for entry in entries}
    examples = [path.read_text("utf-8").format(**names).strip() for path in sorted(_QUERIES.glob("*.sql"))]
    parts = [
        "# Store",
        "All results are in one DuckDB file, `cache/results.duckdb`. Read it with any DuckDB client while nothing is "
        "writing; the app and the command line take turns by themselves.",
        "## Examples",
        *(f"```sql\n{example}\n```" for example in examples),
        "## Tables",
        "A diagnostic's table ends in the version of its numbers; results of older versions stay in theirs.",
    ]
    for name, columns in schema.tables(entries, examples).items():  # a query that no longer runs fails the build
        parts += [f"### `{name}`", table(["column", "type"], ([f"`{cell}`" for cell in row] for row in columns))]
    return "\n\n".join(parts) + "\n"


def _command_line() -> str:
    parts = [
        "# Command line",
        "Everything that the app computes, without it. `--json` prints one JSON object to stdout; progress goes to "
        "stderr. Exit code 0: done, 2: bad input, 1: failure.",
        *_commands(typer.main.get_command(cli.app), _PROGRAM),
    ]
    return "\n\n".join(parts) + "\n"


def _commands(command: Any, path: str) -> Iterator[str]:
    for name, sub in getattr(command, "commands", {}).items():
        whole = f"{path} {name}"
        yield f"## `{whole.removeprefix(_PROGRAM).strip()}`"
        yield _unwrapped(sub.help or "")
        rows = []
        for param in sub.params:
            if "--help" in param.opts:
                continue
            shown = ", ".join(f"`{option}`" for option in [*param.opts, *param.secondary_opts])
            rows.append(
                [shown if param.param_type_name == "option" else f"`{param.name}`", getattr(param, "help", "") or ""]
            )
        if rows:
            yield table(["option or argument", "meaning"], rows)
        yield from _commands(sub, whole)


def _unwrapped(text: str) -> str:
    """Typer keeps lines with a form feed or a backspace mark as they are; Markdown shows such a block as code."""
    blocks = []
    for block in text.split("\n\n"):
        if "\b" in block:
            blocks.append("```\n" + block.replace("\b", "").strip("\n") + "\n```")
        else:
            blocks.append(" ".join(block.split()))
    return "\n\n".join(blocks)


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table in Markdown; line breaks in a cell become spaces."""

    def line(cells: Iterable[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"

    header = list(header)
    return "\n".join([line(header), line(["---"] * len(header)), *map(line, rows)])
