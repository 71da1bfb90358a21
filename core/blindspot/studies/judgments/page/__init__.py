"""Pages Intruder and Compare votes: the session, the set of questions, and the views on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from blindspot import ui
from blindspot.studies.judgments.page import answer, exchange, form, results, sessions, texts, votes
from blindspot.studies.judgments.page.judged_set import PAGES, Judged, item_set, judgments, other_task, state_of_session
from blindspot.studies.judgments.types import Session, SetSummary, Task
from blindspot.ui.markdown import as_text, from_address
from blindspot.ui.options import options
from blindspot.ui.page_state import VIEW, link
from blindspot.ui.widgets.views import View, choose_page
from blindspot.ui.widgets.work import job_panel

_SESSION = "_judge_session"
_OFFERED = 10  # sessions under a link to an unknown one


@dataclass(frozen=True)
class Place:
    """The page's task and the reader's session, see ``Judged``."""

    task: Task
    session: Session | None = None
    facilitates: bool = False
    key: str = ""


def show_compare_votes() -> None:
    """The page compare_votes."""
    _show(Task.COMPARATIVE)


def show_intruder() -> None:
    """The page intruder."""
    _show(Task.INTRUDER)


def _show(task: Task) -> None:
    ui.page(texts.TITLES[task], texts.PAGE_QUESTIONS[task], show_jobs=False)
    place = _place(task)
    if place is None:
        return
    views = {
        "answer": View[Place](texts.ANSWER[task], lambda p: _with_set(p, answer.show, True)),
        "results": View[Place](texts.RESULTS[task], _results),
        "sessions": View[Place](texts.SESSIONS, lambda p: _open_view(p, sessions.show)),
        "items": View[Place](texts.ITEMS, _items),
    }
    if place.session and not place.facilitates:
        del views["sessions"], views["items"]
    choose_page(place, views)


def _results(place: Place) -> None:
    if place.session is None or place.facilitates or place.session.revealed:
        _open_view(place, results.show)
    else:
        votes.wait_for_reveal(place.session.name)


def _items(place: Place) -> None:
    job_panel()
    form.show(place.task)
    exchange.show(place.task, {place.session.name: place.key} if place.session else {})


def _open_view(place: Place, show_judged: Callable[[Judged], None]) -> None:
    """A view that may name models."""
    job_panel()
    _with_set(place, show_judged, False)


# --- which session


def _place(task: Task) -> Place | None:
    """The place that the address names; None, with the reason shown, if there is none."""
    _stay_in_session()
    name = st.query_params.get("session", "")
    if not name:
        if not judgments().sets(task) and "set" not in st.query_params:
            _items(Place(task))
            return None
        return Place(task)
    session = judgments().session(name)
    if session is None:
        _unknown_session(task, name)
        return None
    key = st.query_params.get("facilitator", "")
    facilitates = bool(key) and judgments().is_facilitator(name, key)
    st.session_state[_SESSION] = (name, key)
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.caption(
            f"Session **{from_address(name)}**{', and you are its facilitator' if facilitates else ''}", width="content"
        )
        st.button("Leave", key="judge_leave", type="tertiary", on_click=_leave_session)
    if key and not facilitates:
        st.warning("This link does not have the facilitator's key: you see what raters see.")
    if task not in session.sets:
        st.info("This session has no questions for this page.")
        for other in session.sets:
            link(PAGES[other], state_of_session(name, key=key), label="Go to its questions")
        return None
    return Place(task, session, facilitates, key)


def _stay_in_session() -> None:
    """Keep the session when the reader changes the task in the navigation: votes must not end up outside of it."""
    name, key = st.session_state.get(_SESSION, ("", ""))
    if name and "session" not in st.query_params and "set" not in st.query_params:
        st.query_params["session"] = name
        if key:
            st.query_params["facilitator"] = key


def _leave_session() -> None:
    st.session_state.pop(_SESSION, None)
    for name in ("session", "facilitator"):
        st.query_params.pop(name, None)


def _unknown_session(task: Task, name: str) -> None:
    st.warning(
        f"No session '{from_address(name)}' here: it may have been removed, or be on another machine.",
        icon=":material/link_off:",
    )
    st.session_state.pop(_SESSION, None)
    offered = [session for session in judgments().sessions() if task in session.sets][:_OFFERED]
    if offered:
        st.markdown("Sessions on this machine:")
    for session in offered:
        link(PAGES[task], state_of_session(session.name), label=as_text(session.name))
    st.button("Continue without a session", key="judge_leave", on_click=_leave_session)


# --- which set


def _with_set(place: Place, show_judged: Callable[[Judged], None], blind: bool) -> None:
    first, second = st.container(), st.container()
    picker, shown = (second, first) if blind else (first, second)  # a phone has no room above the cards
    with picker:
        set_id = place.session.sets[place.task] if place.session else _pick_set(place.task, blind)
    items = item_set(judgments(), set_id) if set_id else None
    with shown:
        if items is not None:
            show_judged(Judged(place.task, items, place.session, place.key))
        elif set_id:
            item_set.clear()  # they may be imported again
            st.warning("The questions of this session were removed.", icon=":material/link_off:")


def _pick_set(task: Task, blind: bool) -> str | None:
    """The set of the address, or the reader's choice, or the newest.

    The widget is not bound to the address: it would write a title there, which may name encoders.
    """
    sets = {summary.set_id: summary for summary in judgments().sets(task)}
    wanted = st.query_params.get("set", "")
    if wanted and wanted not in sets:
        _unknown_set(task, wanted)
    if not sets:
        st.button("Make questions", key="judge_make", on_click=_forget_set)
        return None
    if len(sets) > 1 or wanted not in sets:
        ids = list(sets)
        key = f"judge_set_{'blind' if blind else 'open'}"
        st.session_state[key] = wanted if wanted in sets else (None if wanted else ids[0])
        if len(sets) > 1 or wanted:
            # While people answer, the choice of questions only distracts, unless the link names none of these.
            container = options() if blind and wanted in sets else st.container()
            container.selectbox(
                "Questions",
                ids,
                key=key,
                format_func=lambda set_id: _describe(sets[set_id], blind),
                placeholder="Choose others",
                on_change=_choose_set,
                args=(key,),
            )
    if wanted:
        return wanted if wanted in sets else None
    newest = next(iter(sets))
    if blind:
        st.query_params["set"] = newest  # a reload keeps it, even if others made a newer set meanwhile
    return newest


def _unknown_set(task: Task, wanted: str) -> None:
    if wanted in {summary.set_id for summary in judgments().sets(other_task(task))}:
        st.info("This link is to questions of the other page.")
        link(PAGES[other_task(task)], state_of_session(set_id=wanted), label="Go there")
        return
    st.warning(
        f"The questions of this link are not here: '{from_address(wanted)}'. They may have been removed, or made on "
        "another machine.",
        icon=":material/link_off:",
    )


def _describe(summary: SetSummary, blind: bool) -> str:
    """A set in the picker; without its title, which may name models, while the reader answers."""
    made = f"{summary.items} questions of {summary.created_at:%Y-%m-%d %H:%M} UTC ({summary.set_id[:4]})"
    return made if blind else f"{summary.title}: {made}"


def _choose_set(key: str) -> None:
    if chosen := st.session_state.get(key):
        st.query_params["set"] = chosen


def _forget_set() -> None:
    st.query_params.pop("set", None)
    st.session_state[VIEW] = "items"
