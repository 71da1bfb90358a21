"""Answering: one item at a time, by click or by key, and nothing on screen that tells whose it is."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import streamlit as st

from core.errors import BlindspotError
from core.studies.judgement.page import cards as judgement_cards
from core.studies.judgement.page import votes as judgement_votes
from core.studies.judgement.page.shown import Judged, judgements, link_for, other_task, page_of
from core.studies.judgement.raters import (
    LONGEST_NAME,
    item_order,
    nickname,
    option_order,
    rater_key,
)
from core.studies.judgement.types import Ballot, Item, Recorded, Task
from core.ui.boundary import fragment
from core.ui.markdown import as_text
from core.ui.resources import allowed

QUESTIONS = {
    Task.INTRUDER: "Which one does not belong with the others?",
    Task.COMPARATIVE: "Which of these is most similar to it?",
}
DONT_KNOW = "I don't know these words"
LONG = 16  # characters of an option that needs a wide card
KEYS = 9  # cards that a key chooses; more are clicked
_DESK = "_judge_desk"


@dataclass
class Desk:
    """Where a rater is, in one tab; what was answered stands in the store alone.

    A callback changes the desk, never the session's state: Streamlit may end a run at every access to that, and an
    answer must not be lost between two of them.

    Attributes:
        rater: the nickname; "" before it is given.
        names: keys of the nicknames that were given here.
        ballot: what the rest is about.
        found: items that had been answered when the rater came.
        mine: items answered in this tab.
        item_no, shown_at: the item on screen, and since when (monotonic seconds).
        shown: counts what was on screen, so that every showing has buttons of its own.
        told: what is said once; problem: what is wrong until the next answer.
    """

    rater: str = ""
    paused: bool = False
    names: set[str] = field(default_factory=set)
    ballot: Ballot | None = None
    found: int = 0
    mine: set[int] = field(default_factory=set)
    item_no: int | None = None
    shown_at: float = 0.0
    shown: int = 0
    told: str = ""
    problem: str = ""

    def begin(self, ballot: Ballot, answered: int) -> None:
        """Sit down to a ballot; nothing where that is the one already."""
        if self.ballot != ballot:
            self.ballot, self.found, self.mine, self.item_no = ballot, answered, set(), None
            self.told, self.problem, self.paused = "", "", False


def show(judged: Judged) -> None:
    """The nickname, then item after item."""
    _answering(judged)


@fragment
def _answering(judged: Judged) -> None:
    desk: Desk = st.session_state.setdefault(_DESK, Desk())
    try:
        if not desk.rater:
            _ask_nickname(desk)
            return
        ballot = Ballot(judged.items.set_id, judged.session_name, desk.rater)
        answered = judgements().answered(ballot)  # in whichever tab
        desk.begin(ballot, len(answered))
        if desk.paused:
            _rest(judged, desk, answered)
        else:
            _go_on(judged, desk, ballot, answered)
    except BlindspotError as error:  # the store cannot be read now
        st.error(as_text(str(error)), icon=":material/error:")
        st.button("Try again", key="judge_retry")


def _ask_nickname(desk: Desk) -> None:
    with st.form("judge_who", enter_to_submit=True):
        st.text_input(
            "Your nickname",
            key="nickname",
            help=f"Any name of at most {LONGEST_NAME} characters: no account, no password. Your answers are kept under "
            "it; to go on later, give the same one.",
        )
        st.form_submit_button("Start", type="primary", on_click=_enter, args=(desk,))
    if desk.problem:
        st.error(as_text(desk.problem), icon=":material/error:")
    st.caption("You can stop at any time; what you answered is kept.")


def _enter(desk: Desk) -> None:
    typed = str(st.session_state.get("nickname") or "")
    try:
        name = nickname(typed)
        if (key := rater_key(name)) not in desk.names:
            allowed().check_rater(len(desk.names))
        desk.names.add(key)
        desk.rater, desk.problem, desk.paused = name, "", False
    except BlindspotError as error:
        desk.problem = str(error)


def _go_on(judged: Judged, desk: Desk, ballot: Ballot, answered: frozenset[int]) -> None:
    if desk.told:
        st.toast(as_text(desk.told))
        desk.told = ""
    total = len(judged.items.items)
    left = [number for number in item_order(judged.items, ballot) if number not in answered]
    if not left:
        desk.item_no = None
        _thank(judged, desk, ballot, total)
        return
    stays = desk.problem and desk.item_no in left  # also where a removed set took the other answers with it
    if desk.item_no != left[0] and not stays:
        desk.item_no, desk.shown_at = left[0], time.monotonic()
        desk.shown += 1
    item = next(item for item in judged.items.items if item.item_no == desk.item_no)
    done = total - len(left)
    st.progress(done / total, text=f"{done} of {total} answered")
    _ask(judged.task, item, desk, ballot)
    if desk.problem:
        st.error(as_text(desk.problem), icon=":material/error:")
        if st.button("Look for other items", key="judge_look", on_click=_forget_problem, args=(desk,)):
            st.rerun()  # the set is chosen outside of this fragment
    if desk.found and not desk.mine:
        st.info(
            f"Welcome back, {as_text(desk.rater)}: {desk.found} of {total} answered. If that was not you, choose "
            "another nickname."
        )
        st.button("Another nickname", key="judge_other", on_click=_leave, args=(desk,))
    st.caption(f"{as_text(desk.rater)}: you can stop at any time; what you answered is kept.")
    judgement_cards.guard(str(desk.shown), f"{done} of {total} answered. {QUESTIONS[judged.task]}")


def _ask(task: Task, item: Item, desk: Desk, ballot: Ballot) -> None:
    with st.container(key="asked", gap="small"):
        if task is Task.COMPARATIVE:
            st.subheader(as_text(" ".join(item.query.text.split())), anchor=False)
        st.markdown(f"#### {QUESTIONS[task]}")
    long = max(len(text) for text in item.options) > LONG
    with st.container(key="answers", gap="small"):
        with st.container(key="cards_long" if long else "cards_short"):
            for place, option in enumerate(option_order(item, ballot), start=1):
                # The key carries the item: a click that comes late is about the item that was clicked.
                st.button(
                    as_text(" ".join(item.options[option].split())),
                    key=f"choice_{place}_{desk.shown}",
                    shortcut=str(place) if place <= KEYS else None,
                    width="stretch",
                    wrap=True,
                    on_click=_vote,
                    args=(desk, ballot, item.item_no, option),
                )
        st.button(
            DONT_KNOW,
            key=f"unknown_{desk.shown}",
            shortcut="0",
            width="stretch",
            on_click=_vote,
            args=(desk, ballot, item.item_no, None),
        )
    with st.container(key="judge_rest", horizontal=True, gap="small"):
        st.button(
            "Undo the last answer",
            key=f"undo_{desk.shown}",
            shortcut="u",
            icon=":material/undo:",
            type="tertiary",
            on_click=_undo,
            args=(desk, ballot, desk.shown),
        )
        st.button(
            "Pause",
            key=f"pause_{desk.shown}",
            shortcut="p",
            icon=":material/pause:",
            type="tertiary",
            on_click=_pause,
            args=(desk,),
        )


def _vote(desk: Desk, ballot: Ballot, item_no: int, option: int | None) -> None:
    """Write an answer at once. The item stays on screen where that fails."""
    if item_no != desk.item_no or ballot != desk.ballot:
        return  # the second click of a double click: its item is answered and gone
    seconds = time.monotonic() - desk.shown_at
    if seconds < judgement_cards.SETTLE_SECONDS:
        desk.told = "That was too soon after the item came up: not taken. Please answer again."
        return
    try:
        recorded = judgements().vote(ballot, item_no, option, seconds)
    except BlindspotError as error:
        desk.problem = f"The answer was not kept: {error}"
        return
    desk.problem = ""
    if recorded is Recorded.ALREADY and item_no not in desk.mine:
        desk.told = "Answered in another tab already; that answer stands."
    desk.mine.add(item_no)


def _undo(desk: Desk, ballot: Ballot, shown: int) -> None:
    if shown != desk.shown:
        return  # the second click of a double click
    try:
        opened = judgements().undo(ballot)
    except BlindspotError as error:
        desk.problem = f"Nothing was taken back: {error}"
        return
    desk.problem = ""
    if opened is None:
        desk.told = "There is no answer to take back."
        return
    desk.mine.discard(opened)
    desk.told = "Your last answer is taken back."
    desk.item_no = None
    desk.shown += 1


def _pause(desk: Desk) -> None:
    desk.paused, desk.item_no, desk.problem = True, None, ""


def _resume(desk: Desk) -> None:
    desk.paused = False


def _leave(desk: Desk) -> None:
    desk.rater, desk.ballot, desk.paused, desk.item_no, desk.problem = "", None, False, None, ""


def _forget_problem(desk: Desk) -> None:
    desk.problem = ""


def _rest(judged: Judged, desk: Desk, answered: frozenset[int]) -> None:
    total = len(judged.items.items)
    st.progress(len(answered) / total, text=f"{len(answered)} of {total} answered")
    st.subheader("Paused", anchor=False)
    st.markdown(
        f"What you answered is kept. To go on later, here or after a reload, give the nickname "
        f"**{as_text(desk.rater)}** again."
    )
    with st.container(horizontal=True, gap="small"):
        st.button(
            "Go on",
            key="judge_resume",
            type="primary",
            shortcut="p",
            icon=":material/play_arrow:",
            on_click=_resume,
            args=(desk,),
        )
        st.button("Somebody else answers", key="judge_other", on_click=_leave, args=(desk,))


def _thank(judged: Judged, desk: Desk, ballot: Ballot, total: int) -> None:
    st.progress(1.0, text=f"{total} of {total} answered")
    st.subheader(f"Thank you, {as_text(desk.rater)}: that was all", anchor=False)
    st.markdown(f"You answered {'the one item' if total == 1 else f'all {total} items'}.")
    if judged.session and not judged.sees_votes:
        judgement_votes.wait_for_reveal(judged.session.name)
    with st.container(horizontal=True, gap="small"):
        if judged.sees_votes and st.button(
            "See the results", key="judge_see", type="primary", icon=":material/bar_chart:", on_click=_show_results
        ):
            st.rerun()  # the view is chosen outside of this fragment
        st.button(
            "Undo the last answer",
            key="undo_end",
            shortcut="u",
            icon=":material/undo:",
            on_click=_undo,
            args=(desk, ballot, desk.shown),
        )
        st.button("Somebody else answers", key="judge_other", on_click=_leave, args=(desk,))
    other = other_task(judged.task)
    if other in judged.session.sets if judged.session else judgements().sets(other):
        what = "Find intruders" if other is Task.INTRUDER else "Compare votes"
        st.page_link(
            page_of(other),
            label=f"{what}: the other task",
            icon=":material/arrow_forward:",
            query_params=link_for(judged.session_name),
        )
    judgement_cards.guard("end", "All items are answered.")


def _show_results() -> None:
    st.session_state["judge"] = "results"
