"""The pages of human judgement: which set and session, and what the reader does with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from core import ui
from core.studies.judgement.page import answer as judgement_answer
from core.studies.judgement.page import exchange as judgement_exchange
from core.studies.judgement.page import form as judgement_making
from core.studies.judgement.page import results as judgement_results
from core.studies.judgement.page import sessions as judgement_sessions
from core.studies.judgement.page import votes as judgement_votes
from core.studies.judgement.page.shown import (
    Judged,
    item_set,
    judgements,
    link_for,
    other_task,
    page_of,
)
from core.studies.judgement.types import Session, SetSummary, Task
from core.ui.markdown import as_text
from core.ui.widgets.views import View, choose_view
from core.ui.widgets.work import job_panel

_SESSION = "_judge_session"
_OFFERED = 10  # sessions under a link to an unknown one


@dataclass(frozen=True)
class Place:
    """Where the reader is: see ``Judged``."""

    task: Task
    session: Session | None = None
    facilitates: bool = False
    key: str = ""


@dataclass(frozen=True)
class _Remembered:
    name: str
    key: str


def show(task: Task) -> None:
    """A page of human judgement."""
    place = _place(task)
    if place is not None:
        choose_view(place, _views(place), "View", "judge")


def _views(place: Place) -> dict[str, View[Place]]:
    """The views that this reader has; in a session a rater has the results only once they are revealed."""
    answer = View[Place]("What do you say? One item at a time.", lambda p: _with_set(p, judgement_answer.show, True))
    results = View[Place]("What did people say of each variant?", _results)
    sessions = View[Place]("Who answers together?", lambda p: _open_view(p, judgement_sessions.show))
    items = View[Place]("Which items are there, and how do I make others?", _items)
    if place.session is None or place.facilitates:
        return {"answer": answer, "results": results, "sessions": sessions, "items": items}
    return {"answer": answer, "results": results}


def _results(place: Place) -> None:
    if place.session is None or place.facilitates or place.session.revealed:
        _open_view(place, judgement_results.show)
    else:
        judgement_votes.wait_for_reveal(place.session.name)


def _items(place: Place) -> None:
    """Making items, and taking them along; a facilitator also the votes of a session that is not revealed."""
    job_panel()
    judgement_making.show(place.task)
    judgement_exchange.show(place.task, {place.session.name: place.key} if place.session else {})


def _open_view(place: Place, show_judged: Callable[[Judged], None]) -> None:
    """A view that may name encoders."""
    job_panel()
    _with_set(place, show_judged, False)


# --- which session


def _place(task: Task) -> Place | None:
    """Where the address leads; None where that is nowhere, which is then said."""
    _stay_in_session()
    name = st.query_params.get("session", "")
    if not name:
        if not judgements().sets(task) and "set" not in st.query_params:
            _items(Place(task))
            return None
        return Place(task)
    session = judgements().session(name)
    if session is None:
        _unknown_session(task, name)
        return None
    key = st.query_params.get("facilitator", "")
    facilitates = bool(key) and judgements().is_facilitator(name, key)
    st.session_state[_SESSION] = _Remembered(name, key)
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.caption(f"Session **{as_text(name)}**{': you are its facilitator' if facilitates else ''}", width="content")
        st.button("Leave", key="judge_leave", type="tertiary", on_click=_leave_session)
    if key and not facilitates:
        st.warning("The key in this link is not that of the session's facilitator: you see what raters see.")
    if task not in session.sets:
        st.info("This session has no items of this kind.")
        for other in session.sets:
            st.page_link(page_of(other), label="To its items", query_params=_session_link(name, key))
        return None
    return Place(task, session, facilitates, key)


def _stay_in_session() -> None:
    """Who goes from one task to the other by the sidebar stays in the session: its votes must not land outside."""
    remembered: _Remembered | None = st.session_state.get(_SESSION)
    if remembered and "session" not in st.query_params and "set" not in st.query_params:
        st.query_params["session"] = remembered.name
        if remembered.key:
            st.query_params["facilitator"] = remembered.key


def _leave_session() -> None:
    st.session_state.pop(_SESSION, None)
    for name in ("session", "facilitator"):
        st.query_params.pop(name, None)


def _session_link(name: str, key: str) -> dict[str, str]:
    return link_for(name) | ({"facilitator": key} if key else {})


def _unknown_session(task: Task, name: str) -> None:
    st.warning(
        f"There is no session '{as_text(name[:80])}' here: it may have been removed, or be on another machine.",
        icon=":material/link_off:",
    )
    st.session_state.pop(_SESSION, None)
    offered = [session for session in judgements().sessions() if task in session.sets][:_OFFERED]
    if offered:
        st.markdown("Sessions that there are:")
    for session in offered:
        st.page_link(page_of(task), label=as_text(session.name), query_params=link_for(session.name))
    st.button("Go on without a session", key="judge_leave", on_click=_leave_session)


# --- which set


def _with_set(place: Place, show_judged: Callable[[Judged], None], blind: bool) -> None:
    first, second = st.container(), st.container()
    picker, shown = (second, first) if blind else (first, second)  # a phone has no room above the cards
    with picker:
        set_id = place.session.sets[place.task] if place.session else _pick_set(place.task, blind)
    items = item_set(judgements(), set_id) if set_id else None
    with shown:
        if items is not None:
            show_judged(Judged(place.task, items, place.session, place.key))
        elif set_id:
            item_set.clear()  # they may be imported again
            st.warning("The items of this session are no longer here.", icon=":material/link_off:")


def _pick_set(task: Task, blind: bool) -> str | None:
    """Which set, as the address says or the reader chooses; the newest where neither does.

    Not a bound widget: those write what they show into the address, and a title may name encoders.
    """
    sets = {found.set_id: found for found in judgements().sets(task)}
    wanted = st.query_params.get("set", "")
    if wanted and wanted not in sets:
        _unknown_set(task, wanted)
    if not sets:
        st.button("See how to make items", key="judge_make", on_click=_forget_set)
        return None
    if len(sets) > 1 or wanted not in sets:
        ids = list(sets)
        key = f"judge_set_{'blind' if blind else 'open'}"
        st.session_state[key] = wanted if wanted in sets else (None if wanted else ids[0])
        if len(sets) > 1 or wanted:
            st.selectbox(
                "Items",
                ids,
                key=key,
                format_func=lambda set_id: _describe(sets[set_id], blind),
                placeholder="Choose other items",
                on_change=_choose_set,
                args=(key,),
            )
    if wanted:
        return wanted if wanted in sets else None
    newest = next(iter(sets))
    if blind:
        st.query_params["set"] = newest  # who reloads goes on with it, also when others made a newer one meanwhile
    return newest


def _unknown_set(task: Task, wanted: str) -> None:
    if wanted in {found.set_id for found in judgements().sets(other_task(task))}:
        st.info("The items in this link are of the other task.")
        st.page_link(page_of(other_task(task)), label="To these items", query_params=link_for(set_id=wanted))
        return
    st.warning(
        f"This link names a set of items that is not here: '{as_text(wanted[:80])}'. It may have been removed, or made "
        "on another machine.",
        icon=":material/link_off:",
    )


def _describe(found: SetSummary, blind: bool) -> str:
    """A set in the picker; while one answers without its title, which may name encoders."""
    made = f"{found.items} items of {found.created_at:%Y-%m-%d %H:%M} UTC ({found.set_id[:4]})"
    return made if blind else f"{found.title}: {made}"


def _choose_set(key: str) -> None:
    if chosen := st.session_state.get(key):
        st.query_params["set"] = chosen


def _forget_set() -> None:
    st.query_params.pop("set", None)
    st.session_state["judge"] = "items"


# The page compare_votes.


def show_compare_votes() -> None:
    """The page."""
    ui.page(
        "Compare votes",
        "Whose neighbours do people find most similar? They choose, without knowing whose is whose.",
        show_jobs=False,
    )
    show(Task.COMPARATIVE)


# The page intruder.


def show_intruder() -> None:
    """The page."""
    ui.page(
        "Intruder",
        "Do an encoder's neighbours belong together? People look for the one that does not.",
        show_jobs=False,
    )
    show(Task.INTRUDER)
