"""Set of questions, session and rights that the parts of Intruder and Compare votes share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from blindspot import policy
from blindspot.studies.judgments.store import Judgments
from blindspot.studies.judgments.types import ItemSet, Session, Task
from blindspot.ui.page_state import PageState
from blindspot.ui.resources import cached, shared_repository


def judgments() -> Judgments:
    return Judgments(shared_repository().database)


def facilitated(keys: Mapping[str, str]) -> frozenset[str]:
    """The sessions that the reader facilitates now, by the reader's keys per session."""
    return frozenset(name for name, key in keys.items() if key and judgments().is_facilitator(name, key))


def hidden_sessions(keys: Mapping[str, str] = MappingProxyType({})) -> frozenset[str]:
    """Sessions with votes that a reader with these keys may not see now."""
    mine = facilitated(keys)
    return frozenset(
        session.name
        for session in judgments().sessions()
        if not policy.may_read_votes(revealed=session.revealed, facilitates=session.name in mine)
    )


@dataclass(frozen=True, eq=False)
class Judged:
    """A set of items on the page.

    Attributes:
        session: the reader's, as it was when the page was drawn; outside of a session everybody sees the results.
        key: the facilitator's key in the reader's address, right or wrong; or "".
    """

    task: Task
    items: ItemSet
    session: Session | None = None
    key: str = field(default="", repr=False)

    @property
    def keys(self) -> Mapping[str, str]:
        return {self.session.name: self.key} if self.session and self.key else {}

    @property
    def facilitates(self) -> bool:
        """Whether the reader is the session's facilitator now: someone else may have opened it again."""
        return bool(facilitated(self.keys))

    @property
    def sees_votes(self) -> bool:
        """Whether the reader may see the session's votes now."""
        if self.session is None:
            return True
        name = self.session.name
        return judgments().session(name) is not None and name not in hidden_sessions(self.keys)

    @property
    def session_name(self) -> str:
        """The session's name in votes: "" outside of one."""
        return self.session.name if self.session else ""


@cached(20, shared=True, keys={Judgments: lambda store: str(store.database.path)})
def item_set(store: Judgments, set_id: str) -> ItemSet | None:
    """A stored set, which never changes."""
    return store.find_set(set_id)


PAGES = {Task.INTRUDER: "intruder", Task.COMPARATIVE: "compare_votes"}  # parts of a page, for links


def other_task(task: Task) -> Task:
    return Task.COMPARATIVE if task is Task.INTRUDER else Task.INTRUDER


def state_of_session(session: str = "", set_id: str = "", key: str = "", view: str = "") -> PageState:
    """Of a page of human judgment, with the facilitator's ``key``; "" is left out."""
    return PageState(view=view, options={"session": session, "set": set_id, "facilitator": key})
