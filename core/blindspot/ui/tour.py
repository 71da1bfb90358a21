"""Tour: six steps through the demo, shown as a slim line at the top of its pages.

A link with ``tour=3`` opens a step even after the tour was dismissed. A dismissal is noted in the cache, since your own
computer has one reader and Streamlit keeps nothing in the browser; on a shared demo it lasts for the session.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import streamlit as st

from blindspot.store.records import RunState
from blindspot.types import Variant
from blindspot.ui.pickers import DEFAULT_METRIC, link_to
from blindspot.ui.resources import allowed, repository, shared_settings
from blindspot.ui.widgets.work import demo_button

PARAMETER = "tour"
DISMISSED = ".tour-dismissed"  # a file in the cache
_DISMISSED = "_tour_dismissed"
DATASET = "demo-pairs"
MODELS = (Variant("minilm", "none"), Variant("minilm-static", "none"))
PAIR = 18  # a sentence that has its negation before its paraphrase


@dataclass(frozen=True)
class Step:
    """A step; ``address`` is of its place, besides dataset and models."""

    page: str
    title: str
    text: str
    address: dict[str, str] = field(default_factory=dict)
    models: tuple[Variant, ...] = ()


STEPS = (
    Step(
        "findings",
        "The first finding",
        "What the models get wrong, worst first, with examples. *See the details* on a card opens the page behind it.",
    ),
    Step(
        "evalrank",
        "The pair behind it",
        "Below, under *Look closer*: a sentence and every text that the model ranks above its paraphrase. One of them "
        "says the opposite.",
        {"pair": str(PAIR)},
        MODELS[:1],
    ),
    Step(
        "evalrank",
        "Why is the similarity so high?",
        "*Why this similarity?* below the pair is on: the heat map shows how much each word contributes.",
        {"pair": str(PAIR), "why": "true"},
        MODELS[:1],
    ),
    Step(
        "compare",
        "A against B",
        "Every difference between two models with its interval, and the examples where they differ most.",
        {},
        MODELS,
    ),
    Step(
        "data",
        "Your own texts, your own model",
        "Add your data here and your model on *Models*; then start both on *Run*.",
    ),
    Step(
        "findings",
        "The report",
        "*Download report* saves all of this as one file to share: findings, examples, figures, and the commands that "
        "reproduce them.",
    ),
)


def show(page: str) -> None:
    """Draw the step in the address, or an invitation on the first page; ``page`` is this page's stem."""
    number = st.query_params.get(PARAMETER, "")
    if number.isdecimal() and 1 <= int(number) <= len(STEPS):
        _step(int(number))
    elif page in {"", "home", STEPS[0].page} and not _is_dismissed() and _has_demo():
        _invite()


def _step(number: int) -> None:
    step = STEPS[number - 1]
    with st.container(border=True, key="tour", gap="small"):
        st.markdown(f"**{number} of {len(STEPS)} · {step.title}.** {step.text}")
        with st.container(horizontal=True, vertical_alignment="center"):
            if not _has_demo():
                demo_button(key="tour_demo")
            if number > 1:
                _link(number - 1, "Back", ":material/arrow_back:")
            if number < len(STEPS):
                _link(number + 1, "Next", ":material/arrow_forward:")
            last = number == len(STEPS)
            st.button("Done" if last else "End the tour", key="tour_end", type="tertiary", on_click=_dismiss)


def _invite() -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="tour_invitation"):
        st.markdown(":material/tour: New here? Six steps, two minutes.", width="content")
        _link(1, "Take the tour", ":material/arrow_forward:")
        st.button("No, thanks", key="tour_end", type="tertiary", on_click=_dismiss)


def _link(number: int, label: str, icon: str) -> None:
    step = STEPS[number - 1]
    address = link_to(DATASET, DEFAULT_METRIC, step.models, {**step.address, PARAMETER: str(number)})
    st.page_link(f"pages/{step.page}.py", label=label, icon=icon, query_params=address)


def _has_demo() -> bool:
    found = repository().runs(
        diagnostic="evalrank", dataset=DATASET, encoder=MODELS[0].encoder, state=RunState.DONE, metrics=[], limit=1
    )
    return bool(found)


# --- dismissed


def _file() -> Path:
    return shared_settings().cache / DISMISSED


def _is_dismissed() -> bool:
    return bool(st.session_state.get(_DISMISSED)) or (allowed().changes and _file().exists())


def _dismiss() -> None:
    st.session_state[_DISMISSED] = True
    st.query_params.pop(PARAMETER, None)
    if allowed().changes:
        with suppress(OSError):  # a cache that cannot be written: it comes again in the next session
            _file().touch()
