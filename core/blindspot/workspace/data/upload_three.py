"""Upload form for queries, documents and judgments in three files: which is which, their columns, and a preview."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from blindspot.datasets import uploads
from blindspot.datasets.uploads import SentFolder
from blindspot.datasets.user_data.retrieval_folder import guess
from blindspot.datasets.user_data.retrieval_folder.guess import BY_VALUES, Grid, Guess
from blindspot.datasets.user_data.retrieval_folder.options import FORMS, FolderOptions
from blindspot.errors import BlindspotError, InputError
from blindspot.texts import counted
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import Keys, cached, explained, settings
from blindspot.ui.turns import for_reader
from blindspot.ui.widgets import tables
from blindspot.workspace.data import upload_folder

EXAMPLES = 3
PICKERS = max(len(form.roles) for form in FORMS.values())  # in a line
_KEYS: Keys = {SentFolder: lambda sent: sent.digest}
_SHORT = 40


@cached(2, "Reading the files …", shared=True, keys=_KEYS)
def _parts(sent: SentFolder) -> dict[str, str]:
    return for_reader(guess.parts, {path.name: data for path, data in sent.contents.items()})


@cached(2, "Reading the files …", shared=True, keys=_KEYS)
def _guesses(sent: SentFolder, options: FolderOptions) -> tuple[dict[str, Grid], dict[str, dict[str, Guess]]]:
    return for_reader(uploads.guessed_folder, sent, options, EXAMPLES)


def confirm(files: Sequence[UploadedFile], keep: Callable[[SentFolder, FolderOptions], None]) -> None:
    """Show how the three are read; the reader can correct that before adding them.

    Args:
        keep: stores them; a callback.
    """
    if len(files) != len(FORMS):
        st.info(
            f"{counted(len(files), 'file')} of {len(FORMS)}: choose one of queries, one of documents and one of "
            "judgments.",
            icon=":material/help:",
        )
        return
    try:
        sent = uploads.folder_of_files([(file.name, file.getvalue()) for file in files], settings())
        options = _options(sent)
        contents = upload_folder.read(sent, options) if options else None
    except BlindspotError as error:
        st.error(as_text(explained(error)), icon=":material/error:")
        return
    if options is None or contents is None:
        return
    upload_folder.show(contents)
    upload_folder.add_button(keep, sent, options)


def _options(sent: SentFolder) -> FolderOptions | None:
    """The files and columns as they were chosen; None until all that is needed is.

    Raises:
        InputError: a file cannot be read.
    """
    names, likely = sorted(path.name for path in sent.contents), _parts(sent)
    files: dict[str, str] = {}
    for column, part in zip(st.columns(len(FORMS)), FORMS, strict=True):
        files[part] = column.selectbox(
            f"File of {part}", names, index=names.index(likely[part]), key=f"upload_{part}_{sent.digest}"
        )
    if len({*files.values()}) < len(files):
        st.caption("Choose another file for each of the three.")
        return None
    options = FolderOptions.of(files)
    grids, guessed = _guesses(sent, options)
    key = f"{sent.digest}_{'_'.join(files.values())}"
    chosen = {part: _pick(part, grid[0], guessed[part], key) for part, grid in grids.items()}
    lacking = {part: {*FORMS[part].needed} - columns.keys() for part, columns in chosen.items()}
    if any(lacking.values()):
        missing = ", ".join(f"{role} of the {part}" for part, roles in lacking.items() for role in sorted(roles))
        st.caption(f"Choose the columns that are missing: {missing}.")
        return None
    _show_columns(files, grids, guessed, chosen)
    named = tuple(
        (part, role, grids[part][0][number])
        for part, columns in chosen.items()
        for role, number in columns.items()
        if guessed[part].get(role) != Guess(number, guess.BY_NAME)
    )
    return replace(options, columns=FolderOptions.of({f"{part}.{role}": name for part, role, name in named}).columns)


def _pick(part: str, names: Sequence[str], guessed: Mapping[str, Guess], key: str) -> dict[str, int]:
    """Number of the column by role."""
    form, chosen = FORMS[part], {}
    for column, role in zip(st.columns(PICKERS), form.roles, strict=False):
        likely = guessed.get(role)
        is_needed = role in form.needed
        name = column.selectbox(
            f"{part.capitalize()}: {role}" + ("" if is_needed else " (optional)"),
            names,
            index=None if likely is None else likely.number,
            placeholder="choose one" if is_needed else "none",
            key=f"upload_{part}_{role}_{key}",
        )
        if name is not None:
            chosen[role] = list(names).index(name)
    if twice := next((n for n in chosen.values() if list(chosen.values()).count(n) > 1), None):
        roles = " and ".join(role for role, number in chosen.items() if number == twice)
        raise InputError(f"column '{names[twice]}' of the {part} cannot be both {roles}", expected="two columns")
    return chosen


def _show_columns(
    files: Mapping[str, str],
    grids: Mapping[str, Grid],
    guessed: Mapping[str, Mapping[str, Guess]],
    chosen: Mapping[str, Mapping[str, int]],
) -> None:
    """Draw one row per column: how it is read, and why."""
    st.markdown("**How the columns are read**")
    rows = []
    for part, (names, cells) in grids.items():
        uses = {number: role for role, number in chosen[part].items()}
        for number, name in enumerate(names):
            likely = guessed[part].get(uses.get(number, ""))
            because = "–" if number not in uses else "as chosen above"
            if likely is not None and likely.number == number:
                because = likely.why
            rows.append(
                {
                    "file": files[part],
                    "column": name or "(no name)",
                    "read as": f"{part}: {uses[number]}" if number in uses else "not used",
                    "because": because,
                    "first cells": " | ".join(cell[:_SHORT] for cell in cells[number]),
                }
            )
    tables.draw(rows, key="upload_columns")
    if any(row["because"] == BY_VALUES for row in rows):
        st.info("Some columns are a guess, by their values. Please check them.", icon=":material/help:")
