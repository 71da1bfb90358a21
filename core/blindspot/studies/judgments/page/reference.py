"""Automatic rater on screen: the choice of its reference model, and its answers."""

from __future__ import annotations

import streamlit as st

from blindspot.datasets import fetch
from blindspot.datasets.catalog import DatasetRef
from blindspot.encoders.catalog import ENCODERS
from blindspot.errors import BlindspotError
from blindspot.runs.spaces import NotEncoded, open_spaces
from blindspot.settings import prepare_runtime
from blindspot.studies.judgments.automatic import Automatic, answer
from blindspot.studies.judgments.page.judged_set import Judged
from blindspot.studies.judgments.types import ItemSet
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import cached, explained, repository, settings
from blindspot.ui.widgets import tables
from blindspot.ui.widgets.addressed import names_of_variants, one_named
from blindspot.ui.widgets.work import encode_button, fetch_button
from blindspot.variants import Variant

NOBODY = "none"


def choose(judged: Judged) -> Automatic | None:
    """The automatic rater with the reader's choice of a reference; None, with the reason shown, if it cannot answer."""
    variants = [*judged.items.variants, *repository().variants(), *(Variant(e, "none") for e in ENCODERS)]
    ids = list(dict.fromkeys(str(v) for v in variants))
    called = names_of_variants(ids)
    chosen = one_named(
        "Automatic rater",
        [NOBODY, *ids],
        key="judge_reference",
        name=lambda reference: reference if reference == NOBODY else called(reference),
        index=0,
        help="This model answers every question by its own similarities: it picks the option least similar to the "
        "others, or the candidate most similar to the query. Shown hollow next to people's votes, never counted with "
        "them.",
    )
    if chosen == NOBODY:
        return None
    try:
        automatic = _answers(judged.items, Variant.parse(str(chosen)))
    except BlindspotError as error:
        st.warning(as_text(f"The automatic rater cannot answer: {explained(error)}"), icon=":material/report:")
        return None
    if automatic is not None:
        _say(automatic, len(judged.items.items))
    return automatic


def _answers(items: ItemSet, reference: Variant) -> Automatic | None:
    entry = DatasetRef(items.manifest.get("dataset", "")).entry()
    if fetch.dataset_state(entry, settings()) is fetch.DataState.MISSING:
        st.info(f"The texts come from {tables.dataset_title(entry.id)}, which is not on this machine yet.")
        fetch_button("Download", f"Download of {entry.title}", entry.id, key="fetch_judged")
        return None
    prepare_runtime(settings())
    try:
        (space,) = open_spaces([reference], fetch.load(entry, settings()), settings())
    except NotEncoded:
        st.info(f"{tables.dataset_title(entry.id)} is not encoded by {as_text(reference.label)} yet.")
        encode_button("Encode it", [reference.encoder], entry.id, key="encode_reference")
        return None
    return _answered(items, space)


_answered = cached(16, "The automatic rater answers …", keys={ItemSet: lambda items: items.set_id})(answer)


def _say(automatic: Automatic, items: int) -> None:
    name = as_text(automatic.reference.label)
    sentences = [f"Hollow: what {name} would answer to all {items:,} questions."]
    if automatic.is_judged:
        sentences.append(
            f"**{name} is itself judged here: it rates its own neighbors, so its opinion is not independent.**"
        )
    if automatic.unanswered:
        sentences.append(f"It cannot answer {automatic.unanswered:,} of them, where {name} has no vector for a text.")
    st.caption(" ".join(sentences))
