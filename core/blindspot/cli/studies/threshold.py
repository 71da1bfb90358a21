"""Command ``threshold``: from which similarity on two texts should count as the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from blindspot.cli import output
from blindspot.cli.options import TRANSFORM_HELP, AsJson
from blindspot.cli.variants import opened, variants_of
from blindspot.datasets.catalog import OWN_FILE, canonical_dataset, dataset_for, find_dataset, title_of
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.kinds.labeled_texts import LabeledTexts
from blindspot.datasets.user_data.files import UnclearKind
from blindspot.diagnostic import find_diagnostic
from blindspot.diagnostics.similarity.pairs import scored_table
from blindspot.errors import InputError
from blindspot.numerics.similarity import Similarity
from blindspot.numerics.statistics.written import interval
from blindspot.numerics.thresholds.calibration import Way, calibrate
from blindspot.numerics.thresholds.curves import CarriedOver, carried_over, wished
from blindspot.runs import pipeline, requesting
from blindspot.settings import Settings
from blindspot.store.repository import Repository
from blindspot.studies.threshold import answer
from blindspot.studies.threshold.pairs import Measured, Rule, of_runs, of_spaces
from blindspot.variants import Variant


def threshold(
    encoder: Annotated[str, typer.Option(help="encoder reference")],
    dataset: Annotated[
        str, typer.Option("--dataset", "--data", help=f"scored pairs, labeled pairs or labeled texts: id or {OWN_FILE}")
    ],
    transform: Annotated[str, typer.Option(help=TRANSFORM_HELP.removesuffix("; repeat for several"))] = "none",
    precision: Annotated[float, typer.Option(help="precision that you wish for")] = answer.PRECISION,
    cut: Annotated[
        float | None,
        typer.Option(help="score from which on two texts are the same; default: at 80% of the scores' range"),
    ] = None,
    same: Annotated[str, typer.Option(help="of labeled pairs: the label that says that both texts are the same")] = "",
    also: Annotated[str, typer.Option(help="another model: what does this threshold do there?")] = "",
    metric: Annotated[Similarity, typer.Option(help="similarity")] = Similarity.COS,
    as_json: AsJson = False,
) -> None:
    """Find the lowest similarity from which on two texts are the same with a wished precision.

    Scored pairs are the same from --cut on, labeled pairs where they have the label --same. Of labeled single texts,
    pairs of the same and of different classes are sampled.
    """
    settings = Settings.from_environment()
    repository = Repository.at(settings.store)
    variants = variants_of([encoder, also] if also else [encoder], [transform])
    measured = _measured(canonical_dataset(dataset), variants, metric, settings, repository)
    rule = _rule(measured, cut, same)
    pairs = measured.labeled(variants[0], rule)
    found = wished(pairs, precision)
    calibrations = {way.value: calibrate(pairs, way) for way in Way}
    over = None
    if len(variants) > 1 and found.point is not None:
        over = carried_over(pairs, measured.labeled(variants[1], rule), found.point.threshold)
    fields = answer.export(measured, variants[0], rule, metric.value, found, calibrations)
    if as_json:
        output.print_json(fields | ({"also": _carried_fields(variants[1], over)} if over else {}))
        return
    output.use_names(settings, repository, [variant.encoder for variant in variants])
    said = f"{variants[0].label} on {title_of(measured.dataset)}, {len(pairs):,} pairs, "
    output.print_text(f"{said}{int(pairs.same.sum()):,} of them the same ({rule.in_words}).")
    output.print_text(answer.in_words(found).replace("**", ""))
    output.print_text(answer.certainty(found))
    output.print_table(
        "Similarity as a probability, cross-fitted",
        ["", "Brier score", "95% interval", "calibration error (ECE)", "of a perfect one"],
        [
            [
                name,
                f"{one.brier.value:.4f}",
                interval(one.brier.interval, ".4f"),
                f"{one.ece:.4f}",
                f"{one.ece_by_chance:.4f}",
            ]
            for name, one in calibrations.items()
        ],
    )
    if over is not None:
        b = over.b
        output.print_text(
            f"This threshold with {variants[1].label}: precision {answer.ends(b.precision)}, recall "
            f"{answer.ends(b.recall)}; {int(over.flipped.sum()):,} pairs are called otherwise."
        )


def _measured(
    dataset: str, variants: Sequence[Variant], metric: Similarity, settings: Settings, repository: Repository
) -> Measured:
    """Pairs with similarities; what is not stored is computed."""
    try:
        entry = find_dataset(dataset)
    except UnclearKind:
        entry = find_dataset(dataset_for(dataset, DatasetKind.SCORED_PAIRS))
    if entry.kind is DatasetKind.SCORED_PAIRS:
        similarity = find_diagnostic("similarity")
        by_run = {}
        for variant in variants:
            request = requesting.request(
                similarity.id, variant.encoder, variant.transform, entry.id, {"metric": metric.value}, settings
            )
            output.announce([request], settings)
            with output.progress(request.label) as progress:
                record = pipeline.run(request, settings, repository, progress).record
            by_run[record.run_id] = variant, record
        table = scored_table(similarity, list(by_run), repository)
        first = next(iter(by_run.values()))[1]
        own = repository.own_columns(first.plan.dataset, first.plan.dataset_digest)
        return of_runs(table, {run: v for run, (v, _) in by_run.items()}, entry.id, first.coverage["pairs"], own)
    if entry.kind is not DatasetKind.LABELED_TEXTS:
        raise InputError(
            f"'{dataset}' is a {entry.kind}", expected="scored pairs, labeled pairs or labeled texts, such as stsb-test"
        )
    loaded, spaces = opened(variants, entry, settings)
    if not isinstance(loaded, LabeledTexts):
        raise TypeError(f"{dataset} has no labeled texts")
    return of_spaces(loaded, spaces, metric)


def _rule(measured: Measured, cut: float | None, same: str) -> Rule:
    if cut is not None:
        if measured.scores is None:
            raise InputError(f"'{measured.dataset}' has no scores to cut", expected="--cut with scored pairs only")
        return Rule(cut=cut)
    if same:
        if same not in measured.classes:
            known = ", ".join(measured.classes) or "none, since its pairs are sampled or scored"
            raise InputError(f"'{measured.dataset}' has no label '{same}'", expected=f"one of: {known}")
        return Rule(label=same)
    return measured.usual_rule()


def _carried_fields(variant: Variant, over: CarriedOver) -> dict[str, Any]:
    return {
        "encoder": variant.encoder,
        "transform": variant.transform,
        **answer.point_fields(over.b),
        "precision_difference": answer.estimate_fields(over.precision),
        "recall_difference": answer.estimate_fields(over.recall),
        "called_by_first_only": int(over.only_a.sum()),
        "called_by_second_only": int(over.only_b.sum()),
    }
