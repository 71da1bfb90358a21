"""Command ``repair``: a linear map on a model's vectors that is trained on triplets, tested, and exported."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from blindspot.cli import output
from blindspot.cli.options import AsJson, OwnNames, dataset_of, datasets_named, names_own_data, settings_and_store
from blindspot.datasets.catalog import title_of
from blindspot.encoders.catalog import resolve_encoder
from blindspot.files.writing import check_new_folder
from blindspot.numerics.statistics.tolerance import TOLERATED
from blindspot.studies.repair import export, fitting, task
from blindspot.studies.repair.fitting import Method
from blindspot.studies.repair.results import Part, Report, answer
from blindspot.studies.repair.task import RepairTask
from blindspot.types import CancelToken


@names_own_data
def repair(
    *,
    encoder: Annotated[str, typer.Option(help="model, such as minilm")],
    data: Annotated[
        str, typer.Option(help="minimal pairs, pairs or retrieval: a dataset id, or your own file or folder")
    ] = "",
    method: Annotated[
        Method,
        typer.Option(help="weights: of dimensions; low-rank: a change of all vectors; queries: a map of queries alone"),
    ] = Method.LOW_RANK,
    rank: Annotated[int, typer.Option(help="of the low-rank change", min=1, max=fitting.MOST_RANK)] = fitting.RANK,
    keep: Annotated[
        float,
        typer.Option(help="weight of keeping other cosines as they are: more is less damage, and less gain", min=0.0),
    ] = fitting.KEEP,
    kind: Annotated[
        list[str] | None,
        typer.Option(help="kind of negative to train on, such as negation; repeat for several. All if left out"),
    ] = None,
    test_on: Annotated[
        list[str] | None,
        typer.Option(help="dataset to test on; repeat for several. Otherwise minimal pairs and tasks that are here"),
    ] = None,
    max_drop: Annotated[float, typer.Option(help="tolerated loss of a score", min=0.0, max=1.0)] = TOLERATED,
    seed: Annotated[int, typer.Option(help="of the split and the training")] = fitting.SEED,
    out: Annotated[
        Path | None, typer.Option("--output", help="folder for the repaired model, which sentence-transformers loads")
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="train again, even if this repair is there")] = False,
    as_json: AsJson = False,
    own: OwnNames,
) -> None:
    """Train a linear map on a model's vectors that orders triplets rightly, and show its gain and its damage.

    The gain is that on held-out triplets, which share no text with the others, over doing nothing, random maps of the
    same size, and training on shuffled labels. The repair is kept as the transform repair:ID.
    """
    settings, repository = settings_and_store()
    dataset = dataset_of(data, own)
    tests = datasets_named(test_on)
    asked = RepairTask.of(
        encoder,
        dataset,
        settings,
        method=method,
        rank=rank,
        keep=keep,
        seed=seed,
        tests=tests,
        kinds=kind or (),
    )
    if out is not None:
        check_new_folder(out)
        export.check_model(resolve_encoder(asked.encoder, settings))
    report = None if again else task.find(asked, settings)
    if report is None or not task.is_of_today(report, settings):
        with output.progress(asked.label) as progress:
            report = task.make(asked, settings, repository, progress, CancelToken())
    folders: tuple[Path, ...] = ()
    if out is not None:
        folders = export.write(task.repair_of(report, settings), resolve_encoder(asked.encoder, settings), out)
    if report.warning:
        output.warn([report.warning])
    if as_json:
        output.print_json(report.judged(max_drop) | {"folders": [str(folder) for folder in folders]})
        return
    output.use_names(settings, repository, [asked.encoder])
    _print(report, max_drop)
    output.print_limits(measured.dataset for part in Part for measured in report.of(part))
    output.print_text(*(f"Written to {folder}." for folder in folders))


def _print(report: Report, tolerated: float) -> None:
    output.print_rows(f"{report.chain}: before and after", report.rows)
    output.print_text(*answer(report, tolerated))
    output.print_text(*(f"Left out: {count:,}, {reason}." for reason, count in report.left_out.items()))
    output.print_text(*(f"Not tested on {title_of(name)}: {why}." for name, why in report.not_tested.items()))
    if report.moved:
        output.print_text(f"Use it: blindspot run DIAGNOSTIC --encoder {report.encoder} --transform {report.chain}")
