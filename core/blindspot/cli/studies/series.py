"""Commands ``layers``, ``prompts`` and ``matched``: how a model's score depends on the layer that is read and on its
prompt, and the order of two models on their dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from blindspot.cli import computing, output
from blindspot.cli.options import AsJson, OwnNames, dataset_of, names_own_data, settings_and_store, takes_parameters
from blindspot.datasets.catalog import DatasetRef
from blindspot.numerics.statistics.written import CHANGE
from blindspot.runs.computing import Done, failure, parted
from blindspot.runs.requests import RunRequest
from blindspot.settings import Settings
from blindspot.store.repository import Repository
from blindspot.studies.lab.matched import matched_view, pairs_of
from blindspot.studies.lab.matched import requests_of as matched_requests
from blindspot.studies.lab.series import PROMPTS, By, SeriesView, requests_of, series_view, ways

ENCODER_HELP = "model, such as minilm or dir:PATH; repeat for several"
DATA_HELP = "a dataset id, or a file or folder of your own"
DIAGNOSTIC_HELP = "what to measure with: evalrank, heros, similarity, ...; the first that fits if left out"


@names_own_data
@takes_parameters(several=False)
def layers(
    *,
    encoder: Annotated[list[str], typer.Option(help=ENCODER_HELP)],
    data: Annotated[str, typer.Option(help=DATA_HELP)] = "",
    diagnostic: Annotated[str, typer.Option(help=DIAGNOSTIC_HELP)] = "",
    params: dict[str, str],
    as_json: AsJson = False,
    own: OwnNames,
) -> None:
    """Score every layer of a transformer, each pooled as the model pools; one pass through the model gives all."""
    _series(By.LAYER, encoder, dataset_of(data, own), diagnostic, params, (), as_json=as_json)


@names_own_data
@takes_parameters(several=False)
def prompts(
    *,
    encoder: Annotated[list[str], typer.Option(help=ENCODER_HELP)],
    data: Annotated[str, typer.Option(help=DATA_HELP)] = "",
    prompt: Annotated[list[str] | None, typer.Option(help="a prompt of yours; repeat for several")] = None,
    diagnostic: Annotated[str, typer.Option(help=DIAGNOSTIC_HELP)] = "",
    params: dict[str, str],
    as_json: AsJson = False,
    own: OwnNames,
) -> None:
    """Score models after several prompts: their own, none, five common ones and yours; and where each could come."""
    _series(By.PROMPT, encoder, dataset_of(data, own), diagnostic, params, prompt or (), as_json=as_json)


@names_own_data
@takes_parameters(several=False)
def matched(
    *,
    encoder: Annotated[list[str], typer.Option(help=f"{ENCODER_HELP}: two or more of different dimensions")],
    data: Annotated[str, typer.Option(help=DATA_HELP)] = "",
    diagnostic: Annotated[str, typer.Option(help=DIAGNOSTIC_HELP)] = "",
    params: dict[str, str],
    as_json: AsJson = False,
    own: OwnNames,
) -> None:
    """Compare models with their dimensions matched: the larger truncated or projected, the smaller grown."""
    settings, repository = settings_and_store()
    pairs = pairs_of(encoder, settings)
    entry, requests = matched_requests(pairs, dataset_of(data, own), settings, diagnostic, params)
    runs = {done.request.variant: done.outcome.record for done in _computed(requests, settings, repository)}
    output.use_names(settings, repository, [name for pair in pairs for name in (pair.small, pair.large)])
    view = matched_view(entry, pairs, runs, repository)
    if as_json:
        output.print_json(view.as_json())
        return
    output.print_rows(f"{entry.title}: {view.title} at matched dimensions", view.rows)
    output.print_text(*view.in_words)
    output.print_limits(run.plan.dataset for run in runs.values())


def _computed(requests: Sequence[RunRequest], settings: Settings, repository: Repository) -> list[Done]:
    """The runs, after their estimated cost; raises ``BlindspotError`` if one fails."""
    computing.announce_cost(requests, settings, repository)
    output.announce(requests, settings)
    results = computing.one_by_one(requests, settings, repository)
    done, failed = parted(results)
    if failed:
        raise failure(failed, len(results))
    return done


def _series(
    by: By,
    encoders: Sequence[str],
    data: DatasetRef,
    diagnostic: str,
    params: dict[str, str],
    prompts: Sequence[str],
    *,
    as_json: bool,
) -> None:
    settings, repository = settings_and_store()
    every = [ways(by, encoder, settings, prompts) for encoder in dict.fromkeys(encoders)]
    entry, requests = requests_of(every, data, settings, diagnostic, params)
    runs = {
        str(done.request.variant.encoder): done.outcome.record for done in _computed(requests, settings, repository)
    }
    view = series_view(by, entry, every, runs, repository)
    if as_json:
        output.print_json(view.as_json())
        return
    output.use_names(settings, repository, [step.model for step in every])
    _print(view)
    output.print_limits(run.plan.dataset for run in runs.values())


def _print(view: SeriesView) -> None:
    output.print_rows(f"{view.entry.title}: {view.title} by {view.by}", view.rows, {"difference": CHANGE})
    output.print_text(*view.in_words)
    if view.by is By.PROMPT:
        output.print_text(f"Common prompts: those of five models ({len(PROMPTS)}), each before every text.")
