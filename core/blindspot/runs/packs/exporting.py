"""Export of a store's runs as result packs, for other people's stores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from blindspot.datasets import fetch
from blindspot.datasets.catalog import DatasetRef
from blindspot.datasets.kinds.base import Dataset
from blindspot.diagnostic import FIT_ON, all_diagnostics
from blindspot.errors import BlindspotError, InputError
from blindspot.runs.packs.folders import Folder
from blindspot.runs.packs.format import write_pack
from blindspot.runs.packs.importing import Refused
from blindspot.runs.packs.results import fitted_on_of
from blindspot.runs.requests import run_id_of
from blindspot.settings import Settings
from blindspot.store import whole_runs
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository


@dataclass(frozen=True)
class Exported:
    """A run whose pack is in the folder."""

    run_id: str


def export_packs(
    runs: Sequence[RunRecord], folder: Folder, settings: Settings, repository: Repository
) -> Iterator[Exported | Refused]:
    """Write finished runs as packs; one that cannot be does not stop the others.

    The proof that a dataset's texts are those of its digest needs the dataset itself, so it has to be here.

    Raises:
        BlindspotError: the store cannot be read, or the folder not be written to.
    """

    @cache
    def dataset_of(reference: DatasetRef) -> Dataset:
        entry = reference.entry()
        if fetch.dataset_state(entry, settings) is fetch.DataState.MISSING:
            raise InputError(
                f"the dataset {reference} is not on this machine", remedy=f"blindspot data fetch {reference}"
            )
        return fetch.load(entry, settings)

    for run in runs:
        try:
            _export(run, folder, repository, dataset_of)
        except InputError as error:
            yield Refused(run.run_id, error)
        else:
            yield Exported(run.run_id)


def _export(
    run: RunRecord, folder: Folder, repository: Repository, dataset_of: Callable[[DatasetRef], Dataset]
) -> None:
    plan, entry = run.plan, all_diagnostics().get(run.plan.diagnostic)
    whole = whole_runs.give_out(repository.database, entry, run.run_id) if entry else None
    if whole is None:
        raise InputError(f"run {run.run_id} is not finished, or of another version of {plan.diagnostic}")
    try:
        dataset = dataset_of(plan.dataset)
        fitted_on = fitted_on_of(whole.manifest) if FIT_ON in plan.params else ""
        if FIT_ON in plan.params and not fitted_on:  # of a run from before manifests had it
            fitted_on = dataset_of(DatasetRef(plan.params[FIT_ON])).texts_digest
    except InputError:
        raise
    except BlindspotError as error:  # damaged data, say
        raise InputError(error.what, remedy=error.remedy) from error
    if dataset.content_digest != plan.dataset_digest or run_id_of(plan, fitted_on) != run.run_id:
        raise InputError(
            f"the texts of {plan.dataset} are no longer those that run {run.run_id} was computed on",
            remedy="run it again and export the new run",
        )
    write_pack(folder, whole, dataset, fitted_on)


def refusal(refused: Sequence[Refused], of: int) -> BlindspotError:
    """The error of an export that left runs out."""
    first = refused[0]
    return BlindspotError(f"{len(refused)} of {of} runs were not exported; the first was {first.name}: {first.error}")
