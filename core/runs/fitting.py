"""What the transform of a run is fitted on: the items that it ranks, or those of another dataset (held out).

Fitted on the very items that are evaluated, a transform has seen the test: what it removes or scales was found in it.
Fitted on another dataset's items, encoded by the same encoder, it has not. Which one it was is a parameter of the run
(``FIT_ON``), so that runs of the one kind are never shown as the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.datasets import catalog as datasets
from core.datasets import fetch
from core.datasets.catalog import DatasetEntry
from core.datasets.kinds.base import Dataset
from core.diagnostic import FIT_ON
from core.encoders.base import Encoder, FittedEncoder
from core.encoders.cache import EmbeddingCache
from core.errors import InputError
from core.runs import manifests
from core.settings import Settings
from core.transforms.chain import TransformChain
from core.types import CancelToken, Float32, Progress, no_progress


@dataclass(frozen=True, eq=False)
class FitDataset:
    """The other dataset that a transform is fitted on."""

    entry: DatasetEntry
    dataset: Dataset

    def vectors(self, encoder: Encoder, settings: Settings, progress: Progress, cancel: CancelToken) -> Float32:
        """Its items as an encoder places them, ``[n, d] float32``: those that it has a vector for, encoded if need be.

        Raises:
            InputError: it has a vector for none of them.
        """
        embedded = EmbeddingCache(settings.embeddings).encode(
            encoder, self.dataset.items, self.dataset.texts_digest, progress, cancel
        )
        if not embedded.covered.any():
            raise InputError(
                f"'{encoder.identity.reference}' has a vector for none of the items of '{self.entry.id}', "
                "which the transform is to be fitted on",
                expected="a dataset whose texts the encoder knows",
            )
        return embedded.matrix if embedded.covered.all() else embedded.matrix[embedded.covered]

    def facts(self, encoder: Encoder, settings: Settings) -> Mapping[str, Any]:
        """What a run's manifest says of it."""
        return {
            "id": self.entry.id,
            "digest": self.dataset.content_digest,
            **manifests.source_of(self.entry, fetch.checksums(self.entry, settings)),
            "embeddings": encoder.identity.embedding_digest(self.dataset.texts_digest),
        }


def checked(fit_on: str, chain: TransformChain, dataset: str, encoder: Encoder, protocol: str) -> str:
    """The dataset to fit a run's transform on as its parameter says it; "" for the run's own items.

    It is those also where that makes no difference: the dataset is the run's own, or no step of the chain learns
    anything from items.

    Args:
        protocol: one that says itself what is fitted on what (``DiagnosticEntry.preparation``), or "".

    Raises:
        InputError: an unknown dataset; such a protocol; or an encoder
            that learns from the texts it encodes, so that another dataset lies in another space.
    """
    if not fit_on:
        return ""
    held_out = needed(fit_on, chain, dataset)
    reference = encoder.identity.reference
    if protocol:
        raise InputError(
            f"a transform is to be fitted on '{fit_on}' under the protocol {protocol}, which centers over the items "
            "ranked or the whole file of vectors",
            expected="the protocol definition, or no other dataset to fit on",
        )
    if isinstance(encoder, FittedEncoder):
        raise InputError(
            f"'{reference}' learns from the very texts that it encodes: its vectors for '{fit_on}' lie in another "
            f"space than those for '{dataset}'",
            expected="an encoder that gives a text the same vector in every dataset, or no other dataset to fit on",
        )
    return held_out


def needed(fit_on: str, chain: TransformChain, dataset: str) -> str:
    """The dataset to fit on (its id), where fitting a chain on it instead of on ``dataset`` makes a difference, or "".

    Raises:
        InputError: an unknown dataset.
    """
    found = datasets.find(fit_on).id if fit_on else ""
    return found if chain.learns and found != dataset else ""


def load(params: Mapping[str, str], settings: Settings, progress: Progress, cancel: CancelToken) -> FitDataset | None:
    """The dataset that these parameters of a run name, downloaded if need be; None where they name none.

    Raises:
        BlindspotError: it cannot be had.
    """
    if FIT_ON not in params:
        return None
    entry = datasets.find(params[FIT_ON])
    return FitDataset(entry, fetch.load(entry, settings, progress, cancel))


def load_here(params: Mapping[str, str], settings: Settings) -> FitDataset | None:
    """As ``load``, of what is on this machine; None also where it is not."""
    if FIT_ON not in params:
        return None
    entry = datasets.find(params[FIT_ON])
    if fetch.dataset_state(entry, settings) is fetch.DataState.MISSING:
        return None
    return FitDataset(entry, fetch.load(entry, settings, no_progress, CancelToken()))
