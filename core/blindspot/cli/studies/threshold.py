"""Command ``threshold``: from which similarity on two texts should count as the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from blindspot.cli import output
from blindspot.cli.options import (
    TRANSFORM_HELP,
    AsJson,
    Encoder,
    Metric,
    dataset_named,
    opened,
    settings_and_store,
    variants_of,
)
from blindspot.datasets.catalog import OWN_FILE, DatasetRef, title_of
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.kinds.labeled_texts import LabeledTexts
from blindspot.datasets.user_data.files import UnclearKind
from blindspot.errors import InputError
from blindspot.numerics.similarity import Similarity
from blindspot.numerics.statistics.written import SCORE, interval
from blindspot.runs import pipeline, requesting
from blindspot.settings import Settings
from blindspot.store.repository import Repository
from blindspot.studies.threshold.pairs import Measured, of_runs, of_spaces
from blindspot.studies.threshold.view import PRECISION, carried_as_json, certainty, ends, in_words, threshold_view
from blindspot.variants import Variant


def threshold(
    encoder: Encoder,
    dataset: Annotated[str, typer.Option(help=f"scored pairs, labeled pairs or labeled texts: id or {OWN_FILE}")],
    transform: Annotated[str, typer.Option(help=TRANSFORM_HELP.removesuffix("; repeat for several"))] = "none",
    precision: Annotated[float, typer.Option(help="precision that you wish for")] = PRECISION,
    cut: Annotated[
        float | None,
        typer.Option(help="score from which on two texts are the same; default: at 80% of the scores' range"),
    ] = None,
    same: Annotated[str, typer.Option(help="of labeled pairs: the label that says that both texts are the same")] = "",
    also: Annotated[str, typer.Option(help="another model: what does this threshold do there?")] = "",
    metric: Metric = Similarity.COS,
    as_json: AsJson = False,
) -> None:
    """Find the lowest similarity from which on two texts are the same with a wished precision.

    Scored pairs are the same from --cut on, labeled pairs where they have the label --same. Of labeled single texts,
    pairs of the same and of different classes are sampled.
    """
    settings, repository = settings_and_store()
    variants = variants_of([encoder, also] if also else [encoder], [transform])
    measured = _measured(dataset_named(dataset), variants, metric, settings, repository)
    shown = threshold_view(measured, variants[0], measured.rule_of(cut, same), metric.value, precision)
    over = shown.carried_to(variants[1]) if len(variants) > 1 else None
    output.warn(filter(None, [shown.doubt]))
    if as_json:
        output.print_json(shown.as_json() | ({"also": carried_as_json(variants[1], over)} if over else {}))
        return
    output.use_names(settings, repository, [variant.encoder for variant in variants])
    title, count = title_of(measured.dataset), int(measured.same(shown.rule).sum())
    beginning = f"{variants[0].label} on {title}, {len(measured):,} pairs, "
    output.print_text(f"{beginning}{count:,} of them the same ({shown.rule.in_words}).")
    output.print_text(in_words(shown.found).replace("**", ""))
    output.print_text(certainty(shown.found))
    rows = [
        {
            "": name,
            "Brier score": estimate.brier.value,
            "95% interval": interval(estimate.brier.interval, SCORE),
            "calibration error (ECE)": estimate.ece,
            "of a perfect one": estimate.ece_by_chance,
        }
        for name, estimate in shown.calibrations.items()
    ]
    output.print_rows("Similarity as a probability, cross-fitted", rows)
    if over is not None:
        output.print_text(
            f"This threshold with {variants[1].label}: precision {ends(over.b.precision)}, recall "
            f"{ends(over.b.recall)}; {int(over.flipped.sum()):,} pairs are called otherwise."
        )
    output.print_limits([measured.dataset])


def _measured(
    dataset: DatasetRef, variants: Sequence[Variant], metric: Similarity, settings: Settings, repository: Repository
) -> Measured:
    """Pairs with similarities; what is not stored is computed."""
    try:
        entry = dataset.entry()
    except UnclearKind:
        entry = dataset.of_kind(DatasetKind.SCORED_PAIRS).entry()
    if entry.kind is DatasetKind.SCORED_PAIRS:
        runs = []
        for variant in variants:
            params = {"metric": metric.value}
            request = requesting.request("similarity", variant.encoder, variant.transform, entry.id, params, settings)
            output.announce([request], settings)
            with output.progress(request.label) as progress:
                runs.append(pipeline.run(request, settings, repository, progress).record)
        return of_runs(runs, repository)
    if entry.kind is not DatasetKind.LABELED_TEXTS:
        raise InputError(
            f"'{dataset}' is a {entry.kind.in_words}",
            expected="scored pairs, labeled pairs or labeled texts, such as stsb-test",
        )
    loaded, spaces = opened(variants, entry, settings)
    if not isinstance(loaded, LabeledTexts):
        raise TypeError(f"{dataset} has no labeled texts")
    return of_spaces(loaded, spaces, metric)
