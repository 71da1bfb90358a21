"""Three doors into an empty store: the demo, the reader's own texts, a finished example."""

from __future__ import annotations

import streamlit as st

from blindspot.store.records import RunState
from blindspot.ui.navigation import page_link
from blindspot.ui.pickers import DEFAULT_DATASET, DEFAULT_METRIC, link_to
from blindspot.ui.resources import shared_repository
from blindspot.ui.widgets.work import demo_button

DEMO = (
    "**The demo**  \nFour models on built-in texts: a sentence transformer, its word pieces without context, LSA, "
    "and random vectors. No download. First findings within a minute, everything after some minutes."
)
OWN = (
    "**Compare two models on my data**  \nUpload a file of texts: pairs, rewrites, scored pairs, or labels. Then "
    "choose the models on *Run*. You can add your own model on *Models*."
)
EXAMPLE = (
    "**A finished example**  \nWhat the demo finds: what each model gets wrong, with examples, two models compared, "
    "and a report to share."
)
ONE_CLICK = f"{EXAMPLE} It is not computed yet; one click runs it."


def doors(*, are_open: bool) -> bool:
    """Draw the doors where they are open, which it returns; the demo's button has the key ``run_demo``.

    Call it in any case, as a page's first: closed, it takes away the doors of the run before. A container in their
    place would keep them, faded, until all below is computed.
    """
    place = st.empty()
    if not are_open:
        return False
    with place.container(key="doors"):
        st.subheader("No results yet", anchor=False)
        demo, own, example = st.columns(3)
        with demo.container(border=True, height="stretch"):
            st.markdown(DEMO)
            demo_button(key="run_demo")
        with own.container(border=True, height="stretch"):
            st.markdown(OWN)
            page_link("data", label="Upload your texts", icon=":material/upload_file:")
            page_link("models", label="Add a model", icon=":material/deployed_code:")
        with example.container(border=True, height="stretch"):
            _example()
            page_link("try_it", label="Or try a sentence at once", icon=":material/edit_note:")
    return True


def _example() -> None:
    """The demo's findings where they are here, as beside a visitor's own empty store, else the way to them."""
    if shared_repository().runs(dataset=DEFAULT_DATASET, state=RunState.DONE, metrics=[], limit=1):
        st.markdown(EXAMPLE)
        page_link(
            "findings",
            label="Open the demo's findings",
            icon=":material/lightbulb:",
            address=link_to(DEFAULT_DATASET, DEFAULT_METRIC, []),
        )
        return
    st.markdown(ONE_CLICK)
    demo_button(key="run_example")
