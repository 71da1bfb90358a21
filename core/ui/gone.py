"""What of a user's is gone or was changed into something else since it was used: left out, so that the rest works.

A dataset is a file of the user's that was run once; an encoder a folder or a file of vectors. Any of them may have been
removed, moved or written anew meanwhile; what was computed stays in the store.
"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.datasets import catalog as datasets
from core.datasets.catalog import DatasetEntry
from core.datasets.kinds.base import Dataset
from core.datasets.own import files as own
from core.encoders import catalog as encoders
from core.errors import BlindspotError
from core.runs import spaces
from core.types import Variant
from core.ui.markdown import as_text
from core.ui.pickers import known_datasets
from core.ui.resources import settings

_ICON = ":material/report:"
_NAMES_SHOWN = 5


def readable_datasets(*, told: bool = False) -> dict[str, DatasetEntry]:
    """The datasets that can be worked on, by their references: ``known_datasets`` without what cannot be read.

    Args:
        told: whether to say which were left out.
    """
    found: dict[str, DatasetEntry] = {}
    left_out = []
    for reference in known_datasets():
        try:
            found[reference] = datasets.find(reference)
        except BlindspotError:
            left_out.append(own.path_of(reference).name if own.is_own(reference) else reference)
    if left_out and told:
        more = f" and {len(left_out) - _NAMES_SHOWN} others" if len(left_out) > _NAMES_SHOWN else ""
        st.caption(
            as_text(
                f"Not offered, since the file is gone or was changed: {', '.join(left_out[:_NAMES_SHOWN])}{more}. "
                "The page Data says what is wrong with each."
            )
        )
    return found


def usable(variants: Sequence[Variant]) -> list[Variant]:
    """The variants whose encoder can be run; says once per encoder which cannot, and why."""
    wrong: dict[str, str] = {}
    for reference in dict.fromkeys(variant.encoder for variant in variants):
        try:
            encoders.resolve(reference, settings())
        except BlindspotError as error:
            wrong[reference] = str(error)
    for reference, why in wrong.items():
        name = Variant(reference, "none").label
        st.warning(as_text(f"{name} cannot be run; what is stored of it is shown: {why}"), icon=_ICON)
    return [variant for variant in variants if variant.encoder not in wrong]


def encoded(variants: Sequence[Variant], dataset: Dataset, *, told: bool) -> dict[Variant, bool]:
    """Per variant whether its embeddings of a dataset are here; without those whose encoder is gone.

    Args:
        told: whether to say which those are, and why: where the reader picked them.
    """
    try:
        away = spaces.lacking(variants, dataset, settings())
    except BlindspotError:
        pass  # one of them is gone: which one is found out below
    else:
        return {variant: variant.encoder not in away for variant in variants}
    out = {}
    for variant in variants:
        try:
            out[variant] = not spaces.lacking([variant], dataset, settings())
        except BlindspotError as error:
            if told:
                st.warning(as_text(f"{variant.label} cannot be shown: {error}"), icon=_ICON)
    return out
