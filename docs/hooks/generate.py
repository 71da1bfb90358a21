"""MkDocs hook: pages generated from the code, formulas as MathML, pictures from ``assets``.

Generated are one page per diagnostic (from its ``ENTRY``), the command line (from Typer), the catalogs and the store's
schema.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from latex2mathml import converter
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
BIBLIOGRAPHY = ROOT / "assets" / "reference" / "papers.bib"
REPOSITORY_FILE = re.compile(r"\[([^\]]+)\]\((?:\.\./)+((?:core|assets|tests|pages)/[^)#]+|[A-Z]+\.\w+)\)")
CODE = re.compile(r"(```.*?```|`[^`\n]*`)", re.DOTALL)
BLOCK_MATH = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)
INLINE_MATH = re.compile(r"(?<![\\$])\$(?!\s)([^$\n]+?)(?<!\s)\$(?!\d)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for path, text in pages():
        files.append(File.generated(config, path, content=text))
    for picture in [*(ROOT / "assets" / "screenshots").glob("*.png"), *(ROOT / "assets").glob("*.svg")]:
        files.append(File.generated(config, f"images/{picture.name}", abs_src_path=str(picture)))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    parts = CODE.split(REPOSITORY_FILE.sub(r"\1 (`\2`)", markdown))  # what is not part of the site
    return "".join(part if i % 2 else _math(part) for i, part in enumerate(parts))


def _math(text: str) -> str:
    text = BLOCK_MATH.sub(lambda m: "\n\n" + converter.convert(m[1].strip(), display="block") + "\n\n", text)
    return INLINE_MATH.sub(lambda m: f"<span>{converter.convert(m[1])}</span>", text)


def pages() -> Iterator[tuple[str, str]]:
    """Path and Markdown of every generated page."""
    sys.path.insert(0, str(ROOT))  # not at import: MkDocs takes the path back after it has loaded a hook
    from core.diagnostic import all_diagnostics

    entries = list(all_diagnostics().values())
    yield "diagnostics/index.md", _diagnostics(entries)
    for entry in entries:
        yield f"diagnostics/{entry.id}.md", _diagnostic(entry)
    yield "reference/cli.md", _command_line()
    yield "reference/datasets.md", _datasets()
    yield "reference/encoders.md", _encoders()
    yield "reference/store.md", _store()


def _table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    def line(cells: Iterable[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"

    header = list(header)
    return "\n".join([line(header), line(["---"] * len(header)), *map(line, rows)])


# --- diagnostics


def _diagnostics(entries: list[Any]) -> str:
    rows = [[f"[{e.title}]({e.id}.md)", e.question, e.citation.split(",")[0]] for e in entries]
    return f"# Diagnostics\n\n{_table(['diagnostic', 'question', 'paper'], rows)}\n"


def _diagnostic(entry: Any) -> str:
    parts = [f"# {entry.title}", entry.question]
    parts.append(f"```sh\npython -m core run {entry.id} --encoder minilm --dataset {_a_dataset(entry)}\n```")
    parts.append(f"Needs a {entry.dataset_kind}.")
    parts += ["## Definition", entry.how]
    if entry.parameters:
        rows = [
            [f"`{p.name}`", ", ".join(f"`{c}`" for c in p.choices), f"`{p.default}`", p.description]
            for p in entry.parameters
        ]
        parts += ["## Parameters", _table(["parameter", "choices", "default", "what it changes"], rows)]
    rows = [[f"`{s.name}`", _better(s), _range(s), s.description] for s in entry.metrics]
    parts += ["## Scores", _table(["score", "better", "range", "what it is"], rows)]
    rows = [[f"`{c.name}`", f"`{c.type}`", c.description] for c in entry.columns]
    parts += ["## Stored per item", f"Table `{entry.table}`.", _table(["column", "type", "what it is"], rows)]
    parts += ["## Citation", f"{entry.citation}.", *(f"```bibtex\n{one}\n```" for one in _cited(entry.citation))]
    return "\n\n".join(parts) + "\n"


def _better(score: Any) -> str:
    if score.is_count:
        return "count"
    return {True: "higher", False: "lower", None: "neither"}[score.higher_is_better]


def _range(score: Any) -> str:
    low, high = score.bounds
    return f"{'−∞' if low == -float('inf') else f'{low:g}'} to {'∞' if high == float('inf') else f'{high:g}'}"


def _a_dataset(entry: Any) -> str:
    from core.datasets import catalog

    fitting = [d.id for d in catalog.DATASETS.values() if d.kind is entry.dataset_kind]
    return next((name for name in fitting if name.startswith("demo")), fitting[0])


def _cited(citation: str) -> list[str]:
    """The entries of the bibliography that a citation names by first author and year."""
    entries = re.split(r"\n(?=@)", BIBLIOGRAPHY.read_text("utf-8").strip())
    found = []
    for entry in entries:
        (author,) = re.findall(r"author = \{([^,}]+)", entry)
        (year,) = re.findall(r"year = \{(\d+)", entry)
        if any(author in part and year in part for part in citation.split(";")):
            found.append(entry.strip())
    return found


# --- reference


def _command_line() -> str:
    import typer

    from core import cli

    parts = [
        "# Command line",
        "Everything that the app computes, without it. `--json` prints one JSON object to stdout; ",
    ]
    parts[-1] += "progress goes to stderr. Exit code 0: done, 2: bad input, 1: failure."
    _commands(typer.main.get_command(cli.app), "python -m core", parts)
    return "\n\n".join(parts) + "\n"


def _commands(command: Any, path: str, parts: list[str]) -> None:
    for name, sub in getattr(command, "commands", {}).items():
        whole = f"{path} {name}"
        parts += [f"## `{whole.removeprefix('python -m core ')}`", _unwrapped(sub.help or "")]
        rows = []
        for one in sub.params:
            if "--help" in one.opts:
                continue
            shown = ", ".join(f"`{option}`" for option in [*one.opts, *one.secondary_opts])
            rows.append([shown if one.param_type_name == "option" else f"`{one.name}`", getattr(one, "help", "") or ""])
        if rows:
            parts.append(_table(["option or argument", "meaning"], rows))
        _commands(sub, whole, parts)


def _unwrapped(text: str) -> str:
    """Typer keeps lines with a form feed or a backspace mark as they are; Markdown shows such a block as code."""
    blocks = []
    for block in text.split("\n\n"):
        if "\b" in block:
            blocks.append("```\n" + block.replace("\b", "").strip("\n") + "\n```")
        else:
            blocks.append(" ".join(block.split()))
    return "\n\n".join(blocks)


def _datasets() -> str:
    from core.datasets import catalog

    rows = [[f"`{e.id}`", str(e.kind), e.description, e.citation] for e in catalog.DATASETS.values()]
    return f"# Datasets\n\n{_table(['id', 'kind', 'what it is', 'source'], rows)}\n"


def _encoders() -> str:
    from core.encoders import catalog
    from core.transforms.chain import STEPS

    parts = ["# Encoders and transforms", "Built in. For your own, see [Your own encoder](../guides/encoders.md)."]
    parts += [
        "## Encoders",
        _table(["id", "what it is"], [[f"`{e.id}`", e.description] for e in catalog.ENCODERS.values()]),
    ]
    parts += ["## Transforms", "Steps of a chain, joined by `+`: `center+whiten:128`."]
    parts.append(_table(["step", "what it does"], [[f"`{name}`", step.description] for name, step in STEPS.items()]))
    return "\n\n".join(parts) + "\n"


def _store() -> str:
    import duckdb

    from core.store import db

    parts = [
        "# Store",
        "All results are in one DuckDB file, `cache/results.duckdb`. Read it with any DuckDB client while nothing is "
        "writing; the app and the command line take turns by themselves.",
        "```sql\n" + EXAMPLE_QUERY + "\n```",
    ]
    with duckdb.connect() as connection:
        for migration in db.migrations():
            connection.execute(migration.sql)
        connection.execute(EXAMPLE_QUERY)  # a query that no longer runs fails the build
        for (name,) in connection.execute("SHOW TABLES").fetchall():
            rows = [[f"`{row[0]}`", f"`{row[1]}`"] for row in connection.execute(f'DESCRIBE "{name}"').fetchall()]
            parts += [f"## `{name}`", _table(["column", "type"], rows)]
    return "\n\n".join(parts) + "\n"


EXAMPLE_QUERY = """\
SELECT run.encoder, run.transform, run.dataset, metric.value AS mrr
FROM run JOIN metric USING (run_seq)
WHERE run.diagnostic = 'evalrank' AND metric.name = 'mrr'
ORDER BY mrr DESC;"""
