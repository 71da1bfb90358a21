"""Lab: how much of a score is the similarity, the post-processing, the size? Turn a knob, and see what moves."""

from core import ui
from core.ui import lab_parts
from core.ui.lab_form import form
from core.ui.lab_how import how_ranked
from core.ui.lab_views import look_closer

picks = ui.page(
    "Lab", "How much of a score is the similarity, the post-processing, the size? Turn a knob, and see what moves."
)
with ui.errors_shown():
    if (grid := form(picks)) and (shown := lab_parts.gather(grid)):
        look_closer(shown)
how_ranked()
