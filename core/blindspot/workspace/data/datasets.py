"""List of datasets on the page *Data*, and the details of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pandas as pd
import streamlit as st

from blindspot.datasets import fetch, uploads
from blindspot.datasets.catalog import DatasetEntry, DatasetRef, SourceFile, catalogued, title_of
from blindspot.datasets.fetch import DataState, FileState
from blindspot.datasets.kinds import KINDS
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.uploads import Upload
from blindspot.datasets.user_data.files import is_own, path_of
from blindspot.diagnostic import all_diagnostics, find_diagnostic
from blindspot.diagnostics.retrieval import published
from blindspot.errors import BlindspotError
from blindspot.names import Kind, in_address
from blindspot.settings import Settings
from blindspot.store.records import RunState
from blindspot.ui.markdown import as_text
from blindspot.ui.navigation import page_of
from blindspot.ui.page_state import PageState, link
from blindspot.ui.pickers import pick_dataset, pickable_datasets
from blindspot.ui.resources import allowed, explained, on_disk, repository, settings, upload_settings
from blindspot.ui.widgets import tables
from blindspot.ui.widgets.browse_table import choose_row
from blindspot.ui.widgets.work import fetch_button
from blindspot.workspace.data.upload import remove_button
from blindspot.workspace.renaming import name_field

# Beside the words, so that states differ without color or an icon font.
SIGNS = {
    DataState.BUILT_IN: "●",
    DataState.YOUR_FILE: "◆",
    DataState.DOWNLOADED: "✓",
    DataState.MISSING: "○",
    DataState.CORRUPT: "▲",
}
WORDS = {DataState.MISSING: "not downloaded", DataState.CORRUPT: "damaged"}  # of others, as they are
ROWS, ROW = 12, 35  # of the list before it scrolls; pixels of one
NOT_KNOWN = "recorded on first use"
# Kinds that need no "of texts" after their name.
OF_TEXTS = (DatasetKind.LABELED_TEXTS, DatasetKind.PROBING, DatasetKind.RETRIEVAL)


@dataclass(frozen=True)
class Listed:
    """A dataset in the list; ``upload`` is set if it was uploaded here."""

    reference: DatasetRef
    title: str
    kind: DatasetKind
    size: str
    licence: str
    state: DataState
    upload: Upload | None = None

    @property
    def sign_and_state(self) -> str:
        is_gone = self.state is DataState.MISSING and not catalogued(self.reference)
        return f"{SIGNS[self.state]} file is gone" if is_gone else in_words(self.state)


def in_words(state: DataState) -> str:
    """A state after its sign."""
    return f"{SIGNS[state]} {WORDS.get(state, state)}"


def listed(picked: str) -> list[Listed]:
    """Every dataset that can be picked, those on this machine first, without reading users' files."""
    stored = {upload.reference: upload for upload in uploads.found(upload_settings())}
    out = []
    for reference in pickable_datasets():
        if entry := catalogued(reference):
            state = fetch.dataset_state(entry, settings(), file_state)
            out.append(Listed(reference, title_of(reference), entry.kind, entry.size, entry.licence, state))
            continue
        upload, path = stored.get(reference), path_of(reference)
        state = DataState.YOUR_FILE if path.exists() else DataState.MISSING
        kind, size = (upload.kind, upload.size) if upload else _as_run(reference)
        out.append(Listed(reference, title_of(reference), kind, size, "your own", state, upload))
    if all(row.reference != picked for row in out):  # another session removed it just now
        st.rerun()
    return sorted(out, key=lambda row: row.state is DataState.MISSING)


def _as_run(reference: str) -> tuple[DatasetKind, str]:
    """Kind and size of a user's file according to its newest finished run."""
    for run in repository().runs(dataset=reference, state=RunState.DONE):
        entry = all_diagnostics().get(run.plan.diagnostic)
        if entry is None:
            continue
        kind = KINDS[entry.dataset_kind]
        if {counted := kind.counted or "items", "items"} <= run.coverage.keys():
            rows, texts = run.coverage[counted], run.coverage["items"]
            originals = int(run.metrics.get("originals", rows))
            return kind.kind, kind.size(originals, rows // originals, texts)
    return DatasetKind.PAIR_SET, "–"


def file_state(file: SourceFile, here: Settings) -> FileState:
    """``fetch.file_state``, without reading an unchanged file again."""
    path = fetch.local_path(file, here)
    if not path.is_file():
        return FileState(path, DataState.MISSING)
    return _file_state(file, here, on_disk(path), fetch.recorded_checksum(file, here))


# Not Streamlit's cache: the list asks for 150 files, and making a key of one takes it a millisecond.
@lru_cache(1024)
def _file_state(file: SourceFile, here: Settings, _on_disk: object, _checksum: str) -> FileState:
    return fetch.file_state(file, here)


# --- the list


def choose(rows: Sequence[Listed], picked: str) -> None:
    """Draw the list; selecting a row picks its dataset in the sidebar, and the other way round."""
    references = [row.reference for row in rows]
    frame = pd.DataFrame(
        {
            "state": [row.sign_and_state for row in rows],
            "dataset": [row.title for row in rows],
            "contents": [row.size for row in rows],
            "pages": [_used_by(row.kind) for row in rows],
            "id": ["" if is_own(reference) else reference for reference in references],
        }
    )
    choose_row(
        frame,
        references,
        pick_dataset,
        table="datasets",
        drawn=picked,  # the mark follows the sidebar
        chosen=picked,
        selection_mode="single-row-required",
        row_height=ROW,
        height=ROW * (min(len(rows), ROWS) + 1) + 3,
        column_config={
            "state": st.column_config.TextColumn(width=105),
            "dataset": st.column_config.TextColumn(width=165),
            "contents": st.column_config.TextColumn(width=285, help="Number of examples, and of texts to search in"),
            "pages": st.column_config.TextColumn(width=105, help="Pages that show results on it"),
            "id": st.column_config.TextColumn(
                width=152, help="Name on the command line; for your own files, see the details below"
            ),
        },
    )
    st.caption(
        "Select a dataset to see its texts below, or to download it. It is then the one in the sidebar, too, and other "
        "pages show results on it."
    )
    retrieval = find_diagnostic("retrieval").deeper
    link(retrieval, PageState(view="published"), label=published.ABOUT, icon=":material/menu_book:")


def _used_by(kind: DatasetKind) -> str:
    """Titles of the pages with results of a kind of dataset; those without a page are on *Compare*, as all are."""
    stems = [entry.page.stem for entry in all_diagnostics().values() if entry.dataset_kind is kind and entry.page]
    return ", ".join(dict.fromkeys(page_of(stem).title for stem in stems))


# --- one dataset


def details(row: Listed) -> DatasetEntry | None:
    """Draw a dataset's details and the fix for its state; returns its entry if its rows can be shown."""
    st.subheader(as_text(row.title), anchor=False)
    name_field(Kind.DATASET, row.reference, row.title)
    try:
        entry = row.reference.entry()
    except BlindspotError as error:  # a user's file that is gone or unreadable
        st.warning(as_text(explained(error)), icon=":material/report:")
        st.caption("Results computed on it are stored and still appear on the other pages.")
        remove_button(row.reference, row.upload)
        return None
    st.markdown(f"{as_text(entry.about)}")
    ready = _offer_files(entry, row.state)
    with st.container(border=True, key="facts"):
        for label, value in _facts(entry, row):
            with st.container(horizontal=True, gap="small"):
                st.markdown(f"**{label}**", width=110)
                st.markdown(value, width="stretch")
    _files(entry, row)
    if entry.own:
        remove_button(row.reference, row.upload)
    return entry if ready else None


def _facts(entry: DatasetEntry, row: Listed) -> list[tuple[str, str]]:
    """Labels and Markdown."""
    facts = [
        ("State", row.sign_and_state),
        ("Kind", entry.kind.in_words if entry.kind in OF_TEXTS else f"{entry.kind} of {entry.unit}s"),
        ("License", "" if entry.own else as_text(entry.licence)),
        ("Citation", "" if entry.own else as_text(entry.citation)),
        ("Source", f"<{entry.url}>" if entry.url else ""),
        ("Revision", "" if entry.own else f"`{entry.revision}`"),
        ("Read as", as_text(_reading(entry, row))),
        ("Id", f"`{_id_of(row).replace('`', '´')}`"),
    ]
    return [(label, value) for label, value in facts if value]


def _reading(entry: DatasetEntry, row: Listed) -> str:
    if row.upload and row.upload.options is None:
        columns = ", ".join(f"{use} from column “{column}”" for use, column in row.upload.columns)
        return f"{columns} of {row.upload.name}"
    return entry.own.summary if entry.own else ""


def _files(entry: DatasetEntry, row: Listed) -> None:
    """Sizes and checksums of its files."""
    if entry.own:
        files = [(path.name, path.stat().st_size, checksum) for path, checksum in entry.own.files.items()]
        what = ["as read" if row.upload else "your file"] * len(files)
        if row.upload and row.upload.original.is_file():
            original = row.upload.original
            files.append((original.name, original.stat().st_size, row.upload.original_sha256))
            what.append("as uploaded")
        first, last = {"what": what}, {}
    else:
        files = [(f.path, _bytes(f), fetch.recorded_checksum(f, settings()) or NOT_KNOWN) for f in entry.files]
        first, last = {}, {"from": [file.url for file in entry.files]}
        first["state"] = [_of_file(file_state(file, settings())) for file in entry.files]
    if not files:
        return
    names, sizes, checksums = zip(*files, strict=True)
    rows = {**first, "file": names, "kB": [n / 1e3 for n in sizes], "sha256": checksums, **last}
    with st.expander(f"Files: {len(files)}, {_size(sum(sizes))}", icon=":material/description:"):
        tables.draw(
            rows,
            key="files",
            column_config={"kB": st.column_config.NumberColumn(format="%.1f", width=80)},
        )


def _id_of(row: Listed) -> str:
    return row.reference if allowed().server_files else in_address(row.reference)


def _bytes(file: SourceFile) -> int:
    """The declared size, or that of the file here, or 0."""
    path = fetch.local_path(file, settings())
    return file.size or (path.stat().st_size if path.is_file() else 0)


def _of_file(state: FileState) -> str:
    return in_words(state.state) + (f": {state.detail}" if state.detail else "")


def _size(n: int) -> str:
    """Bytes in MB or kB; 0 means unknown."""
    if not n:
        return "size unknown"
    return f"{n / 1e6:.1f} MB" if n >= 100_000 else f"{n / 1e3:.1f} kB"


def _offer_files(entry: DatasetEntry, state: DataState) -> bool:
    """Offer to download missing or damaged files; True if all are here."""
    if state not in {DataState.MISSING, DataState.CORRUPT}:
        _next_step(entry)
        return True
    here = settings()
    lacking = [file for file in entry.files if file_state(file, here).state is not DataState.DOWNLOADED]
    size, title = _size(sum(file.download for file in lacking)), f"Download of {title_of(entry.id)}"
    source = "the mirror in BLINDSPOT_MIRROR" if settings().mirror else "its public source"
    if not settings().mirror and not allowed().downloads:
        st.info(
            "This demo does not include this dataset and downloads nothing. Its host can add it with "
            f"`blindspot data fetch {entry.id}`.",
            icon=":material/cloud_off:",
        )
    elif state is DataState.MISSING:
        st.info(f"Not downloaded yet: {size} from {source}.", icon=":material/cloud_download:")
        fetch_button("Download", title, entry.id, key="fetch")
    else:
        details = [(Path(file.path).name, file_state(file, here).detail) for file in lacking]
        what = "; ".join(f"{name}: {detail}" for name, detail in details if detail)
        st.error(
            f"The files on this machine are damaged ({as_text(what)}). Download them again to use this dataset: "
            f"{size} from {source}.",
            icon=":material/report:",
        )
        fetch_button("Download again", title, entry.id, key="fetch")
    return False


def _next_step(entry: DatasetEntry) -> None:
    """Links to the diagnostics that run on it."""
    for diagnostic in all_diagnostics().values():
        if diagnostic.dataset_kind is entry.kind and diagnostic.page:
            link(
                diagnostic.page.stem,
                label=f"Test models on it: {diagnostic.title}",
                icon=":material/arrow_forward:",
            )


def how_to_add() -> None:
    st.caption(
        "To add a dataset to this list for everyone, see *Add a dataset to the catalog* under *Docs*, at the top of "
        "this page."
    )
