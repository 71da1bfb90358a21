"""Compare votes: whose neighbours do people find most similar to the query?"""

from core import ui
from core.judgement.types import Task
from core.ui import judgement_view

ui.page(
    "Compare votes",
    "Whose neighbours do people find most similar? They choose, without knowing whose is whose.",
    show_jobs=False,
)
judgement_view.show(Task.COMPARATIVE)
