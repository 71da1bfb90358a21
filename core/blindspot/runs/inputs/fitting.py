"""Items that a run's transform is fitted on: those that it ranks, or another dataset's (held out).

A transform fitted on the evaluated items has seen the test data. Which dataset it was fitted on is a parameter of the
run (``FIT_ON``), so that the two kinds are never mixed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from blindspot.datasets import fetch
from blindspot.datasets.catalog import DatasetEntry, DatasetRef
from blindspot.datasets.kinds.base import Dataset
from blindspot.encoders.base import Encoder, FittedEncoder
from blindspot.encoders.cache import EmbeddingCache
from blindspot.errors import InputError
from blindspot.runs import manifests
from blindspot.settings import Settings
from blindspot.transforms.chain import TransformChain
from blindspot.types import CancelToken, Float32, Progress, no_progress


@dataclass(frozen=True, eq=False)
class FitDataset:
    """The other dataset that a transform is fitted on."""

    entry: DatasetEntry
    dataset: Dataset

    def vectors(self, encoder: Encoder, settings: Settings, progress: Progress, cancel: CancelToken) -> Float32:
        """``[n, d] float32`` of the items that the encoder covers, encoded if need be.

        Raises:
            InputError: it covers none of them.
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
        """For the manifest."""
        return {
            "id": self.entry.id,
            "digest": self.dataset.content_digest,
            "texts": self.dataset.texts_digest,  # part of the run's id
            **manifests.source_of(self.entry, fetch.checksums(self.entry, settings)),
            "embeddings": encoder.identity.embedding_digest(self.dataset.texts_digest),
        }


def checked(fit_on: str, chain: TransformChain, dataset: str, encoder: Encoder, protocol: str) -> str:
    """The run's ``fit_on``: "" for its own items, also where another dataset makes no difference.

    ``protocol`` is one that prescribes what is fitted on what (``Diagnostic.preparation``), or "".

    Raises:
        InputError: an unknown dataset; such a protocol; or an encoder that learns from the texts it encodes, so that
            another dataset is in another space.
    """
    if not fit_on:
        return ""
    held_out = needed(fit_on, chain, dataset)
    if protocol:
        raise InputError(
            f"a transform is to be fitted on '{fit_on}' under the protocol {protocol}, which centers over the items "
            "ranked or the whole file of vectors",
            expected="the protocol definition, or no other dataset to fit on",
        )
    if isinstance(encoder, FittedEncoder):
        raise InputError(
            f"'{encoder.identity.reference}' learns from the very texts that it encodes: its vectors for "
            f"'{fit_on}' lie in another space than those for '{dataset}'",
            expected="an encoder that gives a text the same vector in every dataset, or no other dataset to fit on",
        )
    return held_out


def needed(fit_on: str, chain: TransformChain, dataset: str) -> str:
    """The id of the dataset to fit on if that differs from fitting on ``dataset``, else ""; raises ``InputError``."""
    dataset_id = DatasetRef(fit_on).entry().id if fit_on else ""
    return dataset_id if chain.learns and dataset_id != dataset else ""


def load(fit_on: DatasetRef | None, settings: Settings, progress: Progress, cancel: CancelToken) -> FitDataset | None:
    """The dataset that a run's transform is fitted on, downloaded if need be; raises ``BlindspotError``."""
    if fit_on is None:
        return None
    entry = fit_on.entry()
    return FitDataset(entry, fetch.load(entry, settings, progress, cancel))


def load_here(fit_on: DatasetRef | None, settings: Settings) -> FitDataset | None:
    """As ``load``, but None if the dataset is not on this machine."""
    if fit_on and fetch.dataset_state(fit_on.entry(), settings) is fetch.DataState.MISSING:
        return None
    return load(fit_on, settings, no_progress, CancelToken())
