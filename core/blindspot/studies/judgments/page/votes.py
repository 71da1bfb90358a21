"""Votes that the results count, computed again only when they change."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

import streamlit as st

from blindspot.errors import BlindspotError
from blindspot.studies.judgments.doubts import FAST_SECONDS, LEAST_ANSWERS, Doubt, doubts
from blindspot.studies.judgments.page.judged_set import Judged, hidden_sessions, judgments
from blindspot.studies.judgments.raters import rater_key
from blindspot.studies.judgments.scoring import By, Group
from blindspot.studies.judgments.tallies import Tally, tally
from blindspot.studies.judgments.view import Results, results_view
from blindspot.texts import counted
from blindspot.ui.boundary import repeated
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import allowed, cached, explained
from blindspot.ui.widgets import tables

REVEAL_SECONDS = 3
ALL, OUTSIDE, NAMED = "all", "outside of sessions", "session "  # and its name; they are in addresses


@dataclass(frozen=True)
class Votes:
    """Which votes count; its ``repr`` is their key in every cache."""

    set_id: str
    session: str | None  # "" for votes outside of any, None for all
    without: tuple[str, ...]  # sessions that are left out
    digest: str  # of the votes now
    left_out: tuple[str, ...] = ()  # raters, by ``rater_key``
    key: str = field(default="", repr=False)  # the facilitator's, who sees votes before they are revealed

    @property
    def are_current(self) -> bool:
        """Whether the reader would see the same votes now."""
        hidden = hidden_sessions({self.session: self.key} if self.session else {})
        if self.session is None or self.session == "":
            seen = tuple(sorted(hidden.intersection(judgments().sessions_with_votes(self.set_id)))) == self.without
        else:
            seen = self.session not in hidden
        return seen and judgments().votes_digest(self.set_id, self.session, self.without) == self.digest


def choose(judged: Judged) -> Votes:
    """The votes of the reader's session; outside of one, the reader's choice."""
    set_id = judged.items.set_id
    if judged.session:
        name = judged.session.name
        return Votes(set_id, name, (), judgments().votes_digest(set_id, name), key=judged.key)
    without = tuple(sorted(hidden_sessions().intersection(judgments().sessions_with_votes(set_id))))
    session = _chosen_session(set_id, without)
    return Votes(set_id, session, without, judgments().votes_digest(set_id, session, without))


def _chosen_session(set_id: str, without: Collection[str]) -> str | None:
    if without:
        st.caption("Votes of sessions not revealed yet are left out.")
    names = [name for name in judgments().sessions_with_votes(set_id) if name not in without]
    if not any(names):
        return None
    choices = [ALL, *([OUTSIDE] if "" in names else []), *(f"{NAMED}{name}" for name in names if name)]
    chosen = st.selectbox("Votes", choices, key="judged_votes", bind="query-params", help="Whose votes are counted.")
    if chosen == ALL:
        return None
    return "" if chosen == OUTSIDE else str(chosen).removeprefix(NAMED)


@repeated(every=REVEAL_SECONDS)
def wait_for_reveal(name: str) -> None:
    """Say that a session's results are hidden, until they are revealed."""
    try:
        session = judgments().session(name)
    except BlindspotError as error:  # the store is busy: the next refresh tries again
        st.caption(as_text(explained(error)))
        return
    if session is None or session.revealed:
        st.rerun()
    st.info("The results are hidden until the facilitator reveals them.", icon=":material/visibility_off:")


@cached(8, shared=True, keys={Votes: repr})
def tally_of(_judged: Judged, votes: Votes) -> Tally:
    all_votes = judgments().votes(votes.set_id, votes.session, votes.without)
    return tally(_judged.items, [vote for vote in all_votes if rater_key(vote.rater) not in votes.left_out])


def leave_out(judged: Judged, votes: Votes) -> Votes:
    """The votes without the raters whom the reader leaves out; raters in doubt are named if names may be shown."""
    names, doubtful = _raters(judged, votes)
    if not names:
        return votes
    if doubtful:
        what = counted(len(doubtful), "rater is", "raters are")
        st.warning(
            f"{what} in doubt: answers faster than anyone can read, or always from the same place on the screen.",
            icon=":material/speed:",
        )
    keys: set[str] = set()
    if doubtful and st.toggle(
        "Leave out raters in doubt", key="judged_careful", bind="query-params", help=DOUBTS_IN_WORDS
    ):
        keys |= {doubt.key for doubt in doubtful}
    if allowed().raters_names or judged.facilitates:
        with st.expander("Raters", icon=":material/group:"):
            chosen = st.multiselect(
                "Leave out",
                list(names),
                key="judged_leave_out",
                format_func=lambda key: as_text(names.get(key) or key),
                placeholder="Nobody",
                help="Only in your view: nothing is deleted, and others still see all raters.",
            )
            keys |= set(chosen)
            if doubtful:
                tables.draw(_table(doubtful), key="judged_doubts")
    return replace(votes, left_out=tuple(sorted(keys & names.keys())))


@cached(8, shared=True, keys={Votes: repr})
def _raters(_judged: Judged, votes: Votes) -> tuple[dict[str, str], list[Doubt]]:
    """All raters by ``rater_key``, and those in doubt."""
    all_votes = judgments().votes(votes.set_id, votes.session, votes.without)
    names: dict[str, str] = {}
    for vote in all_votes:
        names.setdefault(rater_key(vote.rater), vote.rater)
    return names, doubts(_judged.items, all_votes)


def _table(doubtful: Sequence[Doubt]) -> dict[str, object]:
    return {
        "rater": [doubt.rater for doubt in doubtful],
        "answers": [doubt.answers for doubt in doubtful],
        "seconds per question": [None if doubt.seconds is None else round(doubt.seconds, 1) for doubt in doubtful],
        "same card": [f"card {d.place}: {d.at_place} times" if d.place else "" for d in doubtful],
    }


DOUBTS_IN_WORDS = (
    f"With {LEAST_ANSWERS} answers or more, a rater is in doubt if the median time per question is below "
    f"{FAST_SECONDS:g} s, or if they chose the same place on the screen more often than one rater in a million would "
    "by chance (cards are shuffled for every rater)."
)


@cached(32, "Counting votes …", keys={Votes: repr})
def results(_judged: Judged, votes: Votes) -> Results:
    return results_view(tally_of(_judged, votes))


@cached(32, "Counting votes …", keys={Votes: repr})
def groups(_judged: Judged, votes: Votes, by: By) -> tuple[Group, ...]:
    return results(_judged, votes).breakdown(by)
