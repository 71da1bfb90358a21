"""Upload form on the page *Data*: file, columns, confirmation; and removal of an upload."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from blindspot.datasets import uploads
from blindspot.datasets.catalog import DatasetRef
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.uploads import SentFolder, Upload
from blindspot.datasets.user_data.columns import MATCH, QUERY, ColumnReading, OwnFile, UnclearColumns
from blindspot.datasets.user_data.files import OwnTable, path_of
from blindspot.datasets.user_data.guess import BY_NAME
from blindspot.datasets.user_data.kinds import OWN_KINDS
from blindspot.datasets.user_data.labeled_texts import OwnLabeledTexts
from blindspot.datasets.user_data.retrieval_folder.options import FolderOptions
from blindspot.diagnostic import Picker
from blindspot.diagnostics.heros.figures.profile import label
from blindspot.errors import BlindspotError, InputError
from blindspot.files.tables import MAX_ROWS
from blindspot.policy import FOLDER_FORMATS
from blindspot.runs.encoders_here import known_references, own_references
from blindspot.texts import listed
from blindspot.ui.markdown import as_text
from blindspot.ui.page_state import link
from blindspot.ui.pickers import DEFAULT_DATASET, pick_dataset
from blindspot.ui.resources import (
    Keys,
    allowed,
    cached,
    explained,
    jobs,
    repository,
    settings,
    upload_settings,
    visitor,
)
from blindspot.ui.turns import for_reader
from blindspot.ui.widgets import tables
from blindspot.workspace import own_datasets
from blindspot.workspace.data import labeled, upload_folder, upload_minimal, upload_three

EXAMPLE_ROWS = 5
NOT_CHOSEN = "–"
_ROUND = "_upload_round"  # a new number gives an empty uploader
_SAID = "_upload_said"  # outcome of the last action, shown once


def upload() -> None:
    """Draw the uploader and, for a chosen file, its columns and the button that adds it."""
    _say()
    number = st.session_state.setdefault(_ROUND, 0)
    with st.expander("Add your own texts", icon=":material/upload_file:", key=f"own_{number}"):
        formats = allowed().uploads.formats
        file = st.file_uploader(
            f"A {', '.join(f'.{name}' for name in formats[:-1])} or .{formats[-1]} file",
            type=list(formats),
            max_upload_size=most_megabytes(),
            key=f"upload_{number}",
        )
        if file is not None:  # what else could be uploaded is out of the way
            _confirm(file)
            return
        sent = st.file_uploader(
            "Or a folder of queries, documents and judgments: corpus.jsonl, queries.jsonl and qrels/*.tsv (BEIR), or "
            "TREC's documents, topics and qrels",
            type=list(FOLDER_FORMATS),
            accept_multiple_files="directory",
            max_upload_size=most_megabytes(),
            key=f"upload_folder_{number}",
        )
        if sent:
            upload_folder.confirm(sent, _keep_folder)
            return
        three = st.file_uploader(
            "Or three files: queries, documents and judgments, with columns of any names",
            type=list(formats),
            accept_multiple_files=True,
            max_upload_size=most_megabytes(),
            key=f"upload_three_{number}",
        )
        if three:
            upload_three.confirm(three, _keep_folder)
            return
        kinds = "\n".join(f"- **{kind.title.capitalize()}**: {kind.about}" for kind in OWN_KINDS.values())
        st.markdown(f"{_limits()}\n\nA file has one row per example, and is one of these kinds:\n{kinds}")


def _limits() -> str:
    """Limits of an upload, and who sees it."""
    limits = allowed().uploads
    if visitor() is not None:
        return (
            f"At most {limits.size or 0:,} bytes, {limits.rows:,} rows, {limits.columns} columns, {limits.cell:,} "
            f"characters per text, and {limits.files} files. This demo is shared, but nobody else sees your texts or "
            "their results, and both are deleted when you leave."
        )
    return f"At most {MAX_ROWS:,} rows. The texts stay on the machine that runs Blindspot."


def most_megabytes() -> int | None:
    size = allowed().uploads.size
    return None if size is None else -(-size // 2**20)


def _say() -> None:
    if (message := st.session_state.get(_SAID)) is None:
        return
    good, text, added = message
    if not added or added != st.session_state.get(Picker.DATASET):  # what was added leads on as long as it is picked
        del st.session_state[_SAID]
        if added:
            return
    (st.success if good else st.error)(text, icon=":material/check:" if good else ":material/error:")
    if added:
        with st.container(horizontal=True, key="upload_next"):
            models = own_references(known_references(settings(), repository()), settings())
            runs = "Run your models on it" if models else "Run models on it"
            link("run", label=runs, icon=":material/play_circle:")
            if not models and allowed().changes:
                link("models", label="Add a model of your own", icon=":material/deployed_code:")


def _key_of(table: OwnTable) -> object:
    """Whether the first line is a header changes the rows, hence their number."""
    return table.table.path, table.table.sha256, table.table.names, len(table.table.places)


_KEYS: Keys = {OwnTable: _key_of}


@cached(2, "Reading the file …", shared=True)
def _table(file: UploadedFile, header: bool) -> OwnTable:
    return for_reader(uploads.tabulate, file.name, file.getvalue(), header, settings())


@cached(4, shared=True, keys=_KEYS)
def _readings(
    table: OwnTable, kind: DatasetKind, columns: tuple[tuple[str, int], ...] | None = None
) -> tuple[ColumnReading, ...]:
    """May read cells."""
    return for_reader(OWN_KINDS[kind].readings, table.table, None if columns is None else dict(columns))


@cached(4, shared=True, keys=_KEYS)
def _preselected(table: OwnTable, kind: DatasetKind) -> dict[str, int]:
    return for_reader(OWN_KINDS[kind].preselected, table.table)


@cached(4, shared=True, keys=_KEYS)
def _read(table: OwnTable, kind: DatasetKind, columns: tuple[tuple[str, int], ...] | None = None) -> OwnFile:
    return for_reader(table.contents, kind, None if columns is None else dict(columns))


def _confirm(file: UploadedFile) -> None:
    """Show how the file is read; the reader can correct that before adding it."""
    header = True
    if file.name.lower().endswith((".csv", ".tsv", ".txt")):
        header = st.checkbox("The first line is a header", value=True, key=f"upload_header_{file.file_id}")
    try:
        contents = _contents(file, header)
    except BlindspotError as error:
        st.error(as_text(explained(error)), icon=":material/error:")
        return
    if contents is None:
        return
    _SHOWN.get(contents.kind, _show)(contents)
    for remark in contents.remarks:
        st.info(as_text(f"{remark[0].upper()}{remark[1:]}."), icon=":material/info:")
    upload_folder.add_button(_keep, contents, file)


def _contents(file: UploadedFile, header: bool) -> OwnFile | None:
    """The file's contents; None until all columns are chosen.

    Raises:
        BlindspotError: the file is invalid.
    """
    table = _table(file, header)
    key = f"{file.file_id}_{header}"
    asks = len(table.kinds) > 1
    matched_by = [f"{kind.title.capitalize()}, {kind.matched_by}." for kind in OWN_KINDS.values() if kind.matched_by]
    kind = st.segmented_control(
        "Read as",
        list(OWN_KINDS),
        format_func=lambda kind: OWN_KINDS[kind].title,
        default=None if asks else table.kind,
        required=not asks,
        key=f"upload_kind_{key}",
        help=" ".join(matched_by),
    )
    if kind is None:
        _ask(table)
        return None
    container = st.empty()
    columns = _COLUMNS.get(kind, _columns)(table, kind, key)
    if columns is None:
        return None
    _show_columns(table, kind, columns)
    contents = _read(table, kind, tuple(columns.items()))
    preselected = _preselected(table, kind)
    is_chosen = any(preselected.get(use) != number for use, number in columns.items())
    if not is_chosen and (what := _left_open(table, kind)):
        container.warning(as_text(f"{what}. Check the columns below, and the kind."), icon=":material/help:")
    if contents.doubt:
        doubt = as_text(f"{contents.doubt[0].upper()}{contents.doubt[1:]}")
        other = OWN_KINDS[DatasetKind.RETRIEVAL].title
        container.warning(
            f"{doubt} Then read them as {other}: as pairs, a match is ranked among all texts, other queries too.",
            icon=":material/help:",
        )
    return contents


def _left_open(table: OwnTable, kind: DatasetKind) -> str:
    """What remains unclear about a file though its header names the columns; "" for nothing."""
    if kind not in table.kinds or not _preselected(table, kind):
        return ""  # the reader chose another kind, or the pickers say it
    try:
        _read(table, kind)
    except UnclearColumns as error:
        return error.what
    except InputError:
        return ""
    return ""


def _ask(table: OwnTable) -> None:
    """Say that the file may be read in several ways, with the first rows of each."""
    question = as_text(f"{table.question[0].upper()}{table.question[1:]}")
    st.info(f"{question}. How are the rows meant? Choose above.", icon=":material/help:")
    for kind in table.kinds:
        try:
            contents = _read(table, kind)
        except InputError:  # it cannot be of this kind
            continue
        st.markdown(f"**As {OWN_KINDS[kind].title}:** {as_text(', '.join((*contents.notes, *contents.remarks)))}")
        _rows(contents, EXAMPLE_ROWS, f"upload_preview_{kind.name}")


# --- which columns


def _columns(table: OwnTable, kind: DatasetKind, key: str) -> dict[str, int] | None:
    """Draw the column pickers; None until all required columns are chosen, each once."""
    doubt = st.empty()
    chosen = _pick(table, kind, key)
    needed = {picker.use for line in OWN_KINDS[kind].pickers for picker in line if not picker.optional}
    if not needed <= chosen.keys() or len(set(chosen.values())) < len(chosen):
        if what := _left_open(table, kind):
            doubt.info(as_text(f"{what}."), icon=":material/help:")
        st.caption(OWN_KINDS[kind].choose)
        return None
    return chosen


def _pick(table: OwnTable, kind: DatasetKind, key: str) -> dict[str, int]:
    """The chosen columns by use; those recognized by their header are preselected."""
    names = table.table.names
    preselected = _preselected(table, kind)
    chosen = {}
    for line in OWN_KINDS[kind].pickers:
        for column, picker in zip(st.columns(len(line)), line, strict=True):
            name = column.selectbox(
                f"{picker.use.capitalize()} column" + (" (optional)" if picker.optional else ""),
                names,
                index=preselected.get(picker.use),
                placeholder="none" if picker.optional else "choose one",
                key=f"upload_{kind.name}_{picker.use}_{key}",
                format_func=_name,
                help=picker.help or None,
            )
            if name is not None:
                chosen[picker.use] = names.index(name)
    picked = {picker.use for line in OWN_KINDS[kind].pickers for picker in line}
    further = {use: n for use, n in preselected.items() if use not in picked and n not in chosen.values()}
    return chosen | further  # several columns of negatives have one picker


def _pair_columns(table: OwnTable, kind: DatasetKind, key: str) -> dict[str, int] | None:
    """As ``_columns``; says if the choice is a guess or why none was made."""
    doubt, why_none = st.empty(), OWN_KINDS[kind].choose
    guessed: dict[str, ColumnReading] = {}
    try:
        guessed = {reading.use: reading for reading in _readings(table, kind)}
    except UnclearColumns as error:
        why_none = f"{error.what}. {why_none}"
    except InputError as error:
        why_none = explained(error)
    chosen = _pick(table, kind, key)
    if len(chosen) < 2:
        doubt.info(as_text(why_none), icon=":material/help:")
        return None
    is_guess = guessed and all(guessed[use].name == table.table.names[number] for use, number in chosen.items())
    pair = [guessed[use] for use in (QUERY, MATCH) if use in guessed]
    if is_guess and any(reading.why != BY_NAME for reading in pair):
        columns = [f"{reading.use} is column '{reading.name}' ({reading.why})" for reading in pair]
        doubt.info(
            as_text(f"A guess: {listed(columns)}. Please check it")
            + (", and whether the first line is a header." if table.table.separator else "."),
            icon=":material/help:",
        )
    return chosen


def _minimal_columns(table: OwnTable, kind: DatasetKind, key: str) -> dict[str, int] | None:
    try:
        _readings(table, kind)
    except InputError as error:
        st.info(as_text(explained(error)), icon=":material/help:")
    return upload_minimal.columns(table.table, _preselected(table, kind), key)


def _name(column: str) -> str:
    return column or "(no name)"


def _show_columns(table: OwnTable, kind: DatasetKind, columns: Mapping[str, int]) -> None:
    """Draw one row per column: how it is read, and why."""
    readings = _readings(table, kind, tuple(columns.items()))
    st.markdown("**How the columns are read**")
    try:
        guessed = _readings(table, kind)
    except InputError:
        guessed = readings
    preselected = _preselected(table, kind)
    tables.draw(
        [
            {
                "column": _name(column.name),
                "read as": label(column.use),
                "because": _because(column, by_itself, preselected.get(column.use) == number),
                "type": str(column.kind),
                "first cells": " | ".join(column.examples),
            }
            for number, (column, by_itself) in enumerate(zip(readings, guessed, strict=True))
        ],
        key="upload_columns",
    )


def _because(column: ColumnReading, by_itself: ColumnReading, was_preselected: bool) -> str:
    """Why a column is read this way; "chosen" only if the reader changed it."""
    why = by_itself.why if by_itself.use == column.use else column.why
    if why == "as asked":
        return "a guess" if was_preselected else "as chosen above"
    return why or NOT_CHOSEN


# --- what is in them


def _show(contents: OwnFile) -> None:
    _first_rows(contents)
    st.caption(" · ".join(contents.notes))


def _first_rows(contents: OwnFile) -> None:
    n = min(EXAMPLE_ROWS, contents.rows)
    st.markdown(f"**The first {n} of {contents.rows:,} {contents.counted}**")
    _rows(contents, n, "upload_rows")


def _rows(contents: OwnFile, n: int, key: str) -> None:
    rows = contents.first_rows(n)
    frame = pd.DataFrame(rows.cells, columns=list(rows.headings))
    tables.draw(frame, key=key)


def _show_labeled(contents: OwnLabeledTexts) -> None:
    _first_rows(contents)
    st.markdown(f"**{len(contents.counts.classes):,} classes**")
    labeled.class_table(contents.counts, "upload_classes")
    st.caption(" · ".join(contents.notes))
    labeled.overlap(contents.counts)


# Kinds with their own column pickers or preview.
_COLUMNS: Mapping[DatasetKind, Callable[[OwnTable, DatasetKind, str], dict[str, int] | None]] = {
    DatasetKind.PAIR_SET: _pair_columns,
    DatasetKind.MINIMAL_PAIR_SET: _minimal_columns,
}
_SHOWN: Mapping[DatasetKind, Callable[[Any], None]] = {
    DatasetKind.MINIMAL_PAIR_SET: upload_minimal.show,
    DatasetKind.LABELED_TEXTS: _show_labeled,
    DatasetKind.PROBING: _show_labeled,
}


def _keep(contents: OwnFile, file: UploadedFile) -> None:
    keep_as(lambda: uploads.add(contents, file.getvalue(), upload_settings()))


def keep_as(add: Callable[[], Upload]) -> None:
    """Store an upload, pick it, and say so, or what is wrong."""
    try:
        upload = add()
    except BlindspotError as error:
        st.session_state[_SAID] = (False, as_text(explained(error)), "")
        return
    st.session_state[_ROUND] = st.session_state.get(_ROUND, 0) + 1
    st.session_state[_SAID] = (
        True,
        f"{as_text(upload.name)} was added and is now selected.",
        upload.reference,
    )
    pick_dataset(upload.reference)


def _keep_folder(sent: SentFolder, options: FolderOptions) -> None:
    keep_as(lambda: uploads.add_folder(sent, options, upload_settings()))


def remove_button(reference: DatasetRef, upload: Upload | None) -> None:
    """Draw the button that removes an upload, results on it, or both, after a confirmation."""
    if any(reference in job.datasets for job in jobs().active()):
        st.caption("You can remove it once running jobs on it have ended.")
        return
    if visitor() is not None and upload is None:
        return
    with st.popover("Remove …", icon=":material/delete:", key="remove"):
        if upload is None:
            st.markdown("Delete the results on this file? The file itself stays.")
        else:
            st.markdown(f"Delete {as_text(upload.name)}? This deletes the uploaded file and its converted copy.")
        purge = visitor() is None and (upload is None or _is_purge_wanted())
        st.markdown(_what_goes(reference, purge))
        st.button("Delete", key="remove_for_good", type="primary", on_click=_remove, args=(reference, upload, purge))


def _is_purge_wanted() -> bool:
    return st.checkbox(
        "Also delete its results",
        key="remove_computed",
        help="Runs with all rows, stored texts, and embeddings.",
    )


def _what_goes(reference: DatasetRef, purge: bool) -> str:
    if visitor() is not None:
        return "Its results stay until you leave."
    if not purge:
        return "Its results stay, including stored texts."
    stored = own_datasets.kept(reference, settings(), repository())
    return as_text(f"This deletes {stored.in_words}. It cannot be undone.")


def _remove(reference: DatasetRef, upload: Upload | None, purge: bool) -> None:
    title = as_text(upload.name if upload else path_of(reference).name)
    try:
        if purge:
            removed = own_datasets.purge(reference, settings(), repository())
            text = f"Deleted for {title}: {as_text(removed.in_words)}."
        elif upload is not None:
            uploads.remove(upload, upload_settings())
            text = f"{title} was deleted. Its results stay."
        else:
            return
    except BlindspotError as error:
        st.session_state[_SAID] = (False, as_text(explained(error)), "")
        return
    st.session_state[_SAID] = (True, text, "")
    pick_dataset(DEFAULT_DATASET)
