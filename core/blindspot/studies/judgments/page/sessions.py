"""Sessions of several raters under one link, and the facilitator's view of them."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

import pandas as pd
import streamlit as st

from blindspot.errors import BlindspotError, InputError
from blindspot.studies.judgments.page.judged_set import PAGES, Judged, item_set, judgments, other_task, state_of_session
from blindspot.studies.judgments.page.texts import TITLES
from blindspot.studies.judgments.types import LONGEST, ItemSet, RaterProgress, Session, Task, session_name
from blindspot.texts import counted
from blindspot.ui.boundary import repeated
from blindspot.ui.markdown import as_text
from blindspot.ui.navigation import path_of
from blindspot.ui.page_state import PageState, link
from blindspot.ui.resources import allowed, explained
from blindspot.ui.widgets import tables

REFRESH_SECONDS = 2
_OPENED = "_judge_opened"
_MINE = "_judge_my_sessions"  # names of the sessions that this visitor opened
_DONT_KNOW = "don't know"


@dataclass(frozen=True)
class _Opened:
    """A session that this tab opened, with the only copy of its key, or the problem."""

    name: str = ""
    key: str = ""
    problem: str = ""


def show(judged: Judged) -> None:
    """Outside of a session: open one, and list all. For a facilitator: who answered what."""
    if judged.session is None:
        _open(judged)
        _list(judged.task)
    elif judged.facilitates:
        _facilitate(judged, judged.session)


# --- opening


def _open(judged: Judged) -> None:
    st.subheader("Open a session", anchor=False)
    other = other_task(judged.task)
    titles = {"": "none"} | {
        summary.set_id: f"{summary.title}: {summary.items} questions ({summary.set_id[:4]})"
        for summary in judgments().sets(other)
    }
    with st.form("judge_open"):
        st.text_input(
            "Name",
            key="session_name",
            max_chars=LONGEST,
            help=f"1 to {LONGEST} letters (A to Z), digits, - and _. It becomes part of the link.",
        )
        st.text(f"Questions: {judged.items.title}: {len(judged.items.items)} questions ({judged.items.set_id[:4]})")
        st.selectbox(
            f"Questions for the page {TITLES[other]} as well",
            list(titles),
            key="session_other",
            format_func=titles.__getitem__,
            help="Then the session has both tasks, and raters get a link from one to the other.",
        )
        st.form_submit_button(
            "Open session",
            key="session_open",
            type="primary",
            on_click=_opening,
            args=(judged.task, judged.items.set_id),
        )
    opened: _Opened | None = st.session_state.get(_OPENED)
    if opened is None:
        return
    if opened.problem:
        st.error(as_text(opened.problem), icon=":material/error:")
        return
    st.success(f"The session {as_text(opened.name)} is open.", icon=":material/check:")
    st.markdown("**For the raters:** they see the questions only, and the results once you reveal them.")
    st.code(_address(judged.task, state_of_session(opened.name)), language=None, wrap_lines=True)
    st.markdown(
        "**For you, the facilitator:** save this link and keep it secret. It is shown only once; its key is not stored."
    )
    mine = state_of_session(opened.name, key=opened.key)
    st.code(_address(judged.task, mine.with_(view="sessions")), language=None, wrap_lines=True)
    link(PAGES[judged.task], mine, label="Open it", icon=":material/arrow_forward:")


def _opening(task: Task, set_id: str) -> None:
    try:
        mine: list[str] = st.session_state.setdefault(_MINE, [])
        allowed().check_session(len(mine))
        name = session_name(str(st.session_state.get("session_name") or ""))
        sets = {task: set_id}
        if other := st.session_state.get("session_other"):
            sets[other_task(task)] = other
        key = secrets.token_urlsafe(24)
        if not judgments().add_session(name, sets, key, allowed().session_room):
            raise InputError(f"a session '{name}' already exists", remedy="choose another name")
    except BlindspotError as error:
        st.session_state[_OPENED] = _Opened(problem=explained(error))
    else:
        mine.append(name)
        st.session_state[_OPENED] = _Opened(name, key)


def _address(task: Task, state: PageState) -> str:
    """A link to a task's page on this server."""
    here = urlsplit(st.context.url or "")
    above = here.path.rsplit("/", 1)[0]
    return urlunsplit((here.scheme, here.netloc, above, "", "")) + "/" + path_of(PAGES[task], state.address)


def _list(task: Task) -> None:
    sessions = judgments().sessions()
    st.subheader("Sessions", anchor=False)
    if not sessions:
        st.markdown("None yet.")
        return
    rows = []
    for session in sessions:
        page = task if task in session.sets else next(iter(session.sets))
        progress = [judgments().progress(set_id, session.name) for set_id in session.sets.values()]
        rows.append(
            {
                "session": session.name,
                "link": _address(page, state_of_session(session.name)),
                "tasks": ", ".join(TITLES[t] for t in session.sets),
                "raters": len({rater.rater for raters in progress for rater in raters}),
                "answers": sum(rater.answered for raters in progress for rater in raters),
                "results": "revealed" if session.revealed else "hidden",
                "opened": session.created_at,
            }
        )
    tables.draw(
        rows,
        key="session_table",
        column_config={
            "link": st.column_config.LinkColumn(display_text="open"),
            "opened": st.column_config.DatetimeColumn(format="YYYY-MM-DD HH:mm"),
        },
    )


# --- facilitating


def _facilitate(judged: Judged, session: Session) -> None:
    st.markdown("**Link for the raters.** Do not share yours: it contains the facilitator's key.")
    st.code(_address(judged.task, state_of_session(session.name)), language=None, wrap_lines=True)
    state, button = st.columns([3, 1], vertical_alignment="center")
    state.markdown("Raters see the results." if session.revealed else "The results are hidden from raters.")
    button.button(
        "Hide the results again" if session.revealed else "Reveal the results",
        key="session_reveal",
        icon=":material/visibility_off:" if session.revealed else ":material/visibility:",
        type="secondary" if session.revealed else "primary",
        on_click=_reveal,
        args=(judged, not session.revealed),
    )
    _watch(judged, session)


def _reveal(judged: Judged, revealed: bool) -> None:
    try:
        if judged.session is None or not judged.facilitates:
            raise InputError("this session is no longer yours", remedy="open its link again")
        judgments().reveal(judged.session.name, revealed)
    except BlindspotError as error:
        st.toast(as_text(f"Not changed: {explained(error)}"), icon=":material/error:")


@repeated(every=REFRESH_SECONDS)
def _watch(judged: Judged, session: Session) -> None:
    try:
        if not judged.facilitates:  # the session was removed since the page was drawn
            st.rerun()
        _progress(judged, session)
    except BlindspotError as error:  # the store is busy: the next refresh tries again
        st.warning(as_text(explained(error)), icon=":material/error:")


def _progress(judged: Judged, session: Session) -> None:
    for task, set_id in sorted(session.sets.items(), key=lambda held: held[0] != judged.task):
        items = item_set(judgments(), set_id)
        if items is None:
            continue
        raters = judgments().progress(set_id, session.name)
        st.subheader(f"{TITLES[task]}: {counted(len(raters), 'rater')}", anchor=False)
        if not raters:
            st.markdown("No answers yet. Send raters the link.")
            continue
        tables.draw(
            _raters(raters, len(items.items)),
            key=f"session_raters_{task}",
            column_config={
                "progress": st.column_config.ProgressColumn(format="percent", min_value=0.0, max_value=1.0),
                "last answer": st.column_config.DatetimeColumn(format="YYYY-MM-DD HH:mm:ss"),
            },
        )
        if task is judged.task:
            with st.expander("Who answered what"):
                tables.draw(_answers(items, session.name), key="session_answers")


def _raters(raters: list[RaterProgress], total: int) -> dict[str, object]:
    return {
        "rater": [rater.rater for rater in raters],
        "answered": [rater.answered for rater in raters],
        "of": total,
        "progress": [rater.answered / total for rater in raters],
        _DONT_KNOW: [rater.unknown for rater in raters],
        "last answer": [rater.last_at for rater in raters],
    }


def _answers(items: ItemSet, session: str) -> pd.DataFrame:
    """Every answer, the latest first."""
    rows = []
    for vote in reversed(judgments().votes(items.set_id, session)):
        item = items.items[vote.item_no]
        rows.append(
            {
                "rater": vote.rater,
                "question": vote.item_no,
                "query": item.query.text,
                "options": " · ".join(item.options),
                "chosen": _DONT_KNOW if vote.option is None else item.options[vote.option],
                "seconds": None if vote.seconds is None else round(vote.seconds, 1),
            }
        )
    return pd.DataFrame(rows, columns=["rater", "question", "query", "options", "chosen", "seconds"])
