"""Models that a page begins with: the reader's own, where there are any."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from streamlit.delta_generator import DeltaGenerator

from blindspot.names import current
from blindspot.references import ModelRef
from blindspot.runs.encoders_here import known_references, own_references
from blindspot.ui.resources import repository, settings
from blindspot.ui.widgets.addressed import begin_with, one_named

USUAL_MODEL = ModelRef("minilm")  # never in the address, so it must never change
MOST_OWN = 4


def own_at_first(most: int = MOST_OWN) -> list[ModelRef]:
    """The reader's own models with vectors, the newest first, and the one that pages compare with; none where
    there are none."""
    user_models = _own(known_references(settings(), repository(), rankings=False))[:most]
    return [*user_models, USUAL_MODEL] if user_models else []


def choose_model(key: str, container: DeltaGenerator, has_results: Callable[[ModelRef], bool]) -> str:
    """Let the reader choose one model with vectors; at first the newest own one with results, else the newest own one.

    Args:
        has_results: whether the page has something to show of a model; asked when the picker is first drawn.
    """
    names = known_references(settings(), repository(), rankings=False)
    begin_with(key, lambda: next(iter(sorted(_own(names), key=lambda model: not has_results(model))), None))
    usual = names.index(USUAL_MODEL)
    return one_named("Model", names, index=usual, key=key, name=current().model, container=container) or USUAL_MODEL


def _own(names: Sequence[ModelRef]) -> list[ModelRef]:
    return own_references(names, settings())
