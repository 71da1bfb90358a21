"""Commands ``data``: datasets of the catalog and the user's own."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import Annotated

import typer

from blindspot.cli import output
from blindspot.cli.options import AsJson, OwnNames, dataset_named, dataset_of, names_own_data, settings_and_store
from blindspot.datasets import fetch as downloads
from blindspot.datasets import uploads
from blindspot.datasets.catalog import DATASETS, FAMILIES, OWN_FILE, OWN_FOLDER, find_datasets
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.kinds.labeled_texts import LabeledCounts, LabeledTexts
from blindspot.diagnostics.heros import lexical_overlap
from blindspot.diagnostics.heros.lexical_overlap import PUBLISHED
from blindspot.diagnostics.retrieval import published
from blindspot.encoders.transformer.word_pieces import bert_uncased
from blindspot.errors import BlindspotError, InputError, unknown
from blindspot.numerics.statistics.written import percent
from blindspot.runs.at_work import at_work
from blindspot.runs.log import JobLine
from blindspot.settings import Settings
from blindspot.workspace import own_datasets

app = typer.Typer(help="Datasets: list, show, download, verify, remove.", no_args_is_help=True)


@app.command("list")
def list_datasets(
    family: Annotated[str, typer.Argument(help=f"of a family alone: {', '.join(FAMILIES)}")] = "",
    as_json: AsJson = False,
) -> None:
    """List datasets with their size, license and state on this machine; those of families only where one is named."""
    settings = Settings.from_environment()
    if family and family not in FAMILIES:
        raise unknown("family of datasets", family, FAMILIES)
    entries = list((FAMILIES[family].members if family else DATASETS).values())
    states = {entry.id: downloads.dataset_state(entry, settings) for entry in entries}
    if as_json:
        fields = ("id", "title", "kind", "size", "licence", "citation", "url", "revision")
        output.print_json({"datasets": [{f: getattr(e, f) for f in fields} | {"state": states[e.id]} for e in entries]})
        return
    rows = [{"id": e.id, "state": states[e.id], "size": e.size, "license": e.licence} for e in entries]
    output.print_rows("Datasets", rows)
    for group in [] if family else FAMILIES.values():
        output.print_text(f"{group.id}: {len(group.members)} more, {group.naming} (blindspot data list {group.id}).")
    if not family:
        output.print_text(f"{published.ABOUT}: page Retrieval, view 'published'")


SHOWN_ROWS = 5


@app.command()
@names_own_data
def show(
    dataset: Annotated[str, typer.Argument(help=f"dataset id, {OWN_FILE} or {OWN_FOLDER}")] = "",
    rows: Annotated[int, typer.Option(min=0, max=1_000, help="number of rows to print")] = SHOWN_ROWS,
    as_json: AsJson = False,
    *,
    own: OwnNames,
) -> None:
    """Show a dataset's first rows; for labeled texts also classes, splits, repeated and leaked texts."""
    settings = Settings.from_environment()
    reference = dataset_of(dataset, own, "DATASET")
    entry = reference.entry()
    with output.progress(entry.id) as progress:
        data = downloads.load(entry, settings, progress)
    counts = data.counts if isinstance(data, LabeledTexts) else None
    first = data.first_rows(rows)
    if as_json:
        facts = {name: getattr(entry, name) for name in ("id", "title", "kind", "size", "licence", "citation")}
        held = {} if counts is None else {"counts": asdict(counts)}
        output.print_json(facts | held | {"rows": [dict(zip(first.headings, r, strict=True)) for r in first.cells]})
        return
    output.print_text(f"{entry.title}: {entry.about} ({entry.size}.)")
    if entry.own:
        output.print_text(f"read {entry.own.summary}")
        output.warn([entry.own.assumptions] if entry.own.assumptions else [])
        if entry.own.doubt:
            output.warn([f"{entry.own.doubt} {entry.own.instead(DatasetKind.RETRIEVAL)}"])
    if counts is not None:
        _print_classes(entry.id, counts)
    if first.cells:
        cells = [[f"{c:g}" if isinstance(c, float) else str(c) for c in row] for row in first.cells]
        output.print_table(f"First rows of {entry.id}", first.headings, cells)


def _print_classes(dataset: str, counts: LabeledCounts) -> None:
    rows = [
        [str(c["class"]), *(percent(n, 1) if isinstance(n, float) else f"{n:,}" for n in list(c.values())[1:])]
        for c in counts.by_class
    ]
    output.print_table(f"Classes of {dataset}", list(counts.by_class[0]), rows)
    where = "of the test part" if counts.is_split else "of all examples"
    output.print_text(
        f"baseline: always predicting '{counts.majority.name}' is right for {percent(counts.baseline, 1)} {where}"
    )
    output.print_text(*(counts.caution or ("no text occurs twice",)))


@app.command()
def fetch(ids: Annotated[list[str], typer.Argument(help="dataset ids")]) -> None:
    """Download datasets, from BLINDSPOT_MIRROR if set; corrupt files are downloaded again."""
    settings = Settings.from_environment()
    for entry in find_datasets(ids):
        if not entry.files:
            print(f"{entry.id}: {downloads.dataset_state(entry, settings)}, nothing to download")
            continue
        with at_work(settings, JobLine("fetch", dataset=entry.id)), output.progress(entry.id) as progress:
            paths = downloads.fetch_dataset(entry, settings, progress)
        print(f"{entry.id}: {len(paths)} file(s) verified in {paths[0].parent}")


@app.command()
def verify(
    ids: Annotated[list[str] | None, typer.Argument(help="dataset ids; default: all that are downloaded")] = None,
) -> None:
    """Compare downloaded files with their checksums."""
    settings = Settings.from_environment()
    corrupt, missing = [], []
    for entry in find_datasets(ids) if ids else list(DATASETS.values()):
        for file in entry.files:
            state = downloads.file_state(file, settings)
            if state.state is downloads.DataState.CORRUPT:
                corrupt.append(entry.id)
            if state.state is downloads.DataState.MISSING and ids:
                missing.append(entry.id)
            detail = f" ({state.detail})" if state.detail else ""
            print(f"{entry.id}: {file.path}: {state.state}{detail}")
        if not entry.files:
            print(f"{entry.id}: {downloads.dataset_state(entry, settings)}")
    if bad := sorted({*corrupt, *missing}):
        raise BlindspotError(
            f"{len(bad)} dataset(s) with corrupt or missing files: {', '.join(bad)}",
            remedy=f"download them again: blindspot data fetch {' '.join(bad)}",
        )


@app.command()
def remove(
    dataset: Annotated[str, typer.Argument(help=f"{OWN_FILE} of an upload, or of a file that has runs")],
    purge: Annotated[bool, typer.Option("--purge", help="also delete its runs, texts and embeddings")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="do not ask")] = False,
) -> None:
    """Delete an upload; --purge also deletes everything computed on it. Your own file is never deleted."""
    settings, repository = settings_and_store()
    stored = own_datasets.kept(dataset_named(dataset), settings, repository)
    if stored.is_nothing:
        raise InputError(f"nothing is stored for '{stored.reference}'", remedy="see: blindspot runs")
    if not purge and stored.upload is None:
        raise InputError(
            f"'{stored.reference}' is not an upload but a file of your own, which Blindspot never deletes",
            expected="--purge, to delete what was computed on it",
        )
    what = stored.in_words if purge else "the upload; its runs and their texts stay (--purge deletes them too)"
    print(f"{stored.reference}: {what}")
    if not yes and not sys.stdin.isatty():
        raise InputError(
            "this needs a yes at a terminal, and there is no terminal: delete this?",
            remedy="add --yes to delete without being asked",
        )
    if not yes and not output.is_agreed("delete this"):
        print("nothing was deleted")
        return
    if purge:
        own_datasets.purge(stored.reference, settings, repository)
    elif stored.upload is not None:
        uploads.remove(stored.upload, settings)
    print("deleted")


@app.command()
def overlap(
    dataset: Annotated[
        str, typer.Argument(help=f"minimal or scored pairs: heros, stsb-test, sick-test, ..., or {OWN_FILE}")
    ],
    as_json: AsJson = False,
) -> None:
    """Print ROUGE F1 (as in the package rouge 1.0.1), Levenshtein distance and length in word pieces, per subset."""
    entry = dataset_named(dataset).entry()
    with output.progress(entry.id) as progress:
        data = downloads.load(entry, Settings.from_environment(), progress)
        shares = lexical_overlap.of_dataset(data, bert_uncased, progress)
    if as_json:
        overlaps = {name: {k: v if v == v else None for k, v in asdict(o).items()} for name, o in shares.items()}  # noqa: PLR0124 - NaN
        output.print_json({"dataset": entry.id, "overlap": overlaps})
        return
    shown = [(name, o, "") for name, o in shares.items()]
    if len(shares) > 1 and len({o.pairs for o in shares.values()}) == 1:
        shown.append(("mean", lexical_overlap.mean_of(list(shares.values())), ""))
    shown += [(name, o, "published") for name, o in PUBLISHED.items()]
    rows = [
        {"subset": name, "pairs": f"{o.pairs:,}"}
        | {
            f"R{n}": output.cell(100 * rouge, ".1f")
            for n, rouge in zip("12L", (o.rouge_1, o.rouge_2, o.rouge_l), strict=True)
        }
        | {"Lev": f"{o.levenshtein:.2f}", "length": f"{o.length:.1f}", "": what}
        for name, o, what in shown
    ]
    output.print_rows(f"Lexical overlap of {entry.id}", rows)
