"""Making items: which encoders, which queries, by which rule; and the sets that there are."""

from __future__ import annotations

from core.judgement.types import Task
from core.ui import judgement_form, judgement_sets
from core.ui.judgement_state import judgements


def show(task: Task) -> None:
    """The form; below it the stored sets of the task."""
    sets = judgements().sets(task)
    judgement_form.show(task, first=not sets)
    judgement_sets.show(sets)
