"""Three doors into an empty store: the demo, the reader's own texts, a finished example."""

from __future__ import annotations

import streamlit as st

from core.settings import ASSETS
from core.ui.widgets.downloads import Holds, button
from core.ui.widgets.work import demo_button

EXAMPLE = ASSETS / "demo" / "report.html"  # where somebody made one: ``python -m core report``


def doors(*, key: str = "doors") -> None:
    """Draw the doors; ``key`` is of their container, and the demo's button has ``run_demo``."""
    with st.container(key=key):
        st.subheader("No results yet", anchor=False)
        demo, own, example = st.columns(3)
        with demo.container(border=True, height="stretch"):
            st.markdown(
                "**The demo**  \nFour models on built-in texts: a sentence transformer, its bare word pieces, LSA and "
                "random vectors. No download. The first findings appear after about 20 seconds, the rest within "
                "two minutes."
            )
            demo_button(key="run_demo")
        with own.container(border=True, height="stretch"):
            st.markdown(
                "**Compare two models on my data**  \nUpload a file of texts: pairs, rewrites, scored pairs or labels. "
                "Then choose the models on *Run*; add your own model on *Models*."
            )
            st.page_link("pages/data.py", label="Upload your texts", icon=":material/upload_file:")
            st.page_link("pages/models.py", label="Add a model", icon=":material/deployed_code:")
        with example.container(border=True, height="stretch"):
            if EXAMPLE.is_file():
                st.markdown(
                    "**A finished example**  \nA report to share: what two models get wrong, side by side, in one "
                    "file that any browser opens."
                )
                button(
                    "Download the report",
                    EXAMPLE.read_bytes,
                    Holds(),
                    file_name="blindspot-example.html",
                    mime="text/html",
                    key="example_report",
                    icon=":material/description:",
                )
            else:
                st.markdown(
                    "**A finished example**  \nWhat papers found with these methods: which scores predict how well "
                    "models do on a task, and how well."
                )
                st.page_link(
                    "pages/evidence.py",
                    label="See what papers found",
                    icon=":material/query_stats:",
                    query_params={"evidence_view": "published"},
                )
