"""Requests for work, and the plan that identifies a run."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from blindspot import names
from blindspot.datasets.catalog import DatasetRef, title_of
from blindspot.datasets.kinds.base import Dataset, Part
from blindspot.diagnostic import FIT_ON, find_diagnostic
from blindspot.runs.inputs.fitting import FitDataset
from blindspot.store.records import RunPlan
from blindspot.types import digest_of_strings
from blindspot.variants import Variant


@dataclass(frozen=True)
class RunRequest:
    """A run to compute. Equal requests are the same run.

    ``params`` are name-value pairs sorted by name: all of the diagnostic's parameters, and ``fit_on`` for a held-out
    fit. ``covered_by`` names other encoders: only items that they cover too are ranked.
    """

    diagnostic: str
    variant: Variant
    dataset: DatasetRef
    params: tuple[tuple[str, str], ...]
    covered_by: tuple[str, ...] = ()

    @property
    def fit_on(self) -> DatasetRef | None:
        """The dataset that the transform is fitted on; None for the ranked items."""
        fit_on = dict(self.params).get(FIT_ON)
        return DatasetRef(fit_on) if fit_on else None

    @property
    def label(self) -> str:
        fitted = f", fitted on {title_of(self.fit_on)}" if self.fit_on else ""
        return f"{find_diagnostic(self.diagnostic).title} of {self.variant.label} on {title_of(self.dataset)}{fitted}"

    def as_json(self) -> dict[str, Any]:
        """With the keys that its run has in JSON."""
        return {
            "diagnostic": self.diagnostic,
            "encoder": self.variant.encoder,
            "transform": self.variant.transform,
            "dataset": self.dataset,
            "params": dict(self.params),
        }


@dataclass(frozen=True)
class Repetition:
    """A stored run to compute again, to compare its numbers."""

    run_id: str
    request: RunRequest

    @property
    def label(self) -> str:
        return f"{self.request.label}, once more"


@dataclass(frozen=True)
class EncodeRequest:
    """A dataset to encode, without any diagnostic."""

    encoder: str
    dataset: DatasetRef

    @property
    def label(self) -> str:
        return f"Encoding {title_of(self.dataset)} with {names.current().model(self.encoder)}"


def plan_of(
    request: RunRequest,
    embedding_digest: str,
    dataset: Dataset,
    ranked: Part | None,
    own_covered: bool,
    held_out: FitDataset | None,
) -> RunPlan:
    """What identifies the run of a request.

    Args:
        embedding_digest: key of the model's embeddings, or of its ranking.
        ranked: None for the whole dataset.
    """
    entry = find_diagnostic(request.diagnostic)
    covered_digest = "" if ranked is None else ranked.digest
    plan = RunPlan(
        run_id="",
        diagnostic=entry.id,
        diagnostic_version=entry.version,
        variant=request.variant,
        dataset=request.dataset,
        dataset_digest=dataset.content_digest,
        params=dict(request.params),
        embedding_digest=embedding_digest,
        covered_by=request.covered_by if covered_digest else (),
        covered_digest=covered_digest,
        own_covered=own_covered,
    )
    return replace(plan, run_id=run_id_of(plan, held_out.dataset.texts_digest if held_out else ""))


def run_id_of(plan: RunPlan, fitted_on: str) -> str:
    """The id that follows from all else in a plan; ``fitted_on`` is the digest of the texts of another dataset that the
    transform was fitted on, or ""."""
    parts = [plan.diagnostic, str(plan.diagnostic_version), plan.embedding_digest, plan.variant.transform]
    parts += [plan.dataset_digest, json.dumps(sorted(plan.params.items()))]
    if plan.covered_digest:  # runs on all items keep the id from before there was a choice
        parts.append(plan.covered_digest)
    if fitted_on:  # and so do runs fitted on their own items
        parts.append(f"fitted on {fitted_on}")
    return digest_of_strings(parts)[:16]
