"""Commands ``make``: datasets made from a user's own texts."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from blindspot.cli import output
from blindspot.cli.options import AsJson, check_file
from blindspot.datasets.perturbations import making, source
from blindspot.datasets.perturbations.making import Form, KindCounts, Made
from blindspot.datasets.perturbations.rules import KINDS
from blindspot.errors import InputError
from blindspot.files.writing import read_limited, write_atomically

app = typer.Typer(no_args_is_help=True, help="Datasets made from your own texts.")
MOST_REJECTED = 4 * 2**20  # bytes of a file of rejected rewrites
SHOWN = 240  # characters of a rewrite in a preview


@app.callback()
def _make() -> None:
    """Datasets made from your own texts."""


@app.command("minimal-pairs")
def minimal_pairs(
    *,
    texts: Annotated[
        Path, typer.Option(help="your texts: a .txt with one per line, or a .csv, .tsv, .jsonl or .parquet")
    ],
    kinds: Annotated[
        list[str] | None,
        typer.Option(
            help=f"kind of change, of {', '.join(KINDS)}; several with commas between, or repeat; default: all"
        ),
    ] = None,
    output_file: Annotated[
        Path | None, typer.Option("--output", help="file to write, .jsonl; default: NAME-minimal-pairs.jsonl here")
    ] = None,
    seed: Annotated[int, typer.Option(help="of what is drawn: the same seed makes the same rewrites")] = making.SEED,
    column: Annotated[str | None, typer.Option(help="column of a table that has the texts")] = None,
    form: Annotated[
        Form | None,
        typer.Option(
            help="pairs: a row per rewrite that changes the meaning, with one that keeps it; columns: a column per "
            "kind, of texts that all kinds can change; default: pairs where kinds of both are asked for"
        ),
    ] = None,
    preview: Annotated[
        int, typer.Option(min=0, max=1_000, help="print so many rewrites per kind with their ids, and write nothing")
    ] = 0,
    rejected: Annotated[
        Path | None,
        typer.Option(help="file with the ids of rewrites to leave out, one per line, as --preview prints them"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make minimal pairs from your own texts: rules that change one thing and say which.

    Every kind keeps the meaning or changes it, so that `blindspot run heros --dataset file:FILE` tells how often a
    rewrite that keeps the meaning is nearer. The rules read closed lists of English words, need no download, and give
    a reason for every text that they pass over.
    """
    asked = [kind.strip() for listed in kinds or () for kind in listed.split(",")]
    path = output_file or Path(f"{texts.stem}-minimal-pairs.jsonl")
    if not preview:
        check_file(path, (".jsonl",))
        if path.exists() and path.resolve() == texts.resolve():
            raise InputError(f"{path} has the texts themselves", expected="another file for --output")
    with output.progress("minimal pairs") as progress:
        made = making.propose(source.read(texts, column), asked, seed, progress)
    left_out = _rejected(rejected, made) if rejected else frozenset()
    if preview:
        _print_preview(made, left_out, preview, as_json)
        return
    rows = making.rows(made, left_out, form)
    write_atomically(path, lambda file: file.write(making.as_jsonl(rows)))
    if as_json:
        output.print_json({"file": str(path), "rows": len(rows), **made.as_json(left_out)})
        return
    _print_counts(made, left_out)
    output.print_text(f"{len(rows):,} rows written to {path}; run: blindspot run heros --dataset file:{path}")


def _rejected(path: Path, made: Made) -> frozenset[str]:
    try:
        ids = read_limited(path, MOST_REJECTED).decode().split()
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not text", expected="an id of a rewrite per line") from error
    proposal_ids = {proposal.id for proposal in made.proposals}
    if strange := [each for each in ids if each not in proposal_ids]:
        output.warn(
            [f"{len(strange)} of {len(ids)} ids in {path} are of no rewrite made here, such as '{strange[0][:20]}'"]
        )
    return frozenset(ids)


def _print_counts(made: Made, left_out: frozenset[str]) -> None:
    rows = [(counts.kind, counts.meaning, f"{counts.rewrites:,}", _why(counts)) for counts in made.by_kind(left_out)]
    title = f"Rewrites of {len(made.texts):,} texts"
    output.print_table(title, ["kind", "meaning", "rewrites", "passed over, most frequent reason"], rows)


def _why(counts: KindCounts) -> str:
    if not counts.reasons:
        return ""
    (why, n), total = counts.reasons[0], counts.passed_over
    return f"{total:,}, of which {n:,}: {why}" if n < total else f"{n:,}: {why}"


def _cut(text: str) -> str:
    """A text in one line, with visible line ends and tabs."""
    line = text.replace("\n", "⏎").replace("\t", "⇥")
    return line if len(line) <= SHOWN else f"{line[:SHOWN]}…"


def _print_preview(made: Made, left_out: frozenset[str], most: int, as_json: bool) -> None:
    of_kinds = ([p for p in made.proposals if p.rule.kind == kind][:most] for kind in KINDS)
    shown = list(chain.from_iterable(of_kinds))
    if as_json:
        rows = [
            {
                "id": p.id,
                "kind": p.rule.name,
                "meaning": p.rule.meaning.value,
                "original": p.original,
                "rewrite": p.rewrite,
                "change": p.said,
                "rejected": p.id in left_out,
            }
            for p in shown
        ]
        output.print_json({**made.as_json(left_out), "preview": rows})
        return
    for p in shown:
        rejected = ", rejected" if p.id in left_out else ""
        output.print_text(f"{p.id} {p.rule.name}, meaning {p.rule.meaning}{rejected}: {_cut(p.said)}")
        output.print_text(f"  - {_cut(p.original)}", f"  + {_cut(p.rewrite)}")
    _print_counts(made, left_out)
    output.print_text("Nothing was written. Leave rewrites out with --rejected FILE, an id per line.")
