"""Answering: one question at a time, by click or by key, with no hint of which model its neighbors come from.

A key kept down fires repeatedly, and the second click of a double click falls on the next question. Only the browser
can tell: ``cards.js`` drops repeated events and those in the first moment of a question. The server refuses such early
answers too, by its own clock.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import streamlit as st

from blindspot.datasets.catalog import catalogued, title_of
from blindspot.errors import BlindspotError
from blindspot.settings import ASSETS
from blindspot.studies.judgments.page.judged_set import PAGES, Judged, judgments, other_task, state_of_session
from blindspot.studies.judgments.page.texts import DONT_KNOW, EXAMPLES, KEPT, PRIVACY, QUESTIONS, TO_DO
from blindspot.studies.judgments.page.votes import wait_for_reveal
from blindspot.studies.judgments.raters import LONGEST_NAME, item_order, nickname, option_order, rater_key
from blindspot.studies.judgments.types import Ballot, Item, ItemSet, Recorded, Task
from blindspot.texts import counted
from blindspot.ui.boundary import fragment
from blindspot.ui.markdown import as_text
from blindspot.ui.page_state import VIEW, link
from blindspot.ui.resources import allowed, explained

SECONDS_EACH = 10  # that a question takes, about
LONG = 16  # characters: longer options need wide cards
KEYS = 9  # cards with a key; others are clicked
SETTLE_SECONDS = 0.25  # no answer is taken before: nobody reads four words in that time
_STATE = "_judge_rater"

_component = st.components.v2.component(
    "blindspot_cards",
    html='<div class="blindspot-said" role="status" aria-live="polite"></div>',
    css=(ASSETS / "judgments" / "cards.css").read_text("utf-8"),
    js=(ASSETS / "judgments" / "cards.js").read_text("utf-8"),
    isolate_styles=False,
)


@dataclass
class RaterState:
    """A rater's state in one tab; answers are in the store only.

    Callbacks change the state and never the session's state: Streamlit may end a run at every access to that, and an
    answer must not be lost between two of them.
    """

    rater: str = ""  # the nickname; "" before it is entered
    paused: bool = False
    names: set[str] = field(default_factory=set)  # keys of the nicknames entered here
    ballot: Ballot | None = None  # what follows is about it
    found: int = 0  # items that were answered when the rater came
    mine: set[int] = field(default_factory=set)  # items answered in this tab: only these can be undone here
    item_no: int | None = None  # on screen
    shown_at: float = 0.0  # monotonic seconds
    shown: int = 0  # counts what was on screen, so that its buttons have keys of their own
    toast: str = ""  # shown once
    problem: str = ""  # shown until the next answer

    def begin(self, ballot: Ballot, answered: int) -> None:
        """Start a ballot, unless it is the present one."""
        if self.ballot != ballot:
            self.ballot, self.found, self.mine, self.item_no = ballot, answered, set(), None
            self.toast, self.problem, self.paused = "", "", False

    # --- callbacks

    def enter(self) -> None:
        typed = str(st.session_state.get("nickname") or "")
        try:
            name = nickname(typed)
            if (key := rater_key(name)) not in self.names:
                allowed().check_rater(len(self.names))
            self.names.add(key)
            self.rater, self.problem, self.paused = name, "", False
        except BlindspotError as error:
            self.problem = explained(error)

    def vote(self, ballot: Ballot, item_no: int, option: int | None) -> None:
        """Save an answer at once. If that fails, the question stays on screen."""
        if item_no != self.item_no or ballot != self.ballot:
            return  # the second click of a double click
        seconds = time.monotonic() - self.shown_at
        if seconds < SETTLE_SECONDS:
            self.toast = "That was too soon after the question appeared, so it was not counted. Please answer again."
            return
        try:
            recorded = judgments().vote(ballot, item_no, option, seconds)
        except BlindspotError as error:
            self.problem = f"The answer was not saved: {explained(error)}"
            return
        self.problem = ""
        if recorded is Recorded.NEW:
            self.mine.add(item_no)
        elif item_no not in self.mine:
            self.toast = "Already answered in another tab; that answer counts."

    def undo(self, ballot: Ballot, shown: int) -> None:
        if shown != self.shown:
            return  # the second click of a double click
        try:
            opened = judgments().undo(ballot, self.mine)
        except BlindspotError as error:
            self.problem = f"Not undone: {explained(error)}"
            return
        self.problem = ""
        if opened is None:
            self.toast = "Nothing was answered in this tab that could be undone."
            return
        self.mine.discard(opened)
        self.toast = "Your last answer was undone."
        self.item_no = None
        self.shown += 1

    def pause(self) -> None:
        self.paused, self.item_no, self.problem = True, None, ""

    def resume(self) -> None:
        self.paused = False

    def leave(self) -> None:
        self.rater, self.ballot, self.paused, self.item_no, self.problem = "", None, False, None, ""

    def forget_problem(self) -> None:
        self.problem = ""


@fragment
def show(judged: Judged) -> None:
    """Say what to do, ask for a nickname, then show one question after the other."""
    state: RaterState = st.session_state.setdefault(_STATE, RaterState())
    try:
        if not state.rater:
            _begin(judged, state)
            return
        ballot = Ballot(judged.items.set_id, judged.session_name, state.rater)
        answered = judgments().answered(ballot)  # in whichever tab
        state.begin(ballot, len(answered))
        if state.paused:
            _rest(judged, state, answered)
        else:
            _go_on(judged, state, ballot, answered)
    except BlindspotError as error:  # the store cannot be read now
        st.error(as_text(explained(error)), icon=":material/error:")
        st.button("Try again", key="judge_retry")


def _begin(judged: Judged, state: RaterState) -> None:
    """The task, how long it takes, and a nickname to start with."""
    total = len(judged.items.items)
    minutes = max(1, round(total * SECONDS_EACH / 60))
    st.markdown(TO_DO[judged.task])
    st.markdown(EXAMPLES[judged.task])
    facts = [counted(total, "question"), f"about {counted(minutes, 'minute')}", *_made_from(judged.items)]
    if judged.session is None:
        summary = next(
            (summary for summary in judgments().sets(judged.task) if summary.set_id == judged.items.set_id), None
        )
        facts += [f"{counted(summary.votes, 'vote')} by {counted(summary.raters, 'rater')} so far"] if summary else []
    st.caption(" · ".join(facts))
    with st.form("judge_who", enter_to_submit=True, width=480):
        st.text_input(
            "Your nickname",
            key="nickname",
            max_chars=LONGEST_NAME,
            help=f"{PRIVACY} At most {LONGEST_NAME} characters.",
        )
        st.form_submit_button("Start", type="primary", on_click=state.enter)
    if state.problem:
        st.error(as_text(state.problem), icon=":material/error:")
    st.caption(f"{PRIVACY} {KEPT}")


def _made_from(items: ItemSet) -> list[str]:
    """The dataset of a set of questions, and how many models: their names could bias answers."""
    dataset = str(items.manifest.get("dataset", ""))
    texts = [f"texts of {as_text(title_of(dataset))}"] if catalogued(dataset) else []
    models = counted(len(items.variants), "model")
    whose = f"one of {models} per question" if items.task is Task.INTRUDER else models
    return [*texts, f"neighbors by {whose}, named with the results"]


def _go_on(judged: Judged, state: RaterState, ballot: Ballot, answered: frozenset[int]) -> None:
    if state.toast:
        st.toast(as_text(state.toast))
        state.toast = ""
    total = len(judged.items.items)
    left = [number for number in item_order(judged.items, ballot) if number not in answered]
    if not left:
        state.item_no = None
        _thank(judged, state, ballot, total)
        return
    stays = state.problem and state.item_no in left  # also if a removed set took the other answers with it
    if state.item_no != left[0] and not stays:
        state.item_no, state.shown_at = left[0], time.monotonic()
        state.shown += 1
    item = next(item for item in judged.items.items if item.item_no == state.item_no)
    done = total - len(left)
    st.progress(done / total, text=f"{done} of {total} answered")
    _ask(judged.task, item, state, ballot)
    if state.problem:
        st.error(as_text(state.problem), icon=":material/error:")
        if st.button("Look for other questions", key="judge_look", on_click=state.forget_problem):
            st.rerun()  # the set is chosen outside of this fragment
    if state.found and not state.mine:
        st.info(
            f"Welcome back, {as_text(state.rater)}: {state.found} of {total} answered. If that was not you, choose "
            "another nickname."
        )
        st.button("Use another nickname", key="judge_other", on_click=state.leave)
    st.caption(f"{as_text(state.rater)}: {KEPT[0].lower()}{KEPT[1:]}")
    _guard(str(state.shown), f"{done} of {total} answered. {QUESTIONS[judged.task]}")


def _ask(task: Task, item: Item, state: RaterState, ballot: Ballot) -> None:
    with st.container(key="asked", gap="small"):
        if task is Task.COMPARATIVE:
            st.subheader(as_text(" ".join(item.query.text.split())), anchor=False)
        st.markdown(f"#### {QUESTIONS[task]}")
    long = max(len(text) for text in item.options) > LONG
    with st.container(key="answers", gap="small"):
        with st.container(key="cards_long" if long else "cards_short"):
            for number, option in enumerate(option_order(item, ballot), start=1):
                # The item is an argument: a late click counts for the item that was clicked.
                st.button(
                    as_text(" ".join(item.options[option].split())),
                    key=f"choice_{number}_{state.shown}",
                    shortcut=str(number) if number <= KEYS else None,
                    width="stretch",
                    wrap=True,
                    on_click=state.vote,
                    args=(ballot, item.item_no, option),
                )
        st.button(
            DONT_KNOW,
            key=f"unknown_{state.shown}",
            shortcut="0",
            width="stretch",
            on_click=state.vote,
            args=(ballot, item.item_no, None),
        )
    with st.container(key="judge_rest", horizontal=True, gap="small"):
        st.button(
            "Undo the last answer",
            key=f"undo_{state.shown}",
            shortcut="u",
            icon=":material/undo:",
            type="tertiary",
            on_click=state.undo,
            args=(ballot, state.shown),
        )
        st.button(
            "Pause",
            key=f"pause_{state.shown}",
            shortcut="p",
            icon=":material/pause:",
            type="tertiary",
            on_click=state.pause,
        )


def _rest(judged: Judged, state: RaterState, answered: frozenset[int]) -> None:
    total = len(judged.items.items)
    st.progress(len(answered) / total, text=f"{len(answered)} of {total} answered")
    st.subheader("Paused", anchor=False)
    st.markdown(f"Your answers are saved. To continue later, enter the nickname **{as_text(state.rater)}** again.")
    with st.container(horizontal=True, gap="small"):
        st.button(
            "Continue",
            key="judge_resume",
            type="primary",
            shortcut="p",
            icon=":material/play_arrow:",
            on_click=state.resume,
        )
        st.button("Let someone else answer", key="judge_other", on_click=state.leave)


def _thank(judged: Judged, state: RaterState, ballot: Ballot, total: int) -> None:
    st.progress(1.0, text=f"{total} of {total} answered")
    st.subheader(f"Thank you, {as_text(state.rater)}: that was the last question", anchor=False)
    st.markdown(f"You answered {'the only question' if total == 1 else f'all {total} questions'}.")
    if judged.session and not judged.sees_votes:
        wait_for_reveal(judged.session.name)
    with st.container(horizontal=True, gap="small"):
        if judged.sees_votes and st.button(
            "See the results",
            key="judge_see",
            type="primary",
            icon=":material/bar_chart:",
            on_click=lambda: st.session_state.update({VIEW: "results"}),
        ):
            st.rerun()  # the view is chosen outside of this fragment
        st.button(
            "Undo the last answer",
            key="undo_end",
            shortcut="u",
            icon=":material/undo:",
            on_click=state.undo,
            args=(ballot, state.shown),
        )
        st.button("Let someone else answer", key="judge_other", on_click=state.leave)
    other = other_task(judged.task)
    if other in judged.session.sets if judged.session else judgments().sets(other):
        what = "Find intruders" if other is Task.INTRUDER else "Vote"
        session = state_of_session(judged.session_name)
        link(PAGES[other], session, label=f"{what}: the other task", icon=":material/arrow_forward:")
    _guard("end", "All questions are answered.")


def _guard(showing: str, text: str) -> None:
    """Guard the cards above. ``text`` is read aloud by screen readers when ``showing`` changes, with every item."""
    _component(key="guard", data={"item": showing, "said": text, "settle": SETTLE_SECONDS})
