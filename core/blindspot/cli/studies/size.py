"""Command ``size``: how few dimensions and bits a model needs before its score drops."""

from __future__ import annotations

from typing import Annotated

import typer

from blindspot.cli import output
from blindspot.cli.options import AsJson, OwnNames, dataset_of, names_own_data, settings_and_store, takes_parameters
from blindspot.errors import InputError
from blindspot.numerics.statistics.tolerance import TOLERATED
from blindspot.numerics.statistics.written import CHANGE
from blindspot.runs import pipeline
from blindspot.studies.lab.grid import cannot_be
from blindspot.studies.size import speed
from blindspot.studies.size.grid import PRECISIONS, USUAL_DIMENSIONS, USUAL_PRECISIONS, By, grid_of
from blindspot.studies.size.view import SizeView, answer, size_view
from blindspot.types import CancelToken

DIMENSIONS_HELP = "numbers of dimensions, separated by commas; larger ones than the model's are left out"
RESCORE_HELP = (
    "also compare so many best of every search in codes again in float32, separated by commas; evalrank and retrieval"
)
SPECS = {"MB per million": ",", "change": CHANGE, "changed": ".1%", "lost": ".1%", "faiss ms": ".2f", "own ms": ".2f"}
PRECISIONS_HELP = f"precisions, separated by commas, of {', '.join(PRECISIONS)}"


@names_own_data
@takes_parameters(several=False)
def size(
    *,
    encoder: Annotated[str, typer.Option(help="model, such as minilm")],
    data: Annotated[str, typer.Option(help="a dataset id, or a file or folder of your own")] = "",
    dims: Annotated[str, typer.Option(help=DIMENSIONS_HELP)] = ",".join(map(str, USUAL_DIMENSIONS)),
    precisions: Annotated[str, typer.Option(help=PRECISIONS_HELP)] = ",".join(USUAL_PRECISIONS),
    rescore: Annotated[str, typer.Option(help=RESCORE_HELP)] = "",
    by: Annotated[By, typer.Option(help="keep the first dimensions, or the principal components")] = By.TRUNCATE,
    diagnostic: Annotated[str, typer.Option(help="what to measure with; the first that fits if left out")] = "",
    max_drop: Annotated[float, typer.Option(help="tolerated loss of the score", min=0.0, max=1.0)] = TOLERATED,
    times: Annotated[bool, typer.Option("--time", help="also measure search time on this machine")] = False,
    params: dict[str, str],
    as_json: AsJson = False,
    own: OwnNames,
) -> None:
    """Find the smallest size of a model: a grid of dimensions by precisions, each against full size.

    Each setting is an ordinary run of the model with a transform (truncate:128+int8), which is kept.
    """
    settings, repository = settings_and_store()
    dataset = dataset_of(data, own)
    grid = grid_of(
        encoder,
        dataset,
        _numbers(dims),
        _words(precisions),
        settings,
        by=by,
        rescored=_numbers(rescore, "number of texts to compare again", "100 or 50,200"),
        diagnostic=diagnostic,
        params=params,
    )
    outcomes = []
    for setting, request in zip(grid.settings, grid.requests, strict=True):
        if why := cannot_be(request, settings):
            output.warn([f"{setting.label} is left out: {why}"])
            continue
        with output.progress(request.label) as progress:
            outcomes.append((setting, pipeline.run(request, settings, repository, progress).record))
    result = size_view(grid.entry, outcomes, repository)
    if times:
        with output.progress("search time") as progress:
            speed.keep(speed.measure(grid.settings, progress, CancelToken()), settings)
    measured = speed.read(settings)
    if as_json:
        plan = result.full.run.plan
        columns = repository.own_columns(plan.dataset, plan.dataset_digest)
        output.print_json(result.as_json(max_drop, measured, columns))
        return
    output.use_names(settings, repository, [grid.encoder])
    _print(result, max_drop, measured)
    output.print_limits([result.full.run.plan.dataset])


def _words(text: str) -> list[str]:
    return [word for part in text.split(",") if (word := part.strip())]


def _numbers(text: str, of: str = "number of dimensions", such: str = "384,128,32") -> list[int]:
    words = _words(text)
    for word in words:
        if not (word.isascii() and word.isdecimal() and len(word) < 10):
            raise InputError(f"'{word}' is no {of}", expected=f"whole numbers such as {such}")
    return [int(word) for word in words]


def _print(view: SizeView, tolerance: float, measured: speed.Measured | None) -> None:
    output.print_rows(f"{view.entry.title}: {view.title} by size", view.rows(measured), SPECS)
    output.print_text(*answer(view, tolerance))
    if measured:
        output.print_text(f"{measured.in_words} ms: faiss / Blindspot's own search.")
