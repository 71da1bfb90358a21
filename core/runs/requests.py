"""What is asked for, and what identifies the run of it."""

from __future__ import annotations

import json
from dataclasses import dataclass

from core import diagnostic as diagnostics
from core.datasets.kinds.base import Dataset, Part
from core.diagnostic import FIT_ON
from core.encoders.base import Encoder
from core.runs.fitting import FitDataset
from core.store.records import RunPlan
from core.types import Variant, digest_of_strings


@dataclass(frozen=True)
class RunRequest:
    """Something to compute, in the user's words. Equal requests are the same run.

    ``params`` are name-value pairs in order of name: all of the diagnostic's parameters, and ``fit_on`` where the
    transform is fitted on another dataset. ``support`` names other encoders: only items for which they too have a
    vector are ranked (common support); none means the own support, and so it is on minimal-pair sets.
    """

    diagnostic: str
    variant: Variant
    dataset: str
    params: tuple[tuple[str, str], ...]
    support: tuple[str, ...] = ()

    @property
    def fit_on(self) -> str:
        """The dataset that the transform is fitted on; "" for the items that are ranked themselves."""
        return dict(self.params).get(FIT_ON, "")

    @property
    def label(self) -> str:
        fitted = f", fitted on {self.fit_on}" if self.fit_on else ""
        return f"{diagnostics.find(self.diagnostic).title} of {self.variant.label} on {self.dataset}{fitted}"


@dataclass(frozen=True)
class Repetition:
    """A stored run to be computed again, to see whether its numbers stay."""

    run_id: str
    request: RunRequest

    @property
    def label(self) -> str:
        return f"{self.request.label}, once more"


@dataclass(frozen=True)
class EncodeRequest:
    """A dataset to be encoded, for looking into its space; nothing is computed on it. Equal requests are one."""

    encoder: str
    dataset: str

    @property
    def label(self) -> str:
        return f"Encoding {self.dataset} with {self.encoder}"


def plan_of(
    request: RunRequest,
    encoder: Encoder,
    dataset: Dataset,
    ranked: Part | None,
    own_support: bool,
    held_out: FitDataset | None,
) -> RunPlan:
    """What identifies the run of a request; ``ranked`` and ``own_support`` as ``pipeline`` finds them.

    Args:
        held_out: the dataset that the request is fitted on, where it is not its own.
    """
    entry = diagnostics.find(request.diagnostic)
    embedding_digest = encoder.identity.embedding_digest(dataset.texts_digest)
    support_digest = "" if ranked is None else ranked.digest
    return RunPlan(
        run_id=_run_id(
            request,
            entry.version,
            embedding_digest,
            dataset.content_digest,
            support_digest,
            held_out.dataset.texts_digest if held_out else "",
        ),
        diagnostic=entry.id,
        diagnostic_version=entry.version,
        variant=request.variant,
        dataset=request.dataset,
        dataset_digest=dataset.content_digest,
        params=dict(request.params),
        embedding_digest=embedding_digest,
        support=request.support if support_digest else (),
        support_digest=support_digest,
        own_support=own_support,
    )


def _run_id(
    request: RunRequest,
    version: int,
    embedding_digest: str,
    dataset_digest: str,
    support_digest: str,
    fitted_on_digest: str,
) -> str:
    """Digest of everything that decides the numbers."""
    parts = [
        request.diagnostic,
        str(version),
        embedding_digest,
        request.variant.transform,
        dataset_digest,
        json.dumps(request.params),
    ]
    if support_digest:  # what ranks all items keeps the id that it had before there was a choice
        parts.append(support_digest)
    if fitted_on_digest:  # and so does what is fitted on its own items
        parts.append(f"fitted on {fitted_on_digest}")
    return digest_of_strings(parts)[:16]
