"""Variants named on the command line, encoded and opened."""

from __future__ import annotations

from collections.abc import Sequence

from blindspot.cli import output
from blindspot.datasets import fetch
from blindspot.datasets.catalog import DatasetEntry, DatasetRef
from blindspot.datasets.kinds.base import Dataset
from blindspot.encoders.catalog import variant_named
from blindspot.runs import pipeline
from blindspot.runs.requests import EncodeRequest
from blindspot.runs.spaces import Space, open_spaces
from blindspot.settings import Settings
from blindspot.store.repository import Repository
from blindspot.variants import Variant


def variants_of(encoders: Sequence[str], transforms: Sequence[str] | None) -> list[Variant]:
    """Every encoder with every transform (``none`` by default), without repetitions.

    Raises:
        InputError: an unknown encoder or transform.
    """
    return list(dict.fromkeys(variant_named(e, chain) for e in encoders for chain in transforms or ["none"]))


def opened(variants: Sequence[Variant], entry: DatasetEntry, settings: Settings) -> tuple[Dataset, tuple[Space, ...]]:
    """The dataset and its space under each variant; missing embeddings are computed."""
    repository = Repository.at(settings.store)
    named = DatasetRef(entry.id)
    requests = [EncodeRequest(reference, named) for reference in dict.fromkeys(v.encoder for v in variants)]
    output.announce(requests, settings)
    for request in requests:
        with output.progress(request.label) as progress:
            pipeline.encode(request, settings, repository, progress)
    dataset = fetch.load(entry, settings)
    return dataset, open_spaces(variants, dataset, settings)
