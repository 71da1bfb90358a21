"""Upload form for a folder of queries, documents and judgments: which file is read as what, and a preview."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pandas as pd
import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from blindspot.datasets import uploads
from blindspot.datasets.uploads import SentFolder
from blindspot.datasets.user_data.retrieval_folder import PREFERRED, OwnRetrievalFolder, splits_of
from blindspot.datasets.user_data.retrieval_folder.options import FolderOptions
from blindspot.errors import BlindspotError
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import Keys, cached, explained, settings
from blindspot.ui.turns import for_reader
from blindspot.ui.widgets import tables

EXAMPLE_ROWS = 5
_KEYS: Keys = {SentFolder: lambda sent: sent.digest}


@cached(2, "Reading the files …", shared=True, keys=_KEYS)
def read(sent: SentFolder, options: FolderOptions) -> OwnRetrievalFolder:
    return for_reader(uploads.read_folder, sent, options, settings())


def confirm(files: Sequence[UploadedFile], keep: Callable[[SentFolder, FolderOptions], None]) -> None:
    """Show how the folder is read; the reader can correct that before adding it.

    Args:
        keep: stores it; a callback.
    """
    try:
        sent = uploads.folder_of([(file.name, file.getvalue()) for file in files], settings())
        options = _options(sent)
        contents = read(sent, options)
    except BlindspotError as error:
        st.error(as_text(explained(error)), icon=":material/error:")
        return
    st.markdown("**How the files are read**")
    rows = [{"file": name, "read as": what} for what, name in contents.places.items()]
    tables.draw(rows, key="upload_files")
    show(contents)
    add_button(keep, sent, options)


def add_button(keep: Callable[..., None], *args: object) -> None:
    """Add what was sent, if the reader wishes."""
    icon = ":material/check:"
    st.button("Add dataset", key="upload_keep", type="primary", icon=icon, on_click=keep, args=args)


def show(contents: OwnRetrievalFolder) -> None:
    """Draw the first queries, and counts."""
    n = min(EXAMPLE_ROWS, contents.rows)
    st.markdown(f"**The first {n} of {contents.rows:,} queries**")
    first = contents.first_rows(n)
    tables.draw(pd.DataFrame(first.cells, columns=list(first.headings)), key="upload_rows")
    st.caption(as_text(" · ".join((*contents.notes, *contents.remarks))))


def _options(sent: SentFolder) -> FolderOptions:
    """Which judgments count, and whether what does not fit is left out."""
    splits = [path.stem for path in splits_of(sent.files)]
    split = ""
    if len(splits) > 1:
        split = st.selectbox(
            "Judgments",
            splits,
            index=splits.index(PREFERRED) if PREFERRED in splits else 0,
            key=f"upload_split_{sent.digest}",
            help="Queries that only the other files judge are left out.",
        )
    skips = st.checkbox(
        "Leave out queries without judgments, and judgments of documents that are not there",
        key=f"upload_missing_{sent.digest}",
    )
    return FolderOptions(split, skips)
