"""Evidence: Do scores of encoders without a task foretell how well they do on one?"""

from core import ui
from core.ui.evidence_how import how_correlated
from core.ui.evidence_parts import gather
from core.ui.evidence_views import look_closer, published_alone

picks = ui.page("Evidence", "Do scores of encoders without a task foretell how well they do on one?")
with ui.errors_shown():
    if shown := gather(picks):
        look_closer(shown)
    else:
        published_alone()
how_correlated()
