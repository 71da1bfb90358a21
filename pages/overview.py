"""What is in the store: every variant's scores and what it costs."""

from core import ui
from core.ui import overview_parts as parts
from core.ui import overview_views as views

picks = ui.page("Overview", "Which encoder puts texts next to what means the same, and what does it cost?")
with ui.errors_shown():
    parts.interrupted()
finished = {count.diagnostic for count in ui.repository().counts() if count.finished}
if finished:
    views.look_at(picks, finished)
else:
    parts.empty()
