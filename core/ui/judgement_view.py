"""The pages of human judgement: which set and session, and what the reader does with it."""

from __future__ import annotations

from core.judgement.types import Task
from core.ui import judgement_answer, judgement_exchange, judgement_making, judgement_results, judgement_sessions
from core.ui.judgement_state import Judged, item_set, judgements
from core.ui.views import View, choose_view

VIEWS = {
    "answer": View[Judged]("What do you say? One item at a time.", judgement_answer.show),
    "results": View[Judged]("What did people say of each variant?", judgement_results.show),
    "sessions": View[Judged]("Who answers together?", judgement_sessions.show),
    "items": View[Judged]("Which items are there, and how do I make others?", lambda j: _items(j.task)),
}


def show(task: Task) -> None:
    """A page of human judgement."""
    sets = judgements().sets(task)
    if not sets:
        _items(task)
        return
    items = item_set(judgements(), str(judgements().database.path), sets[0].set_id)
    if items is not None:
        choose_view(Judged(task, items), VIEWS, "View", "judge")


def _items(task: Task) -> None:
    judgement_making.show(task)
    judgement_exchange.show(task)
