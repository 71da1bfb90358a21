"""Cache of comparisons, valid as long as the store and the picks are the same."""

from __future__ import annotations

from collections.abc import Sequence

from blindspot.store.repository import Repository
from blindspot.studies.compare import changed, costs, rows, several
from blindspot.studies.compare.changed import Changed
from blindspot.studies.compare.costs import Cost
from blindspot.studies.compare.rows import Comparison, Row
from blindspot.ui.pickers import Picks
from blindspot.ui.resources import cached, repository, settings
from blindspot.variants import Variant


def compared(a: Variant, b: Variant, picks: Picks) -> Comparison:
    return _compared(*_place(), a, b, picks.metric, picks.protocol, _repository=repository())


def tested(picks: Picks) -> dict[str, frozenset[tuple[str, str, str]]]:
    """What each variant of the store was run on with the picked parameters."""
    return _tested(*_place(), picks.metric, picks.protocol, _repository=repository())


def changed_items(comparison: Comparison) -> Changed:
    """The changed items of a comparison."""
    store, _ = _place()
    ids = tuple(f"{row.a.run_id} {row.b.run_id}" for row in comparison.rows)
    return _changed(store, ids, _rows=comparison.rows, _repository=repository())


def of_several(variants: Sequence[Variant], picks: Picks) -> several.ByPair:
    return _several(*_place(), tuple(variants), picks.metric, picks.protocol, _repository=repository())


def costs_of(variants: Sequence[Variant]) -> dict[Variant, Cost]:
    """Cost of each model; the store's digest is read once."""
    arguments = _place()
    return {variant: _cost(*arguments, variant, _repository=repository()) for variant in variants}


def _place() -> tuple[str, str]:
    """The store and its state: visitors of a demo have stores of their own."""
    return str(settings().store), repository().digest()


@cached(64, "Comparing …", shared=True)
def _compared(
    store: str,  # noqa: ARG001 - decides, with the digest, what there is
    digest: str,  # noqa: ARG001
    a: Variant,
    b: Variant,
    metric: str,
    protocol: str,
    _repository: Repository,
) -> Comparison:
    picked = {"metric": metric, "protocol": protocol}
    return rows.compare(a, b, _repository, picked)


@cached(16, "Comparing …", shared=True)
def _tested(
    store: str,  # noqa: ARG001 - decides, with the digest, what there is
    digest: str,  # noqa: ARG001
    metric: str,
    protocol: str,
    _repository: Repository,
) -> dict[str, frozenset[tuple[str, str, str]]]:
    return rows.tested_by_variant(_repository, {"metric": metric, "protocol": protocol})


@cached(16, "Finding what changed …", shared=True)
def _changed(
    store: str,  # noqa: ARG001 - runs do not change
    ids: tuple[str, ...],  # noqa: ARG001
    _rows: Sequence[Row],
    _repository: Repository,
) -> Changed:
    return changed.changed(_rows, _repository)


@cached(16, "Comparing …", shared=True)
def _several(
    store: str,  # noqa: ARG001 - decides, with the digest, what there is
    digest: str,  # noqa: ARG001
    variants: tuple[Variant, ...],
    metric: str,
    protocol: str,
    _repository: Repository,
) -> several.ByPair:
    picked = {"metric": metric, "protocol": protocol}
    return rows.compare_all(variants, _repository, picked)


@cached(64, shared=True)
def _cost(
    store: str,  # noqa: ARG001 - decides, with the digest, what there is
    digest: str,  # noqa: ARG001
    variant: Variant,
    _repository: Repository,
) -> Cost:
    return costs.cost_of(variant, _repository)
