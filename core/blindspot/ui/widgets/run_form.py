"""Form that runs another model, on every diagnostic's page."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

import streamlit as st

from blindspot import names
from blindspot.diagnostic import Diagnostic
from blindspot.encoders.catalog import ENCODERS, RANKINGS, SCHEMES
from blindspot.errors import BlindspotError
from blindspot.runs import requesting
from blindspot.runs.encoders_here import can_encode, known_references
from blindspot.transforms.chain import READY_CHAINS, STEPS
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import explained, repository, settings
from blindspot.ui.widgets.work import run_button


def encoders_in_words(*, rankings: bool = True) -> str:
    """Every encoder and kind of reference, as a list in Markdown, for the help of a picker.

    Args:
        rankings: also models that rank documents without vectors.
    """
    kinds = [*SCHEMES.values(), *(RANKINGS.values() if rankings else ())]
    named = [f"- `{e.id}`: {e.description}" for e in ENCODERS.values()]
    return "\n".join(named + [f"- `{s.form}`: {s.description}" for s in kinds])


def steps_in_words() -> str:
    """Every step of a transform, likewise."""
    return "\n".join(f"- `{s.usage}`: {s.help}" for s in STEPS.values())


def names_of_models(references: Collection[str]) -> Callable[[str], str]:
    """A function from references to names, for a picker in which others can be typed: those stay as they are."""
    return lambda reference: names.current().model(reference) if reference in references else reference


def run_form(entry: Diagnostic, dataset: str, params: Mapping[str, str]) -> None:
    """Choose or type a model and its post-processing, and run a diagnostic on a dataset; errors are shown below."""
    encoder, transform, button = st.columns([2, 2, 1], vertical_alignment="bottom")
    ranks = entry.takes_rankings
    references = known_references(settings(), repository(), rankings=ranks)
    reference = encoder.selectbox(
        "Model",
        references,
        next((number for number, model in enumerate(references) if can_encode(model, settings())), 0),
        format_func=names_of_models(references),
        key="new_encoder",
        persist_state="session",
        accept_new_options=True,
        help=f"Choose one, or type a reference:\n\n{encoders_in_words(rankings=ranks)}",
    )
    chain = transform.selectbox(
        "Post-processing",
        READY_CHAINS,
        key="new_transform",
        persist_state="session",
        accept_new_options=True,
        help="Choose one, or type steps joined by `+`, for example `center+whiten:64`.\n\n" + steps_in_words(),
    )
    try:
        # An emptied picker gives None, which is no encoder either.
        request = requesting.request(entry.id, reference or "", chain or "", dataset, params, settings())
    except BlindspotError as error:
        st.error(as_text(explained(error)))
        title, requests = "", []
    else:
        title, requests = request.label, [request]
    with button:
        run_button("Run", title, requests, key="run_new")
