"""Requests as somebody makes them: all is checked that can be without work, and becomes values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from blindspot import names, policy
from blindspot.datasets.catalog import DatasetRef
from blindspot.datasets.kinds import KINDS
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.diagnostic import (
    FIT_ON,
    Diagnostic,
    all_diagnostics,
    find_diagnostic,
)
from blindspot.encoders.catalog import (
    canonical_encoder,
    encoder_of,
    may_leave_out,
    passages_of,
    variant_named,
)
from blindspot.encoders.transformer.passages import without_documents
from blindspot.errors import InputError
from blindspot.references import FusionRef
from blindspot.runs.inputs import fitting
from blindspot.runs.inputs.rankings import ranking_of
from blindspot.runs.inputs.repaired import check_repair
from blindspot.runs.inputs.roles import check_sides
from blindspot.runs.requests import RunRequest
from blindspot.settings import Settings
from blindspot.store.records import RunRecord
from blindspot.variants import Variant


def request(
    diagnostic: str,
    encoder: str,
    transform: str,
    dataset: str,
    params: Mapping[str, str],
    settings: Settings,
    covered_by: Iterable[str] = (),
    fit_on: str = "",
) -> RunRequest:
    """Check everything that can be checked without work, and make the request canonical.

    Args:
        params: of the diagnostic; may contain ``fit_on``.
        covered_by: encoders to compare with; those with a vector for every text change nothing.
        fit_on: the dataset to fit the transform on instead of the ranked items (held out).

    Raises:
        InputError: an unknown id, parameter or value; a diagnostic that does not fit the dataset; a dataset that cannot
            be fitted on (``fitting.checked``).
    """
    entry = find_diagnostic(diagnostic)
    for reference in (encoder, *covered_by):
        policy.check_encoder(reference, settings)
    for reference in (dataset, fit_on, params.get(FIT_ON, "")):
        policy.check_dataset(reference, settings)
    dataset_entry = DatasetRef(dataset).of_kind(entry.dataset_kind).entry()
    if dataset_entry.kind is not entry.dataset_kind:
        raise InputError(
            f"{entry.id} does not run on '{dataset}', a {dataset_entry.kind.in_words}",
            expected=f"a {entry.dataset_kind.in_words}",
            remedy=dataset_entry.own.instead(entry.dataset_kind) if dataset_entry.own else "",
        )
    variant = variant_named(encoder, transform)
    reference, chain = variant.encoder, variant.chain
    if passages_of(reference) and entry.dataset_kind is not DatasetKind.RETRIEVAL:
        raise without_documents(reference, entry.id)
    policy.check_transform(variant.transform, settings)
    checked = entry.check_params({name: value for name, value in params.items() if name != FIT_ON})
    preparation = entry.preparation(checked)
    check_sides(entry, checked, chain)
    if not variant.encoder.has_vectors:
        _check_ranking(variant, entry, settings)
    else:
        resolved, protocol = encoder_of(variant.encoder, settings), checked["protocol"] if preparation else ""
        check_repair(chain, resolved, settings)
        if held_out := fitting.checked(fit_on or params.get(FIT_ON, ""), chain, dataset_entry.id, resolved, protocol):
            checked[FIT_ON] = held_out
    others = set(filter(may_leave_out, map(canonical_encoder, covered_by))) - {reference}
    for other in others:
        encoder_of(other, settings)
    ranks_a_part = KINDS[entry.dataset_kind].has_parts and preparation is None
    return RunRequest(
        diagnostic,
        variant,
        DatasetRef(dataset_entry.id),
        tuple(sorted(checked.items())),
        tuple(sorted(others)) if ranks_a_part else (),  # a protocol that prepares vectors itself ranks everything
    )


def _check_ranking(variant: Variant, entry: Diagnostic, settings: Settings) -> None:
    """Raise ``InputError`` unless the ranking can be used, and by this diagnostic."""
    name = names.current().model(variant.encoder)
    if not entry.takes_rankings:
        able = ", ".join(diagnostic.id for diagnostic in all_diagnostics().values() if diagnostic.takes_rankings)
        raise InputError(
            f"{entry.id} compares vectors, and {name} ranks documents without any",
            expected="a model with vectors",
            remedy=f"use {name} in {able}",
        )
    if variant.chain.steps:
        raise InputError(
            f"{name} has no vectors that {variant.transform} could change",
            expected="the transform none",
            remedy="a fusion names transforms in its models: fuse:minilm~center+bm25"
            if isinstance(variant.encoder, FusionRef)
            else "",
        )
    ranking_of(variant.encoder, settings)


def with_transform(request: RunRequest, transform: str, fit_on: str = "") -> RunRequest:
    """The request with another (canonical) transform chain; ``fit_on`` as originally asked for."""
    params = {name: value for name, value in request.params if name != FIT_ON}
    variant = Variant(request.variant.encoder, transform)
    check_sides(find_diagnostic(request.diagnostic), params, variant.chain)
    if held_out := fitting.needed(fit_on, variant.chain, request.dataset):
        params[FIT_ON] = held_out
    return replace(request, variant=variant, params=tuple(sorted(params.items())))


def request_of(record: RunRecord, settings: Settings) -> RunRequest:
    """The request of a stored run; raises ``InputError`` if this version lacks something that it names."""
    plan, variant = record.plan, record.plan.variant
    return request(
        plan.diagnostic, variant.encoder, variant.transform, plan.dataset, plan.params, settings, plan.covered_by
    )
