"""Bringing texts of one's own: upload, how the columns are read, confirm; and taking them away again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pandas as pd
import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from core.datasets import uploads
from core.datasets.kinds.base import DatasetKind
from core.datasets.own import files as own
from core.datasets.own.columns import MATE, QUERY, UNUSED, ColumnReading, OwnFile, UnclearColumns
from core.datasets.own.files import OwnTable
from core.datasets.own.labelled_texts import LabelledColumns, OwnLabelledTexts
from core.datasets.own.minimal_pairs import OwnMinimalPairs
from core.datasets.own.pairs import OwnPairs
from core.datasets.own.scored_pairs import OwnScoredPairs
from core.datasets.own.vocabulary import OwnVocabulary
from core.datasets.uploads import Upload
from core.diagnostics.heros.figures.profile import label
from core.errors import BlindspotError, InputError
from core.files import tables as own_files
from core.ui.markdown import as_text
from core.ui.pickers import DEFAULT_DATASET, pick_dataset
from core.ui.resources import Keys, allowed, cached, jobs, repository, settings, upload_settings, visitor
from core.workspace import own_datasets as dataset_library
from core.workspace.data import upload_labelled as labelled_form
from core.workspace.data import upload_minimal as minimal_form
from core.workspace.data import upload_scored as scored_form
from core.workspace.data import upload_vocabulary as vocabulary_form

EXAMPLE_PAIRS = 5
KINDS = {
    DatasetKind.PAIR_SET: "positive pairs",
    DatasetKind.MINIMAL_PAIR_SET: "minimal pairs",
    DatasetKind.SCORED_PAIRS: "scored pairs",
    DatasetKind.LABELLED_TEXTS: "labelled texts",
    DatasetKind.VOCABULARY: "words with counts",
}
NOT_CHOSEN = "–"
_Contents = OwnPairs | OwnMinimalPairs | OwnScoredPairs | OwnLabelledTexts | OwnVocabulary
_ROUND = "_upload_round"  # a new number gives an empty uploader
_SAID = "_upload_said"  # what the last action came to, shown once


def upload() -> None:
    """The uploader, and for a file in it how it is read and the button that keeps it."""
    _say()
    number = st.session_state.setdefault(_ROUND, 0)
    with st.expander("Add texts of your own", icon=":material/upload_file:", key=f"own_{number}"):
        st.markdown(
            "A file of one of five kinds, a row each:\n"
            "- **Positive pairs**: a query and its mate, two texts that belong together. Each mate will be ranked "
            "among all the texts of the file.\n"
            "- **Minimal pairs**: an original and one or more rewrites of it (a synonym, a negation, a typo, or "
            "whatever you want to know about). Each rewrite will be compared with its original.\n"
            "- **Scored pairs**: two texts and a score that people gave them, higher for more alike, for the page "
            "*Similarity*.\n"
            "- **Labelled texts**: a text, or two, and the class that it belongs to; perhaps with a column `split` of "
            "train, dev and test. For the page *Transfer*.\n"
            "- **Words with counts**: a word and how often it occurs in a corpus, for the page *Frequency*.\n\n"
            + _limits()
        )
        formats = allowed().uploads.formats
        file = st.file_uploader(
            f"A {', '.join(f'.{name}' for name in formats[:-1])} or .{formats[-1]} file",
            type=list(formats),
            max_upload_size=_most_megabytes(),
            key=f"upload_{number}",
        )
        if file is not None:
            _confirm(file)


def _limits() -> str:
    """How much may be uploaded, and where it goes."""
    limits = allowed().uploads
    if visitor() is not None:
        return (
            f"At most {limits.size or 0:,} bytes, {limits.rows:,} rows, {limits.columns} columns, {limits.cell:,} "
            f"characters in a text, and {limits.files} files. This is a demo that strangers share: nobody else sees "
            "your texts or what is computed on them, and both are deleted when you leave."
        )
    return f"At most {own_files.MAX_ROWS:,} rows. The texts stay on the machine that runs Blindspot."


def _most_megabytes() -> int | None:
    size = allowed().uploads.size
    return None if size is None else -(-size // 2**20)


def _say() -> None:
    if said := st.session_state.pop(_SAID, None):
        good, text = said
        (st.success if good else st.error)(text, icon=":material/check:" if good else ":material/error:")


def _key_of(table: OwnTable) -> object:
    """A header that is read as one is a row less."""
    return table.path, table.sha256, table.names, len(table.table.places)


_KEYS: Keys = {OwnTable: _key_of}


@cached(2, "Reading the file …", shared=True)
def _table(file: UploadedFile, header: bool) -> OwnTable:
    return uploads.tabulate(file.name, file.getvalue(), header, settings())


@cached(2, shared=True, keys=_KEYS)
def _pairs(table: OwnTable, columns: tuple[str, str]) -> OwnPairs:
    return table.pairs(columns)


@cached(2, shared=True, keys=_KEYS)
def _minimal_pairs(table: OwnTable, columns: tuple[tuple[str, int], ...]) -> OwnMinimalPairs:
    return table.minimal_pairs(dict(columns))


@cached(2, shared=True, keys=_KEYS)
def _scored(table: OwnTable, columns: tuple[str, str, str]) -> OwnScoredPairs:
    return table.scored_pairs(columns)


@cached(2, shared=True, keys=_KEYS)
def _labelled(table: OwnTable, columns: LabelledColumns) -> OwnLabelledTexts:
    return table.labelled_texts(columns)


@cached(2, shared=True, keys=_KEYS)
def _vocabulary(table: OwnTable, columns: tuple[str, str]) -> OwnVocabulary:
    return table.vocabulary(columns)


def _confirm(file: UploadedFile) -> None:
    """How the file is read; the reader may correct it before it is kept."""
    header = True
    if file.name.lower().endswith((".csv", ".tsv")):
        header = st.checkbox("The first line names the columns", value=True, key=f"upload_header_{file.file_id}")
    try:
        contents = _contents(file, header)
    except BlindspotError as error:
        st.error(as_text(str(error)), icon=":material/error:")
        return
    if contents is None:
        return
    if isinstance(contents, OwnMinimalPairs):
        minimal_form.show(contents)
    elif isinstance(contents, OwnVocabulary):
        vocabulary_form.show(contents)
    elif isinstance(contents, OwnScoredPairs):
        scored_form.show(contents)
    elif isinstance(contents, OwnLabelledTexts):
        labelled_form.show(contents)
    else:
        _show_pairs(contents)
    st.button(
        f"Keep these {KINDS[contents.kind]}",
        key="upload_keep",
        type="primary",
        icon=":material/check:",
        on_click=_keep,
        args=(contents, file),
    )


def _contents(file: UploadedFile, header: bool) -> _Contents | None:
    """What the file holds as it is to be read; None while columns have to be chosen.

    Raises:
        BlindspotError: what is wrong with it.
    """
    table = _table(file, header)
    key = f"{file.file_id}_{header}"
    kind = st.segmented_control(
        "Read as",
        list(KINDS),
        format_func=lambda kind: KINDS[kind],
        default=table.kind,
        required=True,
        key=f"upload_kind_{key}",
        help="Minimal pairs, where a column is called `original` and others may be its rewrites. Scored pairs, where "
        "one is called `score`, `gold`, `similarity` or the like beside two of texts. Labelled texts, where one is "
        "called `label`, `class` or `category` beside one of texts, or words of the kind beside two; a `label` of "
        "numbers beside two texts is taken for a score unless there is a `split`. Words with counts, where columns are "
        "called `word` and `count`.",
    )
    if kind is DatasetKind.MINIMAL_PAIR_SET:
        chosen = minimal_form.columns(table, key)
        return None if chosen is None else _read_minimal_pairs(table, chosen)
    if kind is DatasetKind.SCORED_PAIRS:
        three = scored_form.columns(table, key)
        return None if three is None else _read_scored(table, three)
    if kind is DatasetKind.LABELLED_TEXTS:
        asked = labelled_form.columns(table, key)
        return None if asked is None else _read_labelled(table, asked)
    if kind is DatasetKind.VOCABULARY:
        picked = vocabulary_form.columns(table, key)
        return None if picked is None else _read_vocabulary(table, picked)
    columns = _columns(table, key)
    return None if columns is None else _read_pairs(table, columns)


def _read_minimal_pairs(table: OwnTable, columns: dict[str, int]) -> OwnMinimalPairs:
    _show_columns(table.minimal_readings(columns), table.minimal_readings, table.minimal_columns)
    return _minimal_pairs(table, tuple(columns.items()))


def _read_scored(table: OwnTable, columns: tuple[str, str, str]) -> OwnScoredPairs:
    _show_columns(table.scored_readings(columns), table.scored_readings, scored_form.preselected(table))
    return _scored(table, columns)


def _read_labelled(table: OwnTable, columns: LabelledColumns) -> OwnLabelledTexts:
    _show_columns(table.labelled_readings(columns), table.labelled_readings, labelled_form.preselected(table))
    return _labelled(table, columns)


def _read_vocabulary(table: OwnTable, columns: tuple[str, str]) -> OwnVocabulary:
    _show_columns(table.vocabulary_readings(columns), table.vocabulary_readings, vocabulary_form.preselected(table))
    return _vocabulary(table, columns)


def _read_pairs(table: OwnTable, columns: tuple[str, str]) -> OwnPairs:
    _show_columns(table.readings(columns), table.readings, {})
    return _pairs(table, columns)


def _columns(table: OwnTable, key: str) -> tuple[str, str] | None:
    """The pickers of the two columns; a guess that is clear stands in them at first."""
    guessed: dict[str, ColumnReading] = {}
    doubt, why_none = st.empty(), ""
    try:
        guessed = {reading.use: reading for reading in table.readings() if reading.use != UNUSED}
    except UnclearColumns as error:
        why_none = f"{error.what}. Choose the query and mate columns."
    except InputError as error:
        why_none = str(error)
    left, right = st.columns(2)
    query, mate = (
        place.selectbox(
            f"{use.capitalize()} column",
            table.names,
            index=table.names.index(guessed[use].name) if use in guessed else None,
            placeholder="choose one",
            key=f"upload_{use}_{key}",
            format_func=_name,
        )
        for use, place in ((QUERY, left), (MATE, right))
    )
    if query is None or mate is None:
        doubt.info(as_text(why_none or "Choose the query and mate columns."), icon=":material/help:")
        return None
    if guessed and (query, mate) == (guessed[QUERY].name, guessed[MATE].name) and guessed[QUERY].why != "by its name":
        doubt.info(
            "The columns' names do not say which are the pairs, so these two are a guess. Are they the right ones"
            + (", and does the first line hold names?" if table.separator else "?"),
            icon=":material/help:",
        )
    return query, mate


def _name(column: str) -> str:
    return column or "(no name)"


def _show_columns(
    readings: Sequence[ColumnReading],
    guess: Callable[[], Sequence[ColumnReading]],
    preselected: Mapping[str, int | None],
) -> None:
    """A row per column.

    Args:
        readings: as the pickers say.
        guess: how the columns are read by themselves.
        preselected: per use the number of the column that stood in its picker at first, where there is no such guess.
    """
    st.markdown("**How the columns are read**")
    try:
        guessed = guess()
    except InputError:
        guessed = readings
    st.dataframe(
        pd.DataFrame(
            [
                {
                    "column": _name(column.name),
                    "read as": label(column.use),
                    "because": _because(column, by_itself, preselected.get(column.use) == number),
                    "holds": str(column.kind),
                    "first cells": " | ".join(column.examples),
                }
                for number, (column, by_itself) in enumerate(zip(readings, guessed, strict=True))
            ]
        ),
        hide_index=True,
        key="upload_columns",
    )


def _because(column: ColumnReading, by_itself: ColumnReading, was_preselected: bool) -> str:
    """Why a column is read so: only what somebody changed was chosen."""
    why = by_itself.why if by_itself.use == column.use else column.why
    if why == "as asked":
        return "a guess" if was_preselected else "as chosen above"
    return why or NOT_CHOSEN


def _show_pairs(pairs: OwnPairs) -> None:
    st.markdown(f"**The first {min(EXAMPLE_PAIRS, len(pairs.pairs))} of {len(pairs.pairs):,} pairs**")
    first = pd.DataFrame(pairs.pairs[:EXAMPLE_PAIRS], columns=["query", "mate"])
    st.dataframe(first, hide_index=True, key="upload_rows")
    counts = [f"{len(pairs.pairs):,} pairs", f"{pairs.distinct_texts:,} distinct texts"]
    if pairs.duplicate_pairs:
        counts.append(f"{pairs.duplicate_pairs:,} repeated pairs, which count again in every mean")
    if pairs.self_pairs:
        counts.append(f"{pairs.self_pairs:,} pairs of a text with itself")
    st.caption(" · ".join(counts))


def _keep(contents: OwnFile, file: UploadedFile) -> None:
    try:
        upload = uploads.add(contents, file.getvalue(), upload_settings())
    except BlindspotError as error:
        st.session_state[_SAID] = (False, as_text(str(error)))
        return
    st.session_state[_ROUND] = st.session_state.get(_ROUND, 0) + 1
    st.session_state[_SAID] = (True, f"{as_text(upload.name)} is kept and picked as the dataset in the sidebar.")
    pick_dataset(upload.reference)


def remove_button(reference: str, upload: Upload | None) -> None:
    """Take an upload away, or what was computed on a file of the user's, or both, after a second question."""
    if any(reference in job.datasets for job in jobs().active()):
        st.caption("It can be removed once the work on it has ended.")
        return
    if visitor() is not None and upload is None:
        return
    with st.popover("Remove …", icon=":material/delete:", key="remove"):
        if upload is None:
            st.markdown("Delete what was computed on this file? The file itself stays where it is.")
        else:
            st.markdown(f"Delete {as_text(upload.name)} from this machine, as it was uploaded and as it was read?")
        purge = visitor() is None and (upload is None or _is_purge_wanted())
        st.markdown(_what_goes(reference, purge))
        st.button("Delete it", key="remove_for_good", type="primary", on_click=_remove, args=(reference, upload, purge))


def _is_purge_wanted() -> bool:
    return st.checkbox(
        "Also delete what was computed on it",
        key="remove_computed",
        help="Its runs with their rows, the texts that the store keeps for them, and its embeddings.",
    )


def _what_goes(reference: str, purge: bool) -> str:
    if visitor() is not None:
        return "What was computed on it stays until you leave."
    if not purge:
        return "What was computed on it stays stored, texts included."
    found = dataset_library.kept(reference, settings(), repository())
    return as_text(f"This deletes {found.in_words}. It cannot be undone.")


def _remove(reference: str, upload: Upload | None, purge: bool) -> None:
    title = as_text(upload.name if upload else own.path_of(reference).name)
    try:
        if purge:
            found = dataset_library.purge(reference, settings(), repository())
            said = f"Deleted of {title}: {as_text(found.in_words)}."
        elif upload is not None:
            uploads.remove(upload, upload_settings())
            said = f"{title} is deleted. Stored runs on it stay."
        else:
            return
    except BlindspotError as error:
        st.session_state[_SAID] = (False, as_text(str(error)))
        return
    st.session_state[_SAID] = (True, said)
    pick_dataset(DEFAULT_DATASET)
