"""Export of questions and votes as files, and their import from another machine."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from blindspot import policy
from blindspot.errors import BlindspotError
from blindspot.files.typed_tables import TableFormat
from blindspot.studies.judgments import bundles
from blindspot.studies.judgments.bundles import Bundle, Part
from blindspot.studies.judgments.page.judged_set import facilitated, hidden_sessions, judgments
from blindspot.studies.judgments.page.texts import TITLES
from blindspot.studies.judgments.store import Merged
from blindspot.studies.judgments.types import SetSummary, Task
from blindspot.texts import counted
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import allowed, explained, shared_settings
from blindspot.ui.widgets import downloads
from blindspot.ui.widgets.downloads import Holds

_ROUND = "_judgment_import_round"  # a new number empties the uploader
_SAID = "_judgment_import_said"  # the result of the last import, shown once
_MIME = {TableFormat.CSV: downloads.CSV, TableFormat.PARQUET: downloads.PARQUET}


def show(task: Task, keys: Mapping[str, str]) -> None:
    """Export the sets of a task, and import files; a facilitator's ``keys``, by session, give hidden votes too."""
    if message := st.session_state.pop(_SAID, None):
        good, text = message
        (st.success if good else st.error)(text, icon=":material/check:" if good else ":material/error:")
    if sets := judgments().sets(task):
        _export(sets, keys)
    _import()


# --- export


def _export(sets: list[SetSummary], keys: Mapping[str, str]) -> None:
    with st.expander("Export questions and votes", icon=":material/download:"):
        by_id = {summary.set_id: summary for summary in sets}
        chosen = st.selectbox(
            "Questions",
            list(by_id),
            format_func=lambda set_id: _named(by_id[set_id]),
            key=f"exchange_set_{sets[0].task}",
            persist_state="session",
        )
        form = st.segmented_control(
            "Tables as",
            [form.value for form in TableFormat],
            format_func=lambda form: {"csv": "CSV", "parquet": "Parquet"}[form],
            default=TableFormat.CSV.value,
            required=True,
            key="exchange_format",
            persist_state="session",
            help="Parquet keeps texts unchanged. In CSV, a text that a spreadsheet would run as a formula gets a "
            "leading apostrophe, which the import removes.",
        )
        summary = by_id.get(str(chosen), sets[0])
        _buttons(summary, TableFormat(str(form)), keys)
        names = (
            "Votes include the raters' nicknames"
            if allowed().raters_names
            else "Votes have pseudonyms in place of nicknames, except in sessions of yours"
        )
        st.caption(
            "The zip has everything another Blindspot needs to continue; the tables alone are for your own analysis. "
            f"{names}. No file contains a facilitator's key."
        )
        if not hidden_sessions(keys).isdisjoint(judgments().sessions_with_votes(summary.set_id)):
            st.info("Votes of sessions not revealed yet are left out.", icon=":material/visibility_off:")


def _named(summary: SetSummary) -> str:
    size = f"{counted(summary.items, 'question')}, {counted(summary.votes, 'vote')}"
    return f"{summary.title} · {size} · {summary.created_at:%Y-%m-%d} · {summary.set_id}"


def _buttons(summary: SetSummary, form: TableFormat, keys: Mapping[str, str]) -> None:
    with st.container(horizontal=True):
        downloads.button(
            "Everything (.zip)",
            lambda: bundles.pack(_collected(summary.set_id, keys), form),
            Holds(),
            file_name=f"judgments-{summary.set_id}.zip",
            mime=downloads.ZIP,
            key="exchange_zip",
            icon=":material/folder_zip:",
        )
        for part in Part:
            downloads.button(
                part.capitalize(),
                partial(_table, summary.set_id, keys, part, form),
                Holds(),
                file_name=f"{part}-{summary.set_id}.{form}",
                mime=_MIME[form],
                key=f"exchange_{part}",
            )


def _collected(set_id: str, keys: Mapping[str, str]) -> Bundle:
    """A set with the votes and names that the reader may see now."""
    settings = shared_settings()
    if policy.of(settings).raters_names:
        return bundles.collect(judgments(), set_id, hidden_sessions(keys))
    named = bundles.under_pseudonyms(bundles.secret_in(settings.cache), set_id, facilitated(keys))
    return bundles.collect(judgments(), set_id, hidden_sessions(keys), named)


def _table(set_id: str, keys: Mapping[str, str], part: Part, form: TableFormat) -> bytes:
    return bundles.table(_collected(set_id, keys), part, form)


# --- import


def _import() -> None:
    number = st.session_state.setdefault(_ROUND, 0)
    with st.expander(
        "Import questions and votes from another machine", icon=":material/upload_file:", key=f"take_{number}"
    ):
        if not allowed().changes:
            st.info(
                "This public demo takes no uploads. Run Blindspot on your own machine to import questions and votes.",
                icon=":material/block:",
            )
            return
        file = st.file_uploader(
            "A .zip exported by Blindspot",
            type=["zip"],
            max_upload_size=bundles.MOST_BYTES // 2**20,
            key=f"exchange_upload_{number}",
            help="Known votes are not counted twice. If a rater answered differently here, the answer here is kept.",
        )
        if file is not None:
            st.button("Import", type="primary", key="exchange_import", on_click=_take_in, args=(file,))


def _take_in(file: UploadedFile) -> None:
    try:
        allowed().check_change("questions and votes are not imported")
        bundle, merged = bundles.take_in(file.getvalue(), judgments())
    except BlindspotError as error:
        st.session_state[_SAID] = (False, as_text(f"Nothing was imported: {explained(error)}"))
        return
    st.session_state[_SAID] = (True, _told(bundle, merged))
    st.session_state[_ROUND] += 1


def _told(bundle: Bundle, merged: Merged) -> str:
    title = as_text(bundle.items.title)
    where = f"on the page *People*, *{TITLES[bundle.items.task]}*"
    came = "is new" if merged.new_set else "was already here"
    text = f"The set **{title}** ({counted(len(bundle.items.items), 'question')}, {where}) {came}. "
    text += f"Votes: {merged.new:,} new, {merged.known:,} known"
    if merged.differing:
        text += f", {merged.differing:,} that differ from the answer here, which is kept"
    return text + "."
