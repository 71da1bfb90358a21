"""The first screen of an empty store: the demo with a picture of its result, and a field for the reader's own model."""

from __future__ import annotations

import streamlit as st

from blindspot.figures.theme import Scheme
from blindspot.policy import MOST_NAMED
from blindspot.settings import ASSETS
from blindspot.store.records import RunState
from blindspot.ui.navigation import switch_to
from blindspot.ui.page_state import PageState, link
from blindspot.ui.pickers import DEFAULT_DATASET, DEFAULT_METRIC
from blindspot.ui.resources import allowed, scheme, shared_repository
from blindspot.ui.widgets.work import demo_button

PROMISE = "First findings within 10 seconds, everything within 90 seconds."  # on two idle cores; README and docs too
DEMO = (
    "**See what a model gets wrong, pair by pair, and why one is better**  \n"
    "The demo runs four models on built-in texts: a sentence transformer, its word pieces without context, LSA, and "
    f"random vectors. No download. {PROMISE}"
)
TYPED_MODEL = "_model_typed_at_the_door"  # in the session: what *Models* checks next
TO_ADD = "_model_to_add"  # in the session: what the field of *Models* shows next, unchecked
_FIELD, _GONE = "door_model", "_door_opened"


def doors(*, are_open: bool) -> bool:
    """Draw the doors and return whether there are any; the demo's button has the key ``run_demo``.

    Call it in any case, as a page's first: closed, it takes away the doors of the run before. A container in their
    place would keep them, faded, until all below is computed.
    """
    if st.session_state.pop(_GONE, False):
        switch_to("models")
    container = st.empty()
    if not are_open:
        return False
    with container.container(border=True, key="doors"):
        words, picture = st.columns([2, 3], gap="large")
        with words:
            st.markdown(DEMO)
            if shared_repository().runs(dataset=DEFAULT_DATASET, state=RunState.DONE, metrics=[], limit=1):
                link(  # beside a visitor's own empty store
                    "findings",
                    PageState(metric=DEFAULT_METRIC),
                    label="Open the demo's findings",
                    icon=":material/lightbulb:",
                )
            else:
                demo_button()
            if allowed().own_encoders:
                st.text_input(
                    "Or test your own model",
                    key=_FIELD,
                    max_chars=MOST_NAMED,
                    on_change=_open_models,
                    placeholder="a folder, a Hugging Face name, or a file",
                )
            link("data", label="Upload your own texts", icon=":material/upload_file:")
            link("try_it", label="Try a sentence at once", icon=":material/edit_note:")
        name = "findings-dark.png" if scheme() is Scheme.DARK else "findings.png"
        picture.image(ASSETS / "screenshots" / name, alt="What the demo finds: sentences with numbers and texts")
    return True


def _open_models() -> None:
    """Go to *Models*, which checks what was typed; a callback."""
    if typed := str(st.session_state[_FIELD]).strip():
        st.session_state[TYPED_MODEL] = typed
        st.session_state[_GONE] = True
