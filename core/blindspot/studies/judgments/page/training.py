"""Training data from the votes that the page counts: a switch, the counts, and the files."""

from __future__ import annotations

from functools import partial

import streamlit as st

from blindspot.errors import BlindspotError
from blindspot.runs.training_data import files
from blindspot.runs.training_data.from_run import Made, Wishes
from blindspot.studies.judgments import training_data
from blindspot.studies.judgments.page.judged_set import judgments
from blindspot.studies.judgments.page.votes import Votes
from blindspot.studies.judgments.tallies import Tally
from blindspot.studies.judgments.types import ItemSet
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import cached, explained, repository, settings
from blindspot.ui.widgets import downloads
from blindspot.ui.widgets.downloads import Holds
from blindspot.ui.widgets.texts.training_data import download


def offer(items: ItemSet, votes: Votes, tally: Tally) -> None:
    """The switch, and what it opens."""
    is_open = st.toggle(
        "Training data from these votes",
        key="judged_training",
        bind="query-params",
        help="Triplets and scored pairs as JSON lines and Parquet: a query, the text that most people chose, and texts "
        "that models found and fewer people chose; split into train and held-out, with a script that trains.",
    )
    if not is_open:
        return
    with st.container(border=True, key="judged_training_box"):
        least = st.number_input(
            "Lead in votes",
            0.0,
            1.0,
            0.0,
            0.1,
            key="judged_training_least",
            persist_state="session",
            width=160,
            help="Share of a question's votes by which the positive must be ahead of the negative. 0: by any vote.",
        )
        try:
            data = _made(votes, float(least), tuple(repository().datasets()), items, tally)
        except BlindspotError as error:
            st.info(as_text(explained(error)), icon=":material/info:")
            return
        stem = downloads.stem_of("training-data", items.title)
        content, holds = partial(_zipped, items.set_id, data, stem), Holds(str(items.manifest.get("dataset", "")))
        download(data, stem, content, holds, key="judged_training_download")


def _zipped(set_id: str, made: Made, stem: str) -> bytes:
    """The files; raises ``InputError`` for a set that is gone."""
    judgments().named(set_id)
    return files.zipped(made.files, stem)


@cached(4, "Making triplets …", keys={Votes: repr})
def _made(votes: Votes, least: float, tested: tuple[str, ...], _items: ItemSet, _tally: Tally) -> Made:  # noqa: ARG001 - keys
    """Training data without the texts of ``tested``, the datasets that models were evaluated on."""
    return training_data.make(_items, _tally, least, Wishes(), settings(), repository())
