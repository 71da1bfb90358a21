"""Cache of findings, valid as long as the store and the picks are the same."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from blindspot.runs.findings import Finding
from blindspot.settings import Settings
from blindspot.store.repository import Repository
from blindspot.studies.findings import collection
from blindspot.studies.findings.collection import Collected, RunsOf, Selection
from blindspot.ui.resources import cached, repository, settings
from blindspot.variants import Variant


def collected(variants: Sequence[Variant], metric: str, dataset: str) -> Collected:
    """The findings of picked variants; see ``Selection``."""
    store = repository()
    store_path = str(settings().store)
    return _collected(
        store.digest(), tuple(variants), metric, dataset, store_path, _repository=store, _settings=settings()
    )


@cached(32, "Computing findings …", shared=True)
def _collected(
    digest: str,  # noqa: ARG001 - decides, with the rest, what there is
    variants: tuple[Variant, ...],
    metric: str,
    dataset: str,
    store: str,
    _repository: Repository,
    _settings: Settings,
) -> Collected:
    selection = Selection(variants, metric, (dataset,) if dataset else ())
    return collection.collect(_repository, _settings, selection, making=partial(_making, store))


def _making(store: str, runs: RunsOf, repository: Repository, settings: Settings) -> Sequence[Finding]:
    return _made(runs, store, _repository=repository, _settings=settings)


def _identity(runs: RunsOf) -> object:
    of_runs = ([run.run_id for run in kind] for kind in (runs.chosen, runs.baselines))
    return runs.entry.id, runs.entry.version, runs.pooled, *of_runs


# Runs do not change: where others are added, as during a demo, only their diagnostics are looked at anew.
@cached(256, shared=True, keys={RunsOf: _identity})
def _made(
    runs: RunsOf,
    store: str,  # noqa: ARG001 - visitors of a demo have their own
    _repository: Repository,
    _settings: Settings,
) -> Sequence[Finding]:
    return collection.make(runs, _repository, _settings)
