"""Layers, prompts and matched dimensions for programs: how a model's score depends on the layer that is read and on its
prompt, and the order of two models on their dimensions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from blindspot.api import data as given
from blindspot.api.place import Place, place_of
from blindspot.datasets.catalog import DatasetRef
from blindspot.diagnostic import find_diagnostic
from blindspot.runs import pipeline
from blindspot.studies.lab.matched import matched_view, pairs_of
from blindspot.studies.lab.matched import requests_of as matched_requests
from blindspot.studies.lab.series import By, requests_of, series_view, ways

if TYPE_CHECKING:
    import os

    import pandas as pd


@dataclass(frozen=True)
class Series:
    """Scores of models by layer or by prompt, each against the model itself.

    Attributes:
        said: the answer in words.
        facts: what ``blindspot layers --json``, or ``prompts``, prints.
    """

    said: tuple[str, ...]
    facts: Mapping[str, Any] = field(repr=False)

    def table(self) -> pd.DataFrame:
        """A row per model and layer or prompt."""
        import pandas as pd

        return pd.DataFrame(
            [{"model": model["model"], **row} for model in self.facts["models"] for row in model["points"]]
        )


def layers(
    models: str | Sequence[str],
    data: Any,
    *,
    diagnostic: str = "",
    columns: Mapping[str, str] | None = None,
    store: str | os.PathLike[str] | None = None,
    device: str | None = None,
    **params: str,
) -> Series:
    """The score of every layer of transformers, each pooled as the model pools.

    Args:
        models: references.
        diagnostic: its id; the first that fits the data if left out.
        columns, store, device, params: as for ``run``.

    Raises:
        InputError: a model has no layers, or something else is wrong.
    """
    return _series(By.LAYER, models, (), data, diagnostic, columns, store, device, params)


def prompts(
    models: str | Sequence[str],
    data: Any,
    *,
    more: Sequence[str] = (),
    diagnostic: str = "",
    columns: Mapping[str, str] | None = None,
    store: str | os.PathLike[str] | None = None,
    device: str | None = None,
    **params: str,
) -> Series:
    """The score of models after several prompts: their own, none, five common ones and ``more``.

    Args:
        models, diagnostic, columns, store, device, params: as for ``layers``.

    Raises:
        InputError: a model takes no prompt, or something else is wrong.
    """
    return _series(By.PROMPT, models, more, data, diagnostic, columns, store, device, params)


@dataclass(frozen=True)
class Matched:
    """Pairs of models compared at their own and at matched dimensions.

    Attributes:
        said: the answer in words.
        facts: what ``blindspot matched --json`` prints.
    """

    said: tuple[str, ...]
    facts: Mapping[str, Any] = field(repr=False)

    def table(self) -> pd.DataFrame:
        """A row per comparison; a difference is the smaller model's score, ``a``, less the larger one's."""
        import pandas as pd

        return pd.DataFrame(
            [
                {name: pair[name] for name in ("smaller", "larger")} | row
                for pair in self.facts["pairs"]
                for row in pair["ways"]
            ]
        )


def matched(
    models: Sequence[str],
    data: Any,
    *,
    diagnostic: str = "",
    columns: Mapping[str, str] | None = None,
    store: str | os.PathLike[str] | None = None,
    device: str | None = None,
    **params: str,
) -> Matched:
    """Every two models of different dimension, at their own sizes and at matched ones (Eger et al. 2019, section 3).

    The larger is truncated or projected, the smaller grown by joined poolings, by joined models, or by a projection.

    Args:
        models, diagnostic, columns, store, device, params: as for ``layers``.

    Raises:
        InputError: no two models have different dimensions, or something else is wrong.
    """
    place, dataset = _where(data, diagnostic, columns, store, device)
    pairs = pairs_of(models, place.settings)
    entry, requests = matched_requests(pairs, dataset, place.settings, diagnostic, params)
    runs = {r.variant: pipeline.run(r, place.settings, place.repository).record for r in requests}
    view = matched_view(entry, pairs, runs, place.repository)
    return Matched(view.in_words, MappingProxyType(view.as_json()))


def _series(
    by: By,
    models: str | Sequence[str],
    more: Sequence[str],
    data: Any,
    diagnostic: str,
    columns: Mapping[str, str] | None,
    store: str | os.PathLike[str] | None,
    device: str | None,
    params: Mapping[str, str],
) -> Series:
    place, dataset = _where(data, diagnostic, columns, store, device)
    names = [models] if isinstance(models, str) else dict.fromkeys(models)
    every = [ways(by, name, place.settings, more) for name in names]
    entry, requests = requests_of(every, dataset, place.settings, diagnostic, params)
    runs = {str(r.variant.encoder): pipeline.run(r, place.settings, place.repository).record for r in requests}
    view = series_view(by, entry, every, runs, place.repository)
    return Series(view.in_words, MappingProxyType(view.as_json()))


def _where(
    data: Any,
    diagnostic: str,
    columns: Mapping[str, str] | None,
    store: str | os.PathLike[str] | None,
    device: str | None,
) -> tuple[Place, DatasetRef]:
    place = place_of(store, device)
    kind = find_diagnostic(diagnostic).dataset_kind if diagnostic else None
    return place, given.reference_of(data, kind, columns, place.settings)
