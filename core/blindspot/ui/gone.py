"""Users' files that are gone or changed since they were used: left out, so that the rest works.

Datasets and encoders of users are files and folders that may be removed, moved or rewritten at any time; what was
computed stays in the store.
"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from blindspot import names
from blindspot.datasets.catalog import DatasetEntry, DatasetRef
from blindspot.datasets.kinds.base import Dataset
from blindspot.datasets.user_data.files import is_own, path_of
from blindspot.encoders.catalog import encoder_of
from blindspot.errors import BlindspotError
from blindspot.references import ModelRef, step_of
from blindspot.runs import spaces
from blindspot.runs.default_models import is_own as is_own_model
from blindspot.runs.inputs.rankings import opened
from blindspot.store.changed_models import changes
from blindspot.ui.markdown import as_text
from blindspot.ui.pickers import known_datasets
from blindspot.ui.resources import explained, repository, settings
from blindspot.variants import Variant

_ICON = ":material/report:"
_NAMES_SHOWN = 5


def readable_datasets(*, warn: bool = False) -> dict[DatasetRef, DatasetEntry]:
    """``known_datasets`` that can be read, by reference; ``warn`` says on the page which were left out."""
    readable: dict[DatasetRef, DatasetEntry] = {}
    left_out = []
    for reference in known_datasets():
        try:
            readable[reference] = reference.entry()
        except BlindspotError:
            left_out.append(path_of(reference).name if is_own(reference) else reference)
    if left_out and warn:
        _named(left_out, "Not offered, since the file is gone or was changed", "Data")
    return readable


def _named(left_out: Sequence[str], why: str, page: str) -> None:
    more = f" and {len(left_out) - _NAMES_SHOWN} others" if len(left_out) > _NAMES_SHOWN else ""
    listed = f"{', '.join(left_out[:_NAMES_SHOWN])}{more}"
    st.caption(as_text(f"{why}: {listed}. The page {page} says what is wrong with each."))


def changed_notice(variants: Sequence[Variant]) -> None:
    """Warn of models whose files have changed since their newest run, of all in the store where none is picked."""
    models = [variant.encoder for variant in variants or repository().variants()]
    for sentence in changes(models, repository(), settings())[:_NAMES_SHOWN]:
        st.warning(as_text(sentence), icon=":material/published_with_changes:")


def usable(variants: Sequence[Variant], *, rankings: bool = False) -> list[Variant]:
    """The variants whose encoder can be run; warns once per encoder that cannot.

    Args:
        rankings: accept models that rank documents without vectors, too.
    """
    wrong: dict[ModelRef, str] = {}
    for model in dict.fromkeys(variant.encoder for variant in variants):
        try:
            if rankings:
                opened(model, settings())
            else:
                encoder_of(model, settings())
        except BlindspotError as error:
            wrong[model] = explained(error)
    for model, why in wrong.items():
        name = names.current().model(model)
        text = f"{name} cannot be run; what is stored of it is shown: {why}" if model.has_vectors else why
        st.warning(as_text(text), icon=_ICON)
    return [variant for variant in variants if variant.encoder not in wrong]


def encoded(variants: Sequence[Variant], dataset: Dataset, *, are_picked: bool) -> dict[Variant, bool]:
    """Per variant whether its embeddings of a dataset are stored; variants whose encoder is gone are left out.

    The page warns about each one that the reader picked; if the reader picked none, it names their own models only,
    without the steps of a training, which are there while the training's program runs.
    """
    try:
        away = spaces.lacking(variants, dataset, settings())
    except BlindspotError:
        pass  # one of them is gone; which one is found below
    else:
        return {variant: variant.encoder not in away for variant in variants}
    out, left_out = {}, list[str]()
    for variant in variants:
        try:
            out[variant] = not spaces.lacking([variant], dataset, settings())
        except BlindspotError as error:
            if are_picked:
                whose = f"{variant.label} cannot be shown: " if variant.encoder.has_vectors else ""
                st.warning(as_text(whose + explained(error)), icon=_ICON)
            elif variant.encoder.has_vectors and is_own_model(variant.encoder) and not step_of(variant.encoder)[0]:
                left_out.append(names.current().model(variant.encoder))
    if left_out:
        _named(list(dict.fromkeys(left_out)), "Not shown, since the model is gone or was changed", "Models")
    return out
