"""Offer of training data: what a model got wrong in a run, counted, and as files to train with."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from blindspot.errors import BlindspotError
from blindspot.runs.training_data import examples, files
from blindspot.runs.training_data.from_run import Made, Wishes, make
from blindspot.store.records import RunRecord
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import cached, explained, repository, settings
from blindspot.ui.widgets import downloads
from blindspot.ui.widgets.downloads import Holds

LARGEST_MARGIN = 0.5


def offer(run: RunRecord) -> None:
    """A switch that opens the counts and the download of one run's training data."""
    is_open = st.toggle(
        f"Training data from what {as_text(run.plan.variant.label)} gets wrong",
        key="training_data",
        bind="query-params",
        help="Triplets and scored pairs as JSON lines and Parquet, split into train and held-out, and a script that "
        "trains a sentence-transformers model with them.",
    )
    if not is_open:
        return
    with st.container(border=True, key="training_data_box"):
        margin = st.number_input(
            "Margin",
            0.0,
            LARGEST_MARGIN,
            examples.WRONG,
            0.01,
            key="training_data_margin",
            persist_state="session",
            width=160,
            help="0 takes triplets that the model orders wrongly. A larger margin also takes those where the positive "
            "leads by no more than this.",
        )
        try:
            training_data = _made(run, float(margin), tuple(repository().datasets()))
        except BlindspotError as error:
            st.info(as_text(explained(error)))
            return
        stem = downloads.stem_of("training-data", run.plan.dataset, run.plan.variant.label)
        content = partial(files.zipped, training_data.files, stem)
        download(training_data, stem, content, Holds(run.plan.dataset, (run.run_id,)), key="training_data_download")


def download(made: Made, stem: str, content: Callable[[], bytes], holds: Holds, *, key: str) -> None:
    """Say what was made, and offer it."""
    st.markdown("  \n".join(map(as_text, files.in_words(made.data))))
    if made.warning:
        st.warning(as_text(made.warning))
    downloads.button(
        "Training data (ZIP)",
        content,
        holds,
        file_name=f"{stem}.zip",
        mime=downloads.ZIP,
        key=key,
        help="A folder with triplets, pairs, train.py, and about.json, which says where they come from.",
    )


@cached(4, "Finding triplets …")
def _made(run: RunRecord, margin: float, tested: tuple[str, ...]) -> Made:  # noqa: ARG001 - a key
    """``tested``: the datasets that were evaluated on, whose texts are left out."""
    return make(run, Wishes(margin=margin), settings(), repository())
